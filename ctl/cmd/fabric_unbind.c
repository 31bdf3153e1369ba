// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl fabric unbind: give GPUs of this host back to the fabric, as one transaction. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "cmd/pool_table.h"
#include "managers/bringing.h"
#include "op/bringer.h"
#include "session/render.h"
#include "session/session.h"

static const struct ctl_option options[] = {
	{ "force", 'f', NULL,
	  "also a GPU whose slot is unknown, although a slot of its manager has power" },
	{ NULL },
};

/**
 * struct giving - GPUs of one manager that are given back
 */
struct giving {
	struct manager_gpu *gpus;
	size_t n;
};

/* By its Id or by its slot; NULL where no manager has bound it to this host. */
static const struct pool_gpu *find_ours(const struct pool_seen *pool, const char *word, size_t *at)
{
	size_t i, j;

	for (i = 0; i < pool->managers.n; i++)
		for (j = 0; j < pool->asked[i].reply.inventory.n; j++) {
			const struct pool_gpu *gpu = &pool->asked[i].reply.inventory.gpus[j];

			if (!gpu->host || strcmp(gpu->host, pool->managers.conf[i].host))
				continue;
			*at = i;
			if (!strcmp(gpu->id, word) || (gpu->slot && !strcmp(gpu->slot, word)))
				return gpu;
		}
	return NULL;
}

/* A slot of this manager with a GPU that is on, NULL for none. */
static const struct gf_slot *find_powered(const struct session *session,
					  const struct manager_conf *conf)
{
	size_t i;

	for (i = 0; i < conf->n_ports; i++) {
		const struct gf_slot *slot = gf_slot_by_name(&session->fabric, conf->ports[i].slot);

		if (slot && !gf_slot_has_no_power(slot))
			return slot;
	}
	return NULL;
}

/* Nobody says where it is: it may be any that is on. */
static int check_anywhere(struct session *session, const struct manager_conf *conf,
			  const struct pool_gpu *gpu)
{
	const struct gf_slot *slot = find_powered(session, conf);

	if (!slot || ctl_flag(session->ctx, "force"))
		return CTL_DONE;
	return ctl_fail(session->ctx, CTL_BUSY,
			"fabric manager %s does not say which slot has %s, and slot %s is %s: detach it, or add --force",
			conf->name, gpu->id, slot->name, render_state(slot->state));
}

/* No card is pulled from under the kernel. */
static int check_off(struct session *session, const struct tree *tree,
		     const struct manager_conf *conf, const struct pool_gpu *gpu)
{
	const struct gf_slot *slot = NULL;

	if (gpu->slot)
		slot = gf_slot_by_name(&session->fabric, gpu->slot);
	if (!slot)
		return gpu->slot ? CTL_DONE : check_anywhere(session, conf, gpu);
	if (gf_slot_has_no_power(slot) && !bringing_is_coming(tree, slot))
		return CTL_DONE;
	if (slot->composition)
		return ctl_fail(session->ctx, CTL_BUSY,
				"%s is in slot %s, which belongs to composition %s: gpuctl release %s",
				gpu->id, slot->name, slot->composition, slot->composition);
	return ctl_fail(session->ctx, CTL_BUSY, "%s is in slot %s, which is %s: gpuctl detach %s",
			gpu->id, slot->name,
			gf_slot_has_no_power(slot) ? "coming up" : render_state(slot->state),
			slot->name);
}

/* @at: the manager that has it. */
static int find_named(struct session *session, const struct pool_seen *pool, const char *word,
		      size_t *at, const struct pool_gpu **gpu)
{
	size_t i;

	*gpu = find_ours(pool, word, at);
	for (i = 0; i < pool->managers.n && !*gpu; i++)
		if (pool->asked[i].ret)
			return ctl_fail(session->ctx, (enum ctl_exit)pool->asked[i].ret,
					"%s: some fabric managers did not answer", word);
	if (!*gpu && pool->managers.n_bad)
		return managers_check(session->ctx, &pool->managers);
	if (!*gpu)
		return ctl_fail(session->ctx, CTL_USAGE,
				"%s: no GPU of a fabric that is bound to this host, and no slot with one: gpuctl fabric lists them",
				word);
	return CTL_DONE;
}

static int giving_take(struct session *session, const struct tree *tree,
		       const struct pool_seen *pool, const char *word, struct giving *giving)
{
	const struct pool_gpu *gpu;
	size_t at = 0, i;
	int ret = find_named(session, pool, word, &at, &gpu);

	if (!ret)
		ret = check_off(session, tree, &pool->managers.conf[at], gpu);
	if (ret)
		return ret;
	for (i = 0; i < giving[at].n; i++)
		if (!strcmp(giving[at].gpus[i].id, gpu->id))
			return ctl_fail(session->ctx, CTL_USAGE, "%s is named twice", gpu->id);
	giving[at].gpus = mem_push(giving[at].gpus, giving[at].n, sizeof(*giving[at].gpus));
	giving[at].gpus[giving[at].n++] = (struct manager_gpu){ .id = gpu->id };
	return CTL_DONE;
}

