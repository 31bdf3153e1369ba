// SPDX-License-Identifier: GPL-2.0-only
/*
 * The whole fabric, seen by a client that does nothing odd: that it is all
 * there, that it agrees with itself, and that it can be brought to rest.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "fuzz.h"

static struct gf clean, watch;
static struct gf_request request;
static struct gf_event event;
static struct gf_slot slot, slots[FUZZ_SLOTS_MAX];
static struct gf_composition composition, compositions[2 * FUZZ_COMPOSITIONS];
static unsigned int n_slots, n_compositions;

static int part_slot(const struct nlmsghdr *part, void *context)
{
	(void)context;
	gf_read_slot(gf_attr(part, GPUFABRIC_A_SLOT), &slot);
	if (n_slots == FUZZ_SLOTS_MAX)
		return -E2BIG;
	slots[n_slots++] = slot;
	return 0;
}

static int part_composition(const struct nlmsghdr *part, void *context)
{
	(void)context;
	gf_read_composition(gf_attr(part, GPUFABRIC_A_COMPOSITION), &composition);
	if (n_compositions == 2 * FUZZ_COMPOSITIONS)
		return -E2BIG;
	compositions[n_compositions++] = composition;
	return 0;
}

/* Again until nothing changed meanwhile; the last time as it is. */
static void dump(uint8_t command, gf_part_fn part, unsigned int *count)
{
	for (int tries = 0; tries < 20; tries++) {
		int err;

		*count = 0;
		gf_begin(&request, &clean, command, 0);
		err = gf_dump(&clean, &request, part, NULL);
		if (err)
			fail("a dump of everything: %s %s", strerror(-err), clean.text);
		if (!clean.interrupted)
			return;
	}
}

static uint32_t status(unsigned int type)
{
	gf_begin(&request, &clean, GPUFABRIC_CMD_STATUS_GET, 0);
	if (gf_talk(&clean, &request))
		fail("the status: %s %s", strerror(-clean.error), clean.text);
	return gf_u32(gf_sub(gf_attr(&clean.reply.header, GPUFABRIC_A_STATUS), type));
}

void fabric_open(void)
{
	int err = gf_open(&clean);
	unsigned int major, minor;
	struct utsname kernel;

	if (err)
		fail("no socket: %s", strerror(-err));
	known.family = clean.family;
	known.silent_dumps = !uname(&kernel) && sscanf(kernel.release, "%u.%u", &major, &minor) == 2 &&
			     (major < 6 || (major == 6 && minor < 2));
	dump(GPUFABRIC_CMD_SLOT_GET, part_slot, &n_slots);
	for (known.n_slots = 0; known.n_slots < n_slots; known.n_slots++) {
		memcpy(known.slots[known.n_slots].name, slots[known.n_slots].name, GF_NAME);
		known.slots[known.n_slots].id = slots[known.n_slots].id;
		known.slots[known.n_slots].generation = slots[known.n_slots].generation;
	}
	if (!n_slots)
		fail("there is no slot");
}

/**
 * fabric_check() - the status answers, and the slots are those that there were
 */
void fabric_check(void)
{
	counts.checks++;
	if (status(GPUFABRIC_A_STATUS_SLOTS) != known.n_slots)
		fail("there are %u slots, not %u", status(GPUFABRIC_A_STATUS_SLOTS), known.n_slots);
	dump(GPUFABRIC_CMD_SLOT_GET, part_slot, &n_slots);
	if (n_slots != known.n_slots)
		fail("%u slots are listed, not %u", n_slots, known.n_slots);
	for (unsigned int i = 0; i < n_slots; i++) {
		if (strcmp(slots[i].name, known.slots[i].name) || slots[i].id != known.slots[i].id)
			fail("slot %s has become %s", known.slots[i].name, slots[i].name);
	}
}

