// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/plan/costs.c ctl/plan/solver/instance.c ctl/base/jread.c ctl/base/fault.c ctl/base/text.c
// packages: json-c
/* Measured costs of moves: what counts, and in which line and column it does not. */
#include <errno.h>
#include <string.h>

#include "plan/costs.h"
#include "tap.h"

static int take(struct plan_costs *costs, const char *text, struct fault *fault)
{
	memset(fault, 0, sizeof(*fault));
	return plan_costs_read(costs, "f", text, strlen(text), fault);
}

static void refused(const char *text, const char *why)
{
	struct plan_costs costs;
	struct fault fault;

	is_int(take(&costs, text, &fault), -EINVAL, "refused");
	ok(!strcmp(fault.text, why), "%s: %s", why, fault.text);
}

static void test_good(void)
{
	struct plan_instance in = { 0 };
	struct plan_costs costs;
	struct fault fault;

	plan_add_kind(&in, "k");
	plan_add_switch(&in, "s");
	plan_add_pool(&in, 0, 0, 4);
	in.pools[0].attach_s = 7;
	in.pools[0].detach_s = 8;
	is_int(take(&costs, "{\"stats\":[]}", &fault), 0, "nothing was measured");
	plan_costs_apply(&costs, &in);
	is_near(in.pools[0].attach_s, 7, 0, "then all stays as it is");
	is_int(take(&costs,
		    "{\"stats\":[{\"operation\":\"attach\",\"phase\":\"total\",\"count\":4,"
		    "\"microseconds\":10000000,\"buckets\":[]},\n"
		    "{\"operation\":\"attach\",\"phase\":\"link\",\"count\":4,\"microseconds\":9},\n"
		    "{\"operation\":\"detach\",\"phase\":\"total\",\"count\":0,\"microseconds\":5}]}",
		    &fault),
	       0, "attaches were");
	plan_costs_apply(&costs, &in);
	is_near(in.pools[0].attach_s, 2.5, 1e-9, "an attach costs the mean of all phases together");
	is_near(in.pools[0].detach_s, 8, 0, "what was never done costs what it did");
	plan_instance_free(&in);
}

static void test_bad(void)
{
	refused("", "f:1:1: the file is empty");
	refused("[]", "f:1:1: an object is expected here");
	refused("{}", "f:1:1: \"stats\" is missing: \"gpuctl stats -j\" writes it");
	refused("{\"stats\":7}", "f:1:10: \"stats\" must be a list");
	refused("{\"stats\":[\n 7]}", "f:2:2: an object is expected here");
	refused("{\"stats\":[\n{\"operation\":\"attach\",\"phase\":\"total\",\"count\":-1}]}",
		"f:2:47: -1 is outside 0 to 9e+15");
	refused("{\"stats\":[\n{\"operation\":\"attach\",\"count\":1,\"microseconds\":1}]}",
		"f:2:1: operation, phase, count and microseconds are needed");
	refused("{\"stats\":[{\"operation\":\"attach\",\"phase\":\"total\",\"count\":1,\"microseconds\":9e14}]}",
		"f:1:11: 9e+08 seconds for one operation is not possible");
}

int main(void)
{
	test_good();
	test_bad();
	return tap_done();
}
