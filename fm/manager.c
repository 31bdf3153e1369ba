// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: hosts and their threads
 *
 * Each host has a thread, and only that speaks to it: a guest that takes half a minute to let go
 * of a GPU holds up requests for its own zone and nobody else. A request is judged and marked under
 * the lock, by whoever brings it; the host's thread carries it out without the lock, step by step,
 * and puts back what was done when a step fails. Threads whose zones are part of one request wait
 * for each other before they end: when a step of one fails, each puts back what it has done.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/text.h"
#include "fm/failpoint.h"
#include "fm/fence.h"
#include "fm/journal.h"
#include "fm/recover.h"

#define RETRY_MS 1000

static const char *host_name(const struct manager_host *h)
{
	return h->manager->config->hosts[h->index].name;
}

static const char *gpu_name(const struct manager *m, int gpu)
{
	return m->config->gpus[gpu].name;
}

/* Tells of what was found, and of nothing that was known. Without the lock: a journal may be slow. */
static void host_say_found(const struct manager_host *h, bool first,
			   const enum fabric_gpu_state *before, const enum fabric_gpu_state *after)
{
	const struct manager *m = h->manager;
	int i;

	if (first)
		journal_say(LOG_INFO, NULL, host_name(h), NULL, "%s answers", host_name(h));
	for (i = 0; i < m->fabric.gpu_count; i++) {
		if (after[i] == before[i])
			continue;
		if (after[i] == GPU_BOUND)
			journal_say(LOG_INFO, NULL, host_name(h), gpu_name(m, i), "%s has %s",
				    host_name(h), gpu_name(m, i));
		else if (after[i] == GPU_GONE)
			journal_say(LOG_INFO, NULL, host_name(h), gpu_name(m, i),
				    "%s is no longer in a port of %s and stays in its zone",
				    gpu_name(m, i), host_name(h));
	}
}

/* What a driver knows of a GPU is told where fm.conf does not say it. Lock held. */
static void gpu_identify(struct fabric_gpu *gpu, const struct config_gpu *config,
			 const struct fabric_identity *seen)
{
	size_t i;

	for (i = 0; i < 4; i++)
		if (config->pci[i] < 0 && seen->pci[i] >= 0)
			gpu->identity.pci[i] = seen->pci[i];
	if (config->class_code < 0 && seen->class_code >= 0)
		gpu->identity.class_code = seen->class_code;
}

/* Looks at everything in the host; 0 when it answers. */
static int host_look(struct manager_host *h, struct fault *f)
{
	struct manager *m = h->manager;
	struct fabric *fabric = &m->fabric;
	enum fabric_gpu_state *before, *after;
	struct link_view view;
	bool first;
	int twice, i, err = m->link->connect(h->link, f);
	size_t k;

	if (err)
		return err;
	pthread_mutex_lock(&m->lock);
	fabric->hosts[h->index].asked = true;
	pthread_mutex_unlock(&m->lock);
	err = m->link->look(h->link, &view, f);
	if (err)
		return err;
	for (k = 0; k < view.count; k++)
		if (view.found[k].port != FABRIC_NONE)
			view.found[k].port += h->first_port;
	before = mem_zalloc((size_t)fabric->gpu_count + 1, sizeof(*before));
	after = mem_zalloc((size_t)fabric->gpu_count + 1, sizeof(*after));
	pthread_mutex_lock(&m->lock);
	for (i = 0; i < fabric->gpu_count; i++) {
		before[i] = fabric->gpus[i].state;
		if (view.identities)
			gpu_identify(&fabric->gpus[i], &m->config->gpus[i], &view.identities[i]);
	}
	for (k = 0; k < m->config->hosts[h->index].port_count; k++)
		fabric->ports[(size_t)h->first_port + k].taken = view.taken[k];
	first = fabric->hosts[h->index].state != HOST_UP;
	twice = fabric_found(fabric, h->index, view.found, view.count);
	for (i = 0; i < fabric->gpu_count; i++)
		after[i] = fabric->gpus[i].owner == h->index ? fabric->gpus[i].state : before[i];
	watch_look(&m->watch, fabric);
	pthread_mutex_unlock(&m->lock);
	host_say_found(h, first, before, after);
	if (twice != FABRIC_NONE)
		journal_say(LOG_CRIT, NULL, host_name(h), gpu_name(m, twice),
			    "%s is in %s and in another host at the same time", gpu_name(m, twice),
			    host_name(h));
	h->complained = false;
	h->fence_at = 0;
	free(before);
	free(after);
	free(view.found);
	free(view.identities);
	return 0;
}

