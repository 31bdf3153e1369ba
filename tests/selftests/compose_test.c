// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compositions: made whole or not at all, resized, released, kept.
 *
 *   root port -- upstream -- sim0-0 .. sim0-7   h100-80, off
 */
#include <time.h>

#include "test.h"

#define NR 8

static struct gf_composition composition;
static struct gf_history history;

FIXTURE(compose) {
};

FIXTURE_SETUP(compose)
{
	OPEN_SOCKETS();
	ASSERT_EQ(0, sim_reset(&gf, &watch, NR, "h100-80"));
}

FIXTURE_TEARDOWN(compose)
{
}

#define THREE SLOTS({ .name = "sim0-0" }, { .name = "sim0-1" }, { .name = "sim0-2" })

static int compose_three(uint32_t flags)
{
	return ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "three", .flags = flags,
					     THREE), &end);
}

static uint32_t drained(const char *name)
{
	uint32_t generation = 0;

	if (ask_drain(&gf, name, 0, &generation))
		printf("# drain %s: %s\n", name, gf.text);
	return generation;
}

#define GIVE_BACK(slot_name) { .name = slot_name, .has_generation = true, .generation = drained(slot_name) }

TEST_F(compose, attaches_what_is_off_and_takes_what_is_ready)
{
	ASSERT_EQ(0, attach("sim0-1"));
	EXPECT_STATE("sim0-1", READY);
	uint32_t generation = slot.generation;

	ASSERT_EQ(0, compose_three(0));
	EXPECT_EQ(GPUFABRIC_OPERATION_KIND_COMPOSE, end.kind);
	EXPECT_EQ(3, end.slots);
	EXPECT_STREQ("three", end.composition);
	for (int i = 0; i < 3; i++) {
		EXPECT_STATE(sim_slot(0, i), READY);
		EXPECT_STREQ("three", slot.composition);
	}
	EXPECT_STATE("sim0-1", READY);
	EXPECT_EQ(generation, slot.generation);
	EXPECT_STATE("sim0-3", OFF);
	ASSERT_EQ(0, get_composition(&gf, "three", &composition));
	EXPECT_EQ(GPUFABRIC_COMPOSITION_STATE_ACTIVE, composition.state);
}

static int release_three(uint32_t flags)
{
	return ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_RELEASE, .name = "three", .flags = flags),
			    &end);
}

#define EXPECT_CONTENTS(slot_name, wanted, whose)				\
	do {									\
		EXPECT_EQ(0, get_slot(&gf, slot_name, &slot));			\
		EXPECT_EQ(GPUFABRIC_CONTENTS_##wanted, slot.contents);		\
		EXPECT_STREQ(whose, slot.former);				\
	} while (0)

TEST_F(compose, what_it_leaves_is_there_until_power_is_gone)
{
	struct ask_slot drain = { .name = "sim0-0" };

	EXPECT_CONTENTS("sim0-0", POWER_CYCLED, "");
	ASSERT_EQ(0, compose_three(0));
	EXPECT_CONTENTS("sim0-0", POWER_CYCLED, "");
	ASSERT_EQ(0, release_three(GPUFABRIC_RELEASE_FLAG_KEEP));
	EXPECT_CONTENTS("sim0-0", FORMER, "three");
	EXPECT_CONTENTS("sim0-3", POWER_CYCLED, "");
	ASSERT_EQ(0, detach("sim0-0"));
	EXPECT_CONTENTS("sim0-0", POWER_CYCLED, "");
	EXPECT_CONTENTS("sim0-1", FORMER, "three");
	/* Or until somebody says that the GPU was reset. */
	drain = (struct ask_slot){ .name = "sim0-1", .has_generation = true, .generation = drained("sim0-1") };
	ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_DRAIN_ABORT, .flags = GPUFABRIC_DRAIN_ABORT_FLAG_RESET,
				  .slots = &drain, .n_slots = 1)));
	EXPECT_CONTENTS("sim0-1", RESET, "");
	drain = (struct ask_slot){ .name = "sim0-2", .has_generation = true, .generation = drained("sim0-2") };
	ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_DRAIN_ABORT, .slots = &drain, .n_slots = 1)));
	EXPECT_CONTENTS("sim0-2", FORMER, "three");
}

