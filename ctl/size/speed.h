/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How fast: tokens a second of one GPU, as the sum of what a token costs.
 * Coefficients are data ([speed] in engines.d), written by `make fit`.
 */
#ifndef GPUCTL_SIZE_SPEED_H
#define GPUCTL_SIZE_SPEED_H

#include "need.h"

/* Seconds a token, at the nominal rate of what limits it. */
enum speed_term {
	SPEED_MATRICES, /* multiplications with weights */
	SPEED_ATTENTION, /* tokens with tokens */
	SPEED_POWER, /* multiplications at the watts that the board may draw */
	SPEED_AGAIN, /* the forward pass once more: full recomputation */
	SPEED_MEMORY, /* element by element: norms, activations, residuals */
	SPEED_OPTIMIZER, /* the step, over the tokens of a step */
	SPEED_WEIGHTS, /* gathering and reducing sharded weights */
	SPEED_TENSOR, /* exchange within layers, tensor parallel */
	SPEED_BUBBLE, /* an idle pipeline */
	SPEED_TERMS
};

_Static_assert(SPEED_TERMS == (int)ENGINE_SPEEDS, "[speed] has all terms");

/**
 * struct size_rate - how fast a layout is
 * @tokens_per_s: of one GPU; 0 if the product's speed is not known
 * @mfu: model FLOP over the peak, 0 to 1
 * @limit: what takes most of the time
 */
struct size_rate {
	double tokens_per_s;
	double mfu;
	enum speed_term limit;
};

/**
 * struct size_latency - times that no engine can go below on a layout
 * @ttft: seconds from a prompt to its first token, for one request alone; 0 if the product's
 *	speed is not known
 * @tpot: seconds between two tokens of a sequence, with the whole batch at its full context;
 *	0 likewise
 * @ttft_limit: what takes that time
 * @tpot_limit: likewise
 */
struct size_latency {
	double ttft;
	double tpot;
	enum speed_term ttft_limit;
	enum speed_term tpot_limit;
};

extern const char *const speed_term_names[SPEED_TERMS];
extern const char *const speed_term_keys[SPEED_TERMS];

/* Is @gpu fast enough known? False leaves @t alone. @global_batch 0: a micro-batch a replica. */
bool size_speed_terms(const struct size_request *req, const struct size_layout *layout,
		      const struct cat_gpu *gpu, double global_batch, double t[SPEED_TERMS]);

void size_rate_train(const struct size_request *req, const struct size_layout *layout,
		     const struct cat_gpu *gpu, const double coef[SPEED_TERMS], double global_batch,
		     struct size_rate *out);

/* Decoding: tokens of all sequences together, of one GPU of the layout. */
void size_rate_infer(const struct size_request *req, const struct size_layout *layout,
		     const struct cat_gpu *gpu, struct size_rate *out);

/*
 * Bounds from the roofline: each byte and each multiplication that cannot be left out, at the
 * product's nominal rates, and nothing else. Inference only.
 */
void size_latency(const struct size_request *req, const struct size_layout *layout,
		  const struct cat_gpu *gpu, struct size_latency *out);

/* FLOP of a token in training, without recomputation. */
double size_flop_per_token(const struct size_request *req);

#endif
