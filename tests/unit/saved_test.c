// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/module/annotation.c ctl/op/saved.c ctl/base/text.c ctl/module/model.c ctl/module/state.c ctl/module/object.c ctl/module/netlink_gen.c ctl/base/fault.c
// packages: json-c libnl-3.0
/*
 * Which compositions are written down: those that outlive a reboot, as they are.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "op/saved.h"
#include "tap.h"

static struct gf_slot slots[2] = {
	{ .id = 1, .name = (char *)"3-1", .serial = 0x1234,
	  .vendor = 0x10de, .device = 0x2331 },
	{ .id = 2, .name = (char *)"3-2" },
};

static struct gf_membership members[2] = {
	{ .slot_id = 1, .slot_name = (char *)"3-1" },
	{ .slot_id = 2, .slot_name = (char *)"3-2" },
};

static const struct annotation note = {
	.tenant = "ml", .label = "night", .job = "4711", .lease = 99000, .instance = 1,
};
static uint8_t bytes[GPUFABRIC_ANNOTATION_MAX], newer[3] = { ANNOTATION_VERSION + 1, 0x0f, 0xff };

static struct gf_composition compositions[5] = {
	{ .name = (char *)"train", .owner = 1000, .annotation = bytes, .instance = 1,
	  .members = members, .n_members = 2 },
	{ .name = (char *)"command", .flags = GPUFABRIC_COMPOSITION_FLAG_BOUND, .members = members,
	  .n_members = 1 },
	{ .name = (char *)"lost", .flags = GPUFABRIC_COMPOSITION_FLAG_ORPHANED, .members = members,
	  .n_members = 1 },
	{ .name = (char *)"nothing" },
	{ .name = (char *)"strange", .annotation = newer, .n_annotation = 3, .instance = 1,
	  .members = members, .n_members = 1 },
};

static void corrupt(const char *text, const char *what)
{
	struct fault fault = { "" };
	struct saved saved;
	char *file = mem_printf("{\"gpufabric\":1,\"compositions\":[{\"name\":\"a\",%s,"
				"\"slots\":[{\"slot\":\"1\"}]}]}", text);

	is_int(saved_parse(&saved, "file", file, strlen(file), &fault), -EINVAL, what);
	free(file);
}

int main(void)
{
	const struct gf_fabric fabric = {
		.slots = slots, .n_slots = 2, .compositions = compositions, .n_compositions = 5,
	};
	const struct saved_composition *one;
	struct fault fault = { "" };
	struct saved saved;
	char *text;

	compositions[0].n_annotation = annotation_write(&note, bytes);
	text = saved_print(&fabric, 5000, 1000);
	is_int(saved_parse(&saved, "file", text, strlen(text), &fault), 0, "what is written can be read");
	is_str(fault.text, "", "without complaint");
	if (!is_int(saved.n, 2, "neither a command's composition, nor an orphan, nor an empty one is there"))
		return tap_done();
	one = &saved.items[0];
	is_str(one->name, "train", "another one is");
	is_str(one->note.tenant, "ml", "its tenant");
	is_str(one->note.label, "night", "its label");
	is_str(one->note.job, "4711", "its job");
	is_int(one->owner, 1000, "its owner");
	is_int(one->lease, 103000, "the end of its lease, by the clock on the wall");
	is_int((intmax_t)saved.when, 5000, "and the time by that clock");
	is_int((intmax_t)saved_left(&saved, one, 25000), 78000, "20 s later that much less is left of it");
	is_int((intmax_t)saved_left(&saved, one, 1), 98000, "no more than was left, by a clock that was set back");
	is_int((intmax_t)saved_left(&saved, one, 103000), 0, "nothing at its end");
	is_int((intmax_t)saved_left(&saved, one, 200000), 0, "nor after it");
	ok(!one->bytes, "nothing that is not known");
	is_int(one->n_slots, 2, "its slots");
	is_str(one->slots[0].name, "3-1", "the first slot");
	is_int(one->slots[0].ids.device, 0x2331, "its GPU");
	is_int(one->slots[0].serial, 0x1234, "its serial number");
	is_int(one->slots[1].ids.vendor, 0, "of the second one nothing is known");
	one = &saved.items[1];
	is_str(one->name, "strange", "and one that a newer gpuctl annotated");
	ok(one->n_bytes == 3 && !memcmp(one->bytes, newer, 3), "as it was");
	saved_free(&saved);
	free(text);
	text = mem_strdup("{\"gpufabric\":1,\"saved\":-1,\"compositions\":[]}");
	is_int(saved_parse(&saved, "file", text, strlen(text), &fault), -EINVAL, "a time before there were any");
	free(text);
	corrupt("\"tenant\":\"a b\"", "a tenant that is no name");
	corrupt("\"job\":\"a\\nb\"", "a job of two lines");
	corrupt("\"annotation\":\"0\"", "half a byte");
	corrupt("\"annotation\":\"0g\"", "no digits");
	corrupt("\"annotation\":\"00\\u0000\"", "what ends too early");
	return tap_done();
}
