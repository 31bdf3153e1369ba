// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/lib/text.c ctl/size/gguf.c ctl/size/safetensors.c ctl/size/scan.c ctl/size/config.c ctl/catalogue/conf.c ctl/catalogue/fault.c ctl/catalogue/model.c
// packages: json-c
/* safetensors: a header of any bytes, and the same bytes as an index. */
#include <errno.h>

#include "fuzz.h"
#include "size/source.h"

struct memory {
	const uint8_t *data;
	size_t size;
};

static int read_memory(void *arg, uint64_t offset, void *buf, size_t n)
{
	const struct memory *m = arg;

	must(offset <= m->size && n <= m->size - offset);
	memcpy(buf, m->data + offset, n);
	return 0;
}

static void parse(int (*parser)(const struct size_source *, struct size_stored *, struct fault *),
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	parse(safetensors_read, data, size);
	parse(safetensors_index, data, size);
	return 0;
}
