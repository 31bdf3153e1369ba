// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: Prolog
 *
 * slurmd runs this as root before anything of a job starts on the node. It composes the job's GPUs.
 *
 * Exit status 0 lets the job start, unless it was given back or cancelled before; 1 has Slurm drain
 * the node and queue the job again. So 1 is for faults of this host alone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include <slurm/slurm.h>

#include "base/text.h"
#include "slurm/job.h"
#include "slurm/node.h"

/* Together less than the time-outs that gpuctl slurm check asks for. */
#define CONTROLLER_MS 60000
#define LOCK_MS 60000
#define COMPOSE_MS 110000
#define RELEASE_MS 150000
/* GPUs of the job before are on their way back. */
#define WAIT "60s"
#define ARGS_MAX (2 * GRES_KINDS_MAX + 20)

/**
 * struct prolog - a run
 * @id: the job
 * @node: this node, as Slurm calls it
 * @slurmd: our parent at the start
 * @name: of the composition
 * @job: what the controller knows
 */
struct prolog {
	uint32_t id;
	const char *node;
	pid_t slurmd;
	char *name;
	struct job job;
};

static int prolog_fault(const struct prolog *prolog, const char *why)
{
	struct fault fault = { "" };
	bool drained;

	syslog(LOG_ERR, "job %u: %s; %s is drained", prolog->id, why, prolog->node);
	drained = !node_drain(prolog->node, why, &fault);
	if (!drained)
		syslog(LOG_ERR, "%s", fault.text);
	/* Slurm queues a job again for a 1, even one that its user has cancelled. */
	if (drained && job_place(prolog->id, prolog->node) == JOB_PLACE_AWAY)
		return 0;
	/* Nobody waits for the 1. */
	if (getppid() != prolog->slurmd && prolog->job.id)
		job_give_back(&prolog->job, prolog->node, why, &fault);
	return 1;
}

/* What the job has of an earlier start, or does not need. */
static int prolog_release(const struct prolog *prolog)
{
	char *why;
	int ret = 0;

	if (!gpuctl_release(prolog->id, RELEASE_MS, &why)) {
		ret = prolog_fault(prolog, why);
		free(why);
	}
	return ret;
}

static int prolog_compose(const struct prolog *prolog, char **said)
{
	const struct job *job = &prolog->job;
	const char *argv[ARGS_MAX] = { "compose", prolog->name, "--wait", WAIT };
	char *kinds[GRES_KINDS_MAX], *id = mem_printf("%u", prolog->id), *lease = NULL;
	char *reason = mem_printf("Slurm's job %u of user %u", prolog->id, job->uid);
	struct gpuctl_call call = { .argv = argv, .timeout_ms = COMPOSE_MS };
	char tenant[GRES_KIND_MAX];
	size_t n = 4, i;

	for (i = 0; i < job->n_kinds; i++) {
		bool any = !*job->kinds[i].kind;

		kinds[i] = any ? mem_printf("%u", job->kinds[i].count) :
				 mem_printf("%s:%u", job->kinds[i].kind, job->kinds[i].count);
		argv[n++] = any ? "--gpus" : "--gpu";
		argv[n++] = kinds[i];
	}
	gres_tenant(job->account, job->uid, tenant);
	argv[n++] = "--job";
	argv[n++] = id;
	argv[n++] = "--tenant";
	argv[n++] = tenant;
	argv[n++] = "--reason";
	argv[n++] = reason;
	if (job->user && text_name_valid(job->user)) {
		argv[n++] = "--label";
		argv[n++] = job->user;
	}
	if (gres_lease(job->minutes)) {
		lease = mem_printf("%llus", (unsigned long long)gres_lease(job->minutes));
		argv[n++] = "--for";
		argv[n++] = lease;
	}
	gpuctl_run(&call);
	*said = gpuctl_said(&call);
	gpuctl_free(&call);
	for (i = 0; i < job->n_kinds; i++)
		free(kinds[i]);
	free(lease);
	free(reason);
	free(id);
	return call.exit;
}

/* Give the job to another node, or end it: with either it does not run here. */
static int prolog_refuse(const struct prolog *prolog, int exit, const char *why)
{
	char *told = mem_printf("%s: %s", prolog->node, why);
	struct fault fault = { "" };
	int err;

	syslog(LOG_NOTICE, "job %u does not run here: %s", prolog->id, why);
	/* A request that gpuctl does not understand, it understands nowhere. */
	err = exit == GPUCTL_USAGE ? job_end(&prolog->job, told, &fault) :
				     job_give_back(&prolog->job, prolog->node, told, &fault);
	free(told);
	/* Rather a node too few than a job without GPUs. */
	return err ? prolog_fault(prolog, fault.text) : 0;
}

