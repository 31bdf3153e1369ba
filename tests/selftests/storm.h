/* SPDX-License-Identifier: GPL-2.0-only */
/* What the processes of a storm have in common; see gfstorm.c. */
#ifndef SELFTESTS_STORM_H
#define SELFTESTS_STORM_H

#include <pthread.h>
#include <stdatomic.h>

#include "ask.h"

#define STORM_SLOTS 16
#define STORM_CLIENTS_MAX 256

/**
 * struct storm - shared by all processes
 * @lock: covers @ebb, @gone, @reload, @live and waits for @changed
 * @changed: one of these has changed, or @operations has come to @next_reload
 * @ebb: somebody waits for the fabric to be free: nobody takes GPUs now
 * @gone: the module is not there
 * @reload: even; odd while the module is being unloaded and loaded
 * @live: clients that may hold GPUs, or have a request for them under way
 * @loads: times that the module was loaded anew
 * @reloads: times that it is still to be
 * @operations: requests that were accepted
 * @next_reload: so many of them before the next reload
 * @wanted: so many of them in all, or more until the module has been loaded so often
 * @over: the clients have ended
 * @owner: which client was told that a slot is its own, 0 for none
 * @conflicts: slots that two had at a time
 * @problems: what else was not expected
 * @refused: requests that were refused as they may be
 * @foreign: of these, for a device that is no GPU
 * @failed: accepted ones that failed as they may, for a GPU that went away
 * @unloading: requests that came while the module went away
 * @surprises: cards that were pulled, put in, or lost their link for a moment
 * @tried: attempts to unload the module
 * @kept: of these, refused
 * @events: events that the observer has read
 * @snapshots: times that it has looked at all compositions at once
 * @missed: times that it has missed events, and began anew
 */
struct storm {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool ebb, gone;
	atomic_uint reload;
	unsigned int live;
	atomic_uint loads, reloads;
	atomic_ulong operations;
	unsigned long next_reload, wanted;
	atomic_bool over;
	atomic_uint owner[STORM_SLOTS];
	atomic_ulong conflicts, problems;
	atomic_ulong refused, foreign, failed, unloading, surprises, tried, kept;
	atomic_ulong events, snapshots, missed;
};

extern struct storm *storm;

void storm_share(void);

/* Says what was not expected; the storm ends as soon as it can. */
void storm_problem(const char *format, ...) __attribute__((format(printf, 1, 2)));
void storm_conflict(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool storm_goes_on(void);

/* Wait for @changed, at most for some milliseconds; the lock is held. */
void storm_wait(int timeout_ms);

/* Index of a slot of the simulator's by its name, -1 for another. */
int storm_slot(const char *name);

/* What the clients know: see storm_owners.c. */
void owners_take(unsigned int client, unsigned int slot);
void owners_give_back(unsigned int client, unsigned int slot);

/* What the kernel says: processes of their own. */
void observe(void);
void reload_again_and_again(unsigned int reloads, const char *module);

#endif /* SELFTESTS_STORM_H */
