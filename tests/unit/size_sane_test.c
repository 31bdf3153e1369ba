// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/base/text.c ctl/size/layouts.c ctl/size/need.c ctl/size/physics.c ctl/size/step.c ctl/size/explain.c ctl/size/speed.c ctl/size/machines.c ctl/size/fit.c ctl/size/formula.c ctl/size/rules.c ctl/size/params.c ctl/size/kv.c ctl/size/weights.c ctl/base/units.c ctl/catalogue/catalogue.c ctl/catalogue/engine.c ctl/base/conf.c ctl/base/conf_dir.c ctl/base/fault.c ctl/catalogue/gpu.c ctl/catalogue/gpu_find.c ctl/catalogue/model.c ctl/catalogue/model_find.c ctl/catalogue/load.c ctl/catalogue/build.c ctl/catalogue/expr.c ctl/catalogue/family.c ctl/catalogue/family_check.c
/*
 * What has to hold of every estimate, whatever was measured: for each model of the
 * catalogue and each engine, a larger workload never takes less memory, more GPUs
 * never more of each, stages of ZeRO, recomputation and tasks are ordered, and P95 is
 * never below P50.
 */
#include <math.h>

#include "catalogue/catalogue.h"
#include "size/estimate.h"
#include "size/physics.h"
#include "tap.h"

static struct catalogue cat;

/* Numbers that were rounded on their way may differ in the last digits. */
#define SLACK 1e-9

/**
 * struct law - an order that holds for all models and engines
 * @name: what holds
 * @tasks: bits of the tasks it is about
 * @bare: of tensors of the model alone: what several GPUs need to speak to each other, and
 *	buckets, gathered blocks and copies, are there for the sake of sharing
 * @next: makes a workload of the one before, with at least as much memory; returns false
 *	when there is none. @step counts from 0; step 0 changes the base alone
 */
struct law {
	const char *name;
	unsigned int tasks;
	bool bare;
	bool (*next)(struct size_request *req, struct size_layout *layout, int step);
};

static bool batch(struct size_request *req, struct size_layout *layout, int step)
{
	(void)layout;
	req->batch = 1ull << step;
	return step < 8;
}

static bool context(struct size_request *req, struct size_layout *layout, int step)
{
	(void)layout;
	req->context = 128ull << step;
	return step < 12;
}

static bool rank(struct size_request *req, struct size_layout *layout, int step)
{
	(void)layout;
	req->rank = 4u << step;
	return step < 8;
}

static bool targets(struct size_request *req, struct size_layout *layout, int step)
{
	(void)layout;
	req->targets = (2u << step) - 1;
	return step < 7;
}

static bool kv(struct size_request *req, struct size_layout *layout, int step)
{
	static const char *const formats[] = { "q4_0", "int8", "bf16", "fp32" };

	(void)layout;
	if (step == 4)
		return false;
	req->kv = size_precision_get(formats[step]);
	return true;
}

static bool precision(struct size_request *req, struct size_layout *layout, int step)
{
	static const char *const formats[] = { "gptq-int3", "nf4-dq", "nf4", "int8", "bf16", "fp32" };

	(void)layout;
	/* quantized training has no more than 8 bits, full training no less than 16 */
	if (step == 6 || (req->task == SIZE_QLORA && step == 4))
		return false;
	/* 16-bit copies of a quantized output matrix may be larger than what is saved */
	if (step == 4 && req->engine->number[ENGINE_HEAD_QUANTIZED] > 0)
		return false;
	req->precision = size_precision_get(formats[step]);
	/* with weights in fp32 everything is computed in it */
	req->compute = size_precision_get("bf16");
	req->kv = req->compute;
	return true;
}

static bool sequences(struct size_request *req, struct size_layout *layout, int step)
{
	(void)layout;
	req->sequences = 16ull << step;
	return step < 8;
}

static bool chunk(struct size_request *req, struct size_layout *layout, int step)
{
	(void)layout;
	req->chunk = 64ull << step;
	return step < 8;
}

static bool host_layers(struct size_request *req, struct size_layout *layout, int step)
{
	uint64_t layers = req->model->layers;

	(void)layout;
	if (step > 3)
		return false;
	req->host_layers = layers > 4 ? layers * (unsigned int)(3 - step) / 4 : 0;
	return true;
}

