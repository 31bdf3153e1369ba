// SPDX-License-Identifier: GPL-2.0-only
/*
 * gpuctl plan: the verbs. A new one is a file cmd/plan_VERB.c with a row whose name is
 * "plan VERB", its name in cmd/cmd.h and a line here.
 */
#include "cmd/cmd.h"

static const struct ctl_command *const verbs[] = {
	&cmd_plan_solve,  &cmd_plan_step, &cmd_plan_apply, &cmd_plan_run, &cmd_plan_replay,
	&cmd_plan_energy, NULL,
};

const struct ctl_command cmd_plan = {
	.name = "plan",
	.group = CTL_SIZING,
	.args = "VERB",
	.summary = "plan which workload gets which GPUs when, and apply plans",
	.help = "A plan says which workload has which GPUs in each interval of the time ahead. It comes with its cost\n"
		"and with a bound: no plan costs less. Instances are files, see gpuctl-plan(5).",
	.verbs = verbs,
};
