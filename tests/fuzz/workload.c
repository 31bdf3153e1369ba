// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/base/text.c ctl/size/spec.c ctl/base/fault.c
// packages: json-c
/* Workloads in JSON: every field that is taken can be asked for. */
#include "fuzz.h"
#include "size/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct size_spec spec;
	struct fault fault = { "" };
	size_t i;

	if (spec_parse((const char *)data, size, &spec, &fault)) {
		must(fuzz_is_line(fault.text));
		return 0;
	}
	for (i = 0; i < spec.n; i++)
		must(spec_get(&spec, spec.item[i].key));
	return 0;
}
