// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: reactive, with a hold
 *
 * GPUs go to who asks for them, in order of arrival; when a job has ended they stay
 * with its tenant for an hour, where its next job finds them, and nobody else does.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "policy.h"

#define HOLD_S 3600

/**
 * struct kept - GPUs that a job has left
 * @until: when they go back to all
 */
struct kept {
	int64_t until;
	uint32_t tenant;
	uint32_t gpus;
};

/**
 * struct hold - all that are kept
 * @kept: by @until
 * @own: sum for each tenant
 * @total: of all
 */
struct hold {
	struct kept *kept;
	size_t n, room;
	uint32_t *own;
	uint32_t total;
};

static void policy_hold_setup(struct cluster *c)
{
	struct hold *h = mem_zalloc(1, sizeof(*h));

	h->own = mem_zalloc(c->jobs->n_tenants, sizeof(*h->own));
	c->data = h;
}

static void policy_hold_cleanup(struct cluster *c)
{
	struct hold *h = c->data;

	free(h->kept);
	free(h->own);
	free(h);
}

static void policy_hold_ended(struct cluster *c, uint32_t job)
{
	const struct job *j = &c->jobs->job[job];
	struct hold *h = c->data;

	if (h->n == h->room) {
		h->room = h->room ? 2 * h->room : 64;
		h->kept = mem_grow(h->kept, h->room, sizeof(*h->kept));
	}
	h->kept[h->n++] = (struct kept){ c->now + HOLD_S, j->tenant, j->gpus };
	h->own[j->tenant] += j->gpus;
	h->total += j->gpus;
}

/* Takes @gpus from what the tenant keeps, the oldest first. */
static void policy_hold_take(struct hold *h, uint32_t tenant, uint32_t gpus)
{
	size_t i, n = 0;

	h->own[tenant] -= gpus;
	h->total -= gpus;
	for (i = 0; i < h->n; i++) {
		struct kept *k = &h->kept[i];

		if (k->tenant == tenant && gpus) {
			uint32_t part = k->gpus < gpus ? k->gpus : gpus;

			k->gpus -= part;
			gpus -= part;
		}
		if (k->gpus)
			h->kept[n++] = *k;
	}
	h->n = n;
}

static void expire(struct hold *h, int64_t now)
{
	size_t n = 0;

	for (; n < h->n && h->kept[n].until <= now; n++) {
		h->own[h->kept[n].tenant] -= h->kept[n].gpus;
		h->total -= h->kept[n].gpus;
	}
	if (!n)
		return;
	h->n -= n;
	memmove(h->kept, h->kept + n, h->n * sizeof(*h->kept));
}

static void policy_hold_schedule(struct cluster *c)
{
	struct hold *h = c->data;
	uint32_t j, next;

	expire(h, c->now);
	for (j = c->head; j != CLUSTER_NONE && c->free; j = next) {
		const struct job *job = &c->jobs->job[j];
		uint32_t own = h->own[job->tenant];

		next = c->next[j];
		if (job->gpus > c->free - h->total + own)
			continue;
		if (own)
			policy_hold_take(h, job->tenant, own < job->gpus ? own : job->gpus);
		cluster_start(c, j);
	}
	if (h->n)
		c->wake = h->kept[0].until;
}

const struct policy policy_hold = {
	.name = "hold",
	.title = "reactive, 60 min hold",
	.setup = policy_hold_setup,
	.ended = policy_hold_ended,
	.schedule = policy_hold_schedule,
	.cleanup = policy_hold_cleanup,
};
