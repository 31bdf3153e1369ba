/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fabric managers: what a host's GPUs of a pool are asked from. A driver, which is a program,
 * knows how to speak to one kind of them.
 */
#ifndef GPUCTL_MANAGERS_MANAGER_H
#define GPUCTL_MANAGERS_MANAGER_H

#include "cli/ctl.h"
#include "managers/inventory.h"

/* A request names at most this number of GPUs. */
#define MANAGER_GPUS_MAX 256

/**
 * struct manager_gpu - a GPU of a change
 * @id: at the manager
 * @port: where it is to come, NULL for anywhere, and for an unbind
 */
struct manager_gpu {
	const char *id;
	const char *port;
};

enum manager_verb {
	MANAGER_INVENTORY,
	MANAGER_BIND,
	MANAGER_UNBIND,
	MANAGER_EVICT,
	MANAGER_RENEW, /* the lease of this host */
	MANAGER_RELEASE, /* it is given up */
};

/**
 * struct manager_request - what is asked of a manager
 * @verb: what
 * @gpus: of a change, all or none; @n of them
 * @host: of an eviction, which is off
 * @credentials: path of a file with user and password that is used instead of the configuration's,
 *	NULL for that
 * @timeout_ms: for a request without a change, instead of the configuration's; 0 for that
 * @patient: signals have to wait
 */
struct manager_request {
	enum manager_verb verb;
	const struct manager_gpu *gpus;
	size_t n;
	const char *host;
	const char *credentials;
	uint32_t timeout_ms;
	bool patient;
};

/**
 * struct manager_bad - a file that is not used
 * @why: with its path, and what to do
 * @exit: enum ctl_exit; CTL_DENIED for one that others can read or write, or that we cannot read
 */
struct manager_bad {
	char *why;
	int exit;
};

/**
 * struct managers - those of this host
 * @conf: of each, in the order of their names
 * @n: number of them
 * @bad: files in error, which may name any slot that no other file names; @n_bad of them
 */
struct managers {
	struct manager_conf *conf;
	size_t n;
	struct manager_bad *bad;
	size_t n_bad;
};

/* Read fabric.d of the configuration; a file in error keeps no other from being used. */
void managers_load(struct ctl_ctx *ctx, struct managers *managers);
void managers_free(struct managers *managers);

/* CTL_DONE, or the error of the first bad file; @managers has one where a slot is nobody's. */
int managers_check(struct ctl_ctx *ctx, const struct managers *managers);

/* The manager that has a slot's port, NULL for none. */
const struct manager_conf *managers_of_slot(const struct managers *managers, const char *slot);

/*
 * Ask a manager, by its driver: enum ctl_exit with the error in the context. @reply is filled also
 * after an error, as far as it is known; manager_reply_free() in any case.
 */
int manager_ask(struct ctl_ctx *ctx, const struct manager_conf *conf,
		const struct manager_request *request, struct manager_reply *reply);

/**
 * struct manager_asked - what one of several managers answered
 * @conf: the manager
 * @reply: as manager_ask() fills it
 * @ret: enum ctl_exit
 * @why: the error, NULL for none
 */
struct manager_asked {
	const struct manager_conf *conf;
	struct manager_reply reply;
	int ret;
	char *why;
};

/* The same of @n managers, whose @conf is set, at the same time. The context keeps its error. */
void managers_ask(struct ctl_ctx *ctx, const struct manager_request *request,
		  struct manager_asked *asked, size_t n);

/*
 * All that each manager has, at the same time, with the kinds of the catalogue (NULL: as they
 * say): an answer for each, in their order, and none where one failed. Free with
 * managers_asked_free().
 */
struct manager_asked *managers_inventory(struct ctl_ctx *ctx, const struct managers *managers,
					 const struct catalogue *catalogue);
void managers_asked_free(struct manager_asked *asked, size_t n);

/* All that it has, with the kinds of the catalogue (NULL: as it says). */
int manager_inventory(struct ctl_ctx *ctx, const struct manager_conf *conf,
		      const struct catalogue *catalogue, bool patient, struct manager_reply *reply);

#endif /* GPUCTL_MANAGERS_MANAGER_H */
