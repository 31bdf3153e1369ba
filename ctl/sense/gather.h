/* SPDX-License-Identifier: GPL-2.0-only */
/* All sensors of all workloads, side by side. */
#ifndef GPUCTL_SENSE_GATHER_H
#define GPUCTL_SENSE_GATHER_H

#include "sense/follow.h"

/* Longest time that a sensor may take. */
#define GATHER_MS 5000
/* Distance of the two samples of what counts time. */
#define GATHER_APART_MS 1000

/**
 * struct gathered - a workload and what its sensors say
 * @workload: which
 * @addresses: of its GPUs that are functions of their cards
 * @n_addresses: number of @addresses
 * @gpus: number of its GPUs
 * @readings: filled: one for each sensor
 */
struct gathered {
	struct sense_workload workload;
	char **addresses;
	uint32_t n_addresses, gpus;
	struct reading readings[SENSE_SENSORS_MAX];
};

/**
 * struct gather_roots - where to look; tests have their own
 * @proc: "/proc"
 * @sys: "/sys"
 * @probe: the program that asks servers and NVML
 */
struct gather_roots {
	const char *proc, *sys, *probe;
};

void gather(const struct gather_roots *roots, struct gathered *all, size_t n);
/* What a program printed last, as a reading. Pure. */
void gather_number(const char *output, struct reading *reading);

#endif /* GPUCTL_SENSE_GATHER_H */
