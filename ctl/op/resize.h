/* SPDX-License-Identifier: GPL-2.0-only */
/* Adding GPUs to a composition and taking others away, all or none. */
#ifndef GPUCTL_RESIZE_H
#define GPUCTL_RESIZE_H

#include "choose/request.h"
#include "op/terms.h"
#include "session/session.h"

/**
 * struct resize_request - how a composition changes
 * @name: of the composition
 * @gpus: which GPUs come, beside @number of them
 * @relative: @number is of GPUs to add, or to give back where it is negative
 * @number: of GPUs that it is to have, 0: not said
 * @remove: names of slots to give back
 * @n_remove: number of @remove
 * @lease_ms: new lease from now, 0: it stays as it is
 */
struct resize_request {
	const char *name;
	const struct gpu_request *gpus;
	bool relative;
	long number;
	const char **remove;
	size_t n_remove;
	uint64_t lease_ms;
};

/* Resize a composition. With -n nothing is changed. Returns enum ctl_exit. */
int resize(struct session *session, const struct op_terms *terms,
	   const struct resize_request *request);

#endif /* GPUCTL_RESIZE_H */
