// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl help: what the table of commands says. */
#include "cli/commands.h"
#include "cli/out.h"
#include "cmd/cmd.h"

static int help_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	const struct ctl_command *command;
	int ret;

	ret = ctl_operands(ctx, argc, 0, 2);
	if (ret)
		return ret;
	out_set_json(ctx->out, false);
	if (!argc) {
		ctl_help(ctx->out, ctl_commands);
		return CTL_DONE;
	}
	command = ctl_command_find(ctl_commands, argv[0]);
	if (!command)
		return ctl_fail(ctx, CTL_USAGE, "no command %s: see gpuctl help", argv[0]);
	if (argc > 1) {
		const struct ctl_command *verb = ctl_verb_find(command, argv[1]);

		if (!verb && command->verbs)
			return ctl_unknown(ctx, command, argv[1]);
		if (!verb)
			return ctl_fail(ctx, CTL_USAGE, "%s has no verbs: see gpuctl help %s",
					argv[0], argv[0]);
		command = verb;
	}
	ctl_help_command(ctx->out, command);
	return CTL_DONE;
}

const struct ctl_command cmd_help = {
	.name = "help",
	.group = CTL_HOST,
	.args = "[COMMAND [VERB]]",
	.summary = "help for a command",
	.flags = CTL_NO_DRY_RUN,
	.run = help_run,
};
