// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading: what each get returns, and what it refuses.
 *
 *   10000:00:00.0 root port
 *     +- 01:00.0 upstream -- 02:00.0  sim0-0 .. sim0-2   a100-80, off
 *                            02:03.0  sim0-3             empty
 *   10000:00:01.0 root port
 *     +- upstream --------------------  sim1-0 .. sim1-3   h100-80, on at load
 */
#include "test.h"

/* The simulator's own vendor id; the imitated ids are the subsystem's. */
#define SIM_VENDOR 0x6767

FIXTURE(read) {
};

FIXTURE_SETUP(read)
{
	OPEN_SOCKETS();
	ASSERT_EQ(0, sim_reset(&gf, &watch, 3, "a100-80"));
}

FIXTURE_TEARDOWN(read)
{
}

static int get(uint8_t command, uint16_t type, uint32_t value)
{
	gf_begin(&request, &gf, command, 0);
	if (type)
		gf_put_u32(&request, type, value);
	return gf_talk(&gf, &request);
}

TEST_F(read, status)
{
	const struct nlattr *status;

	ASSERT_EQ(0, get(GPUFABRIC_CMD_STATUS_GET, 0, 0));
	status = gf_attr(&gf.reply.header, GPUFABRIC_A_STATUS);
	EXPECT_NE(0, strlen(gf_text(gf_sub(status, GPUFABRIC_A_STATUS_VERSION))));
	EXPECT_EQ(2, gf_u32(gf_sub(status, GPUFABRIC_A_STATUS_SWITCHES)));
	EXPECT_EQ(8, gf_u32(gf_sub(status, GPUFABRIC_A_STATUS_SLOTS)));
	EXPECT_EQ(0, gf_u32(gf_sub(status, GPUFABRIC_A_STATUS_COMPOSITIONS)));
	EXPECT_EQ(0, gf_u32(gf_sub(status, GPUFABRIC_A_STATUS_OPERATIONS)));
	EXPECT_NE(0, gf_u64(gf_attr(&gf.reply.header, GPUFABRIC_A_SEQUENCE)));
	EXPECT_NE(0, gf_u64(gf_attr(&gf.reply.header, GPUFABRIC_A_INSTANCE)));

	ASSERT_EQ(0, compose("counted", "sim0-0"));
	ASSERT_EQ(0, get(GPUFABRIC_CMD_STATUS_GET, 0, 0));
	status = gf_attr(&gf.reply.header, GPUFABRIC_A_STATUS);
	EXPECT_EQ(1, gf_u32(gf_sub(status, GPUFABRIC_A_STATUS_COMPOSITIONS)));
	EXPECT_NE(0, gf_u32(gf_sub(status, GPUFABRIC_A_STATUS_HISTORY)));
}

/* Numbers that can be large come in as many bytes as they take, 4 or 8. */
TEST_F(read, large_numbers)
{
	const struct nlattr *nest;

	ASSERT_EQ(0, get_slot(&gf, "sim1-0", &slot));
	EXPECT_EQ(4, gf_size(gf_attr(&gf.reply.header, GPUFABRIC_A_SEQUENCE)));
	nest = gf_attr(&gf.reply.header, GPUFABRIC_A_SLOT);
	EXPECT_EQ(8, gf_size(gf_sub(nest, GPUFABRIC_A_SLOT_SINCE)));
	EXPECT_LT(1ULL << 32, slot.since);
	EXPECT_EQ(4, gf_size(gf_sub(nest, GPUFABRIC_A_SLOT_GENERATION)));
}

TEST_F(read, switches)
{
	const struct nlattr *sw;

	for (uint32_t id = 1; id <= 2; id++) {
		ASSERT_EQ(0, get(GPUFABRIC_CMD_SWITCH_GET, GPUFABRIC_A_ID, id));
		sw = gf_attr(&gf.reply.header, GPUFABRIC_A_SWITCH);
		EXPECT_EQ(id, gf_u32(gf_sub(sw, GPUFABRIC_A_SWITCH_ID)));
		EXPECT_EQ(4, gf_u32(gf_sub(sw, GPUFABRIC_A_SWITCH_SLOTS)));
		EXPECT_EQ(SIM_VENDOR, gf_u32(gf_sub(sw, GPUFABRIC_A_SWITCH_VENDOR)));
	}
	EXPECT_EQ(0, strncmp("10000:", gf_text(gf_sub(sw, GPUFABRIC_A_SWITCH_ADDRESS)), 6));
	EXPECT_REFUSED(get(GPUFABRIC_CMD_SWITCH_GET, GPUFABRIC_A_ID, 99), ENOENT,
		       "there is none of this id or name");
	EXPECT_EQ(GPUFABRIC_A_ID, gf.bad_attr);
	EXPECT_REFUSED(get(GPUFABRIC_CMD_SWITCH_GET, 0, 0), EINVAL, "name what to get, by its id or name");
	EXPECT_EQ(GPUFABRIC_A_ID, gf.miss);
}

