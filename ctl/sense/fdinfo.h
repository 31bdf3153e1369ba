/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What clients of DRM drivers have used of GPUs, from the fdinfo of their open files, as the
 * kernel's drm-usage-stats has it.
 */
#ifndef GPUCTL_SENSE_FDINFO_H
#define GPUCTL_SENSE_FDINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FDINFO_WORD 32

/**
 * struct fdinfo_use - what one client has used of one engine
 * @address: of the GPU
 * @engine: name of the engine
 * @client: number of the client, 0 for none
 * @ns: busy time
 * @cycles: that it was busy
 * @total: cycles that went by; 0 where the driver counts time alone
 * @capacity: number of such engines
 */
struct fdinfo_use {
	char address[FDINFO_WORD], engine[FDINFO_WORD];
	uint64_t client, ns, cycles, total;
	uint32_t capacity;
};

/**
 * struct fdinfo - a sample
 * @uses: @n of them
 * @n: number of @uses
 */
struct fdinfo {
	struct fdinfo_use *uses;
	size_t n;
};

/* Add what one file says; several files of a client count once. Pure. */
void fdinfo_add(struct fdinfo *sample, const char *text);
/* All files below @proc ("/proc") that are device nodes. */
void fdinfo_scan(struct fdinfo *sample, const char *proc);
void fdinfo_free(struct fdinfo *sample);

/*
 * Percent of the busiest engine of a GPU between two samples that are @ns apart; NaN when a counter
 * went back. A GPU without clients is idle.
 */
double fdinfo_busy(const struct fdinfo *before, const struct fdinfo *after, const char *address,
		   uint64_t ns);

#endif /* GPUCTL_SENSE_FDINFO_H */