/* It never had them. */
TEST_F(compose, what_fails_leaves_nothing)
{
	ASSERT_EQ(0, compose_three(0));
	ASSERT_EQ(0, release_three(GPUFABRIC_RELEASE_FLAG_KEEP));
	ASSERT_EQ(0, sim_set(0, 3, "fail", "link"));
	EXPECT_NE(0, ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "two",
						   SLOTS({ .name = "sim0-0" }, { .name = "sim0-3" })), &end));
	EXPECT_CONTENTS("sim0-0", FORMER, "three");
}

TEST_F(compose, who_chose_a_slot_before_others_used_it_chooses_anew)
{
	struct ask_slot chosen = { .name = "sim0-0", .has_generation = true };

	ASSERT_EQ(0, attach("sim0-0"));
	EXPECT_STATE("sim0-0", READY);
	chosen.generation = slot.generation;
	ASSERT_EQ(0, compose_three(0));
	ASSERT_EQ(0, release_three(GPUFABRIC_RELEASE_FLAG_KEEP));
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "one", .slots = &chosen, .n_slots = 1)),
		       ESTALE, "the generation of the slot has changed, read the slot again");
	EXPECT_STATE("sim0-0", READY);
	chosen.generation = slot.generation;
	EXPECT_EQ(0, ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "one", .slots = &chosen,
						   .n_slots = 1), &end));
}

TEST_F(compose, reply_names_operation_and_composition)
{
	ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "three", THREE)));
	EXPECT_NE(0, ask_id(&gf));
	gf_read_composition(gf_attr(&gf.reply.header, GPUFABRIC_A_COMPOSITION), &composition);
	EXPECT_STREQ("three", composition.name);
	EXPECT_EQ(3, composition.n_members);
	EXPECT_EQ(GPUFABRIC_COMPOSITION_STATE_COMPOSING, composition.state);
	EXPECT_EQ(0, watch_operation(&watch, ask_id(&gf), NULL));
}

TEST_F(compose, check_changes_nothing)
{
	uint64_t before = get_sequence(&gf);
	uint32_t generation;

	EXPECT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "three",
				  .flags = GPUFABRIC_COMPOSE_FLAG_CHECK, THREE)));
	EXPECT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH, .flags = GPUFABRIC_ATTACH_FLAG_CHECK, THREE)));
	EXPECT_EQ(before, get_sequence(&gf));
	EXPECT_EQ(-ENOENT, get_composition(&gf, "three", &composition));
	EXPECT_STATE("sim0-0", OFF);

	ASSERT_EQ(0, compose_three(0));
	ASSERT_EQ(0, get_composition(&gf, "three", &composition));
	uint32_t made = composition.generation;

	EXPECT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_RESIZE, .name = "three", .annotation = "x",
				  .flags = GPUFABRIC_RESIZE_FLAG_CHECK, SLOTS({ .name = "sim0-3" }))));
	generation = drained("sim0-0");
	EXPECT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_RELEASE, .name = "three",
				  .flags = GPUFABRIC_RELEASE_FLAG_CHECK | GPUFABRIC_RELEASE_FLAG_KEEP)));
	EXPECT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_DETACH,
				  .flags = GPUFABRIC_DETACH_FLAG_CHECK | GPUFABRIC_DETACH_FLAG_FORCE,
				  SLOTS({ .name = "sim0-0", .has_generation = true, .generation = generation }))));
	EXPECT_STATE("sim0-0", DRAINING);
	ASSERT_EQ(0, get_composition(&gf, "three", &composition));
	EXPECT_EQ(GPUFABRIC_COMPOSITION_STATE_ACTIVE, composition.state);
	EXPECT_EQ(3, composition.n_members);
	EXPECT_EQ(0, composition.annotation_len);
	EXPECT_EQ(made, composition.generation);
	EXPECT_STATE("sim0-3", OFF);
	/* What a check refuses is what the request would refuse. */
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "other",
				    .flags = GPUFABRIC_COMPOSE_FLAG_CHECK, SLOTS({ .name = "sim0-1" }))), EBUSY,
		       "the slot is claimed by a composition, release the composition first");
}

