// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: GPUs of jobs that are no more
 *
 * After a failure of a node no Epilog runs there, and a slurmctld that ends while a job does may forget
 * to have one run. So slurmd's unit runs this before slurmd (--start), and slurmd runs it as its
 * HealthCheckProgram, which asks nobody while the node has no job with GPUs. It gives back what the
 * machine holds for jobs that Slurm does not have on any node of it any more: a machine can be
 * several nodes, which share its GPUs. A list that may not be whole is none: without an answer of
 * the controller nothing happens.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include <slurm/slurm.h>

#include "base/text.h"
#include "slurm/job.h"
#include "slurm/node.h"

#define REAP_MS 120000
#define HOST_MAX 256
#define ENDED_S 3600

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

/* Has the job one of the nodes that are on this machine? */
static bool is_here(const slurm_job_info_t *job, const node_info_msg_t *nodes, const char *host)
{
	uint32_t i;

	for (i = 0; job->nodes && i < nodes->record_count; i++) {
		const node_info_t *node = &nodes->node_array[i];

		if (node->name && node->node_hostname && !strcmp(node->node_hostname, host) &&
		    host_place(job->nodes, node->name) >= 0)
			return true;
	}
	return false;
}

/* What Slurm calls the machine of a node; a machine may be several nodes. NULL: no such node. */
static const char *host_of(const node_info_msg_t *nodes, const char *name)
{
	uint32_t i;

	for (i = 0; i < nodes->record_count; i++)
		if (nodes->node_array[i].name && !strcmp(nodes->node_array[i].name, name))
			return nodes->node_array[i].node_hostname;
	return NULL;
}

/* The list for gpuctl reap --jobs-alive, with the line that says that it is whole; NULL: unknown. */
static char *jobs_alive(const char *node)
{
	node_info_msg_t *nodes = NULL;
	job_info_msg_t *jobs = NULL;
	struct text list = { 0 };
	const char *host;
	uint32_t i;

	if (slurm_load_node(0, &nodes, SHOW_ALL))
		return NULL;
	host = host_of(nodes, node);
	if (!host || slurm_load_jobs(0, &jobs, SHOW_ALL))
		goto out;
	for (i = 0; i < jobs->record_count; i++) {
		const slurm_job_info_t *job = &jobs->job_array[i];

		if (is_alive(job) && is_here(job, nodes, host))
			text_add(&list, "%u\n", job->job_id);
	}
	text_add(&list, ".\n");
	slurm_free_job_info_msg(jobs);
out:
	slurm_free_node_info_msg(nodes);
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

/* Slurm starts a job again within minutes, or never. */
static void ended_forget(uint32_t id, const char *path)
{
	struct stat st;
	bool new;
	int lock;

	if (stat(path, &st) || time(NULL) - st.st_mtime < ENDED_S)
		return;
	lock = node_job_lock(id, 0, &new);
	if (lock < 0)
		return;
	node_job_forget(id);
	close(lock);
}

/* Has the node a job with GPUs? What is left of jobs that ended long ago is removed. */
static bool jobs_are_here(void)
{
	DIR *dir = opendir(NODE_RUN);
	char name[NODE_NAME_MAX], *path;
	struct dirent *entry;
	bool any = false;
	uint32_t id;

	while (dir && (entry = readdir(dir))) {
		if (!node_job_id(entry->d_name, &id))
			continue;
		path = mem_printf(NODE_RUN "/%u", id);
		if (node_job_state(id, name, sizeof(name)) == NODE_JOB_HERE)
			any = true;
		else
			ended_forget(id, path);
		free(path);
	}
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
