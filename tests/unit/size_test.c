// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/base/text.c ctl/size/layouts.c ctl/size/need.c ctl/size/physics.c ctl/size/step.c ctl/size/explain.c ctl/size/speed.c ctl/size/fit.c ctl/size/formula.c ctl/size/rules.c ctl/size/params.c ctl/size/kv.c ctl/size/weights.c ctl/base/units.c ctl/catalogue/catalogue.c ctl/catalogue/engine.c ctl/base/conf.c ctl/base/fault.c ctl/catalogue/gpu.c ctl/catalogue/gpu_find.c ctl/catalogue/model.c ctl/catalogue/model_find.c ctl/catalogue/load.c ctl/base/conf_dir.c ctl/catalogue/build.c ctl/catalogue/expr.c ctl/catalogue/family.c ctl/catalogue/family_check.c
/*
 * From workloads to memory and GPUs: the rules of thumb give the numbers that
 * people know, the default method counts every tensor once, and a layout never
 * holds more than its GPUs have nor splits what cannot be split.
 */
#include <errno.h>

#include "base/units.h"
#include "catalogue/catalogue.h"
#include "size/estimate.h"
#include "size/physics.h"
#include "tap.h"

static struct catalogue cat;

static const struct cat_model *model(const char *name)
{
	const struct cat_model *m = NULL;
	struct fault f = { "" };

	if (cat_model_find(cat.models, cat.n_models, name, &m, &f))
		printf("# %s\n", f.text);
	return m;
}

static const struct cat_gpu *gpu(const char *name)
{
	const struct cat_gpu *g = NULL;
	struct fault f = { "" };

	if (cat_gpu_find(cat.gpus, cat.n_gpus, name, &g, &f))
		printf("# %s\n", f.text);
	return g;
}

static const struct size_method *method(const char *name)
{
	const struct size_method *m = NULL;
	struct fault f = { "" };

	if (size_method_find(name, &m, &f))
		printf("# %s\n", f.text);
	return m;
}

/* A checked request; a failure shows as a failed test. */
static struct size_request request(const char *name, uint64_t params,
				   enum size_task task, const char *precision,
				   const char *by)
{
	struct size_request req;
	struct fault f = { "" };

	size_request_init(&req);
	req.model = name ? model(name) : NULL;
	req.given_params = params;
	req.task = task;
	req.precision = precision ? size_precision_get(precision) : NULL;
	req.method = by ? method(by) : NULL;
	if (size_request_check(&req, &f))
		ok(false, "%s %s: %s", name ? name : "params", by ? by : "",
		   f.text);
	return req;
}

static double total_gb(const struct size_request *req)
{
	struct size_terms terms;

	size_need(req, &terms);
	return (double)terms.total / 1e9;
}

static uint64_t term(const struct size_terms *terms, const char *name)
{
	size_t i;

	for (i = 0; i < terms->n; i++)
		if (!strcmp(terms->term[i].name, name))
			return terms->term[i].bytes;
	return 0;
}

static void rule(const char *by, uint64_t params, enum size_task task,
		 const char *precision, double gb)
{
	struct size_request req = request(NULL, params, task, precision, by);
	char name[120];

	snprintf(name, sizeof(name), "%s: %g B parameters, %s %s: %g GB", by,
		 (double)params / 1e9, size_task_name(task),
		 precision ? precision : "-", gb);
	is_near(total_gb(&req), gb, 1e-6, name);
}

#define B 1000000000ull

