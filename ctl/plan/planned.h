/* SPDX-License-Identifier: GPL-2.0-only */
/* This host as the planner sees it: kinds, switches, pools, and who has what. */
#ifndef GPUCTL_PLANNED_H
#define GPUCTL_PLANNED_H

#include "plan/ahead.h"
#include "plan/move_list.h"
#include "session/session.h"

/* Longest name of a kind. */
#define PLANNED_KIND 64

/*
 * Fill an instance and what goes with it from the session's snapshot: host @host, its switches,
 * kinds, tenants, GPUs and compositions, with who holds GPUs now
 * and is not told to let go.
 */
int planned_state(struct session *session, const char *host, struct plan_instance *in,
		  struct plan_ahead *ahead);

/* What a composition has by the snapshot; false when that is more than a move can say. */
bool planned_has(struct session *session, const char *name, struct move_has *has);

/* The names that the planner has for where a slot is and what is in it. */
const char *planned_switch(const struct session *session, const struct gf_slot *slot);
const char *planned_kind(const struct session *session, const struct gf_slot *slot,
			 char name[PLANNED_KIND]);

/* Nobody has it, and it could be had now. */
bool planned_free(const struct session *session, const struct gf_slot *slot);

#endif /* GPUCTL_PLANNED_H */
