/* SPDX-License-Identifier: GPL-2.0-only */
/* What Prolog, Epilog and the plugin on one node share: names, and how gpuctl is called. */
#ifndef GPUFABRIC_SLURM_NODE_H
#define GPUFABRIC_SLURM_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the jobs that have, or had, GPUs on this node: a file each, locked by whoever changes them. */
#define NODE_RUN "/run/gpufabric-slurm"
/* The longest name of a node that is heeded. */
#define NODE_NAME_MAX 256

/* Exit codes of gpuctl that are told apart here; those of ctl/cli/ctl.h. */
enum gpuctl_exit {
	GPUCTL_DONE = 0,
	GPUCTL_USAGE = 2, /* release: there is no such composition */
	GPUCTL_NO_FIT = 3, /* too few GPUs, no room, the tenant's limit */
	GPUCTL_BUSY = 4,
	GPUCTL_ENDED = 256, /* it did not end by itself */
};

/* An id of a job; false for anything else. */
bool node_job_id(const char *text, uint32_t *id);

/* The composition of a job; caller frees. */
char *node_composition(uint32_t id);

/*
 * The file of a job, made and locked for at most @wait_ms: a descriptor that gpuctl inherits, so
 * that a job is locked as long as one of them works on it. -EBUSY when somebody else works on
 * it all the time, or another negative errno. *@new: nobody had made it before.
 */
int node_job_lock(uint32_t id, uint64_t wait_ms, bool *new);
void node_job_forget(uint32_t id);

/* What the file of a job says. */
enum node_job {
	NODE_JOB_UNKNOWN, /* nothing: it has had no GPUs here */
	NODE_JOB_HERE, /* its Prolog ran, and no Epilog yet */
	NODE_JOB_ENDED, /* its Epilog ran: Slurm may start it again here, also without a Prolog */
};

/*
 * @fd: of node_job_lock(). @node: this node, as Slurm calls it. @until: when Slurm is to end the job,
 * as far as its lease goes by that, 0 for what it was composed with. 0 or a negative errno.
 */
int node_job_note(int fd, enum node_job what, const char *node, uint64_t until);
/* @node, of @size bytes, gets the name of the node; "" for NODE_JOB_UNKNOWN. */
enum node_job node_job_state(uint32_t id, char *node, size_t size);
/* @until of its note. */
uint64_t node_job_until(uint32_t id);

/**
 * struct gpuctl_call - a call of gpuctl
 * @argv: without the program, ends with NULL
 * @env: whole environment, NULL for that of services
 * @input: for its standard input, NULL for none
 * @timeout_ms: when it is stopped
 * @output_max: how much of the end of its output is kept, 0 for what a message takes
 * @exit: filled: see enum gpuctl_exit
 * @output: filled: what it printed, owned
 */
struct gpuctl_call {
	const char *const *argv;
	char *const *env;
	const char *input;
	uint64_t timeout_ms;
	size_t output_max;
	int exit;
	char *output;
};

int gpuctl_run(struct gpuctl_call *call);
/* The last line that it printed, without "gpuctl: "; caller frees. */
char *gpuctl_said(const struct gpuctl_call *call);
void gpuctl_free(struct gpuctl_call *call);

/*
 * Have the GPUs of a job detached, within @timeout_ms. Who holds one may be on its way out: the last process of the job, or
 * udev's, or what watches GPUs, when they have just come. A job without a composition has none any more. @why, for false, is
 * the reason; caller frees.
 */
bool gpuctl_release(uint32_t id, uint64_t timeout_ms, char **why);

#endif /* GPUFABRIC_SLURM_NODE_H */
