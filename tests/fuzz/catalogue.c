// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/base/text.c ctl/catalogue/catalogue.c ctl/catalogue/engine.c ctl/base/conf.c ctl/base/fault.c ctl/catalogue/gpu.c ctl/catalogue/gpu_find.c ctl/catalogue/model.c ctl/catalogue/model_find.c ctl/size/params.c ctl/size/kv.c ctl/size/weights.c ctl/size/layouts.c ctl/size/need.c ctl/size/physics.c ctl/size/step.c ctl/size/explain.c ctl/size/speed.c ctl/size/fit.c ctl/size/formula.c ctl/size/rules.c ctl/base/units.c ctl/catalogue/build.c ctl/catalogue/expr.c ctl/catalogue/family.c ctl/catalogue/family_check.c
/*
 * Catalogue files: a text of GPUs, a text of models, and a workload of the
 * first model on the first GPU. What the catalogue takes the sizes can use.
 */
#include "catalogue/catalogue.h"
#include "fuzz.h"
#include "size/estimate.h"
#include "size/params.h"

static void check_fault(const struct fault *fault)
{
	must(fuzz_is_line(fault->text));
	must(strlen(fault->text) < FAULT_TEXT_MAX);
}

static void use_models(const struct catalogue *catalogue)
{
	struct fault fault = { "" };
	size_t i;

	for (i = 0; i < catalogue->n_models; i++) {
		const struct cat_model *model = &catalogue->models[i], *found = NULL;
		struct model_params params;

		model_params(model, &params);
		must(params.active <= params.total);
		model_lora_params(model, 16);
		must(!cat_model_find(catalogue->models, catalogue->n_models, model->id, &found, &fault));
		must(found == model);
	}
}

static void use_gpus(const struct catalogue *catalogue)
{
	struct fault fault = { "" };
	size_t i;

	for (i = 0; i < catalogue->n_gpus; i++) {
		const struct cat_gpu *gpu = &catalogue->gpus[i], *found = NULL;

		must(!cat_gpu_find(catalogue->gpus, catalogue->n_gpus, gpu->id, &found, &fault));
		must(found == gpu);
	}
}

/* Every method that takes the workload gives terms that add up, or a count. */
static void use_both(const struct catalogue *catalogue)
{
	size_t i;

	for (i = 0; size_methods[i]; i++) {
		struct size_request request;
		struct size_terms terms;
		struct size_fit fit;
		struct fault fault = { "" };

		size_request_init(&request);
		request.model = catalogue->models;
		request.method = size_methods[i];
		if (size_request_check(&request, &fault)) {
			check_fault(&fault);
			continue;
		}
		if (request.method->terms) {
			size_need(&request, &terms);
			must(terms.n > 0 && terms.n <= SIZE_TERMS_MAX);
		}
		if (!catalogue->n_gpus)
			continue;
		if (size_fit_gpu(&request, catalogue->gpus, &fit, &fault))
			check_fault(&fault);
		else
			must(fit.gpus || fit.why);
	}
}

/* What every family is like, and a few that models are of; read once. */
static int parse_families(struct catalogue *catalogue, struct fault *fault)
{
	static const char few[] = "[family.llama]\n[family.mixtral]\nneeds = hidden experts\n"
				  "[family.gemma2]\nlayer_norms = 4\n";
	static char text[16384];
	static size_t length;
	FILE *file;
	int err;

	if (!length) {
		file = fopen("ctl/catalogue/models.d/family-transformer.conf", "r");
		must(file);
		length = fread(text, 1, sizeof(text), file);
		fclose(file);
	}
	err = catalogue_parse_models(catalogue, 0, "families", text, length, fault);
	return err ? err : catalogue_parse_models(catalogue, 0, "few", few, sizeof(few) - 1, fault);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_parts parts = { data, size };
	struct catalogue catalogue = { 0 };
	struct fault fault = { "" };
	size_t length;
	const uint8_t *text = fuzz_part(&parts, &length);
	/* Of its own size, so that reading behind its end is seen. */
	char *gpus = malloc(length ? length : 1), *models;
	int err;

	memcpy(gpus, text, length);
	err = parse_families(&catalogue, &fault);
	must(!err);
	err = catalogue_parse_gpus(&catalogue, 0, "gpus.conf", gpus, length, &fault);
	free(gpus);
	text = fuzz_part(&parts, &length);
	models = malloc(length ? length : 1);
	memcpy(models, text, length);
	if (!err)
		err = catalogue_parse_models(&catalogue, 1, "models.conf", models, length, &fault);
	free(models);
	if (!err)
		err = catalogue_check_gpus(&catalogue, &fault);
	if (!err)
		err = catalogue_check_models(&catalogue, &fault);
	if (err) {
		check_fault(&fault);
	} else {
		use_models(&catalogue);
		use_gpus(&catalogue);
		if (catalogue.n_models)
			use_both(&catalogue);
	}
	catalogue_free(&catalogue);
	return 0;
}
