// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/base/text.c ctl/size/layouts.c ctl/size/limit.c ctl/size/machines.c ctl/size/need.c ctl/size/physics.c ctl/size/step.c ctl/size/explain.c ctl/size/speed.c ctl/size/fit.c ctl/size/formula.c ctl/size/rules.c ctl/size/params.c ctl/size/kv.c ctl/size/weights.c ctl/base/units.c ctl/catalogue/catalogue.c ctl/catalogue/engine.c ctl/base/conf.c ctl/base/conf_dir.c ctl/base/fault.c ctl/catalogue/gpu.c ctl/catalogue/gpu_find.c ctl/catalogue/model.c ctl/catalogue/model_find.c ctl/catalogue/load.c ctl/catalogue/build.c ctl/catalogue/expr.c ctl/catalogue/family.c ctl/catalogue/family_check.c
/*
 * One search: over all models, lengths and batches, on all GPUs of 40 GB and more, size,
 * compose and size machines take the same number of GPUs; the layout can be made; and no smaller
 * one that a plain search finds holds the workload.
 */
#include <stdlib.h>

#include "catalogue/catalogue.h"
#include "size/estimate.h"
#include "size/limit.h"
#include "size/machines.h"
#include "size/physics.h"
#include "tap.h"

#define MIB (1ull << 20)
#define GB 1000000000ull
#define MACHINES_MAX 256

static struct catalogue cat;

static uint64_t memory_of(const struct cat_gpu *gpu)
{
	enum gpu_trust trust;

	return cat_gpu_memory_mib(gpu, &trust) * MIB;
}

/* --- the same by brute force: all products of degrees, in no order ---------------------- */

static bool can_split(const struct cat_model *m, unsigned int tp)
{
	bool heads = m->heads / tp * tp == m->heads;
	bool kv = m->kv_lora || m->kv_heads / tp * tp == m->kv_heads ||
		  tp / m->kv_heads * m->kv_heads == tp;
	uint64_t columns = m->experts ? m->moe_ffn : m->ffn;
	bool mlp = columns / tp * tp == columns || (m->experts && m->experts / tp * tp == m->experts);

	return heads && kv && mlp;
}

static bool can_be_made(const struct size_request *req, const struct size_layout *l)
{
	const struct cat_model *m = req->model;
	unsigned int adp = l->adp ? l->adp : 1, ranks = l->tp * adp;

	return can_split(m, l->tp) && l->pp >= 1 && l->pp <= m->layers &&
	       l->gpus == ranks * l->pp &&
	       (adp == 1 || (m->experts && adp <= req->batch &&
			     m->experts / ranks * ranks == m->experts));
}

/*
 * Does any layout below @limit GPUs hold it? By what each number of stages leaves to the other
 * degrees, so that the walk of layouts.c is not repeated.
 */
static unsigned int fewer(const struct size_request *req, uint64_t usable, unsigned int limit)
{
	unsigned int pp, tp, adp, least = limit;

	for (pp = 1; pp <= req->model->layers && pp < least; pp++)
		for (tp = 1; tp <= req->model->heads && tp * pp < least; tp++)
			for (adp = 1; adp <= req->batch && adp * tp * pp < least; adp++) {
				const struct size_layout l = {
					.gpus = tp * pp * adp, .tp = tp, .pp = pp, .adp = adp,
				};

				if (can_be_made(req, &l) && size_layout_bytes(req, &l) <= usable)
					least = l.gpus;
				if (!req->model->experts)
					break;
			}
	return least;
}

/* --- over the catalogue ------------------------------------------------------------------ */

/**
 * struct tally - what was compared
 * @answers: cases that something holds
 */
static struct tally {
	size_t cases, answers, compose, machines, cannot, fewer, rounded;
} tally;