static int count_parts(const struct nlmsghdr *part, void *context)
{
	uint32_t *last = context;
	uint32_t id = gf_u32(gf_sub(gf_attr(part, GPUFABRIC_A_SWITCH), GPUFABRIC_A_SWITCH_ID));

	if (id <= *last)
		return 1;
	*last = id;
	return 0;
}

TEST_F(read, dump_of_switches)
{
	uint32_t last = 0;

	gf_begin(&request, &gf, GPUFABRIC_CMD_SWITCH_GET, 0);
	EXPECT_EQ(0, gf_dump(&gf, &request, count_parts, &last));
	EXPECT_EQ(2, gf.parts);
	EXPECT_FALSE(gf.interrupted);
}

TEST_F(read, slot_by_name_and_by_id)
{
	static struct gf_slot other;

	ASSERT_EQ(0, get_slot(&gf, "sim0-1", &slot));
	ASSERT_EQ(0, get(GPUFABRIC_CMD_SLOT_GET, GPUFABRIC_A_ID, slot.id));
	gf_read_slot(gf_attr(&gf.reply.header, GPUFABRIC_A_SLOT), &other);
	ASSERT_EQ(0, get_parts(&gf, &other));
	EXPECT_EQ(0, memcmp(&slot, &other, sizeof(slot)));
	EXPECT_STREQ("sim0-1", other.name);
	EXPECT_REFUSED(get_slot(&gf, "sim5-5", &slot), ENOENT, "there is none of this id or name");
	EXPECT_REFUSED(get(GPUFABRIC_CMD_SLOT_GET, GPUFABRIC_A_ID, 4711), ENOENT,
		       "there is none of this id or name");
	EXPECT_REFUSED(get(GPUFABRIC_CMD_SLOT_GET, 0, 0), EINVAL, "name what to get, by its id or name");
	EXPECT_REFUSED(get(GPUFABRIC_CMD_SLOT_GET, GPUFABRIC_A_ID, 0), EINVAL,
		       "name what to get, by its id or name");
}

TEST_F(read, slot_that_is_off_or_empty)
{
	ASSERT_EQ(0, get_slot(&gf, "sim0-2", &slot));
	EXPECT_EQ(GF_STATE_OFF, slot.state);
	EXPECT_EQ(GPUFABRIC_OCCUPANCY_UNKNOWN, slot.condition.occupancy);
	EXPECT_EQ(GPUFABRIC_POWER_OFF, slot.condition.power);
	EXPECT_EQ(0, slot.n_functions);
	EXPECT_STREQ("10000:02:02.0", slot.address);
	EXPECT_EQ(GPUFABRIC_BACKEND_SLOT, slot.backend);
	EXPECT_NE(0, strlen(slot.slot_driver));
	ASSERT_EQ(0, get_slot(&gf, "sim0-3", &slot));
	EXPECT_EQ(GF_STATE_EMPTY, slot.state);
	EXPECT_EQ(GPUFABRIC_OCCUPANCY_EMPTY, slot.condition.occupancy);
	EXPECT_EQ(GPUFABRIC_IDENTITY_SOURCE_UNKNOWN, slot.identity);
}