static void host_lost(struct manager_host *h, const char *why)
{
	struct manager *m = h->manager;

	pthread_mutex_lock(&m->lock);
	fabric_lost(&m->fabric, h->index);
	m->fabric.hosts[h->index].asked = false;
	watch_look(&m->watch, &m->fabric);
	pthread_mutex_unlock(&m->lock);
	if (!h->complained)
		journal_say(LOG_WARNING, NULL, host_name(h), NULL, "%s does not answer: %s",
			    host_name(h), why);
	h->complained = true;
}

static bool host_has(struct manager_host *h, int gpu)
{
	bool has;

	pthread_mutex_lock(&h->manager->lock);
	has = h->manager->fabric.gpus[gpu].there;
	pthread_mutex_unlock(&h->manager->lock);
	return has;
}

/* One step, or its undoing, with the outcome as a state of the step. */
static enum fabric_step_state host_do(struct manager_host *h, const struct fabric_step *step,
				      bool bind, struct fault *f)
{
	const struct link_ops *link = h->manager->link;
	int err = 0;

	if (bind && step->port != FABRIC_NONE)
		err = link->bind(h->link, step->gpu, step->port - h->first_port, f);
	else if (bind && step->before == GPU_BOUND)
		err = fault_set(f, EREMOTEIO, "it was in none of the ports of %s", host_name(h));
	else if (!bind && host_has(h, step->gpu))
		err = link->unbind(h->link, step->gpu, f);
	h->cut_off = err && err != -EREMOTEIO && err != -EBUSY;
	if (!err)
		return STEP_DONE;
	return h->cut_off && err != -ENOTCONN ? STEP_UNSURE : STEP_FAILED;
}

/* A step or its undoing, which was a bind or an unbind and took @ms. */
static void host_note(struct manager_host *h, size_t i, bool bind, enum fabric_step_state state,
		      uint64_t ms)
{
	struct manager *m = h->manager;

	pthread_mutex_lock(&m->lock);
	metrics_step(&m->metrics, bind, state == STEP_DONE || state == STEP_UNDONE, ms);
	fabric_step(&m->fabric, &h->txn, i, state);
	if (state == STEP_DONE)
		h->task->done++;
	pthread_mutex_unlock(&m->lock);
	failpoint(state == STEP_DONE ? "step-done" : "undo-done");
}

static void host_say_step(const struct manager_host *h, const struct fabric_step *step, bool bind,
			  bool undo, enum fabric_step_state state, const struct fault *f)
{
	const char *gpu = gpu_name(h->manager, step->gpu);
	const char *port = step->port == FABRIC_NONE ? "no port" :
						       h->manager->fabric.ports[step->port].name;
	const char *what = bind ? "bind" : "unbind";

	if (state == STEP_DONE)
		journal_say(LOG_NOTICE, h->task->who, host_name(h), gpu, "%s %s %s %s%s: done",
			    what, gpu, bind ? "to" : "from", port,
			    undo ? ", to put things back" : "");
	else
		journal_say(LOG_WARNING, h->task->who, host_name(h), gpu, "%s %s %s %s%s: %s", what,
			    gpu, bind ? "to" : "from", port, undo ? ", to put things back" : "",
			    f->text);
}

