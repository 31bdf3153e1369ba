// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: reading traces
 *
 * The text is in memory and need not end with a NUL. Columns are counted in
 * bytes from 1.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "csv.h"

#define SHOWN 24

int csv_fault(const struct csv *c, const char *at, struct fault *f, const char *fmt, ...)
{
	char why[FAULT_TEXT_MAX / 2];
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	return fault_set(f, EINVAL, "%s:%zu:%zu: %s", c->name, c->line, (size_t)(at - c->begin) + 1,
			 why);
}

/* Does the line end at @at, with or without a carriage return? Returns what is behind it. */
static const char *line_end(const struct csv *c, const char *at)
{
	if (at < c->end && *at == '\r' && (at + 1 == c->end || at[1] == '\n'))
		at++;
	else if (at < c->end && *at != '\n')
		return NULL;
	return at < c->end ? at + 1 : at;
}

/* What stands there, up to the comma, for a message; odd bytes become question marks. */
static const char *field_text(const struct csv *c, const char *at, char buf[SHOWN + 1])
{
	size_t n = 0;

	for (; at < c->end && *at != ',' && !line_end(c, at) && n < SHOWN; at++)
		buf[n++] = isprint((unsigned char)*at) ? *at : '?';
	buf[n] = '\0';
	return buf;
}

/* Takes what has to follow a field. */
static int close_field(struct csv *c, const char *what, bool last, struct fault *f)
{
	const char *end = line_end(c, c->at);
	char buf[SHOWN + 1];

	if (end && !last)
		return csv_fault(c, c->at, f, "the line ends after %s: columns are missing", what);
	if (!end && *c->at != ',')
		return csv_fault(c, c->at, f,
				 "\"%s\" after %s: a whole number or a word is expected",
				 field_text(c, c->at, buf), what);
	if (!end && last)
		return csv_fault(c, c->at, f, "more columns than the heading has");
	c->at = end ? end : c->at + 1;
	return 0;
}

int csv_open(struct csv *c, const char *name, const char *text, size_t len, const char *heading,
	     struct fault *f)
{
	size_t n = strlen(heading);

	c->name = name;
	c->at = text;
	c->begin = text;
	c->end = text + len;
	c->line = 1;
	if (!len)
		return csv_fault(c, c->at, f, "the file is empty: a heading \"%s\" is expected",
				 heading);
	c->at = len < n || memcmp(text, heading, n) ? NULL : line_end(c, text + n);
	if (!c->at)
		return csv_fault(c, text, f, "the heading is not \"%s\"", heading);
	if (c->at == c->end)
		return csv_fault(c, c->begin + n, f, "there is no line after the heading");
	return 0;
}

bool csv_next(struct csv *c)
{
	if (c->at == c->end)
		return false;
	c->begin = c->at;
	c->line++;
	return true;
}

int csv_whole(struct csv *c, const char *what, uint64_t max, bool last, uint64_t *value,
	      struct fault *f)
{
	const char *from = c->at;
	char buf[SHOWN + 1];
	uint64_t n = 0;

	if (c->at < c->end && *c->at == '-')
		return csv_fault(c, from, f, "%s is negative: %s", what, field_text(c, from, buf));
	for (; c->at < c->end && isdigit((unsigned char)*c->at); c->at++) {
		n = n * 10 + (uint64_t)(*c->at - '0');
		if (n > max)
			return csv_fault(c, from, f, "%s is %s: at most %llu is possible", what,
					 field_text(c, from, buf), (unsigned long long)max);
	}
	if (c->at == from)
		return csv_fault(c, from, f, "%s is \"%s\": not a whole number", what,
				 field_text(c, from, buf));
	*value = n;
	return close_field(c, what, last, f);
}

static bool csv_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-';
}

int csv_word(struct csv *c, const char *what, bool last, char word[CSV_WORD_MAX], struct fault *f)
{
	const char *from = c->at;
	size_t n = 0;

	for (; c->at < c->end && csv_is_word(*c->at); c->at++) {
		if (n == CSV_WORD_MAX - 1)
			return csv_fault(c, from, f, "%s is longer than %d characters", what,
					 CSV_WORD_MAX - 1);
		word[n++] = *c->at;
	}
	word[n] = '\0';
	if (!n)
		return csv_fault(c, from, f, "%s is missing, or is not a word", what);
	return close_field(c, what, last, f);
}
