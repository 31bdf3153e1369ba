// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl plan step: the moves that are worth making now. */
#include "base/text.h"
#include "cli/given.h"
#include "cmd/cmd.h"
#include "cmd/plan_input.h"
#include "plan/apply.h"
#include "plan/boundary.h"

static const struct ctl_option options[] = {
	{ "minute", 0, "N",
	  "the current minute, in the count of the series (default: minutes since 1970)" },
	{ NULL },
};

/*
 * A step remembers nothing, so the wait begins with the last boundary: who has announced none for so
 * long is waited for no more.
 */
static void set_patience(struct plan_ahead *ahead, void *arg)
{
	const struct plan_input *input = arg;
	uint64_t now = text_now() * 1000, age;
	size_t i;

	for (i = 0; i < ahead->n_sets; i++) {
		uint64_t last = boundary_last(ahead->sets[i].name);

		age = now > last ? now - last : 0;
		if (!last || age < BOUNDARY_FRESH_US)
			continue;
		age /= BOUNDARY_FRESH_US;
		if (age < input->boundary_wait)
			ahead->sets[i].patience = (uint32_t)(input->boundary_wait - age);
	}
}

static int plan_step_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct plan_input input = { .minute = text_now() / 60000 };
	const char *minute = ctl_opt(ctx, "minute");
	struct session session;
	struct move_list list;
	double seconds;
	int ret;

	ret = ctl_operands(ctx, argc, 1, -1);
	if (!ret)
		ret = plan_input_options_read(ctx, &input);
	if (!ret && minute && !text_number(minute, SERIES_MINUTE_MAX, &input.minute))
		ret = ctl_fail(ctx, CTL_USAGE, "--minute %s: a number up to %d", minute,
			       SERIES_MINUTE_MAX);
	input.aged = set_patience;
	input.arg = &input;
	if (!ret && input.module)
		ret = session_open(ctx, &session, SESSION_LOOK);
	if (ret)
		return ret;
	ret = plan_input_step(ctx, input.module ? &session : NULL, &input, argc, argv, &list,
			      &seconds);
	if (!ret) {
		apply_render(ctx, &list, NULL);
		move_list_free(&list);
	}
	if (input.module)
		session_close(&session);
	return ret;
}

const struct ctl_command cmd_plan_step = {
	.name = "plan step",
	.args = "DEMAND [SERIES...]",
	.summary = "the moves that are worth making now, in their order, and why",
	.help = "DEMAND says who needs GPUs, as in gpuctl-plan(5). SERIES are files with the demand so\n"
		"far, minute by minute, each named after its workload, or folders of such files.\n"
		"Inventory and current owners come from the module. The whole horizon is planned, but\n"
		"only the moves of the first interval are printed, and only if they save more than\n"
		"--margin over waiting one interval. GPUs that a process holds stay where they are, unless\n"
		"programs in resize.d can tell the workloads to let go: see gpuctl-hooks(5). A workload that\n"
		"announces boundaries (gpuctl notify) is moved at a boundary, or when --boundary-wait has\n"
		"passed since its last boundary. Workloads that are not moved are printed with the reason. The\n"
		"command only observes. gpuctl plan apply reads the output of -j.",
	.options = { options, plan_input_options, plan_host_options },
	.flags = CTL_NO_DRY_RUN,
	.run = plan_step_run,
};
