// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/lib/text.c ctl/size/config.c ctl/size/params.c ctl/catalogue/conf.c ctl/catalogue/fault.c ctl/catalogue/model.c
// packages: json-c
/* config.json: what is taken has a count of parameters, what is refused has a reason. */
#include "fuzz.h"
#include "size/config.h"
#include "size/params.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cat_model model;
	struct model_params params;
	struct fault fault = { "" };
	char quant[16];

	if (size_config_parse((const char *)data, size, &model, quant, &fault)) {
		must(fuzz_is_line(fault.text));
		return 0;
	}
	model_params(&model, &params);
	must(params.active <= params.total);
	size_model_drop(&model);
	return 0;
}
