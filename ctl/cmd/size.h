/* SPDX-License-Identifier: GPL-2.0-only */
/* What the verbs of gpuctl size share. */
#ifndef GPUCTL_CMD_SIZE_H
#define GPUCTL_CMD_SIZE_H

#include "catalogue/catalogue.h"
#include "cli/ctl.h"
#include "cmd/size_options.h"
#include "size/need.h"

/* What completes the operand MODEL. */
#define SIZE_MODELS "@models @hub @files"

/* --gpu, --all: which kinds of GPUs an answer is about */
extern const struct ctl_option size_kind_options[];

/* Is an answer about this kind? */
bool size_kind_asked(const struct ctl_ctx *ctx, const struct cat_gpu *gpu);

/* Does each --gpu name a kind? Returns enum ctl_exit. */
int size_check_kinds(struct ctl_ctx *ctx, const struct catalogue *cat);

/**
 * struct size_row - a kind of GPU and how many of it a workload needs
 * @gpu: the kind
 * @fit: the answer
 * @error: why there is none, "" otherwise
 */
struct size_row {
	const struct cat_gpu *gpu;
	struct size_fit fit;
	struct fault error;
};

/*
 * Kinds that are asked for, the best for the workload first; @rows has room for all of the catalogue.
 * Their number is returned.
 */
size_t size_rows(struct ctl_ctx *ctx, const struct catalogue *cat, const struct size_request *req,
		 struct size_row *rows);

/* Answers for a workload; @word: the operand before the model. Returns enum ctl_exit. */
typedef int (*size_verb_fn)(struct ctl_ctx *ctx, struct catalogue *cat,
			    const struct size_request *req, const char *word);

/*
 * How much of @word (batch, context or layers) the GPUs of --gpu KIND:COUNT hold. Returns enum
 * ctl_exit.
 */
int size_fit(struct ctl_ctx *ctx, const struct catalogue *cat, const struct size_request *req,
	     const char *word);

/* Reads the catalogue and the workload, and calls @verb. Returns enum ctl_exit. */
int size_verb_run(struct ctl_ctx *ctx, const char *word, const char *model,
		  enum size_reading reading, size_verb_fn verb);

#endif
