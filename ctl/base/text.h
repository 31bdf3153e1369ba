/* SPDX-License-Identifier: GPL-2.0-only */
/* Small text helpers: allocation that cannot fail, quantities for people, names. */
#ifndef GPUCTL_TEXT_H
#define GPUCTL_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Allocation; running out of memory ends the program with exit code 1. */
void *mem_zalloc(size_t n, size_t size);
void *mem_grow(void *old, size_t n, size_t size);
/* Room for one more item in an array of @n that only mem_push() made: it grows in doublings. */
void *mem_push(void *old, size_t n, size_t size);
char *mem_strdup(const char *s);
char *mem_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *mem_vprintf(const char *fmt, va_list ap);

/* A text that grows; .text is NULL until something was added. */
struct text {
	char *text;
	size_t len;
};

void text_add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "%s" items with a separator between them. */
void text_join(struct text *t, const char *separator, const char *item);

#define TEXT_QUANTITY 32
/* "79.6 GiB"; the buffer is returned. */
const char *text_bytes(char buf[TEXT_QUANTITY], uint64_t bytes);
/* "0.31 s", "12 s", "5 min", "2 h 10 min", "3 d 4 h". */
const char *text_duration(char buf[TEXT_QUANTITY], uint64_t ms);
/* How long ago, without pretending precision: "3 s", "2 h 10 min". */
const char *text_age(char buf[TEXT_QUANTITY], uint64_t ms);
/* Local time, "2026-11-20 18:43:07". */
const char *text_time(char buf[TEXT_QUANTITY], uint64_t ms);
/* Milliseconds since the epoch. */
uint64_t text_now(void);
/* Milliseconds of a clock that is never set, for deadlines. */
uint64_t text_monotonic(void);
/*
 * Deadlines come from the module as milliseconds of CLOCK_BOOTTIME, which goes on
 * while the system sleeps and is never set. text_uptime() is that clock now;
 * text_wall() is what a clock on the wall will show then, as it is set now.
 */
uint64_t text_uptime(void);
uint64_t text_wall(uint64_t uptime);

/* Names of compositions, tenants and labels: [A-Za-z][A-Za-z0-9_.-]{0,62}. */
bool text_name_valid(const char *name);

/*
 * Text of others (a process, a driver, a file) made harmless, in place: what is
 * no UTF-8 becomes question marks, so that JSON stays JSON; text_tame() does
 * that with control characters too, so that nothing plays with the terminal;
 * newlines and tabs stay where @lines are meant.
 */
void text_utf8(char *s);
void text_tame(char *s, bool lines);

/*
 * Columns that UTF-8 text takes on a terminal: two for wide characters, none for combining
 * ones, one for each byte that is no UTF-8.
 */
size_t text_width(const char *s);

/* Edit distance, and the nearest of some words when it is near enough; NULL otherwise. */
unsigned int text_distance(const char *a, const char *b);
const char *text_nearest(const char *word, const char *const *words, size_t n);

/* Strict unsigned decimal or 0x number; false when anything else stands there. */
bool text_number(const char *s, uint64_t max, uint64_t *value);

/* "500ms", "30s", "5min" or "5m", "8h", "2d" to milliseconds; a unit is needed. */
bool text_parse_duration(const char *s, uint64_t *ms);

#endif /* GPUCTL_TEXT_H */
