// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: learning runtimes
 *
 * Jobs come in batches: one tenant sends many of the same width within minutes,
 * and they run for about as long as each other. So a job is expected to run as
 * long as its batch does, drawn towards its class (same tenant, same width), and
 * that towards all jobs. Of a batch the seconds that jobs have run are divided
 * by the jobs that have ended: those that still run say that it takes long, too.
 */
#include <stdlib.h>

#include "base/text.h"
#include "runtimes.h"

#define BATCH_GAP_S 600 /* no longer between two jobs of a batch */
#define CLASS_DECAY 0.98 /* what an ended job counts when one more has ended */
#define ALL_DECAY 0.999
#define PRIOR_WEIGHT 2 /* jobs that the next wider group counts as */
#define FIRST_GUESS_S 3600 /* before anything has ended */

/**
 * struct group - what is known of some jobs
 * @ended: how many have ended, older ones count less
 * @seconds: that these ran, with the same weights
 * @running: jobs that run
 * @began: sum of when these began
 */
struct group {
	double ended;
	double seconds;
	double running;
	double began;
};

/**
 * struct job_class - jobs of one tenant and width
 * @all: all of them
 * @batch: index of the latest batch
 * @last: when its last job arrived
 */
struct job_class {
	uint32_t tenant;
	uint32_t gpus;
	struct group all;
	uint32_t batch;
	int64_t last;
};

/**
 * struct runtimes - all that was seen
 * @all: of all jobs
 * @class_of: class of each job, @batch_of its batch
 * @began: when each began
 */
struct runtimes {
	struct group all;
	struct job_class *classes;
	size_t n_classes;
	struct group *batches;
	size_t n_batches, room;
	uint32_t *class_of;
	uint32_t *batch_of;
	int64_t *began;
};

struct runtimes *runtimes_new(size_t jobs)
{
	struct runtimes *r = mem_zalloc(1, sizeof(*r));

	r->class_of = mem_zalloc(jobs, sizeof(*r->class_of));
	r->batch_of = mem_zalloc(jobs, sizeof(*r->batch_of));
	r->began = mem_zalloc(jobs, sizeof(*r->began));
	r->all.ended = 1;
	r->all.seconds = FIRST_GUESS_S;
	return r;
}

void runtimes_free(struct runtimes *r)
{
	free(r->classes);
	free(r->batches);
	free(r->class_of);
	free(r->batch_of);
	free(r->began);
	free(r);
}

static uint32_t new_batch(struct runtimes *r)
{
	if (r->n_batches == r->room) {
		r->room = r->room ? 2 * r->room : 256;
		r->batches = mem_grow(r->batches, r->room, sizeof(*r->batches));
	}
	r->batches[r->n_batches] = (struct group){ 0 };
	return (uint32_t)r->n_batches++;
}

static uint32_t find_class(struct runtimes *r, uint32_t tenant, uint32_t gpus)
{
	size_t i;

	for (i = 0; i < r->n_classes; i++)
		if (r->classes[i].tenant == tenant && r->classes[i].gpus == gpus)
			return (uint32_t)i;
	r->classes = mem_grow(r->classes, i + 1, sizeof(*r->classes));
	r->classes[i] = (struct job_class){
		.tenant = tenant,
		.gpus = gpus,
		.last = -BATCH_GAP_S - 1,
	};
	r->n_classes++;
	return (uint32_t)i;
}

void runtimes_arrive(struct runtimes *r, uint32_t job, uint32_t tenant, uint32_t gpus, int64_t now)
{
	uint32_t of = find_class(r, tenant, gpus);
	struct job_class *class = &r->classes[of];

	r->class_of[job] = of;
	if (now - class->last > BATCH_GAP_S)
		class->batch = new_batch(r);
	class->last = now;
	r->batch_of[job] = class->batch;
}

static void group_begin(struct group *g, int64_t now)
{
	g->running++;
	g->began += (double)now;
}

void runtimes_begin(struct runtimes *r, uint32_t job, int64_t now)
{
	r->began[job] = now;
	group_begin(&r->batches[r->batch_of[job]], now);
}

static void group_end(struct group *g, int64_t began, int64_t now, double decay)
{
	g->running--;
	g->began -= (double)began;
	g->ended = g->ended * decay + 1;
	g->seconds = g->seconds * decay + (double)(now - began);
}

void runtimes_end(struct runtimes *r, uint32_t job, int64_t now)
{
	int64_t began = r->began[job];

	group_end(&r->batches[r->batch_of[job]], began, now, 1);
	group_end(&r->classes[r->class_of[job]].all, began, now, CLASS_DECAY);
	group_end(&r->all, began, now, ALL_DECAY);
}

double runtimes_expect(const struct runtimes *r, uint32_t job, int64_t now)
{
	const struct group *class = &r->classes[r->class_of[job]].all;
	const struct group *batch = &r->batches[r->batch_of[job]];
	double expect = r->all.seconds / r->all.ended;
	double runs = batch->running * (double)now - batch->began;

	expect = (class->seconds + PRIOR_WEIGHT * expect) / (class->ended + PRIOR_WEIGHT);
	return (batch->seconds + runs + PRIOR_WEIGHT * expect) / (batch->ended + PRIOR_WEIGHT);
}
