// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/lib/saved.c ctl/lib/text.c ctl/lib/model.c ctl/lib/state.c ctl/lib/object.c ctl/lib/netlink_gen.c ctl/catalogue/fault.c
// packages: json-c libnl-3.0
/*
 * Which compositions are written down: those that outlive a reboot, as they are.
 */
#include <stdlib.h>

#include "lib/saved.h"
#include "tap.h"

static struct gf_slot slots[2] = {
	{ .id = 1, .name = (char *)"3-1", .serial = 0x1234,
	  .vendor = 0x10de, .device = 0x2331 },
	{ .id = 2, .name = (char *)"3-2" },
};

static struct gf_member members[2] = {
	{ .slot_id = 1, .slot_name = (char *)"3-1" },
	{ .slot_id = 2, .slot_name = (char *)"3-2" },
};

static struct gf_composition compositions[4] = {
	{ .name = (char *)"train", .tenant = (char *)"ml", .label = (char *)"night", .job = (char *)"4711",
	  .owner = 1000, .lease = 99000, .members = members, .n_members = 2 },
	{ .name = (char *)"command", .flags = GPUFABRIC_COMPOSITION_FLAG_BOUND, .members = members,
	  .n_members = 1 },
	{ .name = (char *)"lost", .flags = GPUFABRIC_COMPOSITION_FLAG_ORPHANED, .members = members,
	  .n_members = 1 },
	{ .name = (char *)"nothing" },
};

int main(void)
{
	const struct gf_fabric fabric = {
		.slots = slots, .n_slots = 2, .compositions = compositions, .n_compositions = 4,
	};
	const struct saved_composition *one;
	struct fault fault = { "" };
	struct saved saved;
	char *text = saved_print(&fabric, 5000);

	is_int(saved_parse(&saved, "file", text, strlen(text), &fault), 0, "what is written can be read");
	is_str(fault.text, "", "without complaint");
	if (!is_int(saved.n, 1, "neither a command's composition, nor an orphan, nor an empty one is there"))
		return tap_done();
	one = &saved.items[0];
	is_str(one->name, "train", "the other one is");
	is_str(one->tenant, "ml", "its tenant");
	is_str(one->label, "night", "its label");
	is_str(one->job, "4711", "its job");
	is_int(one->owner, 1000, "its owner");
	is_int(one->lease, 99000, "the end of its lease");
	is_int(one->n_slots, 2, "its slots");
	is_str(one->slots[0].name, "3-1", "the first slot");
	is_int(one->slots[0].ids.device, 0x2331, "its GPU");
	is_int(one->slots[0].serial, 0x1234, "its serial number");
	is_int(one->slots[1].ids.vendor, 0, "of the second one nothing is known");
	saved_free(&saved);
	free(text);
	return tap_done();
}
