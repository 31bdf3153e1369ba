/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From memory to machines: every sensible arrangement of GPUs that holds a
 * workload, with how long it takes and what that costs. Pure arithmetic.
 */
#ifndef GPUCTL_SIZE_MACHINES_H
#define GPUCTL_SIZE_MACHINES_H

#include "speed.h"

enum machine_goal {
	GOAL_COUNT,
	GOAL_COST,
	GOAL_TIME,
	GOAL_ENERGY,
	MACHINE_GOALS
};

/**
 * struct machine_wish - what is asked beside the workload
 * @tokens: to train on, all epochs; 0: not said
 * @seconds: deadline; 0: none
 * @answers: tokens of answers a second; 0: not said
 * @ttft: seconds to the first token at most; 0: not said
 * @tpot: seconds between two tokens at most; 0: not said
 * @gpus_max: arrangements with more are left out
 * @pue: watts of the house over watts of the GPUs
 * @carbon: g CO2 of a kWh
 * @price: of a GPU-hour by index of the kind, negative if not known; or NULL
 * @speed: coefficients of the catalogue
 */
struct machine_wish {
	double tokens;
	double seconds;
	double answers;
	double ttft;
	double tpot;
	unsigned int gpus_max;
	double pue;
	double carbon;
	const double *price;
	const double *speed;
};

/**
 * struct machine - one arrangement
 * @kind: index of the product
 * @layout: @layout.gpus of one replica for inference, of all for training
 * @dp: replicas
 * @gpus: of all replicas
 * @p50: bytes of the fullest GPU; @p95 likewise
 * @usable: bytes that it has
 * @later: of several with the same number of GPUs those behind; 2 and more: of all
 * @rate: of one GPU
 * @latency: bounds of inference
 * @hours: of the work; 0 if not known, as the others
 * @cost: in the unit of the prices
 * @kwh: with cooling
 * @co2_kg: of that energy
 */
struct machine {
	size_t kind;
	struct size_layout layout;
	unsigned int dp;
	unsigned int gpus;
	double p50;
	double p95;
	uint64_t usable;
	unsigned int later;
	struct size_rate rate;
	struct size_latency latency;
	double hours;
	double cost;
	double kwh;
	double co2_kg;
};

/*
 * For each tensor parallel degree and width of the attention (in training: for each tensor
 * parallel degree and number of stages) the smallest arrangement that does it, at most @max of
 * them; returns how many. The memory of @gpu must be known.
 */
size_t machines_find(const struct size_request *req, const struct cat_gpu *gpu, size_t kind,
		     const struct machine_wish *wish, struct machine *out, size_t max);

/* The best first; what has no figure for the goal comes last. */
void machines_sort(struct machine *machines, size_t n, enum machine_goal goal);

/* -ENOENT with the known words. */
int machine_goal_find(const char *word, enum machine_goal *goal, struct fault *f);

#endif
