// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: engine profiles
 *
 * A file of engines.d has a section for each engine with its policy and a
 * section ENGINE.TASK with what was fitted. Everything has a default, which is
 * the plain formula, so that a profile says only where its engine differs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "engine.h"
#include "widths.h"

const struct engine_number_type engine_numbers[ENGINE_NUMBERS] = {
	[ENGINE_RESERVE] = { "reserve", 1, 4, 1.03, "reserved over allocated memory" },
	[ENGINE_CONTEXT] = { "context_gib", 0, 64, 0.6, "CUDA context and libraries" },
	[ENGINE_COLLECTIVES] = { "collectives_gib", 0, 64, 1.3, "NCCL, for each group of GPUs" },
	[ENGINE_CONSTANT] = { "constant_gib", 0, 64, 0, "buffers of the engine" },
	[ENGINE_WORKSPACE] = { "workspace_gib", 0, 64, 0,
			       "workspace of a stream of matrix products, since Hopper" },
	[ENGINE_EXPERT_STREAMS] = { "expert_streams", 0, 64, 0,
				    "streams that multiply experts, with a workspace each" },
	[ENGINE_GENERATED] = { "generated_tokens", 0, 1e9, 512,
			       "tokens of a sequence that are generated, not prompt" },
	[ENGINE_KV_COPIES] = { "kv_copies", 0, 8, 1, "times that the KV cache is held" },
	[ENGINE_PREFILL] = { "prefill_tokens", 0, 1e9, 8192, "tokens prefilled at a time, 0: all" },
	[ENGINE_PREFILL_LARGE] = { "prefill_large", 0, 1e9, 0,
				   "the same on a large GPU, 0: no other" },
	[ENGINE_SAMPLER_BYTES] = { "sampler_bytes", 0, 1000, 0,
				   "per prepared sequence and vocabulary entry" },
	[ENGINE_SEQUENCES] = { "sequences", 1, 1e6, 256,
			       "sequences that the sampler is prepared for" },
	[ENGINE_SEQUENCES_LARGE] = { "sequences_large", 0, 1e6, 0,
				     "the same on a large GPU, 0: no other" },
	[ENGINE_LARGE_GIB] = { "large_gib", 1, 1e6, 70, "memory of a large GPU" },
	[ENGINE_COMPUTE_BUFFER] = { "compute_buffer", 0, 1, 0,
				    "a step's tensors are in one planned buffer (ggml)" },
	[ENGINE_HOST_EMBEDDING] = { "host_embedding", 0, 1, 0,
				    "the input table stays in the host's memory" },
	[ENGINE_HEAD_QUANTIZED] = { "head_quantized", 0, 1, 0,
				    "the output matrix is quantized too" },
	[ENGINE_DEQUANTIZED] = { "dequantized_copies", 0, 8, 1,
				 "16-bit copies of the largest quantized matrix" },
	[ENGINE_EVEN_SPLIT] = { "even_split", 0, 1, 0, "layers are shared evenly" },
	[ENGINE_LOSS_BYTES] = { "loss_bytes", 0, 64, 14,
				"bytes per token and vocabulary entry in training" },
	[ENGINE_MASTER] = { "fp32_master", 0, 1, 1,
			    "mixed precision: 16-bit weights with an fp32 copy" },
	[ENGINE_PURE16] = { "states_16bit", 0, 1, 0,
			    "full training has weights and states in 16 bits alone" },
	[ENGINE_FP32_GRADIENTS] = { "fp32_gradients", 0, 2, 0,
				    "gradients in fp32: 1 beside 16 bits, 2 alone" },
	[ENGINE_STEP_BYTES] = { "step_bytes", 0, 64, 4,
				"temporary bytes per trained parameter in the optimizer" },
	[ENGINE_ADAPTER_BYTES] = { "adapter_bytes", 2, 64, 16,
				   "per adapter parameter, with gradient and Adam" },
	[ENGINE_UPCAST] = { "upcast", 0, 1, 1,
			    "quantized training keeps embeddings and norms in fp32" },
	[ENGINE_SEQUENCE_PARALLEL] = { "sequence_parallel", 0, 2, 1,
				       "tensor parallel divides all activations, 2: under ZeRO-3" },
	[ENGINE_RECOMPUTE] = { "recompute", 0, 3, 2, "0 none, 1 selective, 2 full, 3 offload" },
	[ENGINE_ZERO] = { "zero", 0, 3, 3, "ZeRO stage with several GPUs" },
	[ENGINE_GATHERED] = { "gathered_blocks", 0, 64, 2, "blocks gathered at a time, ZeRO-3" },
	[ENGINE_BUCKETS] = { "bucket_elements", 0, 1e10, 0, "elements in gradient buckets" },
	[ENGINE_LOAD_COPIES] = { "load_copies", 0, 4, 0,
				 "copies of all weights on each GPU while a sharded model loads" },
	[ENGINE_KEEP_GATHERED] = { "keep_gathered", 0, 1, 0,
				   "pipeline stages stay gathered, with their gradients" },
	[ENGINE_IN_FLIGHT] = { "in_flight_more", 0, 8, 0,
			       "micro-batches of the first stage beyond one for each stage" },
	[ENGINE_UNTIED_LOAD] = { "untied_load", 0, 1, 0,
				 "a tied output matrix is made at load, AWQ" },
	[ENGINE_QUANTIZED_INPUTS] = { "quantized_inputs", 0, 1, 0,
				      "frozen quantized matrices keep their inputs" },
	[ENGINE_DOUBLE_QUANTIZED] = { "double_quantized", 0, 1, 0,
				      "NF4 always has its scales quantized too" },
	[ENGINE_FROZEN_GRADIENTS] = { "frozen_gradients", 0, 1, 0,
				      "sharded frozen weights get gradients, which are whole" },
	[ENGINE_SHARE] = { "memory_share", 0.1, 1, 1,
			   "part of the device's memory that the engine takes at most" },
	[ENGINE_TRAINS] = { "trains", 0, 1, 1, "0: it serves models and cannot train" },
};

