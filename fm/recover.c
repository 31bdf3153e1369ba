// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: requests that a dead manager has left
 *
 * A request of several steps is noted before the first one. A manager that dies meanwhile leaves the
 * note, and the next one undoes what was done: the client was told nothing, and finds all as it was. What
 * was done is not noted, as the fabric says it: a GPU that was to be bound and is there is unbound, one
 * that was to be unbound and is gone is bound again. Until then the zones are busy and these GPUs their
 * own; each host is forgotten in the note when its part is undone, and before it takes requests.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fm/failpoint.h"
#include "fm/intent.h"
#include "fm/journal.h"
#include "fm/recover.h"

#define STORE_EVERY_MS 1000

/**
 * struct recovery - an intent of a run before
 * @intent: with the steps of hosts that are not undone yet
 * @dirty: its file still has more, as it could not be written
 */
struct recovery {
	struct intent intent;
	bool dirty;
};

static void step_drop(struct intent *intent, size_t i)
{
	free(intent->steps[i].host);
	free(intent->steps[i].gpu);
	free(intent->steps[i].port);
	memmove(&intent->steps[i], &intent->steps[i + 1],
		(--intent->count - i) * sizeof(*intent->steps));
}

/* As its file is to be from now on. */
static int intent_store(struct manager *m, struct recovery *r, struct fault *f)
{
	const struct intent *intent = &r->intent;
	int err = intent->count ?
			  intent_write(m->state, intent->task, intent->steps, intent->count, f) :
			  intent_remove(m->state, intent->task, f);

	r->dirty = err;
	return err;
}

/* Without the steps of @host, also if its file alone still has them. */
static int intent_forget(struct manager *m, struct recovery *r, const char *host, struct fault *f)
{
	bool some = false;
	size_t i = 0;

	while (i < r->intent.count) {
		if (strcmp(r->intent.steps[i].host, host)) {
			i++;
			continue;
		}
		step_drop(&r->intent, i);
		some = true;
	}
	return some || r->dirty ? intent_store(m, r, f) : 0;
}

/* False when it is none of this fabric's. Threads are not there yet. */
static bool step_take(struct manager *m, const struct intent_step *step)
{
	struct fabric *fabric = &m->fabric;
	int host = fabric_find_host(fabric, step->host), gpu = fabric_find_gpu(fabric, step->gpu);
	struct manager_host *h;
	int port;

	if (host == FABRIC_NONE || gpu == FABRIC_NONE ||
	    (fabric->gpus[gpu].owner != FABRIC_NONE && fabric->gpus[gpu].owner != host)) {
		journal_say(LOG_WARNING, NULL, step->host, step->gpu,
			    "%s of %s was under way and stays as it is: fm.conf has another fabric now",
			    step->gpu, step->host);
		return false;
	}
	h = &m->hosts[host];
	port = step->port ? fabric_find_port(fabric, host, step->port) : FABRIC_NONE;
	h->undo = mem_push(h->undo, h->undo_count, sizeof(*h->undo));
	h->undo[h->undo_count++] = (struct fabric_step){
		.bind = step->bind,
		.gpu = gpu,
		.port = port,
	};
	fabric->hosts[host].busy = true;
	fabric->gpus[gpu].owner = host;
	fabric->gpus[gpu].state = step->bind ? GPU_BINDING : GPU_UNBINDING;
	return true;
}

/* What stays as it is would be another request's GPU by the time its host is in fm.conf again. */
static void intent_take(struct manager *m, struct recovery *r)
{
	struct intent *intent = &r->intent;
	size_t before = intent->count, i = 0;
	struct fault f = { "" };

	while (i < intent->count) {
		if (step_take(m, &intent->steps[i]))
			i++;
		else
			step_drop(intent, i);
	}
	if (intent->count != before && intent_store(m, r, &f))
		journal_say(LOG_ERR, NULL, NULL, NULL, "%s", f.text);
}

static bool intent_is_over(const struct manager *m, uint64_t task)
{
	size_t i;

	for (i = 0; i < m->over_count; i++)
		if (m->over[i] == task)
			return true;
	return false;
}

int recover_may_begin(struct manager *m, struct fault *f)
{
	struct intent *intents;
	bool dirty = false;
	size_t n, i;
	int err;

	pthread_mutex_lock(&m->recovering);
	for (i = 0; i < m->recovery_count; i++)
		dirty |= m->recoveries[i].dirty;
	pthread_mutex_unlock(&m->recovering);
	if (dirty)
		return fault_set(f, EIO, "%s: a note in it could not be written yet", m->state);
	err = intents_read(m->state, &intents, &n, f);
	intents_free(intents, n);
	return err;
}

int recover_begin(struct manager *m, struct fault *f)
{
	struct intent *intents;
	size_t n, i;
	int err = intents_read(m->state, &intents, &n, f);

	if (err) {
		intents_free(intents, n);
		return err;
	}
	m->recoveries = mem_zalloc(n + 1, sizeof(*m->recoveries));
	m->recovery_count = n;
	for (i = 0; i < n; i++) {
		m->recoveries[i].intent = intents[i];
		if (m->last_task < intents[i].task)
			m->last_task = intents[i].task;
		if (intent_is_over(m, intents[i].task))
			while (m->recoveries[i].intent.count)
				step_drop(&m->recoveries[i].intent, 0);
		else
			intent_take(m, &m->recoveries[i]);
	}
	free(intents);
	return 0;
}

