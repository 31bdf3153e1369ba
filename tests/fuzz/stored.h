/* SPDX-License-Identifier: GPL-2.0-only */
/* The bytes of a fuzzer as the file of a model, and what each parser owes them. */
#ifndef TESTS_FUZZ_STORED_H
#define TESTS_FUZZ_STORED_H

#include "fuzz.h"
#include "size/source.h"

struct memory {
	const uint8_t *data;
	size_t size;
};

static inline int read_memory(void *arg, uint64_t offset, void *buf, size_t n)
{
	const struct memory *m = arg;

	must(offset <= m->size && n <= m->size - offset);
	memcpy(buf, m->data + offset, n);
	return 0;
}

static inline void parse_stored(int (*parser)(const struct size_source *, struct size_stored *,
					      struct fault *),
				const uint8_t *data, size_t size)
{
	struct memory memory = { data, size };
	struct size_source source = { read_memory, &memory, size };
	struct size_stored stored;
	struct fault fault = { "" };

	if (parser(&source, &stored, &fault))
		must(fuzz_is_line(fault.text));
	stored_free(&stored);
}

#endif
