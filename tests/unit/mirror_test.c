// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/module/mirror.c ctl/module/model.c ctl/module/state.c ctl/module/object.c ctl/module/netlink_gen.c ctl/base/text.c
// packages: libnl-3.0
/*
 * The mirror: whatever becomes of events on their way, and whenever a snapshot is read,
 * the fabric is in the end what the module has, and each change is told once and in
 * order. The module here is one of a few slots that counts its events and loses some: for
 * want of memory, or because a receive buffer of a few of them is full. As with the
 * kernel's, the receiver is told of that before it gets what is in the buffer.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "module/mirror.h"
#include "tap.h"

#define SLOTS 6
#define ROOM 24

struct gfc {
	uint64_t sequence, instance;
	uint32_t generation[SLOTS];	/* of a slot, 0 when there is none */
	uint32_t inventory[SLOTS];	/* as many functions as the generation had last digits then */
	struct gf_message queue[ROOM];
	size_t n;
	bool overrun;			/* not yet told */
	bool wanders;			/* changes while it is read */
	bool hurries;			/* changes while it is asked */
	unsigned int asked, read;	/* for its number, for its slots */
	unsigned int loaded;		/* and for what a slot has */
	unsigned int together;		/* for what all slots have */
	uint32_t composed;		/* generation of its composition */
	unsigned int counted;		/* asked for the members of that */
	enum gfc_event otherwise;	/* when the queue is empty */
	int error;			/* of each request */
};

static uint32_t seed = 1;

static uint32_t below(uint32_t limit)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 16) % limit;
}

static struct gf_slot slot_of(const struct gfc *module, uint32_t id)
{
	struct gf_slot slot = { .id = id, .generation = module->generation[id], .sequence = module->sequence,
				.inventory = module->inventory[id] };

	slot.name = mem_printf("3-%u", id);
	return slot;
}

/* Announce what the slot is now; @sent: there was memory for it. */
static void announce(struct gfc *module, uint32_t id, unsigned int kind, bool sent)
{
	struct gf_message event = { .kind = kind, .sequence = ++module->sequence,
				    .instance = module->instance };

	if (!sent)
		return;
	if (module->n == ROOM) {
		module->overrun = true;
		return;
	}
	if (kind == GPUFABRIC_EVENT_KIND_OPERATION_DONE) {
		event.has.operation = true;
		event.operation.id = id;
	} else {
		event.has.slot = true;
		event.slot = slot_of(module, id);
	}
	module->queue[module->n++] = event;
}

static void change(struct gfc *module, uint32_t id, bool sent)
{
	unsigned int kind = module->generation[id] ? GPUFABRIC_EVENT_KIND_SLOT_CHANGED
						   : GPUFABRIC_EVENT_KIND_SLOT_ADDED;

	module->generation[id] = (uint32_t)module->sequence + 1;
	module->inventory[id] += !module->inventory[id] || below(2);
	announce(module, id, kind, sent);
}

static void drop(struct gfc *module, uint32_t id)
{
	module->generation[id] = 0;
	announce(module, id, GPUFABRIC_EVENT_KIND_SLOT_REMOVED, true);
}

/* One of the things that happen. */
static void happen(struct gfc *module)
{
	uint32_t id = below(SLOTS);

	switch (below(8)) {
	case 0:
		if (module->generation[id])
			drop(module, id);
		break;
	case 1:
		change(module, id, below(4));
		break;
	case 2:
		announce(module, id, GPUFABRIC_EVENT_KIND_OPERATION_DONE, true);
		break;
	default:
		change(module, id, true);
	}
}

int gfc_status(struct gfc *module, struct gf_status *status)
{
	if (module->hurries)
		change(module, 1, true);
	module->hurries = false;
	*status = (struct gf_status){ .sequence = module->sequence, .instance = module->instance,
				       .version = mem_strdup("1") };
	module->asked++;
	return module->error;
}

/* What it has is the inventory that it is of; the slot moves on with it. */
static void load(const struct gfc *module, struct gf_slot *slot)
{
	free(slot->functions);
	slot->functions = mem_zalloc(1, sizeof(*slot->functions));
	slot->functions->inventory = module->inventory[slot->id];
	slot->n_functions = 1;
	slot->loaded = slot->inventory;
}

