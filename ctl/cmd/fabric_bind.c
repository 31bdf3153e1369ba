// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl fabric bind: GPUs of a fabric into empty slots, as one transaction. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "op/assign.h"
#include "session/session.h"

static const struct ctl_option options[] = {
	{ "slot", 's', "SLOT", "an empty slot to use; repeatable, in the order of the GPUs" },
	{ "manager", 'm', "NAME", "only this fabric manager", "" },
	{ NULL },
};

/**
 * struct binding - what is asked for
 * @wishes: a GPU each, @n of them
 * @words: what @wishes point into
 * @slots: as many
 */
struct binding {
	struct bring_wish *wishes;
	char **words;
	struct gf_slot **slots;
	size_t n;
};

/* "gpu3" is one, "h100:4" are four. */
static int binding_take(struct ctl_ctx *ctx, struct binding *b, const char *operand)
{
	char *word = mem_strdup(operand), *colon = strrchr(word, ':');
	uint64_t count = 1, i;

	if (colon)
		*colon = '\0';
	if (!*word || (colon && (!text_number(colon + 1, MANAGER_GPUS_MAX, &count) || !count)) ||
	    (!colon && !manager_is_id(word)) || b->n + count > MANAGER_GPUS_MAX) {
		free(word);
		return ctl_fail(ctx, CTL_USAGE,
				"\"%s\": name a GPU of gpuctl fabric, or write KIND:COUNT, such as h100:2; at most %d",
				operand, MANAGER_GPUS_MAX);
	}
	for (i = 0; i < count; i++) {
		b->wishes = mem_push(b->wishes, b->n, sizeof(*b->wishes));
		b->words = mem_push(b->words, b->n, sizeof(*b->words));
		b->words[b->n] = mem_strdup(word);
		b->wishes[b->n] = (struct bring_wish){ colon ? NULL : b->words[b->n],
						       colon ? b->words[b->n] : NULL };
		b->n++;
	}
	free(word);
	return CTL_DONE;
}

static void binding_free(struct binding *b)
{
	size_t i;

	for (i = 0; i < b->n; i++)
		free(b->words[i]);
	free(b->words);
	free(b->wishes);
	free(b->slots);
}

/* Can a GPU be bound to this slot? */
static int named_slots(struct session *session, struct binding *b)
{
	const char *name;
	char **names = NULL;
	size_t pos = 0, n = 0, i;
	int ret;

	while ((name = ctl_opt_next(session->ctx, "slot", &pos))) {
		names = mem_push(names, n, sizeof(*names));
		names[n++] = (char *)(uintptr_t)name;
	}
	if (n != b->n) {
		free(names);
		return ctl_fail(session->ctx, CTL_USAGE, "--slot: %zu slots for %zu GPUs", n, b->n);
	}
	ret = session_slots(session, (int)n, names, &b->slots);
	free(names);
	if (!ret)
		ret = session_managed(session, b->slots, n);
	for (i = 0; i < n && !ret; i++)
		if (!gf_slot_is_vacant(b->slots[i]))
			ret = ctl_fail(session->ctx, CTL_BUSY, "slot %s is not empty and free",
				       b->slots[i]->name);
	return ret;
}

/* Free slots are looked for at one manager: a GPU comes to no slot of another one. */
static const struct manager_conf *only_manager(struct session *session,
					       const struct managers *managers)
{
	const char *name = ctl_opt(session->ctx, "manager");
	size_t i;

	if (!name && managers->n == 1 && !managers->n_bad)
		return &managers->conf[0];
	for (i = 0; i < managers->n && name; i++)
		if (!strcmp(managers->conf[i].name, name))
			return &managers->conf[i];
	/* It may be one of these. */
	if (managers_check(session->ctx, managers))
		return NULL;
	if (name)
		ctl_fail(session->ctx, CTL_USAGE, "no fabric manager %s: gpuctl fabric lists them",
			 name);
	else if (managers->n)
		ctl_fail(session->ctx, CTL_USAGE,
			 "there are several fabric managers: name one with --manager");
	else
		ctl_fail(session->ctx, CTL_USAGE,
			 "there is no fabric manager: see gpuctl-fabric(5)");
	return NULL;
}

