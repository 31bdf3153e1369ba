// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/base/text.c ctl/size/layouts.c ctl/size/need.c ctl/size/physics.c ctl/size/step.c ctl/size/explain.c ctl/size/speed.c ctl/size/machines.c ctl/size/fit.c ctl/size/formula.c ctl/size/rules.c ctl/size/params.c ctl/size/kv.c ctl/size/weights.c ctl/base/units.c ctl/catalogue/catalogue.c ctl/catalogue/engine.c ctl/base/conf.c ctl/base/conf_dir.c ctl/base/fault.c ctl/catalogue/gpu.c ctl/catalogue/gpu_find.c ctl/catalogue/model.c ctl/catalogue/model_find.c ctl/catalogue/load.c ctl/catalogue/build.c ctl/catalogue/expr.c ctl/catalogue/family.c ctl/catalogue/family_check.c
/*
 * Profiles: what they may say, how an admin's file overrides them, that each
 * option moves the part it is about, and that machines hold what they are for.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "catalogue/catalogue.h"
#include "size/estimate.h"
#include "size/machines.h"
#include "size/physics.h"
#include "size/speed.h"
#include "size/step.h"
#include "tap.h"

static struct catalogue cat;

static void takes(const char *text, int want, const char *part)
{
	struct catalogue c = { 0 };
	struct fault f = { "" };
	int err = catalogue_parse_engines(&c, 0, "e.conf", text, strlen(text), &f);

	if (!err)
		err = catalogue_check_models(&c, &f);
	ok(err == want && (!err || strstr(f.text, part)), "%.50s: %d %s", text, err, f.text);
	catalogue_free(&c);
}

static void profiles(void)
{
	const struct size_engine *e;
	struct fault f = { "" };
	static const char mine[] = "[hf.infer]\nlearned = 2\np50 = 1.25\n[own]\ntitle = T\nsource = S\n";

	takes("[x]\ntitle = X\nsource = here\nreserve = 1.1\n[x.train]\nweights = 1.05\np95 = 1.2\n", 0,
	      "");
	takes("[x]\ntitle = X\n", -EINVAL, "needs the key source");
	takes("[x.train]\nweights = 1\n", -EINVAL, "before the section of its engine");
	takes("[x]\ntitle = X\nsource = s\nturbo = 1\n", -EINVAL, "no such key: turbo");
	takes("[x]\ntitle = X\nsource = s\nreserve = 0.5\n", -ERANGE, "outside 1 to 4");
	takes("[x]\ntitle = X\nsource = s\n[x.infer]\nspeed = 1\n", -EINVAL, "no such key: speed");
	takes("[speed]\nmatrices = 0\n", -ERANGE, "outside");
	takes("[speed]\nluck = 1\n", -EINVAL, "no such key: luck");
	is_int(engine_find(cat.engines, cat.n_engines, "vllm", &e, &f), 0, "vLLM has a profile");
	is_int(engine_find(cat.engines, cat.n_engines, "abacus", &e, &f), -ENOENT, "others not");
	ok(strstr(f.text, "megatron"), "which says what is there");
	ok(!catalogue_parse_engines(&cat, 1, "mine.conf", mine, strlen(mine), &f), "an override %s",
	   f.text);
	engine_find(cat.engines, cat.n_engines, "hf", &e, &f);
	ok(e->fit[SIZE_INFER].learned == 2 && fabs(e->fit[SIZE_INFER].p50 - 1.25) < 1e-9 &&
	   e->fit[SIZE_INFER].rows, "keeps what it does not say");
}

static struct size_request base(enum size_task task)
{
	struct size_request req;
	struct fault f;

	size_request_init(&req);
	cat_model_find(cat.models, cat.n_models, "llama-3.1-8b", &req.model, &f);
	req.engine = &engine_generic;
	req.task = task;
	return req;
}

static double part(struct size_request req, unsigned int gpus, unsigned int tp, enum size_part which)
{
	const struct size_layout layout = { .gpus = gpus, .tp = tp, .pp = 1 };
	struct size_physics p;
	struct fault f = { "" };

	if (size_request_check(&req, &f))
		printf("# %s\n", f.text);
	size_physics(&req, &layout, &p);
	return p.part[which];
}

#define same(a, b) (fabs((a) - (b)) <= 1e-6 * fabs(b))

/* 0.9 GiB of context, and buffers for each kind of group. */
static void communicators(struct size_request req)
{
	struct size_layout layout = { .gpus = 1, .tp = 1, .pp = 1 };
	static const struct size_layout more[] = {
		{ .gpus = 2, .tp = 2, .pp = 1 },
		{ .gpus = 4, .tp = 2, .pp = 2 },
		{ .gpus = 8, .tp = 2, .pp = 2 },
		{ .gpus = 16, .tp = 2, .pp = 2, .cp = 4 },
		{ .gpus = 32, .tp = 2, .pp = 2, .cp = 4 },
	};
	static const double groups[] = { 1, 2, 3, 3, 4 };
	struct size_physics p;
	struct fault f;
	size_t i, bad = 0;

	size_request_check(&req, &f);
	size_physics(&req, &layout, &p);
	ok(same(p.part[PART_FRAMEWORK], 0.9 * (1 << 30)), "one GPU has no communicators");
	for (i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		size_physics(&req, &more[i], &p);
		bad += !same(p.part[PART_FRAMEWORK], (0.9 + groups[i] * 1.3) * (1 << 30));
	}
	is_int((int)bad, 0, "tensors, stages, contexts and replicas have one each");
}