TEST_F(compose, identity_mismatch_rolls_back)
{
	EXPECT_EQ(-EMEDIUMTYPE,
		  ask_and_wait(&gf, &watch,
			       ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "wrong",
				   SLOTS({ .name = "sim0-0" },
					 { .name = "sim0-1", .expects = 12, .expect = { 0, 0, 0x10de, 0x26b9 } },
					 { .name = "sim0-2" })), &end));
	EXPECT_STREQ("slot sim0-1: identity, found 6767:0001 (10de:2331)", end.text);
	EXPECT_STATE("sim0-0", OFF);
	EXPECT_STATE("sim0-1", FAULT);
	EXPECT_EQ(GPUFABRIC_CAUSE_IDENTITY, slot.cause);
	/* A card that failed is powered off again. */
	EXPECT_EQ(GPUFABRIC_POWER_OFF, slot.condition.power);
	EXPECT_EQ(0, slot.n_functions);
	EXPECT_STATE("sim0-2", OFF);
	EXPECT_EQ(-ENOENT, get_composition(&gf, "wrong", &composition));
}

TEST_F(compose, expected_identity_is_confirmed)
{
	EXPECT_EQ(0, ask_and_wait(&gf, &watch,
				  ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "right",
				      SLOTS({ .name = "sim0-0", .expects = 15,
					      .expect = { 0x6767, 1, 0x10de, 0x2331 } })), &end));
}

TEST_F(compose, what_was_attached_before_stays_after_a_rollback)
{
	ASSERT_EQ(0, attach("sim0-0"));
	ASSERT_EQ(0, sim_set(0, 2, "fail", "power"));
	EXPECT_NE(0, compose_three(0));
	EXPECT_STATE("sim0-0", READY);
	EXPECT_STREQ("", slot.composition);
	EXPECT_STATE("sim0-1", OFF);
	EXPECT_STATE("sim0-2", FAULT);
	/* The name is free again. */
	ASSERT_EQ(0, ask_slot(&gf, GPUFABRIC_CMD_CLEAR, "sim0-2", -1));
	EXPECT_EQ(0, compose_three(0));
}

TEST_F(compose, history_tells_of_the_rollback)
{
	ASSERT_EQ(0, sim_set(0, 2, "fail", "power"));
	EXPECT_NE(0, compose_three(0));
	ASSERT_EQ(0, get_last_history(&gf, "sim0-0", &history));
	EXPECT_EQ(GF_STATE_OFF, history.state);
	EXPECT_EQ(GPUFABRIC_OPERATION_KIND_COMPOSE, history.operation.kind);
	EXPECT_EQ(end.id, history.operation.id);
	ASSERT_EQ(0, get_last_history(&gf, "sim0-2", &history));
	EXPECT_EQ(GF_STATE_FAULT, history.state);
	EXPECT_EQ(end.id, history.operation.id);
	EXPECT_NE(0, history.operation.error);
	EXPECT_NE(0, strlen(history.operation.text));
	EXPECT_STREQ("three", history.operation.composition);
}

TEST_F(compose, resize_adds_and_removes_at_once)
{
	ASSERT_EQ(0, compose_three(0));
	ASSERT_EQ(0, ask_and_wait(&gf, &watch,
				  ASK(.command = GPUFABRIC_CMD_RESIZE, .name = "three",
				      .slots = (struct ask_slot[]){ { .name = "sim0-3" }, { .name = "sim0-4" },
					{ .name = "sim0-0", .remove = true, .has_generation = true,
					  .generation = drained("sim0-0") } },
				      .n_slots = 3), &end));
	ASSERT_EQ(0, get_composition(&gf, "three", &composition));
	EXPECT_EQ(4, composition.n_members);
	EXPECT_EQ(GPUFABRIC_COMPOSITION_STATE_ACTIVE, composition.state);
	EXPECT_STATE("sim0-0", OFF);
	EXPECT_STREQ("", slot.composition);
	EXPECT_STATE("sim0-4", READY);
	EXPECT_STREQ("three", slot.composition);
}

TEST_F(compose, resize_that_fails_to_add_removes_nothing)
{
	ASSERT_EQ(0, compose_three(0));
	ASSERT_EQ(0, sim_set(0, 4, "fail", "power"));
	EXPECT_NE(0, ask_and_wait(&gf, &watch,
				  ASK(.command = GPUFABRIC_CMD_RESIZE, .name = "three",
				      .slots = (struct ask_slot[]){ { .name = "sim0-3" }, { .name = "sim0-4" },
					{ .name = "sim0-0", .remove = true, .has_generation = true,
					  .generation = drained("sim0-0") } },
				      .n_slots = 3), &end));
	ASSERT_EQ(0, get_composition(&gf, "three", &composition));
	EXPECT_EQ(3, composition.n_members);
	EXPECT_EQ(GPUFABRIC_COMPOSITION_STATE_ACTIVE, composition.state);
	/* The drain was used, by an operation that did not come to it. */
	EXPECT_STATE("sim0-0", READY);
	EXPECT_STREQ("three", slot.composition);
	EXPECT_STATE("sim0-3", OFF);
	EXPECT_STREQ("", slot.composition);
	EXPECT_STATE("sim0-4", FAULT);
	EXPECT_STREQ("", slot.composition);
}

