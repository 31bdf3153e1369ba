// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules of thumb that people know, as they are: each with its formula and
 * with what it leaves out, so that they can be compared with each other and
 * with a computed figure. They are kept even where they are known to be far
 * off, because users arrive with their numbers.
 */
#include <errno.h>
#include <stdio.h>

#include "base/units.h"
#include "base/wide.h"
#include "estimate.h"

/* GPU-hours for 1e9 tokens and 1e9 parameters: A100 at 40 %, 6 N T. */
#define A100_HOURS 13.3

static uint64_t scaled(uint64_t n, uint64_t by, uint64_t over, unsigned int gpus)
{
	return wide_saturate(wide_div_up((u128)n * by, (u128)over * gpus));
}

/* Bytes of all parameters at the bits that the name of the format promises. */
static uint64_t plain_bytes(const struct size_request *req)
{
	return size_bytes_of(req->params.total, req->precision->plain);
}

static double plain_bits(const struct size_request *req)
{
	return (double)req->precision->plain / (double)SIZE_BIT;
}

static bool is_fp32(const struct size_request *req)
{
	return req->precision->plain == 32 * SIZE_BIT;
}

static const char *rule_count(const struct size_request *req, char *buf)
{
	return units_grouped(buf, req->params.total);
}

static void liqid(const struct size_request *req, const struct size_layout *layout,
		  struct size_terms *terms)
{
	char n[UNITS_TEXT_MAX];

	size_term_add(terms, "weights", scaled(plain_bytes(req), 125, 100, layout->gpus),
		      "%s x %g/8 x 1.25", rule_count(req, n), plain_bits(req));
}

static void accelerate(const struct size_request *req, const struct size_layout *layout,
		       struct size_terms *terms)
{
	unsigned int each = is_fp32(req) ? 16 : 8;
	char n[UNITS_TEXT_MAX];

	if (req->task == SIZE_INFER)
		size_term_add(terms, "weights", scaled(plain_bytes(req), 12, 10, layout->gpus),
			      "%s x %g/8 x 1.2", rule_count(req, n), plain_bits(req));
	else
		size_term_add(terms, "Adam", scaled(req->params.total, each, 1, layout->gpus),
			      "%s x %u", rule_count(req, n), each);
}

static void zero2(const struct size_request *req, const struct size_layout *layout,
		  struct size_terms *terms)
{
	char n[UNITS_TEXT_MAX];

	size_term_add(terms, "weights", scaled(req->params.total, 2, 1, 1), "2 x %s",
		      rule_count(req, n));
	size_term_add(terms, "states", scaled(req->params.total, 18, 1, layout->gpus),
		      "18 x %s / GPUs", rule_count(req, n));
}

static void zero3(const struct size_request *req, const struct size_layout *layout,
		  struct size_terms *terms)
{
	char n[UNITS_TEXT_MAX];

	size_term_add(terms, "largest layer", scaled(req->params.block, 4, 1, 1), "4 x %s",
		      units_grouped(n, req->params.block));
	size_term_add(terms, "states", scaled(req->params.total, 18, 1, layout->gpus),
		      "18 x %s / GPUs", rule_count(req, n));
}

static void eleutherai(const struct size_request *req, const struct size_layout *layout,
		       struct size_terms *terms)
{
	const struct cat_model *m = req->model;
	u128 tokens = (u128)req->context * req->batch;
	unsigned int low = is_fp32(req) ? 4 : 2;
	unsigned int gpus = layout->gpus;
	char n[UNITS_TEXT_MAX];

	size_term_add(terms, "weights", scaled(req->params.total, low, 1, gpus), "%u x %s", low,
		      rule_count(req, n));
	if (req->task == SIZE_INFER) {
		u128 cache = wide_div_up(tokens * low * m->hidden * m->layers, gpus);

		size_term_add(terms, "KV cache", wide_saturate(cache),
			      "%u x s x b x h x L: no factor 2, no grouped heads", low);
		size_term_add(terms, "activations", wide_saturate(tokens * 34 * m->hidden),
			      "34 x s x b x h of one layer");
	} else {
		size_term_add(terms, "gradients", scaled(req->params.total, 4, 1, gpus), "4 x %s",
			      rule_count(req, n));
		size_term_add(terms, "optimizer", scaled(req->params.total, 12, 1, gpus), "12 x %s",
			      rule_count(req, n));
		size_term_add(terms, "activations",
			      wide_saturate(tokens * 34 * m->hidden * m->layers),
			      "34 x s x b x h x L");
	}
	size_term_add(terms, "constant", 5 * GIB, "5 GiB a GPU");
}

static void llama_factory(const struct size_request *req, const struct size_layout *layout,
			  struct size_terms *terms)
{
	char n[UNITS_TEXT_MAX];
	uint64_t quarters; /* of a byte per parameter */

	if (req->task == SIZE_TRAIN)
		quarters = 4 * 18;
	else if (req->task == SIZE_LORA)
		quarters = 4 * 2;
	else
		quarters = req->precision->plain / (2 * SIZE_BIT);
	size_term_add(terms, "all", scaled(req->params.total, quarters, 4, layout->gpus), "%s x %g",
		      rule_count(req, n), (double)quarters / 4);
}

