// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/module/state.c ctl/module/netlink_gen.c ctl/module/object.c ctl/base/text.c
/*
 * The word that people read for the four things that the module says of a slot.
 */
#include "module/netlink_gen.h"
#include "module/state.h"
#include "tap.h"

static const struct {
	const char *occupancy, *power, *activity, *health, *word;
} rows[] = {
	{ "empty", "off", "none", "ok", "empty" },
	{ "other", "on", "none", "ok", "other" },
	{ "unknown", "off", "none", "ok", "off" },
	{ "unknown", "changing", "attaching", "ok", "attaching" },
	{ "empty", "changing", "attaching", "ok", "attaching" },
	{ "gpu", "on", "attaching", "ok", "attached" },
	{ "gpu", "no-control", "attaching", "ok", "attached" },
	{ "gpu", "on", "none", "ok", "ready" },
	{ "gpu", "no-control", "none", "ok", "ready" },
	{ "gpu", "on", "draining", "ok", "draining" },
	{ "gpu", "changing", "detaching", "ok", "detaching" },
	{ "unknown", "off", "none", "fault", "fault" },
	{ "gpu", "on", "none", "fault", "fault" },
	{ "gpu", "changing", "detaching", "stuck", "stuck" },
	{ "empty", "off", "none", "lost", "lost" },
	{ "gpu", "on", "none", "lost", "lost" },
};

int main(void)
{
	struct gf_condition condition;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		condition = (struct gf_condition){ 0 };
		gf_condition_take(&condition, "OCCUPANCY", rows[i].occupancy);
		gf_condition_take(&condition, "power", rows[i].power);
		gf_condition_take(&condition, "Activity", rows[i].activity);
		gf_condition_take(&condition, "health", rows[i].health);
		is_str(gf_state_name(gf_state_of(&condition)), rows[i].word, "the word for a slot");
	}
	gf_condition_take(&condition, "health", "splendid");
	gf_condition_take(&condition, "colour", "ok");
	is_str(gf_state_name(gf_state_of(&condition)), "lost", "what is not known changes nothing");
	/* A newer module may say more than this tool knows. */
	condition = (struct gf_condition){ .occupancy = 99, .power = 99, .activity = 99, .health = 99 };
	is_str(gf_state_name(gf_state_of(&condition)), "empty", "values that nobody knows are no crash");
	is_str(gf_state_name(GF_STATES), NULL, "a word past the last");
	return tap_done();
}