static void compare(const struct size_request *req, const struct cat_gpu *gpu)
{
	const struct machine_wish wish = {
		.gpus_max = SIZE_GPUS_MAX, .pue = 1, .carbon = 1, .speed = cat.speed,
	};
	static struct machine machines[MACHINES_MAX];
	struct size_choice choice;
	struct size_request pow2;
	struct size_fit fit;
	struct fault f;
	size_t n;

	size_fit_gpu(req, gpu, &fit, &f);
	size_choose(req, memory_of(gpu), &choice);
	n = machines_find(req, gpu, 0, &wish, machines, MACHINES_MAX);
	machines_sort(machines, n, GOAL_COUNT);
	tally.cases++;
	tally.answers += fit.gpus > 0;
	tally.compose += choice.fit.gpus != fit.gpus;
	tally.machines += (n ? machines[0].gpus : 0) != fit.gpus;
	tally.fewer += fewer(req, fit.usable, fit.gpus ? fit.gpus : SIZE_GPUS_MAX + 1) !=
		       (fit.gpus ? fit.gpus : SIZE_GPUS_MAX + 1);
	if (!fit.gpus)
		return;
	tally.cannot += !can_be_made(req, &fit.layout) || fit.per_gpu > fit.usable ||
			size_layout_bytes(req, &fit.layout) != fit.per_gpu;
	pow2 = *req;
	pow2.round = SIZE_ROUND_POW2;
	size_choose(&pow2, memory_of(gpu), &choice);
	tally.rounded += choice.fit.gpus & (choice.fit.gpus - 1) ||
			 (choice.fit.gpus && choice.fit.gpus < fit.gpus) ||
			 (choice.fit.gpus > fit.gpus) != (choice.fit.gpus && choice.limit == LIMIT_POWER);
}

/* The first kind of each size stands for the others: memory alone is asked for. */
static bool first_of_size(size_t k)
{
	size_t i;

	for (i = 0; i < k; i++)
		if (memory_of(&cat.gpus[i]) == memory_of(&cat.gpus[k]))
			return false;
	return memory_of(&cat.gpus[k]) >= 40 * GB;
}

static void whole_catalogue(void)
{
	static const uint64_t contexts[] = { 8 << 10, 32 << 10, 128 << 10 }, batches[] = { 1, 16, 64 };
	size_t i, k, c, b;

	for (i = 0; i < cat.n_models; i++)
		for (c = 0; c < 3; c++)
			for (b = 0; b < 3; b++)
				for (k = 0; k < cat.n_gpus; k++) {
					struct size_request req;
					struct fault f = { "" };

					size_request_init(&req);
					req.model = &cat.models[i];
					req.engine = &engine_generic;
					req.context = contexts[c];
					req.batch = batches[b];
					if (first_of_size(k) && !size_request_check(&req, &f))
						compare(&req, &cat.gpus[k]);
				}
	printf("# %zu cases, %zu with an answer\n", tally.cases, tally.answers);
	ok(tally.answers > 3000, "%zu cases have an answer", tally.answers);
	is_int((intmax_t)tally.compose, 0, "size and compose disagree");
	is_int((intmax_t)tally.machines, 0, "size and size machines disagree");
	is_int((intmax_t)tally.cannot, 0, "layouts that cannot be made, or do not hold it");
	is_int((intmax_t)tally.fewer, 0, "layouts with fewer GPUs that hold it");
	is_int((intmax_t)tally.rounded, 0, "rounded numbers that are wrong");
}

/* --- cases that were wrong ------------------------------------------------------------------ */

static struct size_fit fit_of(const char *model, const char *engine, const char *kv,
			      uint64_t context, uint64_t batch, const char *gpu,
			      struct size_request *req)
{
	const struct cat_gpu *kind;
	struct fault f = { "" };
	struct size_fit fit;

	size_request_init(req);
	req->context = context;
	req->batch = batch;
	req->sequences = batch;
	req->kv = size_precision_get(kv);
	if (cat_model_find(cat.models, cat.n_models, model, &req->model, &f) ||
	    engine_find(cat.engines, cat.n_engines, engine, &req->engine, &f) ||
	    cat_gpu_find(cat.gpus, cat.n_gpus, gpu, &kind, &f) || size_request_check(req, &f) ||
	    size_fit_gpu(req, kind, &fit, &f))
		printf("# %s\n", f.text);
	return fit;
}

