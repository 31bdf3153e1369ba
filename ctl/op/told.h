/* SPDX-License-Identifier: GPL-2.0-only */
/* What the workload of a composition is told of GPUs that go and come: the hook resize. */
#ifndef GPUCTL_OP_TOLD_H
#define GPUCTL_OP_TOLD_H

#include "op/hooks.h"

/**
 * struct told - GPUs of a composition that are about to go, or to come
 * @hooks: who tells the workload; none on most hosts
 * @about: the slots
 */
struct told {
	struct hooks hooks;
	struct hook_slots about;
};

/* Find the hooks; @composition: whose GPUs these are. told_free() in any case. */
int told_init(struct session *session, struct told *told, const char *reason,
	      const char *composition, struct gf_slot *const *slots, size_t n);
void told_free(struct told *told);

/* How many milliseconds the hooks may take, and holders after them; 0 without hooks. */
uint64_t told_budget(const struct told *told);

/* Before the GPUs go. Whatever the hooks say: who holds a GPU decides. */
void told_shrink(struct session *session, struct told *told);
/* They stay after all: all of them, those who were told hear of it. */
void told_stay(struct session *session, struct told *told);

/*
 * The operation has ended, and the snapshot is up to date: tell of those GPUs that are attached, in
 * the composition, although they were to go; or of those that came.
 */
void told_finish(struct session *session, struct told *gone, struct told *come);

/* For -n: which hooks would run. */
void told_render(struct ctl_ctx *ctx, const struct told *told);

#endif /* GPUCTL_OP_TOLD_H */
