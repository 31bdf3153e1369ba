// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: what must be there
 *
 * Each part of the memory by its formula, on the fullest GPU of a layout.
 * Counts are doubles: the largest shapes of the catalogue times the largest
 * batches stay below 2^1023, and nothing here needs the last byte.
 *
 * Notation as in the literature: h hidden, a heads, d head width, k KV heads,
 * f inner width of the MLP, V vocabulary, s tokens of a sequence, t tensor
 * parallel degree.
 */
#include <math.h>
#include <string.h>

#include "kv.h"
#include "physics.h"
#include "step.h"

#define GIB_D ((double)(1ull << 30))

/* One layer worked on again holds a little more than it keeps. */
#define RECOMPUTE_EXTRA 1.3

/**
 * struct stage - parameters on the fullest GPU of a pipeline, before sharding
 * @linear: matrices of the blocks
 * @small: norms, biases, routers
 * @embedding: input table
 * @head: output matrix of its own
 * @vision: encoders, with the embedding on the first stage
 */
struct stage {
	double linear;
	double small;
	double embedding;
	double head;
	double vision;
};

static double physics_number(const struct size_request *req, enum engine_number n)
{
	return req->engine->number[n];
}

/*
 * Buffers that do not depend on the model's size. TransformerEngine gives cuBLAS 32 MiB a
 * stream on GPUs with compute capability 9.0 and an eighth of it on older ones; experts are
 * multiplied on several streams at a time.
 */
