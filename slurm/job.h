/* SPDX-License-Identifier: GPL-2.0-only */
/* What the controller knows of a job, and what it is asked to do with it. */
#ifndef GPUFABRIC_SLURM_JOB_H
#define GPUFABRIC_SLURM_JOB_H

#include "base/fault.h"
#include "slurm/gres.h"

/**
 * struct job - a job on one node
 * @id, @uid, @minutes: its numbers; the last is its time limit as Slurm has it, with what it may go on after that
 * @nodes: how many it needs at least
 * @account, @user, @partition, @excluded: owned, may be NULL
 * @bound: it names its nodes itself, or what they need to have
 * @licences: owned, may be NULL
 * @kinds: GPUs of the pool that it has on the node, @n_kinds kinds
 */
struct job {
	uint32_t id, uid, minutes, nodes;
	char *account, *user, *partition, *excluded, *licences;
	bool bound;
	struct gres_gpus kinds[GRES_KINDS_MAX];
	size_t n_kinds;
};

/*
 * Ask for a job until there is an answer, for at most @wait_ms: a controller that restarts is
 * waited for. 0 or a negative errno; -ENOENT for a job that the controller does not know, or that is not on @node,
 * -EPERM for one that has slots of the pool and no licence for them.
 */
int job_load(uint32_t id, const char *node, uint64_t wait_ms, struct job *job, struct fault *f);
void job_free(struct job *job);

/*
 * This node cannot have its GPUs now, and that is nobody's fault: a batch job is queued again, for
 * another node where there is one; any other is told @why and ends. 0 when one of them was done.
 */
int job_give_back(const struct job *job, const char *node, const char *why, struct fault *f);

/* End a job that cannot be served anywhere. */
int job_end(const struct job *job, const char *why, struct fault *f);

/* Take a node out of service with a reason that admins see in sinfo -R. */
int node_drain(const char *node, const char *why, struct fault *f);

enum job_place {
	JOB_PLACE_UNKNOWN, /* the controller does not say */
	JOB_PLACE_HERE, /* it runs on the node, or is made ready for that */
	JOB_PLACE_AWAY, /* it does not, or is on its way out */
};

/* Where a job is, as seen from a node. */
enum job_place job_place(uint32_t id, const char *node);

/* The place of a host in a list of hosts, -1 for none. */
int host_place(const char *list, const char *host);

#endif /* GPUFABRIC_SLURM_JOB_H */
