/* SPDX-License-Identifier: GPL-2.0-only */
/* The commands, one a file; the table in commands.c puts them in order. */
#ifndef GPUCTL_CMD_H
#define GPUCTL_CMD_H

#include "cli/ctl.h"

/* All commands, in the order of help; ends with NULL. */
extern const struct ctl_command *const ctl_commands[];

extern const struct ctl_command cmd_annotate;
extern const struct ctl_command cmd_attach;
extern const struct ctl_command cmd_cdi;
extern const struct ctl_command cmd_clear;
extern const struct ctl_command cmd_completion;
extern const struct ctl_command cmd_compose;
extern const struct ctl_command cmd_detach;
extern const struct ctl_command cmd_doctor;
extern const struct ctl_command cmd_fabric;
extern const struct ctl_command cmd_fabric_bind;
extern const struct ctl_command cmd_fabric_evict;
extern const struct ctl_command cmd_fabric_lease;
extern const struct ctl_command cmd_fabric_list;
extern const struct ctl_command cmd_fabric_unbind;
extern const struct ctl_command cmd_features;
extern const struct ctl_command cmd_gpus;
extern const struct ctl_command cmd_help;
extern const struct ctl_command cmd_history;
extern const struct ctl_command cmd_list;
extern const struct ctl_command cmd_locate;
extern const struct ctl_command cmd_man;
extern const struct ctl_command cmd_metrics;
extern const struct ctl_command cmd_models;
extern const struct ctl_command cmd_nodes;
extern const struct ctl_command cmd_plan;
extern const struct ctl_command cmd_plan_apply;
extern const struct ctl_command cmd_plan_energy;
extern const struct ctl_command cmd_plan_replay;
extern const struct ctl_command cmd_plan_run;
extern const struct ctl_command cmd_plan_solve;
extern const struct ctl_command cmd_plan_step;
extern const struct ctl_command cmd_reap;
extern const struct ctl_command cmd_release;
extern const struct ctl_command cmd_resize;
extern const struct ctl_command cmd_restore;
extern const struct ctl_command cmd_run;
extern const struct ctl_command cmd_save;
extern const struct ctl_command cmd_scan;
extern const struct ctl_command cmd_show;
extern const struct ctl_command cmd_size;
extern const struct ctl_command cmd_size_check;
extern const struct ctl_command cmd_size_compare;
extern const struct ctl_command cmd_size_estimate;
extern const struct ctl_command cmd_size_learn;
extern const struct ctl_command cmd_size_machines;
extern const struct ctl_command cmd_size_table;
extern const struct ctl_command cmd_stats;
extern const struct ctl_command cmd_tenants;
extern const struct ctl_command cmd_top;
extern const struct ctl_command cmd_topo;
extern const struct ctl_command cmd_udev;
extern const struct ctl_command cmd_version;
extern const struct ctl_command cmd_watch;
extern const struct ctl_command cmd_watch_changes;
extern const struct ctl_command cmd_watch_daemon;
extern const struct ctl_command cmd_watch_until;

#endif /* GPUCTL_CMD_H */
