/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many GPUs of a size a composition takes for a workload, and which limit made it
 * that many. Pure arithmetic.
 */
#ifndef GPUCTL_SIZE_LIMIT_H
#define GPUCTL_SIZE_LIMIT_H

#include "lib/text.h"
#include "need.h"

/* What decided about the number of GPUs. */
enum size_limit {
	LIMIT_MEMORY,	/* of one GPU: fewer would not hold it */
	LIMIT_HEADS,	/* fewer would hold it, but cannot share every layer */
	LIMIT_POWER,	/* fewer would do, but are no power of two */
	LIMIT_DEGREES,	/* --tp, --pp, --dp or --cp */
	LIMIT_COUNT,	/* the count that was asked for */
	LIMIT_POOL,	/* what is free */
	LIMIT_TENANT,	/* what the tenant may have */
	SIZE_LIMITS
};

/**
 * struct size_choice - an arrangement on GPUs of one size
 * @layout: of one replica for inference, of all for training
 * @replicas: data parallel
 * @gpus: all of them; 0: none does
 * @per_gpu: bytes of the fullest GPU, at P95 where the method has one
 * @usable: bytes that it has
 * @limit: what decided, LIMIT_MEMORY to LIMIT_COUNT
 * @fewer: a smaller number that was passed over, 0 if there is none
 * @fewer_bytes: what each of those would hold
 */
struct size_choice {
	struct size_layout layout;
	unsigned int replicas;
	unsigned int gpus;
	uint64_t per_gpu;
	uint64_t usable;
	enum size_limit limit;
	unsigned int fewer;
	uint64_t fewer_bytes;
};

/* "memory", "heads", "power-of-two", ... */
extern const char *const size_limit_names[SIZE_LIMITS];

/*
 * The fewest GPUs with @memory bytes that hold the workload, a power of two whose tensor
 * parallel degree divides heads and MLP; other numbers only where degrees were asked for.
 */
void size_choose(const struct size_request *req, uint64_t memory, struct size_choice *out);

/* The same on exactly @gpus of them. */
void size_choose_exact(const struct size_request *req, uint64_t memory, unsigned int gpus,
		       struct size_choice *out);

/* "tensor parallel 4: 68.0 GiB of 79.6 GiB a GPU at P95" */
void size_choice_say(struct text *text, const struct size_request *req,
		     const struct size_choice *choice);

/* "memory: 2 GPUs would have to hold 118.9 GiB each" */
void size_limit_say(struct text *text, const struct size_request *req,
		    const struct size_choice *choice);

/* What of the model @tp GPUs cannot share, such as "64 heads"; NULL if they can. */
const char *size_undivided(const struct cat_model *model, unsigned int tp, uint64_t *count);

#endif
