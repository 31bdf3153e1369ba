// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that are refused: every reason there is, with its errno and text.
 *
 *   10000:00:00.0 root port
 *     +- 01:00.0 upstream -- 02:00.0  sim0-0 .. sim0-6   h100-80, off
 *                            02:07.0  sim0-7             empty
 */
#include <fcntl.h>

#include "test.h"

#define NR 7

FIXTURE(request) {
};

FIXTURE_SETUP(request)
{
	OPEN_SOCKETS();
	ASSERT_EQ(0, sim_reset(&gf, &watch, NR, "h100-80"));
}

FIXTURE_TEARDOWN(request)
{
}

static void autoprobe(const char *on)
{
	int fd = open("/sys/bus/pci/drivers_autoprobe", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, on, 1) != 1)
		perror("drivers_autoprobe");
	close(fd);
}

TEST_F(request, no_slot_at_all)
{
	static const uint8_t commands[] = {
		GPUFABRIC_CMD_ATTACH, GPUFABRIC_CMD_DETACH, GPUFABRIC_CMD_DRAIN, GPUFABRIC_CMD_DRAIN_ABORT,
		GPUFABRIC_CMD_CLEAR,
	};

	for (size_t i = 0; i < sizeof(commands); i++)
		EXPECT_REFUSED(ask(&gf, ASK(.command = commands[i])), EINVAL, "name at least one slot");
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "x")), EINVAL,
		       "name at least one slot");
}

TEST_F(request, slot_without_name_or_id)
{
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH, SLOTS({ .expects = 1 }))), EINVAL,
		       "name each slot by slot-id or slot-name");
	EXPECT_EQ(GPUFABRIC_A_MEMBER, gf.bad_attr);
}

TEST_F(request, slot_that_does_not_exist)
{
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_ATTACH, "sim9-9", -1), ENOENT,
		       "there is no such slot");
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH, SLOTS({ .id = 999 }))), ENOENT,
		       "there is no such slot");
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_ATTACH, "", -1), ENOENT, "there is no such slot");
	/* Nor is there one that has the id of one and the name of another. */
	ASSERT_EQ(0, get_slot(&gf, "sim0-0", &slot));
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH, SLOTS({ .id = slot.id, .name = "sim0-1" }))),
		       ENOENT, "there is no such slot");
}

TEST_F(request, judged_by_what_has_changed_since)
{
	uint64_t before = get_changes(&gf);

	/* What comes and goes beside it makes a judgement stale, the request that came first as well. */
	ASSERT_EQ(0, attach("sim0-0"));
	EXPECT_LT(before, get_changes(&gf));
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH, .judged_at = before, .has_judged_at = true,
				    SLOTS({ .name = "sim0-1" }))), EAGAIN,
		       "stale: the fabric has changed since the request was judged, judge it again");
	EXPECT_EQ(GPUFABRIC_A_JUDGED_AT, gf.bad_attr);
	EXPECT_STATE("sim0-1", OFF);
	/* The module has not counted so far: that was another load of it. */
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH, .judged_at = get_changes(&gf) + 1,
				    .has_judged_at = true, SLOTS({ .name = "sim0-1" }))), EAGAIN,
		       "stale: the fabric has changed since the request was judged, judge it again");
	/* Nothing is attached where there is a GPU already, so nothing is judged. */
	EXPECT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH, .judged_at = before, .has_judged_at = true,
				  .flags = GPUFABRIC_ATTACH_FLAG_CHECK, SLOTS({ .name = "sim0-0" }))));
	ASSERT_EQ(0, detach("sim0-0"));
	EXPECT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH, .judged_at = get_changes(&gf),
				  .has_judged_at = true, .flags = GPUFABRIC_ATTACH_FLAG_CHECK,
				  SLOTS({ .name = "sim0-1" }))));
}

/* Without a driver the last that is announced is a function that has no address yet. */
TEST_F(request, windows_count_once_they_are_placed)
{
	uint64_t before = get_changes(&gf);

	autoprobe("0");
	EXPECT_EQ(0, attach("sim0-0"));
	autoprobe("1");
	/* The request, the function, and the end of the wait for its windows. */
	EXPECT_LE(before + 3, get_changes(&gf));
	EXPECT_EQ(0, detach("sim0-0"));
}

