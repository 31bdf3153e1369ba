/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the ResourceSlices of this node, and of fabric managers if this node is the one that does; and
 * what is known of health.
 */
#ifndef DRA_PUBLISH_H
#define DRA_PUBLISH_H

#include "dra/api.h"
#include "dra/fabric.h"
#include "dra/health.h"

/**
 * struct publish_terms - what is published, and where
 * @api, @fabric, @health: outlive the publisher
 * @rpc: whose clients are told of health
 * @namespace: of Lease objects
 * @lease_ms: when a lease that is not renewed is over; it is renewed three times as often
 * @pause_ms: the longest from one look to the next
 */
struct publish_terms {
	const struct api *api;
	const struct fabric *fabric;
	struct health *health;
	struct rpc *rpc;
	const char *namespace;
	uint64_t lease_ms, pause_ms;
};

/* A thread of its own, until publish_stop(). */
struct publisher *publish_start(const struct publish_terms *terms);
void publish_stop(struct publisher *publisher);

#endif /* DRA_PUBLISH_H */
