/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What gpuctl -j list prints: slots, compositions, GPUs of fabric managers. Pure. */
#ifndef DRA_INVENTORY_H
#define DRA_INVENTORY_H

#include "dra/program.h"

#define DEVICE_NAME_MAX 64

/**
 * struct inv_slot - a slot of this host, @name points into the document
 * @device: what it is called as a device
 * @kind: of the catalogue, NULL if not known
 * @label: of its GPU for people, NULL if not known
 * @state: word of its state, @cause: why it is so, NULL if there is no word for it
 * @composition: that claims it, NULL for none
 * @memory: bytes of all its GPUs, 0 if not known
 * @bar: bytes of the large BAR of one, 0 if not known
 * @gpus: number of them
 * @speed, @width: of the link: MT/s and lanes, 0 if it is down
 * @numa: node, -1 for none
 * @switch_id: of the switch
 * @quarantined, @unmanaged: flags
 * @no_window: its GPU has no room in the windows of the bridges above
 */
struct inv_slot {
	const char *name, *kind, *label, *state, *cause, *composition;
	char device[DEVICE_NAME_MAX];
	int64_t memory, bar, gpus, speed, width, numa, switch_id;
	bool quarantined, unmanaged, no_window;
};

/**
 * struct inv_gpu - a GPU of a fabric manager
 * @state: free, bound, other host's, ...: as gpuctl prints it
 * @manager: name of the manager
 * @slot: of this host, if it is there; else NULL
 * @memory, @bar: bytes, 0 if not known
 */
struct inv_gpu {
	const char *id, *kind, *state, *host, *slot, *manager;
	int64_t memory, bar;
	char device[DEVICE_NAME_MAX];
};

struct inv_composition {
	const char *name, *state;
};

/**
 * struct inventory - all of it
 * @root: the document, which the texts point into
 * @partial: a fabric manager did not answer
 */
struct inventory {
	struct json_object *root;
	struct inv_slot *slots;
	size_t n_slots;
	struct inv_gpu *gpus;
	size_t n_gpus;
	struct inv_composition *compositions;
	size_t n_compositions;
	bool partial;
};

/* Takes the document; false with the reason; inventory_free() in either case. */
bool inventory_read(struct json_object *root, struct inventory *inventory, struct reason *reason);
void inventory_free(struct inventory *inventory);

/* What the catalogue knows of kinds: the document of gpuctl -j gpus. */
void inventory_kinds(struct inventory *inventory, struct json_object *catalogue);

const struct inv_composition *inventory_composition(const struct inventory *inventory,
						    const char *name);

/* A name as devices have it: [a-z0-9-], at most 63, not with a dash at either end. */
void device_name(const char *name, char device[DEVICE_NAME_MAX]);

/* What is before the name of a manager's pool in the label of its nodes, whose name has 63 letters at most, too. */
#define POOL_LABEL "fabric."
void pool_name(const char *manager, char pool[DEVICE_NAME_MAX]);

#endif /* DRA_INVENTORY_H */
