/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compositions for claims, by gpuctl. The module keeps them; nothing is kept here. */
#ifndef DRA_FABRIC_H
#define DRA_FABRIC_H

#include "dra/claim.h"
#include "dra/inventory.h"

/**
 * struct fabric - the GPUs of this host and of its fabric managers
 * @gpuctl: the program
 * @node: name of this node, which is the pool of the slots that are its own
 * @cdi: directory of the container devices, NULL for gpuctl's own
 */
struct fabric {
	struct gpuctl gpuctl;
	const char *node;
	const char *cdi;
};

/* CDI name of a composition. */
#define CDI_KIND DRIVER_NAME "/gpu"

bool fabric_inventory(const struct fabric *fabric, bool managers, struct inventory *inventory,
		      struct reason *reason);

/*
 * Have the composition of a claim, also if it is there already or on its way, and describe it to
 * container runtimes. Blocks. False with the reason; what was composed by then stays, and is found
 * by the next attempt. What is composed now fills in the slots of the claim's devices. @inventory is
 * what the host has then; the caller frees it with inventory_free(), also after a failure.
 */
bool fabric_compose(const struct fabric *fabric, struct claim *claim, struct inventory *inventory,
		    struct reason *reason);

/* End it and take it from container runtimes; that there is none is a success. Blocks. */
bool fabric_release(const struct fabric *fabric, const char *uid, struct reason *reason);

/*
 * Of a claim whose composition is whole in @inventory, the id for container runtimes of each device;
 * the caller frees them.
 */
bool fabric_members(const struct fabric *fabric, const struct claim *claim,
		    const struct inventory *inventory, char **cdi, struct reason *reason);

#endif /* DRA_FABRIC_H */
