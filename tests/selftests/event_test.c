// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events: numbered without a gap, in the order of what happened, and enough
 * beside a snapshot to know the state of everything.
 *
 *   root port -- upstream -- sim0-0 .. sim0-7   h100-80, off
 */
#include <sys/socket.h>
#include <sys/wait.h>

#include "test.h"

#define NR 8

static struct gf_event event;

FIXTURE(event) {
};

FIXTURE_SETUP(event)
{
	OPEN_SOCKETS();
	ASSERT_EQ(0, sim_reset(&gf, &watch, NR, "h100-80"));
	/* What led here is of no interest. */
	gf_close(&watch);
	ASSERT_EQ(0, watch_open(&watch));
}

FIXTURE_TEARDOWN(event)
{
}

/* A slot that was looked at anew, and is in the state that it was in. */
static bool is_second_look(void)
{
	return event.kind == GPUFABRIC_EVENT_KIND_SLOT_CHANGED && event.previous == event.slot.state;
}

/* The next event; second looks come when they come. */
#define EXPECT_EVENT(wanted_kind)							\
	do {										\
		do {									\
			ASSERT_EQ(0, watch_next(&watch, &event, ASK_PATIENCE_MS));	\
		} while (is_second_look());						\
		EXPECT_STREQ(gf_event_name(GPUFABRIC_EVENT_KIND_##wanted_kind), gf_event_name(event.kind)); \
	} while (0)

#define EXPECT_CHANGE(wanted_kind, from, to)						\
	do {										\
		EXPECT_EVENT(wanted_kind);						\
		EXPECT_STREQ(gf_state_name(GF_STATE_##from), gf_state_name(event.previous)); \
		EXPECT_STREQ(gf_state_name(GF_STATE_##to), gf_state_name(event.slot.state)); \
	} while (0)

/* The slot is given back: its state is the same, its composition is not. */
#define EXPECT_UNCLAIMED()								\
	do {										\
		ASSERT_EQ(0, watch_next(&watch, &event, ASK_PATIENCE_MS));		\
		EXPECT_TRUE(is_second_look());						\
	} while (event.has_slot && event.slot.composition[0])

TEST_F(event, order_of_an_attach)
{
	uint32_t before;

	ASSERT_EQ(0, get_slot(&gf, "sim0-0", &slot));
	before = slot.inventory;
	ASSERT_EQ(0, ask_slot(&gf, GPUFABRIC_CMD_ATTACH, "sim0-0", -1));
	EXPECT_EVENT(OPERATION_STARTED);
	EXPECT_EQ(GPUFABRIC_OPERATION_KIND_ATTACH, event.operation.kind);
	EXPECT_FALSE(event.operation.done);
	EXPECT_EQ(1, event.operation.slots);
	EXPECT_CHANGE(SLOT_CHANGED, OFF, ATTACHING);
	EXPECT_TRUE(event.slot.has_operation);
	EXPECT_CHANGE(SLOT_CHANGED, ATTACHING, ATTACHED);
	EXPECT_EQ(1, event.slot.function_count);
	EXPECT_CHANGE(SLOT_CHANGED, ATTACHED, READY);
	/* What else there is of it is another object, of the same inventory. */
	EXPECT_LT(before, event.slot.inventory);
	ASSERT_EQ(0, get_slot(&gf, "sim0-0", &slot));
	EXPECT_EQ(event.slot.inventory, slot.inventory);
	EXPECT_STREQ("10000:03:00.0", slot.functions[0].address);
	EXPECT_EVENT(OPERATION_DONE);
	EXPECT_TRUE(event.operation.done);
	EXPECT_EQ(0, event.operation.error);
	EXPECT_NE(0, event.time);
}

TEST_F(event, order_of_a_detach)
{
	uint32_t generation;

	ASSERT_EQ(0, attach("sim0-0"));
	ASSERT_EQ(0, ask_drain(&gf, "sim0-0", 0, &generation));
	EXPECT_CHANGE(SLOT_CHANGED, READY, DRAINING);
	ASSERT_EQ(0, ask_slot(&gf, GPUFABRIC_CMD_DETACH, "sim0-0", generation));
	EXPECT_EVENT(OPERATION_STARTED);
	EXPECT_EQ(GPUFABRIC_OPERATION_KIND_DETACH, event.operation.kind);
	EXPECT_CHANGE(SLOT_CHANGED, DRAINING, DETACHING);
	EXPECT_CHANGE(SLOT_CHANGED, DETACHING, OFF);
	EXPECT_EQ(0, event.slot.function_count);
	EXPECT_EVENT(OPERATION_DONE);
	EXPECT_EQ(0, event.operation.error);
}

TEST_F(event, order_of_a_compose_that_fails)
{
	ASSERT_EQ(0, sim_set(0, 0, "fail", "power"));
	ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "doomed",
				  SLOTS({ .name = "sim0-0" }))));
	EXPECT_EVENT(COMPOSITION_ADDED);
	EXPECT_EQ(GPUFABRIC_COMPOSITION_STATE_COMPOSING, event.composition.state);
	EXPECT_EQ(1, event.composition.n_members);
	EXPECT_EVENT(OPERATION_STARTED);
	EXPECT_STREQ("doomed", event.operation.composition);
	EXPECT_CHANGE(SLOT_CHANGED, OFF, ATTACHING);
	EXPECT_STREQ("doomed", event.slot.composition);
	EXPECT_CHANGE(SLOT_CHANGED, ATTACHING, FAULT);
	EXPECT_NE(GPUFABRIC_CAUSE_NONE, event.slot.cause);
	EXPECT_NE(0, strlen(event.slot.text));
	/* The claim is given back, which is a change of the slot. */
	EXPECT_UNCLAIMED();
	EXPECT_EVENT(COMPOSITION_REMOVED);
	EXPECT_EQ(GPUFABRIC_COMPOSITION_STATE_FAILED, event.composition.state);
	EXPECT_EVENT(OPERATION_DONE);
	EXPECT_NE(0, event.operation.error);
	EXPECT_NE(0, strlen(event.operation.text));
}

TEST_F(event, composition_comes_and_goes)
{
	ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "brief",
				  SLOTS({ .name = "sim0-0" }))));
	EXPECT_EVENT(COMPOSITION_ADDED);
	do {
		ASSERT_EQ(0, watch_next(&watch, &event, ASK_PATIENCE_MS));
	} while (event.kind != GPUFABRIC_EVENT_KIND_COMPOSITION_CHANGED);
	EXPECT_EQ(GPUFABRIC_COMPOSITION_STATE_ACTIVE, event.composition.state);
	EXPECT_EVENT(OPERATION_DONE);
	ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_RELEASE, .name = "brief",
				  .flags = GPUFABRIC_RELEASE_FLAG_KEEP)));
	EXPECT_EVENT(COMPOSITION_CHANGED);
	EXPECT_EQ(GPUFABRIC_COMPOSITION_STATE_RELEASING, event.composition.state);
	EXPECT_EVENT(OPERATION_STARTED);
	EXPECT_UNCLAIMED();
	EXPECT_EVENT(COMPOSITION_REMOVED);
	EXPECT_EQ(GPUFABRIC_COMPOSITION_STATE_RELEASED, event.composition.state);
	EXPECT_EVENT(OPERATION_DONE);
}

