// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the table of commands
 *
 * A new command is one file in cmd/, its name in cmd/cmd.h and one row here. Dispatch, help, the
 * manual's options and the shell completion are all derived from the rows,
 * so none of them can drift.
 */
#include "cmd/cmd.h"

const struct ctl_command *const ctl_commands[] = {
	&cmd_list,	 &cmd_show,	&cmd_topo,   &cmd_top,	    &cmd_watch,	  &cmd_history,
	&cmd_stats,	 &cmd_scan,	&cmd_attach, &cmd_detach,   &cmd_clear,	  &cmd_locate,
	&cmd_fabric,	 &cmd_compose,	&cmd_resize, &cmd_annotate, &cmd_release, &cmd_run,
	&cmd_save,	 &cmd_restore,	&cmd_size,   &cmd_models,   &cmd_gpus,	  &cmd_tenants,
	&cmd_plan,	 &cmd_doctor,	&cmd_slurm,  &cmd_version,  &cmd_help,	  &cmd_reap,
	&cmd_metrics,	 &cmd_features, &cmd_env,    &cmd_cdi,	    &cmd_nodes,	  &cmd_udev,
	&cmd_completion, &cmd_man,	NULL,
};
