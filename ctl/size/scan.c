// SPDX-License-Identifier: GPL-2.0-only
/* DOC: a small JSON scanner, see scan.h. */
#include <ctype.h>
#include <string.h>

#include "scan.h"

void scan_start(struct scan *s, const struct size_source *source, uint64_t from, uint64_t len)
{
	memset(s, 0, offsetof(struct scan, buf));
	s->source = source;
	s->at = from;
	s->end = from + len;
	s->loaded = from;
	s->want_value = true;
}

static enum scan_token fail(struct scan *s, const char *why)
{
	s->why = why;
	return SCAN_ERROR;
}

/* The byte at @at, which is not loaded; -1 at the end, -2 when it cannot be read. */
static int load(struct scan *s)
{
	uint64_t left = s->end - s->at;

	if (!left)
		return -1;
	s->have = left < SCAN_BUFFER ? (size_t)left : SCAN_BUFFER;
	s->loaded = s->at;
	if (!s->source->read(s->source->arg, s->at, s->buf, s->have))
		return (unsigned char)*s->buf;
	s->have = 0;
	return -2;
}

/* The next byte without taking it, or what load() says. */
static inline int peek(struct scan *s)
{
	uint64_t ahead = s->at - s->loaded;

	return ahead < s->have ? (unsigned char)s->buf[ahead] : load(s);
}

static int scan_take(struct scan *s)
{
	int c = peek(s);

	if (c >= 0)
		s->at++;
	return c;
}

static int skip_blank(struct scan *s)
{
	int c;

	while ((c = peek(s)) == ' ' || c == '\t' || c == '\n' || c == '\r')
		s->at++;
	return c;
}

#define EACH_BYTE(n) (0x0101010101010101ull * (n))

/* Some of eight bytes are below 0x20, quotes or backslashes; at times it is a false alarm. */
static bool has_special(uint64_t bytes)
{
	uint64_t quote = bytes ^ EACH_BYTE('"'), slash = bytes ^ EACH_BYTE('\\');

	return ((((bytes - EACH_BYTE(0x20)) & ~bytes) | ((quote - EACH_BYTE(1)) & ~quote) |
		 ((slash - EACH_BYTE(1)) & ~slash)) &
		EACH_BYTE(0x80)) != 0;
}

/* Plain characters up to the end of what is loaded: nearly all of a file. */
static size_t plain_run(struct scan *s, size_t n)
{
	const char *from = s->buf + (s->at - s->loaded);
	const char *end = s->buf + s->have, *c = from;
	uint64_t eight;
	size_t kept;

	for (; end - c >= (long)sizeof(eight); c += sizeof(eight)) {
		memcpy(&eight, c, sizeof(eight));
		if (has_special(eight))
			break;
	}
	while (c < end && (unsigned char)*c >= 0x20 && *c != '"' && *c != '\\')
		c++;
	kept = (size_t)(c - from);
	if (n + kept + 2 > sizeof(s->text))
		kept = n + 2 < sizeof(s->text) ? sizeof(s->text) - n - 2 : 0;
	memcpy(s->text + n, from, kept);
	s->at += (size_t)(c - from);
	return n + kept;
}

static enum scan_token scan_take_string(struct scan *s)
{
	size_t n = 0;
	int c;

	s->at++;
	if (peek(s) >= 0)
		n = plain_run(s, n);
	while ((c = scan_take(s)) != '"') {
		if (c < 0x20)
			return fail(s, c < 0 ? "cut off in a string" :
					       "control character in a string");
		if (n + 2 < sizeof(s->text))
			s->text[n++] = (char)c;
		if (c != '\\')
			continue;
		c = scan_take(s);
		if (c < 0x20)
			return fail(s, "cut off in a string");
		if (n + 2 < sizeof(s->text))
			s->text[n++] = (char)c;
	}
	s->text[n] = '\0';
	return SCAN_STRING;
}

static inline bool is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static enum scan_token bare(struct scan *s)
{
	size_t n = 0;
	int c;

	while ((c = peek(s)) > 0 &&
	       (is_digit(c) || isalnum(c) || c == '+' || c == '-' || c == '.')) {
		if (n + 1 == sizeof(s->text))
			return fail(s, "a number without end");
		s->text[n++] = (char)c;
		s->at++;
	}
	s->text[n] = '\0';
	if (!n)
		return fail(s, "not JSON");
	if (is_digit(*s->text) || *s->text == '-')
		return SCAN_NUMBER;
	if (strcmp(s->text, "true") && strcmp(s->text, "false") && strcmp(s->text, "null"))
		return fail(s, "not JSON");
	return SCAN_WORD;
}

static enum scan_token open_level(struct scan *s, int c)
{
	s->at++;
	if (s->depth == SCAN_DEPTH_MAX)
		return fail(s, "nested too deeply");
	s->nest[s->depth++] = (char)c;
	s->want_comma = false;
	s->want_value = c == '[';
	return c == '{' ? SCAN_OPEN_OBJECT : SCAN_OPEN_ARRAY;
}

static enum scan_token close_level(struct scan *s, int c)
{
	s->at++;
	if (!s->depth || s->nest[s->depth - 1] != (c == '}' ? '{' : '['))
		return fail(s, "brackets do not match");
	s->depth--;
	s->want_comma = true;
	s->want_value = s->depth && s->nest[s->depth - 1] == '[';
	return c == '}' ? SCAN_CLOSE_OBJECT : SCAN_CLOSE_ARRAY;
}

/* A key and its colon. */
static enum scan_token take_key(struct scan *s)
{
	enum scan_token token;

	if (peek(s) != '"')
		return fail(s, "a key is missing");
	token = scan_take_string(s);
	if (token == SCAN_ERROR)
		return token;
	if (skip_blank(s) != ':')
		return fail(s, "a colon is missing");
	s->at++;
	s->want_value = true;
	s->want_comma = false;
	return SCAN_KEY;
}

static enum scan_token value(struct scan *s, int c)
{
	enum scan_token token;

	if (c == '{' || c == '[')
		return open_level(s, c);
	token = c == '"' ? scan_take_string(s) : bare(s);
	s->want_comma = true;
	s->want_value = s->depth && s->nest[s->depth - 1] == '[';
	return token;
}

enum scan_token scan_next(struct scan *s)
{
	int c = skip_blank(s);

	if (c == -2)
		return fail(s, "cannot be read");
	if (!s->depth && s->want_comma)
		return c == -1 ? SCAN_END : fail(s, "there is text after the end of the document");
	if (c == -1)
		return fail(s, "cut off");
	if (c == '}' || c == ']')
		return close_level(s, c);
	if (s->want_comma) {
		if (c != ',')
			return fail(s, "a comma is missing");
		s->at++;
		s->want_comma = false;
		c = skip_blank(s);
		if (c < 0)
			return fail(s, "cut off");
	}
	return s->want_value ? value(s, c) : take_key(s);
}

enum scan_token scan_skip(struct scan *s, enum scan_token token)
{
	unsigned int depth = s->depth;

	if (token != SCAN_OPEN_OBJECT && token != SCAN_OPEN_ARRAY)
		return token;
	while (s->depth >= depth) {
		token = scan_next(s);
		if (token == SCAN_ERROR || token == SCAN_END)
			return token;
	}
	return token;
}

bool scan_whole(const struct scan *s, uint64_t *out)
{
	const char *c = s->text;
	uint64_t n = 0;

	for (; is_digit(*c); c++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*c - '0'), &n))
			return false;
	*out = n;
	return c != s->text && !*c;
}
