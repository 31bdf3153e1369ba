/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fabric at work: a thread for each host, which alone speaks to it, and what others see of
 * that. The lock is never held while something is waited for, so readers never wait
 * for a host.
 */
#ifndef FM_MANAGER_H
#define FM_MANAGER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "fm/config.h"
#include "fm/fabric.h"
#include "fm/lease.h"
#include "fm/link.h"
#include "fm/metrics.h"
#include "fm/watch.h"

#define MANAGER_TASKS 64

enum task_state {
	TASK_NONE,
	TASK_RUNNING,
	TASK_COMPLETED,
	TASK_FAILED, /* nothing was changed, or all was put back, or @text says what was not */
};

/* What the next start would find of a request. */
enum task_intent {
	INTENT_NOT, /* nothing yet, or nothing is needed: it has one step */
	INTENT_WRITING,
	INTENT_THERE,
	INTENT_FAILED, /* it could not be noted, so nothing is done */
	INTENT_GONE,
};

/**
 * struct task - a request under way, or one of the last
 * @id: from @last_task of struct manager
 * @host: of the zone, or of the first one of several
 * @zones: number of zones that it is for
 * @failed: a step of it has failed, and all of it is put back
 * @away: it failed because the host went away meanwhile
 * @steps: in all zones, of which @done were done
 * @working: number of hosts' threads that have steps to do
 * @noted: number of those that have not done or put back their part
 * @ending: number of hosts' threads that have not ended with it
 * @intent: what was noted of it
 * @waiter: to be told at the end; NULL for none
 */
struct task {
	uint64_t id;
	enum task_state state;
	int host;
	size_t zones;
	uint64_t begun_ms, ended_ms;
	char who[160];
	struct fault text;
	bool failed, away;
	size_t steps, done;
	size_t working, noted, ending;
	enum task_intent intent;
	void *waiter;
};

/**
 * struct manager_zone - what the zone of a host is to have; see fabric_begin()
 */
struct manager_zone {
	int host;
	const int *want;
	size_t want_count;
	const struct fabric_place *wishes;
	size_t wish_count;
};

struct manager_host;
struct recovery;

/**
 * struct manager - all of it
 * @lock: covers @fabric, @watch, @metrics, @tasks, @over, the hosts' jobs, @stopping and @draining
 * @met: no thread has steps of some task left, or the manager stops
 * @config: valid for as long as the manager runs
 * @state: folder of what a restart has to know
 * @leases: of hosts; have a lock of their own, and outlive a reload
 * @recovering: held while an intent of a run before is written anew; covers @recoveries and
 *	@unforgotten of hosts
 * @last_task: the number of the last one; the first one's is the time, as clients remember those of
 *	another run
 * @over: numbers of tasks that are over and whose intent could not be removed
 * @told: called with the lock held when a task with a waiter has ended
 */
struct manager {
	pthread_mutex_t lock;
	pthread_cond_t met;
	const struct config *config;
	const struct link_ops *link;
	const char *state;
	struct leases *leases;
	pthread_mutex_t recovering;
	struct recovery *recoveries;
	size_t recovery_count;
	struct fabric fabric;
	struct watch watch;
	struct metrics metrics;
	struct manager_host *hosts;
	struct task tasks[MANAGER_TASKS];
	uint64_t last_task;
	uint64_t *over;
	size_t over_count;
	int stop;
	bool stopping, draining;
	void (*told)(void *waiter);
};

/* @old may be NULL. @events are told what changes. */
int manager_start(struct manager *manager, const struct config *config, const struct link_ops *link,
		  const char *state, struct leases *leases, void (*told)(void *waiter),
		  struct events *events, const struct manager *old, struct fault *f);
/*
 * Takes no requests any more and ends all threads; one that is under way is cut off, and the next
 * start finds what is there. The rest can be read until manager_free().
 */
void manager_stop(struct manager *manager);
void manager_free(struct manager *manager);

/*
 * For another configuration. True as soon as no request is under way; then, and with @refuse at once,
 * it takes no requests any more.
 */
bool manager_drain(struct manager *manager, bool refuse);
void manager_undrain(struct manager *manager);
/*
 * Who has what goes from one that was stopped to one that starts, by names, and so do tasks. -EBUSY
 * when a host or a GPU that is in use, or a host that may have any GPU, is not in the new
 * configuration or is another one there. To be asked again when the old one has stopped: its
 * threads may have found more meanwhile. Takes the lock itself.
 */
int manager_may_follow(struct manager *old, const struct config *config, struct fault *f);

/* The caller of these holds the lock. */

/*
 * These zones, each of another host, are to have what they want. The task, or NULL with the reason
 * in @answer; REFUSED_BUSY also when the manager stops or has too much to do.
 */
struct task *manager_request(struct manager *manager, const struct manager_zone *zones,
			     size_t count, const char *who, struct fabric_answer *answer);
/* Would such a request be accepted? Nothing is changed. */
bool manager_preview(struct manager *manager, const struct manager_zone *zones, size_t count,
		     struct fabric_answer *answer);
struct task *manager_task(struct manager *manager, uint64_t id);

#endif /* FM_MANAGER_H */