TEST_F(compose, resize_owns_what_it_removes)
{
	ASSERT_EQ(0, compose_three(0));
	ASSERT_EQ(0, sim_set(0, 3, "driver", "probe-fail"));
	ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_RESIZE, .name = "three", .driver_timeout = 1000,
				  SLOTS({ .name = "sim0-3" },
					{ .name = "sim0-0", .remove = true, .has_generation = true,
					  .generation = drained("sim0-0") }))));
	uint64_t id = ask_id(&gf);

	EXPECT_STATE("sim0-0", DRAINING);
	EXPECT_EQ(0, slot.drain_deadline);
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_DRAIN_ABORT, "sim0-0", -1), EBUSY,
		       "an operation is under way on this slot, wait for it to end");
	EXPECT_EQ(-ETIMEDOUT, watch_operation(&watch, id, NULL));
	EXPECT_STATE("sim0-0", READY);
}

static uint64_t uptime_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* An order that others do not have makes nobody wait. */
TEST_F(compose, deadline_of_those_that_wait_for_nobody)
{
	struct gf_operation operation;

	ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH, .timeout = 1000,
				  SLOTS({ .name = "sim0-3", .order = GPUFABRIC_MEMBERS_MAX }))));
	gf_read_operation(gf_attr(&gf.reply.header, GPUFABRIC_A_OPERATION), &operation);
	EXPECT_NE(0, operation.deadline);
	EXPECT_GE(uptime_ms() + 1000, operation.deadline);
	EXPECT_EQ(0, watch_operation(&watch, operation.id, NULL));
}

static void set_clock(int hours)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec += hours * 3600;
	clock_settime(CLOCK_REALTIME, &now);
}

TEST_F(compose, a_clock_that_is_set_ends_no_drain)
{
	ASSERT_EQ(0, ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "three",
						   SLOTS({ .name = "sim0-3" })), &end));
	ASSERT_EQ(0, ask_drain(&gf, "sim0-3", 60000, &slot.generation));
	ASSERT_EQ(0, get_slot(&gf, "sim0-3", &slot));
	uint64_t deadline = slot.drain_deadline, uptime = uptime_ms();

	EXPECT_GE(uptime + 60000, deadline);
	EXPECT_LT(uptime, deadline);
	set_clock(2);
	EXPECT_EQ(0, get_slot(&gf, "sim0-3", &slot));
	set_clock(-2);
	EXPECT_EQ(deadline, slot.drain_deadline);
	EXPECT_EQ(0, ask_slot(&gf, GPUFABRIC_CMD_DRAIN_ABORT, "sim0-3", -1));
}

/* Any bytes are, and as many as there may be; nothing is made of them. */
TEST_F(compose, an_annotation_is_kept_as_it_is)
{
	static char bytes[GPUFABRIC_ANNOTATION_MAX];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)i;
	ASSERT_EQ(0, ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "three",
						   .annotation = bytes, .annotation_len = sizeof(bytes), THREE),
				  &end));
	ASSERT_EQ(0, get_composition(&gf, "three", &composition));
	ASSERT_EQ(sizeof(bytes), composition.annotation_len);
	EXPECT_EQ(0, memcmp(bytes, composition.annotation, sizeof(bytes)));
	uint32_t generation = composition.generation;

	/* A resize that says none leaves it, and is a change all the same. */
	ASSERT_EQ(0, ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_RESIZE, .name = "three",
						   SLOTS({ .name = "sim0-3" })), &end));
	ASSERT_EQ(0, get_composition(&gf, "three", &composition));
	EXPECT_EQ(sizeof(bytes), composition.annotation_len);
	EXPECT_LT(generation, composition.generation);
	generation = composition.generation;

	/* So does a request that is refused. */
	EXPECT_NE(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_RESIZE, .name = "three", .annotation = "x",
				  SLOTS({ .name = "sim0-3" }))));
	ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_ANNOTATE, .name = "three", .annotation = "")));
	gf_read_composition(gf_attr(&gf.reply.header, GPUFABRIC_A_COMPOSITION), &composition);
	EXPECT_STREQ("three", composition.name);
	EXPECT_EQ(0, composition.annotation_len);
	EXPECT_LT(generation, composition.generation);
}

