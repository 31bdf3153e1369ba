// SPDX-License-Identifier: GPL-2.0-only
/*
 * Removal in two steps: what a drain promises, and what ends it.
 *
 *   root port -- upstream -- sim0-0 .. sim0-3   h100-80, off
 */
#include <sys/time.h>
#include <time.h>

#include "test.h"

#define NR 4

FIXTURE(drain) {
};

FIXTURE_SETUP(drain)
{
	OPEN_SOCKETS();
	ASSERT_EQ(0, sim_reset(&gf, &watch, NR, "h100-80"));
	ASSERT_EQ(0, attach("sim0-0"));
}

FIXTURE_TEARDOWN(drain)
{
}

static int detach_by(struct gf *by, uint32_t generation)
{
	return ask_and_wait(by, &watch, ASK(.command = GPUFABRIC_CMD_DETACH,
					    SLOTS({ .name = "sim0-0", .has_generation = true,
						    .generation = generation })), &end);
}

TEST_F(drain, returns_a_generation_for_detach)
{
	uint32_t generation, before;

	EXPECT_STATE("sim0-0", READY);
	before = slot.generation;
	ASSERT_EQ(0, ask_drain(&gf, "sim0-0", 0, &generation));
	EXPECT_EQ(before + 1, generation);
	EXPECT_STATE("sim0-0", DRAINING);
	EXPECT_EQ(generation, slot.generation);
	EXPECT_NE(0, slot.drain_deadline);
	/* Nothing was removed yet. */
	EXPECT_EQ(1, slot.n_functions);
	EXPECT_STREQ("gpufabric-sim-gpu", slot.functions[0].driver);
	EXPECT_EQ(0, detach_by(&gf, generation));
	EXPECT_STATE("sim0-0", OFF);
	EXPECT_EQ(0, slot.drain_deadline);
}

TEST_F(drain, several_slots_at_once)
{
	static struct gf_slot one;
	const struct nlattr *member = NULL;
	size_t left;
	int n = 0;

	ASSERT_EQ(0, attach("sim0-1"));
	ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_DRAIN,
				  SLOTS({ .name = "sim0-0" }, { .name = "sim0-1" }))));
	member = gf_first(&gf.reply.header, &left);
	for (; left > NLA_HDRLEN; left -= NLA_ALIGN(member->nla_len),
	     member = (const void *)((const char *)member + NLA_ALIGN(member->nla_len))) {
		static struct gf answer;

		if ((member->nla_type & NLA_TYPE_MASK) != GPUFABRIC_A_MEMBER)
			continue;
		ASSERT_EQ(0, gf_open(&answer));
		ASSERT_EQ(0, get_slot(&answer, n ? "sim0-1" : "sim0-0", &one));
		EXPECT_EQ(one.id, gf_u32(gf_sub(member, GPUFABRIC_A_MEMBER_SLOT_ID)));
		EXPECT_EQ(one.generation, gf_u32(gf_sub(member, GPUFABRIC_A_MEMBER_GENERATION)));
		EXPECT_EQ(GF_STATE_DRAINING, one.state);
		gf_close(&answer);
		n++;
	}
	EXPECT_EQ(2, n);
}

TEST_F(drain, all_or_none)
{
	/* The second has no GPU. */
	EXPECT_EQ(-ENODEV, ask(&gf, ASK(.command = GPUFABRIC_CMD_DRAIN,
					SLOTS({ .name = "sim0-0" }, { .name = "sim0-2" }))));
	EXPECT_STATE("sim0-0", READY);
}

TEST_F(drain, abort_takes_it_back)
{
	uint32_t generation;

	ASSERT_EQ(0, ask_drain(&gf, "sim0-0", 0, &generation));
	ASSERT_EQ(0, ask_slot(&gf, GPUFABRIC_CMD_DRAIN_ABORT, "sim0-0", -1));
	EXPECT_STATE("sim0-0", READY);
	EXPECT_LT(generation, slot.generation);
	EXPECT_REFUSED(detach_by(&gf, generation), ESTALE,
		       "drain the slot first, and give the generation that drain returns");
}

TEST_F(drain, a_stale_generation_is_refused_though_drained_again)
{
	uint32_t first, second;

	ASSERT_EQ(0, ask_drain(&gf, "sim0-0", 0, &first));
	ASSERT_EQ(0, ask_slot(&gf, GPUFABRIC_CMD_DRAIN_ABORT, "sim0-0", -1));
	ASSERT_EQ(0, ask_drain(&gf, "sim0-0", 0, &second));
	EXPECT_NE(first, second);
	EXPECT_REFUSED(detach_by(&gf, first), ESTALE,
		       "the generation of the slot has changed, read the slot again");
	EXPECT_STATE("sim0-0", DRAINING);
	EXPECT_EQ(0, detach_by(&gf, second));
}

/* Whoever drains names the drain that is to end. */
TEST_F(drain, abort_of_another_one)
{
	struct ask_slot mine = { .name = "sim0-0", .has_generation = true };

	ASSERT_EQ(0, ask_drain(&gf, "sim0-0", 0, &mine.generation));
	mine.generation--;
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_DRAIN_ABORT, .slots = &mine, .n_slots = 1)), ESTALE,
		       "the generation of the slot has changed, read the slot again");
	EXPECT_STATE("sim0-0", DRAINING);
	mine.generation++;
	EXPECT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_DRAIN_ABORT, .slots = &mine, .n_slots = 1)));
	EXPECT_STATE("sim0-0", READY);
}

