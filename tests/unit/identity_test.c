// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/session/identity.c ctl/module/model.c ctl/module/state.c ctl/module/object.c ctl/module/netlink_gen.c ctl/base/text.c ctl/cli/context.c ctl/catalogue/catalogue.c ctl/catalogue/engine.c ctl/base/conf.c ctl/base/fault.c ctl/catalogue/gpu.c ctl/catalogue/gpu_find.c ctl/catalogue/model.c ctl/catalogue/model_find.c ctl/catalogue/load.c ctl/base/conf_dir.c ctl/catalogue/build.c ctl/catalogue/expr.c ctl/catalogue/family.c ctl/catalogue/family_check.c
/*
 * What a slot holds, by what was read, by what the admin declares in slots.d, or
 * not at all; and how the two kinds of files are read from a directory.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "linux/gpufabric.h"
#include "session/identity.h"
#include "tap.h"

static char dir[] = "/tmp/identity_test.XXXXXX";

static void put(const char *path, const char *content)
{
	char *full = mem_printf("%s/%s", dir, path);
	FILE *f = fopen(full, "w");

	if (!ok(f, "write %s", path))
		exit(1);
	fputs(content, f);
	fclose(f);
	free(full);
}

/* Load what is below the directory; the error in @ctx when there is one. */
static int load(struct ctl_ctx *ctx, struct knowledge *knowledge, bool must)
{
	memset(ctx, 0, sizeof(*ctx));
	ctx->data_dir = "ctl/catalogue";
	ctx->config_dir = dir;
	return knowledge_load(ctx, knowledge, must);
}

static void is_identity(const struct knowledge *knowledge, const char *name, enum identity_source source,
			const char *label)
{
	struct gf_slot slot = { .name = (char *)name, .state = GF_STATE_OFF };
	struct identity identity;

	identity_of(knowledge, &slot, &identity);
	is_int(identity.source, source, name);
	is_str(identity.label, label, name);
}

static void test_declared(void)
{
	struct knowledge knowledge;
	struct identity identity;
	struct gf_slot slot = { .name = "3-7", .state = GF_STATE_EMPTY };
	struct ctl_ctx ctx;

	put("slots.d/10-rack.conf", "# what sits where\n3-*\tl40s\n3-2   h100-pcie-80\n\n");
	put("slots.d/20-new.conf", "4-0 10de:26b9\n4-1 6767:0001/10de:2331\n4-2 abcd:0001\n3-2 a100-pcie-80\n");
	put("slots.d/.hidden.conf", "this is not read\n");
	put("slots.d/notes.txt", "neither is this\n");
	is_int(load(&ctx, &knowledge, true), CTL_DONE, "two files");
	ok(knowledge_has_declarations(&ctx), "there are declarations");
	is_int((intmax_t)knowledge.n_declared, 6, "lines of both");

	is_identity(&knowledge, "3-2", IDENTITY_DECLARED, "A100 PCIe");
	is_identity(&knowledge, "3-5", IDENTITY_DECLARED, "L40S");
	is_identity(&knowledge, "4-0", IDENTITY_DECLARED, "L40S");
	is_identity(&knowledge, "4-1", IDENTITY_DECLARED, "H100 PCIe (sim)");
	is_identity(&knowledge, "4-2", IDENTITY_DECLARED, "abcd:0001");
	is_identity(&knowledge, "9-9", IDENTITY_UNKNOWN, "-");
	identity_of(&knowledge, &slot, &identity);
	is_int(identity.source, IDENTITY_UNKNOWN, "nothing is declared into an empty slot");

	slot.vendor = 0x10de;
	slot.device = 0x26b9;
	slot.identity = GPUFABRIC_IDENTITY_SOURCE_LAST_SEEN;
	slot.identity_time = 1000;
	identity_of(&knowledge, &slot, &identity);
	is_int(identity.source, IDENTITY_SEEN, "what was seen counts more than what is declared");
	is_str(identity.label, "L40S", "and is looked up by its ids");
	ok(identity.memory > 40ull << 30, "so its memory is known");
	knowledge_free(&knowledge);
	free(ctx.error);
}

