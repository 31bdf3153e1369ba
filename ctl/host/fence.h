/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which GPUs the processes of a cgroup may open: a program of the kernel's for devices. What is
 * denied are all devices of drivers of GPUs, so a GPU that comes later is denied without a change.
 */
#ifndef GPUCTL_FENCE_H
#define GPUCTL_FENCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

#define FENCE_MAJORS_MAX 64
#define FENCE_NODES_MAX 1024

/**
 * struct fence_node - number of a character device
 */
struct fence_node {
	uint32_t major;
	uint32_t minor;
};

/**
 * struct fence - what a job may have
 * @majors: of drivers of GPUs, @n_majors of them: nobody may open their devices,
 * @nodes: but for these, @n_nodes of them: the job's own GPUs, and control nodes that all share
 */
struct fence {
	const uint32_t *majors;
	size_t n_majors;
	const struct fence_node *nodes;
	size_t n_nodes;
};

/*
 * Majors of these drivers in the text of /proc/devices, for at most FENCE_MAJORS_MAX; a name
 * without one is of a driver that is not loaded. Returns how many.
 */
size_t fence_majors(const char *devices, const char *const *drivers, size_t n,
		    uint32_t majors[FENCE_MAJORS_MAX]);

struct bpf_insn;
/* The program; *@insns is newly allocated. Returns its length, 0 for more than the limits above. */
size_t fence_program(const struct fence *fence, struct bpf_insn **insns);

/*
 * Have the processes of a cgroup (of version 2) and of those below it held to it, in place of the
 * fence that it has. Those of others, such as Slurm's own, stay, and all of them have to allow a
 * device. It goes with the cgroup. 0 or a negative errno.
 */
int fence_set(int cgroup, const struct fence *fence, struct fault *f);

#endif /* GPUCTL_FENCE_H */
