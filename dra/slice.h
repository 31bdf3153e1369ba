/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ResourceSlices: what the scheduler is told of GPUs. Pure. */
#ifndef DRA_SLICE_H
#define DRA_SLICE_H

#include "dra/inventory.h"

/* Of a slice with taints, by the API. */
#define SLICE_DEVICES_MAX 64

/**
 * struct slice_terms - what slices are made for
 * @version: of resource.k8s.io
 * @pool: name of the pool
 * @node: whose devices they are; NULL: those of a fabric manager, which all its nodes can have
 * @uid: of that Node, which owns the slices
 * @manager: its name, for a pool without @node
 * @taints: the API server keeps taints; if not, devices that would have one are left out
 */
struct slice_terms {
	const char *version, *pool, *node, *uid, *manager;
	bool taints;
};

/*
 * Specs of all slices of the pool, at least one, without generations: an array, which the
 * caller puts.
 */
struct json_object *slice_specs(const struct inventory *inventory, const struct slice_terms *terms);

/* The name of a slice of the pool. */
char *slice_name(const struct slice_terms *terms, size_t index);

/* The slice itself; takes a reference to @spec, and sets its generation. */
struct json_object *slice_object(const struct slice_terms *terms, size_t index,
				 struct json_object *spec, int64_t generation);

/* Has the slice that the API server has this spec, but for the generation, and its owner? */
bool slice_same(struct json_object *kept, struct json_object *spec,
		const struct slice_terms *terms);

/* Were taints sent, and none came back? */
bool slice_lost_taints(struct json_object *sent, struct json_object *kept);

#endif /* DRA_SLICE_H */