TEST_F(compose, resize_can_annotate)
{
	ASSERT_EQ(0, compose_three(0));
	ASSERT_EQ(0, ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_RESIZE, .name = "three",
						   .annotation = "more", SLOTS({ .name = "sim0-3" })), &end));
	ASSERT_EQ(0, get_composition(&gf, "three", &composition));
	EXPECT_STREQ("more", composition.annotation);
}

TEST_F(compose, release_of_what_was_changed_meanwhile)
{
	ASSERT_EQ(0, compose_three(0));
	ASSERT_EQ(0, get_composition(&gf, "three", &composition));
	uint32_t generation = composition.generation;

	ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_ANNOTATE, .name = "three", .annotation = "longer")));
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_RELEASE, .name = "three", .generation = generation,
				    .has_generation = true, .flags = GPUFABRIC_RELEASE_FLAG_KEEP)), ESTALE,
		       "the generation of the composition has changed, read the composition again");
	EXPECT_EQ(GPUFABRIC_A_GENERATION, gf.bad_attr);
	ASSERT_EQ(0, get_composition(&gf, "three", &composition));
	generation = composition.generation;
	ASSERT_EQ(0, ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_RELEASE, .name = "three",
						   .generation = generation, .has_generation = true,
						   .flags = GPUFABRIC_RELEASE_FLAG_KEEP), &end));

	/* Another one of that name and with those GPUs is another one. */
	ASSERT_EQ(0, compose_three(0));
	ASSERT_EQ(0, get_composition(&gf, "three", &composition));
	EXPECT_LT(generation, composition.generation);
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_RELEASE, .name = "three", .generation = generation,
				    .has_generation = true, .flags = GPUFABRIC_RELEASE_FLAG_KEEP)), ESTALE,
		       "the generation of the composition has changed, read the composition again");
}

TEST_F(compose, resize_of_what_was_changed_meanwhile)
{
	ASSERT_EQ(0, compose_three(0));
	ASSERT_EQ(0, get_composition(&gf, "three", &composition));
	ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_ANNOTATE, .name = "three", .annotation = "theirs")));
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_RESIZE, .name = "three", .annotation = "mine",
				    .generation = composition.generation, .has_generation = true,
				    SLOTS({ .name = "sim0-3" }))), ESTALE,
		       "the generation of the composition has changed, read the composition again");
	ASSERT_EQ(0, get_composition(&gf, "three", &composition));
	EXPECT_STREQ("theirs", composition.annotation);
	EXPECT_EQ(3, composition.n_members);
	EXPECT_EQ(0, ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_RESIZE, .name = "three", .annotation = "mine",
						   .generation = composition.generation, .has_generation = true,
						   SLOTS({ .name = "sim0-3" })), &end));
}

/* It is announced to those who may know, and needs no end of what is under way. */
TEST_F(compose, annotate_during_an_operation)
{
	static struct gf_event event;
	uint64_t id;

	ASSERT_EQ(0, gf_join(&watch, watch.private));
	ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "three", THREE)));
	id = ask_id(&gf);
	ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_ANNOTATE, .name = "three", .annotation = "soon")));
	do {
		ASSERT_EQ(0, watch_next(&watch, &event, ASK_PATIENCE_MS));
	} while (!event.has_composition || !event.composition.annotation_len);
	EXPECT_EQ(GPUFABRIC_EVENT_KIND_COMPOSITION_CHANGED, event.kind);
	EXPECT_STREQ("soon", event.composition.annotation);
	EXPECT_EQ(0, watch_operation(&watch, id, NULL));
}

TEST_F(compose, release_detaches_what_was_drained)
{
	ASSERT_EQ(0, compose_three(0));
	struct ask_slot back[] = { GIVE_BACK("sim0-0"), GIVE_BACK("sim0-1"), GIVE_BACK("sim0-2") };

	ASSERT_EQ(0, ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_RELEASE, .name = "three",
						   .slots = back, .n_slots = 3), &end));
	for (int i = 0; i < 3; i++) {
		EXPECT_STATE(sim_slot(0, i), OFF);
		EXPECT_STREQ("", slot.composition);
	}
	EXPECT_EQ(-ENOENT, get_composition(&gf, "three", &composition));
}

