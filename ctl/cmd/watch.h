/* SPDX-License-Identifier: GPL-2.0-only */
/* What the verbs of gpuctl watch share. */
#ifndef GPUCTL_CMD_WATCH_H
#define GPUCTL_CMD_WATCH_H

#include "cli/ctl.h"
#include "module/condition.h"
#include "publish/follow.h"
#include "session/session.h"

/* --changes, --slot, --composition, --kind: what is shown */
extern const struct ctl_option watch_options[];

/**
 * struct watch - one run
 * @session: connection and the fabric as it is known, while watch_run() runs
 * @own: what @session points to
 * @limit: changes to show, 0 for no limit
 * @shown: changes shown
 * @until: what is waited for, NULL for nothing
 * @until_text: that as it was typed
 * @end: when waiting for it ends, by text_monotonic(); 0 for never
 * @journal: changes go to the journal
 * @units: units are started for them
 * @follow: what was started
 */
struct watch {
	struct session *session;
	struct session own;
	uint64_t limit;
	uint64_t shown;
	const struct condition *until;
	const char *until_text;
	uint64_t end;
	bool journal;
	bool units;
	struct follow follow;
};

/* Watches until it is over; the command has watch_options. Returns enum ctl_exit. */
int watch_run(struct ctl_ctx *ctx, struct watch *watch);

#endif
