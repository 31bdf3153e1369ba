// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: who says that a host is off
 *
 * A host that no longer answers keeps its GPUs: time is no proof that it is off. An admin may say
 * so (evict), a program of the site may confirm it (fence = PROGRAM), or, where a host is a virtual
 * machine on this machine, nobody listening on its socket is enough (fence = qmp-gone). A host with
 * fence = lease says it beforehand: it promises to use nothing any more when its lease is over.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/program.h"
#include "base/text.h"
#include "fm/fence.h"
#include "fm/journal.h"
#include "fm/recover.h"

#define FENCE_EVERY_MS 10000
#define FENCE_LIMIT_MS 20000

/* What a host that is off had promised is over as well: it asks for a lease when it is back. */
static void drop_lease(struct manager *m, const char *name)
{
	struct fault f = { "" };

	if (leases_end(m->leases, name, &f))
		journal_say(LOG_ERR, NULL, name, NULL, "the lease of %s: %s", name, f.text);
}

static void say_off(struct manager_host *h, const char *by)
{
	struct manager *m = h->manager;
	const char *name = m->config->hosts[h->index].name;
	bool news;

	pthread_mutex_lock(&m->lock);
	news = (!m->fabric.hosts[h->index].busy || h->undo_count) &&
	       !m->fabric.hosts[h->index].asked && m->fabric.hosts[h->index].state != HOST_OFF;
	if (news) {
		recover_drop(h);
		fabric_off(&m->fabric, h->index);
	}
	watch_look(&m->watch, &m->fabric);
	pthread_mutex_unlock(&m->lock);
	if (!news)
		return;
	journal_say(LOG_NOTICE, NULL, name, NULL, "%s is off, by %s: its GPUs are free", name, by);
	drop_lease(m, name);
	recover_forget(h);
}

/* A host that renews while its GPUs are given away would use them. */
static void ask_lease(struct manager_host *h)
{
	struct leases *leases = h->manager->leases;
	const char *name = h->manager->config->hosts[h->index].name;

	if (!leases_claim(leases, name))
		return;
	say_off(h, "its lease, which is over");
	leases_unclaim(leases, name);
}

static bool fence_confirms(struct manager_host *h)
{
	const struct config_host *config = &h->manager->config->hosts[h->index];
	char *variable = mem_printf("GPUFABRIC_HOST=%s", config->name), *complaint;
	char *const argv[] = { config->program, config->name, NULL };
	char *const env[] = { (char *)"PATH=/usr/sbin:/usr/bin:/sbin:/bin", variable, NULL };
	const struct program_limits limits = { .timeout_ms = FENCE_LIMIT_MS,
					       .stop_fd = h->manager->stop };
	struct program program = { .argv = argv, .env = env };
	bool good;

	programs_run(&program, 1, &limits);
	good = program_succeeded(&program);
	if (!good) {
		complaint = program_complaint(&program, &limits);
		journal_say(LOG_INFO, NULL, config->name, NULL,
			    "%s does not confirm that %s is off: %s", config->program, config->name,
			    complaint);
		free(complaint);
	}
	program_free(&program);
	free(variable);
	return good;
}

/* The host does not answer: is it off, by somebody who knows? */
void fence_ask(struct manager_host *h, int err)
{
	const struct config_host *config = &h->manager->config->hosts[h->index];
	enum fabric_host_state state;

	pthread_mutex_lock(&h->manager->lock);
	state = h->manager->fabric.hosts[h->index].state;
	pthread_mutex_unlock(&h->manager->lock);
	if (state == HOST_OFF)
		return;
	if (config->fence == FENCE_QMP_GONE && err == -ECONNREFUSED) {
		say_off(h, "its closed QMP socket");
	} else if (config->fence == FENCE_LEASE) {
		ask_lease(h);
	} else if (config->fence == FENCE_PROGRAM && text_monotonic() >= h->fence_at) {
		if (fence_confirms(h))
			say_off(h, config->program);
		h->fence_at = text_monotonic() + FENCE_EVERY_MS;
	}
}

int fence_evict(struct manager *m, const char *name, const char *who, struct fault *f)
{
	struct fabric *fabric = &m->fabric;
	int host, err = 0;

	pthread_mutex_lock(&m->lock);
	host = fabric_find_host(fabric, name);
	if (host == FABRIC_NONE)
		err = fault_set(f, ENOENT, "there is no host \"%s\"", name);
	else if (fabric->hosts[host].busy && !m->hosts[host].undo_count)
		err = fault_set(f, EBUSY, "a request for the zone of %s is under way", name);
	else if (fabric->hosts[host].state == HOST_UP)
		err = fault_set(f, EBUSY,
				"%s answers, so it is not off: power it off, or remove its GPUs from its zone",
				name);
	else if (fabric->hosts[host].asked)
		err = fault_set(f, EBUSY,
				"gpufabric-fm is reading the GPUs of %s: try again when it has finished",
				name);
	if (!err) {
		recover_drop(&m->hosts[host]);
		fabric_off(fabric, host);
	}
	watch_look(&m->watch, fabric);
	pthread_mutex_unlock(&m->lock);
	if (err)
		journal_say(LOG_WARNING, who, name, NULL, "evict %s: refused: %s", name, f->text);
	else
		journal_say(LOG_NOTICE, who, name, NULL, "evict %s: done: its GPUs are free", name);
	if (err)
		return err;
	drop_lease(m, name);
	recover_forget(&m->hosts[host]);
	return 0;
}

void fence_lapse(struct manager *m)
{
	const struct config_host *config;
	bool any;
	int i;

	for (i = 0; i < m->fabric.host_count; i++) {
		config = &m->config->hosts[i];
		if (config->fence != FENCE_LEASE || !leases_over(m->leases, config->name))
			continue;
		pthread_mutex_lock(&m->lock);
		any = fabric_lapse(&m->fabric, i);
		if (any)
			watch_look(&m->watch, &m->fabric);
		pthread_mutex_unlock(&m->lock);
		if (any)
			journal_say(LOG_NOTICE, NULL, config->name, NULL,
				    "the lease of %s is over: what it has powered off is free",
				    config->name);
	}
}
