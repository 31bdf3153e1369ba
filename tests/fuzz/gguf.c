// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/base/text.c ctl/size/gguf.c ctl/size/safetensors.c ctl/size/scan.c ctl/size/config.c ctl/base/conf.c ctl/base/fault.c ctl/catalogue/model.c ctl/size/facts.c ctl/size/weights.c ctl/base/units.c ctl/size/quant.c ctl/size/quant_torchao.c ctl/size/quant_tensor.c ctl/size/quant_match.c ctl/catalogue/catalogue.c ctl/catalogue/engine.c ctl/catalogue/gpu.c ctl/catalogue/gpu_find.c ctl/catalogue/build.c ctl/catalogue/expr.c ctl/catalogue/family.c ctl/catalogue/family_check.c ctl/catalogue/model_find.c ctl/catalogue/load.c ctl/base/conf_dir.c
// packages: json-c
/* GGUF: metadata and tensor table of any bytes. */
#include "families.h"
#include "stored.h"

static int read_gguf(const struct size_source *source, struct size_stored *out, struct fault *f)
{
	return gguf_read(&source, 1, fuzz_families(), out, f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	parse_stored(read_gguf, data, size);
	return 0;
}
