// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: policies to compare with
 *
 * Textbook ones, as favourable to them as their definition allows: runtimes that
 * are known are exact, GPUs are interchangeable, starting costs nothing.
 */
#include <stdlib.h>

#include "base/text.h"
#include "policy.h"

static void fifo_schedule(struct cluster *c)
{
	while (c->head != CLUSTER_NONE && c->jobs->job[c->head].gpus <= c->free)
		cluster_start(c, c->head);
}

const struct policy policy_fifo = {
	.name = "fifo",
	.title = "pool, FIFO",
	.schedule = fifo_schedule,
};

static void greedy_schedule(struct cluster *c)
{
	uint32_t j, next;

	for (j = c->head; j != CLUSTER_NONE && c->free; j = next) {
		next = c->next[j];
		if (c->jobs->job[j].gpus <= c->free)
			cluster_start(c, j);
	}
}

const struct policy policy_greedy = {
	.name = "greedy",
	.title = "pool, greedy",
	.schedule = greedy_schedule,
};

static bool shorter(const struct cluster *c, uint32_t a, uint32_t b)
{
	return c->jobs->job[a].duration < c->jobs->job[b].duration;
}

const struct policy policy_sjf = {
	.name = "sjf",
	.title = "pool, shortest first, runtimes known",
	.before = shorter,
	.schedule = greedy_schedule,
};

/* When the first of the queue can start, and the GPUs that will be left over then. */
static int64_t shadow(const struct cluster *c, uint32_t *spare)
{
	uint32_t need = c->jobs->job[c->head].gpus, free = c->free;
	int64_t at = c->now;
	size_t i;

	for (i = 0; i < c->n_running && free < need; i++) {
		free += c->running[i].gpus;
		at = c->running[i].end;
	}
	/* all that end in the same second are there too */
	for (; i < c->n_running && c->running[i].end == at; i++)
		free += c->running[i].gpus;
	*spare = free - need;
	return at;
}

static void easy_schedule(struct cluster *c)
{
	uint32_t j, next, spare;
	int64_t at;

	fifo_schedule(c);
	if (c->head == CLUSTER_NONE || !c->free)
		return;
	at = shadow(c, &spare);
	for (j = c->next[c->head]; j != CLUSTER_NONE && c->free; j = next) {
		const struct job *job = &c->jobs->job[j];
		bool done = c->now + job->duration <= at;

		next = c->next[j];
		if (job->gpus > c->free || (!done && job->gpus > spare))
			continue;
		if (!done)
			spare -= job->gpus;
		cluster_start(c, j);
	}
}

const struct policy policy_easy = {
	.name = "easy",
	.title = "pool, EASY, runtimes known",
	.schedule = easy_schedule,
};
