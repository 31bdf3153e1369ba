/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The layouts of a workload: the one search behind `size`, `size machines` and compose.
 * Pure arithmetic.
 *
 *	layouts_start(&layouts, &req, 1, SIZE_GPUS_MAX);
 *	while (layouts_next(&layouts, &layout))
 *		...
 *	layouts_end(&layouts);
 */
#ifndef GPUCTL_SIZE_LAYOUTS_H
#define GPUCTL_SIZE_LAYOUTS_H

#include "base/text.h"
#include "need.h"

/**
 * struct layout_split - degrees that go together; the number of GPUs decides the one left open
 * @tp: tensor parallel; 0: as many as there are GPUs
 * @pp: stages; 0: as many as there are GPUs for
 * @adp: of struct size_layout
 * @width: GPUs that the fixed degrees take
 * @least: of the open degree (@tp, @pp or replicas); @most likewise
 */
struct layout_split {
	unsigned int tp;
	unsigned int pp;
	unsigned int adp;
	unsigned int width;
	unsigned int least;
	unsigned int most;
};

/**
 * struct layouts - a walk over layouts
 * @req: whose
 * @gpus: the number of GPUs that is looked at
 * @max: the last one
 * @at: the next split to look at
 * @n: splits, in the order of preference
 * @split: all of them
 */
struct layouts {
	const struct size_request *req;
	unsigned int gpus;
	unsigned int max;
	size_t at;
	size_t n;
	struct layout_split *split;
};

/*
 * All layouts that the request allows on @from to @to GPUs, the fewest first. A layout of
 * inference is one replica, one of training is all of them.
 */
void layouts_start(struct layouts *layouts, const struct size_request *req, unsigned int from,
		   unsigned int to);
bool layouts_next(struct layouts *layouts, struct size_layout *out);

/* No more layouts that differ from the last one in the open degree alone. */
void layouts_leave(struct layouts *layouts);

/* Leaves out splits that cannot hold the workload, however many GPUs they take. */
void layouts_leave_hopeless(struct layouts *layouts, uint64_t usable);
void layouts_end(struct layouts *layouts);

/* The first layout on @from to @to GPUs whose fullest GPU needs at most @usable bytes. */
bool layouts_first(const struct size_request *req, uint64_t usable, unsigned int from,
		   unsigned int to, struct size_layout *out, uint64_t *bytes);

/* Can @tp GPUs share every layer of the model? */
bool size_tp_divides(const struct cat_model *model, unsigned int tp);

/* What of the model @tp GPUs cannot share, such as "64 heads"; NULL if they can. */
const char *size_undivided(const struct cat_model *model, unsigned int tp, uint64_t *count);

/* Appends "tensor parallel 4, 2 stages", after a comma; nothing for one GPU. */
void size_layout_say(struct text *text, const struct size_layout *layout);

#endif