static bool fewer_shards(struct size_request *req, struct size_layout *layout, int step)
{
	layout->gpus = 64u >> step;
	req->zero = 3;
	return step < 7;
}

static bool zero(struct size_request *req, struct size_layout *layout, int step)
{
	layout->gpus = 8;
	req->zero = 3 - step;
	/* of a small model DeepSpeed's buckets take more than what is shared */
	return step < 4 && (req->task != SIZE_TRAIN || req->model->params.total > 1000000000);
}

static bool recompute(struct size_request *req, struct size_layout *layout, int step)
{
	(void)layout;
	req->recompute = 3 - step;
	return step < 4;
}

static bool loss(struct size_request *req, struct size_layout *layout, int step)
{
	(void)layout;
	req->loss = LOSS_FUSED - step;
	return step < SIZE_LOSSES;
}

static bool between(struct size_request *req, struct size_layout *layout, int step)
{
	layout->gpus = 4;
	layout->tp = 4;
	req->sequence_parallel = !step;
	return step < 2;
}

static bool flash(struct size_request *req, struct size_layout *layout, int step)
{
	(void)layout;
	req->recompute = 0;
	req->flash = 1 - step;
	return step < 2;
}

static bool compile(struct size_request *req, struct size_layout *layout, int step)
{
	(void)layout;
	req->compile = 1 - step;
	return step < 2;
}

static bool offload(struct size_request *req, struct size_layout *layout, int step)
{
	(void)layout;
	req->offload = !step;
	return step < 2;
}

static bool states(struct size_request *req, struct size_layout *layout, int step)
{
	(void)layout;
	req->states = !step;
	return step < 2;
}

static bool optimizer(struct size_request *req, struct size_layout *layout, int step)
{
	static const enum size_optimizer order[] = { OPTIMIZER_SGD, OPTIMIZER_LION, OPTIMIZER_ADAMW };

	(void)layout;
	if (step > 2)
		return false;
	req->optimizer = order[step];
	return true;
}

static bool tensor(struct size_request *req, struct size_layout *layout, int step)
{
	layout->gpus = 8;
	layout->tp = 8u >> step;
	layout->pp = 1;
	if (req->task == SIZE_INFER)
		layout->gpus = layout->tp;
	else
		req->zero = 0;
	return step < 4;
}

static bool pipeline(struct size_request *req, struct size_layout *layout, int step)
{
	layout->pp = 4u >> step;
	layout->gpus = layout->pp;
	req->zero = req->task == SIZE_INFER ? req->zero : 0;
	/* stages of different lengths: the longest decides */
	return step < 3 && req->model->layers % 4 == 0;
}

static bool sequence_shares(struct size_request *req, struct size_layout *layout, int step)
{
	layout->gpus = 8;
	layout->cp = 8u >> step;
	req->context = 65536;
	return step < 4;
}

static bool experts(struct size_request *req, struct size_layout *layout, int step)
{
	if (!req->model->experts)
		return false;
	layout->gpus = 8;
	layout->tp = 1;
	req->zero = 1;
	req->ep = 8u >> step;
	return step < 4;
}

/* Matrices of an expert that fewer GPUs share. */
static bool expert_tensors(struct size_request *req, struct size_layout *layout, int step)
{
	if (!req->model->experts || req->model->moe_ffn % 4)
		return false;
	layout->gpus = 8;
	layout->tp = 4;
	req->zero = 0;
	req->recompute = 2;
	req->ep = 2;
	req->etp = 4u >> step;
	return step < 3;
}

static bool virtual_stages(struct size_request *req, struct size_layout *layout, int step)
{
	layout->gpus = 4;
	layout->pp = 4;
	req->zero = 0;
	req->pp = 4;
	req->virtual_stages = step ? 4u >> (step - 1) : 0;
	req->loss = LOSS_FUSED; /* the last stage, with the loss, has fewer under way with fewer groups */
	return step < 3 && req->model->layers % 16 == 0;
}

static bool groups(struct size_request *req, struct size_layout *layout, int step)
{
	if (!req->model->experts)
		return false;
	layout->tp = 2;
	layout->adp = 4u >> step;
	layout->gpus = layout->tp * layout->adp;
	req->batch = 64;
	return step < 3;
}

#define ANY SIZE_ALL_TASKS
#define INFER SIZE_TASK(SIZE_INFER)
#define TRAIN SIZE_TASK(SIZE_TRAIN)
#define ADAPT (SIZE_TASK(SIZE_LORA) | SIZE_TASK(SIZE_QLORA))

