// SPDX-License-Identifier: GPL-2.0-only
/* DOC: job traces, see jobs.h. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "jobs.h"

static int find_tenant(struct jobs *jobs, const struct csv *c, const char *at, const char *name,
		       uint32_t *tenant, struct fault *f)
{
	size_t i;

	for (i = 0; i < jobs->n_tenants; i++)
		if (!strcmp(jobs->tenants[i], name))
			break;
	if (i == JOBS_TENANTS_MAX)
		return csv_fault(c, at, f, "more than %d tenants", JOBS_TENANTS_MAX);
	if (i == jobs->n_tenants) {
		jobs->tenants = mem_grow(jobs->tenants, i + 1, sizeof(*jobs->tenants));
		memcpy(jobs->tenants[i], name, CSV_WORD_MAX);
		jobs->n_tenants++;
	}
	*tenant = (uint32_t)i;
	return 0;
}

static int jobs_parse_line(struct jobs *jobs, struct csv *c, uint32_t pool, struct job *job,
			   struct fault *f)
{
	uint64_t submit, duration, gpus;
	char tenant[CSV_WORD_MAX] = "";
	const char *at;
	int err;

	err = csv_whole(c, "submit_s", JOBS_SUBMIT_MAX, false, &submit, f);
	if (err)
		return err;
	if (jobs->n && (int64_t)submit < jobs->job[jobs->n - 1].submit)
		return csv_fault(c, c->begin, f,
				 "submit_s is before that of the line above: not sorted");
	at = c->at;
	err = csv_whole(c, "duration_s", JOBS_DURATION_MAX, false, &duration, f);
	if (err)
		return err;
	if (!duration)
		return csv_fault(c, at, f, "duration_s is 0");
	at = c->at;
	err = csv_whole(c, "gpus", JOBS_GPUS_MAX, false, &gpus, f);
	if (err)
		return err;
	if (!gpus)
		return csv_fault(c, at, f, "gpus is 0");
	if (gpus > pool)
		return csv_fault(c, at, f, "%llu GPUs are more than the pool of %u has",
				 (unsigned long long)gpus, pool);
	at = c->at;
	err = csv_word(c, "tenant", true, tenant, f);
	if (err)
		return err;
	job->submit = (int64_t)submit;
	job->duration = (int64_t)duration;
	job->gpus = (uint32_t)gpus;
	return find_tenant(jobs, c, at, tenant, &job->tenant, f);
}

int jobs_parse(struct jobs *jobs, const char *name, const char *text, size_t len, uint32_t pool,
	       struct fault *f)
{
	size_t room = 0;
	struct csv c = { 0 };
	int err;

	memset(jobs, 0, sizeof(*jobs));
	err = csv_open(&c, name, text, len, JOBS_HEADING, f);
	while (!err && csv_next(&c)) {
		if (jobs->n == room) {
			room = room ? 2 * room : 1024;
			jobs->job = mem_grow(jobs->job, room, sizeof(*jobs->job));
		}
		if (jobs->n == JOBS_MAX)
			err = csv_fault(&c, c.begin, f, "more than %d jobs", JOBS_MAX);
		else
			err = jobs_parse_line(jobs, &c, pool, &jobs->job[jobs->n], f);
		if (!err)
			jobs->n++;
	}
	if (err)
		jobs_free(jobs);
	return err;
}

void jobs_free(struct jobs *jobs)
{
	free(jobs->job);
	free(jobs->tenants);
	memset(jobs, 0, sizeof(*jobs));
}