TEST_F(event, surprise_removal_and_insertion)
{
	ASSERT_EQ(0, attach("sim0-0"));
	gf_close(&watch);
	ASSERT_EQ(0, watch_open(&watch));
	ASSERT_EQ(0, sim_set(0, 0, "surprise", "remove"));
	EXPECT_CHANGE(SLOT_CHANGED, READY, LOST);
	EXPECT_EQ(GPUFABRIC_CAUSE_SURPRISE, event.slot.cause);
	ASSERT_EQ(0, sim_set(0, 0, "surprise", "insert"));
	EXPECT_EQ(0, watch_state(&gf, &watch, "sim0-0", GF_STATE_READY));
	EXPECT_STATE("sim0-0", READY);
	EXPECT_EQ(1, slot.flaps);
	EXPECT_EQ(GPUFABRIC_CAUSE_NONE, slot.cause);
}

/* What a listener knows of each slot. */
struct known {
	uint64_t sequence;
	uint32_t state[NR];
	uint32_t generation[NR];
	char composition[NR][GF_NAME];
};

static void learn(struct known *known, const struct gf_slot *of)
{
	int i = of->name[5] - '0';

	known->state[i] = of->state;
	known->generation[i] = of->generation;
	memcpy(known->composition[i], of->composition, GF_NAME);
}

