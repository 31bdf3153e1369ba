// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl fabric: fabric managers, and which host has which GPU. */
#include "cmd/cmd.h"

static const struct ctl_command *const verbs[] = {
	&cmd_fabric_list,  &cmd_fabric_bind,  &cmd_fabric_unbind,
	&cmd_fabric_evict, &cmd_fabric_lease, NULL,
};

const struct ctl_command cmd_fabric = {
	.name = "fabric",
	.group = CTL_GPUS,
	.args = "[VERB]",
	.summary = "list, bind and unbind the GPUs of fabric managers",
	.help = "A fabric manager binds a GPU to a port of a host; only then the host sees it. Managers are files in\n"
		"fabric.d of the configuration: see gpuctl-fabric(5). Without a verb the command is fabric list.\n"
		"attach of an empty slot binds a GPU as well, and detach and release give it back.",
	.flags = CTL_FIRST_VERB,
	.verbs = verbs,
};
