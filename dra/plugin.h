/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kubelet asks: registration, claims to prepare and to give back, health of devices. */
#ifndef DRA_PLUGIN_H
#define DRA_PLUGIN_H

#include "dra/health.h"
#include "dra/rpc.h"
#include "dra/work.h"

/**
 * struct plugin - the driver as the kubelet sees it
 * @work: claims
 * @health: of devices
 * @endpoint: path of its socket, as the kubelet knows it
 * @quiet: nobody looks at the fabric, so nothing is known of health
 * @answer_ms: the longest that a call is waited with; the kubelet gives up after 45 s
 */
struct plugin {
	struct work work;
	struct health health;
	const char *endpoint;
	bool quiet;
	uint64_t answer_ms;
};

extern const struct rpc_method plugin_methods[];

#endif /* DRA_PLUGIN_H */