static void latent_attention(void)
{
	struct text words = { 0 };
	struct size_request req;
	struct size_layout tensor = { .gpus = 16, .tp = 8, .pp = 2 };
	struct size_fit fit = fit_of("deepseek-v3", "vllm", "fp8", 128 << 10, 32, "b200", &req);

	is_int(fit.gpus, 12, "DeepSeek-V3 in 16 bits, 32 x 128K, on B200: with data-parallel attention");
	ok(fit.layout.adp > 1, "which it has");
	size_layout_say(&words, &fit.layout);
	ok(words.text && strstr(words.text, "attention data parallel "), "and says: %s", words.text);
	free(words.text);
	req.round = SIZE_ROUND_POW2;
	size_fit_bytes(&req, 183359ull * MIB, &fit);
	is_int(fit.gpus, 16, "a power of two is 16");
	is_int(fit.layout.tp, 4, "with the widest tensor parallel degree that holds it");
	req.precision = size_precision_get("fp8");
	ok(size_layout_bytes(&req, &tensor) <= fit.usable, "in 8 bits tensor 8 x 2 stages hold it");
	req.round = SIZE_ROUND_NONE;
	size_fit_bytes(&req, 183359ull * MIB, &fit);
	is_int(fit.gpus, 7, "and 7 do");
	fit = fit_of("deepseek-v2", "generic", "bf16", 8192, 64, "h100-nvl", &req);
	is_int(fit.gpus, 10, "DeepSeek-V2 on H100 NVL");
}

/* A cache that tensor parallelism does not shrink is shared by sequences. */
static void attention_by_sequence(void)
{
	struct size_request req;
	struct size_layout one = { .gpus = 8, .tp = 8, .pp = 1 };
	struct size_layout many = { .gpus = 8, .tp = 1, .pp = 1, .adp = 8 };
	struct size_physics a, b;

	fit_of("deepseek-v3", "generic", "bf16", 8192, 64, "b200", &req);
	size_physics(&req, &one, &a);
	size_physics(&req, &many, &b);
	is_near(b.part[PART_KV], a.part[PART_KV] / 8, 1e-9, "an eighth of the cache each");
	ok(b.part[PART_WEIGHTS] > a.part[PART_WEIGHTS] &&
	   b.part[PART_WEIGHTS] < 1.3 * a.part[PART_WEIGHTS],
	   "all of the attention, and an eighth of the experts");
	req.batch = 57;
	size_physics(&req, &many, &a);
	is_near(a.part[PART_KV], b.part[PART_KV], 1e-9, "57 sequences on 8 are 8 on the fullest");
	req.batch = 56;
	size_physics(&req, &many, &a);
	is_near(a.part[PART_KV], b.part[PART_KV] * 7 / 8, 1e-9, "56 are 7");
}

static void uneven_stages(void)
{
	struct size_request req;
	struct size_fit fit = fit_of("llama-3.1-405b", "vllm", "bf16", 128 << 10, 8, "h100-sxm5-80",
				     &req);

	ok(fit.gpus && fit.gpus <= 32, "Llama-3.1-405B at 8 x 128K on H100: %u", fit.gpus);
	is_int((intmax_t)fewer(&req, fit.usable, 256), fit.gpus, "as few as there can be");
}

/* Degrees that are asked for are filters. */
static void filters(void)
{
	struct size_request req;
	struct size_fit fit = fit_of("deepseek-v3", "vllm", "fp8", 128 << 10, 32, "b200", &req);
	uint64_t memory = 183359ull * MIB;

	req.tp = 8;
	size_fit_bytes(&req, memory, &fit);
	ok(fit.layout.tp == 8 && fit.gpus == 24, "--tp 8: %u", fit.gpus);
	req.tp = 0;
	req.pp = 1;
	size_fit_bytes(&req, memory, &fit);
	ok(fit.layout.pp == 1 && fit.layout.adp > 1, "--pp 1: attention over %u", fit.layout.adp);
	req.ep = 16;
	size_fit_bytes(&req, memory, &fit);
	ok(fit.layout.tp * fit.layout.adp >= 16 && fit.layout.pp == 1, "--ep 16: %u",
	   fit.layout.tp * fit.layout.adp);
	req.ep = 0;
	req.pp = 0;
	req.dp = 3;
	size_fit_bytes(&req, memory, &fit);
	ok(fit.replicas == 3 && fit.gpus == 3 * fit.layout.gpus, "--dp 3: %u", fit.gpus);
}

int main(void)
{
	struct fault f = { "" };

	if (!ok(!catalogue_load(&cat, "ctl/catalogue", NULL, &f), "the catalogue can be read %s",
		f.text))
		return tap_done();
	latent_attention();
	attention_by_sequence();
	uneven_stages();
	filters();
	whole_catalogue();
	catalogue_free(&cat);
	return tap_done();
}