static void parts(void)
{
	struct size_request infer = base(SIZE_INFER), train = base(SIZE_TRAIN), other;
	const struct size_layout stages = { .gpus = 4, .tp = 1, .pp = 4 };
	struct size_engine engine;
	struct size_physics p;
	struct fault f;
	double n = 8030261248., adam, both;

	ok(same(part(infer, 1, 1, PART_WEIGHTS), 2 * n), "weights of inference");
	ok(same(part(infer, 2, 2, PART_WEIGHTS), n), "tensor parallel halves them");
	ok(same(part(infer, 1, 1, PART_KV), 131072. * 8192), "KV cache");
	other = infer;
	other.batch = 4;
	ok(same(part(other, 1, 1, PART_KV), 4 * 131072. * 8192), "of four sequences");
	other = infer;
	other.kv = size_precision_get("fp8");
	ok(part(other, 1, 1, PART_KV) < 0.51 * 131072. * 8192, "in 8 bits");
	ok(same(part(train, 1, 1, PART_GRADIENTS), 2 * n), "gradients");
	adam = part(train, 1, 1, PART_OPTIMIZER);
	other = train;
	other.zero = 1;
	ok(same(part(other, 4, 1, PART_OPTIMIZER), adam / 4) &&
	   same(part(other, 4, 1, PART_GRADIENTS), 2 * n), "ZeRO-1 shares states alone");
	other.zero = 2;
	ok(same(part(other, 4, 1, PART_GRADIENTS), n / 2) &&
	   same(part(other, 4, 1, PART_WEIGHTS), 2 * n), "ZeRO-2 gradients too");
	other.zero = 3;
	ok(same(part(other, 4, 1, PART_WEIGHTS), n / 2), "ZeRO-3 weights too");
	other.context = 1 << 20;
	ok(same(part(other, 4, 1, PART_BUFFERS), 218112000. * (2 * 2 + 4) + 525336576. * 2),
	   "and gathers two blocks, one of them reduced in fp32, and the output matrix");
	other = train;
	other.optimizer = OPTIMIZER_ADAMW_8BIT;
	ok(same(adam - part(other, 1, 1, PART_OPTIMIZER), 6 * n), "8-bit states");
	other.offload = true;
	ok(part(other, 1, 1, PART_OPTIMIZER) <= 0, "or none at all");
	other = train;
	other.states = 1;
	ok(same(part(other, 1, 1, PART_OPTIMIZER), 4 * n), "16-bit states");
	other = train;
	other.recompute = 0;
	ok(part(other, 1, 1, PART_ACTIVATIONS) > 4 * part(train, 1, 1, PART_ACTIVATIONS),
	   "recomputation saves activations");
	other.flash = 0;
	ok(part(other, 1, 1, PART_ACTIVATIONS) > 32. * 5 * 32 * 4096 * 4096,
	   "scores are kept without flash attention");
	other = train;
	other.context = 65536;
	other.loss = LOSS_FUSED;
	both = part(other, 1, 1, PART_ACTIVATIONS);
	other.recompute = 3;
	ok(same(both - part(other, 1, 1, PART_ACTIVATIONS), 65536. * 2 * 4096 * 30),
	   "of checkpoints that the host keeps two are on the GPU");
	other = train;
	other.context = 65536;
	ok(same(part(other, 1, 1, PART_LOGITS), 65536 * 10. * 128256), "an eager loss");
	other.loss = LOSS_CHUNKED;
	ok(same(part(other, 1, 1, PART_LOGITS), 65536 * 3. * 128256), "in chunks");
	other.loss = LOSS_FUSED;
	ok(part(other, 1, 1, PART_LOGITS) < 65536 * 11. * 4096, "fused with the output matrix");
	other = train;
	other.recompute = 0;
	other.sequence_parallel = 1;
	both = part(other, 4, 4, PART_ACTIVATIONS);
	other.sequence_parallel = 0;
	ok(same(part(other, 4, 4, PART_ACTIVATIONS) - both, 4096. * 32 * 10 * 4096 * 3 / 4),
	   "what is between tensors is shared, or whole on each GPU");
	other.sequence_parallel = SIZE_UNSET;
	other.zero = 3;
	ok(same(part(other, 8, 4, PART_ACTIVATIONS), both),
	   "an unknown engine that shards parameters shares it, too");
	other.zero = 1;
	ok(same(part(other, 8, 4, PART_ACTIVATIONS) - both, 4096. * 32 * 10 * 4096 * 3 / 4),
	   "and is not known to otherwise");
	communicators(train);
	other = train;
	engine = engine_generic;
	engine.number[ENGINE_PURE16] = 1;
	other.engine = &engine;
	ok(same(part(other, 1, 1, PART_OPTIMIZER), 4 * n), "an engine's own way is 16-bit states");
	other.states = 0;
	ok(same(part(other, 1, 1, PART_OPTIMIZER), adam), "unless mixed precision is asked for");
	size_request_check(&other, &f);
	other.recompute = 0;
	size_physics(&other, &stages, &p);
	both = p.part[PART_ACTIVATIONS];
	engine.number[ENGINE_IN_FLIGHT] = 1;
	size_physics(&other, &stages, &p);
	ok(same(p.part[PART_ACTIVATIONS], both * 5 / 4), "a micro-batch more than stages");
	other = base(SIZE_LORA);
	other.rank = 64;
	other.targets = TARGET_QUERY | TARGET_VALUE;
	ok(same(part(other, 1, 1, PART_GRADIENTS), 4. * 32 * 64 * (8192 + 4096 + 1024)),
	   "adapters on queries and values");
}

