/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the fuzz targets share. A target is one file that feeds libFuzzer's
 * bytes to real code of the tool and aborts when something does not hold that
 * must hold for all input.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* must(condition): says which one failed and where, and ends the run. */
#define must(condition) do {						\
	if (!(condition)) {						\
		fprintf(stderr, "%s:%d: does not hold: %s\n",		\
			__FILE__, __LINE__, #condition);		\
		abort();						\
	}								\
} while (0)

/*
 * A text of its own allocation, so that reading behind its end is seen; a NUL
 * in the input ends it. Caller frees.
 */
__attribute__((unused))
static char *fuzz_text(const void *data, size_t size)
{
	char *text = strndup(data, size);

	must(text);
	return text;
}

/*
 * The input behind its first byte, which a target that has several parsers chooses by. An
 * allocation of its own, so that reading behind its end is seen; caller frees. @size is at least 1.
 */
__attribute__((unused))
static void *fuzz_behind(const uint8_t *data, size_t size)
{
	void *copy = malloc(size);

	must(copy);
	memcpy(copy, data + 1, size - 1);
	return copy;
}

/**
 * struct fuzz_parts - input that is several things, a byte 0xff between them
 * @data: what is left
 * @size: how much
 */
struct fuzz_parts {
	const uint8_t *data;
	size_t size;
};

/* The next part and its length, "" behind the last one. */
__attribute__((unused))
static const uint8_t *fuzz_part(struct fuzz_parts *parts, size_t *size)
{
	const uint8_t *start = parts->data;
	const uint8_t *end = parts->size ? memchr(start, 0xff, parts->size) : NULL;

	*size = end ? (size_t)(end - start) : parts->size;
	parts->data += *size + (end ? 1 : 0);
	parts->size -= *size + (end ? 1 : 0);
	return start;
}

/* The next part as a text; caller frees. */
__attribute__((unused))
static char *fuzz_part_text(struct fuzz_parts *parts)
{
	size_t size;
	const uint8_t *part = fuzz_part(parts, &size);

	return fuzz_text(part, size);
}

/* One line of printable text, as a reason for a failure has to be. */
__attribute__((unused))
static bool fuzz_is_line(const char *text)
{
	return *text && !strchr(text, '\n');
}

#endif