static const struct law laws[] = {
	{ "more sequences", ANY, false, batch },
	{ "longer sequences", ANY, false, context },
	{ "a higher rank", ADAPT, false, rank },
	{ "more targets", ADAPT, false, targets },
	{ "a wider KV cache", INFER, false, kv },
	{ "wider weights", INFER | ADAPT, false, precision },
	{ "more sequences that are prepared for", INFER, false, sequences },
	{ "more tokens at a time", INFER, false, chunk },
	{ "fewer layers in the host's memory", INFER, false, host_layers },
	{ "fewer GPUs that share states", TRAIN | ADAPT, true, fewer_shards },
	{ "a lower stage of ZeRO", TRAIN, false, zero },
	{ "a lower stage of ZeRO, of the model's tensors", ADAPT, true, zero },
	{ "less recomputation", TRAIN | ADAPT, false, recompute },
	{ "a loss of more scores", TRAIN | ADAPT, false, loss },
	{ "whole activations between shared tensors", TRAIN | ADAPT, false, between },
	{ "no flash attention", TRAIN | ADAPT, false, flash },
	{ "no compiler", TRAIN | ADAPT, false, compile },
	{ "states on the GPU", TRAIN | ADAPT, false, offload },
	{ "mixed precision", TRAIN, false, states },
	{ "an optimizer with more states", TRAIN | ADAPT, false, optimizer },
	{ "fewer GPUs that share tensors", ANY, true, tensor },
	{ "fewer stages", ANY, true, pipeline },
	{ "fewer GPUs that share a sequence", TRAIN | ADAPT, true, sequence_shares },
	{ "fewer GPUs that share experts", TRAIN, true, experts },
	{ "fewer GPUs that share an expert's matrices", TRAIN, true, expert_tensors },
	{ "groups of layers that take turns", TRAIN, true, virtual_stages },
	{ "fewer groups of attention", INFER, true, groups },
};

static struct size_request base(const struct cat_model *model, const struct size_engine *engine,
				enum size_task task)
{
	struct size_request req;

	size_request_init(&req);
	req.model = model;
	req.engine = engine;
	req.task = task;
	return req;
}

static bool serves(const struct size_engine *engine, enum size_task task)
{
	return task == SIZE_INFER || engine->number[ENGINE_TRAINS] > 0;
}

static unsigned int refused, judged;

/* An estimate that is a number; NAN when the workload is refused. */
static double estimate(struct size_request req, const struct size_layout *layout, bool bare,
		       double *p95)
{
	struct size_physics physics;
	struct size_engine own;
	struct size_estimate e;
	struct fault f;
	int i;

	*p95 = NAN;
	/* gradients of frozen weights are there because shards are, like gathered blocks */
	if (bare) {
		own = *req.engine;
		own.number[ENGINE_FROZEN_GRADIENTS] = 0;
		req.engine = &own;
	}
	if (size_request_check(&req, &f)) {
		refused++;
		return NAN;
	}
	judged++;
	size_estimate(&req, layout, &e);
	for (i = 0; i < SIZE_PARTS; i++)
		if (!(e.part[i] >= 0) || !isfinite(e.part[i]))
			return -1;
	*p95 = e.p95[MEMORY_DEVICE];
	size_physics(&req, layout, &physics);
	if (bare)
		return e.memory[MEMORY_ALLOCATED] -
		       physics.always[PART_BUFFERS] * req.engine->fit[req.task].coef[PART_BUFFERS];
	return e.memory[MEMORY_DEVICE];
}

/* The number of steps that break @law; says the first ones. */
static unsigned int broken(const struct law *law, const struct cat_model *model,
			   const struct size_engine *engine, enum size_task task, unsigned int said)
{
	struct size_layout layout = { .gpus = 1, .tp = 1, .pp = 1 };
	struct size_request req = base(model, engine, task);
	double before = 0, now, p95;
	unsigned int bad = 0;
	int step;

	for (step = 0; law->next(&req, &layout, step); step++) {
		now = estimate(req, &layout, law->bare, &p95);
		if (isnan(now))
			continue;
		if (now < before * (1 - SLACK) || p95 < now * (1 - SLACK) || now < 0) {
			if (!said && !bad)
				printf("# %s: %s, %s, %s, step %d: %.3f after %.3f GiB, P95 %.3f\n",
				       law->name, model->id, engine->id, size_task_name(task), step,
				       now / (1 << 30), before / (1 << 30), p95 / (1 << 30));
			bad++;
		}
		before = now;
	}
	return bad;
}

