/* SPDX-License-Identifier: GPL-2.0-only */
/* Who had how many GPUs when: as a plan has it, or as a host's journal has recorded it. Pure. */
#ifndef GPUCTL_PLAN_USAGE_H
#define GPUCTL_PLAN_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/* Powered GPUs that nobody has; and everybody who has some. */
#define USAGE_NOBODY SIZE_MAX
#define USAGE_ALL (SIZE_MAX - 1)

/**
 * struct usage_span - some GPUs for some time
 * @from: seconds
 * @to: behind the last one
 * @gpus: how many
 * @who: index of the holder, or USAGE_NOBODY
 */
struct usage_span {
	double from, to;
	uint32_t gpus;
	size_t who;
};

/**
 * struct usage_holder - a composition or workload
 * @name: of it
 * @tenant: whose it is, NULL: nobody's
 * @over: it has ended: who comes with its name is another one
 */
struct usage_holder {
	char *name, *tenant;
	bool over;
};

/**
 * struct usage - all of it
 * @spans: in no order
 * @n_spans: how many
 * @holders: in order of appearance
 * @n_holders: how many
 * @tenants: of the holders, each once; they own the names
 * @n_tenants: how many
 * @from: first second
 * @to: behind the last
 * @gpus: that were seen, or used at one time at most
 * @recorded: from a journal, not from a plan
 * @set_back: times that the clock of the journal went back
 * @knows_idle: spans of nobody are there where there were any
 */
struct usage {
	struct usage_span *spans;
	size_t n_spans;
	struct usage_holder *holders;
	size_t n_holders;
	const char **tenants;
	size_t n_tenants;
	double from, to;
	uint32_t gpus;
	size_t set_back;
	bool recorded, knows_idle;
};

/*
 * What "gpuctl plan solve -j" wrote, or "journalctl -o json" of what the watch service notes.
 * 0 or -EINVAL with "file:line:column: reason"; free it in either case.
 */
int usage_read(struct usage *u, const char *file, const char *text, size_t len,
	       struct fault *fault);
void usage_free(struct usage *u);

/* GPU-seconds of a holder, of USAGE_NOBODY or of USAGE_ALL holders, between two times. */
double usage_seconds(const struct usage *u, size_t who, double from, double to);
/* The same of one tenant; NULL: of holders that have none. */
double usage_tenant_seconds(const struct usage *u, const char *tenant, double from, double to);
/* GPUs that all holders of one tenant had at one time, at most; a holder without one by @who. */
uint32_t usage_tenant_peak(const struct usage *u, const char *tenant);
uint32_t usage_peak(const struct usage *u, size_t who);

/* For the readers. @tenant may be NULL: not known here. */
size_t usage_holder(struct usage *u, const char *name, const char *tenant);
void usage_add(struct usage *u, double from, double to, uint32_t gpus, size_t who);
int usage_read_journal(struct usage *u, const char *file, const char *text, size_t len,
		       struct fault *fault);

#endif /* GPUCTL_PLAN_USAGE_H */
