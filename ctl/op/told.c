// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: what a workload is told
 *
 * Programs in resize.d are called with "shrink SLOT..." before GPUs of a composition go and with "grow
 * SLOT..." after GPUs have come. They end processes or start them, or call what the workload listens to.
 * Their exit codes decide nothing: a GPU goes when nobody holds it. One that is held at the deadline
 * stays, and the workload, which may have let go of others, is told that it has grown again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "op/told.h"

#define SHRINK "shrink"
#define GROW "grow"

int told_init(struct session *session, struct told *told, const char *reason,
	      const char *composition, struct gf_slot *const *slots, size_t n)
{
	int ret;

	memset(told, 0, sizeof(*told));
	if (!n)
		return CTL_DONE;
	ret = hooks_find(session->ctx, HOOK_RESIZE, &told->hooks);
	if (!ret && told->hooks.n)
		ret = hook_slots_init(session, reason, slots, n, &told->about);
	if (!ret && told->hooks.n)
		told->about.composition = mem_strdup(composition);
	return ret;
}

void told_free(struct told *told)
{
	hooks_free(&told->hooks);
	hook_slots_free(&told->about);
}

/* GPUs of the composition by the snapshot, less those of the slots that are told of with @without. */
static void told_count(const struct session *session, struct told *told, bool without)
{
	const struct gf_composition *composition =
		gf_composition_by_name(&session->fabric, told->about.composition);
	size_t i, gpus = 0;

	if (composition)
		gpus = identity_members(&session->knowledge, &session->fabric, composition);
	for (i = 0; without && i < told->about.n; i++) {
		const struct gf_slot *slot =
			gf_slot_by_name(&session->fabric, told->about.names[i]);
		size_t here = slot ? identity_count(&session->knowledge, slot) : 0;

		gpus -= here < gpus ? here : gpus;
	}
	told->about.gpus = gpus;
}

uint64_t told_budget(const struct told *told)
{
	return hooks_budget(&told->hooks);
}

void told_shrink(struct session *session, struct told *told)
{
	if (!told->hooks.n)
		return;
	told_count(session, told, true);
	hooks_tell(session->ctx, &told->hooks, SHRINK, &told->about, NULL, HOOKS_GO_ON);
}

void told_stay(struct session *session, struct told *told)
{
	if (!told->hooks.n)
		return;
	told_count(session, told, false);
	hooks_undo(session->ctx, &told->hooks, GROW, &told->about, NULL);
}

/* Which of the slots have their GPU, in the composition; how many. */
static size_t told_here(const struct session *session, const struct told *told, bool *here)
{
	const struct hook_slots *about = &told->about;
	size_t i, n = 0;

	for (i = 0; i < about->n; i++) {
		const struct gf_slot *slot = gf_slot_by_name(&session->fabric, about->names[i]);

		here[i] = slot &&
			  (slot->state == GF_STATE_READY || slot->state == GF_STATE_ATTACHED) &&
			  slot->composition && !strcmp(slot->composition, about->composition);
		n += here[i];
	}
	return n;
}

void told_finish(struct session *session, struct told *gone, struct told *come)
{
	bool *here = mem_zalloc(gone->about.n + come->about.n, sizeof(*here));

	if (told_here(session, gone, here)) {
		told_count(session, gone, false);
		hooks_undo(session->ctx, &gone->hooks, GROW, &gone->about, here);
	}
	if (told_here(session, come, here)) {
		told_count(session, come, false);
		hooks_tell(session->ctx, &come->hooks, GROW, &come->about, here, HOOKS_SEE_THROUGH);
	}
	free(here);
}

void told_render(struct ctl_ctx *ctx, const struct told *told)
{
	hooks_render(ctx, &told->hooks);
}
