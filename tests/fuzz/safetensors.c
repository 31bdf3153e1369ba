// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/lib/text.c ctl/size/gguf.c ctl/size/safetensors.c ctl/size/scan.c ctl/size/config.c ctl/catalogue/conf.c ctl/catalogue/fault.c ctl/catalogue/model.c
// packages: json-c
/* safetensors: a header of any bytes, and the same bytes as an index. */
#include "stored.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	parse_stored(safetensors_read, data, size);
	parse_stored(safetensors_index, data, size);
	return 0;
}
