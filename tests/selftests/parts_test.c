// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cards with more functions than a buffer holds, read over the smallest there is.
 *
 *   root port -- upstream --+-- sim0-0    card with a switch, six GPUs and 55 functions, on
 *                           +-- sim0-1    the same
 *                           +-- sim0-2    h100-80, off
 */
#include "test.h"

/* Less than the kernel makes the smallest buffer of a dump: it stays at that. */
#define SMALLEST 3840
/* Upstream port, six downstream ports, six GPUs with seven more functions each. */
#define FUNCTIONS 55

static struct gf other;

FIXTURE(parts) {
};

FIXTURE_SETUP(parts)
{
	OPEN_SOCKETS();
	ASSERT_EQ(0, gf_open(&other));
	gf_close(&gf);
	ASSERT_EQ(0, gf_open_small(&gf, SMALLEST));
}

FIXTURE_TEARDOWN(parts)
{
}

TEST_F(parts, slots_fit_the_first_buffer_of_a_socket)
{
	gf_begin(&request, &gf, GPUFABRIC_CMD_SLOT_GET, 0);
	EXPECT_EQ(0, gf_dump(&gf, &request, NULL, NULL));
	EXPECT_EQ(3, gf.parts);
}

/**
 * struct seen - what a dump of functions has brought so far
 * @slot: slot of the last one
 * @last: its address
 * @inventory: the inventory that it is of
 * @count: how many there were
 * @detach_at: number at which the slot is to be detached
 */
struct seen {
	uint32_t slot;
	char last[GF_NAME];
	uint32_t inventory;
	unsigned int count, detach_at;
};

static void change(void)
{
	uint32_t generation;

	if (!ask_drain(&other, "sim0-0", 0, &generation))
		ask_slot(&other, GPUFABRIC_CMD_DETACH, "sim0-0", generation);
	watch_operation(&watch, ask_id(&other), NULL);
}

static int see(const struct nlmsghdr *part, void *context)
{
	const struct nlattr *nest = gf_attr(part, GPUFABRIC_A_FUNCTION);
	const char *address = gf_text(gf_sub(nest, GPUFABRIC_A_FUNCTION_ADDRESS));
	uint32_t id = gf_u32(gf_sub(nest, GPUFABRIC_A_FUNCTION_SLOT_ID));
	struct seen *seen = context;

	if (id < seen->slot || !address[0] || (id == seen->slot && !strcmp(address, seen->last)))
		return 1;
	seen->slot = id;
	seen->inventory = gf_u32(gf_sub(nest, GPUFABRIC_A_FUNCTION_INVENTORY));
	strcpy(seen->last, address);
	if (++seen->count == seen->detach_at)
		change();
	return 0;
}

static int dump_functions(struct seen *seen, uint32_t id)
{
	gf_begin(&request, &gf, GPUFABRIC_CMD_FUNCTION_GET, 0);
	if (id)
		gf_put_u32(&request, GPUFABRIC_A_ID, id);
	return gf_dump(&gf, &request, see, seen);
}

TEST_F(parts, functions_of_all_slots_over_many_buffers)
{
	struct seen seen = { 0 };

	EXPECT_EQ(0, dump_functions(&seen, 0));
	EXPECT_EQ(2 * FUNCTIONS, seen.count);
	EXPECT_LT(3, gf.receives);
	EXPECT_FALSE(gf.interrupted);
}

TEST_F(parts, functions_of_one_slot)
{
	struct seen seen = { 0 };

	ASSERT_EQ(0, get_slot(&other, "sim0-1", &slot));
	EXPECT_EQ(FUNCTIONS, slot.function_count);
	EXPECT_EQ(0, dump_functions(&seen, slot.id));
	EXPECT_EQ(FUNCTIONS, seen.count);
	EXPECT_EQ(slot.id, seen.slot);
	EXPECT_EQ(slot.inventory, seen.inventory);
	ASSERT_EQ(0, get_slot(&other, "sim0-2", &slot));
	seen = (struct seen){ 0 };
	EXPECT_EQ(0, dump_functions(&seen, slot.id));
	EXPECT_EQ(0, seen.count);
	EXPECT_EQ(0, dump_functions(&seen, 4711));
	EXPECT_EQ(0, seen.count);
}

/* Last: the first card is off after it. */
TEST_F(parts, what_changes_meanwhile_interrupts)
{
	struct seen seen = { .detach_at = 5 };
	uint32_t inventory, deepest = 0;

	ASSERT_EQ(0, get_slot(&other, "sim0-0", &slot));
	inventory = slot.inventory;
	EXPECT_EQ(0, dump_functions(&seen, 0));
	EXPECT_TRUE(gf.interrupted);
	/* The rest of the other card is not missed. */
	EXPECT_LE(FUNCTIONS + 5, seen.count);
	ASSERT_EQ(0, get_slot(&other, "sim0-0", &slot));
	EXPECT_EQ(GF_STATE_OFF, slot.state);
	EXPECT_LT(inventory, slot.inventory);
	EXPECT_EQ(0, slot.function_count);
	/* Now it says what it had, at a greater depth what is behind the switch. */
	ASSERT_LT(6, slot.n_need);
	EXPECT_EQ(0, slot.need[0].depth);
	for (unsigned int i = 0; i < slot.n_need; i++)
		deepest = slot.need[i].depth > deepest ? slot.need[i].depth : deepest;
	EXPECT_LT(0, deepest);
	seen = (struct seen){ 0 };
	EXPECT_EQ(0, dump_functions(&seen, 0));
	EXPECT_EQ(FUNCTIONS, seen.count);
	EXPECT_FALSE(gf.interrupted);
}

MAIN("switches=1 slots=3 buses=10 knobs=0 window_gib=256 gpus=0.0-1:l40s:hexa:many,0.2:h100-80:off")