int gfc_slot_parts(struct gfc *module, struct gf_slot *slot, bool follows)
{
	uint32_t id = slot->id;

	module->loaded++;
	while (module->wanders && below(2))
		happen(module);
	if (!follows && slot->inventory != module->inventory[id])
		return module->error;
	if (!module->error && module->generation[id] && slot->inventory != module->inventory[id]) {
		gf_slot_free(slot);
		*slot = slot_of(module, id);
	}
	if (!module->error && module->generation[id])
		load(module, slot);
	return module->error;
}

int gfc_slots(struct gfc *module, struct gf_fabric *fabric, unsigned int parts)
{
	uint32_t id;

	module->read++;
	for (id = 0; id < SLOTS && !module->error; id++) {
		while (module->wanders && below(2))
			happen(module);
		if (!module->generation[id])
			continue;
		fabric->slots = mem_push(fabric->slots, fabric->n_slots, sizeof(*fabric->slots));
		fabric->slots[fabric->n_slots] = slot_of(module, id);
		if (parts)
			load(module, &fabric->slots[fabric->n_slots]);
		fabric->n_slots++;
	}
	return module->error;
}

int gfc_all_slot_parts(struct gfc *module, struct gf_fabric *all)
{
	unsigned int loaded = module->loaded;
	size_t i;
	int ret = CTL_DONE;

	for (i = 0; i < all->n_slots && !ret; i++)
		ret = gfc_slot_parts(module, &all->slots[i], true);
	module->loaded = loaded;
	module->together++;
	return ret;
}

int gfc_composition_parts(struct gfc *module, struct gf_composition *composition, bool follows)
{
	module->counted++;
	if (!follows && composition->generation != module->composed)
		return module->error;
	if (composition->generation != module->composed)
		composition->sequence = module->sequence;
	composition->generation = module->composed;
	free(composition->members);
	composition->members = mem_zalloc(1, sizeof(*composition->members));
	composition->members->generation = module->composed;
	composition->n_members = 1;
	composition->loaded = composition->generation;
	return module->error;
}

int gfc_fabric(struct gfc *module, struct gf_fabric *fabric, unsigned int parts)
{
	return gfc_slots(module, fabric, parts);
}

enum gfc_event gfc_next_event(struct gfc *module, int timeout_ms, struct gf_message *event)
{
	(void)timeout_ms;
	memset(event, 0, sizeof(*event));
	if (module->overrun) {
		module->overrun = false;
		return GFC_OVERRUN;
	}
	if (!module->n)
		return module->otherwise;
	*event = module->queue[0];
	memmove(module->queue, module->queue + 1, --module->n * sizeof(*module->queue));
	return GFC_EVENT;
}

static struct gfc module;
static struct gf_fabric fabric;
static struct mirror mirror;

/* A module with slots 0 to @n - 1, and a mirror of it. */
static void begin(uint32_t n)
{
	uint32_t id;

	module = (struct gfc){ .otherwise = GFC_NOTHING };
	for (id = 0; id < n; id++)
		change(&module, id, false);
	mirror_init(&mirror, &module, &fabric, true);
	mirror_refresh(&mirror);
}

static void end(void)
{
	while (module.n)
		gf_message_free(&module.queue[--module.n]);
	gf_fabric_free(&fabric);
}

/* The next news, and the slot that it is about where it is a change; applied. */
static void tells(enum mirror_news want, uint32_t id, const char *what)
{
	struct gf_message event;
	enum mirror_news news = mirror_next(&mirror, 0, &event);

	ok(news == want && (news != MIRROR_CHANGE || event.slot.id == id || event.operation.id == id), "%s", what);
	if (news == MIRROR_CHANGE)
		mirror_apply(&mirror, &event);
}

/* Nothing of a slot is of another moment than the slot; one that is gone may have nothing. */
static bool is_whole(void)
{
	size_t i;

	for (i = 0; i < fabric.n_slots; i++)
		if (fabric.slots[i].n_functions &&
		    fabric.slots[i].functions->inventory != fabric.slots[i].inventory)
			return false;
	return true;
}

static bool is_true(void)
{
	size_t id, n = 0;

	for (id = 0; id < SLOTS; id++) {
		const struct gf_slot *slot = gf_slot_by_id(&fabric, (uint32_t)id);

		if ((slot ? slot->generation : 0) != module.generation[id])
			return false;
		if (slot && (slot->loaded != module.inventory[id]))
			return false;
		n += !!slot;
	}
	return n == fabric.n_slots;
}

