// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the mirror
 *
 * Events are subscribed to before the first snapshot, and its number is asked for before
 * its objects are: an event up to that number is in all of the snapshot, a later one
 * comes. An object that was read after such an event includes it and says so by its own
 * number. From then on numbers rise by one. One that is missing, or a receive buffer that
 * ran over (ENOBUFS), means that changes were lost: then there is a new snapshot. An
 * event without a later one is only missed when somebody asks, so a module that
 * says nothing is asked for its number. A module that was loaded anew counts anew, which
 * its instance tells. What belongs to a slot or a composition does not come with its events:
 * it is asked for when the inventory or the generation is another, and never told with an
 * object of another moment.
 */
#include <string.h>

#include "base/text.h"
#include "module/mirror.h"

/* An end of a wait that is over. */
#define LONG_AGO 1
/* All slots are asked for when more than one in so many has to be. */
#define ASK_ALL 8

void mirror_init(struct mirror *mirror, struct gfc *client, struct gf_fabric *fabric, bool listens)
{
	*mirror = (struct mirror){
		.client = client, .fabric = fabric, .listens = listens, .quiet_ms = MIRROR_QUIET_MS
	};
}

/* The number of the module's last event, and of which load of it. */
static int mirror_ask(struct mirror *mirror, uint64_t *sequence, uint64_t *instance)
{
	struct gf_status status;
	int ret = gfc_status(mirror->client, &status);

	*sequence = status.sequence;
	*instance = status.instance;
	gf_status_free(&status);
	mirror->heard = text_monotonic();
	return ret;
}

static int take_snapshot(struct mirror *mirror,
			 int (*take)(struct gfc *, struct gf_fabric *, unsigned int))
{
	int ret = CTL_DONE;

	if (mirror->listens)
		ret = mirror_ask(mirror, &mirror->last, &mirror->instance);
	if (ret)
		return ret;
	gf_fabric_free(mirror->fabric);
	ret = take(mirror->client, mirror->fabric, GFC_PARTS);
	mirror->stale = ret;
	return ret;
}

int mirror_refresh(struct mirror *mirror)
{
	return take_snapshot(mirror, gfc_fabric);
}

int mirror_refresh_slots(struct mirror *mirror)
{
	return take_snapshot(mirror, gfc_slots);
}

static enum mirror_news start_anew(struct mirror *mirror)
{
	mirror->error = mirror_refresh(mirror);
	return mirror->error ? MIRROR_ERROR : MIRROR_SNAPSHOT;
}

static bool is_ahead(const struct mirror *mirror, const struct gf_message *event)
{
	const struct gf_slot *slot =
		event->has.slot ? gf_slot_by_id(mirror->fabric, event->slot.id) : NULL;
	const struct gf_composition *composition =
		event->has.composition ?
			gf_composition_by_id(mirror->fabric, event->composition.id) :
			NULL;

	return (slot && slot->ahead) || (composition && composition->ahead);
}

/* What an event is to the fabric; MIRROR_NOTHING for what is known already. */
static enum mirror_news mirror_judge(struct mirror *mirror, const struct gf_message *event)
{
	mirror->heard = text_monotonic();
	/* Numbers of another load of the module begin anew. */
	if (event->instance != mirror->instance)
		return start_anew(mirror);
	if (event->sequence <= mirror->last)
		return MIRROR_NOTHING;
	/* An event that the module could not send still took its number. */
	if (event->sequence > mirror->last + 1)
		return start_anew(mirror);
	mirror->last = event->sequence;
	/* What was read for its parts has it, and nobody was told. */
	if (is_ahead(mirror, event))
		return MIRROR_CHANGE;
	return gf_fabric_includes(mirror->fabric, event) ? MIRROR_NOTHING : MIRROR_CHANGE;
}

/* As gfc_next_event(), in the words of a mirror; what was lost is not made good. */
static enum mirror_news receive(struct mirror *mirror, int timeout_ms, struct gf_message *event)
{
	switch (gfc_next_event(mirror->client, timeout_ms, event)) {
	case GFC_EVENT:
		return MIRROR_CHANGE;
	case GFC_OVERRUN:
		return MIRROR_SNAPSHOT;
	case GFC_SIGNAL:
		return MIRROR_SIGNAL;
	case GFC_HANGUP:
		return MIRROR_HANGUP;
	case GFC_GONE:
		mirror->error = CTL_NO_MODULE;
		return MIRROR_ERROR;
	case GFC_ERROR:
		mirror->error = CTL_FAILED;
		return MIRROR_ERROR;
	default:
		return MIRROR_NOTHING;
	}
}

/* Milliseconds until @end, which is 0 for never, or until the module is to be asked. */
static int mirror_patience(const struct mirror *mirror, uint64_t end)
{
	uint64_t now = text_monotonic(), next = end;

	if (mirror->quiet_ms && (!end || mirror->heard + mirror->quiet_ms < end))
		next = mirror->heard + mirror->quiet_ms;
	if (!next)
		return -1;
	return next > now ? (int)(next - now) : 0;
}

