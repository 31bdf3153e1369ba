// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: waiting for others
 *
 * The module refuses what is about a slot that an operation is under way on. Who has time
 * waits for its end, which an event tells.
 */
#include "base/text.h"
#include "op/settle.h"

/**
 * struct settle - what has to come to rest
 * @composition: by its name, with its slots; NULL: @names
 * @names: of slots
 * @n: number of @names
 * @drains: what others drain does not rest
 */
struct settle {
	const char *composition;
	const char *const *names;
	size_t n;
	bool drains;
};

/*
 * The slot has done its part of an operation that others still have a part in. One that is stuck
 * keeps its part, maybe for ever, of an operation that has ended.
 */
static bool settle_is_part(const struct session *session, const struct gf_slot *slot)
{
	const struct gf_slot *slots = session->fabric.slots;
	size_t i;

	for (i = 0; i < session->fabric.n_slots && slot->last_operation.id; i++)
		if (slots[i].operation.id == slot->last_operation.id &&
		    slots[i].state != GF_STATE_STUCK)
			return true;
	return false;
}

/*
 * Who has announced a removal will ask for it soon. For a slot that is stuck nobody waits: its
 * operation has failed.
 */
static bool settle_slot_rests(const struct session *session, const struct settle *settle,
			      const struct gf_slot *slot)
{
	if (!slot || slot->state == GF_STATE_STUCK)
		return true;
	if (settle->drains && slot->state == GF_STATE_DRAINING)
		return false;
	return !gf_operation_is_under_way(&slot->operation) && !settle_is_part(session, slot);
}

static bool settle_composition_rests(const struct session *session, const struct settle *settle)
{
	const struct gf_composition *composition =
		gf_composition_by_name(&session->fabric, settle->composition);
	size_t i;

	if (!composition)
		return true;
	if (gf_operation_is_under_way(&composition->operation))
		return false;
	for (i = 0; i < composition->n_members; i++) {
		const uint32_t id = composition->members[i].slot_id;

		if (!settle_slot_rests(session, settle, gf_slot_by_id(&session->fabric, id)))
			return false;
	}
	return true;
}

static bool settle_rests(const struct session *session, const struct settle *settle)
{
	size_t i;

	if (settle->composition)
		return settle_composition_rests(session, settle);
	for (i = 0; i < settle->n; i++)
		if (!settle_slot_rests(session, settle,
				       gf_slot_by_name(&session->fabric, settle->names[i])))
			return false;
	return true;
}

/* The last part of an operation can end before others begin to take back theirs: look again. */
static int settle_wait(struct session *session, const struct settle *settle, uint64_t ms)
{
	uint64_t end = text_monotonic() + (session->ctx->dry_run ? 0 : ms), now;
	bool heard = false;
	int ret = CTL_DONE;

	while (!ret && (now = text_monotonic()) < end) {
		if (!settle_rests(session, settle)) {
			ret = session_hear(session, (int)(end - now));
			heard = true;
		} else if (heard) {
			ret = session_refresh(session);
			heard = false;
		} else {
			break;
		}
	}
	return ret;
}

int settle_slots(struct session *session, const char *const *names, size_t n, uint64_t ms)
{
	const struct settle settle = { .names = names, .n = n, .drains = true };

	return settle_wait(session, &settle, ms);
}

int settle_composition(struct session *session, const char *name, bool drains, uint64_t ms)
{
	const struct settle settle = { .composition = name, .drains = drains };

	return settle_wait(session, &settle, ms);
}
