// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: time
 *
 * A token of training costs multiplications, traffic to memory and to other
 * GPUs. Each is divided by the rate of the part of the machine that it needs;
 * coefficients near 1 say how well that rate is reached in practice. The MFU is
 * a result of that, so it falls with long sequences and small models by itself.
 */
#include <math.h>
#include <string.h>

#include "physics.h"
#include "speed.h"
#include "step.h"

/* Nominal parts of the peak that kernels reach: large products; attention, of the power. */
#define MATRIX_RATE 0.75
#define ATTENTION_RATE 0.35

/* FLOP a joule of 16-bit products, of boards since 2020; fp8 takes less. */
#define FLOP_PER_JOULE 1e12
#define FP8_SAVES 1.5

/* Times that a value passes memory, forward and backward. */
#define PASSES 2.5

/* Bytes a second to another host: a 200 Gbit/s or, with PCIe 5, 400 Gbit/s card a GPU. */
#define HOST_GPUS 8
#define NET_GEN4 25e9
#define NET_GEN5 50e9

const char *const speed_term_names[SPEED_TERMS] = {
	[SPEED_MATRICES] = "matrices",
	[SPEED_ATTENTION] = "attention",
	[SPEED_POWER] = "power",
	[SPEED_AGAIN] = "recomputation",
	[SPEED_MEMORY] = "memory",
	[SPEED_OPTIMIZER] = "optimizer step",
	[SPEED_WEIGHTS] = "sharded weights",
	[SPEED_TENSOR] = "tensor parallel exchange",
	[SPEED_BUBBLE] = "pipeline bubble",
};

const char *const speed_term_keys[SPEED_TERMS] = {
	[SPEED_MATRICES] = "matrices", [SPEED_ATTENTION] = "attention",
	[SPEED_POWER] = "power",       [SPEED_AGAIN] = "again",
	[SPEED_MEMORY] = "memory",     [SPEED_OPTIMIZER] = "optimizer",
	[SPEED_WEIGHTS] = "weights",   [SPEED_TENSOR] = "tensor",
	[SPEED_BUBBLE] = "bubble",
};

/**
 * struct rates - of a product
 * @peak: FLOP/s of matrices; @peak16 of 16 bits
 * @power: FLOP/s that its watts allow; @power16 in 16 bits
 * @memory: bytes/s
 * @link: bytes/s to GPUs of the same host, @net to others
 */
struct rates {
	double peak;
	double peak16;
	double power;
	double power16;
	double memory;
	double link;
	double net;
};

static bool in_fp32(const struct size_request *req)
{
	return req->compute && req->compute->plain == 32 * SIZE_BIT;
}

static bool find_rates(const struct size_request *req, const struct cat_gpu *gpu, struct rates *r)
{
	double fp16, fp32, bandwidth, fp8, link = 64, gen = 4, watts = 350;

	if (cat_gpu_fact(gpu, GPU_FP16_TFLOPS, &fp16) == GPU_UNKNOWN ||
	    cat_gpu_fact(gpu, GPU_BANDWIDTH_GBS, &bandwidth) == GPU_UNKNOWN)
		return false;
	cat_gpu_fact(gpu, GPU_LINK_GBS, &link);
	cat_gpu_fact(gpu, GPU_PCIE_GEN, &gen);
	cat_gpu_fact(gpu, GPU_TDP_W, &watts);
	r->power = watts * FLOP_PER_JOULE;
	r->power16 = r->power;
	r->peak16 = fp16 * 1e12;
	r->peak = r->peak16;
	if (req->precision->plain == 8 * SIZE_BIT && req->precision->linear < 81000 &&
	    cat_gpu_fact(gpu, GPU_FP8_TFLOPS, &fp8) != GPU_UNKNOWN)
		r->peak = fp8 * 1e12;
	if (r->peak > r->peak16)
		r->power *= FP8_SAVES;
	if (in_fp32(req)) {
		r->peak = cat_gpu_fact(gpu, GPU_FP32_TFLOPS, &fp32) == GPU_UNKNOWN ? 0 :
										     fp32 * 1e12;
		r->power16 = fmin(r->power16, r->peak);
	}
	r->memory = bandwidth * 1e9;
	r->link = link * 1e9 / 2;
	r->net = gen >= 5 ? NET_GEN5 : NET_GEN4;
	return true;
}