static void rules(void)
{
	struct size_request req;
	struct size_terms terms;

	rule("liqid", 8 * B, SIZE_INFER, "fp16", 20);
	rule("liqid", 70 * B, SIZE_INFER, "fp16", 175);
	rule("liqid", 400 * B, SIZE_INFER, "fp16", 1000);
	rule("liqid", 405 * B, SIZE_INFER, "fp16", 1012.5);
	rule("liqid", 8 * B, SIZE_INFER, "fp32", 40);
	rule("liqid", 70 * B, SIZE_INFER, "int4", 43.75);
	rule("accelerate", 8 * B, SIZE_INFER, "bf16", 19.2);
	rule("accelerate", 8 * B, SIZE_INFER, "int4", 4.8);
	rule("accelerate", 8 * B, SIZE_TRAIN, "fp32", 128);
	rule("accelerate", 8 * B, SIZE_TRAIN, "bf16", 64);
	rule("deepspeed-zero2", 8 * B, SIZE_TRAIN, "bf16", 160);
	rule("llama-factory", 7 * B, SIZE_TRAIN, "bf16", 126);
	rule("llama-factory-pure", 7 * B, SIZE_TRAIN, "bf16", 56);
	rule("llama-factory", 7 * B, SIZE_LORA, "bf16", 14);
	rule("llama-factory", 7 * B, SIZE_QLORA, "int8", 7);
	rule("llama-factory", 7 * B, SIZE_QLORA, "int4", 3.5);

	req = request("llama-3.1-8b", 0, SIZE_TRAIN, "bf16", "deepspeed");
	size_need(&req, &terms);
	/* 2 x 4096 x 128 x (32 + 8) + 3 x 4096 x 14336 + 2 x 4096 */
	is_int(term(&terms, "largest layer"), 4 * 218112000ll,
	       "ZeRO-3 gathers the largest layer");
	is_int(term(&terms, "states"), 18 * 8030261248ll, "ZeRO-3 states");

	req = request("llama-3.1-8b", 0, SIZE_TRAIN, "bf16", "eleutherai");
	size_need(&req, &terms);
	is_int(term(&terms, "activations"), 34ll * 4096 * 4096 * 32,
	       "34 s b h L at 4096 tokens");
	is_int(term(&terms, "constant"), 5ll << 30, "5 GiB");
	req = request("llama-3.1-8b", 0, SIZE_INFER, "bf16", "eleutherai");
	size_need(&req, &terms);
	is_int(term(&terms, "KV cache"), 2ll * 8192 * 4096 * 32,
	       "no factor 2, no grouped heads");
}

static void fleets(void)
{
	struct size_request req;
	struct fault f = { "" };
	struct size_fit fit;
	double gpus;

	size_request_init(&req);
	req.given_params = 70 * B;
	req.task = SIZE_TRAIN;
	req.method = method("fleet-training");
	ok(size_request_check(&req, &f) == -EINVAL && strstr(f.text, "--hours"),
	   "inputs are asked for: %s", f.text);
	req.tokens = 2000 * B;
	req.hours = 1000;
	is_int(size_request_check(&req, &f), 0, "with its inputs");
	req.method->gpus(&req, NULL, &gpus, &f);
	is_near(gpus, 2000.0 * 70 * 13.3 / 1000, 1e-9,
		"tokens x params x 13.3 / hours");
	req.method->gpus(&req, gpu("a100-80"), &gpus, &f);
	is_near(gpus, 2000.0 * 70 * 13.35 / 1000, 1e-3,
		"an A100 at 40 % is the constant");
	is_int(size_fit_gpu(&req, gpu("a100-80"), &fit, &f), 0, "as a count");
	is_int(fit.layout.gpus, 1870, "rounded up");
	is_int(size_fit_gpu(&req, gpu("h200-nvl"), &fit, &f), -ENODATA,
	       "a speed that is not known is no guess");

	size_request_init(&req);
	req.given_params = 8 * B;
	req.method = method("fleet-inference");
	req.output_tokens = 250;
	req.throughput = 1000;
	req.qpm = 480;
	is_int(size_request_check(&req, &f), 0, "fleet-inference");
	is_int(size_fit_gpu(&req, gpu("l40s"), &fit, &f), 0, "as a count");
	is_int(fit.layout.gpus, 2, "250 / 1000 x 480 / 60");
}

