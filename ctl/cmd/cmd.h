/* SPDX-License-Identifier: GPL-2.0-only */
/* The commands of table.h, and verbs of commands. */
#ifndef GPUCTL_CMD_H
#define GPUCTL_CMD_H

#include "cli/ctl.h"

/* All commands, in the order of help; ends with NULL. */
extern const struct ctl_command *const ctl_commands[];

#define COMMAND(name) cmd_##name
extern const struct ctl_command
#include "cmd/table.h"
	;
#undef COMMAND

extern const struct ctl_command cmd_fabric_bind;
extern const struct ctl_command cmd_fabric_evict;
extern const struct ctl_command cmd_fabric_lease;
extern const struct ctl_command cmd_fabric_list;
extern const struct ctl_command cmd_fabric_unbind;
extern const struct ctl_command cmd_kubernetes_claim;
extern const struct ctl_command cmd_kubernetes_install;
extern const struct ctl_command cmd_plan_apply;
extern const struct ctl_command cmd_plan_energy;
extern const struct ctl_command cmd_plan_replay;
extern const struct ctl_command cmd_plan_run;
extern const struct ctl_command cmd_plan_solve;
extern const struct ctl_command cmd_plan_step;
extern const struct ctl_command cmd_size_check;
extern const struct ctl_command cmd_size_compare;
extern const struct ctl_command cmd_size_estimate;
extern const struct ctl_command cmd_size_learn;
extern const struct ctl_command cmd_size_machines;
extern const struct ctl_command cmd_size_table;
extern const struct ctl_command cmd_slurm_check;
extern const struct ctl_command cmd_slurm_resize;
extern const struct ctl_command cmd_slurm_config;
extern const struct ctl_command cmd_watch_changes;
extern const struct ctl_command cmd_watch_daemon;
extern const struct ctl_command cmd_watch_until;

#endif /* GPUCTL_CMD_H */