TEST_F(compose, release_wants_every_gpu_drained)
{
	ASSERT_EQ(0, compose_three(0));
	struct ask_slot back[] = { GIVE_BACK("sim0-0"), GIVE_BACK("sim0-1") };

	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_RELEASE, .name = "three", .slots = back,
				    .n_slots = 2)), ESTALE,
		       "drain the slot first, and give the generation that drain returns");
	EXPECT_STATE("sim0-0", DRAINING);
	EXPECT_STATE("sim0-2", READY);
	ASSERT_EQ(0, get_composition(&gf, "three", &composition));
	EXPECT_EQ(GPUFABRIC_COMPOSITION_STATE_ACTIVE, composition.state);
}

TEST_F(compose, release_keeps_gpus_attached)
{
	ASSERT_EQ(0, compose_three(0));
	ASSERT_EQ(0, release_keep("three"));
	for (int i = 0; i < 3; i++) {
		EXPECT_STATE(sim_slot(0, i), READY);
		EXPECT_STREQ("", slot.composition);
	}
	/* They are in the pool: another may have them as they are. */
	EXPECT_EQ(0, compose("other", "sim0-1"));
}

TEST_F(compose, member_that_is_lost_degrades_and_comes_back)
{
	static struct gf_event event;

	ASSERT_EQ(0, compose_three(0));
	ASSERT_EQ(0, sim_set(0, 1, "surprise", "remove"));
	ASSERT_EQ(0, watch_state(&gf, &watch, "sim0-1", GF_STATE_LOST));
	ASSERT_EQ(0, get_composition(&gf, "three", &composition));
	EXPECT_EQ(GPUFABRIC_COMPOSITION_STATE_DEGRADED, composition.state);
	EXPECT_EQ(3, composition.n_members);
	ASSERT_EQ(0, sim_set(0, 1, "surprise", "insert"));
	do {
		ASSERT_EQ(0, watch_next(&watch, &event, ASK_PATIENCE_MS));
	} while (event.kind != GPUFABRIC_EVENT_KIND_COMPOSITION_CHANGED ||
		 event.composition.state != GPUFABRIC_COMPOSITION_STATE_ACTIVE);
	EXPECT_STATE("sim0-1", READY);
	EXPECT_STREQ("three", slot.composition);
}

TEST_F(compose, degraded_composition_can_be_released_or_repaired)
{
	ASSERT_EQ(0, compose_three(0));
	ASSERT_EQ(0, sim_set(0, 1, "surprise", "remove"));
	ASSERT_EQ(0, watch_state(&gf, &watch, "sim0-1", GF_STATE_LOST));
	/* The lost one is replaced by another. */
	ASSERT_EQ(0, ask_and_wait(&gf, &watch,
				  ASK(.command = GPUFABRIC_CMD_RESIZE, .name = "three",
				      SLOTS({ .name = "sim0-5" }, { .name = "sim0-1", .remove = true })), &end));
	ASSERT_EQ(0, get_composition(&gf, "three", &composition));
	EXPECT_EQ(GPUFABRIC_COMPOSITION_STATE_ACTIVE, composition.state);
	EXPECT_EQ(3, composition.n_members);
	ASSERT_EQ(0, sim_set(0, 5, "surprise", "remove"));
	ASSERT_EQ(0, watch_state(&gf, &watch, "sim0-5", GF_STATE_LOST));
	/* A lost one needs no drain and may be left out. */
	struct ask_slot back[] = { GIVE_BACK("sim0-0"), GIVE_BACK("sim0-2") };

	EXPECT_EQ(0, ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_RELEASE, .name = "three",
						   .slots = back, .n_slots = 2), &end));
	EXPECT_STATE("sim0-5", LOST);
	EXPECT_STREQ("", slot.composition);
}

