// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/base/text.c ctl/size/config.c ctl/size/params.c ctl/base/conf.c ctl/base/fault.c ctl/catalogue/model.c ctl/size/facts.c ctl/size/quant.c ctl/size/quant_torchao.c ctl/size/quant_tensor.c ctl/size/quant_match.c ctl/size/kv.c ctl/size/weights.c ctl/base/units.c ctl/catalogue/catalogue.c ctl/catalogue/engine.c ctl/catalogue/gpu.c ctl/catalogue/gpu_find.c ctl/catalogue/build.c ctl/catalogue/expr.c ctl/catalogue/family.c ctl/catalogue/family_check.c ctl/catalogue/model_find.c ctl/catalogue/load.c ctl/base/conf_dir.c
// packages: json-c
/* config.json: what is taken has a count of parameters, what is refused has a reason. */
#include "families.h"
#include "fuzz.h"
#include "size/config.h"
#include "size/kv.h"
#include "size/params.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cat_model model;
	struct model_params params;
	struct fault fault = { "" };
	struct json_object *config = size_config_object((const char *)data, size, &fault);
	char unknown[64], formula[192];

	if (!config) {
		must(fuzz_is_line(fault.text));
		return 0;
	}
	if (size_config_model(config, fuzz_families(), &model, unknown, NULL, NULL, &fault)) {
		must(fuzz_is_line(fault.text));
	} else {
		model_params(&model, &params);
		must(params.active <= params.total);
		must(kv_windowed_layers(&model) <= model.layers * model.n_caches);
		kv_formula(&model, size_precision_get("bf16"), 1000, 1, formula, sizeof(formula));
		size_model_drop(&model);
	}
	json_object_put(config);
	return 0;
}