static double activations(struct size_request req, const struct size_layout *layout)
{
	struct size_physics p;
	struct fault f = { "" };

	if (size_request_check(&req, &f))
		printf("# %s\n", f.text);
	size_physics(&req, layout, &p);
	return p.part[PART_ACTIVATIONS];
}

/* Interleaved schedule: more is under way on the first stage, and on the last. */
static void interleaved(void)
{
	const struct size_layout stages = { .gpus = 4, .tp = 1, .pp = 4 };
	const struct size_layout two = { .gpus = 2, .tp = 1, .pp = 2 };
	struct size_request req = base(SIZE_TRAIN);
	double plain;

	req.recompute = 0;
	req.pp = 4;
	req.loss = LOSS_FUSED;
	plain = activations(req, &stages);
	req.virtual_stages = 2;
	ok(same(activations(req, &stages), plain * (4 + 3. / 2) / 4), "two groups of a GPU");
	req.virtual_stages = 8;
	ok(same(activations(req, &stages), plain * (4 + 3. / 8) / 4), "eight groups");
	/* a loss that is larger than the first stage's: 1 micro-batch, then 7 of 4 groups */
	req.pp = 2;
	req.context = 65536;
	req.recompute = 2;
	req.loss = LOSS_EAGER;
	req.virtual_stages = 1;
	plain = activations(req, &two);
	req.virtual_stages = 4;
	ok(same(activations(req, &two), plain * (1 + 3 * 2) / 4), "the last stage, with its loss");
}

