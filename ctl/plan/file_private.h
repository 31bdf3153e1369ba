/* SPDX-License-Identifier: GPL-2.0-only */
/* What the readers of instances and of demand share. */
#ifndef GPUCTL_PLAN_FILE_PRIVATE_H
#define GPUCTL_PLAN_FILE_PRIVATE_H

#include "base/jread.h"
#include "plan/ahead.h"

enum thing {
	KIND,
	SWITCH,
	HOST,
	TENANT,
	WORKLOAD,
	THINGS
};

/**
 * struct reader - a file that is being read
 * @r: the document and where in it we are
 * @in: what becomes of it
 * @ahead: what is known beside the instance
 * @attach_s: of pools that say nothing else
 * @detach_s: of pools that say nothing else
 * @deficit_given: the file has a weight for deficits
 * @names: name and index of what is tied by names, by kind of thing
 * @known: the same of what was there before the file
 * @n_known_pools: pools that were there before the file
 * @n_known_switches: switches that were
 */
struct reader {
	struct jread r;
	struct plan_instance *in;
	struct plan_ahead *ahead;
	double attach_s, detach_s;
	bool deficit_given;
	struct json_object *names[THINGS], *known[THINGS];
	size_t n_known_pools, n_known_switches;
};

/* What a workload says of its demand, beyond what it needs in each interval. */
int plan_parse_demand(struct reader *rd, struct json_object *from, struct plan_asked *asked);

#endif /* GPUCTL_PLAN_FILE_PRIVATE_H */