/* Frozen weights need no gradients of their own: a third less. */
static double matrix_flop(const struct size_request *req)
{
	const struct cat_model *m = req->model;
	double n = (double)req->params.active - (double)req->params.embedding;

	if (m && m->tied)
		n += (double)(m->vocab * m->hidden);
	return (req->task == SIZE_TRAIN ? 6 : 4) * n;
}

static double attention_flop(const struct size_request *req)
{
	const struct cat_model *m = req->model;

	if (!m)
		return 0;
	return 12 * (double)m->layers * (double)m->heads * (double)req->context *
	       (double)(m->kv_lora ? m->nope_dim + m->rope_dim : m->head_dim);
}

double size_flop_per_token(const struct size_request *req)
{
	return 6 * (double)req->params.active + attention_flop(req);
}

/* Bytes of activations that pass memory for one token. */
static double traffic(const struct size_request *req)
{
	const struct cat_model *m = req->model;

	if (!m)
		return 0;
	return (double)m->layers * (20 * (double)m->hidden + 4 * (double)model_active_ffn(m)) +
	       4 * (double)m->vocab;
}

static double exchange_rate(const struct rates *r, double gpus)
{
	return gpus > HOST_GPUS ? r->net : r->link;
}

bool size_speed_terms(const struct size_request *req, const struct size_layout *layout,
		      const struct cat_gpu *gpu, double global_batch, double t[SPEED_TERMS])
{
	double cp = layout->cp > 1 ? layout->cp : 1;
	double again = size_recompute(req) >= 2 ? 1. / 3 : 0, shards, tokens, step, batches;
	unsigned int zero = size_zero_stage(req, layout);
	double n = (double)req->params.total / layout->tp / layout->pp;
	struct rates r;

	if (!find_rates(req, gpu, &r) || r.peak <= 0)
		return false;
	shards = fmax(1, (double)layout->gpus / layout->tp / layout->pp);
	/* tokens that pass one GPU of a replica in a micro-batch, and in a step */
	tokens = (double)req->batch * (double)req->context / cp;
	batches = fmax(1, global_batch / fmax(1, shards / cp) / (double)req->batch);
	/* per GPU: its replica's tokens are spread over tp and pp */
	step = tokens * batches;
	memset(t, 0, SPEED_TERMS * sizeof(*t));
	t[SPEED_MATRICES] = matrix_flop(req) / r.peak / MATRIX_RATE / 2;
	t[SPEED_POWER] = matrix_flop(req) / r.power;
	t[SPEED_ATTENTION] = attention_flop(req) / r.power16 / ATTENTION_RATE;
	t[SPEED_MEMORY] = traffic(req) * PASSES / r.memory;
	t[SPEED_AGAIN] =
		again * (t[SPEED_MATRICES] + t[SPEED_POWER] + t[SPEED_ATTENTION] + t[SPEED_MEMORY]);
	t[SPEED_OPTIMIZER] = 28 * n / (zero ? shards : 1) / r.memory / step;
	if (shards > 1)
		t[SPEED_WEIGHTS] =
			(zero >= 3 ? 6 * batches : 4) * n / exchange_rate(&r, layout->gpus) / step;
	/* seconds so far are of a whole replica for the last three: share them */
	t[SPEED_OPTIMIZER] *= layout->tp * layout->pp;
	t[SPEED_WEIGHTS] *= layout->tp * layout->pp;
	if (layout->tp > 1 && req->model)
		t[SPEED_TENSOR] = 16 * (double)req->model->layers * (double)req->model->hidden *
				  (layout->tp - 1) / exchange_rate(&r, layout->tp);
	if (layout->pp > 1)
		t[SPEED_BUBBLE] = (layout->pp - 1) / batches /
				  (req->virtual_stages > 1 ? req->virtual_stages : 1) *
				  (t[SPEED_MATRICES] + t[SPEED_POWER] + t[SPEED_ATTENTION]);
	return true;
}

void size_rate_train(const struct size_request *req, const struct size_layout *layout,
		     const struct cat_gpu *gpu, const double coef[SPEED_TERMS], double global_batch,
		     struct size_rate *out)
{
	double t[SPEED_TERMS], sum = 0;
	struct rates r;
	int i;

	memset(out, 0, sizeof(*out));
	if (!size_speed_terms(req, layout, gpu, global_batch, t) || !find_rates(req, gpu, &r))
		return;
	for (i = 0; i < SPEED_TERMS; i++) {
		t[i] *= coef[i];
		sum += t[i];
		if (t[i] > t[out->limit])
			out->limit = (enum speed_term)i;
	}
	out->tokens_per_s = 1 / sum;
	out->mfu = size_flop_per_token(req) / sum / r.peak;
}

