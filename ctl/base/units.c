// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sizes and counts as people write them. Numbers are read digit by digit as
 * integers over a power of ten: no floating point, so "0.1G" is exact, and no
 * strtod(), which would take signs, exponents, hex and "inf".
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "units.h"
#include "wide.h"

#define DECIMALS_MAX 9

/**
 * struct unit - a suffix and what it multiplies by
 */
struct unit {
	const char *suffix;
	uint64_t factor;
};

static const struct unit size_units[] = {
	{ "B", 1 },
	{ "K", 1ull << 10 },
	{ "KiB", 1ull << 10 },
	{ "KB", 1000ull },
	{ "M", 1ull << 20 },
	{ "MiB", 1ull << 20 },
	{ "MB", 1000000ull },
	{ "G", 1ull << 30 },
	{ "GiB", 1ull << 30 },
	{ "GB", 1000000000ull },
	{ "T", 1ull << 40 },
	{ "TiB", 1ull << 40 },
	{ "TB", 1000000000000ull },
	{ "P", 1ull << 50 },
	{ "PiB", 1ull << 50 },
	{ "PB", 1000000000000000ull },
	{ NULL, 0 },
};

static const struct unit count_units[] = {
	{ "", 1 },
	{ "K", 1000ull },
	{ "M", 1000000ull },
	{ "B", 1000000000ull },
	{ "T", 1000000000000ull },
	{ NULL, 0 },
};

static const struct unit context_units[] = {
	{ "", 1 },
	{ "K", 1ull << 10 },
	{ "M", 1ull << 20 },
	{ NULL, 0 },
};

/**
 * struct number - digits over a power of ten
 */
struct number {
	u128 digits;
	u128 scale;
};

/* Reads digits[.digits]; returns what follows, NULL if it is no number. */
static const char *units_read_number(const char *s, struct number *n)
{
	int decimals = 0;

	n->digits = 0;
	n->scale = 1;
	if (!isdigit((unsigned char)*s))
		return NULL;
	for (; isdigit((unsigned char)*s); s++) {
		n->digits = n->digits * 10 + (u128)(*s - '0');
		if (n->digits > UINT64_MAX)
			return NULL;
	}
	if (*s != '.')
		return s;
	for (s++; isdigit((unsigned char)*s); s++) {
		if (++decimals > DECIMALS_MAX)
			return NULL;
		n->digits = n->digits * 10 + (u128)(*s - '0');
		n->scale *= 10;
	}
	return decimals ? s : NULL;
}

static const struct unit *find_unit(const struct unit *units, const char *suffix)
{
	for (; units->suffix; units++)
		if (!strcasecmp(units->suffix, suffix))
			return units;
	return NULL;
}

static int convert(const struct number *n, const struct unit *unit, const char *s, uint64_t *out,
		   struct fault *f)
{
	u128 value = n->digits * unit->factor;

	/* digits are below 2^64 * 10^9, the factor is at most 2^50 */
	if (value / n->scale > INT64_MAX)
		return fault_set(f, ERANGE, "\"%.40s\" is too large", s);
	if (value % n->scale && unit->factor == 1)
		return fault_set(f, EINVAL, "\"%.40s\" is not a whole number of units", s);
	value /= n->scale;
	if (!value)
		return fault_set(f, EINVAL, "\"%.40s\" must be more than zero", s);
	*out = (uint64_t)value;
	return 0;
}

int units_parse_bytes(const char *s, uint64_t *bytes, struct fault *f)
{
	const struct unit *unit;
	struct number n;
	const char *suffix = units_read_number(s, &n);
	size_t len;

	if (!suffix)
		return fault_set(f, EINVAL, "\"%.40s\" is not a size such as 160G or 160GB", s);
	if (!*suffix)
		return fault_set(f, EINVAL, "\"%.40s\" needs a unit: G is GiB, GB is 1e9 bytes", s);
	len = strlen(suffix);
	if (len > 1 && suffix[len - 1] == 'b' && isupper((unsigned char)suffix[0]))
		return fault_set(f, EINVAL,
				 "\"%.40s\" reads like bits; write a capital B for bytes", s);
	unit = find_unit(size_units, suffix);
	if (!unit)
		return fault_set(f, EINVAL,
				 "\"%.40s\": no such unit; use K M G T P, KiB ... PiB (1024) or KB ... PB (1000)",
				 s);
	return convert(&n, unit, s, bytes, f);
}

static int parse_counted(const char *s, const struct unit *units, const char *like, uint64_t *out,
			 bool *bare, struct fault *f)
{
	const struct unit *unit = NULL;
	struct number n;
	const char *suffix = units_read_number(s, &n);

	if (suffix)
		unit = find_unit(units, suffix);
	if (!unit)
		return fault_set(f, EINVAL, "\"%.40s\" is not a number such as %s", s, like);
	if (bare)
		*bare = !*suffix;
	return convert(&n, unit, s, out, f);
}

int units_parse_count(const char *s, uint64_t *count, struct fault *f)
{
	return parse_counted(s, count_units, "15T, 2.5B or 4096", count, NULL, f);
}

int units_parse_params(const char *s, uint64_t *params, struct fault *f)
{
	uint64_t n;
	bool bare;
	int err = parse_counted(s, count_units, "70B, 350M or 8030261248", &n, &bare, f);

	if (err)
		return err;
	if (bare && n < 1000000)
		return fault_set(f, EINVAL,
				 "\"%.40s\" parameters need a unit: did you mean %.40sB?", s, s);
	*params = n;
	return 0;
}

int units_parse_context(const char *s, uint64_t *tokens, struct fault *f)
{
	return parse_counted(s, context_units, "8192 or 8K", tokens, NULL, f);
}

const char *units_gib(char buf[UNITS_TEXT_MAX], uint64_t bytes)
{
	snprintf(buf, UNITS_TEXT_MAX, "%.1f GiB", (double)bytes / (double)GIB);
	return buf;
}

const char *units_gb(char buf[UNITS_TEXT_MAX], uint64_t bytes)
{
	snprintf(buf, UNITS_TEXT_MAX, "%.1f GB", (double)bytes / 1e9);
	return buf;
}

const char *units_count(char buf[UNITS_TEXT_MAX], uint64_t count)
{
	if (count >= 1000000000000ull)
		snprintf(buf, UNITS_TEXT_MAX, "%.2f T", (double)count / 1e12);
	else if (count >= 1000000000)
		snprintf(buf, UNITS_TEXT_MAX, "%.2f B", (double)count / 1e9);
	else
		snprintf(buf, UNITS_TEXT_MAX, "%.1f M", (double)count / 1e6);
	return buf;
}

const char *units_grouped(char buf[UNITS_TEXT_MAX], uint64_t count)
{
	char digits[UNITS_TEXT_MAX];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
	char *out = buf;
	int i;

	for (i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
	return buf;
}
