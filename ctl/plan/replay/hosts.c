// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: hosts of one's own
 *
 * Favourable to it: shares follow the true demand of the very window that is
 * scored, runtimes are known, and jobs need not fit onto single hosts.
 */
#include <stdlib.h>

#include "base/text.h"
#include "hosts.h"
#include "policy.h"

/* One host more for who has the most demand for each that it would own then. */
static size_t neediest(const struct hosts *h, const double *demand)
{
	double best = -1, each;
	size_t i, at = 0;

	for (i = 0; i < h->n; i++) {
		each = demand[i] / (h->gpus[i] + h->host);
		if (each > best) {
			best = each;
			at = i;
		}
	}
	return at;
}

bool hosts_divide(struct hosts *hosts, const struct jobs *jobs, uint32_t pool, uint32_t host,
		  int64_t from)
{
	double *demand = mem_zalloc(jobs->n_tenants, sizeof(*demand));
	uint64_t owned = 0;
	size_t i;

	hosts->n = jobs->n_tenants;
	hosts->host = host;
	hosts->gpus = mem_zalloc(hosts->n, sizeof(*hosts->gpus));
	for (i = 0; i < jobs->n; i++) {
		const struct job *j = &jobs->job[i];
		uint32_t whole = (j->gpus + host - 1) / host * host;

		if (j->submit >= from)
			demand[j->tenant] += (double)j->gpus * (double)j->duration;
		if (hosts->gpus[j->tenant] < whole)
			hosts->gpus[j->tenant] = whole;
	}
	for (i = 0; i < hosts->n; i++)
		owned += hosts->gpus[i];
	if (owned > pool) {
		hosts_free(hosts);
		free(demand);
		return false;
	}
	for (; owned + host <= pool; owned += host)
		hosts->gpus[neediest(hosts, demand)] += host;
	free(demand);
	return true;
}

void hosts_free(struct hosts *hosts)
{
	free(hosts->gpus);
	hosts->gpus = NULL;
}

/* The jobs of one tenant, and which of the whole trace they are. */
static void select_tenant(const struct jobs *all, uint32_t tenant, struct jobs *some, size_t *which)
{
	size_t i;

	some->n = 0;
	for (i = 0; i < all->n; i++)
		if (all->job[i].tenant == tenant) {
			which[some->n] = i;
			some->job[some->n++] = all->job[i];
		}
}

int64_t hosts_run(const struct hosts *hosts, const struct jobs *jobs, int64_t *start)
{
	struct jobs some = { .tenants = jobs->tenants, .n_tenants = jobs->n_tenants };
	size_t *which = mem_zalloc(jobs->n, sizeof(*which));
	int64_t *begun = mem_zalloc(jobs->n, sizeof(*begun));
	int64_t busy = 0;
	size_t t, i;

	some.job = mem_zalloc(jobs->n, sizeof(*some.job));
	for (t = 0; t < hosts->n; t++) {
		select_tenant(jobs, (uint32_t)t, &some, which);
		busy += cluster_run(&some, hosts->gpus[t], &policy_easy, NULL, begun);
		for (i = 0; i < some.n; i++)
			start[which[i]] = begun[i];
	}
	free(some.job);
	free(which);
	free(begun);
	return busy;
}
