// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: GPUs of jobs that are no more
 *
 * After a failure of a node no Epilog runs there, and a slurmctld that ends while a job does may forget
 * to have one run. So slurmd's unit runs this before slurmd (--start), and slurmd runs it as its
 * HealthCheckProgram, which asks nobody while the node has no job with GPUs. It gives back what the
 * node holds for jobs that Slurm does not have there any more. A list that may not be whole is none:
 * without an answer of the controller nothing happens.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include <slurm/slurm.h>

#include "base/text.h"
#include "slurm/job.h"
#include "slurm/node.h"

#define REAP_MS 120000
#define HOST_MAX 256

/* Running, or on its way out, or stopped for a while. */
static bool is_alive(const slurm_job_info_t *job)
{
	switch (job->job_state & JOB_STATE_BASE) {
	case JOB_RUNNING:
	case JOB_SUSPENDED:
		return true;
	default:
		return job->job_state & JOB_COMPLETING;
	}
}

/* The list for gpuctl reap --jobs-alive, with the line that says that it is whole; NULL: unknown. */
static char *jobs_alive(const char *node)
{
	job_info_msg_t *answer = NULL;
	struct text list = { 0 };
	uint32_t i;

	if (slurm_load_jobs(0, &answer, SHOW_ALL))
		return NULL;
	for (i = 0; i < answer->record_count; i++) {
		const slurm_job_info_t *job = &answer->job_array[i];

		if (is_alive(job) && job->nodes && host_place(job->nodes, node) >= 0)
			text_add(&list, "%u\n", job->job_id);
	}
	text_add(&list, ".\n");
	slurm_free_job_info_msg(answer);
	return list.text;
}

static int reap(const char *node)
{
	static const char *const argv[] = { "reap", "--jobs-alive", "-", NULL };
	struct gpuctl_call call = { .argv = argv, .timeout_ms = REAP_MS };
	char *list = jobs_alive(node), *said;

	if (!list) {
		syslog(LOG_WARNING, "the controller does not say which jobs run on %s", node);
		return 1;
	}
	call.input = list;
	if (gpuctl_run(&call)) {
		said = gpuctl_said(&call);
		syslog(LOG_WARNING, "%s", said);
		free(said);
	}
	free(list);
	gpuctl_free(&call);
	return call.exit != GPUCTL_DONE;
}

static bool jobs_are_here(void)
{
	DIR *dir = opendir(NODE_RUN);
	struct dirent *entry;
	bool any = false;

	while (dir && !any && (entry = readdir(dir)))
		any = *entry->d_name != '.';
	if (dir)
		closedir(dir);
	return any;
}

int main(int argc, char **argv)
{
	const bool start = argc > 1 && !strcmp(argv[1], "--start");
	const char *node = start && argc > 2 ? argv[2] : getenv("SLURMD_NODENAME");
	char host[HOST_MAX] = "";
	int ret;

	if (!start && !jobs_are_here())
		return 0;
	openlog("gpufabric-reap", LOG_PID, LOG_DAEMON);
	if (!node && !gethostname(host, sizeof(host) - 1)) {
		host[strcspn(host, ".")] = '\0';
		node = host;
	}
	if (!node || !*node)
		return 1;
	slurm_init(NULL);
	ret = reap(node);
	slurm_fini();
	return ret;
}
