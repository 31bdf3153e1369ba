/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocation that cannot fail, texts that grow, reasons in one line, a clock for deadlines. */
#ifndef DRA_TEXT_H
#define DRA_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Running out of memory ends the program. */
void *zalloc(size_t n, size_t size);
void *grow(void *old, size_t n, size_t size);
char *copy_of(const char *text);
char *format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * struct buffer - bytes that are appended to
 * @data: always with a NUL behind them; NULL as long as nothing was added
 * @max: bytes that it may have, 0 for any number
 * @full: more came than @max, which was left out
 */
struct buffer {
	char *data;
	size_t len, max;
	bool full;
};

void buffer_add(struct buffer *buffer, const char *data, size_t len);
void buffer_free(struct buffer *buffer);

#define REASON_MAX 512

/**
 * struct reason - why something failed, for an event at a pod
 * @text: one line, "" as long as nothing failed
 */
struct reason {
	char text[REASON_MAX];
};

/* Replaces the text, tamed; returns false, so that callers can return it. */
bool refuse(struct reason *reason, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Make a text one line of printable UTF-8, in place. */
void tame(char *text);

/* Milliseconds of a clock that is never set. */
uint64_t clock_ms(void);

/* A whole file of at most @max bytes; NULL with the reason. */
char *file_read(const char *path, size_t max, struct reason *reason);

#endif /* DRA_TEXT_H */