static int learn_part(const struct nlmsghdr *part, void *context)
{
	struct known *known = context;
	uint64_t sequence = gf_u64(gf_attr(part, GPUFABRIC_A_SEQUENCE));

	gf_read_slot(gf_attr(part, GPUFABRIC_A_SLOT), &slot);
	learn(known, &slot);
	if (!known->sequence)
		known->sequence = sequence;
	return 0;
}

static int snapshot(struct known *known)
{
	int err;

	do {
		memset(known, 0, sizeof(*known));
		gf_begin(&request, &gf, GPUFABRIC_CMD_SLOT_GET, 0);
		err = gf_dump(&gf, &request, learn_part, known);
	} while (!err && gf.interrupted);
	return err;
}

/* Follow events from a snapshot on; returns their number, or -1 for a gap. */
static int follow(struct known *known, uint64_t until)
{
	int n = 0;

	while (known->sequence < until) {
		if (watch_next(&watch, &event, ASK_PATIENCE_MS))
			return -1;
		/* What the snapshot includes already. */
		if (event.sequence <= known->sequence)
			continue;
		if (event.sequence != known->sequence + 1)
			return -1;
		known->sequence = event.sequence;
		if (event.has_slot)
			learn(known, &event.slot);
		n++;
	}
	return n;
}

TEST_F(event, snapshot_then_changes_without_a_gap)
{
	static struct known known, now;
	int n, status;
	pid_t child;

	/* Somebody else keeps the fabric busy while we take the snapshot. */
	fflush(stdout);
	child = fork();
	if (!child) {
		char name[16];

		/* Sockets of its own: what it reads is lost to its parent. */
		if (gf_open(&gf) || watch_open(&watch))
			_exit(1);
		for (int round = 0; round < 3; round++) {
			for (int i = 0; i < NR; i++) {
				snprintf(name, sizeof(name), "sim0-%d", i);
				if (attach(name) || detach(name))
					_exit(1);
			}
			if (compose("busy", "sim0-3") || release_keep("busy") || (round < 2 && detach("sim0-3")))
				_exit(1);
		}
		_exit(0);
	}
	/* In the middle of it: wait for a change, then look at everything. */
	do {
		ASSERT_EQ(0, watch_next(&watch, &event, ASK_PATIENCE_MS));
	} while (!event.has_slot || strcmp(event.slot.name, "sim0-2"));
	ASSERT_EQ(0, snapshot(&known));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	n = follow(&known, get_sequence(&gf));
	EXPECT_LT(10, n);
	/* A last look at a slot may come late. */
	do {
		ASSERT_EQ(0, snapshot(&now));
		ASSERT_NE(-1, follow(&known, now.sequence));
	} while (known.sequence != now.sequence);
	EXPECT_EQ(0, memcmp(&known, &now, sizeof(now)));
}

TEST_F(event, two_listeners_see_the_same)
{
	static struct gf second;
	static struct gf_event twin;
	uint64_t last;

	ASSERT_EQ(0, watch_open(&second));
	ASSERT_EQ(0, ask_slot(&gf, GPUFABRIC_CMD_ATTACH, "sim0-0", -1));
	do {
		ASSERT_EQ(0, watch_next(&watch, &event, ASK_PATIENCE_MS));
		ASSERT_EQ(0, watch_next(&second, &twin, ASK_PATIENCE_MS));
		EXPECT_EQ(event.sequence, twin.sequence);
		EXPECT_EQ(event.kind, twin.kind);
		last = event.sequence;
	} while (event.kind != GPUFABRIC_EVENT_KIND_OPERATION_DONE);
	EXPECT_EQ(last, get_sequence(&gf));
	gf_close(&second);
}

TEST_F(event, a_slow_listener_is_told_that_it_missed_something)
{
	static struct gf slow;
	int room = 1, err;
	struct nlmsghdr *message;

	ASSERT_EQ(0, gf_open(&slow));
	ASSERT_EQ(0, setsockopt(slow.fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)));
	ASSERT_EQ(0, gf_join(&slow, slow.monitor));
	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(0, attach("sim0-0"));
		ASSERT_EQ(0, detach("sim0-0"));
	}
	do {
		err = gf_receive(&slow, &message, 0);
	} while (!err);
	EXPECT_EQ(-ENOBUFS, err);
	gf_close(&slow);
}

MAIN("switches=1 slots=8 latency_ms=5 gpus=*:h100-80:off")
