/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a workload to memory and GPUs. This is what `size` prints and what
 * compose asks before it chooses slots.
 *
 * Units: memory is in bytes, counts are plain numbers, lengths are in tokens.
 * Ownership: a request borrows the model, precisions and method it points to;
 * results are plain values and own nothing. Nothing here does I/O.
 *
 *	struct size_request req;
 *	size_request_init(&req);
 *	req.model = model;			(from cat_model_find())
 *	err = size_request_check(&req, &f);
 *	err = size_fit_gpu(&req, gpu, &fit, &f);	fit.gpus of this kind
 */
#ifndef GPUCTL_SIZE_NEED_H
#define GPUCTL_SIZE_NEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalogue/engine.h"
#include "catalogue/gpu.h"
#include "catalogue/model.h"
#include "params.h"
#include "weights.h"

/* No answer is larger; what needs more is said not to fit. */
#define SIZE_GPUS_MAX 4096

/* Longer and wider workloads are mistakes. */
#define SIZE_CONTEXT_MAX (1ull << 27)
#define SIZE_BATCH_MAX (1ull << 20)

enum size_task {
	SIZE_INFER,
	SIZE_TRAIN, /* all parameters, AdamW */
	SIZE_LORA, /* adapters on frozen weights */
	SIZE_QLORA, /* adapters on frozen 4-bit weights */
	SIZE_TASKS
};

_Static_assert(SIZE_TASKS == (int)ENGINE_TASKS, "profiles know all tasks");

enum size_optimizer {
	OPTIMIZER_ADAMW,
	OPTIMIZER_ADAMW_8BIT,
	OPTIMIZER_ADAFACTOR,
	OPTIMIZER_SGD,
	OPTIMIZER_LION,
	OPTIMIZER_MUON,
	SIZE_OPTIMIZERS
};

/* How the loss treats the scores of tokens; SIZE_UNSET: as the engine does. */
enum size_loss {
	LOSS_EAGER, /* all scores, in fp32 as well, and their gradients */
	LOSS_CHUNKED, /* all scores in 16 bits, the rest chunk by chunk */
	LOSS_FUSED, /* with the output matrix, chunk by chunk: Liger, cut cross entropy */
	SIZE_LOSSES
};

/* What LoRA adapts; bits. */
enum size_target {
	TARGET_QUERY = 1,
	TARGET_KEY = 2,
	TARGET_VALUE = 4,
	TARGET_OUTPUT = 8,
	TARGET_MLP = 16,
	TARGET_EMBEDDING = 32, /* trained whole */
	TARGET_HEAD = 64, /* trained whole */
};

#define TARGET_LINEAR 31u

/* How much wider an interval is when a shape or a format is a guess. */
#define SIZE_DOUBT 1.3

/* The same of the width of experts, which are most of a model. */
#define SIZE_DOUBT_EXPERTS 2.5

/* Options that a profile decides unless the workload says. */
#define SIZE_UNSET (-1)

/* Numbers of GPUs that are answered. */
enum size_round {
	SIZE_ROUND_NONE, /* any */
	SIZE_ROUND_POW2, /* powers of two */
};

struct size_method;

/**
 * struct size_request - a workload
 * @model: its model, or NULL if only @given_params is known
 * @given_params: parameters, used without @model
 * @task: what is done with it
 * @precision: of the weights; NULL: bf16
 * @kv: of the KV cache; NULL: 16 bits, 32 with fp32 weights
 * @context: tokens of a sequence; 0: 8,192 for inference, else 4,096, but no more than the
 *	model was made for
 * @batch: inference: sequences at a time on all GPUs together; training:
 *	sequences of a micro-batch on each GPU
 * @rank: of the LoRA adapters
 * @method: how memory is computed; NULL: by formula
 * @states: of training: 1 with weights and states in 16 bits alone, 0 in mixed precision
 * @pure16: filled by size_request_check(): from @states, or the engine's way
 * @recompute: 0 none, 1 selective, 2 full, 3 full with checkpoints in the host's memory
 * @flat: training: replicas share flat parameters of whole blocks (FSDP 1)
 * @loss: enum size_loss
 * @sequence_parallel: GPUs that share tensors share what is between them as well
 * @etp: training: GPUs that share the matrices of an expert; 0: as many as share the others
 * @virtual_stages: training: groups of layers of each GPU of a pipeline, that take turns
 *	(interleaved schedule); 0 as 1
 * @tokens: fleet-training: tokens to train on, each epoch
 * @epochs: fleet-training
 * @hours: fleet-training: time that it may take
 * @mfu: fleet-training: part of the peak that is reached, 0 to 1
 * @output_tokens: fleet-inference: tokens of an answer
 * @throughput: fleet-inference: tokens a second of one GPU
 * @qpm: fleet-inference: queries a minute
 * @sequences: inference: those that the engine prepares for (vLLM's max_num_seqs); 0: its own
 * @chunk: tokens prefilled at a time (llama.cpp's ubatch); 0: the engine's own
 * @host_layers: inference: blocks that stay in the host's memory with their cache, and with
 *	them the output matrix (llama.cpp's --n-gpu-layers); 0: none
 * @device: bytes of a GPU's memory, by which some engines choose both; 0: not known
 * @capability: CUDA compute capability of the GPUs, by which libraries choose the size of
 *	their workspaces; 0: not known
 * @table_bytes: of @exact_bytes, the input table; 0: not known
 * @doubt: by what P95 is multiplied: the file was not fully understood; 0 as 1
 * @params: filled by size_request_check()
 */