static void inference(void)
{
	struct size_request req = request("llama-3.1-70b", 0, SIZE_INFER,
					  "bf16", NULL);
	struct size_terms terms;
	struct fault f = { "" };
	struct size_fit fit;

	req.batch = 16;
	size_need(&req, &terms);
	is_int(term(&terms, "weights"), 2 * 70553706496ll, "weights");
	is_int(term(&terms, "KV cache"), 40ll << 30, "KV cache");
	is_int(term(&terms, "activations"),
	       8192ll * 2 * (4 * 8192 + 3 * 28672) + 16ll * 128256 * 6,
	       "prefill and logits");
	is_int(term(&terms, "weights") + term(&terms, "KV cache") +
	       term(&terms, "activations") + term(&terms, "framework"),
	       (intmax_t)terms.total, "nothing else in the total");
	is_str(terms.term[0].formula, "70,553,706,496 x 2 B", "with its formula");

	is_int(size_fit_gpu(&req, gpu("h100-80"), &fit, &f), 0, "on H100 PCIe");
	is_int(fit.gpus, 3, "3 GPUs");
	ok(fit.layout.tp == 1 && fit.layout.pp == 3, "in stages, as 3 do not divide 64 heads");
	ok(fit.per_gpu <= fit.usable, "each has room");
	is_int(fit.trust, GPU_VERIFIED, "on verified memory");
	is_int(size_fit_gpu(&req, gpu("h200"), &fit, &f), 0, "on H200 NVL");
	is_int(fit.layout.gpus, 2, "2 GPUs");
	is_int(size_fit_gpu(&req, gpu("mi300x"), &fit, &f), 0, "on MI300X");
	is_int(fit.layout.gpus, 1, "1 GPU");
	is_int(fit.trust, GPU_ASSUMED, "on assumed memory");
	is_int(size_fit_gpu(&req, gpu("tpu-v2"), &fit, &f), -ENODATA,
	       "memory that is not known is no guess");

	req = request("llama-3.1-8b", 0, SIZE_INFER, "bf16", NULL);
	size_fit_gpu(&req, gpu("l40s"), &fit, &f);
	is_int(fit.layout.gpus, 1, "8B on one L40S");
	req = request("llama-3.1-405b", 0, SIZE_INFER, "fp8", NULL);
	size_fit_gpu(&req, gpu("h100-80"), &fit, &f);
	is_int(fit.gpus, 6, "405B in fp8 on 6 H100");
	req.round = SIZE_ROUND_POW2;
	size_fit_gpu(&req, gpu("h100-80"), &fit, &f);
	is_int(fit.gpus, 8, "on 8 where powers of two are asked for");
	is_int(fit.layout.tp, 8, "tensor parallel");
}

/* Every layout that is answered can be made, and one GPU less would not do. */
static void layouts(void)
{
	static const uint64_t sizes[] = { 12, 24, 40, 80, 141 };
	size_t i, k, wrong = 0, over = 0, none = 0;

	for (i = 0; i < cat.n_models; i++) {
		const struct cat_model *m = &cat.models[i];
		struct size_request req = request(m->id, 0, SIZE_INFER, NULL,
						  NULL);

		for (k = 0; k < 5; k++) {
			struct size_terms terms;
			struct size_fit fit;

			size_fit_bytes(&req, sizes[k] << 30, &fit);
			if (!fit.layout.gpus) {
				none++;
				continue;
			}
			size_need_each(&req, &fit.layout, &terms);
			over += terms.total > sizes[k] << 30 ||
				terms.total != fit.per_gpu;
			if (m->heads % fit.layout.tp ||
			    fit.layout.tp * fit.layout.pp != fit.layout.gpus ||
			    fit.layout.pp > m->layers)
				wrong++;
		}
	}
	is_int(wrong, 0, "tensor parallel degrees divide the heads");
	is_int(over, 0, "no GPU holds more than it has");
	ok(none < 10, "%zu of 415 cases fit nowhere", none);
}

static void odd_heads(void)
{
	struct size_request req = request("falcon-7b", 0, SIZE_INFER, "fp32",
					  NULL);
	struct size_fit fit;

	/* 71 heads are prime: stages of a pipeline are the only way */
	size_fit_bytes(&req, 20 * GIB, &fit);
	is_int(fit.layout.tp, 1, "71 heads cannot be split in two");
	ok(fit.layout.pp == 2 && fit.layout.gpus == 2,
	   "a pipeline of %u can", fit.layout.pp);

	req = request("gpt-2-xl", 0, SIZE_INFER, "bf16", NULL);
	req.context = 1024;
	req.batch = 64;
	size_fit_bytes(&req, 7 * GIB, &fit);
	is_int(fit.layout.tp, 5, "25 heads are split in five");

	req = request("llama-3.1-70b", 0, SIZE_INFER, "bf16", NULL);
	size_fit_bytes(&req, GIB, &fit);
	is_int(fit.layout.gpus, 0, "1 GiB is too small, whatever the count");
	ok(fit.why != NULL, "with a reason: %s", fit.why);
}

static void pipelines(void)
{
	struct size_request req = request("llama-3.1-70b", 0, SIZE_INFER,
					  "bf16", NULL);
	struct size_layout layout = { .gpus = 8, .tp = 4, .pp = 2 };
	struct size_terms whole, part;

	size_need(&req, &whole);
	size_need_each(&req, &layout, &part);
	ok(term(&part, "weights") * 8 >= term(&whole, "weights") -
	   2ll * 128256 * 8192, "the stages hold all weights");
	is_int(term(&part, "KV cache") * 8, (intmax_t)term(&whole, "KV cache"),
	       "and the KV cache once");
	ok(term(&part, "framework") > term(&whole, "framework"),
	   "several GPUs need buffers to talk");
	is_str(part.term[0].formula, "", "formulas are for one GPU only");
}

