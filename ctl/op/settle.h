/* SPDX-License-Identifier: GPL-2.0-only */
/* Waiting for what others have begun. */
#ifndef GPUCTL_SETTLE_H
#define GPUCTL_SETTLE_H

#include "session/session.h"

/*
 * Wait at most @ms milliseconds until no operation is under way on the slots of these names and
 * nobody drains them, or on a composition and its slots; with @drains nobody drains these, either.
 * What they are then is for the module to judge: CTL_DONE as well when the time is over, or where
 * there is nothing of the name. Afterwards the session can have another snapshot. An error, of
 * which the text is set, when the module cannot be heard or a signal came. With -n nobody waits.
 */
int settle_slots(struct session *session, const char *const *names, size_t n, uint64_t ms);
int settle_composition(struct session *session, const char *name, bool drains, uint64_t ms);

#endif /* GPUCTL_SETTLE_H */
