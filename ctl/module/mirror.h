/* SPDX-License-Identifier: GPL-2.0-only */
/* The fabric as it is now: a snapshot, and then every change without a gap. */
#ifndef GPUCTL_MIRROR_H
#define GPUCTL_MIRROR_H

#include "module/nl.h"

/* The module is asked for a lost change when it has said nothing for so long. */
#define MIRROR_QUIET_MS 5000

/**
 * struct mirror - a fabric that is kept up to date
 * @client: where snapshots and events come from
 * @fabric: what is kept up to date; objects move with each change
 * @last: number of the last event that @fabric includes
 * @instance: the load of the module that @last is of
 * @heard: when the module last said something, by text_monotonic()
 * @quiet_ms: MIRROR_QUIET_MS, or 0: it is not asked
 * @error: exit code after MIRROR_ERROR
 * @listens: takes part in the events; without it there are only snapshots
 * @stale: changes were passed over
 * @defers: parts of what changes are not read, see mirror_defer()
 */
struct mirror {
	struct gfc *client;
	struct gf_fabric *fabric;
	uint64_t last;
	uint64_t instance;
	uint64_t heard;
	unsigned int quiet_ms;
	int error;
	bool listens;
	bool stale;
	bool defers;
};

/* What mirror_next() and mirror_rest() found. */
enum mirror_news {
	MIRROR_CHANGE, /* an event that the fabric does not include yet */
	MIRROR_SNAPSHOT, /* changes were lost: the fabric is a new snapshot */
	MIRROR_NOTHING, /* the time is over */
	MIRROR_SIGNAL, /* SIGINT, SIGTERM or SIGHUP came */
	MIRROR_HANGUP, /* the reader of our output is gone, see gfc_mind_reader() */
	MIRROR_ERROR, /* reported to the context */
};

/* @listens: the client has subscribed. What the fabric had is freed by the first snapshot. */
void mirror_init(struct mirror *mirror, struct gfc *client, struct gf_fabric *fabric, bool listens);

/* Take a snapshot, of all or of slots alone; exit code. */
int mirror_refresh(struct mirror *mirror);
int mirror_refresh_slots(struct mirror *mirror);

/*
 * Wait for a change, at most @timeout_ms (-1: for ever). After MIRROR_CHANGE the
 * fabric is as it was before the event, until mirror_apply().
 */
enum mirror_news mirror_next(struct mirror *mirror, int timeout_ms, struct gf_message *event);

/* Bring the fabric up to date with what mirror_next() found, and free it. */
void mirror_apply(struct mirror *mirror, struct gf_message *event);

/*
 * Until mirror_settle() leave the parts of slots and compositions as they were, so that each
 * change of many costs no question to the module. Then read those that are of another moment;
 * exit code.
 */
void mirror_defer(struct mirror *mirror);
int mirror_settle(struct mirror *mirror);

/*
 * Wait for any event without a look at it: the fabric stays as it is, and with it what
 * points into it. What came is made good by a snapshot of the next mirror_next().
 */
enum mirror_news mirror_rest(struct mirror *mirror, int timeout_ms);

#endif /* GPUCTL_MIRROR_H */
