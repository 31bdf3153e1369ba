/* SPDX-License-Identifier: GPL-2.0-only */
/* Cleaning GPUs that another tenant had, before they are handed over. */
#ifndef GPUCTL_CLEAN_H
#define GPUCTL_CLEAN_H

#include "choose/handover.h"
#include "op/terms.h"
#include "session/session.h"

/*
 * Have nothing of others be in the GPUs of @slots when they go @to somebody. CTL_DONE when
 * nothing was to be done. Otherwise a part of it was done, *@changed is set, and the caller
 * looks at all slots anew and calls again: the snapshot is another one. CTL_BUSY when
 * somebody uses one of the GPUs, CTL_NO_FIT when one can be neither power-cycled nor reset.
 * With -n it is said what would be done.
 */
int clean_slots(struct session *session, const struct op_terms *terms, const struct handover_to *to,
		struct gf_slot *const *slots, size_t n, bool *changed);

#endif /* GPUCTL_CLEAN_H */
