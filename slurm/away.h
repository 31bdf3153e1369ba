/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many GPUs of each kind are away from Slurm, of what scontrol and gpuctl print. Pure.
 *
 * A GPU is there when it is free or at a host whose node can run jobs, whether a job has it or not: a
 * job that begins or ends changes nothing. So the number does not depend on what runs, and a
 * reservation of it takes nothing from a job.
 */
#ifndef GPUFABRIC_SLURM_AWAY_H
#define GPUFABRIC_SLURM_AWAY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"

#define AWAY_LICENCE "gf_"
#define AWAY_KINDS_MAX 64
/* What a node says of itself in its field Extra, between semicolons: "gpufabric:KIND:COUNT,KIND:COUNT". */
#define AWAY_WORD "gpufabric:"

/**
 * struct away_kind - a kind of GPUs
 * @name: of the licence, without gf_; owned
 * @total: number of licences
 * @local: of these, GPUs that no fabric manager has
 * @there: GPUs of managers that jobs can have
 */
struct away_kind {
	char *name;
	unsigned int total, local, there;
};

/**
 * struct away_report - GPUs that a node says it cannot use
 * @kind: its place among the kinds
 * @left: how many that were found nowhere else; the pool may know that they are unusable, or somewhere else by now
 * @first, @end: names of the node among the names of nodes
 */
struct away_report {
	size_t kind;
	unsigned int left;
	size_t first, end;
};

/**
 * struct away_host - a host of a fabric manager that Slurm calls otherwise
 * @host: at the manager, @node: in Slurm; owned
 */
struct away_host {
	char *host, *node;
};

/**
 * struct away - all of them
 * @kinds: @n_kinds of them, in the order of the licences
 * @alive: names of nodes that run jobs, @n_alive; owned
 * @reports: of these nodes, @n_reports
 * @hosts: other names, @n_hosts of them
 */
struct away {
	struct away_kind kinds[AWAY_KINDS_MAX];
	size_t n_kinds;
	char **alive;
	size_t n_alive;
	struct away_report *reports;
	size_t n_reports;
	struct away_host *hosts;
	size_t n_hosts;
};

/* "KIND:COUNT" of GPUs that no manager has, and "HOST=NODE": 0 or -EINVAL. */
int away_add_local(struct away *local, const char *text);
int away_add_host(struct away *away, const char *text);

/* scontrol -o show licenses: the kinds, with what @local has of each. 0 or -EINVAL. */
int away_read_licences(struct away *away, const struct away *local, const char *text,
		       struct fault *f);
/* scontrol -o show node: which nodes can run jobs, and what they cannot use. After the licences. */
void away_read_nodes(struct away *away, const char *text);
/* gpuctl -j fabric list: 0 or -EINVAL. */
int away_read_pool(struct away *away, const char *text, struct fault *f);

/* "gf_h100:4,gf_l40s:1", NULL where nothing is away; caller frees. */
char *away_licences(const struct away *away);

/* Of scontrol -o show reservation: the licences of this one, "" for one without; NULL: there is none. */
char *away_reserved(const char *text, const char *reservation);
/* The same licences, in whatever order. */
bool away_same(const char *a, const char *b);

/*
 * gpuctl -j list: GPUs that no composition has and none can get, as "KIND:COUNT,KIND:COUNT" with
 * names of the catalogue; "" for none. NULL with a fault for no list. Caller frees.
 */
char *away_broken(const char *text, struct fault *f);
/* scontrol show node: its field Extra, "" for none; caller frees. */
char *away_extra(const char *text);
/* The same with our word, or without it where @broken is "". Caller frees. */
char *away_extra_with(const char *extra, const char *broken);

void away_free(struct away *away);

#endif /* GPUFABRIC_SLURM_AWAY_H */
