/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lease of this host at a manager, as the host counts it. Times are those of text_uptime(). Pure
 * but for the record.
 */
#ifndef GPUCTL_MANAGERS_LEASE_H
#define GPUCTL_MANAGERS_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

#define LEASE_DIR "/run/gpuctl-leases"

/**
 * struct host_lease - a lease
 * @asked: when it was asked for, by this host
 * @length: of it, 0 for one that is not known
 */
struct host_lease {
	uint64_t asked;
	uint64_t length;
};

enum host_lease_state {
	LEASE_HOLDS,
	LEASE_TO_RENEW, /* and holds */
	LEASE_OVER, /* GPUs are to be detached: half of it is left for that */
	LEASE_TOO_LATE, /* they should have been: a quarter of it is left */
};

/* One that is not known, as after a boot, is over and never too late: nobody knows since when. */
enum host_lease_state host_lease_judge(const struct host_lease *lease, uint64_t now);
/* When this changes next. */
uint64_t host_lease_next(const struct host_lease *lease, uint64_t now);

/* "ASKED LENGTH": what a service that starts again has to know; it ends with the boot, as times do. */
bool host_lease_parse(const char *text, uint64_t now, struct host_lease *lease);
char *host_lease_text(const struct host_lease *lease);

#endif /* GPUCTL_MANAGERS_LEASE_H */