const char *const engine_part_names[SIZE_PARTS] = {
	[PART_WEIGHTS] = "weights",	[PART_GRADIENTS] = "gradients",
	[PART_OPTIMIZER] = "optimizer", [PART_ACTIVATIONS] = "activations",
	[PART_LOGITS] = "logits",	[PART_KV] = "KV cache",
	[PART_BUFFERS] = "buffers",	[PART_FRAMEWORK] = "framework",
};

const char *const engine_part_keys[SIZE_PARTS] = {
	[PART_WEIGHTS] = "weights",	[PART_GRADIENTS] = "gradients",
	[PART_OPTIMIZER] = "optimizer", [PART_ACTIVATIONS] = "activations",
	[PART_LOGITS] = "logits",	[PART_KV] = "kv",
	[PART_BUFFERS] = "buffers",	[PART_FRAMEWORK] = "framework",
};

const char *const engine_memory_names[SIZE_MEMORIES] = {
	[MEMORY_ALLOCATED] = "allocated",
	[MEMORY_RESERVED] = "reserved",
	[MEMORY_DEVICE] = "device",
};

static const char *const tasks[ENGINE_TASKS] = { "infer", "train", "lora", "qlora" };

#define PLAIN_COEF                                                                                 \
	{                                                                                          \
		1, 1, 1, 1, 1, 1, 1, 1                                                             \
	}
#define PLAIN_FIT(q)                                                                               \
	{                                                                                          \
		.coef = PLAIN_COEF, .p50 = 1, .p95 = (q)                                           \
	}

/*
 * Of inference 97 of 100 measured rows lie within, whatever is known of the engine. They are
 * of five engines that are not servers, whose logs tell terms and no sums: no rule of sources
 * can say how wide those are.
 */
#define INFER_P95 1.15

