/* SPDX-License-Identifier: GPL-2.0-only */
/* What listeners were told of the fabric last, and what is new. Under the manager's lock. */
#ifndef FM_WATCH_H
#define FM_WATCH_H

#include "fm/events.h"
#include "fm/fabric.h"

struct watch_gpu;

/**
 * struct watch - what was told
 * @name: of the fabric
 * @hosts: states of the hosts
 * @gpus: who has each, and in which way
 */
struct watch {
	struct events *events;
	const char *name;
	enum fabric_host_state *hosts;
	struct watch_gpu *gpus;
};

/* As the fabric is now, so nothing is new. */
void watch_init(struct watch *watch, const struct fabric *fabric, const char *name,
		struct events *events);
void watch_free(struct watch *watch);
/* Tells what is new. A GPU on its way is told of when it has arrived. */
void watch_look(struct watch *watch, const struct fabric *fabric);

#endif /* FM_WATCH_H */
