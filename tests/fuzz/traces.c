// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/base/csv.c ctl/plan/replay/jobs.c ctl/plan/series.c ctl/base/fault.c ctl/base/text.c
/* Traces of jobs and of demand: any bytes; what is taken is in order and in range. */
#include "fuzz.h"
#include "plan/replay/jobs.h"
#include "plan/series.h"

#define POOL 1024

static void jobs(const uint8_t *data, size_t size)
{
	struct fault f = { "" };
	struct jobs jobs;
	size_t i;

	if (jobs_parse(&jobs, "f", (const char *)data, size, POOL, &f)) {
		must(fuzz_is_line(f.text) && !strncmp(f.text, "f:", 2));
		return;
	}
	must(jobs.n && jobs.n_tenants);
	for (i = 0; i < jobs.n; i++) {
		must(jobs.job[i].gpus >= 1 && jobs.job[i].gpus <= POOL);
		must(jobs.job[i].duration >= 1 && jobs.job[i].submit >= 0);
		must(jobs.job[i].tenant < jobs.n_tenants);
		must(!i || jobs.job[i].submit >= jobs.job[i - 1].submit);
	}
	jobs_free(&jobs);
}

/* Two tenants, a byte 0xff between them. */
static void demand(const uint8_t *data, size_t size)
{
	struct fuzz_parts parts = { data, size };
	struct series_set set = { 0 };
	struct fault f = { "" };
	const uint8_t *part;
	size_t len, i;

	part = fuzz_part(&parts, &len);
	if (!series_add(&set, "a.csv", (const char *)part, len, POOL, &f)) {
		part = fuzz_part(&parts, &len);
		if (series_add(&set, "b.csv", (const char *)part, len, POOL, &f))
			must(fuzz_is_line(f.text) && !strncmp(f.text, "b.csv:", 6));
	}
	must(set.n <= 2 && (!set.n || set.minutes));
	for (i = 0; set.n && i < set.minutes; i++)
		must(set.of[0].demand[i] >= 0 && set.of[set.n - 1].demand[i] >= 0);
	series_free(&set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	jobs(data, size);
	demand(data, size);
	return 0;
}
