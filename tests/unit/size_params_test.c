// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/base/text.c ctl/size/params.c ctl/size/kv.c ctl/size/weights.c ctl/base/units.c ctl/catalogue/catalogue.c ctl/catalogue/engine.c ctl/base/conf.c ctl/base/fault.c ctl/catalogue/gpu.c ctl/catalogue/gpu_find.c ctl/catalogue/model.c ctl/catalogue/model_find.c ctl/catalogue/load.c ctl/base/conf_dir.c ctl/catalogue/build.c ctl/catalogue/expr.c ctl/catalogue/family.c ctl/catalogue/family_check.c
/*
 * Parameters and KV cache of every model in the catalogue: published counts to
 * the last parameter, bytes per token to the last byte.
 */
#include "catalogue/catalogue.h"
#include "csv.h"
#include "size/kv.h"
#include "size/params.h"
#include "size/weights.h"
#include "tap.h"

#define GIB_OF(bytes) ((double)(bytes) / (1 << 30))

static struct catalogue cat;

static const struct cat_model *model(const char *name)
{
	const struct cat_model *m = NULL;
	struct fault f = { "" };

	if (cat_model_find(cat.models, cat.n_models, name, &m, &f))
		printf("# %s\n", f.text);
	return m;
}

static void every_model(void)
{
	const struct size_precision *bf16 = size_precision_get("bf16");
	FILE *file = fopen("tests/data/models-expected.csv", "r");
	char line[CSV_LINE_MAX], *field[CSV_FIELDS_MAX];
	unsigned int rows = 0, published = 0;

	if (!file) {
		ok(false, "tests/data/models-expected.csv can be read");
		return;
	}
	while (csv_next(file, line, field) == 5) {
		const struct cat_model *m = model(field[0]);
		struct model_params p;

		rows++;
		if (!m) {
			ok(false, "%s is in the catalogue", field[0]);
			continue;
		}
		model_params(m, &p);
		ok(p.total == csv_number(field[1]) &&
		   p.active == csv_number(field[2]),
		   "%s has %s parameters, %s active (got %llu, %llu)",
		   field[0], field[1], field[2], (unsigned long long)p.total,
		   (unsigned long long)p.active);
		ok(p.linear + p.small + p.embedding + p.head == p.total,
		   "%s: the parts add up", field[0]);
		if (*field[3]) {
			published++;
			ok(p.total == csv_number(field[3]) &&
			   m->published == p.total,
			   "%s: published count is met", field[0]);
		}
		ok(kv_bytes_per_token(m, bf16, 1) == csv_number(field[4]),
		   "%s: %s bytes of KV cache a token", field[0], field[4]);
	}
	fclose(file);
	is_int(rows, 83, "expected values of 83 models");
	is_int(cat.n_models, 83, "83 models in the catalogue");
	ok(published >= 50, "%u published counts compared", published);
}

static void kv_cache(void)
{
	const struct size_precision *bf16 = size_precision_get("bf16");
	const struct size_precision *q8 = size_precision_get("q8_0");
	const struct cat_model *m = model("llama-3.1-70b");
	const struct cat_model *mistral = model("mistral-7b");
	const struct cat_model *gemma = model("gemma-3-27b");
	const struct cat_model *v3 = model("deepseek-v3");
	char text[192];

	is_int(kv_bytes(m, bf16, 8192, 16, 1), 40ll << 30,
	       "70B, 16 x 8192 tokens: 40 GiB");
	is_int(kv_bytes(m, bf16, 8192, 16, 8), 5ll << 30,
	       "one of 8 heads on each of 8 GPUs");
	is_int(kv_bytes(m, bf16, 8192, 16, 16), 5ll << 30,
	       "16 GPUs: heads are there twice");
	is_near(GIB_OF(kv_bytes(m, q8, 8192, 16, 1)), 40 * 1.0625 / 2, 1e-9,
		"q8_0 takes 1.0625 bytes");
	is_int(kv_bytes(v3, bf16, 1000, 1, 8), 70272 * 1000,
	       "a latent is on every GPU whole");
	is_int(kv_bytes(mistral, bf16, 32768, 1, 1), 131072ll * 4096,
	       "a window bounds the cache");
	is_int(kv_bytes(mistral, bf16, 100, 1, 1), 131072ll * 100,
	       "a context below the window");
	/* 10 of 62 layers see all, the others 1024 tokens: 8192 B a layer */
	is_int(kv_bytes(gemma, bf16, 8192, 1, 1),
	       (10ll * 8192 + 52 * 1024) * 8192, "every sixth layer sees all");

	kv_formula(m, bf16, 8192, 16, text, sizeof(text));
	is_str(text, "80 layers x 2 x 8 heads x 128 x 2 B x 131,072 tokens",
	       "the formula in words");
}

static void weights(void)
{
	struct model_params p;
	char text[192];

	model_params(model("llama-3.1-8b"), &p);
	is_int(size_weight_bytes(&p, size_precision_get("bf16")),
	       16060522496ll, "8B in bf16 has its published total_size");
	is_int(p.embedding, 128256ll * 4096, "input embedding");
	is_int(p.head, 128256ll * 4096, "output matrix");
	is_int(p.small, 65 * 4096, "norms");
	is_near((double)size_weight_bytes(&p, size_precision_get("int4")),
		(double)p.linear * 4.156 / 8 +
		(double)(p.total - p.linear) * 2, 1e-9,
		"int4: embeddings stay at 16 bits");
	is_near((double)size_weight_bytes(&p, size_precision_get("q4_k_m")),
		(double)p.total * 4.84 / 8, 1e-9, "GGUF: average over all");
	size_weight_formula(&p, size_precision_get("bf16"), text,
			    sizeof(text));
	is_str(text, "8,030,261,248 x 2 B", "formula of plain weights");
	size_weight_formula(&p, size_precision_get("int4"), text,
			    sizeof(text));
	is_str(text, "6,979,321,856 x 4.156 bits + 1,050,939,392 x 16 bits",
	       "formula of quantized weights");
}

static void adapters(void)
{
	/* rank 16: 32 x 16 x ((2 x 8192) + 2 x (4096 + 1024) + 3 x 18432) */
	is_int(model_lora_params(model("llama-3.1-8b"), 16), 41943040,
	       "LoRA of rank 16 on an 8B model");
	is_int(model_lora_params(model("llama-3.1-8b"), 8), 20971520,
	       "half the rank, half the parameters");
}

static void precisions(void)
{
	const struct size_precision *p;
	struct fault f = { "" };

	ok(!size_precision_find("BF16", &p, &f) && !strcmp(p->name, "bf16"),
	   "precision without regard to case");
	ok(size_precision_find("fp7", &p, &f) < 0 && strstr(f.text, "mxfp4"),
	   "an unknown precision lists the known: %s", f.text);
}

int main(void)
{
	struct fault f = { "" };

	if (!ok(!catalogue_load(&cat, "ctl/catalogue", NULL, &f),
		"the catalogue can be read %s", f.text))
		return tap_done();
	every_model();
	kv_cache();
	weights();
	adapters();
	precisions();
	catalogue_free(&cat);
	return tap_done();
}