/* Matrices of experts are shared by other ranks than the rest, and tokens are copied to them. */
static void expert_ranks(void)
{
	const struct size_layout layout = { .gpus = 8, .tp = 2, .pp = 1 };
	struct size_request req = base(SIZE_TRAIN), dense;
	double all, others, plain, h = 4096;
	struct fault f;

	cat_model_find(cat.models, cat.n_models, "mixtral-8x7b", &req.model, &f);
	req.zero = 0;
	req.sequence_parallel = 1;
	all = (double)req.model->params.experts;
	others = (double)req.model->params.total - all;
	ok(same(part(req, 8, 2, PART_GRADIENTS), all + others), "two GPUs share all matrices");
	req.ep = 4;
	ok(same(part(req, 8, 2, PART_GRADIENTS), all / 4 + others), "four replicas the experts");
	req.etp = 1;
	ok(same(part(req, 8, 2, PART_GRADIENTS), all / 2 + others), "with whole matrices");
	req.ep = 8;
	ok(same(part(req, 8, 2, PART_GRADIENTS), all / 4 + others), "which eight GPUs can share");
	req.ep = 1;
	ok(same(part(req, 8, 2, PART_GRADIENTS), 2 * all + others), "or each has all of");
	req.etp = 2;
	req.recompute = 0;
	plain = activations(req, &layout);
	req.etp = 1;
	ok(same(plain - activations(req, &layout), 4096. * 32 * 4 * h * 2 / 2),
	   "tokens for two experts come from one rank, not from both");
	dense = base(SIZE_TRAIN);
	dense.etp = 2;
	is_int(size_request_check(&dense, &f), -EINVAL, "a dense model has none");
}

/* What engines that quantize keep: scales in fewer bits, inputs of frozen matrices. */
static void quantized(void)
{
	struct size_request req = base(SIZE_QLORA), plain;
	struct size_engine engine = engine_generic;
	double linear, kept;

	req.precision = size_precision_get("nf4");
	plain = req;
	engine.number[ENGINE_DOUBLE_QUANTIZED] = 1;
	req.engine = &engine;
	linear = (part(plain, 1, 1, PART_WEIGHTS) - part(req, 1, 1, PART_WEIGHTS)) * 8 / 0.373;
	ok(linear > 6.9e9 && linear < 7.1e9, "NF4 of torchtune has 4.127 bits a parameter: %.0f", linear);
	req.precision = size_precision_get("gptq-int4");
	plain.precision = req.precision;
	ok(same(part(req, 1, 1, PART_WEIGHTS), part(plain, 1, 1, PART_WEIGHTS)), "GPTQ stays as it is");
	engine.number[ENGINE_QUANTIZED_INPUTS] = 1;
	req.recompute = 0;
	plain.recompute = 0;
	kept = part(req, 1, 1, PART_ACTIVATIONS) - part(plain, 1, 1, PART_ACTIVATIONS);
	ok(same(kept, 4096. * 32 * 2 * (3 * 4096 + 14336)), "inputs of matrices, for all tokens and layers");
	req.task = SIZE_LORA;
	plain.task = SIZE_LORA;
	ok(same(part(req, 1, 1, PART_ACTIVATIONS), part(plain, 1, 1, PART_ACTIVATIONS)), "of quantized ones alone");
}

