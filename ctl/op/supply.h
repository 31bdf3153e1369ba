/* SPDX-License-Identifier: GPL-2.0-only */
/* GPUs of the fabric for a request that this host alone cannot serve. */
#ifndef GPUCTL_SUPPLY_H
#define GPUCTL_SUPPLY_H

#include "op/assign.h"
#include "op/offers.h"

/* Make the request again, with its own argument. */
typedef int (*supply_again_fn)(struct session *session, const struct op_terms *terms, void *arg);

/*
 * A request did not fit on this host; the error is in the context. Choose among the GPUs of this host
 * and those that fabric managers can bind to its empty slots, bind and attach the latter, all or
 * none; then make the request @again, with @arg. What others take meanwhile is chosen anew, a few
 * times. When the request fails they go back. With -n it is said what would be bound. Where
 * there are not enough slots, the error stays. Returns enum ctl_exit; an error says first what
 * this host lacks.
 */
int supply_serve(struct session *session, const struct supply_for *request, supply_again_fn again,
		 void *arg);

/* Can fabric managers serve a request that does not fit on this host? */
enum supply_outlook {
	SUPPLY_NEVER, /* they cannot, or need not */
	SUPPLY_LATER, /* once others have given GPUs back, or changes have ended */
	SUPPLY_NOW,
};

/* Ask them. The snapshot is a new one afterwards. */
int supply_look(struct session *session, const struct supply_for *request,
		enum supply_outlook *outlook);

#endif /* GPUCTL_SUPPLY_H */
