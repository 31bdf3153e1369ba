/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a workload needs by formula, part by part, before any profile's
 * coefficients. Pure arithmetic on a checked request.
 */
#ifndef GPUCTL_SIZE_PHYSICS_H
#define GPUCTL_SIZE_PHYSICS_H

#include "need.h"

/*
 * Moments of a step or a load, of which the largest decides: what one holds, the other does
 * not hold any more.
 */
enum size_moment {
	MOMENT_FIRST, /* the first stage of a pipeline, with all its micro-batches */
	MOMENT_LOSS, /* the loss, or a step of inference */
	MOMENT_LAYER, /* a layer is worked on again; frozen weights get their gradients */
	MOMENT_ALONE, /* the optimizer's step, or a tensor while loading: buffers alone */
	SIZE_MOMENTS
};

/**
 * struct size_physics - bytes of the fullest GPU of a layout
 * @part: enum size_part, at the largest moment; all but the framework are tensors
 * @always: of each part what is there at all moments
 * @moment: of each part what is there beside @always
 * @reserve: reserved over allocated memory
 */
struct size_physics {
	double part[SIZE_PARTS];
	double always[SIZE_PARTS];
	double moment[SIZE_MOMENTS][SIZE_PARTS];
	double reserve;
};

/**
 * struct size_estimate - the same with what the profile knows
 * @part: p50 of each part, in allocated bytes
 * @memory: enum size_memory: p50
 * @p95: enum size_memory
 */
struct size_estimate {
	double part[SIZE_PARTS];
	double memory[SIZE_MEMORIES];
	double p95[SIZE_MEMORIES];
};

void size_physics(const struct size_request *req, const struct size_layout *layout,
		  struct size_physics *out);

/*
 * Parts at the moment that is the largest when each part is multiplied by its coefficient,
 * before it is.
 */
void size_physics_peak(const struct size_physics *physics, const double coef[SIZE_PARTS],
		       double part[SIZE_PARTS]);

void size_estimate(const struct size_request *req, const struct size_layout *layout,
		   struct size_estimate *out);

/* The formula of a part with the workload's numbers, for a table. */
void size_part_formula(const struct size_request *req, const struct size_layout *layout,
		       enum size_part part, char *buf, size_t size);

/* Where the formula of a part is from. */
const char *size_part_source(const struct size_request *req, enum size_part part);

/* Widths of all queries, and of keys or values, as attention multiplies them. */
void size_widths(const struct cat_model *m, double *queries, double *keys);

/* Bytes of buffers of the engine and its libraries, whatever the size of the model. */
double size_own_buffers(const struct size_request *req);

/* What the loss takes of a token. */
double size_loss_bytes(const struct size_request *req);

/* Parameters that training changes: all, or adapters and what is trained whole. */
double size_trained(const struct size_request *req);

/* Bytes of states per trained parameter and optimizer. */
double size_optimizer_bytes(enum size_optimizer optimizer, bool pure16);
const char *size_optimizer_name(enum size_optimizer optimizer);
int size_optimizer_find(const char *name, enum size_optimizer *out, struct fault *f);

/* Sequences that the attention of one GPU has: its share, rounded up. */
uint64_t size_sequences(const struct size_request *req, const struct size_layout *layout);

/* Weights of one GPU that a token visits, over all that the GPU has. */
double size_visited(const struct size_request *req, const struct size_layout *layout);

/* What a policy says unless the request does. */
unsigned int size_zero_stage(const struct size_request *req, const struct size_layout *layout);

/* Frozen weights get gradients like those that are trained. */
bool size_frozen_gradients(const struct size_request *req, const struct size_layout *layout);
unsigned int size_recompute(const struct size_request *req);

#endif
