// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl slurm: what Slurm has to be told of a fabric. */
#include "cmd/cmd.h"

static const struct ctl_command *const verbs[] = {
	&cmd_slurm_config,
	&cmd_slurm_check,
	&cmd_slurm_resize,
	NULL,
};

const struct ctl_command cmd_slurm = {
	.name = "slurm",
	.group = CTL_HOST,
	.args = "VERB",
	.summary = "configuration of Slurm for jobs that get GPUs of the fabric",
	.help = "To Slurm the slots of a host are its gres gpu:KIND, which never change, and the GPUs of the whole pool\n"
		"are licences gf_KIND. A job takes both. Its Prolog composes and its Epilog releases, so the queue, fair\n"
		"share and accounting stay Slurm's own.",
	.verbs = verbs,
};
