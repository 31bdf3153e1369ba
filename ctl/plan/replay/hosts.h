/* SPDX-License-Identifier: GPL-2.0-only */
/* The static counterfactual: each tenant owns whole hosts, whatever the others do. */
#ifndef GPUCTL_PLAN_HOSTS_H
#define GPUCTL_PLAN_HOSTS_H

#include "cluster.h"

/**
 * struct hosts - who owns how many GPUs
 * @gpus: of each tenant, a multiple of @host
 * @n: tenants
 * @host: GPUs of a host
 */
struct hosts {
	uint32_t *gpus;
	size_t n;
	uint32_t host;
};

/*
 * Divides @pool GPUs in proportion to what each tenant's jobs that are
 * submitted from @from on use, at least the widest job of each. Returns false when @pool is too
 * small for that; nothing is allocated then.
 */
bool hosts_divide(struct hosts *hosts, const struct jobs *jobs, uint32_t pool, uint32_t host,
		  int64_t from);
void hosts_free(struct hosts *hosts);

/* Every tenant by itself: EASY with exact runtimes. Returns busy GPU-seconds. */
int64_t hosts_run(const struct hosts *hosts, const struct jobs *jobs, int64_t *start);

#endif