static int prolog_judge(const struct prolog *prolog, int exit, const char *said)
{
	int ret;

	switch (exit) {
	case GPUCTL_DONE:
		/*
		 * Without the slurmd that waits for us nobody starts this job, and slurmctld notices
		 * only when BatchStartTimeout is over.
		 */
		if (getppid() == prolog->slurmd)
			return 0;
		ret = prolog_release(prolog);
		return ret ? ret :
			     prolog_refuse(prolog, exit, "slurmd ended while GPUs were composed");
	case GPUCTL_USAGE:
	case GPUCTL_NO_FIT:
	case GPUCTL_BUSY:
		return prolog_refuse(prolog, exit, said);
	default:
		return prolog_fault(prolog, said);
	}
}

/*
 * A slurmctld that was killed has forgotten what it did last, such as this start. It ends the job here when
 * it hears of it; until then the plugin lets none of its tasks run. Not the host's fault.
 */
static int prolog_stray(const struct prolog *prolog, int lock, const char *why)
{
	int err;

	syslog(LOG_NOTICE, "job %u does not run here: %s", prolog->id, why);
	err = node_job_note(lock, NODE_JOB_ENDED, prolog->node, 0);
	return err ? prolog_fault(prolog, strerror(-err)) : 0;
}

/* No other node has it, either. */
static int prolog_unlicensed(struct prolog *prolog, int lock, const char *why)
{
	int err = node_job_note(lock, NODE_JOB_ENDED, prolog->node, 0);

	prolog->job.id = prolog->id;
	return err ? prolog_fault(prolog, strerror(-err)) :
		     prolog_refuse(prolog, GPUCTL_USAGE, why);
}

static int prolog_run(struct prolog *prolog)
{
	struct fault fault = { "" };
	char *said = NULL;
	bool new;
	int lock, err, ret;

	lock = node_job_lock(prolog->id, LOCK_MS, &new);
	/* Another step of the job is at it, and the plugin waits for that. */
	if (lock == -EBUSY && getenv("GPUFABRIC_IF_NEW"))
		return 0;
	if (lock < 0)
		return prolog_fault(prolog, strerror(-lock));
	/* Another step of the job was first. */
	if (getenv("GPUFABRIC_IF_NEW") && !new)
		return 0;
	/* Of an earlier start of the same job, after which no Epilog ran. */
	if (!new) {
		ret = prolog_release(prolog);
		if (ret)
			return ret;
	}
	err = job_load(prolog->id, prolog->node, CONTROLLER_MS, &prolog->job, &fault);
	if (err == -ENOENT)
		return prolog_stray(prolog, lock, fault.text);
	if (err == -EPERM)
		return prolog_unlicensed(prolog, lock, fault.text);
	if (err)
		return prolog_fault(prolog, fault.text);
	if (!prolog->job.n_kinds) {
		node_job_forget(prolog->id);
		return 0;
	}
	err = node_job_note(lock, NODE_JOB_HERE, prolog->node, 0);
	if (err)
		return prolog_fault(prolog, strerror(-err));
	ret = prolog_compose(prolog, &said);
	ret = prolog_judge(prolog, ret, said);
	free(said);
	job_free(&prolog->job);
	return ret;
}

int main(void)
{
	struct prolog prolog = { .slurmd = getppid(), .node = getenv("SLURMD_NODENAME") };
	const char *gpus = getenv("SLURM_JOB_GPUS");
	int ret;

	openlog("gpufabric-prolog", LOG_PID, LOG_DAEMON);
	if (!gpus || !*gpus)
		return 0;
	if (!node_job_id(getenv("SLURM_JOB_ID"), &prolog.id) || !prolog.node || !*prolog.node) {
		syslog(LOG_ERR,
		       "only slurmd can run this: it sets SLURM_JOB_ID and SLURMD_NODENAME");
		return 1;
	}
	slurm_init(NULL);
	prolog.name = node_composition(prolog.id);
	ret = prolog_run(&prolog);
	free(prolog.name);
	slurm_fini();
	return ret;
}
