/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which limit made it so many GPUs of a size that a workload takes. Pure arithmetic.
 */
#ifndef GPUCTL_SIZE_LIMIT_H
#define GPUCTL_SIZE_LIMIT_H

#include "layouts.h"

/* What decided about the number of GPUs. */
enum size_limit {
	LIMIT_MEMORY, /* of one GPU: fewer would not hold it */
	LIMIT_HEADS, /* fewer would hold it, but cannot share every layer */
	LIMIT_POWER, /* fewer would do, but are no power of two: --round pow2 */
	LIMIT_DEGREES, /* --tp, --pp, --dp or --cp */
	LIMIT_COUNT, /* the count that was asked for */
	LIMIT_POOL, /* what is free */
	LIMIT_TENANT, /* what the tenant may have */
	SIZE_LIMITS
};

/**
 * struct size_choice - an arrangement on GPUs of one size
 * @fit: what is taken; @fit.gpus is 0 if nothing does
 * @limit: what decided, LIMIT_MEMORY to LIMIT_COUNT
 * @fewer: a smaller number that was passed over, 0 if there is none
 * @fewer_bytes: what each of those would hold
 */
struct size_choice {
	struct size_fit fit;
	enum size_limit limit;
	unsigned int fewer;
	uint64_t fewer_bytes;
};

/* "memory", "heads", "power-of-two", ... */
extern const char *const size_limit_names[SIZE_LIMITS];

/* What size_fit_bytes() answers for GPUs with @memory bytes, and why. */
void size_choose(const struct size_request *req, uint64_t memory, struct size_choice *out);

/* The same on exactly @gpus of them. */
void size_choose_exact(const struct size_request *req, uint64_t memory, unsigned int gpus,
		       struct size_choice *out);

enum size_most_of {
	MOST_BATCH, /* sequences at a time */
	MOST_CONTEXT, /* tokens of each */
	MOST_LAYERS, /* blocks; the others stay in the host's memory */
};

/*
 * The largest batch or context, or most layers, that exactly @gpus GPUs with @memory bytes
 * hold, 0: none. A context is no longer than the model was made for, where that is known. The
 * request has a model. @at: the layout.
 */
uint64_t size_most(const struct size_request *req, uint64_t memory, unsigned int gpus,
		   enum size_most_of what, struct size_choice *at);

/* "tensor parallel 4, 68.0 GiB of 79.6 GiB a GPU at P95" */
void size_choice_say(struct text *text, const struct size_request *req,
		     const struct size_choice *choice);

/* "memory: 2 GPUs would have to hold 118.9 GiB each" */
void size_limit_say(struct text *text, const struct size_request *req,
		    const struct size_choice *choice);

#endif