TEST_F(read, slot_with_a_gpu)
{
	const struct gf_function *function = &slot.functions[0];
	uint64_t serial;

	ASSERT_EQ(0, attach("sim0-0"));
	EXPECT_STATE("sim0-0", READY);
	EXPECT_EQ(GPUFABRIC_OCCUPANCY_GPU, slot.condition.occupancy);
	EXPECT_EQ(GPUFABRIC_POWER_ON, slot.condition.power);
	EXPECT_EQ(GPUFABRIC_IDENTITY_SOURCE_LIVE, slot.identity);
	EXPECT_EQ(SIM_VENDOR, slot.vendor);
	EXPECT_EQ(0x10de, slot.subsystem_vendor);
	EXPECT_EQ(0x20b5, slot.subsystem_device);
	EXPECT_EQ(0x030200, slot.class);
	EXPECT_NE(0, slot.serial);
	EXPECT_EQ(16000, slot.speed);
	EXPECT_EQ(16, slot.width);
	ASSERT_EQ(1, slot.n_functions);
	EXPECT_STREQ("10000:03:00.0", function->address);
	EXPECT_STREQ("gpufabric-sim-gpu", function->driver);
	EXPECT_EQ(slot.device, function->device);
	EXPECT_TRUE(slot.has_last);
	EXPECT_EQ(GPUFABRIC_OPERATION_KIND_ATTACH, slot.last.kind);
	EXPECT_EQ(0, slot.last.error);
	EXPECT_NE(0, slot.last.phase_us[GPUFABRIC_PHASE_TOTAL]);
	EXPECT_NE(0, slot.last.phase_us[GPUFABRIC_PHASE_LINK]);

	/* Off again it is only remembered. */
	serial = slot.serial;
	ASSERT_EQ(0, detach("sim0-0"));
	EXPECT_STATE("sim0-0", OFF);
	EXPECT_EQ(GPUFABRIC_IDENTITY_SOURCE_LAST_SEEN, slot.identity);
	EXPECT_EQ(serial, slot.serial);
	EXPECT_EQ(0x20b5, slot.subsystem_device);
	EXPECT_EQ(0, slot.n_functions);
}

TEST_F(read, gpu_that_was_there_at_load)
{
	EXPECT_STATE("sim1-2", READY);
	EXPECT_EQ(GPUFABRIC_IDENTITY_SOURCE_LIVE, slot.identity);
	EXPECT_EQ(0x2331, slot.subsystem_device);
	EXPECT_EQ(0, slot.attaches);
	EXPECT_FALSE(slot.has_last);
}

TEST_F(read, audio_function_belongs_to_the_gpu)
{
	ASSERT_EQ(0, sim_set(0, 1, "model", "h100-80 audio"));
	ASSERT_EQ(0, attach("sim0-1"));
	EXPECT_STATE("sim0-1", READY);
	ASSERT_EQ(2, slot.n_functions);
	EXPECT_EQ(0x030200, slot.functions[0].class);
	EXPECT_EQ(0x040300, slot.functions[1].class);
	ASSERT_EQ(0, detach("sim0-1"));
	EXPECT_STATE("sim0-1", OFF);
	EXPECT_EQ(0, slot.n_functions);
	ASSERT_EQ(0, sim_set(0, 1, "model", "h100-80"));
}

TEST_F(read, degraded_link)
{
	uint32_t before;

	ASSERT_EQ(0, get_slot(&gf, "sim0-1", &slot));
	before = slot.degradations;
	ASSERT_EQ(0, sim_set(0, 1, "link", "8GT x8"));
	ASSERT_EQ(0, attach("sim0-1"));
	EXPECT_STATE("sim0-1", READY);
	EXPECT_EQ(8000, slot.speed);
	EXPECT_EQ(8, slot.width);
	EXPECT_NE(0, slot.flags & GPUFABRIC_SLOT_FLAG_LINK_DEGRADED);
	EXPECT_EQ(before + 1, slot.degradations);
	ASSERT_EQ(0, detach("sim0-1"));
	ASSERT_EQ(0, sim_set(0, 1, "link", "full"));
	ASSERT_EQ(0, attach("sim0-1"));
	EXPECT_STATE("sim0-1", READY);
	EXPECT_EQ(0, slot.flags & GPUFABRIC_SLOT_FLAG_LINK_DEGRADED);
}

static int count_slots(const struct nlmsghdr *part, void *context)
{
	uint32_t *last = context;

	gf_read_slot(gf_attr(part, GPUFABRIC_A_SLOT), &slot);
	if (slot.id <= *last)
		return 1;
	*last = slot.id;
	return 0;
}

TEST_F(read, dump_of_slots)
{
	uint32_t last = 0;

	gf_begin(&request, &gf, GPUFABRIC_CMD_SLOT_GET, 0);
	EXPECT_EQ(0, gf_dump(&gf, &request, count_slots, &last));
	EXPECT_EQ(8, gf.parts);
	EXPECT_STREQ("sim1-3", slot.name);
}