struct size_request {
	const struct cat_model *model;
	uint64_t given_params;
	enum size_task task;
	const struct size_precision *precision;
	const struct size_precision *kv;
	uint64_t context;
	uint64_t batch;
	unsigned int rank;
	const struct size_method *method;
	uint64_t tokens;
	double epochs;
	double hours;
	double mfu;
	uint64_t output_tokens;
	double throughput;
	double qpm;
	const struct size_engine *engine;
	const struct size_precision *compute;
	int states;
	bool pure16;
	uint64_t micro_batch;
	uint64_t generated;
	enum size_optimizer optimizer;
	unsigned int targets;
	int recompute;
	int zero;
	bool flat;
	int flash;
	int compile;
	int loss;
	int sequence_parallel;
	bool offload;
	unsigned int tp;
	unsigned int pp;
	unsigned int dp;
	unsigned int cp;
	unsigned int ep;
	unsigned int etp;
	unsigned int virtual_stages;
	enum size_round round;
	uint64_t exact_bytes;
	uint64_t table_bytes;
	uint64_t sequences;
	uint64_t chunk;
	uint64_t device;
	double capability;
	uint64_t host_layers;
	double doubt;
	struct model_params params;
};

#define SIZE_TERMS_MAX 12
#define SIZE_FORMULA_MAX 192

/**
 * struct size_term - one thing that takes memory
 * @name: short, for a table
 * @bytes: how much
 * @part: enum size_part, or SIZE_PARTS
 * @calibrated: the engine's profile knows it from measured rows
 * @formula: where the number comes from; "" for more than one GPU
 */
struct size_term {
	const char *name;
	uint64_t bytes;
	int part;
	bool calibrated;
	char formula[SIZE_FORMULA_MAX];
};

/**
 * struct size_terms - all that one GPU holds
 * @term: @n of them
 * @total: their sum
 * @p95: what is not exceeded in 95 of 100 cases; 0: the method does not say
 * @memory: enum size_memory, each p50 and p95; 0: the method does not say
 */
struct size_terms {
	struct size_term term[SIZE_TERMS_MAX];
	size_t n;
	uint64_t total;
	uint64_t p95;
	uint64_t memory[SIZE_MEMORIES][2];
};

/**
 * struct size_layout - how a workload is spread over GPUs
 * @gpus: all of them
 * @tp: tensor parallel: GPUs that share every layer
 * @pp: pipeline parallel: groups of layers; for inference @gpus is @tp * @pp * @adp
 * @cp: context parallel: GPUs that share a sequence; 0 as 1
 * @adp: data-parallel attention, of a mixture of experts in inference: groups of @tp GPUs
 *	that each have the whole attention and a share of the sequences, while all of them
 *	share the experts; 0 as 1
 *
 * Without tensor and pipeline parallelism (@tp and @pp are 1) the states are
 * sharded over @gpus as ZeRO-3 and FSDP do.
 */
struct size_layout {
	unsigned int gpus;
	unsigned int tp;
	unsigned int pp;
	unsigned int cp;
	unsigned int adp;
};

/**
 * struct size_fit - how many GPUs of one kind
 * @layout: the first that fits, of one replica of inference
 * @replicas: data parallel
 * @gpus: all of them; 0 if none fits
 * @per_gpu: bytes that the fullest GPU holds; 0 if the method does not say
 * @usable: bytes that such a GPU has
 * @trust: how well @usable is known
 * @why: reason if none fits, else NULL
 */
struct size_fit {
	struct size_layout layout;
	unsigned int replicas;
	unsigned int gpus;
	uint64_t per_gpu;
	uint64_t usable;
	enum gpu_trust trust;
	const char *why;
};

/* Defaults: inference, one sequence, rank 16, MFU 0.4, one epoch. */
void size_request_init(struct size_request *req);

/* The same workload on GPUs with @memory bytes, by which some engines prepare themselves. */
struct size_request size_request_on(const struct size_request *req, uint64_t memory);

/* The same workload on a product of the catalogue. */
struct size_request size_request_for(const struct size_request *req, const struct cat_gpu *gpu);

/* Fills the defaults that depend on others; -EINVAL says what is missing. */
int size_request_check(struct size_request *req, struct fault *f);

/* What one GPU holds with everything on it, however large it would have to be. */
void size_need(const struct size_request *req, struct size_terms *terms);

/* What each GPU of a layout holds. */
void size_need_each(const struct size_request *req, const struct size_layout *layout,
		    struct size_terms *terms);

/*
 * What the fullest GPU of a layout holds, at P95 where the method has one. The method must
 * have terms.
 */
uint64_t size_layout_bytes(const struct size_request *req, const struct size_layout *layout);

/* Fills @replicas and @gpus of @fit from its layout. */
void size_fit_count(const struct size_request *req, struct size_fit *fit);

/* What a workload may take of a GPU with @memory bytes: engines leave a part free. */
uint64_t size_usable_bytes(const struct size_request *req, uint64_t memory);

/*
 * How many GPUs with @memory bytes: the first layout of layouts.h that has room.
 * @fit says so if none fits; that is no error.
 */
void size_fit_bytes(const struct size_request *req, uint64_t memory, struct size_fit *fit);

/*
 * The same for a product of the catalogue, from its usable memory. -ENODATA
 * if that is not known, or its speed where the method needs that.
 */
int size_fit_gpu(const struct size_request *req, const struct cat_gpu *gpu, struct size_fit *fit,
		 struct fault *f);

/* How many GPUs of @usable bytes hold @bytes, for `--memory 160G`; 0: none. */
unsigned int size_fit_memory(uint64_t bytes, uint64_t usable);

/* "infer", "train", ...; -ENOENT with the known names in the text. */
const char *size_task_name(enum size_task task);
int size_task_find(const char *name, enum size_task *task, struct fault *f);

#endif
