/* SPDX-License-Identifier: GPL-2.0-only */
/* Is a host that does not answer off, by somebody who knows? */
#ifndef FM_FENCE_H
#define FM_FENCE_H

#include "fm/manager_host.h"

/* Once in a while: what hosts whose leases are over have powered off becomes free. */
void fence_lapse(struct manager *manager);
/* The host does not answer, with @err of its driver. Called by the host's thread. */
void fence_ask(struct manager_host *h, int err);

/*
 * The host is off, says @who. -ENOENT without such a host, -EBUSY when it answers, is being asked or
 * is busy: then it is not off, or nobody knows yet. Takes the manager's lock itself.
 */
int fence_evict(struct manager *manager, const char *host, const char *who, struct fault *f);

#endif /* FM_FENCE_H */