static void llama_factory_pure(const struct size_request *req, const struct size_layout *layout,
			       struct size_terms *terms)
{
	char n[UNITS_TEXT_MAX];

	size_term_add(terms, "all", scaled(req->params.total, 8, 1, layout->gpus), "%s x 8",
		      rule_count(req, n));
}

static int fleet_training_check(const struct size_request *req, struct fault *f)
{
	if (!req->tokens || req->hours <= 0)
		return fault_set(f, EINVAL,
				 "method fleet-training needs --tokens (such as 2T) and --hours");
	return 0;
}

static int fleet_training(const struct size_request *req, const struct cat_gpu *gpu, double *gpus,
			  struct fault *f)
{
	double work = (double)req->params.active / 1e9 * (double)req->tokens / 1e9 * req->epochs;
	bool fp8 = req->precision->plain == 8 * SIZE_BIT;
	enum gpu_fact fact = fp8	  ? GPU_FP8_TFLOPS :
			     is_fp32(req) ? GPU_FP32_TFLOPS :
					    GPU_FP16_TFLOPS;
	double peak;

	if (!gpu) {
		*gpus = work * A100_HOURS / req->hours;
		return 0;
	}
	if (cat_gpu_fact(gpu, fact, &peak) == GPU_UNKNOWN)
		return fault_set(f, ENODATA, "%s speed of %s is not known",
				 fp8	      ? "fp8" :
				 is_fp32(req) ? "fp32" :
						"fp16",
				 gpu->name);
	*gpus = 6 * work * 1e6 / (peak * req->mfu * 3600 * req->hours);
	return 0;
}

static int fleet_inference_check(const struct size_request *req, struct fault *f)
{
	if (!req->output_tokens || req->throughput <= 0 || req->qpm <= 0)
		return fault_set(f, EINVAL,
				 "method fleet-inference needs --output-tokens, --throughput (tokens/s of a GPU) and --qpm");
	return 0;
}

static int fleet_inference(const struct size_request *req, const struct cat_gpu *gpu, double *gpus,
			   struct fault *f)
{
	(void)gpu; /* its speed is an input: --throughput */
	(void)f;
	*gpus = (double)req->output_tokens / req->throughput * req->qpm / 60;
	return 0;
}

const struct size_method size_rules[] = {
	{
		.name = "liqid",
		.rule = "params x bits/8 x 1.25",
		.reading = "weights and a quarter more; no KV cache, no training states",
		.tasks = SIZE_ALL_TASKS,
		.terms = liqid,
	},
	{
		.name = "accelerate",
		.rule = "inference: params x bits/8 x 1.2; Adam: 16 x params in fp32, 8 in bf16",
		.reading = "the largest phase, no activations; 4 bits are exactly 4 bits",
		.tasks = SIZE_TASK(SIZE_INFER) | SIZE_TASK(SIZE_TRAIN),
		.terms = accelerate,
	},
	{
		.name = "deepspeed-zero2",
		.rule = "2 x params + 18 x params / GPUs",
		.reading = "model states only",
		.tasks = SIZE_TASK(SIZE_TRAIN),
		.terms = zero2,
	},
	{
		.name = "deepspeed",
		.rule = "ZeRO-3: 4 x largest layer + 18 x params / GPUs",
		.reading = "model states only",
		.tasks = SIZE_TASK(SIZE_TRAIN),
		.needs_model = true,
		.terms = zero3,
	},
	{
		.name = "eleutherai",
		.rule = "train: 18 x params + 34sbhL; infer: 2 x params + 2sbhL + 34sbh; 5 GiB",
		.reading = "no factor 2 in the KV cache, grouped heads ignored",
		.tasks = SIZE_TASK(SIZE_INFER) | SIZE_TASK(SIZE_TRAIN),
		.needs_model = true,
		.terms = eleutherai,
	},
	{
		.name = "llama-factory",
		.rule = "GB per 1e9 parameters: full 18, LoRA 2, QLoRA bits/8",
		.reading = "neither sequence nor batch counts",
		.tasks = SIZE_ALL_TRAINING,
		.terms = llama_factory,
	},
	{
		.name = "llama-factory-pure",
		.rule = "GB per 1e9 parameters: 8, all in bf16",
		.reading = "neither sequence nor batch counts",
		.tasks = SIZE_TASK(SIZE_TRAIN),
		.terms = llama_factory_pure,
	},
	{
		.name = "fleet-training",
		.rule = "GPUs = 13.3 x tokens x epochs x params / hours",
		.reading = "time, not memory; 13.3 (for 1e9 each) is an A100 at 40 % of its peak",
		.tasks = SIZE_TASK(SIZE_TRAIN),
		.check = fleet_training_check,
		.gpus = fleet_training,
	},
	{
		.name = "fleet-inference",
		.rule = "GPUs = output tokens / throughput x queries a minute / 60",
		.reading = "load, not memory; the throughput of a GPU is an input",
		.tasks = SIZE_TASK(SIZE_INFER),
		.check = fleet_inference_check,
		.gpus = fleet_inference,
	},
};

const size_t size_n_rules = sizeof(size_rules) / sizeof(size_rules[0]);