void recover_free(struct manager *m)
{
	size_t i;

	for (i = 0; i < m->recovery_count; i++)
		intent_free(&m->recoveries[i].intent);
	free(m->recoveries);
	free(m->over);
	for (i = 0; i < m->config->host_count; i++)
		free(m->hosts[i].undo);
}

void recover_drop(struct manager_host *h)
{
	if (h->undo_count)
		h->manager->fabric.hosts[h->index].busy = false;
	free(h->undo);
	h->undo = NULL;
	h->undo_count = 0;
}

/* In all notes, with the first error. */
static int host_forget(struct manager_host *h, struct fault *f)
{
	struct manager *m = h->manager;
	struct fault why = { "" };
	int err = 0, one;
	size_t i;

	pthread_mutex_lock(&m->recovering);
	for (i = 0; i < m->recovery_count; i++) {
		one = intent_forget(m, &m->recoveries[i], m->config->hosts[h->index].name, &why);
		if (!one || err)
			continue;
		err = one;
		*f = why;
	}
	h->unforgotten = err;
	pthread_mutex_unlock(&m->recovering);
	return err;
}

void recover_forget(struct manager_host *h)
{
	const char *host = h->manager->config->hosts[h->index].name;
	struct fault f = { "" };

	if (host_forget(h, &f))
		journal_say(LOG_ERR, NULL, host, NULL,
			    "%s, which is off, is not asked again before that is mended: %s", host,
			    f.text);
}

int recover_may_look(struct manager_host *h, struct fault *f)
{
	struct manager *m = h->manager;
	bool unforgotten;

	pthread_mutex_lock(&m->recovering);
	unforgotten = h->unforgotten;
	pthread_mutex_unlock(&m->recovering);
	return unforgotten ? host_forget(h, f) : 0;
}

/* One step backwards, where it was done. */
static int undo_step(struct manager_host *h, const struct fabric_step *step)
{
	struct manager *m = h->manager;
	const char *host = m->config->hosts[h->index].name, *gpu = m->config->gpus[step->gpu].name;
	struct fault f = { "" };
	bool mine, there;
	int err = 0;

	pthread_mutex_lock(&m->lock);
	mine = m->fabric.gpus[step->gpu].owner == h->index;
	there = m->fabric.gpus[step->gpu].there;
	pthread_mutex_unlock(&m->lock);
	if (!mine || there != step->bind || (!step->bind && step->port == FABRIC_NONE))
		return 0;
	if (step->bind)
		err = m->link->unbind(h->link, step->gpu, &f);
	else
		err = m->link->bind(h->link, step->gpu, step->port - h->first_port, &f);
	journal_say(err ? LOG_WARNING : LOG_NOTICE, NULL, host, gpu,
		    "%s %s, as the manager died while it was changed: %s",
		    step->bind ? "unbind" : "bind", gpu, err ? f.text : "done");
	failpoint("undo-done");
	/* What is refused stays as it is. */
	return err == -EREMOTEIO || err == -EBUSY ? 0 : err;
}

/* As long as the host answers: the next start would undo what requests have done meanwhile. */
static int forget_in_the_end(struct manager_host *h,
			     int (*look)(struct manager_host *h, struct fault *f), struct fault *f)
{
	const char *host = h->manager->config->hosts[h->index].name;
	struct pollfd stop = { .fd = h->manager->stop, .events = POLLIN };
	struct fault why = { "" };
	bool said = false;
	int err = look(h, f);

	while (!err && host_forget(h, &why)) {
		if (!said)
			journal_say(LOG_ERR, NULL, host, NULL,
				    "%s takes no requests before that is mended: %s", host,
				    why.text);
		said = true;
		if (poll(&stop, 1, STORE_EVERY_MS) > 0)
			return fault_set(f, ECANCELED, "the manager stops");
		err = look(h, f);
	}
	return err;
}

int recover_host(struct manager_host *h, int (*look)(struct manager_host *h, struct fault *f),
		 struct fault *f)
{
	struct manager *m = h->manager;
	size_t i;
	int err = 0;

	for (i = h->undo_count; i && !err; i--)
		err = undo_step(h, &h->undo[i - 1]);
	if (err || !h->undo_count)
		return err;
	/* The look says what they are now; one that is nowhere is free. */
	pthread_mutex_lock(&m->lock);
	for (i = 0; i < h->undo_count; i++)
		if (m->fabric.gpus[h->undo[i].gpu].owner == h->index &&
		    m->fabric.gpus[h->undo[i].gpu].state != GPU_TWICE)
			m->fabric.gpus[h->undo[i].gpu].state = GPU_UNKNOWN;
	pthread_mutex_unlock(&m->lock);
	err = forget_in_the_end(h, look, f);
	if (err)
		return err;
	pthread_mutex_lock(&m->lock);
	recover_drop(h);
	watch_look(&m->watch, &m->fabric);
	pthread_mutex_unlock(&m->lock);
	return 0;
}

