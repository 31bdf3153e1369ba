/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who publishes the pool of a fabric manager: a Lease object, one for each pool. */
#ifndef DRA_LEASE_H
#define DRA_LEASE_H

#include "dra/api.h"

/**
 * struct lease - what is known of one
 * @namespace, @name: of the object
 * @holder: who we are; one name is never held by two at a time
 * @ms: when one that is not renewed is over
 * @seen: its version when it was looked at last, 0 for none
 * @since: since when it has that version, of clock_ms()
 */
struct lease {
	const char *namespace, *holder;
	char *name;
	uint64_t ms, seen, since;
};

/* Have it, or keep it; false if another has it, or with the reason. */
bool lease_hold(const struct api *api, struct lease *lease, struct reason *reason);

#endif /* DRA_LEASE_H */
