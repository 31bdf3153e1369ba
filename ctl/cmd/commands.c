// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the table of commands
 *
 * A new command is one file in cmd/ and one line in cmd/table.h. Dispatch, help, the manual's
 * options and the shell completion are all derived from the rows, so none of them can drift.
 */
#include "cmd/cmd.h"

const struct ctl_command *const ctl_commands[] = {
#define COMMAND(name) (&cmd_##name)
#include "cmd/table.h"
#undef COMMAND
	,
	NULL,
};