TEST_F(request, a_deadline_counts_all_that_are_before_it)
{
	static const char *const names[] = { "sim0-0", "sim0-1", "sim0-2" };
	const struct nlattr *operation;
	uint64_t id[3];

	for (unsigned int i = 0; i < 3; i++) {
		ASSERT_EQ(0, sim_set(0, i, "link", "slow 900"));
		ASSERT_EQ(0, sim_set(0, i, "link", "late 900"));
		ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH, .timeout = 20000,
					  SLOTS({ .name = names[i], .order = 1 }))));
		id[i] = ask_id(&gf);
	}
	operation = gf_attr(&gf.reply.header, GPUFABRIC_A_OPERATION);
	EXPECT_LE(3 * 20000, gf_u64(gf_sub(operation, GPUFABRIC_A_OPERATION_DEADLINE)) -
			     gf_u64(gf_sub(operation, GPUFABRIC_A_OPERATION_STARTED)));
	for (unsigned int i = 0; i < 3; i++)
		EXPECT_EQ(0, watch_operation(&watch, id[i], NULL));
}

TEST_F(request, order_out_of_range)
{
	EXPECT_EQ(-ERANGE, ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH,
					SLOTS({ .name = "sim0-0", .order = GPUFABRIC_MEMBERS_MAX + 1 }))));
	EXPECT_STATE("sim0-0", OFF);
}

TEST_F(request, slot_named_twice)
{
	ASSERT_EQ(0, get_slot(&gf, "sim0-1", &slot));
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH,
				    SLOTS({ .name = "sim0-0" }, { .name = "sim0-1" }, { .id = slot.id }))),
		       EINVAL, "the slot is named twice, name it once");
	/* All or none: the first two were not touched. */
	EXPECT_STATE("sim0-0", OFF);
	EXPECT_STATE("sim0-1", OFF);
	ASSERT_EQ(0, compose("twice", "sim0-0"));
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_RESIZE, .name = "twice",
				    SLOTS({ .name = "sim0-0" }, { .name = "sim0-0", .remove = true }))),
		       EINVAL, "the slot is named twice, name it once");
}

TEST_F(request, too_many_slots)
{
	static struct ask_slot many[GPUFABRIC_MEMBERS_MAX + 1];
	static const uint8_t commands[] = {
		GPUFABRIC_CMD_ATTACH, GPUFABRIC_CMD_DETACH, GPUFABRIC_CMD_DRAIN, GPUFABRIC_CMD_DRAIN_ABORT,
		GPUFABRIC_CMD_CLEAR, GPUFABRIC_CMD_COMPOSE, GPUFABRIC_CMD_RESIZE, GPUFABRIC_CMD_RELEASE,
	};

	for (int i = 0; i <= GPUFABRIC_MEMBERS_MAX; i++)
		many[i].id = 1000 + i;
	for (size_t i = 0; i < sizeof(commands); i++) {
		EXPECT_REFUSED(ask(&gf, ASK(.command = commands[i], .name = commands[i] < GPUFABRIC_CMD_COMPOSE ?
					    NULL : "many", .slots = many, .n_slots = GPUFABRIC_MEMBERS_MAX + 1)),
			       E2BIG, "too many slots, name at most 512 in one request");
	}
	/* One less is not too many; it fails for another reason. */
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH, .slots = many,
				    .n_slots = GPUFABRIC_MEMBERS_MAX)), ENOENT, "there is no such slot");
}

TEST_F(request, empty_slot)
{
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_ATTACH, "sim0-7", -1), ENODEV,
		       "the slot is empty, insert or assign a GPU first");
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_DRAIN, "sim0-7", -1), ENODEV,
		       "the slot is empty, insert or assign a GPU first");
	/* There is nothing to remove, so that is done at once. */
	EXPECT_EQ(0, ask_slot(&gf, GPUFABRIC_CMD_DETACH, "sim0-7", -1));
}