static void training(void)
{
	struct size_request req = request("llama-3.1-8b", 0, SIZE_TRAIN,
					  "bf16", NULL);
	struct fault f = { "" };
	struct size_terms terms;
	struct size_fit fit;

	size_need(&req, &terms);
	is_int(term(&terms, "states"), 16 * 8030261248ll, "16 bytes a parameter");
	is_int(term(&terms, "logits, loss"), 4096ll * 128256 * 14, "logits");
	is_int(term(&terms, "gathered"), 0, "one GPU gathers nothing");
	size_fit_gpu(&req, gpu("h100-80"), &fit, &f);
	is_int(fit.layout.gpus, 2, "8B trains on 2 H100");
	is_int(fit.layout.tp, 1, "sharded, not tensor parallel");
	size_need_each(&req, &fit.layout, &terms);
	is_int(term(&terms, "gathered"), 8 * 218112000ll, "blocks are gathered");

	req = request("llama-3.1-8b", 0, SIZE_LORA, "bf16", NULL);
	size_need(&req, &terms);
	is_int(term(&terms, "frozen weights"), 16060522496ll, "LoRA weights");
	is_int(term(&terms, "adapters"), 16 * 41943040ll, "LoRA adapters");

	req = request("llama-3.1-8b", 0, SIZE_QLORA, NULL, NULL);
	is_str(req.precision->name, "nf4-dq", "QLoRA is in NF4 by default");
	size_need(&req, &terms);
	is_near((double)term(&terms, "frozen weights"),
		6979321856.0 * 4.127 / 8 + 1050939392.0 * 4, 1e-9,
		"QLoRA keeps embeddings in fp32");
	size_fit_gpu(&req, gpu("l40s"), &fit, &f);
	is_int(fit.layout.gpus, 1, "QLoRA of 8B on one L40S");
}

static void params_only(void)
{
	struct size_request req = request(NULL, 70 * B, SIZE_INFER, "bf16",
					  NULL);
	struct size_terms terms;
	struct size_fit fit;

	size_need(&req, &terms);
	is_int(term(&terms, "weights"), 140 * (intmax_t)B, "weights are known");
	is_int(term(&terms, "KV cache"), 0, "a KV cache is not");
	size_fit_bytes(&req, 80 * GIB, &fit);
	is_int(fit.layout.gpus, 2, "any count will do");
	size_fit_bytes(&req, 40 * GIB, &fit);
	is_int(fit.layout.gpus, 4, "rounded up");
	req = request(NULL, 70 * B, SIZE_INFER, "fp16", "liqid");
	size_fit_bytes(&req, 80 * GIB, &fit);
	is_int(fit.layout.gpus, 3, "175 GB on 80 GiB GPUs");
}

static void refused(struct size_request *req, const char *part)
{
	struct fault f = { "" };

	ok(size_request_check(req, &f) == -EINVAL && strstr(f.text, part),
	   "refused: %s", f.text);
}

/* Experts are shared by ranks that are there: --ep alone makes no model smaller. */
static void experts(void)
{
	struct size_request req, shared;
	struct size_layout layout = { .gpus = 16, .tp = 4, .pp = 1 };
	struct size_fit fit, fit_shared;
	struct size_estimate e, e_shared;
	struct fault f = { "" };

	req = request("deepseek-v3", 0, SIZE_INFER, NULL, "engine");
	shared = req;
	shared.ep = 8;
	is_int(size_request_check(&shared, &f), 0, "8 of 256 experts");
	is_int(size_fit_gpu(&req, gpu("h200-nvl"), &fit, &f), 0, "as a count");
	is_int(size_fit_gpu(&shared, gpu("h200-nvl"), &fit_shared, &f), 0, "as a count");
	ok(fit_shared.layout.tp >= 8 && fit_shared.gpus >= fit.gpus,
	   "8 tensor parallel ranks share them: %u", fit_shared.gpus);
	shared.ep = 64;
	size_fit_bytes(&shared, 4ull << 40, &fit);
	ok(fit.layout.gpus >= 64, "64 ranks are 64 GPUs at least: %u", fit.layout.gpus);
	shared.dp = 64;
	size_fit_bytes(&shared, 4ull << 40, &fit);
	is_int(fit.gpus, 64, "replicas can share them");

	req = request("deepseek-v3", 0, SIZE_TRAIN, NULL, "engine");
	req.zero = 1;
	shared = req;
	shared.ep = 4;
	size_estimate(&req, &layout, &e);
	size_estimate(&shared, &layout, &e_shared);
	ok(e_shared.part[PART_WEIGHTS] < 0.3 * e.part[PART_WEIGHTS], "weights of experts are shared");
	ok(e_shared.part[PART_OPTIMIZER] > 0.999 * e.part[PART_OPTIMIZER],
	   "states that replicas share anyway are not shared twice");
	req.zero = 3;
	shared.zero = 3;
	size_estimate(&req, &layout, &e);
	size_estimate(&shared, &layout, &e_shared);
	ok(e_shared.part[PART_WEIGHTS] > 0.999 * e.part[PART_WEIGHTS], "nor are weights");
}

