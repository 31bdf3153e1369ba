/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests that change something, as messages: the only place that makes them. */
#ifndef GPUCTL_SUBMIT_H
#define GPUCTL_SUBMIT_H

#include "choose/placement.h"
#include "op/op.h"

/*
 * Send the request of an operation and fill its wait from the answer. @placement is that of
 * op->add, and op->removal was drained.
 */
int submit_op(struct session *session, struct op *op, const struct placement *placement);

/* Have the module judge an attach without carrying it out. */
int submit_check(struct session *session, struct op *op, const struct placement *placement);

/* Announce a removal; its generations are filled in. The drain ends after @timeout_ms. */
int submit_drain(struct session *session, const struct removal *removal, uint32_t timeout_ms);

/* Of slot @i alone; @reset: its GPU was reset meanwhile. */
int submit_drain_end(struct session *session, const struct removal *removal, size_t i, bool reset);

/* Take slots out of fault, lost or quarantine; @reason may be NULL. */
int submit_clear(struct session *session, struct gf_slot *const *slots, size_t n,
		 const char *reason);

/* Annotate a composition that has not changed since the snapshot: ESTALE otherwise. */
int submit_annotation(struct session *session, const struct gf_composition *composition,
		      const struct annotation *note);

#endif /* GPUCTL_SUBMIT_H */