TEST_F(request, one_bad_slot_refuses_all)
{
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "bad",
				    SLOTS({ .name = "sim0-0" }, { .name = "sim0-1" }, { .name = "sim0-7" }))),
		       ENODEV, "the slot is empty, insert or assign a GPU first");
	EXPECT_STATE("sim0-0", OFF);
	EXPECT_STREQ("", slot.composition);
	EXPECT_STATE("sim0-1", OFF);
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_RELEASE, .name = "bad")), ENOENT,
		       "there is no such composition");
}

TEST_F(request, detach_without_drain)
{
	ASSERT_EQ(0, attach("sim0-0"));
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_DETACH, "sim0-0", -1), ESTALE,
		       "drain the slot first, and give the generation that drain returns");
	EXPECT_STATE("sim0-0", READY);
	/* The generation of a slot that is not drained is not enough. */
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_DETACH, "sim0-0", slot.generation), ESTALE,
		       "drain the slot first, and give the generation that drain returns");
	EXPECT_STATE("sim0-0", READY);
}

TEST_F(request, drain_what_has_no_gpu)
{
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_DRAIN, "sim0-0", -1), ENODEV,
		       "the slot has no attached GPU to drain");
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_DRAIN_ABORT, "sim0-0", -1), EINVAL,
		       "the slot is not being drained, there is no drain to abort");
}

TEST_F(request, draining_slot)
{
	uint32_t generation;

	ASSERT_EQ(0, attach("sim0-0"));
	ASSERT_EQ(0, ask_drain(&gf, "sim0-0", 0, &generation));
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_DRAIN, "sim0-0", -1), EBUSY,
		       "the slot is being drained, abort the drain or wait for its end");
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_ATTACH, "sim0-0", -1), EBUSY,
		       "the slot is being drained, abort the drain or wait for its end");
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_DETACH, "sim0-0", generation + 1), ESTALE,
		       "the generation of the slot has changed, read the slot again");
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_DETACH, "sim0-0", -1), ESTALE,
		       "the generation of the slot has changed, read the slot again");
	EXPECT_STATE("sim0-0", DRAINING);
}

TEST_F(request, fault)
{
	ASSERT_EQ(0, sim_set(0, 0, "fail", "power"));
	EXPECT_NE(0, attach("sim0-0"));
	EXPECT_STATE("sim0-0", FAULT);
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_ATTACH, "sim0-0", -1), EIO,
		       "the slot is in fault, see its cause and clear it first");
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_DRAIN, "sim0-0", -1), EIO,
		       "the slot is in fault, see its cause and clear it first");
	EXPECT_EQ(0, ask_slot(&gf, GPUFABRIC_CMD_CLEAR, "sim0-0", -1));
	EXPECT_EQ(0, attach("sim0-0"));
	EXPECT_STATE("sim0-0", READY);
}

TEST_F(request, lost)
{
	ASSERT_EQ(0, attach("sim0-0"));
	ASSERT_EQ(0, sim_set(0, 0, "surprise", "remove"));
	ASSERT_EQ(0, watch_state(&gf, &watch, "sim0-0", GF_STATE_LOST));
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_ATTACH, "sim0-0", -1), ENODEV,
		       "the GPU of this slot was lost, insert it again or clear the slot");
	EXPECT_EQ(0, ask_slot(&gf, GPUFABRIC_CMD_CLEAR, "sim0-0", -1));
	EXPECT_EQ(0, watch_state(&gf, &watch, "sim0-0", GF_STATE_EMPTY));
}