static void announce_composition(uint32_t generation)
{
	struct gf_message event = {
		.kind = GPUFABRIC_EVENT_KIND_COMPOSITION_CHANGED, .sequence = ++module.sequence,
		.instance = module.instance, .has.composition = true,
		.composition = { .id = 7, .generation = generation, .sequence = module.sequence },
	};

	event.composition.name = mem_strdup("job");
	module.queue[module.n++] = event;
}

/* Generation of the composition's members, 0 without any, and how often they were asked for. */
static void has_members(uint32_t generation, unsigned int counted, const char *what)
{
	const struct gf_composition *composition = gf_composition_by_id(&fabric, 7);

	ok(composition && composition->n_members == 1 && composition->members->generation == generation &&
	   composition->generation == generation && module.counted == counted, "%s", what);
}

static void test_members(void)
{
	begin(1);
	module.composed = 1;
	announce_composition(1);
	tells(MIRROR_CHANGE, 0, "a composition");
	has_members(1, 1, "its members are asked for");
	announce_composition(1);
	tells(MIRROR_CHANGE, 0, "it changes, and its members do not");
	has_members(1, 1, "which are kept");
	module.composed = 3;
	announce_composition(2);
	announce_composition(3);
	tells(MIRROR_CHANGE, 0, "its members change, twice before they are asked for");
	has_members(3, 3, "they are never of another moment than it is");
	tells(MIRROR_CHANGE, 0, "the second change is told, too");
	has_members(3, 3, "and needs no question");
	end();
}

static void test_order(void)
{
	begin(2);
	is_int((intmax_t)mirror.last, 2, "the snapshot's number");
	change(&module, 1, true);
	change(&module, 2, true);
	drop(&module, 0);
	tells(MIRROR_CHANGE, 1, "a change");
	tells(MIRROR_CHANGE, 2, "a slot that is new");
	ok(gf_slot_by_id(&fabric, 0), "one that goes is there until it is told");
	tells(MIRROR_CHANGE, 0, "that it goes");
	tells(MIRROR_NOTHING, 0, "and no more");
	ok(is_true() && module.read == 1, "without another snapshot");
	announce(&module, 1, GPUFABRIC_EVENT_KIND_SLOT_CHANGED, true);
	module.queue[0].slot.state = GF_STATE_DRAINING;
	tells(MIRROR_CHANGE, 1, "a drain");
	is_int(gf_slot_by_id(&fabric, 1)->state, GF_STATE_DRAINING, "is a change of its slot");
	announce(&module, 7, GPUFABRIC_EVENT_KIND_OPERATION_DONE, true);
	tells(MIRROR_CHANGE, 7, "the end of an operation");
	tells(MIRROR_NOTHING, 0, "once");
	end();
}

static void test_snapshot(void)
{
	begin(3);
	/* Between subscribing and asking for the number. */
	change(&module, 0, true);
	announce(&module, 9, GPUFABRIC_EVENT_KIND_OPERATION_DONE, true);
	mirror_refresh(&mirror);
	tells(MIRROR_NOTHING, 0, "what is older than the snapshot is no news");
	/* Between asking for the number and reading the slots. */
	change(&module, 0, true);
	change(&module, 1, true);
	drop(&module, 1);
	announce(&module, 9, GPUFABRIC_EVENT_KIND_OPERATION_DONE, true);
	mirror_refresh(&mirror);
	mirror.last -= 4;
	change(&module, 2, true);
	tells(MIRROR_CHANGE, 1, "a slot that was gone when it was read comes up again");
	tells(MIRROR_CHANGE, 1, "and goes");
	tells(MIRROR_CHANGE, 9, "an operation was not read, so it is told; a slot was, and is not");
	tells(MIRROR_CHANGE, 2, "what came later");
	tells(MIRROR_NOTHING, 0, "is the last");
	ok(is_true(), "and the fabric is true");
	drop(&module, 0);
	mirror_refresh(&mirror);
	mirror.last--;
	tells(MIRROR_NOTHING, 0, "that a slot goes which the snapshot does not have is no news");
	end();
	begin(0);
	change(&module, 3, true);
	tells(MIRROR_CHANGE, 3, "the first slot of an empty fabric");
	end();
}

