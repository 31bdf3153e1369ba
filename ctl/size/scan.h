/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * JSON as a stream: for headers of many megabytes of which a few numbers are
 * wanted, where a tree would take ten times their size. Strict in structure;
 * strings are given up to a limit, escapes as they stand.
 */
#ifndef GPUCTL_SIZE_SCAN_H
#define GPUCTL_SIZE_SCAN_H

#include "source.h"

#define SCAN_STRING_MAX 256
#define SCAN_DEPTH_MAX 16
#define SCAN_BUFFER 65536

enum scan_token {
	SCAN_END,
	SCAN_OPEN_OBJECT,
	SCAN_CLOSE_OBJECT,
	SCAN_OPEN_ARRAY,
	SCAN_CLOSE_ARRAY,
	SCAN_KEY, /* text is the key */
	SCAN_STRING, /* text is the string, cut at its limit */
	SCAN_NUMBER, /* text is the number */
	SCAN_WORD, /* true, false, null */
	SCAN_ERROR
};

/**
 * struct scan - one pass
 * @source: where bytes are read
 * @at: offset of the next byte to take, @end where the document ends
 * @text: of the last token
 * @why: of an error
 */
struct scan {
	const struct size_source *source;
	uint64_t at;
	uint64_t end;
	uint64_t loaded;
	size_t have;
	unsigned int depth;
	char nest[SCAN_DEPTH_MAX];
	bool want_value;
	bool want_comma;
	char text[SCAN_STRING_MAX];
	const char *why;
	char buf[SCAN_BUFFER];
};

void scan_start(struct scan *scan, const struct size_source *source, uint64_t from, uint64_t len);
enum scan_token scan_next(struct scan *scan);

/* After a token that opens: everything up to where it closes again. */
enum scan_token scan_skip(struct scan *scan, enum scan_token first);

/* The last number as a whole one; false if it is none or too large. */
bool scan_whole(const struct scan *scan, uint64_t *out);

#endif