/* Puts back what was done before step @failed. */
static void host_undo(struct manager_host *h, size_t failed, struct fault *why)
{
	enum fabric_step_state state;
	struct fault f;

	while (failed--) {
		struct fabric_step *step = &h->txn.steps[failed];
		uint64_t begun = text_monotonic();

		f.text[0] = '\0';
		state = host_do(h, step, !step->bind, &f);
		host_say_step(h, step, !step->bind, true, state, &f);
		host_note(h, failed, !step->bind,
			  state == STEP_DONE   ? STEP_UNDONE :
			  state == STEP_FAILED ? STEP_STUCK :
						 STEP_UNSURE,
			  text_monotonic() - begun);
		if (state != STEP_DONE)
			fault_add(why, "; %s could not be put back: %s",
				  gpu_name(h->manager, step->gpu), f.text);
	}
}

/*
 * This host's part of the task is done, or has failed. Waits for the parts of other hosts and says
 * whether the task has failed; each part is bounded, and so is the wait.
 */
static bool host_meet(struct manager_host *h, bool failed, const struct fault *why, bool away)
{
	struct manager *m = h->manager;
	struct task *task = h->task;

	pthread_mutex_lock(&m->lock);
	if (failed) {
		if (task->failed)
			fault_add(&task->text, "; %s", why->text);
		else
			task->text = *why;
		task->away |= away;
		task->failed = true;
	}
	if (!--task->working)
		pthread_cond_broadcast(&m->met);
	/* a thread that has ended already does not come */
	while (task->working && !m->stopping)
		pthread_cond_wait(&m->met, &m->lock);
	failed = task->failed;
	pthread_mutex_unlock(&m->lock);
	return failed;
}

static void host_end(struct manager_host *h, const struct fault *more)
{
	struct manager *m = h->manager;
	struct task *task = h->task;

	pthread_mutex_lock(&m->lock);
	fabric_finish(&m->fabric, &h->txn);
	fabric_txn_free(&h->txn);
	h->task = NULL;
	watch_look(&m->watch, &m->fabric);
	fault_add(&task->text, "%s", more->text);
	if (!--task->ending) {
		task->state = task->failed ? TASK_FAILED : TASK_COMPLETED;
		task->ended_ms = text_now();
		if (task->waiter)
			m->told(task->waiter);
		task->waiter = NULL;
	}
	pthread_mutex_unlock(&m->lock);
}

static void host_carry_out(struct manager_host *h)
{
	struct manager *m = h->manager;
	struct fault why = { "" }, more = { "" };
	enum fabric_step_state state = STEP_DONE;
	bool away = false;
	size_t i;

	if (!intent_begin(h, &why))
		state = STEP_FAILED;
	for (i = 0; i < h->txn.count && state == STEP_DONE; i++) {
		uint64_t begun = text_monotonic();

		state = host_do(h, &h->txn.steps[i], h->txn.steps[i].bind, &why);
		host_say_step(h, &h->txn.steps[i], h->txn.steps[i].bind, false, state, &why);
		host_note(h, i, h->txn.steps[i].bind, state, text_monotonic() - begun);
		if (state != STEP_DONE) {
			away = h->cut_off;
			fault_prefix(&why, "%s", gpu_name(m, h->txn.steps[i].gpu));
			host_undo(h, i, &why);
		}
	}
	if (host_meet(h, state != STEP_DONE, &why, away) && state == STEP_DONE)
		host_undo(h, h->txn.count, &more);
	intent_end(h);
	host_end(h, &more);
}

static bool host_has_task(struct manager_host *h)
{
	bool has;

	pthread_mutex_lock(&h->manager->lock);
	has = h->task;
	pthread_mutex_unlock(&h->manager->lock);
	return has;
}

static bool manager_is_stopping(struct manager *m)
{
	bool stopping;

	pthread_mutex_lock(&m->lock);
	stopping = m->stopping;
	pthread_mutex_unlock(&m->lock);
	return stopping;
}

static void host_gone(struct manager_host *h, int gpu)
{
	struct manager *m = h->manager;

	pthread_mutex_lock(&m->lock);
	fabric_gone(&m->fabric, h->index, gpu);
	watch_look(&m->watch, &m->fabric);
	pthread_mutex_unlock(&m->lock);
	journal_say(LOG_INFO, NULL, host_name(h), gpu_name(m, gpu),
		    "%s has powered off the slot of %s", host_name(h), gpu_name(m, gpu));
}