static void refusals(void)
{
	struct size_request req;
	enum size_task task;
	struct fault f = { "" };

	size_request_init(&req);
	refused(&req, "name a model");
	req.given_params = 1ull << 60;
	refused(&req, "more parameters than any model");
	req.given_params = 8 * B;
	req.context = 1ull << 40;
	refused(&req, "beyond any model");
	req.context = 0;
	req.batch = 0;
	refused(&req, "a batch has");
	req.batch = 1;
	req.mfu = 1.5;
	refused(&req, "MFU");
	req.mfu = 0.4;
	req.kv = size_precision_get("int4");
	refused(&req, "KV cache cannot be kept in int4");
	req.kv = NULL;
	req.task = SIZE_TRAIN;
	req.precision = size_precision_get("int4");
	refused(&req, "cannot be trained");
	req.precision = NULL;
	req.method = method("deepspeed");
	refused(&req, "needs the shape of a model");
	req.method = method("fleet-inference");
	refused(&req, "says nothing about train");
	ok(size_method_find("guess", &req.method, &f) == -ENOENT &&
	   strstr(f.text, "llama-factory-pure"), "unknown method: %s", f.text);
	is_int(size_task_find("sing", &task, &f), -ENOENT, "unknown task");
	is_int(size_task_find("QLoRA", &task, &f), 0, "known task");
}

/* The largest shapes that the format allows saturate instead of wrapping. */
static void giants(void)
{
	static const char text[] =
		"[m]\nname = M\narch = mixtral\nsource = s\nhidden = 1048576\n"
		"layers = 4096\nheads = 4096\nhead_dim = 4096\nffn = 4194304\n"
		"vocab = 16777216\nexperts = 16384\nactive_experts = 16384\n"
		"moe_ffn = 4194304\n";
	struct catalogue c = { 0 };
	struct size_request req;
	struct size_terms terms;
	struct size_fit fit;
	struct fault f = { "" };
	int task;

	if (catalogue_load(&c, "ctl/catalogue", NULL, &f) ||
	    catalogue_parse_models(&c, 1, "m", text, strlen(text), &f) || catalogue_check_models(&c, &f))
		ok(false, "%s", f.text);
	for (task = 0; task < SIZE_TASKS; task++) {
		size_request_init(&req);
		req.model = &c.models[c.n_models - 1];
		req.task = (enum size_task)task;
		req.context = 1ull << 27;
		req.batch = 1ull << 20;
		ok(!size_request_check(&req, &f), "largest model, %s %s",
		   size_task_name(req.task), f.text);
		size_need(&req, &terms);
		ok(terms.total == UINT64_MAX, "saturates");
		size_fit_bytes(&req, 4ull << 40, &fit);
		is_int(fit.layout.gpus, 0, "and does not fit");
	}
	catalogue_free(&c);
}

static void memory(void)
{
	is_int(size_fit_memory(160 * GIB, 81559ull << 20), 3, "160 GiB on H100");
	is_int(size_fit_memory(81559ull << 20, 81559ull << 20), 1, "exactly one");
	is_int(size_fit_memory((81559ull << 20) + 1, 81559ull << 20), 2,
	       "one byte more");
	is_int(size_fit_memory(UINT64_MAX, 1), 0, "no such fabric");
	is_int(size_fit_memory(1, 0), 0, "memory not known");
}

int main(void)
{
	struct fault f = { "" };

	if (!ok(!catalogue_load(&cat, "ctl/catalogue", NULL, &f),
		"the catalogue can be read %s", f.text))
		return tap_done();
	rules();
	fleets();
	inference();
	layouts();
	odd_heads();
	pipelines();
	training();
	params_only();
	experts();
	refusals();
	giants();
	memory();
	catalogue_free(&cat);
	return tap_done();
}
