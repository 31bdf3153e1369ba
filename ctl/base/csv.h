/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces are plain comma-separated values: one heading, whole numbers and
 * words, no quotes, no blank lines. What is anything else is refused with file,
 * line and column, so that a mistake in a trace is found there and not in a
 * figure.
 */
#ifndef GPUCTL_PLAN_CSV_H
#define GPUCTL_PLAN_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

#define CSV_WORD_MAX 64

/**
 * struct csv - where the reader is
 * @name: the file, for messages
 * @at: the next byte
 * @end: behind the last one
 * @begin: of the line, for the column
 * @line: counted from 1, the heading is the first
 */
struct csv {
	const char *name;
	const char *at;
	const char *end;
	const char *begin;
	size_t line;
};

/* -EINVAL with "NAME:LINE:COLUMN: ..."; @at is the byte that is wrong. */
int csv_fault(const struct csv *c, const char *at, struct fault *f, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Starts with the heading, which has to be @heading. */
int csv_open(struct csv *c, const char *name, const char *text, size_t len, const char *heading,
	     struct fault *f);

/* Is there another line? It is begun then. */
bool csv_next(struct csv *c);

/* A whole number of at most @max; @what names it. A comma, or the line's end if @last, follows. */
int csv_whole(struct csv *c, const char *what, uint64_t max, bool last, uint64_t *value,
	      struct fault *f);

/* A word of letters, digits, "_", "." and "-". */
int csv_word(struct csv *c, const char *what, bool last, char word[CSV_WORD_MAX], struct fault *f);

#endif
