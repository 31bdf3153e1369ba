/* SPDX-License-Identifier: GPL-2.0-only */
/* GPUs of the fabric for a request that this host alone cannot serve. */
#ifndef GPUCTL_SUPPLY_H
#define GPUCTL_SUPPLY_H

#include "choose/handover.h"
#include "choose/request.h"
#include "op/assign.h"

/*
 * A request of @name, whose slots go @to somebody, did not fit on this host; the error is in the
 * context. Bind what is missing of the GPUs that @ask wants by number and kind to empty slots of
 * fabric managers, and attach them, all or none; then make the request @again, with @arg. What
 * another request of this host takes of them meanwhile is bound anew, a few times. When the request
 * fails they go back. With -n it is said what would be bound. Where nothing is missing by number,
 * where the request is one by memory or by a workload, or where there are not enough slots, the
 * error stays. Returns enum ctl_exit; an error says first what this host lacks.
 */
int supply_serve(struct session *session, const struct op_terms *terms,
		 const struct gpu_request *ask, const struct handover_to *to, const char *name,
		 int (*again)(struct session *session, const struct op_terms *terms, void *arg),
		 void *arg);

/* Can fabric managers serve a request that does not fit on this host? */
enum supply_outlook {
	SUPPLY_NEVER, /* they cannot, or need not */
	SUPPLY_LATER, /* once others have given GPUs back, or changes have ended */
	SUPPLY_NOW,
};

/* Ask them; for the same requests as supply_serve(). The snapshot is a new one afterwards. */
int supply_look(struct session *session, const struct op_terms *terms,
		const struct gpu_request *ask, const struct handover_to *to,
		enum supply_outlook *outlook);

#endif /* GPUCTL_SUPPLY_H */
