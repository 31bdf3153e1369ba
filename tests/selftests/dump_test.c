// SPDX-License-Identifier: GPL-2.0-only
/*
 * Large fabrics: dumps over many buffers, changes in the middle of one, the
 * largest composition, and a history that is full.
 *
 *   16 switches of 250 slots each; on the first three a GPU is on in every slot,
 *   on the others off:
 *
 *   root port -- upstream -- sim0-0 .. sim0-249      h100-80, on
 *   root port -- upstream -- sim1-0 .. sim1-249      h100-80, on
 *   root port -- upstream -- sim2-0 .. sim2-249      h100-80, on
 *   ...
 *   root port -- upstream -- sim15-0 .. sim15-249    h100-80, off
 */
#include <fcntl.h>

#include "test.h"

#define SWITCHES 16
#define PER_SWITCH 250
#define NR (SWITCHES * PER_SWITCH)
/* The smallest buffer that the kernel's documentation asks readers for. */
#define SMALL 8192

static struct gf other;
static struct gf_composition composition;

FIXTURE(dump) {
};

FIXTURE_SETUP(dump)
{
	OPEN_SOCKETS();
	ASSERT_EQ(0, gf_open(&other));
}

FIXTURE_TEARDOWN(dump)
{
}

static int reopen_small(size_t room)
{
	gf_close(&gf);
	return gf_open_small(&gf, room);
}

/* What a dump of slots has brought so far. */
struct progress {
	unsigned int count;
	uint32_t last;
	unsigned int change_at;
	int change_error;
	unsigned int interrupted_after;
};

static int change_something(void)
{
	uint32_t generation;
	int err = ask_drain(&other, "sim2-0", 0, &generation);

	return err ? err : ask_slot(&other, GPUFABRIC_CMD_DRAIN_ABORT, "sim2-0", -1);
}

static int count_slot(const struct nlmsghdr *part, void *context)
{
	struct progress *progress = context;
	uint32_t id = gf_u32(gf_sub(gf_attr(part, GPUFABRIC_A_SLOT), GPUFABRIC_A_SLOT_ID));

	if (id <= progress->last)
		return 1;
	progress->last = id;
	progress->count++;
	if (progress->count == progress->change_at)
		progress->change_error = change_something();
	if (part->nlmsg_flags & NLM_F_DUMP_INTR && !progress->interrupted_after)
		progress->interrupted_after = progress->count;
	return 0;
}

static int dump_slots(struct progress *progress)
{
	gf_begin(&request, &gf, GPUFABRIC_CMD_SLOT_GET, 0);
	return gf_dump(&gf, &request, count_slot, progress);
}

TEST_F(dump, every_slot_once)
{
	struct progress progress = { 0 };

	EXPECT_EQ(0, dump_slots(&progress));
	EXPECT_EQ(NR, progress.count);
	EXPECT_FALSE(gf.interrupted);
	EXPECT_LT(NR / 250, gf.receives);
}

TEST_F(dump, resumes_over_small_buffers)
{
	struct progress progress = { 0 };

	ASSERT_EQ(0, reopen_small(SMALL));
	EXPECT_EQ(0, dump_slots(&progress));
	EXPECT_EQ(NR, progress.count);
	EXPECT_FALSE(gf.interrupted);
	EXPECT_LT(NR / 40, gf.receives);
}

TEST_F(dump, says_that_something_changed_meanwhile)
{
	struct progress progress = { .change_at = 10 };

	ASSERT_EQ(0, reopen_small(SMALL));
	EXPECT_EQ(0, dump_slots(&progress));
	EXPECT_EQ(0, progress.change_error);
	EXPECT_TRUE(gf.interrupted);
	/* It goes on all the same, and misses nothing that stayed. */
	EXPECT_EQ(NR, progress.count);
	EXPECT_LT(10, progress.interrupted_after);
	/* The next one is whole again. */
	progress = (struct progress){ 0 };
	EXPECT_EQ(0, dump_slots(&progress));
	EXPECT_FALSE(gf.interrupted);
}

TEST_F(dump, may_be_given_up)
{
	struct progress progress = { .last = UINT32_MAX };

	/* The first part is refused by the callback: close in the middle. */
	EXPECT_EQ(1, dump_slots(&progress));
	gf_close(&gf);
	ASSERT_EQ(0, gf_open(&gf));
	progress = (struct progress){ 0 };
	EXPECT_EQ(0, dump_slots(&progress));
	EXPECT_EQ(NR, progress.count);
}

static struct ask_slot many[GPUFABRIC_MEMBERS_MAX + 1];

static void name_many(void)
{
	static char names[GPUFABRIC_MEMBERS_MAX + 1][GF_NAME];

	for (unsigned int i = 0; i <= GPUFABRIC_MEMBERS_MAX; i++) {
		snprintf(names[i], GF_NAME, "sim%u-%u", i / PER_SWITCH, i % PER_SWITCH);
		many[i].name = names[i];
	}
}

static int read_composition(const struct nlmsghdr *part, void *context)
{
	gf_read_composition(gf_attr(part, GPUFABRIC_A_COMPOSITION), &composition);
	return 0;
}