double size_own_buffers(const struct size_request *req)
{
	double each = physics_number(req, ENGINE_WORKSPACE);
	double streams = 1;

	if (req->capability > 0 && req->capability < 9)
		each /= 8;
	if (req->model && req->model->experts)
		streams += physics_number(req, ENGINE_EXPERT_STREAMS);
	return (physics_number(req, ENGINE_CONSTANT) + streams * each) * GIB_D;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static double context_parallel(const struct size_layout *layout)
{
	return layout->cp > 1 ? layout->cp : 1;
}

/* Ranks that hold the same states unless they are sharded. */
static double replicas(const struct size_layout *layout)
{
	return larger(1, (double)layout->gpus / layout->tp / layout->pp);
}

unsigned int size_zero_stage(const struct size_request *req, const struct size_layout *layout)
{
	if (req->zero != SIZE_UNSET)
		return (unsigned int)req->zero;
	return layout->gpus > layout->tp * layout->pp ?
		       (unsigned int)physics_number(req, ENGINE_ZERO) :
		       0;
}

unsigned int size_recompute(const struct size_request *req)
{
	return req->recompute == SIZE_UNSET ? (unsigned int)physics_number(req, ENGINE_RECOMPUTE) :
					      (unsigned int)req->recompute;
}

/*
 * Who shards parameters beside tensor parallelism has them as distributed tensors, and
 * with these norms and dropout between the matrices are shared by sequence.
 */
static bool shares_sequence(const struct size_request *req, const struct size_layout *layout)
{
	double policy = physics_number(req, ENGINE_SEQUENCE_PARALLEL);

	if (req->sequence_parallel != SIZE_UNSET)
		return req->sequence_parallel > 0;
	return policy > 1 ? size_zero_stage(req, layout) >= 3 : policy > 0;
}

static double layers_share(const struct size_request *req, const struct size_layout *layout)
{
	uint64_t layers;

	if (layout->pp <= 1 || !req->model || physics_number(req, ENGINE_EVEN_SPLIT) > 0)
		return 1. / layout->pp;
	layers = (req->model->layers + layout->pp - 1) / layout->pp;
	return (double)layers / (double)req->model->layers;
}

static double attention_groups(const struct size_layout *layout)
{
	return layout->adp > 1 ? layout->adp : 1;
}

uint64_t size_sequences(const struct size_request *req, const struct size_layout *layout)
{
	return layout->adp > 1 ? (req->batch + layout->adp - 1) / layout->adp : req->batch;
}

/* GPUs that share the matrices of an expert. */
static double expert_tensor(const struct size_request *req, const struct size_layout *layout)
{
	return req->etp && req->task != SIZE_INFER ? req->etp : layout->tp;
}

/*
 * Ranks that share the experts, for each tensor parallel degree of theirs: the groups of
 * data-parallel attention, or as many replicas as --ep asks for.
 */
static double expert_ranks(const struct size_request *req, const struct size_layout *layout)
{
	double groups = attention_groups(layout);
	double most = replicas(layout) * layout->tp / expert_tensor(req, layout);

	if (req->task != SIZE_INFER)
		return req->ep > 1 ? fmin(req->ep, larger(1, most)) : 1;
	if (req->ep <= 1)
		return groups;
	return larger(groups, fmin((double)req->ep / layout->tp, groups * larger(1, req->dp)));
}

static double expert_params(const struct cat_model *m)
{
	return m ? (double)m->params.experts : 0;
}

/* Part of the matrices that other ranks hold under expert parallelism, beyond the tensor's. */
static double expert_share(const struct size_request *req, const struct size_layout *layout)
{
	double experts = expert_params(req->model);

	if (experts <= 0)
		return 0;
	return experts * (1 - layout->tp / expert_tensor(req, layout) / expert_ranks(req, layout)) /
	       (double)req->params.linear;
}

double size_visited(const struct size_request *req, const struct size_layout *layout)
{
	double all = expert_params(req->model), ranks = expert_ranks(req, layout);
	double others = (double)req->params.total - all;
	double visited = (double)req->params.active - others;

	return (others + visited / ranks) / (others + all / ranks);
}

/* Of the blocks, those that are not left in the host's memory. */
static double device_share(const struct size_request *req)
{
	if (!req->host_layers || !req->model || req->task != SIZE_INFER)
		return 1;
	return 1 - (double)req->host_layers / (double)req->model->layers;
}

/* @sharded: replicas share it anyway, so that sharing experts makes it no smaller. */
static struct stage fullest_stage(const struct size_request *req, const struct size_layout *layout,
				  bool sharded)
{
	const struct model_params *p = &req->params;
	double share = layers_share(req, layout) * device_share(req);
	double here = sharded ? 1 : 1 - expert_share(req, layout);
	struct stage s = {
		.linear = (double)p->linear * share * here / layout->tp,
		.small = (double)p->small * share / layout->tp,
		.embedding = (double)p->embedding / layout->tp,
		.head = (double)p->head / layout->tp,
		.vision = (double)p->vision / layout->tp,
	};

	if (layout->pp > 1 && physics_number(req, ENGINE_EVEN_SPLIT) > 0) {
		s.embedding *= share;
		s.head *= share;
		s.vision *= share;
	} else if (layout->pp > 1) {
		/* embedding on the first stage, output matrix on the last */
		s.head = 0;
	}
	/* the output matrix comes behind all blocks: the last to leave the host */
	if (device_share(req) < 1) {
		s.head = 0;
		s.embedding = 0;
	}
	return s;
}

static double all_of(const struct stage *s)
{
	return s->linear + s->small + s->embedding + s->head + s->vision;
}

/*
 * Of the bytes as stored, those that stay in the host's memory: rows of the input table
 * are looked up there. A tied table is multiplied with as well, and so on the GPU.
 */
static double hosted_bytes(const struct size_request *req, const struct stage *s, double rest)
{
	double whole = (double)req->params.total;

	if (!(physics_number(req, ENGINE_HOST_EMBEDDING) > 0) || !req->model || req->model->tied)
		return 0;
	if (req->table_bytes)
		return (double)req->table_bytes * s->embedding / (double)req->params.embedding;
	return s->embedding * (req->exact_bytes ? (double)req->exact_bytes / whole : rest);
}

static bool quantized(const struct size_request *req)
{
	return req->precision->linear < 16 * SIZE_BIT;
}

/* Bytes of weights as stored, embeddings and norms at @rest bytes. */
static double stored_bytes(const struct size_request *req, const struct stage *s, double rest)
{
	double linear = (double)req->precision->linear / (double)SIZE_BYTE;
	double whole = (double)req->params.total;
	bool head = physics_number(req, ENGINE_HEAD_QUANTIZED) > 0;
	double output = s->head;

	if (req->exact_bytes)
		return (double)req->exact_bytes * all_of(s) / whole - hosted_bytes(req, s, rest);
	/* quantized, a tied output matrix is a tensor of its own */
	if (head && quantized(req) && req->model && req->model->tied)
		output = s->embedding;
	return s->linear * linear + (s->small + s->embedding + s->vision) * rest +
	       output * (head ? linear : rest) - hosted_bytes(req, s, rest);
}

static double compute_bytes(const struct size_request *req)
{
	return (double)req->compute->linear / (double)SIZE_BYTE;
}

static double rest_bytes(const struct size_request *req)
{
	return (double)req->precision->rest / (double)SIZE_BYTE;
}

/* The largest matrix that is multiplied in 16 bits after dequantization. */
static double largest_matrix(const struct size_request *req)
{
	const struct cat_model *m = req->model;
	double width = (double)(m->experts && !m->dense_layers ? m->moe_ffn : m->ffn);
	double block = (double)m->hidden * width;

	if (physics_number(req, ENGINE_HEAD_QUANTIZED) > 0)
		return larger(block, (double)m->vocab * (double)m->hidden);
	return block;
}

/* --- inference ------------------------------------------------------------- */

static void infer_parts(const struct size_request *req, const struct size_layout *layout,
			struct size_physics *out)
{
	const struct cat_model *m = req->model;
	struct stage s = fullest_stage(req, layout, false);
	uint64_t sequences = size_sequences(req, layout);
	double *part = out->moment[MOMENT_LOSS];

	out->always[PART_WEIGHTS] = stored_bytes(req, &s, rest_bytes(req));
	part[PART_BUFFERS] = size_own_buffers(req);
	if (!m)
		return;
	part[PART_KV] = (double)kv_bytes(m, req->kv, req->context, sequences, layout->tp) *
			layers_share(req, layout) * device_share(req) *
			physics_number(req, ENGINE_KV_COPIES);
	size_step(req, layout, &part[PART_ACTIVATIONS], &part[PART_LOGITS]);
	if (quantized(req))
		part[PART_BUFFERS] += physics_number(req, ENGINE_DEQUANTIZED) *
				      largest_matrix(req) * 2 / layout->tp;
	/* AWQ loaders make the output matrix before it is tied to the input */
	if (!strcmp(req->precision->name, "awq") && m->tied &&
	    physics_number(req, ENGINE_UNTIED_LOAD) > 0)
		out->moment[MOMENT_ALONE][PART_BUFFERS] = (double)m->vocab * (double)m->hidden * 2;
}

/* --- training -------------------------------------------------------------- */

/* Tensors that LoRA trains whole, beside the adapters. */
static double trained_whole(const struct size_request *req)
{
	const struct cat_model *m = req->model;
	double table = m ? (double)(m->vocab * m->hidden) : 0;

	return (req->targets & TARGET_EMBEDDING ? table : 0) +
	       (req->targets & TARGET_HEAD ? table : 0);
}

static double adapters(const struct size_request *req)
{
	/* rank 16 on all linear layers of a 7B to 70B model */
	if (!req->model)
		return (double)req->params.total * 0.006 * req->rank / 16;
	return (double)model_lora_on(req->model, req->rank, req->targets & TARGET_LINEAR);
}

double size_trained(const struct size_request *req)
{
	if (req->task == SIZE_TRAIN)
		return (double)req->params.total;
	return adapters(req) + trained_whole(req);
}

/* Bytes of weight, gradient and states of one trained parameter. */
struct each {
	double weight;
	double gradient;
	double state;
};

static struct each each_parameter(const struct size_request *req)
{
	double states = size_optimizer_bytes(req->optimizer, req->pure16);
	double adapter = physics_number(req, ENGINE_ADAPTER_BYTES) / 4;

	if (req->task != SIZE_TRAIN && req->pure16)
		return (struct each){ 2, 2, states };
	if (req->task != SIZE_TRAIN)
		return (struct each){ adapter, adapter, states * adapter / 4 };
	if (req->compute->linear == 32 * SIZE_BIT)
		return (struct each){ 4, 4, states };
	if (req->pure16)
		return (struct each){ 2, 2, states };
	if (physics_number(req, ENGINE_MASTER) > 0 &&
	    physics_number(req, ENGINE_FP32_GRADIENTS) > 1)
		return (struct each){ 2, 4, states + 4 };
	if (physics_number(req, ENGINE_MASTER) > 0)
		return (struct each){ 2, 2,
				      states + 4 + 4 * physics_number(req, ENGINE_FP32_GRADIENTS) };
	return (struct each){ 4, 4, states };
}

/*
 * Of the backward pass a frozen matrix needs no input. bitsandbytes kept it before 0.43.2,
 * whose release notes say so, in tensors of its own: of the attention, of its output matrix
 * and twice of the MLP.
 */
static double quantized_inputs(const struct size_request *req, const struct size_layout *layout)
{
	const struct cat_model *m = req->model;
	double h = (double)m->hidden, q = (double)(m->heads * m->head_dim);
	double f = (double)model_active_ffn(m);

	if (req->task != SIZE_QLORA || !(physics_number(req, ENGINE_QUANTIZED_INPUTS) > 0))
		return 0;
	return (2 * h + (q + f) / layout->tp) * compute_bytes(req);
}

void size_widths(const struct cat_model *m, double *queries, double *keys)
{
	*queries = (double)(m->kv_lora ? m->heads * (m->nope_dim + m->rope_dim) :
					 m->heads * m->head_dim);
	*keys = m->kv_lora ? *queries : (double)(m->kv_heads * m->head_dim);
}

/*
 * Experts get copies of the tokens that visit them, and what they return is weighed: both are
 * kept. Ranks that share an expert have the tokens of each other.
 */
static double dispatched(const struct size_request *req, const struct size_layout *layout)
{
	const struct cat_model *m = req->model;

	if (!m->experts)
		return 0;
	return 4 * (double)m->hidden * (double)m->active_experts *
	       (shares_sequence(req, layout) ? expert_tensor(req, layout) : layout->tp);
}

/* Bytes per token that a layer keeps for its backward pass. */
static double layer_bytes(const struct size_request *req, const struct size_layout *layout,
			  bool scores)
{
	const struct cat_model *m = req->model;
	double h = (double)m->hidden, f = (double)model_active_ffn(m), q, kv;
	bool flash = req->flash != 0, compiled = req->compile == 1;
	double whole, split;

	size_widths(m, &q, &kv);
	whole = 10 * h;
	if (model_mlp_is_gated(m))
		split = compiled ? 2 * q + 4 * kv + 6 * f : 6 * h + 4 * q + 4 * kv + 8 * f;
	else
		split = (flash ? 2 * h : 8 * h) + 4 * f;
	split += dispatched(req, layout);
	if (scores && !flash)
		split += 5 * (double)m->heads * (double)req->context;
	if (shares_sequence(req, layout))
		whole /= layout->tp;
	return (whole + split / layout->tp) * compute_bytes(req) / 2 +
	       quantized_inputs(req, layout);
}

static double micro_tokens(const struct size_request *req, const struct size_layout *layout)
{
	uint64_t batch = req->micro_batch ? req->micro_batch : req->batch;

	return (double)batch * (double)req->context / context_parallel(layout);
}

/* What the layer that is worked on again needs, with full recomputation. */
static double recomputed_layer(const struct size_request *req, const struct size_layout *layout)
{
	if (size_recompute(req) < 2)
		return 0;
	return micro_tokens(req, layout) * RECOMPUTE_EXTRA * layer_bytes(req, layout, true);
}

/* Activations with @in_flight micro-batches under way, but for a layer that is worked on again. */
static double activation_bytes(const struct size_request *req, const struct size_layout *layout,
			       double in_flight)
{
	double layers = (double)req->model->layers * layers_share(req, layout);
	double tokens = micro_tokens(req, layout);
	double kept = 2 * (double)req->model->hidden * compute_bytes(req) / 2;

	switch (size_recompute(req)) {
	case 0:
		return tokens * layers * in_flight * layer_bytes(req, layout, true);
	case 1:
		return tokens * layers * in_flight * layer_bytes(req, layout, false);
	default:
		if (shares_sequence(req, layout))
			kept /= layout->tp;
		/* one that is on its way to the host, and one that comes back */
		if (size_recompute(req) > 2)
			return tokens * kept * fmin(2, layers);
		return tokens * layers * in_flight * kept;
	}
}

/* Bytes of an entry: scores in 16 bits, and in fp32 their logarithms and gradients. */
#define EAGER_BYTES 10
#define CHUNKED_BYTES 3

/* Liger's chunks are so small that their scores take as much as its inputs, in fp32 twice. */
#define FUSED_BYTES 10

double size_loss_bytes(const struct size_request *req)
{
	double entry = physics_number(req, ENGINE_LOSS_BYTES);

	switch (req->loss) {
	case LOSS_EAGER:
		entry = entry > CHUNKED_BYTES ? entry : EAGER_BYTES;
		break;
	case LOSS_CHUNKED:
		entry = fmin(entry, CHUNKED_BYTES);
		break;
	case LOSS_FUSED:
		return fmin(entry * (double)req->model->vocab,
			    FUSED_BYTES * (double)req->model->hidden);
	}
	return entry * (double)req->model->vocab;
}

/*
 * Micro-batches of a stage's layers that are under way. With groups of layers that take turns
 * (Narayanan et al. 2021) the first stage has started 2 (p - 1) + (v - 1) p + 1 of them, and
 * the last one only those of its earlier groups, each of 1 / v of the layers.
 */
static double under_way(const struct size_request *req, const struct size_layout *layout,
			bool first)
{
	double p = layout->pp, v = req->virtual_stages > 1 ? req->virtual_stages : 1;

	if (layout->pp <= 1)
		return 1;
	if (!first)
		return ((v - 1) * p + 1) / v;
	return p + (v > 1 ? (p - 1) / v : 0) + physics_number(req, ENGINE_IN_FLIGHT);
}

/* The first stage has micro-batches of the whole pipeline, the last has the loss. */
static void add_activations(const struct size_request *req, const struct size_layout *layout,
			    struct size_physics *out)
{
	double again = recomputed_layer(req, layout);
	double last = activation_bytes(req, layout, under_way(req, layout, false));
	double first = activation_bytes(req, layout, under_way(req, layout, true));

	out->moment[MOMENT_FIRST][PART_ACTIVATIONS] = first + again;
	out->moment[MOMENT_LOSS][PART_ACTIVATIONS] = last;
	out->moment[MOMENT_LOSS][PART_LOGITS] =
		micro_tokens(req, layout) * size_loss_bytes(req) / layout->tp;
	/* the loss is gone when a layer is recomputed */
	out->moment[MOMENT_LAYER][PART_ACTIVATIONS] = last + again;
}

/* A gathered block comes as it is stored. */
static double block_bytes(const struct size_request *req, const struct size_layout *layout)
{
	double each = req->task == SIZE_QLORA ? (double)req->precision->linear / (double)SIZE_BYTE :
						compute_bytes(req);

	return (double)req->params.block * each / layout->tp;
}

/*
 * The output matrix, or the table that is one, is gathered whole beside the blocks: it is in
 * the outermost unit of FSDP, which stays, and ZeRO-3 of DeepSpeed gathers it for the loss.
 */
static double output_bytes(const struct size_request *req, const struct size_layout *layout)
{
	const struct model_params *p = &req->params;

	return (double)(p->head ? p->head : p->embedding) * compute_bytes(req) / layout->tp;
}

/* Of whole copies that come and go: gathered blocks, buckets, dequantized matrices. */
static double working_copies(const struct size_request *req, const struct size_layout *layout,
			     unsigned int zero)
{
	double bytes = size_own_buffers(req);

	if (zero >= 3) {
		bytes += physics_number(req, ENGINE_GATHERED) * block_bytes(req, layout);
		bytes += output_bytes(req, layout);
		if (req->task == SIZE_TRAIN)
			bytes += block_bytes(req, layout) * 4 / compute_bytes(req);
	}
	if (zero)
		bytes += physics_number(req, ENGINE_BUCKETS) * 2 * 2;
	if (req->task == SIZE_QLORA && req->model)
		bytes += physics_number(req, ENGINE_DEQUANTIZED) * largest_matrix(req) * 2;
	return bytes;
}

static void frozen_weights(const struct size_request *req, const struct size_layout *layout,
			   unsigned int zero, double part[SIZE_PARTS])
{
	struct stage s = fullest_stage(req, layout, zero >= 3);
	bool upcast = req->task == SIZE_QLORA && physics_number(req, ENGINE_UPCAST) > 0;
	double bytes = stored_bytes(req, &s, upcast ? 4 : rest_bytes(req));

	part[PART_WEIGHTS] = zero >= 3 ? bytes / replicas(layout) : bytes;
	/* sharded, they may be there whole while they load */
	if (zero >= 3)
		part[PART_BUFFERS] += bytes * physics_number(req, ENGINE_LOAD_COPIES);
}

bool size_frozen_gradients(const struct size_request *req, const struct size_layout *layout)
{
	return req->task == SIZE_LORA && replicas(layout) > 1 &&
	       size_zero_stage(req, layout) >= 3 &&
	       (req->flat || physics_number(req, ENGINE_FROZEN_GRADIENTS) > 0);
}

/*
 * FSDP 1 makes one flat parameter of a block, adapters and frozen weights alike, and so a
 * gradient for all of it. While micro-batches accumulate nothing is reduced: each rank has
 * these gradients whole, however many share the weights.
 */
static double frozen_gradients(const struct size_request *req, const struct size_layout *layout)
{
	struct stage s = fullest_stage(req, layout, true);

	return size_frozen_gradients(req, layout) ? all_of(&s) * compute_bytes(req) : 0;
}

static void train_parts(const struct size_request *req, const struct size_layout *layout,
			struct size_physics *out)
{
	unsigned int zero = size_zero_stage(req, layout);
	double shards = replicas(layout), n = adapters(req), whole = trained_whole(req);
	struct each each = each_parameter(req);
	double *part = out->always, all;

	if (req->task == SIZE_TRAIN) {
		struct stage own = fullest_stage(req, layout, false);
		struct stage s = fullest_stage(req, layout, true);

		n = all_of(&own);
		all = all_of(&s);
		whole = 0;
	} else {
		frozen_weights(req, layout, zero, part);
		/* gradients of frozen weights come after the loss is gone */
		out->moment[MOMENT_LAYER][PART_BUFFERS] = frozen_gradients(req, layout);
		n *= layers_share(req, layout) / layout->tp;
		all = n;
		whole /= layout->tp;
	}
	/* tensors that are trained whole stay in the format of the base */
	part[PART_WEIGHTS] += ((zero >= 3 ? all / shards : n) * each.weight) +
			      whole * 2 / (zero >= 3 ? shards : 1);
	part[PART_GRADIENTS] = ((zero >= 2 ? all / shards : n) * each.gradient) +
			       whole * 2 / (zero >= 2 ? shards : 1);
	if (!req->offload)
		part[PART_OPTIMIZER] = (zero >= 1 ? all / shards : n) * each.state +
				       whole * size_optimizer_bytes(req->optimizer, true) /
					       (zero >= 1 ? shards : 1);
	n += whole;
	all += whole;
	if (physics_number(req, ENGINE_KEEP_GATHERED) > 0 && layout->pp > 1 && zero >= 2)
		part[PART_BUFFERS] += n * (2 + 4);
	part[PART_BUFFERS] += working_copies(req, layout, zero);
	if (req->model)
		add_activations(req, layout, out);
	/* the step comes after the activations are gone; kernels of 8-bit states work in place */
	if (req->optimizer != OPTIMIZER_ADAMW_8BIT)
		out->moment[MOMENT_ALONE][PART_BUFFERS] = physics_number(req, ENGINE_STEP_BYTES) *
							  (zero >= 1 ? all / shards : n) *
							  (req->pure16 ? 0.5 : 1);
}

/* --- both ------------------------------------------------------------------ */

static double moment_bytes(const double moment[SIZE_PARTS], const double coef[SIZE_PARTS])
{
	return moment[PART_ACTIVATIONS] * coef[PART_ACTIVATIONS] +
	       moment[PART_LOGITS] * coef[PART_LOGITS] + moment[PART_KV] * coef[PART_KV] +
	       moment[PART_BUFFERS] * coef[PART_BUFFERS];
}

/* The largest of the moments before @end. */
static int largest_moment(const struct size_physics *p, const double coef[SIZE_PARTS],
			  enum size_moment end)
{
	int i, best = 0;

	for (i = 1; i < (int)end; i++)
		if (moment_bytes(p->moment[i], coef) > moment_bytes(p->moment[best], coef))
			best = i;
	return best;
}

static void add_moment(const struct size_physics *p, int moment, double part[SIZE_PARTS])
{
	int i;

	for (i = 0; i < SIZE_PARTS; i++)
		part[i] = p->always[i] + p->moment[moment][i];
}

void size_physics_peak(const struct size_physics *physics, const double coef[SIZE_PARTS],
		       double part[SIZE_PARTS])
{
	add_moment(physics, largest_moment(physics, coef, SIZE_MOMENTS), part);
}

/* The same for people: activations are shown although buffers alone are larger later. */
static void shown_parts(const struct size_physics *p, const double coef[SIZE_PARTS],
			double part[SIZE_PARTS])
{
	int shown = largest_moment(p, coef, MOMENT_ALONE);
	double excess =
		moment_bytes(p->moment[MOMENT_ALONE], coef) - moment_bytes(p->moment[shown], coef);

	add_moment(p, shown, part);
	if (excess > 0)
		part[PART_BUFFERS] += excess / coef[PART_BUFFERS];
}

/* NCCL has buffers for each group of ranks: those of tensors, stages, contexts and replicas. */
static double communicators(const struct size_request *req, const struct size_layout *layout)
{
	double replicas_too = replicas(layout) / context_parallel(layout);

	return (layout->tp > 1) + (layout->pp > 1) + (layout->cp > 1) +
	       (req->task != SIZE_INFER ? replicas_too > 1 : attention_groups(layout) > 1);
}

void size_physics(const struct size_request *req, const struct size_layout *layout,
		  struct size_physics *out)
{
	static const double plain[SIZE_PARTS] = { 1, 1, 1, 1, 1, 1, 1, 1 };

	memset(out, 0, sizeof(*out));
	if (req->task == SIZE_INFER)
		infer_parts(req, layout, out);
	else
		train_parts(req, layout, out);
	out->always[PART_FRAMEWORK] = physics_number(req, ENGINE_CONTEXT) * GIB_D;
	out->always[PART_FRAMEWORK] +=
		communicators(req, layout) * physics_number(req, ENGINE_COLLECTIVES) * GIB_D;
	out->reserve = physics_number(req, ENGINE_RESERVE);
	shown_parts(out, plain, out->part);
}

void size_estimate(const struct size_request *req, const struct size_layout *layout,
		   struct size_estimate *out)
{
	const struct engine_fit *fit = &req->engine->fit[req->task];
	struct size_physics physics;
	double sum = 0;
	int i;

	size_physics(req, layout, &physics);
	shown_parts(&physics, fit->coef, out->part);
	for (i = 0; i < SIZE_PARTS; i++) {
		out->part[i] *= fit->coef[i] * fit->p50;
		if (i != PART_FRAMEWORK)
			sum += out->part[i];
	}
	out->memory[MEMORY_ALLOCATED] = sum;
	out->memory[MEMORY_RESERVED] = sum * physics.reserve;
	out->memory[MEMORY_DEVICE] = sum * physics.reserve + out->part[PART_FRAMEWORK];
	for (i = 0; i < SIZE_MEMORIES; i++)
		out->p95[i] = out->memory[i] * fit->p95 * (req->doubt > 1 ? req->doubt : 1);
}
