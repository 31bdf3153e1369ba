/* SPDX-License-Identifier: GPL-2.0-only */
/* GPUs that are asked for, before any slot is looked at. */
#ifndef GPUCTL_REQUEST_H
#define GPUCTL_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct size_request;

/**
 * struct gpu_request - a request, as an admin or the planner has it
 * @gpus: number of GPUs of any kind, 0: not said
 * @kinds: "[[VENDOR:]MODEL:]COUNT", which add up; "MODEL" alone narrows what @memory and @size
 *	may take to that kind
 * @n_kinds: number of @kinds
 * @memory: bytes that they have together, 0: not said
 * @size: workload that they hold, NULL for none
 * @mixed: for @size: several kinds of a vendor, the smallest counts
 * @same_switch: all behind one switch, or none
 * @spread: over as many switches as possible
 * @p2p: all near peers
 * @numa: node that all are on, -1 for any
 * @exclude: names of slots that are never taken
 * @n_exclude: number of @exclude
 * @from: ids of the slots that can be taken, NULL: of all
 * @n_from: number of @from
 */
struct gpu_request {
	size_t gpus;
	const char **kinds;
	size_t n_kinds;
	uint64_t memory;
	const struct size_request *size;
	bool mixed, same_switch, spread, p2p;
	int numa;
	const char **exclude;
	size_t n_exclude;
	const uint32_t *from;
	size_t n_from;
};

/* Nothing is asked for yet. */
#define GPU_REQUEST_NONE                                                                           \
	{                                                                                          \
		.numa = -1                                                                         \
	}

#endif /* GPUCTL_REQUEST_H */