TEST_F(compose, force_detaches_a_member_and_attaches_it_again)
{
	ASSERT_EQ(0, compose_three(0));
	struct ask_slot back[] = { GIVE_BACK("sim0-1") };

	ASSERT_EQ(0, ask_and_wait(&gf, &watch,
				  ASK(.command = GPUFABRIC_CMD_DETACH, .flags = GPUFABRIC_DETACH_FLAG_FORCE,
				      .slots = back, .n_slots = 1), &end));
	EXPECT_STATE("sim0-1", OFF);
	EXPECT_STREQ("three", slot.composition);
	ASSERT_EQ(0, get_composition(&gf, "three", &composition));
	EXPECT_EQ(GPUFABRIC_COMPOSITION_STATE_DEGRADED, composition.state);
	ASSERT_EQ(0, ask_and_wait(&gf, &watch,
				  ASK(.command = GPUFABRIC_CMD_ATTACH, .flags = GPUFABRIC_ATTACH_FLAG_FORCE,
				      SLOTS({ .name = "sim0-1" })), &end));
	EXPECT_STATE("sim0-1", READY);
	EXPECT_STREQ("three", slot.composition);
	ASSERT_EQ(0, get_composition(&gf, "three", &composition));
	EXPECT_EQ(GPUFABRIC_COMPOSITION_STATE_ACTIVE, composition.state);
}

/* The operation would go on with slots that are somebody else's by then. */
TEST_F(compose, release_takes_no_slot_from_an_operation)
{
	ASSERT_EQ(0, compose_three(0));
	ASSERT_EQ(0, sim_set(0, 1, "driver", "remove-block"));
	struct ask_slot back[] = { GIVE_BACK("sim0-0"), GIVE_BACK("sim0-1") };

	ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_DETACH, .flags = GPUFABRIC_DETACH_FLAG_FORCE,
				  .slots = back, .n_slots = 2)));
	uint64_t id = ask_id(&gf);

	EXPECT_REFUSED(release_three(GPUFABRIC_RELEASE_FLAG_KEEP), EBUSY,
		       "an operation is under way on this slot, wait for it to end");
	struct ask_slot named[] = { { .name = "sim0-0" } };

	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_RELEASE, .name = "three", .slots = named, .n_slots = 1,
				    .flags = GPUFABRIC_RELEASE_FLAG_KEEP)), EBUSY,
		       "an operation is under way on this slot, wait for it to end");
	EXPECT_EQ(0, sim_set(0, 1, "driver", "remove-release"));
	EXPECT_EQ(0, watch_operation(&watch, id, NULL));
	EXPECT_STREQ("three", (get_slot(&gf, "sim0-0", &slot), slot.composition));
	EXPECT_EQ(0, release_keep("three"));
}

TEST_F(compose, undo_leaves_a_gpu_that_came_meanwhile)
{
	uint64_t id;

	ASSERT_EQ(0, sim_set(0, 1, "driver", "probe-fail"));
	ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH, .driver_timeout = 600000,
				  SLOTS({ .name = "sim0-0" }, { .name = "sim0-1" }))));
	id = ask_id(&gf);
	ASSERT_EQ(0, watch_state(&gf, &watch, "sim0-0", GF_STATE_READY));
	ASSERT_EQ(0, watch_state(&gf, &watch, "sim0-1", GF_STATE_ATTACHED));
	ASSERT_EQ(0, sim_set(0, 0, "surprise", "remove"));
	ASSERT_EQ(0, watch_state(&gf, &watch, "sim0-0", GF_STATE_LOST));
	ASSERT_EQ(0, sim_set(0, 0, "surprise", "insert"));
	ASSERT_EQ(0, watch_state(&gf, &watch, "sim0-0", GF_STATE_READY));
	ASSERT_EQ(0, sim_set(0, 1, "surprise", "remove"));
	EXPECT_NE(0, watch_operation(&watch, id, NULL));
	EXPECT_STATE("sim0-0", READY);
}