/* FSDP 1 has gradients for whole blocks, unsharded while micro-batches accumulate. */
static void frozen(void)
{
	struct size_request req = base(SIZE_LORA), flat = req;
	struct size_engine engine = engine_generic;
	const struct size_layout layout = { .gpus = 8, .tp = 1, .pp = 1 };
	char text[256];
	double n = 8030261248.;
	struct fault f;

	req.zero = flat.zero = 3;
	req.batch = flat.batch = 1;
	req.context = flat.context = 256;
	flat.flat = true;
	ok(part(flat, 2, 1, PART_BUFFERS) - part(req, 2, 1, PART_BUFFERS) > 0.99 * 2 * n &&
	   part(flat, 8, 1, PART_BUFFERS) - part(req, 8, 1, PART_BUFFERS) > 0.99 * 2 * n,
	   "gradients of frozen weights are whole, with two GPUs and with eight");
	ok(same(part(flat, 8, 1, PART_WEIGHTS), part(req, 8, 1, PART_WEIGHTS)), "weights are not");
	ok(same(part(flat, 1, 1, PART_BUFFERS), part(req, 1, 1, PART_BUFFERS)), "one GPU shards nothing");
	size_request_check(&flat, &f);
	size_part_formula(&flat, &layout, PART_BUFFERS, text, sizeof(text));
	ok(strstr(text, "gradients of frozen weights"), "the formula says so: %s", text);
	req.engine = &engine;
	engine.number[ENGINE_FROZEN_GRADIENTS] = 1;
	ok(same(part(req, 8, 1, PART_BUFFERS), part(flat, 8, 1, PART_BUFFERS)), "an engine can say the same");
	flat.task = SIZE_QLORA;
	req = flat;
	req.flat = false;
	ok(same(part(flat, 8, 1, PART_BUFFERS), part(req, 8, 1, PART_BUFFERS)), "quantized weights have none");
}

/* By hand: what a token needs of memory, and a prompt of multiplications. */
static void latency(void)
{
	struct size_request req = base(SIZE_INFER);
	struct size_layout layout = { .gpus = 1, .tp = 1, .pp = 1 };
	struct size_latency l, two;
	struct size_rate rate;
	double n = 8030261248., table = 128256. * 4096, bytes, peak, step;
	const struct cat_gpu *gpu;
	struct fault f;
	size_t i, over = 0, known = 0;

	size_request_check(&req, &f);
	cat_gpu_find(cat.gpus, cat.n_gpus, "h100-pcie-80", &gpu, &f);
	cat_gpu_fact(gpu, GPU_BANDWIDTH_GBS, &bytes);
	cat_gpu_fact(gpu, GPU_FP16_TFLOPS, &peak);
	size_latency(&req, &layout, gpu, &l);
	ok(same(l.tpot, (2 * n + 131072. * 8192) / (bytes * 1e9)) && l.tpot_limit == SPEED_MEMORY,
	   "a token reads weights and cache: %g ms", l.tpot * 1e3);
	ok(same(l.ttft, 2 * (n - 2 * table) * size_prompt(&req) / (peak * 1e12)) &&
	   l.ttft_limit == SPEED_MATRICES, "a prompt is multiplied: %g ms", l.ttft * 1e3);
	layout = (struct size_layout){ .gpus = 2, .tp = 2, .pp = 1 };
	size_latency(&req, &layout, gpu, &two);
	ok(same(two.tpot, l.tpot / 2), "two GPUs read half of it each");
	layout = (struct size_layout){ .gpus = 2, .tp = 1, .pp = 2 };
	size_latency(&req, &layout, gpu, &two);
	ok(two.tpot > 0.9 * l.tpot && two.tpot < 1.1 * l.tpot, "two stages one after the other");
	layout = (struct size_layout){ .gpus = 16, .tp = 16, .pp = 1 };
	size_latency(&req, &layout, gpu, &two);
	is_int(two.ttft_limit, SPEED_TENSOR, "sixteen exchange more than they multiply");
	for (i = 0; i < cat.n_gpus * 4; i++) {
		layout = (struct size_layout){ .tp = i & 1 ? 8 : 1, .pp = i & 2 ? 2 : 1 };
		layout.gpus = layout.tp * layout.pp;
		size_latency(&req, &layout, &cat.gpus[i / 4], &two);
		size_rate_infer(&req, &layout, &cat.gpus[i / 4], &rate);
		step = rate.tokens_per_s > 0 ?
			       (double)req.batch / rate.tokens_per_s / layout.gpus : 0;
		known += step > 0;
		over += two.tpot > step * (1 + 1e-9);
	}
	ok(known > 100 && !over, "%zu arrangements are as slow as their bound, or slower", known);
}

