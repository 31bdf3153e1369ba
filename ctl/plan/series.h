/* SPDX-License-Identifier: GPL-2.0-only */
/* Demand series: how many GPUs each tenant could have used, minute by minute. */
#ifndef GPUCTL_PLAN_SERIES_H
#define GPUCTL_PLAN_SERIES_H

#include "base/csv.h"

#define SERIES_HEADING "minute,quota_gpus,running_gpus,pending_gpus"
#define SERIES_GPUS_MAX 1000000
#define SERIES_MINUTE_MAX 100000000
#define SERIES_TENANTS_MAX 1024

/**
 * struct series - of one tenant
 * @name: of the tenant: its file's, without what follows the first dot
 * @demand: running and pending GPUs, one a minute
 * @quota: the tenant's share of GPUs, the largest if it changed
 */
struct series {
	char name[CSV_WORD_MAX];
	int32_t *demand;
	int32_t quota;
};

/**
 * struct series_set - of all tenants; the minutes are the same
 * @of: @n of them
 * @minutes: how many
 * @first: the first one's number
 */
struct series_set {
	struct series *of;
	size_t n;
	size_t minutes;
	uint64_t first;
};

/*
 * Adds a tenant's file. Every line is one minute later than the one above, and
 * all files have the same minutes. More running GPUs than @pool are refused.
 */
int series_add(struct series_set *set, const char *name, const char *text, size_t len,
	       uint32_t pool, struct fault *f);
void series_free(struct series_set *set);

#endif
