// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: requests
 *
 * A request says what one zone or several are to have. All of it is judged under one hold of the
 * lock; each host's thread then carries out the part of its zone, and all of them together end as
 * done or as put back.
 */
#include <string.h>
#include <sys/eventfd.h>

#include "base/text.h"
#include "fm/manager_host.h"

/* A place for a task: an unused one, or the oldest that has ended. */
static struct task *task_place(struct manager *m)
{
	struct task *oldest = NULL;
	size_t i;

	for (i = 0; i < MANAGER_TASKS; i++) {
		struct task *task = &m->tasks[i];

		if (task->state == TASK_NONE)
			return task;
		if (task->state != TASK_RUNNING && (!oldest || task->id < oldest->id))
			oldest = task;
	}
	return oldest;
}

static struct manager_host *host_of(struct manager *m, const struct manager_zone *zone)
{
	return &m->hosts[zone->host];
}

static void zone_end(struct manager *m, const struct manager_zone *zone)
{
	struct manager_host *h = host_of(m, zone);

	fabric_finish(&m->fabric, &h->txn);
	fabric_txn_free(&h->txn);
}

/* All zones are marked, or none. */
static bool zones_begin(struct manager *m, const struct manager_zone *zones, size_t count,
			struct fabric_answer *answer)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const struct manager_zone *zone = &zones[i];

		*answer = (struct fabric_answer){ REFUSED_BUSY, FABRIC_NONE, FABRIC_NONE,
						  zone->host };
		if (host_of(m, zone)->task ||
		    !fabric_begin(&m->fabric, zone->host, zone->want, zone->want_count,
				  zone->wishes, zone->wish_count, &host_of(m, zone)->txn, answer))
			break;
	}
	if (i == count)
		return true;
	/* no step was done, so that this is as it was before */
	while (i--)
		zone_end(m, &zones[i]);
	return false;
}

static bool takes_requests(struct manager *m, const struct manager_zone *zones,
			   struct fabric_answer *answer)
{
	*answer = (struct fabric_answer){ REFUSED_BUSY, FABRIC_NONE, FABRIC_NONE, zones[0].host };
	return !m->stopping && !m->draining;
}

bool manager_preview(struct manager *m, const struct manager_zone *zones, size_t count,
		     struct fabric_answer *answer)
{
	size_t i;

	if (!takes_requests(m, zones, answer) || !zones_begin(m, zones, count, answer))
		return false;
	for (i = 0; i < count; i++)
		zone_end(m, &zones[i]);
	return true;
}

struct task *manager_request(struct manager *m, const struct manager_zone *zones, size_t count,
			     const char *who, struct fabric_answer *answer)
{
	struct task *task = task_place(m);
	size_t i;

	if (!takes_requests(m, zones, answer) || !task || !zones_begin(m, zones, count, answer)) {
		m->metrics.refused[answer->refusal]++;
		return NULL;
	}
	*task = (struct task){
		.id = ++m->last_task,
		.state = TASK_RUNNING,
		.host = zones[0].host,
		.zones = count,
		.begun_ms = text_now(),
	};
	strncat(task->who, who, sizeof(task->who) - 1);
	for (i = 0; i < count; i++) {
		struct manager_host *h = host_of(m, &zones[i]);

		if (!h->txn.count) {
			zone_end(m, &zones[i]);
			continue;
		}
		task->steps += h->txn.count;
		task->working++;
		task->noted++;
		task->ending++;
		h->task = task;
		eventfd_write(h->wake, 1);
	}
	if (!task->steps) {
		task->state = TASK_COMPLETED;
		task->ended_ms = task->begun_ms;
	}
	return task;
}

struct task *manager_task(struct manager *m, uint64_t id)
{
	size_t i;

	for (i = 0; i < MANAGER_TASKS; i++)
		if (m->tasks[i].state != TASK_NONE && m->tasks[i].id == id)
			return &m->tasks[i];
	return NULL;
}