/* Tensor cores multiply 16 bits, and 32 only as TF32, which PyTorch leaves off. */
static void speed_in_fp32(void)
{
	struct size_request half = base(SIZE_TRAIN), full = base(SIZE_TRAIN);
	const struct size_layout layout = { .gpus = 1, .tp = 1, .pp = 1 };
	double t16[SPEED_TERMS], t32[SPEED_TERMS], fp16, fp32;
	struct size_latency l16, l32;
	struct cat_gpu other;
	const struct cat_gpu *gpu;
	struct fault f;

	full.precision = size_precision_get("fp32");
	size_request_check(&half, &f);
	size_request_check(&full, &f);
	cat_gpu_find(cat.gpus, cat.n_gpus, "a100-sxm4-80", &gpu, &f);
	cat_gpu_fact(gpu, GPU_FP16_TFLOPS, &fp16);
	cat_gpu_fact(gpu, GPU_FP32_TFLOPS, &fp32);
	size_speed_terms(&half, &layout, gpu, 0, t16);
	size_speed_terms(&full, &layout, gpu, 0, t32);
	ok(same(t32[SPEED_MATRICES] * fp32, t16[SPEED_MATRICES] * fp16),
	   "matrices are multiplied at the rate of fp32: %g of that of 16 bits", fp32 / fp16);
	ok(t32[SPEED_ATTENTION] > t16[SPEED_ATTENTION], "so is attention");
	other = *gpu;
	other.known_verified &= ~(1u << GPU_FP32_TFLOPS);
	ok(size_speed_terms(&half, &layout, &other, 0, t16) &&
	   !size_speed_terms(&full, &layout, &other, 0, t32),
	   "a GPU whose rate of fp32 is not known has a speed in 16 bits alone");
	half.task = SIZE_INFER;
	full.task = SIZE_INFER;
	size_latency(&half, &layout, &other, &l16);
	size_latency(&full, &layout, &other, &l32);
	ok(l16.ttft > 0 && same(l16.ttft, l32.ttft), "TF32 could be on: the bound of a prompt is that of 16 bits");
}

static void machines(void)
{
	struct machine m[64];
	struct machine_wish wish = { .gpus_max = 1024, .pue = 1, .carbon = 400, .speed = cat.speed };
	struct size_request req = base(SIZE_INFER);
	const struct cat_gpu *gpu;
	struct fault f;
	size_t n, i, bad = 0;

	cat_model_find(cat.models, cat.n_models, "llama-3.1-70b", &req.model, &f);
	size_request_check(&req, &f);
	cat_gpu_find(cat.gpus, cat.n_gpus, "h100-sxm5-80", &gpu, &f);
	n = machines_find(&req, gpu, 0, &wish, m, 64);
	for (i = 0; i < n; i++)
		bad += m[i].p95 > (double)m[i].usable || 64 % m[i].layout.tp ||
		       m[i].layout.pp > 80 || m[i].gpus != m[i].layout.tp * m[i].layout.pp;
	ok(n > 3 && !bad, "%zu arrangements hold it and divide the heads", n);
	machines_sort(m, n, GOAL_COUNT);
	for (i = 1; i < n; i++)
		bad += m[i].gpus < m[i - 1].gpus;
	is_int((intmax_t)bad, 0, "the fewest first");
	req = base(SIZE_TRAIN);
	size_request_check(&req, &f);
	wish.tokens = 1e12;
	wish.seconds = 30 * 86400;
	n = machines_find(&req, gpu, 0, &wish, m, 64);
	for (i = 0; i < n; i++)
		bad += m[i].hours * 3600 > wish.seconds || m[i].kwh <= 0 || m[i].gpus > 1024;
	ok(n && !bad, "%zu arrangements are done in time", n);
	wish.gpus_max = 8;
	is_int((intmax_t)machines_find(&req, gpu, 0, &wish, m, 64), 0, "eight GPUs are not");
	ok(m[0].rate.mfu > 0.2 && m[0].rate.mfu < 0.7, "MFU %.2f", m[0].rate.mfu);
}

static struct size_request served(const char *engine, const char *model, uint64_t context)
{
	struct size_request req = base(SIZE_INFER);
	struct fault f = { "" };