TEST_F(request, quarantine)
{
	uint32_t generation;

	/* An attach that ends well makes the slot's losses and faults begin anew. */
	ASSERT_EQ(0, attach("sim0-0"));
	ASSERT_EQ(0, ask_drain(&gf, "sim0-0", 0, &generation));
	ASSERT_EQ(0, ask_slot(&gf, GPUFABRIC_CMD_DETACH, "sim0-0", generation));
	ASSERT_EQ(0, watch_state(&gf, &watch, "sim0-0", GF_STATE_OFF));
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, sim_set(0, 0, "fail", "power"));
		EXPECT_NE(0, attach("sim0-0"));
		EXPECT_STATE("sim0-0", FAULT);
		EXPECT_EQ(i == 2, !!(slot.flags & GPUFABRIC_SLOT_FLAG_QUARANTINED));
		if (i < 2)
			ASSERT_EQ(0, ask_slot(&gf, GPUFABRIC_CMD_CLEAR, "sim0-0", -1));
	}
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_ATTACH, "sim0-0", -1), EIO,
		       "the slot is quarantined after repeated faults, clear it first");
	EXPECT_EQ(0, ask_slot(&gf, GPUFABRIC_CMD_CLEAR, "sim0-0", -1));
	EXPECT_EQ(0, attach("sim0-0"));
	EXPECT_STATE("sim0-0", READY);
	EXPECT_EQ(0, slot.flags & GPUFABRIC_SLOT_FLAG_QUARANTINED);
}

TEST_F(request, clear_is_told_once)
{
	static struct gf_event event;

	ASSERT_EQ(0, sim_set(0, 0, "fail", "power"));
	EXPECT_NE(0, attach("sim0-0"));
	ASSERT_EQ(0, watch_state(&gf, &watch, "sim0-0", GF_STATE_FAULT));
	ASSERT_EQ(0, ask_slot(&gf, GPUFABRIC_CMD_CLEAR, "sim0-0", -1));
	do {
		ASSERT_EQ(0, watch_next(&watch, &event, ASK_PATIENCE_MS));
	} while (!event.has_slot || strcmp(event.slot.name, "sim0-0") || event.slot.state == GF_STATE_FAULT);
	EXPECT_EQ(GF_STATE_OFF, event.slot.state);
	EXPECT_EQ(GF_STATE_FAULT, event.previous);
}

TEST_F(request, nothing_to_clear)
{
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_CLEAR, "sim0-0", -1), EINVAL,
		       "the slot is neither in fault nor lost nor quarantined, nothing to clear");
}

TEST_F(request, operation_under_way)
{
	uint64_t id;

	ASSERT_EQ(0, sim_set(0, 0, "driver", "probe-slow 1500"));
	ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "slow",
				  SLOTS({ .name = "sim0-0" }))));
	id = ask_id(&gf);
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_CLEAR, "sim0-0", -1), EBUSY,
		       "an operation is under way on this slot, wait for it to end");
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_DRAIN, "sim0-0", -1), EBUSY,
		       "an operation is under way on this slot, wait for it to end");
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_ATTACH, "sim0-0", -1), EBUSY,
		       "the slot is claimed by a composition, release the composition first");
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_RESIZE, .name = "slow",
				    SLOTS({ .name = "sim0-1" }))), EBUSY,
		       "an operation is under way on this composition, wait for it to end");
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_RELEASE, .name = "slow")), EBUSY,
		       "an operation is under way on this composition, wait for it to end");
	EXPECT_EQ(GPUFABRIC_A_NAME, gf.bad_attr);
	EXPECT_EQ(0, watch_operation(&watch, id, NULL));
}

TEST_F(request, member_is_busy_until_its_composition_is_made)
{
	uint64_t id;

	/* The first is ready long before the second, which fails. */
	ASSERT_EQ(0, attach("sim0-0"));
	ASSERT_EQ(0, sim_set(0, 1, "fail", "link"));
	ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "part",
				  SLOTS({ .name = "sim0-0" }, { .name = "sim0-1" }))));
	id = ask_id(&gf);
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_DRAIN, "sim0-0", -1), EBUSY,
		       "an operation is under way on this slot, wait for it to end");
	EXPECT_NE(0, watch_operation(&watch, id, NULL));
	/* It was attached before, so it stays so, and nobody holds it. */
	EXPECT_STATE("sim0-0", READY);
	EXPECT_STREQ("", slot.composition);
	EXPECT_EQ(0, detach("sim0-0"));
}