/* What belongs to an object as the event tells of it; nothing when the module has moved on. */
static void mirror_complete(struct mirror *mirror, struct gf_message *event)
{
	struct gf_slot *slot = &event->slot;
	struct gf_composition *composition = &event->composition;
	int ret = CTL_DONE;

	if (is_ahead(mirror, event))
		return;
	if (event->has.slot && event->kind != GPUFABRIC_EVENT_KIND_SLOT_REMOVED) {
		gf_slot_move_parts(slot, gf_slot_by_id(mirror->fabric, slot->id));
		if (slot->loaded != slot->inventory && !mirror->defers)
			ret = gfc_slot_parts(mirror->client, slot, false);
	}
	if (event->has.composition && event->kind != GPUFABRIC_EVENT_KIND_COMPOSITION_REMOVED) {
		gf_composition_move_parts(composition,
					  gf_composition_by_id(mirror->fabric, composition->id));
		if (composition->loaded != composition->generation && !mirror->defers)
			ret = gfc_composition_parts(mirror->client, composition, false);
	}
	if (ret)
		mirror->stale = true;
}

/* Wait for an event that the fabric does not include, until @end or until it is time to ask. */
static enum mirror_news take(struct mirror *mirror, uint64_t end, struct gf_message *event)
{
	enum mirror_news news;

	do {
		news = receive(mirror, mirror_patience(mirror, end), event);
		if (news == MIRROR_SNAPSHOT)
			return start_anew(mirror);
		if (news != MIRROR_CHANGE)
			return news;
		news = mirror_judge(mirror, event);
		if (news == MIRROR_CHANGE)
			mirror_complete(mirror, event);
		else
			gf_message_free(event);
	} while (news == MIRROR_NOTHING);
	return news;
}

/* After a silence: is there a number that no event had? */
static enum mirror_news ask_when_quiet(struct mirror *mirror, struct gf_message *event)
{
	enum mirror_news news;
	uint64_t sequence, instance;

	if (!mirror->quiet_ms || text_monotonic() - mirror->heard < mirror->quiet_ms)
		return MIRROR_NOTHING;
	mirror->error = mirror_ask(mirror, &sequence, &instance);
	if (mirror->error)
		return MIRROR_ERROR;
	if (instance != mirror->instance)
		return start_anew(mirror);
	if (sequence == mirror->last)
		return MIRROR_NOTHING;
	/* It may have come while the module was asked. */
	news = take(mirror, LONG_AGO, event);
	return news == MIRROR_NOTHING ? start_anew(mirror) : news;
}

enum mirror_news mirror_next(struct mirror *mirror, int timeout_ms, struct gf_message *event)
{
	uint64_t end = timeout_ms < 0 ? 0 : text_monotonic() + (uint64_t)timeout_ms;
	enum mirror_news news;

	if (mirror->stale) {
		memset(event, 0, sizeof(*event));
		return start_anew(mirror);
	}
	for (;;) {
		news = take(mirror, end, event);
		if (news == MIRROR_NOTHING)
			news = ask_when_quiet(mirror, event);
		if (news != MIRROR_NOTHING || (end && text_monotonic() >= end))
			return news;
	}
}

void mirror_apply(struct mirror *mirror, struct gf_message *event)
{
	const uint32_t slot_id = event->slot.id, composition_id = event->composition.id;
	struct gf_composition *composition = NULL;
	struct gf_slot *slot = NULL;

	gf_fabric_apply(mirror->fabric, event);
	if (event->has.slot)
		slot = gf_slot_by_id(mirror->fabric, slot_id);
	if (event->has.composition)
		composition = gf_composition_by_id(mirror->fabric, composition_id);
	if (slot && slot->loaded != slot->inventory && !mirror->defers &&
	    gfc_slot_parts(mirror->client, slot, true))
		mirror->stale = true;
	if (composition && composition->loaded != composition->generation && !mirror->defers &&
	    gfc_composition_parts(mirror->client, composition, true))
		mirror->stale = true;
	if (slot)
		slot->ahead = slot->sequence > event->sequence;
	if (composition)
		composition->ahead = composition->sequence > event->sequence;
	gf_message_free(event);
}

void mirror_defer(struct mirror *mirror)
{
	mirror->defers = true;
}

/* One question for all slots answers sooner than many for one each. */
static int slots_settle(struct mirror *mirror)
{
	struct gf_fabric *fabric = mirror->fabric;
	size_t i, n = 0;
	int ret = CTL_DONE;

	for (i = 0; i < fabric->n_slots; i++)
		n += fabric->slots[i].loaded != fabric->slots[i].inventory;
	if (n * ASK_ALL > fabric->n_slots)
		ret = gfc_all_slot_parts(mirror->client, fabric);
	for (i = 0; i < fabric->n_slots && !ret; i++) {
		struct gf_slot *slot = &fabric->slots[i];

		if (slot->loaded != slot->inventory)
			ret = gfc_slot_parts(mirror->client, slot, true);
		slot->ahead = slot->sequence > mirror->last;
	}
	return ret;
}

int mirror_settle(struct mirror *mirror)
{
	struct gf_fabric *fabric = mirror->fabric;
	int ret = CTL_DONE;
	size_t i;

	mirror->defers = false;
	if (!mirror->stale)
		ret = slots_settle(mirror);
	for (i = 0; i < fabric->n_compositions && !ret && !mirror->stale; i++) {
		struct gf_composition *composition = &fabric->compositions[i];

		if (composition->loaded != composition->generation)
			ret = gfc_composition_parts(mirror->client, composition, true);
		composition->ahead = composition->sequence > mirror->last;
	}
	if (ret)
		mirror->stale = true;
	return ret;
}

enum mirror_news mirror_rest(struct mirror *mirror, int timeout_ms)
{
	struct gf_message event;
	enum mirror_news news = receive(mirror, timeout_ms, &event);

	if (news == MIRROR_CHANGE)
		gf_message_free(&event);
	if (news == MIRROR_CHANGE || news == MIRROR_SNAPSHOT)
		mirror->stale = true;
	return news;
}