static void test_lost(void)
{
	uint32_t i;

	begin(4);
	change(&module, 0, true);
	change(&module, 1, false);
	change(&module, 2, true);
	tells(MIRROR_CHANGE, 0, "before a gap");
	tells(MIRROR_SNAPSHOT, 0, "a number that is missing");
	ok(is_true(), "leads to what is");
	tells(MIRROR_NOTHING, 0, "after it nothing is told again");
	for (i = 0; i < ROOM + 3; i++)
		change(&module, i % 4, true);
	tells(MIRROR_SNAPSHOT, 0, "a buffer that ran over");
	ok(is_true(), "leads to what is");
	tells(MIRROR_NOTHING, 0, "what was still in it is old");
	is_int((intmax_t)module.n, 0, "and was read");
	change(&module, 0, true);
	tells(MIRROR_CHANGE, 0, "then changes go on");
	end();
}

static void test_quiet(void)
{
	begin(2);
	change(&module, 1, false);
	tells(MIRROR_NOTHING, 0, "an event that was never sent");
	mirror.heard -= MIRROR_QUIET_MS;
	mirror.quiet_ms = 0;
	tells(MIRROR_NOTHING, 0, "stays unknown to whom silence is silence");
	is_int(module.asked, 1, "who does not ask");
	mirror.quiet_ms = MIRROR_QUIET_MS;
	tells(MIRROR_SNAPSHOT, 0, "else it is found after a silence");
	ok(is_true(), "and made good");
	tells(MIRROR_NOTHING, 0, "once");
	is_int((intmax_t)module.read, 2, "with one snapshot");
	mirror.heard -= MIRROR_QUIET_MS;
	tells(MIRROR_NOTHING, 0, "a silence in which nothing happened");
	ok(module.asked == 4 && module.read == 2, "is asked about, and nothing is read");
	mirror.heard -= MIRROR_QUIET_MS;
	module.hurries = true;
	tells(MIRROR_CHANGE, 0, "what changes while it is asked is no loss");
	is_int(module.read, 2, "and nothing is read anew");
	mirror.heard -= MIRROR_QUIET_MS;
	module.error = CTL_NO_MODULE;
	tells(MIRROR_ERROR, 0, "a module that has left");
	is_int(mirror.error, CTL_NO_MODULE, "has its exit code");
	module.otherwise = GFC_SIGNAL;
	tells(MIRROR_SIGNAL, 0, "a signal");
	module.otherwise = GFC_HANGUP;
	tells(MIRROR_HANGUP, 0, "a reader that is gone");
	module.otherwise = GFC_ERROR;
	tells(MIRROR_ERROR, 0, "a socket that fails");
	is_int(mirror.error, CTL_FAILED, "has another exit code");
	end();
}

/* The module is loaded anew, with other slots, and comes to the number that it had before. */
static void load_anew(void)
{
	uint64_t last = module.sequence;
	uint32_t id;

	module.instance++;
	module.sequence = 0;
	for (id = 0; id < SLOTS; id++)
		module.generation[id] = 0;
	while (module.sequence < last)
		change(&module, (uint32_t)module.sequence % 2 + 2, false);
}

static void test_reload(void)
{
	begin(2);
	change(&module, 0, true);
	change(&module, 1, true);
	tells(MIRROR_CHANGE, 0, "changes of one load");
	tells(MIRROR_CHANGE, 1, "of the module");
	load_anew();
	change(&module, 2, true);
	tells(MIRROR_SNAPSHOT, 0, "the next number of another load is no change of this fabric");
	ok(is_true(), "which is taken anew");
	tells(MIRROR_NOTHING, 0, "once");
	change(&module, 3, true);
	tells(MIRROR_CHANGE, 3, "then changes go on");
	load_anew();
	mirror.heard -= MIRROR_QUIET_MS;
	tells(MIRROR_SNAPSHOT, 0, "the same number of another load is found after a silence");
	ok(is_true(), "and the fabric is taken anew");
	end();
}

