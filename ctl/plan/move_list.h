/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Moves by name, as they are printed, stored, and made on whatever host they are for: they
 * outlive the instance that they were made from. Pure; gpuctl-plan(5) has the format.
 */
#ifndef GPUCTL_PLAN_MOVE_LIST_H
#define GPUCTL_PLAN_MOVE_LIST_H

#include "plan/moves.h"

#define MOVE_POOLS 4
#define MOVE_STEPS_MAX 10000

/**
 * struct move_gpus - GPUs of one kind behind one switch
 * @sw: name of the switch
 * @kind: of the GPUs
 * @gpus: how many
 */
struct move_gpus {
	char *sw, *kind;
	uint32_t gpus;
};

/**
 * struct move_has - what a workload has
 * @of: by switch and kind
 * @n: entries
 */
struct move_has {
	struct move_gpus of[MOVE_POOLS];
	size_t n;
};

/**
 * struct move - a step: one change of one workload, all or nothing
 * @host: that it is made on
 * @workload: its name, and that of its composition
 * @tenant: that it counts for, or NULL
 * @action: what is done
 * @from: what it has before
 * @to: and afterwards
 * @why: in words
 */
struct move {
	char *host, *workload, *tenant;
	enum plan_action action;
	struct move_has from, to;
	char *why;
};

struct move_list {
	struct move *items;
	size_t n;
};

/* With the names of the instance. */
void move_list_make(struct move_list *list, const struct plan_instance *in,
		    const struct plan_moves *moves);
/* What `gpuctl plan step -j` printed. 0 or -EINVAL; free in either case. */
int move_list_read(struct move_list *list, const char *file, const char *text, size_t len,
		   struct fault *fault);
void move_list_free(struct move_list *list);

void move_has_free(struct move_has *has);
/* One more of a pool; false when there would be too many pools. */
bool move_has_add(struct move_has *has, const char *sw, const char *kind, uint32_t gpus);
uint32_t move_has_of(const struct move_has *has, const char *sw, const char *kind);
bool move_has_same(const struct move_has *a, const struct move_has *b);
/* "2 h100 behind sw0, 1 h100 behind sw1", or "nothing"; newly allocated. */
char *move_has_text(const struct move_has *has);

/* Where a workload is on its way. */
enum move_place {
	MOVE_TO_DO, /* this step is the next of its workload */
	MOVE_DONE, /* it was made before */
	MOVE_ASTRAY, /* it has what no step of it leads to or from */
};

/* Of step @i, by what its workload has now: a list that was begun before is gone on with. */
enum move_place move_place(const struct move_list *list, size_t i, const struct move_has *now);

#endif /* GPUCTL_PLAN_MOVE_LIST_H */