void size_rate_infer(const struct size_request *req, const struct size_layout *layout,
		     const struct cat_gpu *gpu, struct size_rate *out)
{
	struct size_physics p;
	struct rates r;
	double read, compute, step;

	memset(out, 0, sizeof(*out));
	if (!find_rates(req, gpu, &r))
		return;
	/* Decoding is mostly bound by memory: the rate of 16 bits is a bound as well. */
	if (r.peak <= 0)
		r.peak = r.peak16;
	size_physics(req, layout, &p);
	/* each step reads the weights that are visited, and the cache */
	read = (p.part[PART_WEIGHTS] * size_visited(req, layout) + p.part[PART_KV]) / r.memory;
	compute = 2 * (double)req->params.active * (double)req->batch /
		  (r.peak * layout->gpus * MATRIX_RATE);
	step = fmax(read, compute) * (layout->pp > 1 ? layout->pp : 1);
	out->tokens_per_s = (double)req->batch / step / layout->gpus;
	out->mfu = 2 * (double)req->params.active * out->tokens_per_s / r.peak;
	out->limit = read > compute ? SPEED_MEMORY : SPEED_MATRICES;
}

/* Bytes of a parameter up to which a product may multiply in 8 bits, and in 4. */
#define BYTES_8_BIT 1.25
#define BYTES_4_BIT 0.75

/* The fastest multiplications that weights of this size can have on a product, FLOP/s. */
static double fastest(const struct size_request *req, const struct cat_gpu *gpu,
		      const struct rates *r, double weights)
{
	double bytes = weights / (double)req->params.total, fp8;

	if (bytes > BYTES_8_BIT || cat_gpu_fact(gpu, GPU_FP8_TFLOPS, &fp8) == GPU_UNKNOWN)
		return r->peak16;
	return fmax(r->peak16, (bytes > BYTES_4_BIT ? 1 : 2) * fp8 * 1e12);
}

/* Parameters that each token of a prompt is multiplied with; the last one's scores come after. */
static double prompt_params(const struct size_request *req)
{
	const struct cat_model *m = req->model;
	double n = (double)req->params.active - (double)req->params.embedding;

	return m && !m->tied ? n - (double)(m->vocab * m->hidden) : n;
}

/* Seconds that exchanging a prompt's activations takes, summed in the switch at best. */
static double speed_exchange(const struct size_request *req, const struct size_layout *layout,
			     const struct rates *r, double tokens)
{
	const struct cat_model *m = req->model;

	if (layout->tp < 2 || !m)
		return 0;
	return 2 * (double)m->layers * tokens * (double)m->hidden * 2 * (layout->tp - 1) /
	       layout->tp / exchange_rate(r, layout->tp);
}

static void latency_raise(double seconds, enum speed_term term, double *most,
			  enum speed_term *limit)
{
	if (seconds <= *most)
		return;
	*most = seconds;
	*limit = term;
}

void size_latency(const struct size_request *req, const struct size_layout *layout,
		  const struct cat_gpu *gpu, struct size_latency *out)
{
	double prompt = size_prompt(req), flop, weights;
	struct size_physics p;
	struct rates r;

	memset(out, 0, sizeof(*out));
	if (!find_rates(req, gpu, &r))
		return;
	size_physics(req, layout, &p);
	flop = fastest(req, gpu, &r, p.part[PART_WEIGHTS] * layout->gpus) * layout->gpus;
	weights = p.part[PART_WEIGHTS] * size_visited(req, layout);
	latency_raise(weights / r.memory, SPEED_MEMORY, &out->ttft, &out->ttft_limit);
	latency_raise(2 * prompt_params(req) * prompt / flop, SPEED_MATRICES, &out->ttft,
		      &out->ttft_limit);
	latency_raise(speed_exchange(req, layout, &r, prompt), SPEED_TENSOR, &out->ttft,
		      &out->ttft_limit);
	/* A token passes all stages, one after the other; each reads its own part for it. */
	latency_raise((weights * layout->pp + p.part[PART_KV]) / r.memory, SPEED_MEMORY, &out->tpot,
		      &out->tpot_limit);
	latency_raise(2 * prompt_params(req) * (double)req->batch / flop, SPEED_MATRICES,
		      &out->tpot, &out->tpot_limit);
}