/* All steps of the task, by names. Lock held. */
static struct intent intent_of(struct manager *m, const struct task *task)
{
	struct intent intent = { .task = task->id };
	size_t i, k;

	for (i = 0; i < m->config->host_count; i++) {
		const struct manager_host *h = &m->hosts[i];

		for (k = 0; h->task == task && k < h->txn.count; k++) {
			const struct fabric_step *step = &h->txn.steps[k];

			intent.steps = mem_push(intent.steps, intent.count, sizeof(*intent.steps));
			intent.steps[intent.count++] = (struct intent_step){
				.host = mem_strdup(m->config->hosts[i].name),
				.bind = step->bind,
				.gpu = mem_strdup(m->config->gpus[step->gpu].name),
				.port = step->port == FABRIC_NONE ?
						NULL :
						mem_strdup(m->fabric.ports[step->port].name),
			};
		}
	}
	return intent;
}

/* Lock held, or no threads. */
static void over_add(struct manager *m, uint64_t task)
{
	m->over = mem_push(m->over, m->over_count, sizeof(*m->over));
	m->over[m->over_count++] = task;
}

/* Without the manager's lock. What cannot be removed now, intents_tick() removes. */
static void intent_drop(struct manager *m, uint64_t task)
{
	struct fault f = { "" };

	if (!intent_remove(m->state, task, &f))
		return;
	journal_say(LOG_ERR, NULL, NULL, NULL, "%s", f.text);
	pthread_mutex_lock(&m->lock);
	over_add(m, task);
	pthread_mutex_unlock(&m->lock);
}

bool intent_begin(struct manager_host *h, struct fault *f)
{
	struct manager *m = h->manager;
	struct task *task = h->task;
	struct intent intent;
	bool good;
	int err;

	pthread_mutex_lock(&m->lock);
	if (task->steps > 1 && task->intent == INTENT_NOT) {
		task->intent = INTENT_WRITING;
		intent = intent_of(m, task);
		pthread_mutex_unlock(&m->lock);
		err = intent_write(m->state, intent.task, intent.steps, intent.count, f);
		failpoint("intent-written");
		/* The file can be there although its folder did not reach the disk. */
		if (err)
			intent_drop(m, intent.task);
		intent_free(&intent);
		pthread_mutex_lock(&m->lock);
		task->intent = err ? INTENT_FAILED : INTENT_THERE;
		pthread_cond_broadcast(&m->met);
	}
	while (task->intent == INTENT_WRITING)
		pthread_cond_wait(&m->met, &m->lock);
	good = task->intent != INTENT_FAILED;
	if (!good && !*f->text)
		fault_set(f, EIO, "it could not be noted");
	pthread_mutex_unlock(&m->lock);
	return good;
}

void intent_end(struct manager_host *h)
{
	struct manager *m = h->manager;
	struct task *task = h->task;

	pthread_mutex_lock(&m->lock);
	task->noted--;
	/* Who stops can have put back a part alone; the next start does the rest. */
	if (task->intent == INTENT_THERE && !task->noted && !(m->stopping && task->failed)) {
		pthread_mutex_unlock(&m->lock);
		intent_drop(m, task->id);
		failpoint("intent-removed");
		pthread_mutex_lock(&m->lock);
		task->intent = INTENT_GONE;
		pthread_cond_broadcast(&m->met);
	}
	while (task->intent == INTENT_THERE && !m->stopping)
		pthread_cond_wait(&m->met, &m->lock);
	pthread_mutex_unlock(&m->lock);
}

/* Of hosts that are off meanwhile, or that fm.conf no longer has. */
static void recoveries_tick(struct manager *m)
{
	struct fault f = { "" };
	size_t i;

	pthread_mutex_lock(&m->recovering);
	for (i = 0; i < m->recovery_count; i++)
		if (m->recoveries[i].dirty)
			intent_store(m, &m->recoveries[i], &f);
	pthread_mutex_unlock(&m->recovering);
}

void intents_tick(struct manager *m)
{
	struct fault f = { "" };
	uint64_t task;

	recoveries_tick(m);
	pthread_mutex_lock(&m->lock);
	task = m->over_count ? m->over[m->over_count - 1] : 0;
	pthread_mutex_unlock(&m->lock);
	if (!task || intent_remove(m->state, task, &f))
		return;
	journal_say(LOG_NOTICE, NULL, NULL, NULL, "the note of a request that is over is removed");
	/* A thread can have added one meanwhile. */
	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; i < m->over_count; i++)
		if (m->over[i] == task)
			m->over[i] = m->over[--m->over_count];
	pthread_mutex_unlock(&m->lock);
}

void intents_follow(struct manager *m, const struct manager *old)
{
	size_t i;

	for (i = 0; i < old->over_count; i++)
		over_add(m, old->over[i]);
}
