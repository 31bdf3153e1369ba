// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: fabric managers
 *
 * A manager has all GPUs of a fabric, and says whose each is; nothing of that is kept on this
 * host. So what this host has is found by asking, also by a gpuctl that did not bind it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf_dir.h"
#include "base/text.h"
#include "managers/manager.h"

static void bad_add(struct managers *managers, int err, const struct fault *f)
{
	const char *hint = err == -EACCES ? "; run gpuctl as root" : "";
	bool denied = err == -EPERM || err == -EACCES;

	managers->bad = mem_push(managers->bad, managers->n_bad, sizeof(*managers->bad));
	managers->bad[managers->n_bad++] = (struct manager_bad){
		.why = mem_printf("%s%s", f->text, hint),
		.exit = denied ? CTL_DENIED : CTL_FAILED,
	};
}

static void take_file(const char *file, void *arg)
{
	struct managers *managers = arg;
	struct manager_conf conf;
	struct fault f = { "" };
	int err = manager_conf_read(file, &conf, &f);

	if (err) {
		bad_add(managers, err, &f);
		manager_conf_free(&conf);
		return;
	}
	managers->conf = mem_push(managers->conf, managers->n, sizeof(*managers->conf));
	managers->conf[managers->n++] = conf;
}

/* The other file that has a slot of this one, NULL for none. */
static const struct manager_conf *find_rival(const struct managers *managers, size_t i,
					     const char **slot)
{
	size_t j, k;

	*slot = NULL;
	for (j = 0; j < managers->n; j++)
		for (k = 0; k < managers->conf[i].n_ports && j != i; k++) {
			*slot = managers->conf[i].ports[k].slot;
			if (manager_port_of(&managers->conf[j], *slot))
				return &managers->conf[j];
		}
	return NULL;
}

/* A slot is at one manager. Of files that do not agree on that none is used. */
static void check_slots(struct managers *managers)
{
	bool *bad = mem_zalloc(managers->n + 1, sizeof(*bad));
	size_t n = 0, i;

	for (i = 0; i < managers->n; i++) {
		const struct manager_conf *rival;
		const char *slot;
		struct fault f = { "" };

		rival = find_rival(managers, i, &slot);
		if (!rival)
			continue;
		bad[i] = true;
		bad_add(managers,
			fault_set(&f, EINVAL, "%s: slot %s is in %s as well",
				  managers->conf[i].file, slot, rival->file),
			&f);
	}
	for (i = 0; i < managers->n; i++)
		if (bad[i])
			manager_conf_free(&managers->conf[i]);
		else
			managers->conf[n++] = managers->conf[i];
	managers->n = n;
	free(bad);
}

void managers_load(struct ctl_ctx *ctx, struct managers *managers)
{
	struct fault f = { "" };
	int err;

	memset(managers, 0, sizeof(*managers));
	err = conf_dir_each(ctx->config_dir, MANAGER_DIR, take_file, managers, &f);
	if (err && err != -ENOENT)
		bad_add(managers, err, &f);
	check_slots(managers);
}

int managers_check(struct ctl_ctx *ctx, const struct managers *managers)
{
	if (!managers->n_bad)
		return CTL_DONE;
	return ctl_fail(ctx, (enum ctl_exit)managers->bad[0].exit, "%s", managers->bad[0].why);
}

void managers_free(struct managers *managers)
{
	while (managers->n)
		manager_conf_free(&managers->conf[--managers->n]);
	while (managers->n_bad)
		free(managers->bad[--managers->n_bad].why);
	free(managers->conf);
	free(managers->bad);
	memset(managers, 0, sizeof(*managers));
}

const struct manager_conf *managers_of_slot(const struct managers *managers, const char *slot)
{
	size_t i;

	for (i = 0; i < managers->n; i++)
		if (manager_port_of(&managers->conf[i], slot))
			return &managers->conf[i];
	return NULL;
}

int manager_inventory(struct ctl_ctx *ctx, const struct manager_conf *conf,
		      const struct catalogue *catalogue, bool patient, struct manager_reply *reply)
{
	const struct manager_request request = { .verb = MANAGER_INVENTORY, .patient = patient };
	int ret = manager_ask(ctx, conf, &request, reply);

	if (!ret && catalogue)
		inventory_identify(&reply->inventory, conf, catalogue);
	return ret;
}

struct manager_asked *managers_inventory(struct ctl_ctx *ctx, const struct managers *managers,
					 const struct catalogue *catalogue)
{
	const struct manager_request request = { .verb = MANAGER_INVENTORY };
	struct manager_asked *asked = mem_zalloc(managers->n + 1, sizeof(*asked));
	size_t i;

	for (i = 0; i < managers->n; i++)
		asked[i].conf = &managers->conf[i];
	managers_ask(ctx, &request, asked, managers->n);
	for (i = 0; i < managers->n; i++) {
		if (asked[i].ret)
			manager_reply_free(&asked[i].reply);
		else if (catalogue)
			inventory_identify(&asked[i].reply.inventory, asked[i].conf, catalogue);
	}
	return asked;
}

void managers_asked_free(struct manager_asked *asked, size_t n)
{
	while (asked && n) {
		manager_reply_free(&asked[--n].reply);
		free(asked[n].why);
	}
	free(asked);
}
