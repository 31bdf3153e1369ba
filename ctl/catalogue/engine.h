/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Engines: how a program runs a model, as far as memory can tell. A profile is
 * data (ctl/size/engines, /etc/gpuctl/engines.d): its policy is written by
 * hand from the engine's documentation, its coefficients by `make fit`.
 */
#ifndef GPUCTL_SIZE_ENGINE_H
#define GPUCTL_SIZE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/conf.h"
#include "base/fault.h"

/* What takes memory, in the order of tables. */
enum size_part {
	PART_WEIGHTS,
	PART_GRADIENTS,
	PART_OPTIMIZER,
	PART_ACTIVATIONS,
	PART_LOGITS,
	PART_KV,
	PART_BUFFERS,
	PART_FRAMEWORK,
	SIZE_PARTS
};

/* Which memory is meant. Each includes the one before. */
enum size_memory {
	MEMORY_ALLOCATED, /* tensors: torch.cuda.max_memory_allocated() */
	MEMORY_RESERVED, /* with what the allocator keeps: max_memory_reserved() */
	MEMORY_DEVICE, /* with context and libraries: what nvidia-smi shows */
	SIZE_MEMORIES
};

/* As enum size_task; need.h asserts that they agree. */
#define ENGINE_TASKS 4

/* The numbers of a policy; keys, ranges and defaults: engine_numbers[]. */
enum engine_number {
	ENGINE_RESERVE, /* reserved over allocated memory */
	ENGINE_CONTEXT, /* GiB of context and libraries */
	ENGINE_COLLECTIVES, /* GiB more with several GPUs */
	ENGINE_CONSTANT, /* GiB of buffers of the engine's own */
	ENGINE_WORKSPACE, /* GiB beside a stream of matrix products; a part on older GPUs */
	ENGINE_EXPERT_STREAMS, /* streams that multiply experts at a time */
	ENGINE_GENERATED, /* tokens generated when the workload does not say */
	ENGINE_KV_COPIES, /* times that the cache is held */
	ENGINE_PREFILL, /* tokens prefilled at a time, 0: the whole prompt */
	ENGINE_PREFILL_LARGE, /* the same on a GPU of ENGINE_LARGE_GIB; 0: no other */
	ENGINE_SAMPLER_BYTES, /* per prepared sequence and vocabulary entry, 0: not prepared */
	ENGINE_SEQUENCES, /* sequences that are prepared for when the workload does not say */
	ENGINE_SEQUENCES_LARGE, /* the same on a GPU of ENGINE_LARGE_GIB; 0: no other */
	ENGINE_LARGE_GIB, /* a GPU with so much memory is large */
	ENGINE_COMPUTE_BUFFER, /* one planned buffer of 32-bit numbers has a step's tensors */
	ENGINE_HOST_EMBEDDING, /* the input table is read in the host's memory */
	ENGINE_HEAD_QUANTIZED, /* is the output matrix quantized with the rest? */
	ENGINE_DEQUANTIZED, /* 16-bit copies of the largest quantized matrix */
	ENGINE_EVEN_SPLIT, /* several GPUs share all layers evenly */
	ENGINE_LOSS_BYTES, /* per token and vocabulary entry in training */
	ENGINE_MASTER, /* mixed precision keeps 16-bit weights and an fp32 copy */
	ENGINE_PURE16, /* training keeps weights and states in 16 bits alone */
	ENGINE_FP32_GRADIENTS, /* 1: gradients are accumulated in fp32 as well; 2: in fp32 alone */
	ENGINE_STEP_BYTES, /* temporary bytes per trained parameter in the step */
	ENGINE_ADAPTER_BYTES, /* per adapter parameter: weight, gradient and Adam */
	ENGINE_UPCAST, /* quantized training keeps the rest in fp32 */
	ENGINE_SEQUENCE_PARALLEL, /* tensor parallel divides all activations */
	ENGINE_RECOMPUTE, /* default: 0 none, 1 selective, 2 full, 3 full with checkpoints on the host */
	ENGINE_ZERO, /* default ZeRO stage with several GPUs */
	ENGINE_GATHERED, /* blocks gathered at a time under ZeRO-3 */
	ENGINE_BUCKETS, /* elements in buckets of 16-bit gradients */
	ENGINE_LOAD_COPIES, /* whole copies of the weights while loading, sharded */
	ENGINE_KEEP_GATHERED, /* a pipeline keeps its stage gathered */
	ENGINE_IN_FLIGHT, /* micro-batches that the first stage holds beyond one for each stage */
	ENGINE_UNTIED_LOAD, /* a tied output matrix is made before it is tied */
	ENGINE_QUANTIZED_INPUTS, /* frozen quantized matrices keep their inputs all the same */
	ENGINE_DOUBLE_QUANTIZED, /* NF4 has its scales quantized, whatever the format is called */
	ENGINE_FROZEN_GRADIENTS, /* sharded frozen weights get gradients, which are whole */
	ENGINE_SHARE, /* part of the device's memory that the engine takes at most */
	ENGINE_TRAINS, /* 0: it serves models only */
	ENGINE_NUMBERS
};

struct engine_number_type {
	const char *key;
	double min;
	double max;
	double fallback;
	const char *text;
};

extern const struct engine_number_type engine_numbers[ENGINE_NUMBERS];

/**
 * struct engine_fit - what `make fit` learned of an engine for a task
 * @coef: multiplies the formula of each part; 1 is the physics
 * @known: bit mask of the parts that measured rows could tell apart
 * @rows: how many rows; 0: not calibrated
 * @models: of how many models
 * @learned: own logs that @p50 was learned from (gpuctl size learn)
 * @p50: multiplies the sum; 1 until something was learned
 * @p95: over p50, from held-out residuals
 */
struct engine_fit {
	double coef[SIZE_PARTS];
	uint32_t known;
	unsigned int rows;
	unsigned int models;
	unsigned int learned;
	double p50;
	double p95;
};

/**
 * struct size_engine - a profile
 * @id: what users type after --engine
 * @title: full name
 * @source: where the policy was read
 * @number: enum engine_number
 * @fit: by task
 * @layer: directory that described it last, for overrides
 */
struct size_engine {
	char *id;
	char *title;
	char *source;
	double number[ENGINE_NUMBERS];
	struct engine_fit fit[ENGINE_TASKS];
	unsigned int layer;
};

/* Coefficients of [speed]; the words are those of speed.h. */
#define ENGINE_SPEEDS 9

/* Takes one item of the section [speed]. */
int engine_speed_item(double coef[ENGINE_SPEEDS], const struct conf_item *item, struct fault *f);

/* Takes one item of a file; @layer counts directories, a later one overrides. */
int engine_item(struct size_engine **engines, size_t *n, unsigned int layer,
		const struct conf_item *item, struct fault *f);

/* Has every engine its title? */
int engine_complete(const struct size_engine *engine, struct fault *f);

void engine_free(struct size_engine *engines, size_t n);

/* -ENOENT with the known names in the text. */
int engine_find(const struct size_engine *engines, size_t n, const char *name,
		const struct size_engine **out, struct fault *f);

/* Formulas alone, for an engine that nothing is known of; wide interval. */
extern const struct size_engine engine_generic;

extern const char *const engine_part_names[SIZE_PARTS];
extern const char *const engine_part_keys[SIZE_PARTS];
extern const char *const engine_memory_names[SIZE_MEMORIES];

#endif