TEST_F(dump, largest_composition)
{
	static struct gf_event event;

	name_many();
	ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "largest", .slots = many,
				  .n_slots = GPUFABRIC_MEMBERS_MAX))) {
		TH_LOG("%s", gf.text);
	}
	gf_read_composition(gf_attr(&gf.reply.header, GPUFABRIC_A_COMPOSITION), &composition);
	EXPECT_EQ(GPUFABRIC_MEMBERS_MAX, composition.n_members);
	/* Events carry it whole, too. */
	do {
		ASSERT_EQ(0, watch_next(&watch, &event, ASK_PATIENCE_MS));
	} while (event.kind != GPUFABRIC_EVENT_KIND_COMPOSITION_ADDED);
	EXPECT_EQ(GPUFABRIC_MEMBERS_MAX, event.composition.n_members);
	ASSERT_EQ(0, watch_operation(&watch, ask_id(&gf), NULL));

	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_RESIZE, .name = "largest",
				    SLOTS({ .name = many[GPUFABRIC_MEMBERS_MAX].name }))), E2BIG,
		       "a composition holds at most 512 slots");
	EXPECT_EQ(0, get_composition(&gf, "largest", &composition));
	EXPECT_EQ(GPUFABRIC_MEMBERS_MAX, composition.n_members);
	ASSERT_EQ(0, reopen_small(SMALL));
	gf_begin(&request, &gf, GPUFABRIC_CMD_COMPOSITION_GET, 0);
	EXPECT_EQ(0, gf_dump(&gf, &request, read_composition, NULL));
	EXPECT_EQ(1, gf.parts);
	EXPECT_EQ(GPUFABRIC_MEMBERS_MAX, composition.n_members);
	/* Its members come one by one, in their order, through any buffer. */
	EXPECT_EQ(0, get_composition(&gf, "largest", &composition));
	ASSERT_EQ(GPUFABRIC_MEMBERS_MAX, composition.n_members);
	for (unsigned int i = 0; i < GPUFABRIC_MEMBERS_MAX; i++)
		EXPECT_STREQ(many[i].name, composition.members[i].name);
	EXPECT_EQ(composition.generation, composition.members[0].generation);
	EXPECT_EQ(0, release_keep("largest"));
}

static int check_entry(const struct nlmsghdr *part, void *context)
{
	uint64_t sequence = gf_u64(gf_sub(gf_attr(part, GPUFABRIC_A_HISTORY), GPUFABRIC_A_HISTORY_SEQUENCE));
	uint64_t *last = context;

	if (*last && sequence != *last + 1)
		return 1;
	*last = sequence;
	return 0;
}

TEST_F(dump, history_keeps_the_newest)
{
	uint64_t last = 0;

	name_many();
	for (int i = 0; i < 5; i++) {
		ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_DRAIN, .slots = many,
					  .n_slots = GPUFABRIC_MEMBERS_MAX)));
		ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_DRAIN_ABORT, .slots = many,
					  .n_slots = GPUFABRIC_MEMBERS_MAX)));
	}
	ASSERT_EQ(0, reopen_small(SMALL));
	gf_begin(&request, &gf, GPUFABRIC_CMD_HISTORY_GET, 0);
	EXPECT_EQ(0, gf_dump(&gf, &request, check_entry, &last));
	EXPECT_EQ(4096, gf.parts);
	EXPECT_LE(5120, last);
	gf_begin(&request, &gf, GPUFABRIC_CMD_STATUS_GET, 0);
	ASSERT_EQ(0, gf_talk(&gf, &request));
	EXPECT_EQ(4096, gf_u32(gf_sub(gf_attr(&gf.reply.header, GPUFABRIC_A_STATUS), GPUFABRIC_A_STATUS_HISTORY)));
}

static int remove_switch(const struct nlmsghdr *part, void *context)
{
	struct progress *progress = context;
	int fd, err = count_slot(part, context);

	if (err || progress->count != 5)
		return err;
	/* The second switch, whose slots come later in the dump. */
	fd = open("/sys/bus/pci/devices/10001:00:00.0/remove", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "1", 1) != 1)
		progress->change_error = -errno;
	close(fd);
	return 0;
}

/* Last: one switch is gone after it. */
TEST_F(dump, slots_may_go_in_the_middle)
{
	static struct gf_event event;
	struct progress progress = { 0 };
	unsigned int removed = 0;

	ASSERT_EQ(0, reopen_small(SMALL));
	gf_begin(&request, &gf, GPUFABRIC_CMD_SLOT_GET, 0);
	EXPECT_EQ(0, gf_dump(&gf, &request, remove_switch, &progress));
	EXPECT_EQ(0, progress.change_error);
	EXPECT_LE(NR - PER_SWITCH, progress.count);
	while (removed < PER_SWITCH) {
		ASSERT_EQ(0, watch_next(&watch, &event, ASK_PATIENCE_MS));
		removed += event.kind == GPUFABRIC_EVENT_KIND_SLOT_REMOVED;
	}
	progress = (struct progress){ 0 };
	EXPECT_EQ(0, dump_slots(&progress));
	EXPECT_EQ(NR - PER_SWITCH, progress.count);
	EXPECT_EQ(-ENOENT, get_slot(&gf, "sim1-0", &slot));
}

MAIN("switches=16 slots=250 domains=16 window_gib=256 knobs=0 latency_ms=5 "
     "gpus=*:h100-80:off,0.*:h100-80:on,1.*:h100-80:on,2.*:h100-80:on")