TEST_F(read, compositions)
{
	static struct gf_composition composition;

	gf_begin(&request, &gf, GPUFABRIC_CMD_COMPOSITION_GET, 0);
	EXPECT_EQ(0, gf_dump(&gf, &request, NULL, NULL));
	EXPECT_EQ(0, gf.parts);
	EXPECT_REFUSED(get_composition(&gf, "none", &composition), ENOENT,
		       "there is none of this id or name");
	EXPECT_REFUSED(get(GPUFABRIC_CMD_COMPOSITION_GET, GPUFABRIC_A_ID, 99), ENOENT,
		       "there is none of this id or name");
	EXPECT_REFUSED(get(GPUFABRIC_CMD_COMPOSITION_GET, 0, 0), EINVAL, "name what to get, by its id or name");

	ASSERT_EQ(0, ask_and_wait(&gf, &watch,
				  ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "train",
				      .annotation = "research", .owner = 1000,
				      .has_owner = true, SLOTS({ .name = "sim0-1" }, { .name = "sim0-0" })), &end));
	ASSERT_EQ(0, get_composition(&gf, "train", &composition));
	EXPECT_STREQ("train", composition.name);
	EXPECT_STREQ("research", composition.annotation);
	EXPECT_EQ(1000, composition.owner);
	EXPECT_EQ(GPUFABRIC_COMPOSITION_STATE_ACTIVE, composition.state);
	EXPECT_EQ(0, composition.flags);
	EXPECT_FALSE(composition.has_operation);
	ASSERT_EQ(2, composition.n_members);
	EXPECT_STREQ("sim0-1", composition.members[0].name);
	EXPECT_STREQ("sim0-0", composition.members[1].name);
	ASSERT_EQ(0, get(GPUFABRIC_CMD_COMPOSITION_GET, GPUFABRIC_A_ID, composition.id));
	gf_begin(&request, &gf, GPUFABRIC_CMD_COMPOSITION_GET, 0);
	EXPECT_EQ(0, gf_dump(&gf, &request, NULL, NULL));
	EXPECT_EQ(1, gf.parts);
}

static struct gf_history history;

static int count_history(const struct nlmsghdr *part, void *context)
{
	unsigned int *others = context;

	gf_read_history(gf_attr(part, GPUFABRIC_A_HISTORY), &history);
	*others += !!strcmp(history.name, "sim0-2");
	return 0;
}

TEST_F(read, history)
{
	unsigned int others = 0, before;

	EXPECT_REFUSED(get_last_history(&gf, "sim0-3", &history), ENOENT,
		       "there is none of this id or name");
	ASSERT_EQ(0, ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_ATTACH, .reason = "because",
						   SLOTS({ .name = "sim0-2" })), &end));
	ASSERT_EQ(0, get_last_history(&gf, "sim0-2", &history));
	EXPECT_STREQ("sim0-2", history.name);
	EXPECT_EQ(GF_STATE_READY, history.state);
	EXPECT_EQ(GPUFABRIC_OPERATION_KIND_ATTACH, history.operation.kind);
	EXPECT_EQ(end.id, history.operation.id);
	EXPECT_EQ(0, history.operation.error);
	EXPECT_TRUE(history.operation.has_uid);
	EXPECT_EQ(0, history.operation.uid);
	EXPECT_EQ((uint32_t)getpid(), history.operation.pid);
	EXPECT_STREQ("because", history.operation.reason);
	EXPECT_STREQ("read_test", history.operation.command);
	EXPECT_NE(0, history.operation.phase_us[GPUFABRIC_PHASE_TOTAL]);

	gf_begin(&request, &gf, GPUFABRIC_CMD_HISTORY_GET, 0);
	gf_put_text(&request, GPUFABRIC_A_NAME, "sim0-2");
	EXPECT_EQ(0, gf_dump(&gf, &request, count_history, &others));
	EXPECT_EQ(0, others);
	before = gf.parts;
	EXPECT_NE(0, before);
	ASSERT_EQ(0, detach("sim0-2"));
	gf_begin(&request, &gf, GPUFABRIC_CMD_HISTORY_GET, 0);
	gf_put_text(&request, GPUFABRIC_A_NAME, "sim0-2");
	EXPECT_EQ(0, gf_dump(&gf, &request, count_history, &others));
	/* The drain and the detach. */
	EXPECT_EQ(before + 2, gf.parts);
	EXPECT_EQ(GPUFABRIC_OPERATION_KIND_DETACH, history.operation.kind);
	EXPECT_EQ(GF_STATE_OFF, history.state);
	gf_begin(&request, &gf, GPUFABRIC_CMD_HISTORY_GET, 0);
	EXPECT_EQ(0, gf_dump(&gf, &request, count_history, &others));
	EXPECT_LE(before + 2, gf.parts);
}

