// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: Epilog
 *
 * slurmd runs this as root when nothing of a job is left on the node; the node, its slots and
 * the licences stay the job's until it ends. It gives the job's GPUs back.
 */
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include <slurm/slurm.h>

#include "slurm/job.h"
#include "slurm/node.h"

/* A Prolog may be composing still. */
#define LOCK_MS 180000
#define RELEASE_MS 150000

static int epilog_fault(uint32_t id, const char *node, const char *why)
{
	struct fault fault = { "" };

	syslog(LOG_ERR, "job %u: %s; %s is drained", id, why, node);
	if (node_drain(node, why, &fault))
		syslog(LOG_ERR, "%s", fault.text);
	return 1;
}

static int epilog_run(uint32_t id, const char *node)
{
	char *why = NULL;
	bool new;
	int lock, ret = 0;

	lock = node_job_lock(id, LOCK_MS, &new);
	if (lock < 0)
		syslog(LOG_WARNING, "job %u: its Prolog does not end: %s", id, strerror(-lock));
	/* A node that was down is told of the end of a job that has come back to it meanwhile. */
	if (job_place(id, node) == JOB_PLACE_HERE) {
		syslog(LOG_NOTICE, "job %u runs here again: it keeps its GPUs", id);
		goto out;
	}
	if (!gpuctl_release(id, RELEASE_MS, &why))
		ret = epilog_fault(id, node, why);
	else if (lock >= 0)
		node_job_note(lock, NODE_JOB_ENDED, node, 0);
	free(why);
out:
	if (lock >= 0)
		close(lock);
	return ret;
}

int main(void)
{
	const char *node = getenv("SLURMD_NODENAME"), *gpus = getenv("SLURM_JOB_GPUS");
	char name[NODE_NAME_MAX];
	uint32_t id;
	int ret;

	openlog("gpufabric-epilog", LOG_PID, LOG_DAEMON);
	if (!node_job_id(getenv("SLURM_JOB_ID"), &id) || !node || !*node) {
		syslog(LOG_ERR,
		       "only slurmd can run this: it sets SLURM_JOB_ID and SLURMD_NODENAME");
		return 1;
	}
	if (!(gpus && *gpus) && node_job_state(id, name, sizeof(name)) != NODE_JOB_HERE)
		return 0;
	slurm_init(NULL);
	ret = epilog_run(id, node);
	slurm_fini();
	return ret;
}