TEST_F(request, stuck)
{
	ASSERT_EQ(0, attach("sim0-0"));
	ASSERT_EQ(0, sim_set(0, 0, "driver", "remove-block"));
	uint32_t generation;

	ASSERT_EQ(0, ask_drain(&gf, "sim0-0", 0, &generation));
	EXPECT_EQ(-ETIMEDOUT,
		  ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_DETACH, .timeout = 200,
						SLOTS({ .name = "sim0-0", .has_generation = true,
							.generation = generation })), &end));
	EXPECT_STATE("sim0-0", STUCK);
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_ATTACH, "sim0-0", -1), ETIMEDOUT,
		       "the slot is stuck in an operation that has not returned");
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_DRAIN, "sim0-0", -1), ETIMEDOUT,
		       "the slot is stuck in an operation that has not returned");
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_CLEAR, "sim0-0", -1), ETIMEDOUT,
		       "the slot is stuck in an operation that has not returned");
	ASSERT_EQ(0, sim_set(0, 0, "driver", "remove-release"));
	EXPECT_EQ(0, watch_state(&gf, &watch, "sim0-0", GF_STATE_OFF));
}

TEST_F(request, names)
{
	static const char *const good[] = {
		"a", "Z", "a0", "train70b", "a_b.c-d",
		"x23456789012345678901234567890123456789012345678901234567890123",
	};
	static const char *const bad[] = {
		"", "0", "-a", "_a", ".a", "a b", "a/b", "a\n", "\303\244", "a\303\244",
	};
	static const char text[] = "a name is a letter, then up to 62 letters, digits, _ . or -";

	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_COMPOSE, SLOTS({ .name = "sim0-0" }))), EINVAL,
		       "give the name of the composition");
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_RESIZE, SLOTS({ .name = "sim0-0" }))), EINVAL,
		       "give the name of the composition");
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_RELEASE)), EINVAL,
		       "give the name of the composition");
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_ANNOTATE, .annotation = "x")), EINVAL,
		       "give the name of the composition");
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		EXPECT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = good[i],
					  .flags = GPUFABRIC_COMPOSE_FLAG_CHECK,
					  SLOTS({ .name = "sim0-0" }))));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = bad[i],
					    SLOTS({ .name = "sim0-0" }))), EINVAL, text);
		EXPECT_EQ(GPUFABRIC_A_NAME, gf.bad_attr);
	}
	EXPECT_EQ(-EINVAL, ask(&gf, ASK(.command = GPUFABRIC_CMD_COMPOSE, SLOTS({ .name = "sim0-0" }),
		.name = "x234567890123456789012345678901234567890123456789012345678901234")));
	EXPECT_EQ(GPUFABRIC_A_NAME, gf.bad_attr);
}

TEST_F(request, name_is_taken)
{
	ASSERT_EQ(0, compose("taken", "sim0-0"));
	EXPECT_REFUSED(compose("taken", "sim0-1"), EEXIST, "the name is taken, choose another or release it");
	EXPECT_EQ(GPUFABRIC_A_NAME, gf.bad_attr);
	EXPECT_STATE("sim0-1", OFF);
}

TEST_F(request, claimed)
{
	uint32_t generation;

	ASSERT_EQ(0, compose("holder", "sim0-0"));
	EXPECT_REFUSED(compose("other", "sim0-0"), EBUSY,
		       "the slot is claimed by a composition, release the composition first");
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_ATTACH, "sim0-0", -1), EBUSY,
		       "the slot is claimed by a composition, release the composition first");
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_RESIZE, .name = "holder",
				    SLOTS({ .name = "sim0-0" }))), EEXIST,
		       "the slot is in this composition already");
	ASSERT_EQ(0, ask_drain(&gf, "sim0-0", 0, &generation));
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_DETACH, "sim0-0", generation), EBUSY,
		       "the slot belongs to a composition, release or resize it, or use force");
	EXPECT_STATE("sim0-0", DRAINING);
}

