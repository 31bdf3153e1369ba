/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Claims that are prepared and given back, each by a thread of its own, so that whoever asks can
 * stop waiting and ask again.
 */
#ifndef DRA_WORK_H
#define DRA_WORK_H

#include <pthread.h>

#include "dra/api.h"
#include "dra/fabric.h"

enum work_kind {
	WORK_PREPARE,
	WORK_RELEASE,
};

/**
 * struct work_device - a device of a prepared claim
 * @cdi: its id for container runtimes, NULL if another device of the claim has it
 */
struct work_device {
	char *request, *pool, *device, *cdi;
};

/**
 * struct work_result - how it ended
 * @good: it is done; else @reason says why not
 */
struct work_result {
	bool good;
	struct reason reason;
	struct work_device devices[CLAIM_DEVICES_MAX];
	size_t n;
};

/**
 * struct work - all claims under way
 * @fabric, @api: what is worked on
 * @lock: protects the rest
 * @changed: a job has ended; its clock is monotonic
 * @jobs: oldest first
 * @threads: number of threads
 * @ending: nobody waits any more
 */
struct work {
	struct fabric fabric;
	struct api api;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct job *jobs;
	size_t threads;
	bool ending;
};

void work_open(struct work *work);
/* Wait until nothing is under way, at most until then. */
void work_settle(struct work *work, uint64_t until);
/* Whoever waits stops waiting; what is under way goes on. */
void work_end(struct work *work);
/* Wait for what is under way, at most until then, and forget the rest; true if all has ended. */
bool work_close(struct work *work, uint64_t until);

/*
 * Start it, or join what was started for the same claim. The texts are copied. Never waits;
 * work_wait() is called for what is returned, once.
 */
struct job *work_start(struct work *work, enum work_kind kind, const char *namespace,
		       const char *name, const char *uid);
/* False if it has not ended by then; it goes on. */
bool work_wait(struct work *work, struct job *job, uint64_t until, struct work_result *result);
void work_result_free(struct work_result *result);

#endif /* DRA_WORK_H */
