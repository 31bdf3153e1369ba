/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a step of inference needs beside weights and cache: tensors that come and
 * go. Bytes of one GPU of a layout, before any profile's coefficients.
 */
#ifndef GPUCTL_SIZE_STEP_H
#define GPUCTL_SIZE_STEP_H

#include "need.h"

/* Tokens of a sequence's prompt: its context without the answer. */
double size_prompt(const struct size_request *req);

/* Tokens of prompts that are worked on at a time. */
double size_chunk(const struct size_request *req, const struct size_layout *layout);

/* Sequences that the engine prepares its sampler for. */
double size_prepared(const struct size_request *req);

/* @logits: what the last tokens' scores take on their own, 0 where @activations has them. */
void size_step(const struct size_request *req, const struct size_layout *layout,
	       double *activations, double *logits);

/* The formula of @activations with the workload's numbers, for a table. */
void size_step_formula(const struct size_request *req, const struct size_layout *layout, char *buf,
		       size_t size);

#endif
