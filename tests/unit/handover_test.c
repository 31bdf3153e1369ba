// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/choose/handover.c ctl/host/reset.c ctl/module/annotation.c ctl/module/model.c ctl/module/state.c ctl/module/object.c ctl/module/netlink_gen.c ctl/base/text.c ctl/base/tree.c ctl/base/fault.c
/*
 * What has to be done to a slot before somebody else gets it: whose data its GPU may hold,
 * by whom it is asked for, and what can be done there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "choose/handover.h"
#include "host/reset.h"
#include "module/annotation.h"
#include "tap.h"
#include "tree.h"

static char dir[] = "/tmp/handover_test.XXXXXX";
static struct tree tree;

static struct gf_function gpus[] = {
	{ .address = (char[]){ "0000:41:00.0" }, .class = 0x030200 },
	{ .address = (char[]){ "0000:41:00.1" }, .class = 0x040300 },
	{ .address = (char[]){ "0000:42:00.0" }, .class = 0x030200 },
};

static struct gf_slot slot = {
	.name = (char[]){ "1" },
	.former = (char[]){ "train" },
	.functions = gpus,
	.n_functions = 3,
	.condition.power = GPUFABRIC_POWER_ON,
};

static uint8_t bytes[GPUFABRIC_ANNOTATION_MAX];

/* What a composition of @tenant has left; "" for none. */
static void leave(const char *tenant)
{
	struct annotation note = { 0 };

	strcpy(note.tenant, tenant);
	slot.contents = GPUFABRIC_CONTENTS_FORMER;
	slot.former_annotation = bytes;
	slot.n_former_annotation = annotation_write(&note, bytes);
}

static enum handover give(const char *tenant)
{
	const struct handover_to to = { .tenant = tenant };

	return handover_of(&tree, &slot, &to);
}

static void test_whose(void)
{
	static const char *const tenants[] = { "", "red", "blue" };
	const struct handover_to stranger = { .stranger = true };
	size_t i, j;

	slot.state = GF_STATE_READY;
	for (i = 0; i < 3; i++)
		for (j = 0; j < 3; j++) {
			leave(tenants[i]);
			is_int(give(*tenants[j] ? tenants[j] : NULL),
			       i == j ? HANDOVER_AS_IS : HANDOVER_POWER_CYCLE,
			       "from one to another");
		}
	leave("");
	is_int(handover_of(&tree, &slot, &stranger), HANDOVER_POWER_CYCLE,
	       "to somebody who is not known, even nobody's");
	leave("red");
	bytes[0]++;
	is_int(give("red"), HANDOVER_POWER_CYCLE, "from somebody who is not known");
	is_int(give(NULL), HANDOVER_POWER_CYCLE, "to nobody either");
	slot.contents = GPUFABRIC_CONTENTS_POWER_CYCLED;
	is_int(give("red"), HANDOVER_AS_IS, "after a power-cycle");
	slot.contents = GPUFABRIC_CONTENTS_RESET;
	is_int(give("red"), HANDOVER_AS_IS, "after a reset");
}

static void test_unknown(void)
{
	const struct handover_to adopts = { .tenant = "red", .adopts = true };
	uint32_t contents;

	/* Values that are newer than this gpuctl mean as little. */
	for (contents = GPUFABRIC_CONTENTS_UNKNOWN; contents < 10; contents += 9) {
		slot.contents = contents;
		is_int(give(NULL), HANDOVER_AS_IS, "what was anybody's goes to nobody as it is");
		is_int(give("red"), HANDOVER_POWER_CYCLE, "and to a tenant clean");
		is_int(handover_of(&tree, &slot, &adopts), HANDOVER_AS_IS, "unless that adopts it");
	}
}

static void test_ways(void)
{
	leave("red");
	slot.state = GF_STATE_OFF;
	is_int(give("blue"), HANDOVER_ATTACH, "off, and not clean");
	slot.state = GF_STATE_DRAINING;
	is_int(give("blue"), HANDOVER_AS_IS, "what the module refuses");
	slot.state = GF_STATE_READY;
	slot.condition.power = GPUFABRIC_POWER_NO_CONTROL;
	is_int(give("blue"), HANDOVER_NEVER, "without power control or a reset");
	tree_put(dir, "sys/bus/pci/devices/0000:41:00.0/reset_method", "flr bus\n");
	tree_put(dir, "sys/bus/pci/devices/0000:42:00.0/reset_method", "\n");
	is_int(give("blue"), HANDOVER_NEVER, "with a reset of one of two GPUs");
	tree_put(dir, "sys/bus/pci/devices/0000:42:00.0/reset_method", "bus\n");
	is_int(give("blue"), HANDOVER_RESET, "of both; the sound has none");
	slot.n_functions = 0;
	is_int(give("blue"), HANDOVER_NEVER, "without a GPU");
	slot.n_functions = 3;
}

static void is_former(const char *words, const char *tenant, const char *what)
{
	char *has = handover_former(&slot), *who = handover_former_tenant(&slot);

	is_str(has, words, what);
	is_str(who ? who : "", tenant, "and the tenant");
	free(has);
	free(who);
}

static void test_words(void)
{
	leave("red");
	is_former("tenant red (train)", "red", "a tenant's");
	leave("");
	is_former("composition train", "", "nobody's, or one may not know");
	leave("red");
	bytes[0]++;
	is_former("composition train", "", "of a newer gpuctl");
	slot.contents = GPUFABRIC_CONTENTS_UNKNOWN;
	slot.n_former_annotation = 0;
	is_former("an owner from before the module was loaded", "", "anybody's");
}

int main(void)
{
	struct fault fault = { "" };
	char *command;

	if (!mkdtemp(dir) || tree_open(&tree, dir, &fault))
		return 1;
	test_whose();
	test_unknown();
	test_ways();
	test_words();
	tree_close(&tree);
	command = mem_printf("rm -r %s", dir);
	ok(!system(command), "clean up");
	free(command);
	return tap_done();
}
