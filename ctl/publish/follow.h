/* SPDX-License-Identifier: GPL-2.0-only */
/* Units of systemd that follow the fabric: which are to be started, and starting them. */
#ifndef GPUCTL_FOLLOW_H
#define GPUCTL_FOLLOW_H

#include <sys/types.h>

#include "module/model.h"
#include "publish/known.h"

/* One for each slot, by its name escaped as systemd-escape(1) does it. */
#define FOLLOW_FAULT "gpufabric-fault@"
#define FOLLOW_DETACHED "gpufabric-detached@"
/* What is written anew after any change, and taking back what nobody minds. */
#define FOLLOW_CHANGED "gpufabric-changed.service"
#define FOLLOW_REAP "gpufabric-reap.service"

/**
 * struct follow - what was started, and what is still to be
 * @known: the slots as they were when their units were started
 * @changed: there was a change that @running may not have seen
 * @orphans: a composition has lost its client
 * @due: leases that ended up to here were seen, as are all times here by text_uptime()
 * @reap: something is to be taken back that @reaping may not have seen
 * @running: systemctl that waits for the end of FOLLOW_CHANGED, 0 for none
 * @reaping: systemctl that waits for the end of FOLLOW_REAP, 0 for none
 */
struct follow {
	struct known known;
	bool changed;
	bool orphans;
	uint64_t due;
	bool reap;
	pid_t running;
	pid_t reaping;
};

/* "3-2" is "3\x2d2" in the name of a unit; caller frees. */
char *follow_escape(const char *name);

/*
 * Is a lease over, or a client gone, that was not seen yet? Then it is from now on. What is found
 * while FOLLOW_REAP runs is told when that has ended.
 */
bool follow_takes_back(struct follow *follow, const struct gf_fabric *fabric, uint64_t now);

/* Milliseconds until follow_turn() has something to do, -1 for never. */
int follow_patience(const struct follow *follow, const struct gf_fabric *fabric, uint64_t now);

/* @dir: a folder that keeps over the next start what was told, NULL for none. */
void follow_open(struct follow *follow, const char *dir);
void follow_close(struct follow *follow);

/*
 * A snapshot of the load @instance of the module: what was missed before it is caught up with, with
 * the units of slots that have changed since they were told of.
 */
void follow_snapshot(struct follow *follow, const struct gf_fabric *fabric, uint64_t instance);
/* An event; starts the unit of its slot. */
void follow_event(struct follow *follow, const struct gf_message *event);
/* Write down what was told, if that is due; 0 or a negative errno, and then never again. */
int follow_keep(struct follow *follow);
/* Start what is due; after every event and every wait. */
void follow_turn(struct follow *follow, const struct gf_fabric *fabric, uint64_t now);

#endif /* GPUCTL_FOLLOW_H */
