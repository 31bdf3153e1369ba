// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/base/text.c ctl/size/config.c ctl/size/facts.c ctl/size/quant.c ctl/size/quant_torchao.c ctl/size/quant_tensor.c ctl/size/quant_match.c ctl/size/params.c ctl/size/weights.c ctl/base/units.c ctl/catalogue/catalogue.c ctl/catalogue/engine.c ctl/base/conf.c ctl/base/fault.c ctl/catalogue/gpu.c ctl/catalogue/gpu_find.c ctl/catalogue/model.c ctl/catalogue/build.c ctl/catalogue/expr.c ctl/catalogue/family.c ctl/catalogue/family_check.c ctl/catalogue/model_find.c ctl/catalogue/load.c ctl/base/conf_dir.c
// packages: json-c
/* Stanzas of quantizers: a config.json, and an hf_quant_config.json behind a zero byte. */
#include "families.h"
#include "fuzz.h"
#include "size/config.h"
#include "size/quant.h"
#include "size/quant_match.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
	size_t first = zero ? (size_t)(zero - data) : size;
	struct fault fault = { "" };
	struct json_object *config = size_config_object((const char *)data, first, &fault);
	struct json_object *beside = zero ? size_config_object((const char *)zero + 1,
							       size - first - 1, &fault) : NULL;
	struct size_quant quant = { .n = 0 };
	struct quant_sum sum = { .quant = &quant };
	struct size_precision precision;
	struct cat_model model;
	char unknown[64];

	if (config && !quant_read(config, beside, &quant, &fault)) {
		must(strlen(quant.name) < sizeof(quant.name));
		if (!size_config_model(config, fuzz_families(), &model, unknown, quant_tensor, &sum,
				       &fault)) {
			quant_check_rules(&quant);
			must(fuzz_is_line(quant.unclear) || !*quant.unclear);
			quant_precision(&sum, quant.name, &precision);
			must(sum.bits[0] >= 0 && sum.bits[1] >= 0 && sum.bits[2] >= 0);
			size_model_drop(&model);
		}
		quant_drop(&quant);
	}
	json_object_put(config);
	json_object_put(beside);
	return 0;
}