TEST_F(drain, deadline_takes_it_back)
{
	uint32_t generation;

	ASSERT_EQ(0, ask_drain(&gf, "sim0-0", GPUFABRIC_TIMEOUT_MIN, &generation));
	EXPECT_EQ(0, watch_state(&gf, &watch, "sim0-0", GF_STATE_READY));
	EXPECT_REFUSED(detach_by(&gf, generation), ESTALE,
		       "drain the slot first, and give the generation that drain returns");
}

TEST_F(drain, deadline_does_not_follow_the_clock)
{
	struct timeval now, past;
	uint32_t generation;

	ASSERT_EQ(0, gettimeofday(&now, NULL));
	ASSERT_EQ(0, ask_drain(&gf, "sim0-0", 400, &generation));
	past = now;
	past.tv_sec -= 3600;
	ASSERT_EQ(0, settimeofday(&past, NULL));
	EXPECT_EQ(0, watch_state(&gf, &watch, "sim0-0", GF_STATE_READY));
	settimeofday(&now, NULL);
}

TEST_F(drain, a_deadline_does_not_hit_the_drain_after_it)
{
	static struct gf_event event;
	uint32_t generation;

	/* The first would end while the second, longer one is on. */
	ASSERT_EQ(0, ask_drain(&gf, "sim0-0", 300, &generation));
	ASSERT_EQ(0, ask_slot(&gf, GPUFABRIC_CMD_DRAIN_ABORT, "sim0-0", -1));
	ASSERT_EQ(0, ask_drain(&gf, "sim0-0", 60000, &generation));
	/* A third slot's drain ends later than the first of this one would. */
	ASSERT_EQ(0, attach("sim0-1"));
	ASSERT_EQ(0, ask_drain(&gf, "sim0-1", 600, &generation));
	do {
		ASSERT_EQ(0, watch_next(&watch, &event, ASK_PATIENCE_MS));
	} while (!event.has_slot || strcmp(event.slot.name, "sim0-1") ||
		 event.slot.state != GF_STATE_READY || event.previous != GF_STATE_DRAINING);
	EXPECT_STATE("sim0-0", DRAINING);
}

TEST_F(drain, closing_the_socket_takes_it_back)
{
	static struct gf other;
	uint32_t generation;

	ASSERT_EQ(0, gf_open(&other));
	ASSERT_EQ(0, ask_drain(&other, "sim0-0", 60000, &generation));
	EXPECT_STATE("sim0-0", DRAINING);
	gf_close(&other);
	EXPECT_EQ(0, watch_state(&gf, &watch, "sim0-0", GF_STATE_READY));
	EXPECT_NE(0, detach_by(&gf, generation));
}

TEST_F(drain, closing_another_socket_does_not)
{
	static struct gf other;
	uint32_t generation;

	ASSERT_EQ(0, gf_open(&other));
	ASSERT_EQ(0, ask_drain(&gf, "sim0-0", 60000, &generation));
	gf_close(&other);
	EXPECT_STATE("sim0-0", DRAINING);
	EXPECT_EQ(generation, slot.generation);
}

TEST_F(drain, another_client_may_use_the_generation)
{
	static struct gf other;
	uint32_t generation;

	ASSERT_EQ(0, gf_open(&other));
	ASSERT_EQ(0, ask_drain(&gf, "sim0-0", 60000, &generation));
	EXPECT_EQ(0, detach_by(&other, generation));
	EXPECT_STATE("sim0-0", OFF);
	gf_close(&other);
}

TEST_F(drain, closing_the_socket_does_not_stop_a_detach)
{
	static struct gf other;
	uint32_t generation;
	uint64_t id;

	ASSERT_EQ(0, gf_open(&other));
	ASSERT_EQ(0, ask_drain(&other, "sim0-0", 60000, &generation));
	ASSERT_EQ(0, ask_slot(&other, GPUFABRIC_CMD_DETACH, "sim0-0", generation));
	id = ask_id(&other);
	gf_close(&other);
	EXPECT_EQ(0, watch_operation(&watch, id, NULL));
	EXPECT_STATE("sim0-0", OFF);
}

TEST_F(drain, is_announced)
{
	static struct gf_event event;
	uint32_t generation;

	ASSERT_EQ(0, ask_drain(&gf, "sim0-0", 0, &generation));
	do {
		ASSERT_EQ(0, watch_next(&watch, &event, ASK_PATIENCE_MS));
	} while (event.kind != GPUFABRIC_EVENT_KIND_SLOT_CHANGED ||
		 event.slot.condition.activity != GPUFABRIC_ACTIVITY_DRAINING);
	EXPECT_STREQ("sim0-0", event.slot.name);
	EXPECT_EQ(GF_STATE_READY, event.previous);
	EXPECT_EQ(GF_STATE_DRAINING, event.slot.state);
	EXPECT_EQ(generation, event.slot.generation);
	EXPECT_NE(0, event.slot.drain_deadline);
}

TEST_F(drain, surprise_while_draining)
{
	uint32_t generation;

	ASSERT_EQ(0, ask_drain(&gf, "sim0-0", 60000, &generation));
	ASSERT_EQ(0, sim_set(0, 0, "surprise", "remove"));
	EXPECT_EQ(0, watch_state(&gf, &watch, "sim0-0", GF_STATE_LOST));
	/* There is nothing left to detach, and nothing to take back. */
	EXPECT_EQ(0, detach_by(&gf, generation));
	EXPECT_STATE("sim0-0", LOST);
	EXPECT_REFUSED(ask_slot(&gf, GPUFABRIC_CMD_DRAIN_ABORT, "sim0-0", -1), EINVAL,
		       "the slot is not being drained, there is no drain to abort");
}

MAIN("switches=1 slots=4 latency_ms=5 gpus=*:h100-80:off")