TEST_F(request, resize)
{
	ASSERT_EQ(0, compose("small", "sim0-0"));
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_RESIZE, .name = "nobody",
				    SLOTS({ .name = "sim0-1" }))), ENOENT,
		       "there is no such composition");
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_RESIZE, .name = "small")), EINVAL,
		       "name slots to add or to remove");
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_RESIZE, .name = "small",
				    SLOTS({ .name = "sim0-1", .remove = true }))), EINVAL,
		       "the slot is not in this composition");
	EXPECT_EQ(GPUFABRIC_A_REMOVE, gf.bad_attr);
	uint32_t generation;

	ASSERT_EQ(0, ask_drain(&gf, "sim0-0", 0, &generation));
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_RESIZE, .name = "small",
				    SLOTS({ .name = "sim0-0", .remove = true, .has_generation = true,
					    .generation = generation }))), EINVAL,
		       "no slot would remain, release the composition instead");
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_RESIZE, .name = "small", .driver = "pci-stub",
				    .driver_timeout = 1000,
				    SLOTS({ .name = "sim0-0", .remove = true, .has_generation = true,
					    .generation = generation }))), EINVAL,
		       "this attribute needs slots to add");
	EXPECT_EQ(GPUFABRIC_A_DRIVER, gf.bad_attr);
	EXPECT_STATE("sim0-0", DRAINING);
}

TEST_F(request, release_of_what_is_not_there)
{
	ASSERT_EQ(0, compose("one", "sim0-0"));
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_RELEASE, .name = "nobody")), ENOENT,
		       "there is no such composition");
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_RELEASE, .name = "one",
				    SLOTS({ .name = "sim0-1" }))), EINVAL,
		       "the slot is not in this composition");
	/* A member with a GPU has to be drained, named or not. */
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_RELEASE, .name = "one")), ESTALE,
		       "drain the slot first, and give the generation that drain returns");
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_RELEASE, .name = "one",
				    SLOTS({ .name = "sim0-0" }))), ESTALE,
		       "drain the slot first, and give the generation that drain returns");
	EXPECT_STATE("sim0-0", READY);
	EXPECT_STREQ("one", slot.composition);
}

TEST_F(request, annotate)
{
	static char long_one[GPUFABRIC_ANNOTATION_MAX + 1];
	static struct gf_composition composition;

	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_ANNOTATE, .name = "x")), EINVAL,
		       "give the annotation, which may be empty");
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_ANNOTATE, .name = "x", .annotation = "")), ENOENT,
		       "there is no such composition");
	EXPECT_EQ(GPUFABRIC_A_NAME, gf.bad_attr);
	ASSERT_EQ(0, compose("x", "sim0-0"));
	EXPECT_EQ(-ERANGE, ask(&gf, ASK(.command = GPUFABRIC_CMD_ANNOTATE, .name = "x", .annotation = long_one,
					.annotation_len = sizeof(long_one))));
	EXPECT_EQ(GPUFABRIC_A_ANNOTATION, gf.bad_attr);
	ASSERT_EQ(0, get_composition(&gf, "x", &composition));
	uint32_t generation = composition.generation;

	ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_ANNOTATE, .name = "x", .annotation = "mine",
				  .generation = generation, .has_generation = true)));
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_ANNOTATE, .name = "x", .annotation = "yours",
				    .generation = generation, .has_generation = true)), ESTALE,
		       "the generation of the composition has changed, read the composition again");
	EXPECT_EQ(GPUFABRIC_A_GENERATION, gf.bad_attr);
	ASSERT_EQ(0, get_composition(&gf, "x", &composition));
	EXPECT_STREQ("mine", composition.annotation);
}

TEST_F(request, owner)
{
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "x", .owner = UINT32_MAX,
				    .has_owner = true, SLOTS({ .name = "sim0-0" }))), EINVAL,
		       "the owner is not a valid user id");
	EXPECT_EQ(GPUFABRIC_A_OWNER, gf.bad_attr);
}

TEST_F(request, other_gpu_than_expected_where_one_is)
{
	ASSERT_EQ(0, attach("sim0-0"));
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "x",
				    SLOTS({ .name = "sim0-0", .expects = 4, .expect = { 0, 0, 0x1002 } }))),
		       EMEDIUMTYPE, "the slot holds another GPU than the request expects");
	EXPECT_EQ(0, ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "x",
						   SLOTS({ .name = "sim0-0", .expects = 12,
							   .expect = { 0, 0, 0x10de, 0x2331 } })), &end));
}