/* What most engines do; where they differ, what takes more. */
const struct size_engine engine_generic = {
	.id = "generic",
	.title = "formulas only",
	.source = "reference formulas, nothing fitted",
	.number = {
		[ENGINE_RESERVE] = 1.03, [ENGINE_CONTEXT] = 0.9, [ENGINE_COLLECTIVES] = 1.3,
		[ENGINE_GENERATED] = 512, [ENGINE_KV_COPIES] = 1, [ENGINE_PREFILL] = 0,
		[ENGINE_DEQUANTIZED] = 1, [ENGINE_LOSS_BYTES] = 10, [ENGINE_MASTER] = 1,
		[ENGINE_SEQUENCE_PARALLEL] = 2, [ENGINE_KEEP_GATHERED] = 1,
		[ENGINE_STEP_BYTES] = 4, [ENGINE_ADAPTER_BYTES] = 16, [ENGINE_UPCAST] = 1,
		[ENGINE_FP32_GRADIENTS] = 1, [ENGINE_RECOMPUTE] = 2, [ENGINE_ZERO] = 3,
		[ENGINE_GATHERED] = 2, [ENGINE_SHARE] = 1, [ENGINE_TRAINS] = 1,
	},
	.fit = {
		PLAIN_FIT(INFER_P95), PLAIN_FIT(UNKNOWN_TRAIN_P95),
		PLAIN_FIT(UNKNOWN_LORA_P95), PLAIN_FIT(UNKNOWN_QLORA_P95),
	},
};

/* The same of engines with a policy of their own that nobody has fitted. */
static const double unfitted_p95[ENGINE_TASKS] = {
	INFER_P95,
	UNFITTED_TRAIN_P95,
	UNFITTED_LORA_P95,
	UNFITTED_QLORA_P95,
};

static struct size_engine *engine_of(struct size_engine *engines, size_t n, const char *id,
				     size_t len)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strlen(engines[i].id) == len && !memcmp(engines[i].id, id, len))
			return &engines[i];
	return NULL;
}

/* "hf.infer": the task behind the last dot, or -1; @len is that of "hf". */
static int task_of(const char *section, size_t *len)
{
	const char *dot = strrchr(section, '.');
	int i;

	*len = strlen(section);
	for (i = 0; dot && i < ENGINE_TASKS; i++) {
		if (!strcmp(dot + 1, tasks[i])) {
			*len = (size_t)(dot - section);
			return i;
		}
	}
	return -1;
}

static int engine_open(struct size_engine **engines, size_t *n, unsigned int layer,
		       const char *section, struct fault *f)
{
	size_t len;
	int task = task_of(section, &len);
	struct size_engine *more = engine_of(*engines, *n, section, len);
	int i;

	if (more) {
		more->layer = layer;
		return 0;
	}
	if (task >= 0)
		return fault_set(f, EINVAL, "[%s] comes before the section of its engine", section);
	more = mem_push(*engines, *n, sizeof(*more));
	*engines = more;
	more += *n;
	*more = engine_generic;
	for (i = 0; i < ENGINE_NUMBERS; i++)
		more->number[i] = engine_numbers[i].fallback;
	for (i = 0; i < ENGINE_TASKS; i++)
		more->fit[i].p95 = unfitted_p95[i];
	more->id = strdup(section);
	more->title = NULL;
	more->source = NULL;
	more->layer = layer;
	if (!more->id)
		return fault_set(f, ENOMEM, "out of memory");
	(*n)++;
	return 0;
}

static int set_text(char **where, const char *value, struct fault *f)
{
	free(*where);
	*where = strdup(value);
	return *where ? 0 : fault_set(f, ENOMEM, "out of memory");
}

static int policy_key(struct size_engine *engine, const char *key, const char *value,
		      struct fault *f)
{
	const struct engine_number_type *type;
	int i;

