// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/module/condition.c ctl/module/netlink_gen.c ctl/base/text.c ctl/module/model.c ctl/module/state.c ctl/module/object.c ctl/base/fault.c
/* What gpuctl watch --until can wait for. */
#include <errno.h>
#include <string.h>

#include "module/condition.h"
#include "tap.h"

static struct gf_slot slots[] = {
	{ .id = 1, .name = "3-1", .state = GF_STATE_READY },
	{ .id = 2, .name = "3-2", .state = GF_STATE_STUCK },
};
static struct gf_composition compositions[] = {
	{ .id = 1, .name = "train70b", .state = GPUFABRIC_COMPOSITION_STATE_ACTIVE },
};
static const struct gf_fabric fabric = { slots, 2, NULL, 0, compositions, 1 };

static void met(const char *text, bool want)
{
	struct condition condition;
	struct fault fault = { "" };

	is_int(condition_parse(text, &condition, &fault), 0, text);
	ok(condition_met(&condition, &fabric) == want, "is %s", want ? "so" : "not so");
	condition_free(&condition);
}

static void refused(const char *text, const char *why)
{
	struct condition condition;
	struct fault fault = { "" };

	is_int(condition_parse(text, &condition, &fault), -EINVAL, "refused");
	ok(strstr(fault.text, why) != NULL, "\"%s\": %s", text, fault.text);
	condition_free(&condition);
}

int main(void)
{
	met("3-1 ready", true);
	met("  3-1\tready ", true);
	met("3-1 off", false);
	met("3-2 stuck", true);
	met("3-3 ready", false);
	met("3-3 gone", true);
	met("3-1 gone", false);
	met("train70b active", true);
	met("train70b degraded", false);
	met("train70b ready", false);
	met("train70b gone", false);
	met("train8b gone", true);
	refused("", "write a name and a state");
	refused("train70b", "write a name and a state");
	refused("train70b is active", "write a name and a state");
	refused("train70b happy", "no state \"happy\"; there are empty, other, off, ");
	refused("train70b happy", "active");
	return tap_done();
}