static void host_clear_wake(struct manager_host *h)
{
	eventfd_t count;

	eventfd_read(h->wake, &count);
}

/* As long as the host answers. */
static int host_serve(struct manager_host *h, struct fault *f)
{
	struct manager *m = h->manager;
	int gone, err = 0;

	while (!err && !manager_is_stopping(m)) {
		host_clear_wake(h);
		if (host_has_task(h)) {
			host_carry_out(h);
			err = host_look(h, f);
			continue;
		}
		err = m->link->await(h->link, h->wake, &gone, f);
		if (!err && gone != FABRIC_NONE)
			host_gone(h, gone);
		else if (!err)
			err = host_look(h, f);
		else if (err == -EINTR)
			err = 0;
	}
	return err;
}

static void *host_main(void *arg)
{
	struct manager_host *h = arg;
	struct manager *m = h->manager;
	struct fault f = { "" };
	int err;

	while (!manager_is_stopping(m)) {
		struct pollfd fds[2] = { { .fd = h->wake, .events = POLLIN },
					 { .fd = m->stop, .events = POLLIN } };

		err = recover_may_look(h, &f);
		if (!err)
			err = host_look(h, &f);
		if (!err)
			err = recover_host(h, host_look, &f);
		if (!err)
			err = host_serve(h, &f);
		if (manager_is_stopping(m))
			break;
		host_lost(h, f.text);
		fence_ask(h, err);
		poll(fds, 2, RETRY_MS);
		host_clear_wake(h);
		/* what is in no port can be removed from its zone all the same */
		if (host_has_task(h))
			host_carry_out(h);
	}
	return NULL;
}

static const struct config_host *config_host(const struct config *config, const char *name)
{
	size_t i;

	for (i = 0; i < config->host_count; i++)
		if (!strcmp(config->hosts[i].name, name))
			return &config->hosts[i];
	return NULL;
}

static const struct config_gpu *config_gpu(const struct config *config, const char *name)
{
	size_t i;

	for (i = 0; i < config->gpu_count; i++)
		if (!strcmp(config->gpus[i].name, name))
			return &config->gpus[i];
	return NULL;
}

static bool config_has_port(const struct config_host *host, const char *name)
{
	size_t i;

	for (i = 0; i < host->port_count; i++)
		if (!strcmp(host->ports[i], name))
			return true;
	return false;
}

static bool host_moves(const struct manager *old, int host, const struct config *config,
		       const struct config_host *now)
{
	return config_host_moves(old->config, &old->config->hosts[host], config, now);
}

/* Lock held. */
static int host_may_follow(const struct manager *old, int i, const struct config *config,
			   struct fault *f)
{
	const struct fabric *fabric = &old->fabric;
	const struct fabric_host *host = &fabric->hosts[i];
	const struct config_host *now = config_host(config, host->name);
	int gpu;

	if (now && !host_moves(old, i, config, now))
		return 0;
	if (host->state == HOST_UNSEEN)
		return fault_set(f, EBUSY,
				 "%s has not answered yet and may have any GPU, so it cannot %s%s: evict it first",
				 host->name, now ? "get another " : "leave fm.conf",
				 now ? config_place_key(old->config) : "");
	for (gpu = 0; now && gpu < fabric->gpu_count; gpu++)
		if (fabric->gpus[gpu].owner == i)
			return fault_set(f, EBUSY,
					 "%s is in the zone of %s, which cannot get another %s: remove it from there first, or evict %s",
					 fabric->gpus[gpu].name, host->name,
					 config_place_key(old->config), host->name);
	return 0;
}

/* Lock held. */
static int gpus_may_follow(const struct manager *old, const struct config *config, struct fault *f)
{
	const struct fabric *fabric = &old->fabric;
	int i;

	for (i = 0; i < fabric->gpu_count; i++) {
		const struct fabric_gpu *gpu = &fabric->gpus[i];
		const struct config_gpu *now = config_gpu(config, gpu->name);
		const struct config_host *host;

		if (gpu->owner == FABRIC_NONE)
			continue;
		host = config_host(config, fabric->hosts[gpu->owner].name);
		if (!host || !now || config_gpu_moves(&old->config->gpus[i], now) ||
		    (gpu->port != FABRIC_NONE &&
		     !config_has_port(host, fabric->ports[gpu->port].name)))
			return fault_set(f, EBUSY,
					 "%s is in the zone of %s: remove it from there first",
					 gpu->name, fabric->hosts[gpu->owner].name);
	}
	return 0;
}

