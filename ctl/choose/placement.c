// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: placement
 *
 * A GPU that goes into the window that its port has depends on nobody else. Only where
 * windows move, or there is no room, it matters what happens beside it: then the module
 * is asked first how many changes it has seen, and told so with the request, which it
 * refuses when there were more. What looked full is looked at again likewise.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "choose/placement.h"

static uint64_t placement_bar_of(const struct session *session, const struct gf_slot *slot)
{
	struct identity identity;

	identity_of(&session->knowledge, slot, &identity);
	return identity.ids.bar;
}

void placement_verdict(const struct session *session, const struct gf_slot *slot,
		       struct verdict *verdict)
{
	memset(verdict, 0, sizeof(*verdict));
	if (slot->state == GF_STATE_OFF)
		judge_slot(session->judge, slot, placement_bar_of(session, slot), verdict);
}

static bool placement_is_wanted(const struct judge_want *wants, size_t n, uint32_t id)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (wants[i].slot->id == id)
			return true;
	return false;
}

static int by_operation(const void *left, const void *right)
{
	const struct gf_slot *a = ((const struct judge_want *)left)->slot;
	const struct gf_slot *b = ((const struct judge_want *)right)->slot;

	if (a->operation.id != b->operation.id)
		return a->operation.id < b->operation.id ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* GPUs of others that are on their way, as they are now. */
static size_t judge_beside(struct session *session, struct judge_want *wants, size_t n,
			   struct verdict *verdict, int *ret)
{
	struct gf_fabric fabric = { 0 };
	struct judge_want *coming;
	size_t i, n_coming = 0;

	*ret = gfc_slots(session->client, &fabric, GFC_NEEDS);
	coming = mem_zalloc(fabric.n_slots + 1, sizeof(*coming));
	for (i = 0; i < fabric.n_slots; i++) {
		const struct gf_slot *slot = &fabric.slots[i];

		if (slot->state == GF_STATE_ATTACHING && !placement_is_wanted(wants, n, slot->id))
			coming[n_coming++] =
				(struct judge_want){ slot, placement_bar_of(session, slot), 0 };
	}
	qsort(coming, n_coming, sizeof(*coming), by_operation);
	judge_forget(session->judge);
	i = judge_wants(session->judge, coming, n_coming, wants, n, verdict);
	free(coming);
	gf_fabric_free(&fabric);
	return i;
}

static int read_changes(struct session *session, uint64_t *changes)
{
	struct gf_status status = { 0 };
	int ret = gfc_status(session->client, &status);

	*changes = status.changes;
	free(status.version);
	return ret;
}

int placement_judge(struct session *session, struct gf_slot *const *slots, size_t n, bool force,
		    struct placement *placement)
{
	struct judge_want *wants = mem_zalloc(n + 1, sizeof(*wants));
	uint64_t after = 0;
	size_t failed, i;
	struct verdict verdict;
	int ret = CTL_DONE, tries;

	memset(placement, 0, sizeof(*placement));
	placement->order = mem_zalloc(n + 1, sizeof(*placement->order));
	if (force)
		goto out;
	for (i = 0; i < n; i++)
		wants[i] = (struct judge_want){ slots[i], placement_bar_of(session, slots[i]), 0 };
	judge_forget(session->judge);
	failed = judge_wants(session->judge, NULL, 0, wants, n, &verdict);
	placement->binding = failed < n || verdict.moves;
	for (tries = 0; placement->binding && !ret && tries < PLACEMENT_TRIES; tries++) {
		ret = read_changes(session, &placement->at);
		if (!ret)
			failed = judge_beside(session, wants, n, &verdict, &ret);
		if (!ret)
			ret = read_changes(session, &after);
		if (after == placement->at)
			break;
	}
	for (i = 0; i < n; i++)
		placement->order[i] = wants[i].order;
	if (!ret && failed < n)
		ret = ctl_fail(session->ctx, CTL_NO_FIT, "no room for the GPU: slot %s: %s",
			       slots[failed]->name, verdict.text);
out:
	free(wants);
	if (ret)
		placement_free(placement);
	return ret;
}

void placement_put(struct nl_msg *msg, const struct placement *placement)
{
	if (placement->binding)
		nla_put_u64(msg, GPUFABRIC_A_JUDGED_AT, placement->at);
}

void placement_free(struct placement *placement)
{
	free(placement->order);
	placement->order = NULL;
}
