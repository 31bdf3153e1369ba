// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl watch: a snapshot, and then every change without a gap. */
#include "cmd/cmd.h"

static const struct ctl_command *const verbs[] = {
	&cmd_watch_changes,
	&cmd_watch_until,
	&cmd_watch_daemon,
	NULL,
};

const struct ctl_command cmd_watch = {
	.name = "watch",
	.group = CTL_LOOK,
	.args = "[VERB]",
	.summary = "a snapshot, then every change",
	.help = "Without a verb the command is watch changes. --slot, --composition and --kind select slots, compositions\n"
		"and kinds of changes.\n"
		"With -j, each line is one JSON object. \"event\" is \"exists\" for objects of the snapshot, then\n"
		"\"snapshot-done\", then the kind of each change with its sequence number. If a slow reader loses changes,\n"
		"\"overrun\" and a new snapshot follow. Sequence numbers belong to an instance, which is one load of the\n"
		"module, and start again with the next. When the module is unloaded, a watch ends with exit code 6.",
	.flags = CTL_FIRST_VERB,
	.verbs = verbs,
};