TEST_F(request, driver)
{
	static const char unnamed[] = "a requested driver needs a name without a slash, and a driver-timeout";
	static const char other[] = "the GPU is attached without the requested driver, detach it first";

	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH, .driver = "pci-stub",
				    SLOTS({ .name = "sim0-0" }))), EINVAL, unnamed);
	EXPECT_EQ(GPUFABRIC_A_DRIVER, gf.bad_attr);
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "x", .driver = "",
				    .driver_timeout = 1000, SLOTS({ .name = "sim0-0" }))), EINVAL, unnamed);
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH, .driver_timeout = 1000,
				    .driver = "\nvfio-pci", SLOTS({ .name = "sim0-0" }))), EINVAL, unnamed);
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH, .driver_timeout = 1000,
				    .driver = "../vfio-pci", SLOTS({ .name = "sim0-0" }))), EINVAL, unnamed);
	EXPECT_EQ(-EINVAL, ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH, .driver_timeout = 1000,
					.driver = "a-name-that-has-32-bytes-exactly",
					SLOTS({ .name = "sim0-0" }))));
	EXPECT_STATE("sim0-0", OFF);

	ASSERT_EQ(0, attach("sim0-0"));
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "x", .driver = "pci-stub",
				    .driver_timeout = 1000, SLOTS({ .name = "sim0-0" }))), EBUSY, other);
	ASSERT_EQ(0, compose("x", "sim0-1"));
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_RESIZE, .name = "x", .driver = "pci-stub",
				    .driver_timeout = 1000, SLOTS({ .name = "sim0-0" }))), EBUSY, other);
	EXPECT_EQ(0, ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_ATTACH,
						   .driver = "gpufabric-sim-gpu", .driver_timeout = 1000,
						   SLOTS({ .name = "sim0-0" })), &end));
}

TEST_F(request, limits_of_the_policy)
{
	EXPECT_EQ(-ERANGE, ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH, .timeout = GPUFABRIC_TIMEOUT_MIN - 1,
					SLOTS({ .name = "sim0-0" }))));
	EXPECT_EQ(-ERANGE, ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH, .timeout = GPUFABRIC_TIMEOUT_MAX + 1,
					SLOTS({ .name = "sim0-0" }))));
	EXPECT_EQ(-ERANGE, ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH,
					.driver_timeout = GPUFABRIC_TIMEOUT_MAX + 1,
					SLOTS({ .name = "sim0-0" }))));
	EXPECT_EQ(-ERANGE, ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH,
					SLOTS({ .name = "sim0-0", .expects = 1, .expect = { 0x10000 } }))));
	EXPECT_EQ(-EINVAL, ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH, .flags = 1U << 31,
					SLOTS({ .name = "sim0-0" }))));
	EXPECT_STATE("sim0-0", OFF);
}

TEST_F(request, attribute_of_another_command)
{
	gf_begin(&request, &gf, GPUFABRIC_CMD_DRAIN, 0);
	gf_put_u32(&request, GPUFABRIC_A_GENERATION, 1000);
	EXPECT_EQ(-EINVAL, gf_talk(&gf, &request));
	gf_begin(&request, &gf, GPUFABRIC_CMD_ATTACH, 0);
	gf_put_u32(&request, GPUFABRIC_A_MAX + 1, 0);
	EXPECT_EQ(-EINVAL, gf_talk(&gf, &request));
	gf_begin(&request, &gf, GPUFABRIC_CMD_ATTACH, 0);
	gf_put(&request, GPUFABRIC_A_TIMEOUT, "x", 1);
	EXPECT_NE(0, gf_talk(&gf, &request));
	gf_begin(&request, &gf, GPUFABRIC_CMD_EVENT, 0);
	EXPECT_EQ(-EOPNOTSUPP, gf_talk(&gf, &request));
	gf_begin(&request, &gf, 200, 0);
	EXPECT_EQ(-EOPNOTSUPP, gf_talk(&gf, &request));
}

MAIN("switches=1 slots=8 latency_ms=5 gpus=*:h100-80:off,0.7:none")
