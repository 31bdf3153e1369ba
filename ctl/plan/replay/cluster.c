// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: a pool of GPUs, event by event
 *
 * What happens in one second happens in this order: jobs end, jobs arrive, the
 * policy starts some. The queue is a list through the jobs, so taking one out
 * costs nothing; running jobs are kept sorted by their end, there are never more
 * than GPUs.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cluster.h"

static void enqueue(struct cluster *c, uint32_t job)
{
	uint32_t after = c->tail;

	if (c->policy->before)
		while (after != CLUSTER_NONE && c->policy->before(c, job, after))
			after = c->prev[after];
	c->prev[job] = after;
	c->next[job] = after == CLUSTER_NONE ? c->head : c->next[after];
	if (after == CLUSTER_NONE)
		c->head = job;
	else
		c->next[after] = job;
	if (c->next[job] == CLUSTER_NONE)
		c->tail = job;
	else
		c->prev[c->next[job]] = job;
	c->waiting++;
	if (c->policy->submitted)
		c->policy->submitted(c, job);
}

static void dequeue(struct cluster *c, uint32_t job)
{
	uint32_t next = c->next[job], prev = c->prev[job];

	if (prev == CLUSTER_NONE)
		c->head = next;
	else
		c->next[prev] = next;
	if (next == CLUSTER_NONE)
		c->tail = prev;
	else
		c->prev[next] = prev;
	c->waiting--;
}

void cluster_start(struct cluster *c, uint32_t job)
{
	const struct job *j = &c->jobs->job[job];
	int64_t end = c->now + j->duration;
	size_t at = c->n_running++;

	assert(j->gpus <= c->free && c->start[job] == CLUSTER_NEVER);
	dequeue(c, job);
	c->free -= j->gpus;
	c->start[job] = c->now;
	for (; at && c->running[at - 1].end > end; at--)
		c->running[at] = c->running[at - 1];
	c->running[at] = (struct running){ .end = end, .job = job, .gpus = j->gpus };
}

static void end_due(struct cluster *c)
{
	size_t n = 0, i;

	while (n < c->n_running && c->running[n].end == c->now)
		c->free += c->running[n++].gpus;
	for (i = 0; c->policy->ended && i < n; i++)
		c->policy->ended(c, c->running[i].job);
	c->n_running -= n;
	memmove(c->running, c->running + n, c->n_running * sizeof(*c->running));
}

/* The second of the next event. */
static int64_t next_event(const struct cluster *c, size_t arrived)
{
	int64_t at = c->wake;

	if (arrived < c->jobs->n && c->jobs->job[arrived].submit < at)
		at = c->jobs->job[arrived].submit;
	if (c->n_running && c->running[0].end < at)
		at = c->running[0].end;
	return at;
}

static void run_all(struct cluster *c)
{
	size_t arrived = 0;

	while (arrived < c->jobs->n || c->n_running || c->waiting) {
		int64_t at = next_event(c, arrived);

		assert(at != CLUSTER_NEVER);
		c->busy_seconds += (at - c->now) * (int64_t)(c->pool - c->free);
		c->now = at;
		c->wake = CLUSTER_NEVER;
		end_due(c);
		for (; arrived < c->jobs->n && c->jobs->job[arrived].submit == at; arrived++)
			enqueue(c, (uint32_t)arrived);
		if (c->waiting)
			c->policy->schedule(c);
	}
}

int64_t cluster_run(const struct jobs *jobs, uint32_t pool, const struct policy *policy,
		    const uint32_t *guarantee, int64_t *start)
{
	struct cluster c = {
		.jobs = jobs,
		.guarantee = guarantee,
		.policy = policy,
		.pool = pool,
		.free = pool,
		.wake = CLUSTER_NEVER,
		.head = CLUSTER_NONE,
		.tail = CLUSTER_NONE,
		.start = start,
	};
	size_t i;

	if (!jobs->n)
		return 0;
	c.now = jobs->job[0].submit;
	c.next = mem_zalloc(jobs->n, sizeof(*c.next));
	c.prev = mem_zalloc(jobs->n, sizeof(*c.prev));
	c.running = mem_zalloc(pool, sizeof(*c.running));
	for (i = 0; i < jobs->n; i++)
		start[i] = CLUSTER_NEVER;
	if (policy->setup)
		policy->setup(&c);
	run_all(&c);
	if (policy->cleanup)
		policy->cleanup(&c);
	free(c.next);
	free(c.prev);
	free(c.running);
	return c.busy_seconds;
}