	if (engine_find(cat.engines, cat.n_engines, engine, &req.engine, &f) ||
	    cat_model_find(cat.models, cat.n_models, model, &req.model, &f))
		printf("# %s\n", f.text);
	req.context = context;
	return req;
}

static bool mib(double bytes, double told)
{
	return fabs(bytes / (1 << 20) - told) < 0.1;
}

/* What engines print in their logs, to their last digit. */
static void steps(void)
{
	struct size_request req = served("llama.cpp", "llama-2-7b", 4096), before;
	double big;

	req.flash = 0;
	ok(mib(part(req, 1, 1, PART_ACTIVATIONS), 296), "llama.cpp: scores of attention");
	is_int((long)part(req, 1, 1, PART_LOGITS), 0, "which share a buffer with the logits");
	req.flash = 1;
	ok(mib(part(req, 1, 1, PART_ACTIVATIONS), 70.5), "logits without them");
	req = served("llama.cpp", "llama-3.1-8b", 131072);
	ok(mib(part(req, 1, 1, PART_ACTIVATIONS), 416), "masks of a long context");
	req = served("ollama", "llama-3.1-70b", 8192);
	ok(mib(part(req, 1, 1, PART_ACTIVATIONS), 266.5), "logits of a wide vocabulary");
	req.chunk = 256;
	ok(mib(part(req, 1, 1, PART_ACTIVATIONS), 133.25), "half of it for half a micro-batch");
	req = served("llama.cpp", "llama-3.1-8b", 8192);
	req.exact_bytes = 4916000000;
	req.table_bytes = 295500000;
	ok(same(part(req, 1, 1, PART_WEIGHTS), 4916000000. - 295500000), "the input table stays with the host");
	req = served("llama.cpp", "llama-3.2-3b", 8192);
	req.exact_bytes = 2000000000;
	ok(same(part(req, 1, 1, PART_WEIGHTS), 2000000000.), "not where it is the output matrix, too");

	req = served("vllm", "llama-3.1-8b", 8192);
	ok(same(part(req, 1, 1, PART_ACTIVATIONS), 38.9 * 256 * 128256), "vLLM: its sampler");
	big = part(size_request_on(&req, 80ull << 30), 1, 1, PART_ACTIVATIONS);
	ok(same(big, 38.9 * 1024 * 128256), "of four times the sequences on a large GPU");
	req.sequences = 16;
	ok(part(req, 1, 1, PART_ACTIVATIONS) < 38.9 * 256 * 128256, "of as many as are asked for");

	req = base(SIZE_TRAIN);
	engine_find(cat.engines, cat.n_engines, "megatron", &req.engine, &(struct fault){ "" });
	req.zero = 0;
	ok(same((part(req, 1, 1, PART_WEIGHTS) + part(req, 1, 1, PART_GRADIENTS) +
		 part(req, 1, 1, PART_OPTIMIZER)) / 8030261248., 18.), "Megatron: 18 bytes a parameter");
	req.zero = 1;
	ok(same((part(req, 4, 1, PART_WEIGHTS) + part(req, 4, 1, PART_GRADIENTS) +
		 part(req, 4, 1, PART_OPTIMIZER)) / 8030261248., 9.), "6 + 12/4 with the optimizer shared");
	before = req;
	before.capability = 8;
	ok(mib(size_own_buffers(&req) - size_own_buffers(&before), 28),
	   "a workspace of 32 MiB is one of 4 before Hopper");
	cat_model_find(cat.models, cat.n_models, "mixtral-8x7b", &before.model, &(struct fault){ "" });
	ok(mib(size_own_buffers(&before) - (size_own_buffers(&req) - (28 << 20)), 16),
	   "experts have four more of them");
}

int main(void)
{
	struct fault f = { "" };

	if (!ok(!catalogue_load(&cat, "ctl/catalogue", NULL, &f), "catalogue %s", f.text))
		return tap_done();
	parts();
	interleaved();
	expert_ranks();
	quantized();
	frozen();
	steps();
	latency();
	speed_in_fp32();
	machines();
	profiles();
	catalogue_free(&cat);
	return tap_done();
}
