/* SPDX-License-Identifier: GPL-2.0-only */
/* How many GPUs this host can use now, by kind. */
#ifndef GPUCTL_CAPACITY_H
#define GPUCTL_CAPACITY_H

#include "module/model.h"
#include "session/identity.h"

/**
 * struct capacity_kind - GPUs of one kind
 * @name: in the catalogue, with "-sim" behind it for simulated ones; else vendor
 *	and device id, "10de-2331"
 * @ready: GPUs in slots in state ready: what is about to go, or not quite there, is not counted
 * @held: those of them that a composition holds
 * @memory: bytes of one GPU, 0 when unknown
 * @driver: bound to all of them; NULL when none is; borrowed from the snapshot
 * @mixed: not all have the same driver
 */
struct capacity_kind {
	char name[64];
	size_t ready;
	size_t held;
	uint64_t memory;
	const char *driver;
	bool mixed;
};

struct capacity {
	struct capacity_kind *kinds; /* by name */
	size_t n;
};

void capacity_of(const struct gf_fabric *fabric, const struct knowledge *knowledge,
		 struct capacity *capacity);
void capacity_free(struct capacity *capacity);

/* What to call the kind of a GPU where names of the catalogue are expected. */
void capacity_name(const struct identity *identity, char name[64]);

#endif /* GPUCTL_CAPACITY_H */
