/* SPDX-License-Identifier: GPL-2.0-only */
/* What gpuctl asks of the program of a driver, and what it is told: one JSON document each. */
#ifndef GPUCTL_DRIVER_JOB_H
#define GPUCTL_DRIVER_JOB_H

#include <json-c/json.h>

#include "managers/conf.h"

#define JOB_MAX (1u << 20)
#define CHANGE_MAX 256

enum job_verb {
	JOB_INVENTORY,
	JOB_BIND,
	JOB_UNBIND,
	JOB_EVICT,
	JOB_RENEW,
	JOB_RELEASE,
};

/**
 * struct wish - a GPU that is to be bound or unbound
 * @id: at the manager
 * @port: where, as the configuration calls it; NULL for anywhere
 */
struct wish {
	const char *id;
	const char *port;
};

/**
 * struct job - what is asked
 * @verb: which
 * @file: of the manager's configuration
 * @timeout_ms: for it, 0: as the configuration says
 * @host: of JOB_EVICT
 * @credentials: file with user and password instead of the configuration's, NULL for that
 * @wishes: of JOB_BIND and JOB_UNBIND, @n of them
 * @document: what the texts belong to
 */
struct job {
	enum job_verb verb;
	const char *file;
	uint32_t timeout_ms;
	const char *host;
	const char *credentials;
	struct wish *wishes;
	size_t n;
	struct json_object *document;
};

/* 0 or -EINVAL with the reason; job_free() in either case. Pure. */
int job_read(const char *text, size_t len, struct job *job, struct fault *f);
void job_free(struct job *job);

/* As it stands in what gpuctl reads, see managers/inventory.h. */
enum gpu_state {
	GPU_FREE,
	GPU_BOUND,
	GPU_CHANGING,
	GPU_UNUSABLE,
};

/**
 * struct job_gpu - a GPU, as gpuctl is told of it
 * @id: at the manager
 * @vendor, @device, @subsystem_vendor, @subsystem_device: PCI ids, 0 where they are not known
 * @model, @serial, @host, @port, @why: NULL for nothing
 * @state: of it
 */
struct job_gpu {
	const char *id;
	unsigned int vendor;
	unsigned int device;
	unsigned int subsystem_vendor;
	unsigned int subsystem_device;
	const char *model;
	const char *serial;
	enum gpu_state state;
	const char *host;
	const char *port;
	const char *why;
};

/**
 * struct job_port - a port of the configuration as the manager has it
 * @missing: the manager has no such port
 * @host: whose it is, NULL where the manager does not say
 * @link: state of the link, NULL for nothing
 */
struct job_port {
	bool missing;
	char *host;
	char *link;
};

enum change_outcome {
	CHANGE_NONE, /* everything is as before */
	CHANGE_DONE, /* as it was asked for */
	CHANGE_PARTLY, /* for some of the GPUs */
	CHANGE_UNKNOWN, /* the manager could not be asked, or is still at it */
};

/**
 * struct job_outcome - what came of a change
 * @taken: Id of a GPU that somebody else has, NULL for none; @taker: who, NULL where that is
 *	not known
 */
struct job_outcome {
	enum change_outcome outcome;
	const char *taken;
	const char *taker;
};

/* { "gpus": [], "ports": [] }, with as many ports as @conf has; @ports NULL for none of them. */
struct json_object *job_inventory(const struct manager_conf *conf, const struct job_port *ports);
void job_inventory_add(struct json_object *inventory, const struct job_gpu *gpu);

/* The answer: @ret with its text; of a change its @outcome, else NULL; takes @inventory. */
void job_print(int ret, const struct fault *f, const struct job_outcome *outcome,
	       struct json_object *inventory);
/* The same for an action; @lease_ms 0: there is no lease. */
void job_print_action(int ret, const struct fault *f, uint32_t lease_ms);

#endif /* GPUCTL_DRIVER_JOB_H */
