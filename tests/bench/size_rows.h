/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Published measurements as workloads: a row of measured.csv becomes the
 * request that a user would have made. What was measured is kept apart.
 */
#ifndef TESTS_BENCH_SIZE_ROWS_H
#define TESTS_BENCH_SIZE_ROWS_H

#include "catalogue/catalogue.h"
#include "size/need.h"

/* Parts of a row of terms.csv, as the engine's own log tells them. */
enum size_told {
	TOLD_WEIGHTS,
	TOLD_KV,
	TOLD_ACTIVATIONS,	/* or compute buffer */
	TOLD_STATES,		/* weights, gradients and optimizer after a step */
	TOLD_TOTAL,
	TOLD_TERMS
};

/**
 * struct size_row - one measurement
 * @id: for messages
 * @source: file or thread that it is from; what is held out together
 * @shape: of the model, as the row says: dense, moe, mla, hybrid, swa, vl
 * @model_name: groups rows; what is held out together
 * @engine_name: as the row says; @engine: its profile, where the row's flags change it
 * @skip: why it cannot be scored, or NULL
 * @req: the workload, checked; @layout how it was spread
 * @gpu_bytes: memory of the GPU, 0 if the row does not say
 * @oom: it ran out of memory
 * @measured: bytes a GPU, 0 if not published
 * @kind: which memory that is
 * @tokens_per_s: of a GPU, 0 if not published; @mfu in percent, @tflops
 * @profiled: its engine has a profile; @usable: @req can be estimated
 * @gpu_name: as the row says; @global_batch, @gpu_hours, @tokens_trained
 * @told: enum size_told: bytes, 0 if the row does not say
 * @kv_tokens: that @told's cache is for; @whole: all layers are on GPUs,
 *	else @layers_here of them;
 *	@replicas_told: the row has the number of replicas
 * @context_told: it has the length of its sequences, or the engine's default was taken
 * @layout_told: it has the number of GPUs, and of several how they share the model
 */
struct size_row {
	char id[16];
	char source[160];
	char shape[16];
	char model_name[64];
	char engine_name[48];
	char skip[128];
	struct cat_model model;
	struct size_engine engine;
	struct size_request req;
	struct size_layout layout;
	double gpu_bytes;
	bool oom;
	double measured;
	enum size_memory kind;
	double tokens_per_s;
	double mfu;
	double tflops;
	double gpu_hours;
	double tokens_trained;
	double global_batch;
	char gpu_name[48];
	double told[TOLD_TERMS];
	double kv_tokens;
	bool whole;
	unsigned long layers_here;
	bool replicas_told;
	bool context_told;
	bool layout_told;
	bool profiled;
	bool usable;
};

/* Reads all rows; requests point into @rows and @cat. NULL after a message. */
struct size_row *size_rows_read(const char *path, const struct catalogue *cat, size_t *n);

#endif