/*
 * Have the slots where these GPUs are, as far as that is known, so that no other request brings
 * or removes one there.
 */
static int lock_slots(struct session *session, int argc, char **argv, struct bringing *bringing)
{
	char **names = mem_zalloc((size_t)argc + 1, sizeof(*names));
	struct pool_seen pool = { 0 };
	const struct pool_gpu *gpu;
	size_t at, n = 0, i, j;
	int ret = CTL_DONE;

	pool_seen_read(session->ctx, NULL, &pool);
	for (i = 0; i < (size_t)argc && !ret; i++) {
		ret = find_named(session, &pool, argv[i], &at, &gpu);
		if (!ret && gpu->slot)
			names[n++] = mem_strdup(gpu->slot);
	}
	for (i = 1; i < n; i++)
		for (j = 0; j < i && !ret; j++)
			if (!strcmp(names[i], names[j]))
				ret = ctl_fail(session->ctx, CTL_USAGE, "slot %s is named twice",
					       names[i]);
	if (!ret)
		ret = bringing_begin(session->ctx, bringing, names, NULL, n);
	if (!ret)
		ret = session_refresh(session);
	while (n)
		free(names[--n]);
	free(names);
	pool_seen_free(&pool);
	return ret;
}

static int give_all(struct session *session, const struct pool_seen *pool,
		    const struct giving *giving)
{
	struct ctl_ctx *ctx = session->ctx;
	size_t i, j;
	int ret = CTL_DONE;

	for (i = 0; i < pool->managers.n && !ret; i++) {
		const struct manager_request request = {
			.verb = MANAGER_UNBIND,
			.gpus = giving[i].gpus,
			.n = giving[i].n,
		};
		struct manager_reply reply = { 0 };

		if (giving[i].n && !ctx->dry_run)
			ret = manager_ask(ctx, &pool->managers.conf[i], &request, &reply);
		for (j = 0; j < giving[i].n && !ret; j++)
			out_note(ctx->out, ctx->dry_run ? "would" : "given_back",
				 ctx->dry_run ? "would give back " : "given back: ", "%s",
				 giving[i].gpus[j].id);
		manager_reply_free(&reply);
	}
	return ret;
}

static int fabric_unbind(struct session *session, int argc, char **argv)
{
	struct bringing bringing = { 0 };
	struct giving *giving = NULL;
	struct pool_seen pool = { 0 };
	struct fault fault = { "" };
	struct tree tree;
	size_t n;
	int i, ret = CTL_DONE;

	if (!session->ctx->dry_run)
		ret = lock_slots(session, argc, argv, &bringing);
	if (ret)
		return ret;
	/* What was true before may not be so now. */
	tree_open(&tree, NULL, &fault);
	pool_seen_read(session->ctx, NULL, &pool);
	giving = mem_zalloc(pool.managers.n + 1, sizeof(*giving));
	for (i = 0; i < argc && !ret; i++)
		ret = giving_take(session, &tree, &pool, argv[i], giving);
	if (!ret)
		ret = give_all(session, &pool, giving);
	if (!ret && !session->ctx->dry_run)
		bringers_await_empty(session, bringing.names, NULL, bringing.n);
	for (n = 0; n < pool.managers.n; n++)
		free(giving[n].gpus);
	free(giving);
	pool_seen_free(&pool);
	tree_close(&tree);
	bringing_end(&bringing);
	return ret;
}

static int fabric_unbind_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct session session;
	int ret;

	ret = ctl_operands(ctx, argc, 1, MANAGER_GPUS_MAX);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_CHANGE);
	if (ret)
		return ret;
	ret = fabric_unbind(&session, argc, argv);
	session_close(&session);
	return ret;
}

const struct ctl_command cmd_fabric_unbind = {
	.name = "fabric unbind",
	.args = "SLOT|GPU...",
	.summary = "give GPUs of this host back to their fabric, all or none",
	.help = "Give the names of GPUs, as gpuctl fabric lists them, or their slots. If the slot of a GPU has power,\n"
		"the command ends with exit code 4: gpuctl detach powers the slot off and gives the GPU back. If a manager\n"
		"does not say which slot a GPU is in, all slots of that manager must be off, or --force is needed. If the\n"
		"GPUs belong to several fabric managers, each manager is a separate transaction.",
	.options = { options },
	.completes = "@slots",
	.run = fabric_unbind_run,
};
