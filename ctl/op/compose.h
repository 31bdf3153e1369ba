/* SPDX-License-Identifier: GPL-2.0-only */
/* Giving a workload a set of GPUs, all or none. */
#ifndef GPUCTL_COMPOSE_H
#define GPUCTL_COMPOSE_H

#include "choose/request.h"
#include "module/annotation.h"
#include "op/terms.h"
#include "session/session.h"

/**
 * struct compose_request - what is composed
 * @name: of the composition, checked
 * @gpus: which GPUs
 * @note: for whom; the lease in it is written by compose()
 * @lease_ms: how long it lasts, 0 for ever
 * @wait_ms: how long GPUs that others have, or that change, are waited for; 0: they are not
 * @bind: it is orphaned when this client ends
 * @accepted: out: the module has accepted an attempt: its end is the request's
 */
struct compose_request {
	const char *name;
	const struct gpu_request *gpus;
	struct annotation note;
	uint64_t lease_ms;
	uint64_t wait_ms;
	bool bind;
	bool accepted;
};

/* Choose slots and compose them. With -n nothing is changed or waited for. Returns enum ctl_exit. */
int compose(struct session *session, const struct op_terms *terms, struct compose_request *request);

#endif /* GPUCTL_COMPOSE_H */