	if (!strcmp(key, "title"))
		return set_text(&engine->title, value, f);
	if (!strcmp(key, "source"))
		return set_text(&engine->source, value, f);
	for (i = 0; i < ENGINE_NUMBERS; i++) {
		type = &engine_numbers[i];
		if (!strcmp(key, type->key))
			return conf_decimal(value, type->min, type->max, &engine->number[i], f);
	}
	return fault_set(f, EINVAL, "no such key: %s; see gpuctl-catalogue(5)", key);
}

static int fitted_key(struct engine_fit *fit, const char *key, const char *value, struct fault *f)
{
	unsigned long long n;
	double coef;
	int i, err;

	if (!strcmp(key, "p50"))
		return conf_decimal(value, 0.1, 10, &fit->p50, f);
	if (!strcmp(key, "p95"))
		return conf_decimal(value, 1, 10, &fit->p95, f);
	if (!strcmp(key, "rows") || !strcmp(key, "models") || !strcmp(key, "learned")) {
		err = conf_whole(value, 0, 1000000, &n, f);
		if (err)
			return err;
		*(*key == 'r' ? &fit->rows :
		  *key == 'm' ? &fit->models :
				&fit->learned) = (unsigned int)n;
		return 0;
	}
	for (i = 0; i < SIZE_PARTS; i++) {
		if (strcmp(key, engine_part_keys[i]))
			continue;
		err = conf_decimal(value, 0, 10, &coef, f);
		if (err)
			return err;
		fit->coef[i] = coef;
		fit->known |= 1u << i;
		return 0;
	}
	return fault_set(f, EINVAL, "no such key: %s; see gpuctl-catalogue(5)", key);
}

int engine_item(struct size_engine **engines, size_t *n, unsigned int layer,
		const struct conf_item *item, struct fault *f)
{
	struct size_engine *engine;
	size_t len;
	int task, err;

	if (!item->key)
		return engine_open(engines, n, layer, item->section, f);
	task = task_of(item->section, &len);
	engine = engine_of(*engines, *n, item->section, len);
	if (task >= 0)
		err = fitted_key(&engine->fit[task], item->key, item->value, f);
	else
		err = policy_key(engine, item->key, item->value, f);
	if (err)
		fault_prefix(f, "%s", item->key);
	return err;
}

/* In the order of enum speed_term. */
static const char *const speeds[ENGINE_SPEEDS] = {
	"matrices",  "attention", "power",  "again",  "memory",
	"optimizer", "weights",	  "tensor", "bubble",
};

int engine_speed_item(double coef[ENGINE_SPEEDS], const struct conf_item *item, struct fault *f)
{
	unsigned long long rows;
	int i;

	if (!item->key)
		return 0;
	if (!strcmp(item->key, "rows"))
		return conf_whole(item->value, 0, 1000000, &rows, f);
	for (i = 0; i < ENGINE_SPEEDS; i++)
		if (!strcmp(item->key, speeds[i]))
			return conf_decimal(item->value, 0.01, 100, &coef[i], f);
	return fault_set(f, EINVAL, "no such key: %s; see gpuctl-catalogue(5)", item->key);
}

int engine_complete(const struct size_engine *engine, struct fault *f)
{
	if (!engine->title)
		return fault_set(f, EINVAL, "[%s] needs the key title", engine->id);
	if (!engine->source)
		return fault_set(f, EINVAL, "[%s] needs the key source", engine->id);
	return 0;
}

void engine_free(struct size_engine *engines, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		free(engines[i].id);
		free(engines[i].title);
		free(engines[i].source);
	}
	free(engines);
}

int engine_find(const struct size_engine *engines, size_t n, const char *name,
		const struct size_engine **out, struct fault *f)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (!strcasecmp(engines[i].id, name)) {
			*out = &engines[i];
			return 0;
		}
	}
	if (!strcasecmp(name, engine_generic.id)) {
		*out = &engine_generic;
		return 0;
	}
	fault_set(f, ENOENT, "no engine is called \"%.40s\"; known are generic", name);
	for (i = 0; i < n; i++)
		fault_add(f, " %s", engines[i].id);
	return -ENOENT;
}
