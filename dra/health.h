/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Health of this node's devices, as the last look at the fabric has shown it. */
#ifndef DRA_HEALTH_H
#define DRA_HEALTH_H

#include <pthread.h>

#include "dra/inventory.h"
#include "dra/rpc.h"

/**
 * struct health - all devices of this node
 * @lock: protects the rest
 * @devices: @n of them
 * @version: changes with them; 0 before the first look
 */
struct health {
	pthread_mutex_t lock;
	struct health_device *devices;
	size_t n;
	uint64_t version;
};

void health_open(struct health *health);
void health_close(struct health *health);

/*
 * Take what a look has shown; @node is the pool of the slots that are its own. @inventory is NULL for a
 * look that failed, for this reason: nothing is known then. True if anything has changed.
 */
bool health_take(struct health *health, const char *node, const struct inventory *inventory,
		 const struct reason *reason);

/* The message for whoever has seen the version @seen; false if it is still the last one. */
bool health_next(struct health *health, uint64_t *seen, struct rpc_answer *answer);

#endif /* DRA_HEALTH_H */
