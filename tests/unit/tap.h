/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a unit test prints: TAP. A test program is one file with a main() that
 * calls these and ends with "return tap_done();". Each check is one line of the
 * result; a program that dies before tap_done() has no plan and so has failed.
 */
#ifndef TESTS_UNIT_TAP_H
#define TESTS_UNIT_TAP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int tap_count;
static int tap_failed;

__attribute__((format(printf, 4, 5), unused))
static bool tap_ok(bool good, const char *file, int line, const char *fmt, ...)
{
	va_list args;

	printf("%sok %d - ", good ? "" : "not ", ++tap_count);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	if (!good) {
		tap_failed++;
		printf("#   at %s:%d\n", file, line);
	}
	fflush(stdout);
	return good;
}

__attribute__((unused))
static bool tap_int(intmax_t is, intmax_t want, const char *file, int line, const char *name)
{
	if (tap_ok(is == want, file, line, "%s", name))
		return true;
	printf("#   is %" PRIdMAX ", expected %" PRIdMAX "\n", is, want);
	return false;
}

__attribute__((unused))
static bool tap_str(const char *is, const char *want, const char *file, int line, const char *name)
{
	bool good = is && want ? !strcmp(is, want) : is == want;

	if (tap_ok(good, file, line, "%s", name))
		return true;
	printf("#   is       \"%s\"\n#   expected \"%s\"\n", is ? is : "(null)", want ? want : "(null)");
	return false;
}

__attribute__((unused))
static bool tap_near(double is, double want, double rel, const char *file, int line,
		     const char *name)
{
	double off = is - want, room = want * rel;

	if (off < 0)
		off = -off;
	if (room < 0)
		room = -room;
	if (tap_ok(off <= room, file, line, "%s", name))
		return true;
	printf("#   is %.10g, expected %.10g within %g of it\n", is, want, rel);
	return false;
}

/* What this run did, for build/check.json: tap_counted("size.cells", 161). */
__attribute__((unused))
static void tap_counted(const char *name, uintmax_t value)
{
	printf("# count %s %" PRIuMAX "\n", name, value);
}

/* ok(condition, "format", ...) */
#define ok(good, ...) tap_ok((good), __FILE__, __LINE__, __VA_ARGS__)
/* is_int(actual, expected, "name") */
#define is_int(is, want, name) tap_int((is), (want), __FILE__, __LINE__, (name))
/* is_str(actual, expected, "name"); NULL equals NULL only */
#define is_str(is, want, name) tap_str((is), (want), __FILE__, __LINE__, (name))
/* is_near(actual, expected, relative tolerance, "name") */
#define is_near(is, want, rel, name) tap_near((is), (want), (rel), __FILE__, __LINE__, (name))

__attribute__((unused))
static int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed || !tap_count;
}

#endif /* TESTS_UNIT_TAP_H */
