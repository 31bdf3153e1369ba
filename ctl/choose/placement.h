/* SPDX-License-Identifier: GPL-2.0-only */
/* What a command says of room for GPUs, and what it asks the module for then. */
#ifndef GPUCTL_PLACEMENT_H
#define GPUCTL_PLACEMENT_H

#include "host/judge.h"
#include "session/session.h"

/* Judge again so often when windows change meanwhile. */
#define PLACEMENT_TRIES 5

/**
 * struct placement - how the slots of a request are to get their windows
 * @order: of each slot, 0 where that does not matter
 * @at: the changes that it was judged at
 * @binding: the request is void when there were more since
 */
struct placement {
	uint32_t *order;
	uint64_t at;
	bool binding;
};

/* What is said of one slot; from windows as they were when the session first asked. */
void placement_verdict(const struct session *session, const struct gf_slot *slot,
		       struct verdict *verdict);

/* Judge all that a request attaches; CTL_NO_FIT where one cannot be, unless @force. */
int placement_judge(struct session *session, struct gf_slot *const *slots, size_t n, bool force,
		    struct placement *placement);
void placement_put(struct nl_msg *msg, const struct placement *placement);
void placement_free(struct placement *placement);

#endif /* GPUCTL_PLACEMENT_H */
