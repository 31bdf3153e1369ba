/* SPDX-License-Identifier: GPL-2.0-only */
/* Do not edit: generated from uapi/netlink/specs/gpufabric.yaml by uapi/gen-tool.py. */
#ifndef GPUCTL_NETLINK_GEN_H
#define GPUCTL_NETLINK_GEN_H

#include <netlink/attr.h>

#include "linux/gpufabric.h"

/* Name of a value of an enum, or of a bit number of a flags type; NULL when unknown. */
const char *gfnl_slot_state_name(unsigned int value);
const char *gfnl_cause_name(unsigned int value);
const char *gfnl_operation_kind_name(unsigned int value);
const char *gfnl_phase_name(unsigned int value);
const char *gfnl_backend_name(unsigned int value);
const char *gfnl_identity_source_name(unsigned int value);
const char *gfnl_composition_state_name(unsigned int value);
const char *gfnl_event_kind_name(unsigned int value);
const char *gfnl_slot_flag_name(unsigned int value);
const char *gfnl_slot_cap_name(unsigned int value);
const char *gfnl_bar_flag_name(unsigned int value);
const char *gfnl_composition_flag_name(unsigned int value);
const char *gfnl_request_flag_name(unsigned int value);

/* Name of a command; NULL when unknown. */
const char *gfnl_command_name(unsigned int command);

/* Policies for nla_parse(), one array a set of attributes, index 0 to its _MAX. */
extern const struct nla_policy gfnl_link_policy[GPUFABRIC_A_LINK_MAX + 1];
extern const struct nla_policy gfnl_bar_policy[GPUFABRIC_A_BAR_MAX + 1];
extern const struct nla_policy gfnl_function_policy[GPUFABRIC_A_FUNCTION_MAX + 1];
extern const struct nla_policy gfnl_window_policy[GPUFABRIC_A_WINDOW_MAX + 1];
extern const struct nla_policy gfnl_duration_policy[GPUFABRIC_A_DURATION_MAX + 1];
extern const struct nla_policy gfnl_operation_policy[GPUFABRIC_A_OPERATION_MAX + 1];
extern const struct nla_policy gfnl_slot_policy[GPUFABRIC_A_SLOT_MAX + 1];
extern const struct nla_policy gfnl_switch_policy[GPUFABRIC_A_SWITCH_MAX + 1];
extern const struct nla_policy gfnl_member_policy[GPUFABRIC_A_MEMBER_MAX + 1];
extern const struct nla_policy gfnl_composition_policy[GPUFABRIC_A_COMPOSITION_MAX + 1];
extern const struct nla_policy gfnl_history_policy[GPUFABRIC_A_HISTORY_MAX + 1];
extern const struct nla_policy gfnl_bucket_policy[GPUFABRIC_A_BUCKET_MAX + 1];
extern const struct nla_policy gfnl_stats_policy[GPUFABRIC_A_STATS_MAX + 1];
extern const struct nla_policy gfnl_status_policy[GPUFABRIC_A_STATUS_MAX + 1];
extern const struct nla_policy gfnl_message_policy[GPUFABRIC_A_MAX + 1];

/* Name of an attribute at the top of a message, for error texts; NULL when unknown. */
const char *gfnl_attr_name(unsigned int attr);

#endif /* GPUCTL_NETLINK_GEN_H */
