// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dumps into buffers of any size: wherever the end of one falls, in an object or
 * between two, no part of an object is missing and none comes twice. Compositions
 * are not among them: the kernel makes room for the largest, see dump_test.
 *
 *   root port -- upstream -- sim0-0 .. sim0-11       h100-80 audio, on
 *   root port -- upstream -- sim1-0 .. sim1-11       l40s, off
 */
#include "test.h"

/* What the kernel offers at least, whatever the reader has room for. */
#define LEAST 3840
/* No object is larger, and attributes begin every four bytes. */
#define SPAN 1600
#define PARTS_MAX 512
#define SLOTS_OF_EACH 12

/* How long each object of a dump is. */
struct shape {
	unsigned int count;
	uint32_t length[PARTS_MAX];
};

static struct shape whole, now;

FIXTURE(room) {
};

FIXTURE_SETUP(room)
{
	OPEN_SOCKETS();
}

FIXTURE_TEARDOWN(room)
{
}

static int measure(const struct nlmsghdr *part, void *context)
{
	struct shape *shape = context;

	if (shape->count == PARTS_MAX)
		return -E2BIG;
	shape->length[shape->count++] = part->nlmsg_len;
	return 0;
}

static int dump(uint8_t command, size_t room, struct shape *shape)
{
	shape->count = 0;
	gf.room = room;
	gf_begin(&request, &gf, command, 0);
	return gf_dump(&gf, &request, measure, shape);
}

/*
 * The kernel remembers the largest buffer, so they grow. Returns how many rooms went
 * wrong, or the error of the first dump.
 */
static int try_rooms(uint8_t command)
{
	int wrong = 0, err;

	gf_close(&gf);
	err = gf_open_small(&gf, LEAST);
	if (!err)
		err = dump(command, LEAST, &whole);
	if (err)
		return err;
	for (size_t room = LEAST + 4; room <= LEAST + SPAN; room += 4) {
		if (dump(command, room, &now) || now.count != whole.count ||
		    memcmp(now.length, whole.length, whole.count * sizeof(whole.length[0])))
			wrong++;
	}
	/* With a single buffer as the judge of the first. */
	if (dump(command, 32768, &now) || dump(command, 32768, &now) || now.count != whole.count ||
	    memcmp(now.length, whole.length, whole.count * sizeof(whole.length[0])))
		wrong++;
	return wrong;
}

TEST_F(room, slots)
{
	EXPECT_EQ(0, try_rooms(GPUFABRIC_CMD_SLOT_GET));
	EXPECT_EQ(2 * SLOTS_OF_EACH, whole.count);
}

TEST_F(room, switches)
{
	EXPECT_EQ(0, try_rooms(GPUFABRIC_CMD_SWITCH_GET));
	EXPECT_EQ(2, whole.count);
}

TEST_F(room, stats_and_history)
{
	for (int i = 0; i < 6; i++) {
		ASSERT_EQ(0, attach("sim1-0"));
		ASSERT_EQ(0, detach("sim1-0"));
	}
	EXPECT_EQ(0, try_rooms(GPUFABRIC_CMD_STATS_GET));
	EXPECT_LT(6, whole.count);
	EXPECT_EQ(0, try_rooms(GPUFABRIC_CMD_HISTORY_GET));
	EXPECT_LT(17, whole.count);
}

MAIN("switches=2 slots=12 latency_ms=5 gpus=0.*:h100-80:on:audio,1.*:l40s:off")
