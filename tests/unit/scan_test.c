// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/size/scan.c
/*
 * JSON as a stream: what ends a string does so wherever it is, in a buffer and across its
 * end, and numbers are whole or too large.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "size/scan.h"
#include "tap.h"

static int read_text(void *arg, uint64_t offset, void *buf, size_t n)
{
	memcpy(buf, (const char *)arg + offset, n);
	return 0;
}

/* The first token of @text, which the buffer holds up to @split bytes into it. */
static enum scan_token first(struct scan *s, const char *text, size_t split)
{
	static char padded[SCAN_BUFFER + 256];
	static struct size_source source = { .read = read_text, .arg = padded };
	size_t blanks = SCAN_BUFFER - split;

	memset(padded, ' ', blanks);
	snprintf(padded + blanks, sizeof(padded) - blanks, "%s", text);
	source.size = blanks + strlen(text);
	scan_start(s, &source, 0, source.size);
	return scan_next(s);
}

/* Each of @odd at each place of a string, with the end of the buffer at each place of it. */
static void strings(const char *odd, enum scan_token want, const char *why)
{
	static struct scan s;
	char name[] = "01234567890123456789", text[32];
	unsigned int bad = 0, i, split;

	for (; *odd; odd++) {
		for (i = 0; i + 1 < sizeof(name); i++) {
			char kept = name[i];

			name[i] = *odd;
			snprintf(text, sizeof(text), "\"%s\"", name);
			for (split = 0; split <= strlen(text); split++)
				bad += first(&s, text, split) != want ||
				       (want == SCAN_STRING ? strcmp(s.text, name) != 0
							    : !strstr(s.why, why));
			name[i] = kept;
		}
	}
	is_int((int)bad, 0, why);
}

static void quotes(void)
{
	static struct scan s;
	char name[] = "01234567890123456789", text[64];
	unsigned int bad = 0, i;

	for (i = 0; i < sizeof(name); i++) {
		snprintf(text, sizeof(text), "\"%.*s\"", (int)i, name);
		bad += first(&s, text, 0) != SCAN_STRING || strlen(s.text) != i;
		snprintf(text, sizeof(text), "\"%.*s\\\"%s\"", (int)i, name, name);
		bad += first(&s, text, 0) != SCAN_STRING || strlen(s.text) != i + 22;
	}
	is_int((int)bad, 0, "quotes end a string, and escaped ones do not");
}

static void numbers(void)
{
	static struct scan s;
	uint64_t n;

	ok(first(&s, "[18446744073709551615,", 4) == SCAN_OPEN_ARRAY && scan_next(&s) == SCAN_NUMBER &&
	   scan_whole(&s, &n) && n == UINT64_MAX, "the largest whole number, across two buffers");
	ok(first(&s, "18446744073709551616", 0) == SCAN_NUMBER && !scan_whole(&s, &n), "one more");
	ok(first(&s, "1.5", 0) == SCAN_NUMBER && !scan_whole(&s, &n), "a fraction is none");
	ok(first(&s, "-1", 0) == SCAN_NUMBER && !scan_whole(&s, &n), "nor is what is negative");
	ok(first(&s, "\"abc", 2) == SCAN_ERROR && strstr(s.why, "cut off"), "no end: %s", s.why);
}

int main(void)
{
	strings("\n\x1f\x01", SCAN_ERROR, "control character");
	strings(" !#[]\x7f\x80\xff", SCAN_STRING, "others are plain");
	quotes();
	numbers();
	return tap_done();
}
