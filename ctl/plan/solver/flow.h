/* SPDX-License-Identifier: GPL-2.0-only */
/* Cheapest flow through a network: exact, in whole units. Private to ctl/plan. */
#ifndef GPUCTL_PLAN_FLOW_H
#define GPUCTL_PLAN_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct flow_arc - one direction of an arc; the other stands beside it
 * @to: node
 * @left: units that can still go this way
 * @cost: of each
 */
struct flow_arc {
	uint32_t to, left;
	double cost;
};

/**
 * struct flow - a network
 * @arcs: 2 k is the k-th arc, 2 k + 1 what takes it back
 * @n: arcs, with those
 * @nodes: how many
 * @room: for so many @arcs
 */
struct flow {
	struct flow_arc *arcs;
	size_t n, nodes, room;
};

void flow_init(struct flow *flow, size_t nodes);
void flow_free(struct flow *flow);
/* Its number, for flow_on(). Costs may be below 0 where arcs make no circle. */
size_t flow_arc(struct flow *flow, uint32_t from, uint32_t to, uint32_t most, double cost);
/*
 * Send as many as can go from one node to another, as cheaply as that is possible. Returns how
 * many; @cost is of all of them.
 */
uint32_t flow_send(struct flow *flow, uint32_t from, uint32_t to, double *cost);
/* Units on an arc. */
uint32_t flow_on(const struct flow *flow, size_t arc);

#endif /* GPUCTL_PLAN_FLOW_H */