/**
 * struct counted - how many of a kind took place
 * @kind: which
 * @count: whole durations that were measured
 */
struct counted {
	uint32_t kind;
	uint64_t count;
};

static int find_total(const struct nlmsghdr *part, void *context)
{
	const struct nlattr *stats = gf_attr(part, GPUFABRIC_A_STATS);
	struct counted *counted = context;

	if (gf_u32(gf_sub(stats, GPUFABRIC_A_STATS_KIND)) == counted->kind &&
	    gf_u32(gf_sub(stats, GPUFABRIC_A_STATS_PHASE)) == GPUFABRIC_PHASE_TOTAL)
		counted->count = gf_u64(gf_sub(stats, GPUFABRIC_A_STATS_COUNT));
	return 0;
}

static uint64_t total(uint32_t kind)
{
	struct counted counted = { kind, 0 };

	gf_begin(&request, &gf, GPUFABRIC_CMD_STATS_GET, 0);
	return gf_dump(&gf, &request, find_total, &counted) ? UINT64_MAX : counted.count;
}

static int check_histogram(const struct nlmsghdr *part, void *context)
{
	const struct nlattr *stats = gf_attr(part, GPUFABRIC_A_STATS), *bucket = NULL;
	uint64_t count = 0, below = 0;

	while ((bucket = gf_next_sub(stats, bucket, GPUFABRIC_A_STATS_BUCKET))) {
		uint64_t bound = gf_u64(gf_sub(bucket, GPUFABRIC_A_BUCKET_BELOW));

		/* Bounds rise, and the last bucket has none. */
		if (bound ? bound <= below : gf_next_sub(stats, bucket, GPUFABRIC_A_STATS_BUCKET) != NULL)
			return 1;
		below = bound;
		count += gf_u64(gf_sub(bucket, GPUFABRIC_A_BUCKET_COUNT));
	}
	return count == gf_u64(gf_sub(stats, GPUFABRIC_A_STATS_COUNT)) && count ? 0 : 2;
}

TEST_F(read, statistics)
{
	uint64_t attaches = total(GPUFABRIC_OPERATION_KIND_ATTACH);
	uint64_t detaches = total(GPUFABRIC_OPERATION_KIND_DETACH);

	ASSERT_EQ(0, compose("measured", "sim0-0"));
	ASSERT_EQ(0, release_keep("measured"));
	EXPECT_EQ(attaches + 1, total(GPUFABRIC_OPERATION_KIND_ATTACH));
	EXPECT_EQ(detaches, total(GPUFABRIC_OPERATION_KIND_DETACH));
	ASSERT_EQ(0, detach("sim0-0"));
	EXPECT_EQ(detaches + 1, total(GPUFABRIC_OPERATION_KIND_DETACH));
	/* What fails is not counted: it would measure deadlines. */
	ASSERT_EQ(0, sim_set(0, 0, "fail", "power"));
	EXPECT_NE(0, attach("sim0-0"));
	EXPECT_EQ(attaches + 1, total(GPUFABRIC_OPERATION_KIND_ATTACH));
	gf_begin(&request, &gf, GPUFABRIC_CMD_STATS_GET, 0);
	EXPECT_EQ(0, gf_dump(&gf, &request, check_histogram, NULL));
	EXPECT_LT(4, gf.parts);
}

TEST_F(read, names_that_are_no_text)
{
	static const char unterminated[] = { 's', 'i', 'm', '0' };

	gf_begin(&request, &gf, GPUFABRIC_CMD_SLOT_GET, 0);
	gf_put(&request, GPUFABRIC_A_NAME, unterminated, sizeof(unterminated));
	EXPECT_EQ(-EINVAL, gf_talk(&gf, &request));
	EXPECT_EQ(GPUFABRIC_A_NAME, gf.bad_attr);
	gf_begin(&request, &gf, GPUFABRIC_CMD_SLOT_GET, 0);
	gf_put(&request, GPUFABRIC_A_NAME, NULL, 0);
	EXPECT_NE(0, gf_talk(&gf, &request));
	gf_begin(&request, &gf, GPUFABRIC_CMD_SLOT_GET, 0);
	gf_put_text(&request, GPUFABRIC_A_NAME, "");
	EXPECT_REFUSED(gf_talk(&gf, &request), ENOENT, "there is none of this id or name");
}

MAIN("switches=2 slots=4 latency_ms=5 gpus=0.0-2:a100-80:off,1.*:h100-80:on")