static void test_rest(void)
{
	const struct gf_slot *held;

	begin(3);
	held = gf_slot_by_id(&fabric, 2);
	is_int(mirror_rest(&mirror, 0), MIRROR_NOTHING, "a rest without news");
	drop(&module, 0);
	is_int(mirror_rest(&mirror, 0), MIRROR_CHANGE, "a rest ends with news");
	ok(fabric.n_slots == 3 && held == gf_slot_by_id(&fabric, 2) && !strcmp(held->name, "3-2"),
	   "and nothing has moved");
	tells(MIRROR_SNAPSHOT, 0, "they are made good after it");
	ok(is_true(), "to what is");
	tells(MIRROR_NOTHING, 0, "once");
	module.overrun = true;
	is_int(mirror_rest(&mirror, 0), MIRROR_SNAPSHOT, "a rest in which a buffer ran over");
	is_int((intmax_t)module.read, 2, "reads nothing");
	tells(MIRROR_SNAPSHOT, 0, "that comes after it");
	module.otherwise = GFC_SIGNAL;
	is_int(mirror_rest(&mirror, 0), MIRROR_SIGNAL, "a signal ends it");
	end();
}

/* Without events there are snapshots, which do not ask for the number. */
/* What belongs to a slot is asked for when it is another, and never shown with another slot. */
static void test_deferred(void)
{
	uint32_t id;

	begin(SLOTS);
	mirror_defer(&mirror);
	for (id = 0; id < SLOTS; id++) {
		module.inventory[id]++;
		module.generation[id]++;
		announce(&module, id, GPUFABRIC_EVENT_KIND_SLOT_CHANGED, true);
		tells(MIRROR_CHANGE, id, "a change while parts are deferred");
	}
	ok(!module.loaded && !module.together, "asks for nothing");
	is_int(mirror_settle(&mirror), CTL_DONE, "parts are settled");
	ok(!module.loaded && module.together == 1 && is_whole() && is_true(), "with one question for all");
	is_int(mirror_settle(&mirror), CTL_DONE, "and again");
	ok(!module.loaded && module.together == 1, "with none");
	mirror_defer(&mirror);
	module.inventory[1]++;
	announce(&module, 1, GPUFABRIC_EVENT_KIND_SLOT_CHANGED, true);
	tells(MIRROR_CHANGE, 1, "a change");
	module.inventory[1]++;
	module.generation[1]++;
	announce(&module, 1, GPUFABRIC_EVENT_KIND_SLOT_CHANGED, true);
	mirror_settle(&mirror);
	ok(is_whole() && gf_slot_by_id(&fabric, 1)->ahead, "a slot that has moved on is ahead");
	tells(MIRROR_CHANGE, 1, "and what was ahead is told");
	ok(is_whole() && is_true(), "once");
	mirror_defer(&mirror);
	module.inventory[1]++;
	announce(&module, 1, GPUFABRIC_EVENT_KIND_SLOT_CHANGED, true);
	tells(MIRROR_CHANGE, 1, "a change before the module cannot be asked");
	module.error = CTL_FAILED;
	is_int(mirror_settle(&mirror), CTL_FAILED, "is an error");
	module.error = 0;
	tells(MIRROR_SNAPSHOT, 0, "which a snapshot makes good");
	ok(is_true() && is_whole(), "wholly");
	end();
}

static void test_parts(void)
{
	begin(2);
	is_int(module.loaded, 0, "all of it comes with the snapshot");
	announce(&module, 1, GPUFABRIC_EVENT_KIND_SLOT_CHANGED, true);
	tells(MIRROR_CHANGE, 1, "a change of the slot alone");
	ok(!module.loaded && is_whole() && gf_slot_by_id(&fabric, 1)->n_functions == 1, "asks for nothing");
	module.inventory[1]++;
	module.generation[1]++;
	announce(&module, 1, GPUFABRIC_EVENT_KIND_SLOT_CHANGED, true);
	tells(MIRROR_CHANGE, 1, "a change of what it has");
	ok(module.loaded == 1 && is_whole() && is_true(), "asks once");
	module.inventory[1]++;
	announce(&module, 1, GPUFABRIC_EVENT_KIND_SLOT_CHANGED, true);
	module.inventory[1]++;
	module.generation[1]++;
	announce(&module, 1, GPUFABRIC_EVENT_KIND_SLOT_CHANGED, true);
	tells(MIRROR_CHANGE, 1, "one that is older than what is found");
	ok(module.loaded == 3 && is_whole() && gf_slot_by_id(&fabric, 1)->ahead, "brings the slot along");
	tells(MIRROR_CHANGE, 1, "and what was ahead is told, too");
	ok(module.loaded == 3 && is_whole() && is_true(), "without asking again");
	module.inventory[0]++;
	announce(&module, 0, GPUFABRIC_EVENT_KIND_SLOT_CHANGED, true);
	drop(&module, 0);
	tells(MIRROR_CHANGE, 0, "a slot that is gone when it is asked for");
	tells(MIRROR_CHANGE, 0, "goes");
	ok(is_true(), "and that was all");
	module.inventory[1]++;
	announce(&module, 1, GPUFABRIC_EVENT_KIND_SLOT_CHANGED, true);
	module.error = CTL_FAILED;
	tells(MIRROR_CHANGE, 1, "what cannot be asked for");
	module.error = 0;
	tells(MIRROR_SNAPSHOT, 0, "is made good by a snapshot");
	ok(is_true() && is_whole(), "of all");
	end();
}