/* GPUs of a card: what the module knows, else what is declared, else one. */
static void test_gpus(void)
{
	struct gf_slot slots[] = {
		{ .id = 1, .name = (char *)"6-0", .state = GF_STATE_OFF },
		{ .id = 2, .name = (char *)"6-1", .state = GF_STATE_OFF },
		{ .id = 3, .name = (char *)"6-1", .state = GF_STATE_READY, .gpus = 2, .vendor = 0x10de, .device = 0x26b9,
		  .identity = GPUFABRIC_IDENTITY_SOURCE_LIVE },
	};
	struct gf_membership members[] = { { .slot_id = 1 }, { .slot_id = 2 }, { .slot_id = 3 }, { .slot_id = 9 } };
	const struct gf_composition composition = { .members = members, .n_members = 4 };
	const struct gf_fabric fabric = { .slots = slots, .n_slots = 3 };
	struct knowledge knowledge;
	struct identity identity;
	struct ctl_ctx ctx;
	char buf[IDENTITY_GPUS];

	put("slots.d/20-gpus.conf", "6-0 l40s\n6-1 a16 4\n");
	is_int(load(&ctx, &knowledge, true), CTL_DONE, "a number of GPUs is declared");
	is_int(identity_count(&knowledge, &slots[0]), 1, "where none is declared there is one");
	is_int(identity_count(&knowledge, &slots[1]), 4, "else as many");
	is_int(identity_count(&knowledge, &slots[2]), 2, "unless the module has seen them");
	is_int((intmax_t)identity_members(&knowledge, &fabric, &composition), 8, "a composition has those of all its slots, and one of a slot that has gone");
	identity_of(&knowledge, &slots[0], &identity);
	is_str(identity_gpus(buf, &identity), "L40S", "one GPU is called by its name");
	identity_of(&knowledge, &slots[2], &identity);
	is_str(identity_gpus(buf, &identity), "2 x L40S", "of two the number is said");
	put("slots.d/20-gpus.conf", "");
	knowledge_free(&knowledge);
	free(ctx.error);
}

/* GPUs that links of their own connect: only the admin knows. */
static void test_groups(void)
{
	struct gf_function gpu = { .address = (char *)"0000:01:00.0", .class = 0x030200 };
	struct gf_slot slots[] = {
		{ .id = 1, .name = (char *)"7-0", .state = GF_STATE_READY, .functions = &gpu, .n_functions = 1 },
		{ .id = 2, .name = (char *)"7-1", .state = GF_STATE_READY, .functions = &gpu, .n_functions = 1 },
		{ .id = 3, .name = (char *)"7-2", .state = GF_STATE_READY, .functions = &gpu, .n_functions = 1 },
		{ .id = 4, .name = (char *)"7-3", .state = GF_STATE_OFF },
		{ .id = 5, .name = (char *)"8-0", .state = GF_STATE_READY, .functions = &gpu, .n_functions = 1 },
		{ .id = 6, .name = (char *)"8-1", .state = GF_STATE_READY, .functions = &gpu, .n_functions = 1 },
	};
	const struct gf_slot *pair[] = { &slots[0], &slots[1] }, *single[] = { &slots[4] };
	const struct gf_fabric fabric = { .slots = slots, .n_slots = 6 };
	struct knowledge knowledge;
	struct identity identity;
	struct ctl_ctx ctx;
	char *partners;

	put("slots.d/50-groups.conf",
	    "7-* group=nvl0\n7-0 h100-pcie-80\n8-0 a16 4 group=xgmi\n8-[12] group=xgmi\n");
	is_int(load(&ctx, &knowledge, true), CTL_DONE, "groups are declared");
	is_str(identity_group(&knowledge, &slots[2]), "nvl0", "by a pattern");
	is_str(identity_group(&knowledge, &slots[0]), "nvl0", "which a later line about the GPU leaves");
	is_int(identity_count(&knowledge, &slots[4]), 4, "and a card's GPUs stand beside it");
	identity_of(&knowledge, &slots[3], &identity);
	is_str(identity.group, "nvl0", "a slot that is off is in one");
	is_str(identity.label, "-", "and nothing is said of its GPU");
	partners = identity_partners(&knowledge, &fabric, pair, 2);
	is_str(partners, "nvl0: 7-2", "who loses links to two of them: none that is off");
	free(partners);
	partners = identity_partners(&knowledge, &fabric, single, 1);
	is_str(partners, "xgmi: 8-1", "or to one");
	free(partners);
	single[0] = &slots[3];
	ok(!identity_group(&knowledge, &(struct gf_slot){ .name = (char *)"9-9" }), "others are in none");
	put("slots.d/50-groups.conf", "");
	knowledge_free(&knowledge);
	free(ctx.error);
}

