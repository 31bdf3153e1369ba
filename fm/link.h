/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the manager asks of a driver, for one host: what is there, bind, unbind, and what
 * happened meanwhile. All of it blocks, and only the host's own thread calls it. GPUs are numbered
 * as in the configuration, ports as in the host's list.
 */
#ifndef FM_LINK_H
#define FM_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "fm/config.h"
#include "fm/fabric.h"

struct link;

/**
 * struct link_view - all that is in a host
 * @found: GPUs of the pool, with their ports; owned
 * @taken: ports with something that is none of the pool's
 * @identities: what each GPU of the pool is, where the driver knows it, else NULL; owned
 */
struct link_view {
	struct fabric_place *found;
	size_t count;
	bool taken[CONFIG_PORTS_MAX];
	struct fabric_identity *identities;
};

struct link_ops {
	/* @stop ends every wait when it becomes readable. */
	struct link *(*open)(const struct config *config, size_t host, int stop);
	void (*close)(struct link *link);
	/*
	 * Connects where that is needed, and has a sign of life from the host then.
	 * -ECONNREFUSED: by what the driver sees the host is off.
	 */
	int (*connect)(struct link *link, struct fault *f);
	/* Looks at everything, once connected. The caller frees what @view owns. */
	int (*look)(struct link *link, struct link_view *view, struct fault *f);
	/*
	 * -EREMOTEIO and -EBUSY: refused, and all is as it was. -ENOTCONN: the connection ended
	 * before the host was told anything, so that all is as it was, too. Any other error:
	 * nobody knows until the next look().
	 */
	int (*bind)(struct link *link, int gpu, int port, struct fault *f);
	int (*unbind)(struct link *link, int gpu, struct fault *f);
	/*
	 * Waits for news or until @wake is readable (-EINTR). 0: GPU *@gone has left its port,
	 * or, where that is FABRIC_NONE, it is time to look anew. Any other error: the host is
	 * lost.
	 */
	int (*await)(struct link *link, int wake, int *gone, struct fault *f);
};

extern const struct link_ops link_qmp, link_sim, link_switchtec;

#endif /* FM_LINK_H */
