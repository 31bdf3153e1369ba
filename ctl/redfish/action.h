/* SPDX-License-Identifier: GPL-2.0-only */
/* Actions of a system that are no changes of a zone. */
#ifndef GPUCTL_REDFISH_ACTION_H
#define GPUCTL_REDFISH_ACTION_H

#include "driver/client.h"

/* The host is off: its GPUs are to be free. Returns enum ctl_exit with the reason in @f. */
int action_evict(struct client *client, const char *host, struct fault *f);
/*
 * The lease of this host, for *@lease_ms from when it was asked; 0 where the manager gives none. With
 * @release it is given up.
 */
int action_renew(struct client *client, bool release, uint32_t *lease_ms, struct fault *f);

#endif /* GPUCTL_REDFISH_ACTION_H */
