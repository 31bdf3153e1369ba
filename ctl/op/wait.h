/* SPDX-License-Identifier: GPL-2.0-only */
/* Waiting for the end of operations. */
#ifndef GPUCTL_WAIT_H
#define GPUCTL_WAIT_H

#include "session/session.h"

/**
 * struct wait - an operation that is awaited
 * @slots: names of its slots, for progress; owned
 * @n_slots: how many
 * @operation: as the module answered the request; replaced by its end
 * @over: it has ended
 */
struct wait {
	char **slots;
	size_t n_slots;
	struct gf_operation operation;
	bool over;
};

/*
 * Send a request that starts an operation and fill @wait from the answer;
 * frees @msg. @slots are those that the operation is about.
 */
int wait_start(struct session *session, struct nl_msg *msg, struct gf_slot *const *slots,
	       size_t n_slots, struct wait *wait);

/*
 * Wait until all have ended, with progress on a terminal. Returns CTL_DONE when
 * all ended, whatever their outcome; CTL_TIMEOUT or CTL_FAILED (interrupted)
 * otherwise. The snapshot of the session is up to date afterwards.
 */
int wait_all(struct session *session, struct wait *waits, size_t n);

/* The outcome of one operation: CTL_DONE, or its error with its text. */
int wait_outcome(struct session *session, const struct wait *wait, const char *what);

/* Rows with the outcome of each slot: "slots" in JSON. */
void wait_render(struct session *session, const struct wait *waits, size_t n);

void wait_free(struct wait *wait);

#endif /* GPUCTL_WAIT_H */
