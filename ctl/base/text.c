// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: small text helpers
 *
 * Quantities are rounded for people here and nowhere else; JSON always gets
 * the raw number.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#include "base/text.h"
#include "linux/gpufabric.h"

static void *mem_check(void *p)
{
	if (p)
		return p;
	fprintf(stderr, "%s: out of memory\n", program_invocation_short_name);
	exit(EXIT_FAILURE);
}

void *mem_zalloc(size_t n, size_t size)
{
	return mem_check(calloc(n ? n : 1, size ? size : 1));
}

void *mem_grow(void *old, size_t n, size_t size)
{
	return mem_check(reallocarray(old, n ? n : 1, size));
}

void *mem_push(void *old, size_t n, size_t size)
{
	if (n & (n - 1))
		return old;
	return mem_grow(old, n ? 2 * n : 1, size);
}

char *mem_strdup(const char *s)
{
	return mem_check(strdup(s));
}

char *mem_vprintf(const char *fmt, va_list ap)
{
	char *s;

	if (vasprintf(&s, fmt, ap) < 0)
		s = NULL;
	return mem_check(s);
}

char *mem_printf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = mem_vprintf(fmt, ap);
	va_end(ap);
	return s;
}

void text_add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	size_t len;
	char *s;

	va_start(ap, fmt);
	s = mem_vprintf(fmt, ap);
	va_end(ap);

	len = strlen(s);
	t->text = mem_grow(t->text, t->len + len + 1, 1);
	memcpy(t->text + t->len, s, len + 1);
	t->len += len;
	free(s);
}

void text_join(struct text *t, const char *separator, const char *item)
{
	text_add(t, "%s%s", t->len ? separator : "", item);
}

const char *text_bytes(char buf[TEXT_QUANTITY], uint64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 1023.95 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1024;
		unit++;
	}
	/* Sizes of windows and BARs are round: do not pretend digits they do not have. */
	if (!unit || value == (double)(uint64_t)value)
		snprintf(buf, TEXT_QUANTITY, "%.0f %s", value, units[unit]);
	else
		snprintf(buf, TEXT_QUANTITY, "%.1f %s", value, units[unit]);
	return buf;
}

const char *text_duration(char buf[TEXT_QUANTITY], uint64_t ms)
{
	unsigned long long s = ms / 1000;

	if (ms < 10000)
		snprintf(buf, TEXT_QUANTITY, "%.2f s", (double)ms / 1000);
	else if (s < 120)
		snprintf(buf, TEXT_QUANTITY, "%llu s", s);
	else if (s < 3600)
		snprintf(buf, TEXT_QUANTITY, "%llu min", s / 60);
	else if (s < 86400 && s % 3600 >= 60)
		snprintf(buf, TEXT_QUANTITY, "%llu h %llu min", s / 3600, s % 3600 / 60);
	else if (s < 86400)
		snprintf(buf, TEXT_QUANTITY, "%llu h", s / 3600);
	else if (s % 86400 >= 3600)
		snprintf(buf, TEXT_QUANTITY, "%llu d %llu h", s / 86400, s % 86400 / 3600);
	else
		snprintf(buf, TEXT_QUANTITY, "%llu d", s / 86400);
	return buf;
}

const char *text_age(char buf[TEXT_QUANTITY], uint64_t ms)
{
	if (ms < 10000)
		snprintf(buf, TEXT_QUANTITY, "%llu s", (unsigned long long)ms / 1000);
	else
		text_duration(buf, ms);
	return buf;
}

const char *text_time(char buf[TEXT_QUANTITY], uint64_t ms)
{
	time_t t = (time_t)(ms / 1000);
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(buf, TEXT_QUANTITY, "%F %T", &tm))
		snprintf(buf, TEXT_QUANTITY, "%llu", (unsigned long long)ms);
	return buf;
}

