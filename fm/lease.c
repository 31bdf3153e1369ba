// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: leases
 *
 * Time alone takes nothing from a host: only one that has asked for a lease can lose its GPUs when
 * that is over, since its service has promised that they are not used then. The host counts from
 * before it has asked, the manager from when it was asked, and both by CLOCK_BOOTTIME, which
 * nobody sets; so the host's end comes first.
 *
 * The file has a line for each host that has a lease, "NAME MILLISECONDS", the longest one that was
 * granted. It is written when a host asks for the first time or for a longer one, so seldom.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/replace.h"
#include "base/text.h"
#include "fm/journal.h"
#include "fm/lease.h"

#define LEASES_MAX CONFIG_HOSTS_MAX
#define LEASES_LINE 128

/* Lock held. */
static struct lease *lease_find(const struct leases *l, const char *host)
{
	size_t i;

	for (i = 0; i < l->count; i++)
		if (!strcmp(l->list[i].host, host))
			return &l->list[i];
	return NULL;
}

/* Lock held. */
static struct lease *lease_add(struct leases *l, const char *host)
{
	l->list = mem_push(l->list, l->count, sizeof(*l->list));
	l->list[l->count] = (struct lease){ .host = mem_strdup(host) };
	return &l->list[l->count++];
}

/* Lock held. */
static void lease_remove(struct leases *l, struct lease *lease)
{
	free(lease->host);
	*lease = l->list[--l->count];
}

/* @writing held. The file as it is to be, with @host having @ms, or nothing for 0. */
static int leases_write(struct leases *l, const char *host, uint64_t ms, struct fault *f)
{
	struct text text = { 0 };
	size_t i;
	int err;

	pthread_mutex_lock(&l->lock);
	for (i = 0; i < l->count; i++)
		if (strcmp(l->list[i].host, host))
			text_add(&text, "%s %llu\n", l->list[i].host,
				 (unsigned long long)l->list[i].longest_ms);
	pthread_mutex_unlock(&l->lock);
	if (ms)
		text_add(&text, "%s %llu\n", host, (unsigned long long)ms);
	err = replace_file(l->path, text.text ? text.text : "", 0600);
	free(text.text);
	return err ? fault_set(f, -err, "%s: %s", l->path, replace_error(err)) : 0;
}

static int leases_line(struct leases *l, char *line, struct fault *f)
{
	char *ms = strchr(line, ' ');
	struct lease *lease;
	uint64_t number;

	if (ms)
		*ms++ = '\0';
	if (!ms || !config_name_valid(line) || !text_number(ms, CONFIG_LEASE_MAX_MS, &number) ||
	    lease_find(l, line) || l->count == LEASES_MAX)
		return fault_set(f, EINVAL, "%s: \"%.80s\" is no lease of a host", l->path, line);
	lease = lease_add(l, line);
	lease->longest_ms = number;
	lease->until_ms = text_uptime() + number;
	return 0;
}

static int leases_read(struct leases *l, struct fault *f)
{
	char line[LEASES_LINE];
	FILE *file = fopen(l->path, "re");
	int err = 0;

	if (!file)
		return errno == ENOENT ? 0 :
					 fault_set(f, errno, "%s: %s", l->path, strerror(errno));
	while (!err && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		err = leases_line(l, line, f);
	}
	if (!err && ferror(file))
		err = fault_set(f, EIO, "%s: it cannot be read", l->path);
	fclose(file);
	return err;
}

int leases_open(struct leases *l, const char *folder, struct fault *f)
{
	*l = (struct leases){ .path = mem_printf("%s/leases", folder) };
	pthread_mutex_init(&l->writing, NULL);
	pthread_mutex_init(&l->lock, NULL);
	mkdir(folder, 0700);
	return leases_read(l, f);
}

void leases_close(struct leases *l)
{
	while (l->count)
		free(l->list[--l->count].host);
	free(l->list);
	free(l->path);
	pthread_mutex_destroy(&l->writing);
	pthread_mutex_destroy(&l->lock);
}

static bool keeps(const struct config *config, const char *host)
{
	size_t i;

	for (i = 0; i < config->host_count; i++)
		if (!strcmp(config->hosts[i].name, host))
			return config->hosts[i].fence == FENCE_LEASE;
	return false;
}

/* A host without a reason to have one any more, newly allocated, or NULL. */
static char *leases_stray(struct leases *l, const struct config *config, size_t *from)
{
	char *host = NULL;

	pthread_mutex_lock(&l->lock);
	for (; *from < l->count && !host; (*from)++)
		if (!keeps(config, l->list[*from].host))
			host = mem_strdup(l->list[*from].host);
	pthread_mutex_unlock(&l->lock);
	return host;
}

void leases_keep(struct leases *l, const struct config *config)
{
	struct fault f = { "" };
	size_t from = 0;
	char *host;

	while ((host = leases_stray(l, config, &from))) {
		if (leases_end(l, host, &f))
			journal_say(LOG_ERR, NULL, host, NULL, "the lease of %s: %s", host, f.text);
		else
			from = 0;
		free(host);
	}
}

int leases_renew(struct leases *l, const char *host, uint64_t ms, struct fault *f)
{
	struct lease *lease;
	uint64_t longest;
	int err = 0;

	pthread_mutex_lock(&l->writing);
	pthread_mutex_lock(&l->lock);
	lease = lease_find(l, host);
	longest = lease ? lease->longest_ms : 0;
	pthread_mutex_unlock(&l->lock);
	if (longest < ms)
		err = leases_write(l, host, ms, f);
	pthread_mutex_lock(&l->lock);
	lease = lease_find(l, host);
	if (!err && lease && lease->claimed)
		err = fault_set(f, EBUSY, "the lease of %s is over", host);
	if (!err) {
		uint64_t until = text_uptime() + ms;

		if (!lease)
			lease = lease_add(l, host);
		lease->longest_ms = longest < ms ? ms : longest;
		lease->until_ms = lease->until_ms < until ? until : lease->until_ms;
	}
	pthread_mutex_unlock(&l->lock);
	pthread_mutex_unlock(&l->writing);
	return err;
}

int leases_end(struct leases *l, const char *host, struct fault *f)
{
	struct lease *lease;
	int err = 0;

	pthread_mutex_lock(&l->writing);
	pthread_mutex_lock(&l->lock);
	lease = lease_find(l, host);
	pthread_mutex_unlock(&l->lock);
	if (lease)
		err = leases_write(l, host, 0, f);
	pthread_mutex_lock(&l->lock);
	lease = err ? NULL : lease_find(l, host);
	if (lease)
		lease_remove(l, lease);
	pthread_mutex_unlock(&l->lock);
	pthread_mutex_unlock(&l->writing);
	return err;
}

static bool lease_over(struct leases *l, const char *host, bool claim)
{
	struct lease *lease;
	bool over;

	pthread_mutex_lock(&l->lock);
	lease = lease_find(l, host);
	over = lease && lease->until_ms <= text_uptime();
	if (over && claim)
		lease->claimed = true;
	pthread_mutex_unlock(&l->lock);
	return over;
}

bool leases_over(struct leases *l, const char *host)
{
	return lease_over(l, host, false);
}

bool leases_claim(struct leases *l, const char *host)
{
	return lease_over(l, host, true);
}

void leases_unclaim(struct leases *l, const char *host)
{
	struct lease *lease;

	pthread_mutex_lock(&l->lock);
	lease = lease_find(l, host);
	if (lease)
		lease->claimed = false;
	pthread_mutex_unlock(&l->lock);
}
