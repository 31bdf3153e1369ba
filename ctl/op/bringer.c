// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: who brings cards
 *
 * A slot whose port a file of fabric.d names is its manager's; of the others the hooks of the admin
 * take care, if there are any. Each does its slots in one transaction.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/out.h"
#include "op/bringer.h"

/* A port tells at once that a card has gone; one that never does delays nobody for long. */
#define EMPTY_MS 10000

static struct bringer *bringer_add(struct bringers *bringers, const struct bringer_driver *driver,
				   const struct manager_conf *conf, size_t n)
{
	struct bringer *b;
	size_t i;

	for (i = 0; i < bringers->n; i++)
		if (bringers->list[i].driver == driver && bringers->list[i].conf == conf)
			return &bringers->list[i];
	bringers->list = mem_push(bringers->list, bringers->n, sizeof(*bringers->list));
	b = &bringers->list[bringers->n++];
	*b = (struct bringer){
		.driver = driver,
		.which = mem_zalloc(n + 1, sizeof(*b->which)),
		.conf = conf,
		.gpus = mem_zalloc(n + 1, sizeof(*b->gpus)),
		.n = n,
	};
	return b;
}

/* The hooks, for slots that no manager has. */
static int hooks_add(struct ctl_ctx *ctx, struct bringers *bringers, const bool *left, size_t n,
		     bool bring)
{
	struct hooks assign = { 0 }, unassign = { 0 };
	struct bringer *b;
	size_t i;
	int ret = CTL_DONE;

	for (i = 0; i < n && !left[i];)
		i++;
	if (i == n)
		return CTL_DONE;
	if (bring)
		ret = hooks_find(ctx, HOOK_ASSIGN, &assign);
	if (ret || (bring && !assign.n))
		return ret;
	/* What cannot be given back is not brought. */
	ret = hooks_find(ctx, HOOK_UNASSIGN, &unassign);
	if (ret || (!bring && !unassign.n)) {
		hooks_free(&assign);
		return ret;
	}
	b = bringer_add(bringers, &bringer_hooks, NULL, n);
	b->assign = assign;
	b->unassign = unassign;
	memcpy(b->which, left, n * sizeof(*left));
	return CTL_DONE;
}

static int bringers_group(struct ctl_ctx *ctx, struct bringers *bringers,
			  struct gf_slot *const *slots, const bool *needs, size_t n, bool bring)
{
	bool *left = mem_zalloc(n + 1, sizeof(*left));
	size_t i;
	int ret = CTL_DONE;

	memset(bringers, 0, sizeof(*bringers));
	managers_load(ctx, &bringers->managers);
	for (i = 0; i < n && !ret; i++) {
		const struct manager_conf *conf =
			managers_of_slot(&bringers->managers, slots[i]->name);

		left[i] = (!needs || needs[i]) && !conf;
		if ((!needs || needs[i]) && conf)
			bringer_add(bringers, &bringer_manager, conf, n)->which[i] = true;
		/* It may be at the manager of a file that cannot be used. */
		if (left[i] && bring)
			ret = managers_check(ctx, &bringers->managers);
	}
	if (!ret)
		ret = hooks_add(ctx, bringers, left, n, bring);
	if (ret)
		bringers_free(bringers);
	free(left);
	return ret;
}

int bringers_find(struct ctl_ctx *ctx, struct bringers *bringers, struct gf_slot *const *slots,
		  bool *needs, size_t n)
{
	size_t i;
	int ret = bringers_group(ctx, bringers, slots, needs, n, true);

	for (i = 0; i < n && !ret; i++)
		needs[i] = needs[i] && bringers_of(bringers, i);
	return ret;
}

int bringers_find_back(struct ctl_ctx *ctx, struct bringers *bringers, struct gf_slot *const *slots,
		       size_t n)
{
	return bringers_group(ctx, bringers, slots, NULL, n, false);
}

void bringers_free(struct bringers *bringers)
{
	while (bringers->n) {
		struct bringer *b = &bringers->list[--bringers->n];
		size_t i;

		hooks_free(&b->assign);
		hooks_free(&b->unassign);
		for (i = 0; i < b->n; i++)
			free(b->gpus[i]);
		free(b->gpus);
		free(b->which);
	}
	free(bringers->list);
	managers_free(&bringers->managers);
	memset(bringers, 0, sizeof(*bringers));
}