static uint64_t clock_ms(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

uint64_t text_now(void)
{
	return clock_ms(CLOCK_REALTIME);
}

uint64_t text_monotonic(void)
{
	return clock_ms(CLOCK_MONOTONIC);
}

uint64_t text_uptime(void)
{
	return clock_ms(CLOCK_BOOTTIME);
}

uint64_t text_wall(uint64_t uptime)
{
	return text_now() + uptime - text_uptime();
}

bool text_name_valid(const char *name)
{
	size_t len = strlen(name);

	/* Not isalpha(): the rule is ASCII whatever the locale says. */
	if (!len || len > GPUFABRIC_NAME_MAX ||
	    !strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", name[0]))
		return false;
	return strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-") ==
	       len;
}

/* Length of the UTF-8 character at @s, 0 when there is none. */
static size_t utf8_length(const unsigned char *s)
{
	size_t length = s[0] < 0x80 ? 1 :
			s[0] < 0xc2 ? 0 :
			s[0] < 0xe0 ? 2 :
			s[0] < 0xf0 ? 3 :
			s[0] < 0xf5 ? 4 :
				      0;
	size_t i;

	for (i = 1; i < length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Longer than needed, half of a pair, behind the last character. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return length;
}

void text_utf8(char *s)
{
	while (*s) {
		size_t length = utf8_length((const unsigned char *)s);

		if (!length)
			*s = '?';
		s += length ? length : 1;
	}
}

void text_tame(char *s, bool lines)
{
	text_utf8(s);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if ((c < ' ' && !(lines && (c == '\n' || c == '\t'))) || c == 0x7f)
			*s = '?';
		/* U+0080 to U+009f are controls as well. */
		if (c == 0xc2 && (unsigned char)s[1] < 0xa0)
			memset(s, '?', 2);
	}
}

/* Printable ASCII is as wide as it has bytes: nearly all cells are, and need no locale. */
static bool is_plain(const char *s, size_t *len)
{
	const char *at = s;

	while (*at >= ' ' && *at <= '~')
		at++;
	*len = (size_t)(at - s);
	return !*at;
}

size_t text_width(const char *s)
{
	static locale_t utf8;
	mbstate_t state = { 0 };
	size_t width = 0, len;
	locale_t before;
	wchar_t c;
	int columns;

	if (is_plain(s, &len))
		return len;
	if (!utf8)
		utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
	before = uselocale(utf8);
	for (; *s; s += len) {
		len = mbrtowc(&c, s, strlen(s), &state);
		columns = len > MB_LEN_MAX ? 1 : wcwidth(c);
		width += columns > 0 ? (size_t)columns : 0;
		if (len > MB_LEN_MAX) {
			memset(&state, 0, sizeof(state));
			len = 1;
		}
	}
	uselocale(before);
	return width;
}

unsigned int text_distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b);
	unsigned int *row, previous, above, result;
	size_t i, j;

	row = mem_zalloc(lb + 1, sizeof(*row));
	for (j = 0; j <= lb; j++)
		row[j] = (unsigned int)j;
	for (i = 1; i <= la; i++) {
		previous = row[0];
		row[0] = (unsigned int)i;
		for (j = 1; j <= lb; j++) {
			unsigned int best = previous + (a[i - 1] != b[j - 1]);

			above = row[j];
			if (above + 1 < best)
				best = above + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			previous = above;
			row[j] = best;
		}
	}
	result = row[lb];
	free(row);
	return result;
}

const char *text_nearest(const char *word, const char *const *words, size_t n)
{
	unsigned int limit = strlen(word) < 4 ? 1 : 2;
	unsigned int best = limit + 1;
	const char *nearest = NULL;
	size_t i;

	for (i = 0; i < n; i++) {
		unsigned int d = text_distance(word, words[i]);

		if (d < best) {
			best = d;
			nearest = words[i];
		}
	}
	return nearest;
}

bool text_number(const char *s, uint64_t max, uint64_t *value)
{
	unsigned long long v;
	char *end;

	/* strtoull() takes signs and blanks; nobody means them here. */
	if (!isdigit((unsigned char)*s))
		return false;
	errno = 0;
	v = strtoull(s, &end, s[0] == '0' && (s[1] == 'x' || s[1] == 'X') ? 16 : 10);
	if (errno || *end || v > max)
		return false;
	*value = v;
	return true;
}

bool text_parse_duration(const char *s, uint64_t *ms)
{
	static const struct {
		const char *unit;
		uint64_t ms;
	} units[] = {
		{ "ms", 1 },	{ "s", 1000 },	  { "min", 60000 },
		{ "m", 60000 }, { "h", 3600000 }, { "d", 86400000 },
	};
	size_t digits = strspn(s, "0123456789"), i;
	uint64_t value;
	char *number;
	bool good;

	number = mem_strdup(s);
	number[digits] = '\0';
	/* A century is enough, and keeps the product in range. */
	good = text_number(number, 100ull * 366 * 86400, &value);
	free(number);
	for (i = 0; good && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(s + digits, units[i].unit))
			continue;
		*ms = value * units[i].ms;
		return *ms > 0;
	}
	return false;
}