static void test_look(void)
{
	begin(2);
	mirror_init(&mirror, &module, &fabric, false);
	module.asked = 0;
	change(&module, 0, false);
	ok(!mirror_refresh(&mirror) && is_true() && !module.asked, "one look");
	ok(!mirror_refresh_slots(&mirror) && is_true(), "at slots alone");
	module.error = CTL_DENIED;
	is_int(mirror_refresh(&mirror), CTL_DENIED, "one that is refused");
	end();
}

/* Everything at once, as it comes: how many changes were told, and whether as they should be. */
static unsigned int wander(bool *good)
{
	struct gf_message event;
	uint64_t told = mirror.last;
	unsigned int n = 0, turns;

	for (turns = 0; turns < 60; turns++) {
		const struct gf_slot *slot;

		while (below(3))
			happen(&module);
		switch (mirror_next(&mirror, 0, &event)) {
		case MIRROR_CHANGE:
			slot = gf_slot_by_id(&fabric, event.slot.id);
			*good = *good && (!event.slot.n_functions ||
					  event.slot.functions->inventory == event.slot.inventory);
			/* In order, once each, and never back to what was. */
			*good = *good && event.sequence > told;
			if (event.has.slot && slot && !slot->ahead && event.kind != GPUFABRIC_EVENT_KIND_SLOT_REMOVED)
				*good = *good && event.slot.generation > slot->generation;
			told = event.sequence;
			mirror_apply(&mirror, &event);
			*good = *good && is_whole();
			n++;
			break;
		case MIRROR_SNAPSHOT:
			*good = *good && mirror.last > told;
			told = mirror.last;
			break;
		default:
			/* What the snapshot had already was passed over. */
			*good = *good && mirror.last >= told;
		}
		told = mirror.last;
	}
	return n;
}

static void test_wander(void)
{
	unsigned int i, rounds = 2000, changes = 0, wrong = 0, snapshots = 0, n;
	struct gf_message event;
	enum mirror_news news;
	bool good = true;

	for (i = 0; i < rounds; i++) {
		begin(below(SLOTS));
		module.wanders = true;
		mirror_refresh(&mirror);
		changes += wander(&good);
		module.wanders = false;
		/* No more happens: what is on its way comes, and what is lost is asked for. */
		for (n = 0; n < 2; n++) {
			mirror.heard -= MIRROR_QUIET_MS;
			do {
				news = mirror_next(&mirror, 0, &event);
				if (news == MIRROR_CHANGE)
					mirror_apply(&mirror, &event);
			} while (news != MIRROR_NOTHING);
		}
		wrong += !is_true();
		snapshots += module.read;
		end();
	}
	ok(good, "whatever happens, changes are told once and in order");
	is_int(wrong, 0, "in the end the fabric is what the module has");
	ok(changes > 5 * rounds && snapshots > 5 * rounds, "with %u changes and %u snapshots", changes, snapshots);
	tap_counted("mirror.changes", changes);
}

int main(void)
{
	test_order();
	test_members();
	test_parts();
	test_deferred();
	test_snapshot();
	test_lost();
	test_quiet();
	test_reload();
	test_rest();
	test_look();
	test_wander();
	return tap_done();
}
