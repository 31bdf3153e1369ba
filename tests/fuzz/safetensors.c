// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/base/text.c ctl/size/gguf.c ctl/size/safetensors.c ctl/size/scan.c ctl/size/config.c ctl/base/conf.c ctl/base/fault.c ctl/catalogue/model.c ctl/size/facts.c ctl/size/weights.c ctl/base/units.c ctl/size/quant.c ctl/size/quant_torchao.c ctl/size/quant_tensor.c ctl/size/quant_match.c ctl/catalogue/build.c ctl/catalogue/expr.c ctl/catalogue/family.c ctl/catalogue/family_check.c
// packages: json-c
/* safetensors: a header of any bytes, and the same bytes as an index. */
#include "stored.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	parse_stored(safetensors_read, data, size);
	parse_stored(safetensors_index, data, size);
	return 0;
}