TEST_F(compose, stuck_member_does_not_hold_the_others)
{
	ASSERT_EQ(0, compose_three(0));
	ASSERT_EQ(0, sim_set(0, 1, "driver", "remove-block"));
	struct ask_slot stuck[] = { GIVE_BACK("sim0-1") };

	EXPECT_EQ(-ETIMEDOUT,
		  ask_and_wait(&gf, &watch,
			       ASK(.command = GPUFABRIC_CMD_DETACH, .flags = GPUFABRIC_DETACH_FLAG_FORCE,
				   .timeout = 200, .slots = stuck, .n_slots = 1), &end));
	EXPECT_STATE("sim0-1", STUCK);
	EXPECT_STREQ("three", slot.composition);
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_ATTACH, "sim0-1", -1), EBUSY,
		       "the slot is claimed by a composition, release the composition first");
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_DRAIN, "sim0-1", -1), ETIMEDOUT,
		       "the slot is stuck in an operation that has not returned");
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_CLEAR, "sim0-1", -1), ETIMEDOUT,
		       "the slot is stuck in an operation that has not returned");
	/* The others are given up. */
	struct ask_slot back[] = { GIVE_BACK("sim0-0"), GIVE_BACK("sim0-2") };

	EXPECT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_RELEASE, .name = "three", .slots = back,
				  .n_slots = 2)));
	uint64_t id = ask_id(&gf);

	ASSERT_EQ(0, sim_set(0, 1, "driver", "remove-release"));
	EXPECT_EQ(0, watch_operation(&watch, id, NULL));
	EXPECT_EQ(-ENOENT, get_composition(&gf, "three", &composition));
	EXPECT_EQ(0, watch_state(&gf, &watch, "sim0-1", GF_STATE_OFF));
	EXPECT_STATE("sim0-0", OFF);
	EXPECT_STREQ("", slot.composition);
}

TEST_F(compose, bound_composition_is_orphaned_with_its_client)
{
	static struct gf_event event;
	static struct gf client;

	ASSERT_EQ(0, gf_open(&client));
	ASSERT_EQ(0, ask_and_wait(&client, &watch, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "three",
						       .flags = GPUFABRIC_COMPOSE_FLAG_BIND, THREE), &end));
	ASSERT_EQ(0, get_composition(&gf, "three", &composition));
	EXPECT_EQ(GPUFABRIC_COMPOSITION_FLAG_BOUND, composition.flags);
	gf_close(&client);
	do {
		ASSERT_EQ(0, watch_next(&watch, &event, ASK_PATIENCE_MS));
	} while (!event.has_composition || !(event.composition.flags & GPUFABRIC_COMPOSITION_FLAG_ORPHANED));
	/* The kernel never detaches by itself. */
	EXPECT_STATE("sim0-0", READY);
	EXPECT_STREQ("three", slot.composition);
	EXPECT_EQ(0, release_keep("three"));
}

TEST_F(compose, unbound_composition_outlives_its_client)
{
	static struct gf client;

	ASSERT_EQ(0, gf_open(&client));
	ASSERT_EQ(0, ask_and_wait(&client, &watch, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "three", THREE),
				  &end));
	gf_close(&client);
	ASSERT_EQ(0, get_composition(&gf, "three", &composition));
	EXPECT_EQ(0, composition.flags);
}

TEST_F(compose, same_slot_for_two_is_refused_while_the_first_is_made)
{
	uint64_t id;

	ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "three", THREE)));
	id = ask_id(&gf);
	EXPECT_EQ(-EBUSY, ask(&gf, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "late",
				       SLOTS({ .name = "sim0-3" }, { .name = "sim0-2" }))));
	EXPECT_EQ(0, watch_operation(&watch, id, NULL));
	EXPECT_STATE("sim0-3", OFF);
	EXPECT_STREQ("", slot.composition);
}

TEST_F(compose, driver_that_does_not_come_in_time)
{
	ASSERT_EQ(0, sim_set(0, 1, "driver", "probe-fail"));
	EXPECT_EQ(-ETIMEDOUT,
		  ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "three",
						.driver_timeout = 300, THREE), &end));
	EXPECT_STATE("sim0-0", OFF);
	EXPECT_STATE("sim0-1", FAULT);
	EXPECT_EQ(GPUFABRIC_CAUSE_DRIVER, slot.cause);
	EXPECT_EQ(GPUFABRIC_POWER_OFF, slot.condition.power);
	/* Without waiting for one, a GPU without a driver is as good as any. */
	ASSERT_EQ(0, ask_slot(&gf, GPUFABRIC_CMD_CLEAR, "sim0-1", -1));
	ASSERT_EQ(0, sim_set(0, 1, "driver", "probe-fail"));
	EXPECT_EQ(0, compose_three(0));
	EXPECT_STATE("sim0-1", READY);
	EXPECT_NE(0, slot.flags & GPUFABRIC_SLOT_FLAG_NO_DRIVER);
}

MAIN("switches=1 slots=8 latency_ms=5 gpus=*:h100-80:off")
