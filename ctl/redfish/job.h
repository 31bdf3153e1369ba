/* SPDX-License-Identifier: GPL-2.0-only */
/* What gpuctl asks of this program, and what it is told: one JSON document each. */
#ifndef GPUCTL_REDFISH_JOB_H
#define GPUCTL_REDFISH_JOB_H

#include "redfish/change.h"

#define JOB_MAX (1u << 20)

enum job_verb {
	JOB_INVENTORY,
	JOB_BIND,
	JOB_UNBIND,
	JOB_EVICT,
	JOB_RENEW,
	JOB_RELEASE,
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

/**
 * struct port_view - a port of the configuration as the manager has it
 * @missing: the manager has no such port
 * @host: whose it is, NULL where the manager does not say
 * @link: state of the link, NULL for nothing
 */
struct port_view {
	bool missing;
	char *host;
	char *link;
};

/* Read them; @ports has as many as the configuration. Returns enum ctl_exit. */
int ports_read(struct view *view, struct port_view *ports, struct fault *f);
void ports_free(struct port_view *ports, size_t n);

/* Print the answer: @ret with its text, and as far as they were read the others (or NULL). */
void job_print(int ret, const struct fault *f, const struct change *change, const struct view *view,
	       const struct port_view *ports);
/* The same for an action; @lease_ms 0: there is no lease. */
void job_print_action(int ret, const struct fault *f, uint32_t lease_ms);

#endif /* GPUCTL_REDFISH_JOB_H */