static bool is_moving(const struct gf_slot *one)
{
	switch (one->state) {
	case GF_STATE_ATTACHING:
	case GF_STATE_ATTACHED:
	case GF_STATE_DETACHING:
	case GF_STATE_STUCK:
		return true;
	default:
		return one->has_operation;
	}
}

/* Ask for what brings it nearer to rest; whether there is nothing to ask for. */
static bool settle_slot(const struct gf_slot *one, bool off)
{
	uint32_t generation;

	if (is_moving(one))
		return false;
	switch (one->state) {
	case GF_STATE_DRAINING:
		ask_slot(&clean, GPUFABRIC_CMD_DRAIN_ABORT, one->name, -1);
		return false;
	case GF_STATE_FAULT:
	case GF_STATE_LOST:
		ask_slot(&clean, GPUFABRIC_CMD_CLEAR, one->name, -1);
		return false;
	case GF_STATE_READY:
		if (!off)
			break;
		if (!ask_drain(&clean, one->name, 0, &generation))
			ask_slot(&clean, GPUFABRIC_CMD_DETACH, one->name, generation);
		return false;
	}
	if (one->flags & GPUFABRIC_SLOT_FLAG_QUARANTINED) {
		ask_slot(&clean, GPUFABRIC_CMD_CLEAR, one->name, -1);
		return false;
	}
	return true;
}

static bool settled(bool off)
{
	bool rest = true;

	dump(GPUFABRIC_CMD_COMPOSITION_GET, part_composition, &n_compositions);
	for (unsigned int i = 0; i < n_compositions; i++) {
		ask(&clean, &(struct ask){ .command = GPUFABRIC_CMD_RELEASE, .name = compositions[i].name,
					   .flags = GPUFABRIC_RELEASE_FLAG_KEEP });
		rest = false;
	}
	if (!rest)
		return false;
	dump(GPUFABRIC_CMD_SLOT_GET, part_slot, &n_slots);
	for (unsigned int i = 0; i < n_slots; i++)
		rest &= settle_slot(&slots[i], off);
	return rest && !status(GPUFABRIC_A_STATUS_OPERATIONS);
}

/* An attach that names a driver which never binds ends by its own deadline alone. */
static bool awaits_driver(void)
{
	for (unsigned int i = 0; i < n_slots; i++)
		if (slots[i].state == GF_STATE_ATTACHED)
			return true;
	return false;
}

static void say_what_moves(void)
{
	for (unsigned int i = 0; i < n_slots; i++)
		printf("# %s %s %s, operation %d, composition %s\n", slots[i].name, gf_state_name(slots[i].state),
		       gf_cause_name(slots[i].cause), slots[i].has_operation, slots[i].composition);
	for (unsigned int i = 0; i < n_compositions; i++)
		printf("# %s %s\n", compositions[i].name, gf_composition_state_name(compositions[i].state));
}

/**
 * fabric_settle() - end all compositions and bring all slots to rest
 * @off: power them off, too
 */
void fabric_settle(bool off)
{
	int err = watch_open(&watch);
	unsigned int silent = 0;

	if (err)
		fail("no events: %s", strerror(-err));
	while (!settled(off)) {
		if (silent >= 4 + (awaits_driver() ? GPUFABRIC_TIMEOUT_MAX / ASK_PATIENCE_MS : 0)) {
			say_what_moves();
			fail("the fabric does not come to rest");
		}
		/* What is under way ends with an event, which the socket has by then. */
		err = watch_next(&watch, &event, ASK_PATIENCE_MS);
		silent = err == -ETIME ? silent + 1 : 0;
		while (!err)
			err = watch_next(&watch, &event, 0);
	}
	gf_close(&watch);
	fabric_check();
	for (unsigned int i = 0; i < n_slots; i++) {
		if (slots[i].composition[0])
			fail("%s says that it is with %s, which there is not", slots[i].name, slots[i].composition);
		if (off && slots[i].state != GF_STATE_OFF && slots[i].state != GF_STATE_EMPTY)
			fail("%s is %s", slots[i].name, gf_state_name(slots[i].state));
	}
}