static const struct size_engine *engine_at(size_t i)
{
	return i ? &cat.engines[i - 1] : &engine_generic;
}

static void all_laws(void)
{
	unsigned int bad;
	size_t l, m, e;
	int t;

	for (l = 0; l < sizeof(laws) / sizeof(laws[0]); l++) {
		for (bad = 0, m = 0; m < cat.n_models; m++)
			for (e = 0; e <= cat.n_engines; e++)
				for (t = 0; t < SIZE_TASKS; t++)
					if (laws[l].tasks & SIZE_TASK(t) &&
					    serves(engine_at(e), (enum size_task)t))
						bad += broken(&laws[l], &cat.models[m], engine_at(e),
							      (enum size_task)t, bad);
		is_int((int)bad, 0, laws[l].name);
	}
}

/*
 * QLoRA takes less than LoRA, and LoRA less than training, of the same model and workload. Where
 * quantized matrices keep their inputs QLoRA may take more.
 */
static void tasks(void)
{
	struct size_layout layout = { .gpus = 1, .tp = 1, .pp = 1 };
	static const enum size_task order[] = { SIZE_QLORA, SIZE_LORA, SIZE_TRAIN };
	unsigned int bad = 0;
	size_t m, e, t;

	for (m = 0; m < cat.n_models; m++) {
		for (e = 0; e <= cat.n_engines; e++) {
			double before = 0, now, p95;

			t = engine_at(e)->number[ENGINE_QUANTIZED_INPUTS] > 0;
			for (; serves(engine_at(e), SIZE_TRAIN) && t < 3; t++) {
				now = estimate(base(&cat.models[m], engine_at(e), order[t]), &layout,
					       false, &p95);
				if (now <= before && !bad++)
					printf("# %s, %s, %s: %.3f after %.3f GiB\n", cat.models[m].id,
					       engine_at(e)->id, size_task_name(order[t]),
					       now / (1 << 30), before / (1 << 30));
				before = now;
			}
		}
	}
	is_int((int)bad, 0, "QLoRA takes less than LoRA, LoRA less than training");
}

/* Of two models that differ in one number the larger one. */
static void models(void)
{
	struct size_layout layout = { .gpus = 1, .tp = 1, .pp = 1 };
	unsigned int bad = 0;
	size_t m, e;
	int t;

	for (m = 0; m < cat.n_models; m++) {
		for (e = 0; e <= cat.n_engines; e++) {
			for (t = 0; t < SIZE_TASKS; t++) {
				struct size_request req = base(&cat.models[m], engine_at(e),
							       (enum size_task)t);
				struct size_request given = req;
				double before = 0, now, p95;

				if (!serves(engine_at(e), (enum size_task)t))
					continue;
				given.model = NULL;
				given.given_params = cat.models[m].params.total;
				now = estimate(req, &layout, false, &p95);
				before = estimate(given, &layout, false, &p95);
				/* a count alone has no cache, no activations, and no table to
				 * leave in the host's memory
				 */
				if (t == SIZE_INFER &&
				    !(engine_at(e)->number[ENGINE_HOST_EMBEDDING] > 0) && before > now * 1.001 && !bad++)
					printf("# %s, %s: %.3f, its count alone %.3f GiB\n",
					       cat.models[m].id, engine_at(e)->id, now / (1 << 30),
					       before / (1 << 30));
				given.given_params *= 2;
				now = estimate(given, &layout, false, &p95);
				if (now <= before && !bad++)
					printf("# twice %s, %s, %s\n", cat.models[m].id,
					       engine_at(e)->id, size_task_name((enum size_task)t));
			}
		}
	}
	is_int((int)bad, 0, "a larger count takes more, and a model more than its count alone");
}

int main(void)
{
	struct fault f = { "" };

	if (!ok(!catalogue_load(&cat, "ctl/catalogue", NULL, &f), "catalogue %s", f.text))
		return tap_done();
	all_laws();
	tasks();
	models();
	ok(judged > 100000, "%u estimates, %u workloads were refused", judged, refused);
	tap_counted("size.sane_estimates", judged);
	catalogue_free(&cat);
	return tap_done();
}