static void test_source(void)
{
	struct identity identity = { .source = IDENTITY_SEEN, .time = 5000 };
	char buf[48];

	is_str(identity_text(buf, &identity, 5200), "seen just now", "a moment ago");
	is_str(identity_text(buf, &identity, 65000 + 60000), "seen 2 min ago", "a while ago");
	identity.source = IDENTITY_LIVE;
	is_str(identity_text(buf, &identity, 0), "live", "read now");
	identity.source = IDENTITY_DECLARED;
	is_str(identity_text(buf, &identity, 0), "declared", "declared");
	identity.source = IDENTITY_UNKNOWN;
	is_str(identity_text(buf, &identity, 0), "-", "nothing is known");
}

static void test_driver(void)
{
	struct cat_gpu gpu = { .driver = (char *)"no-such-driver neither-this" };
	struct identity identity = { .gpu = &gpu };
	char buf[64];

	ok(!identity_loaded_driver(&identity, buf, sizeof(buf)), "a driver that is not loaded");
	identity.gpu = NULL;
	ok(!identity_loaded_driver(&identity, buf, sizeof(buf)), "an unknown GPU has no driver");
	identity.simulated = true;
	ok(!identity_loaded_driver(&identity, buf, sizeof(buf)), "nor has a simulated one without the simulator");
}

/* A line that is not understood is an error for what acts and a warning for what shows. */
static void is_refused(const char *text, const char *why)
{
	struct knowledge knowledge;
	struct ctl_ctx ctx;

	put("slots.d/30-bad.conf", text);
	is_int(load(&ctx, &knowledge, true), CTL_FAILED, why);
	ok(ctx.error && strstr(ctx.error, why), "says why: %s", ctx.error);
	free(ctx.error);
	is_int(load(&ctx, &knowledge, false), CTL_DONE, "and is no more than a warning where nothing is changed");
	knowledge_free(&knowledge);
	free(ctx.error);
}

static void test_refused(void)
{
	char *path = mem_printf("%s/slots.d/40-none.conf", dir);

	is_refused("5-0\n", "30-bad.conf:1: slot 5-0 without a GPU");
	is_refused("# one\n5-0 l40s two\n", "30-bad.conf:2: more than a slot and a GPU");
	is_refused("5-0 l40s 0\n", "30-bad.conf:1: more than a slot and a GPU");
	is_refused("5-0 l40s 65\n", "30-bad.conf:1: more than a slot and a GPU");
	is_refused("5-0 l40s 2 x\n", "30-bad.conf:1: more than a slot and a GPU");
	is_refused("5-0 group=\n", "30-bad.conf:1: group \"\"");
	is_refused("5-0 group=1st\n", "30-bad.conf:1: group \"1st\"");
	is_refused("5-0 group=a group=b\n", "30-bad.conf:1: more than one group");
	is_refused("5-0 no-such-gpu\n", "30-bad.conf:1: ");
	is_refused("5-0 10de:\n", "30-bad.conf:1: ");
	put("slots.d/30-bad.conf", "");
	ok(!symlink("/nowhere", path), "a file that is not there");
	is_refused("", "40-none.conf: No such file");
	unlink(path);
	free(path);
}

static void test_nothing(void)
{
	struct knowledge knowledge;
	struct ctl_ctx ctx = { .data_dir = "/nowhere", .config_dir = "/nowhere" };

	ok(!knowledge_has_declarations(&ctx), "no declarations");
	is_int(knowledge_load(&ctx, &knowledge, true), CTL_FAILED, "a catalogue is needed to act");
	free(ctx.error);
	ctx.error = NULL;
	is_int(knowledge_load(&ctx, &knowledge, false), CTL_DONE, "and not to look");
	is_identity(&knowledge, "3-2", IDENTITY_UNKNOWN, "-");
	knowledge_free(&knowledge);
	free(ctx.error);
}

int main(void)
{
	char *path;

	if (!mkdtemp(dir)) {
		ok(false, "a temporary directory");
		return tap_done();
	}
	path = mem_printf("%s/slots.d", dir);
	mkdir(path, 0755);
	free(path);
	test_declared();
	test_gpus();
	test_groups();
	test_source();
	test_driver();
	test_refused();
	test_nothing();
	path = mem_printf("rm -r %s", dir);
	ok(!system(path), "clean up");
	free(path);
	return tap_done();
}