static int free_slots(struct session *session, const struct managers *managers, struct binding *b)
{
	const struct manager_conf *conf = only_manager(session, managers);
	size_t n = 0, i;

	if (!conf)
		return managers->n_bad ? managers->bad[0].exit : CTL_USAGE;
	b->slots = mem_zalloc(b->n + 1, sizeof(*b->slots));
	for (i = 0; i < conf->n_ports && n < b->n; i++) {
		struct gf_slot *slot = gf_slot_by_name(&session->fabric, conf->ports[i].slot);

		if (slot && gf_slot_is_vacant(slot))
			b->slots[n++] = slot;
	}
	if (n == b->n)
		return CTL_DONE;
	return ctl_fail(session->ctx, CTL_NO_FIT,
			"%zu GPUs, but %zu empty slots at fabric manager %s", b->n, n, conf->name);
}

/* Every slot has to be some manager's: a hook would not know which GPU is meant. */
static int check_managers(struct session *session, const struct managers *managers,
			  const struct binding *b)
{
	size_t i;

	for (i = 0; i < b->n; i++)
		if (!managers_of_slot(managers, b->slots[i]->name))
			return managers->n_bad ?
				       managers_check(session->ctx, managers) :
				       ctl_fail(session->ctx, CTL_USAGE,
						"slot %s is in no file of fabric.d: see gpuctl-fabric(5)",
						b->slots[i]->name);
	return CTL_DONE;
}

static void say_bound(struct session *session, const struct assigned *assigned)
{
	size_t i;

	for (i = 0; i < assigned->about.n; i++) {
		const struct bringer *bringer = bringers_of(&assigned->bringers, i);

		if (bringer && bringer->gpus[i])
			out_note(session->ctx->out, "bound", "", "%s: bound to slot %s",
				 bringer->gpus[i], assigned->about.names[i]);
	}
}

static int fabric_bind(struct session *session, struct binding *b)
{
	struct op_terms terms;
	struct assigned assigned;
	struct managers managers;
	int ret;

	ret = terms_read(session->ctx, 0, 0, &terms);
	if (ret)
		return ret;
	managers_load(session->ctx, &managers);
	ret = ctl_flag(session->ctx, "slot") ? named_slots(session, b) :
					       free_slots(session, &managers, b);
	if (!ret)
		ret = check_managers(session, &managers, b);
	managers_free(&managers);
	if (!ret)
		ret = assigned_bring(session, &assigned, &terms, b->slots, b->wishes, b->n);
	if (ret)
		return ret;
	if (!session->ctx->dry_run)
		say_bound(session, &assigned);
	assigned_free(&assigned);
	return CTL_DONE;
}

static int fabric_bind_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct binding binding = { 0 };
	struct session session;
	int i, ret;

	ret = ctl_operands(ctx, argc, 1, MANAGER_GPUS_MAX);
	for (i = 0; i < argc && !ret; i++)
		ret = binding_take(ctx, &binding, argv[i]);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_CHOOSE);
	if (!ret) {
		ret = fabric_bind(&session, &binding);
		session_close(&session);
	}
	binding_free(&binding);
	return ret;
}

const struct ctl_command cmd_fabric_bind = {
	.name = "fabric bind",
	.args = "GPU|KIND:COUNT...",
	.summary = "bind GPUs of a fabric to empty slots, all or none",
	.help = "Give the names of GPUs, as gpuctl fabric lists them, or kind and number; \"any\" is every kind. The\n"
		"manager binds the GPUs to its first empty slots, or to the slots that --slot names. The command waits\n"
		"until the cards appear in the slots. If it fails, it gives all these GPUs back. The exit code is 3 if too\n"
		"few GPUs are free, and the error names the hosts that have them. If another host takes a GPU first, the\n"
		"command takes another GPU, unless you named the GPU. gpuctl attach binds a GPU and powers it on.",
	.options = { options, session_options },
	.completes = "@kinds",
	.run = fabric_bind_run,
};