void bringers_warn(struct session *session, const struct bringers *bringers,
		   const struct hook_slots *about, const bool *which)
{
	size_t i;
	bool any = false;

	for (i = 0; i < about->n; i++)
		any |= which[i] && !managers_of_slot(&bringers->managers, about->names[i]);
	for (i = 0; i < bringers->managers.n_bad && any; i++)
		ctl_warn(session->ctx, "not given back: %s", bringers->managers.bad[i].why);
}

struct bringer *bringers_of(const struct bringers *bringers, size_t i)
{
	size_t j;

	for (j = 0; j < bringers->n; j++)
		if (bringers->list[j].which[i])
			return &bringers->list[j];
	return NULL;
}

bool bringer_slots(const struct bringer *bringer, const bool *which, bool *both)
{
	bool any = false;
	size_t i;

	for (i = 0; i < bringer->n; i++) {
		both[i] = bringer->which[i] && (!which || which[i]);
		any |= both[i];
	}
	return any;
}

int bringers_bring(struct session *session, struct bringers *bringers,
		   const struct hook_slots *about, const struct bring_wish *wishes)
{
	size_t i;
	int ret = CTL_DONE;

	for (i = 0; i < bringers->n && !ret; i++)
		ret = bringers->list[i].driver->bring(session, &bringers->list[i], about, wishes);
	return ret;
}

int bringers_would(struct session *session, struct bringers *bringers,
		   const struct hook_slots *about, const struct bring_wish *wishes)
{
	size_t i;
	int ret = CTL_DONE;

	for (i = 0; i < bringers->n && !ret; i++)
		ret = bringers->list[i].driver->would(session, &bringers->list[i], about, wishes);
	return ret;
}

void bringers_would_return(struct session *session, const struct bringers *bringers,
			   const struct hook_slots *about)
{
	size_t i;

	for (i = 0; i < bringers->n; i++)
		bringers->list[i].driver->would_return(session, &bringers->list[i], about);
}

static int hooks_bring(struct session *session, struct bringer *bringer,
		       const struct hook_slots *about, const struct bring_wish *wishes)
{
	(void)wishes;
	bringer->begun = true;
	return hooks_run(session->ctx, &bringer->assign, about, bringer->which, HOOKS_STOP);
}

static char *hooks_return(struct session *session, struct bringer *bringer,
			  const struct hook_slots *about, const bool *which)
{
	if (!bringer->unassign.n)
		return mem_printf("there is no hook in %s/hooks.d/" HOOK_UNASSIGN ".d",
				  session->ctx->config_dir);
	return hooks_give_back(session->ctx, &bringer->unassign, about, which);
}

static int hooks_would(struct session *session, struct bringer *bringer,
		       const struct hook_slots *about, const struct bring_wish *wishes)
{
	size_t i;

	(void)wishes;
	for (i = 0; i < about->n; i++)
		if (bringer->which[i])
			out_note(session->ctx->out, "would", "would ", "assign a card to %s",
				 about->names[i]);
	hooks_render(session->ctx, &bringer->assign);
	return CTL_DONE;
}

static void hooks_would_return(struct session *session, const struct bringer *bringer,
			       const struct hook_slots *about)
{
	(void)about;
	hooks_render(session->ctx, &bringer->unassign);
}

static char *hooks_by_hand(const struct bringer *bringer, const char *slot)
{
	return mem_printf("%s " HOOK_UNASSIGN " %s",
			  bringer->unassign.n ? bringer->unassign.programs[0] :
						"the tool of the fabric,",
			  slot);
}

static char *hooks_brought(const struct bringer *bringer, size_t i)
{
	(void)bringer;
	(void)i;
	return mem_strdup("the assign hook ended well");
}

const struct bringer_driver bringer_hooks = {
	.bring = hooks_bring,
	.give_back = hooks_return,
	.would = hooks_would,
	.would_return = hooks_would_return,
	.by_hand = hooks_by_hand,
	.brought = hooks_brought,
};

static bool any_off(const struct session *session, char *const *names, const bool *which, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const struct gf_slot *slot = gf_slot_by_name(&session->fabric, names[i]);

		if ((!which || which[i]) && slot && slot->state == GF_STATE_OFF)
			return true;
	}
	return false;
}

void bringers_await_empty(struct session *session, char *const *names, const bool *which, size_t n)
{
	uint64_t now = text_monotonic(), end = now + EMPTY_MS;
	char *before = session->ctx->error;

	session->ctx->error = NULL;
	while (any_off(session, names, which, n) && now < end) {
		if (session_hear(session, (int)(end - now)))
			break;
		now = text_monotonic();
	}
	free(session->ctx->error);
	session->ctx->error = before;
}