int manager_may_follow(struct manager *old, const struct config *config, struct fault *f)
{
	int i, err = 0;

	pthread_mutex_lock(&old->lock);
	for (i = 0; i < old->fabric.host_count && !err; i++)
		err = host_may_follow(old, i, config, f);
	if (!err)
		err = gpus_may_follow(old, config, f);
	pthread_mutex_unlock(&old->lock);
	return err;
}

/* The port of this name and host as the new one counts. */
static int port_now(const struct fabric *fabric, const struct fabric *was, int port)
{
	int host;

	if (port == FABRIC_NONE)
		return FABRIC_NONE;
	host = fabric_find_host(fabric, was->hosts[was->ports[port].host].name);
	return host == FABRIC_NONE ? FABRIC_NONE :
				     fabric_find_port(fabric, host, was->ports[port].name);
}

/* Who has what, as it was; each host is looked at anew before anything is done there. */
static void manager_follow(struct manager *m, const struct manager *old)
{
	struct fabric *fabric = &m->fabric;
	const struct fabric *was = &old->fabric;
	int i, host, gpu;

	for (i = 0; i < was->host_count; i++) {
		host = fabric_find_host(fabric, was->hosts[i].name);
		/* in another place is another machine, which was not asked yet */
		if (host == FABRIC_NONE || host_moves(old, i, m->config, &m->config->hosts[host]))
			continue;
		fabric->hosts[host].state = was->hosts[i].state == HOST_UP ? HOST_LOST :
									     was->hosts[i].state;
	}
	for (i = 0; i < was->gpu_count; i++) {
		const struct fabric_gpu *from = &was->gpus[i];

		gpu = fabric_find_gpu(fabric, from->name);
		if (gpu == FABRIC_NONE)
			continue;
		fabric->gpus[gpu].state = from->state;
		if (from->owner == FABRIC_NONE)
			continue;
		host = fabric_find_host(fabric, was->hosts[from->owner].name);
		fabric->gpus[gpu].owner = host;
		fabric->gpus[gpu].there = from->there;
		fabric->gpus[gpu].home = port_now(fabric, was, from->home);
		fabric->gpus[gpu].port = port_now(fabric, was, from->port);
		if (fabric->gpus[gpu].port != FABRIC_NONE)
			fabric->ports[fabric->gpus[gpu].port].gpu = gpu;
	}
	for (i = 0; i < fabric->gpu_count; i++) {
		gpu = fabric_find_gpu(was, fabric->gpus[i].name);
		/* another card by the name of one that was free was not looked for yet */
		fabric->gpus[i].fresh =
			gpu == FABRIC_NONE ||
			config_gpu_moves(&old->config->gpus[gpu], &m->config->gpus[i]);
	}
	fabric_settle(fabric);
	m->metrics = old->metrics;
	m->last_task = old->last_task;
	intents_follow(m, old);
	memcpy(m->tasks, old->tasks, sizeof(m->tasks));
	for (i = 0; i < MANAGER_TASKS; i++) {
		if (m->tasks[i].state == TASK_NONE)
			continue;
		m->tasks[i].waiter = NULL;
		m->tasks[i].host = fabric_find_host(fabric, was->hosts[m->tasks[i].host].name);
		if (m->tasks[i].host == FABRIC_NONE)
			m->tasks[i].state = TASK_NONE;
	}
}

static void gpu_init(struct fabric_gpu *gpu, const struct config_gpu *config)
{
	strcpy(gpu->name, config->name);
	memcpy(gpu->identity.pci, config->pci, sizeof(gpu->identity.pci));
	gpu->identity.class_code = config->class_code;
}

int manager_start(struct manager *m, const struct config *config, const struct link_ops *link,
		  const char *state, struct leases *leases, void (*told)(void *waiter),
		  struct events *events, const struct manager *old, struct fault *f)
{
	size_t i, k, ports = 0;
	sigset_t all, mask;
	int err = 0;

	*m = (struct manager){
		.config = config,
		.link = link,
		.state = state,
		.leases = leases,
		.told = told,
		.last_task = text_now(),
	};
	pthread_mutex_init(&m->lock, NULL);
	pthread_mutex_init(&m->recovering, NULL);
	pthread_cond_init(&m->met, NULL);
	for (i = 0; i < config->host_count; i++)
		ports += config->hosts[i].port_count;
	fabric_init(&m->fabric, (int)config->host_count, (int)ports, (int)config->gpu_count);
	for (i = 0; i < config->gpu_count; i++)
		gpu_init(&m->fabric.gpus[i], &config->gpus[i]);
	m->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	m->hosts = mem_zalloc(config->host_count + 1, sizeof(*m->hosts));
	for (i = 0, ports = 0; i < config->host_count; i++) {
		struct manager_host *h = &m->hosts[i];

		strcpy(m->fabric.hosts[i].name, config->hosts[i].name);
		/* until the first attempt has failed nobody knows */
		m->fabric.hosts[i].asked = true;
		*h = (struct manager_host){ .manager = m,
					    .index = (int)i,
					    .first_port = (int)ports };
		for (k = 0; k < config->hosts[i].port_count; k++, ports++) {
			strcpy(m->fabric.ports[ports].name, config->hosts[i].ports[k]);
			m->fabric.ports[ports].host = (int)i;
		}
		h->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		h->link = link->open(config, i, m->stop);
	}
	if (old)
		manager_follow(m, old);
	err = recover_begin(m, f);
	watch_init(&m->watch, &m->fabric, config->fabric, events);
	/* signals are for the main thread */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	for (i = 0; i < config->host_count && !err; i++) {
		err = pthread_create(&m->hosts[i].thread, NULL, host_main, &m->hosts[i]);
		m->hosts[i].started = !err;
	}
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (err > 0)
		err = fault_set(f, err, "no thread for each host: %s", strerror(err));
	if (err) {
		manager_stop(m);
		manager_free(m);
	}
	return err;
}

void manager_stop(struct manager *m)
{
	size_t i;

	pthread_mutex_lock(&m->lock);
	m->stopping = true;
	pthread_cond_broadcast(&m->met);
	pthread_mutex_unlock(&m->lock);
	eventfd_write(m->stop, 1);
	for (i = 0; i < m->config->host_count; i++) {
		eventfd_write(m->hosts[i].wake, 1);
		if (m->hosts[i].started)
			pthread_join(m->hosts[i].thread, NULL);
		m->hosts[i].started = false;
		if (m->hosts[i].link)
			m->link->close(m->hosts[i].link);
		m->hosts[i].link = NULL;
	}
}

void manager_free(struct manager *m)
{
	size_t i;

	for (i = 0; i < m->config->host_count; i++) {
		fabric_txn_free(&m->hosts[i].txn);
		close(m->hosts[i].wake);
	}
	recover_free(m);
	free(m->hosts);
	close(m->stop);
	watch_free(&m->watch);
	fabric_free(&m->fabric);
	pthread_cond_destroy(&m->met);
	pthread_mutex_destroy(&m->recovering);
	pthread_mutex_destroy(&m->lock);
}

bool manager_drain(struct manager *m, bool refuse)
{
	bool busy = false;
	int i;

	pthread_mutex_lock(&m->lock);
	for (i = 0; i < m->fabric.host_count; i++)
		busy |= m->fabric.hosts[i].busy && !m->hosts[i].undo_count;
	m->draining = refuse || !busy;
	pthread_mutex_unlock(&m->lock);
	return !busy;
}

void manager_undrain(struct manager *m)
{
	pthread_mutex_lock(&m->lock);
	m->draining = false;
	pthread_mutex_unlock(&m->lock);
}
