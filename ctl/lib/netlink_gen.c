// SPDX-License-Identifier: GPL-2.0-only
/* Do not edit: generated from uapi/netlink/specs/gpufabric.yaml by uapi/gen-tool.py. */
#include <stddef.h>

#include "netlink_gen.h"

static const char *const slot_state_names[] = {
	"empty",
	"off",
	"attaching",
	"attached",
	"ready",
	"draining",
	"detaching",
	"fault",
	"stuck",
	"lost",
};

const char *gfnl_slot_state_name(unsigned int value)
{
	if (value >= sizeof(slot_state_names) / sizeof(slot_state_names[0]))
		return NULL;
	return slot_state_names[value];
}

static const char *const cause_names[] = {
	"none",
	"power",
	"link",
	"presence",
	"enumerate",
	"resources",
	"identity",
	"driver",
	"timeout",
	"surprise",
	"internal",
	"reset",
	"error",
};

const char *gfnl_cause_name(unsigned int value)
{
	if (value >= sizeof(cause_names) / sizeof(cause_names[0]))
		return NULL;
	return cause_names[value];
}

static const char *const operation_kind_names[] = {
	"none",
	"attach",
	"detach",
	"compose",
	"resize",
	"release",
	"drain",
	"drain-abort",
	"clear",
};

const char *gfnl_operation_kind_name(unsigned int value)
{
	if (value >= sizeof(operation_kind_names) / sizeof(operation_kind_names[0]))
		return NULL;
	return operation_kind_names[value];
}

static const char *const phase_names[] = {
	"drain",
	"power",
	"link",
	"enumerate",
	"driver",
	"resources",
	"remove",
	"power-off",
	"total",
};

const char *gfnl_phase_name(unsigned int value)
{
	if (value >= sizeof(phase_names) / sizeof(phase_names[0]))
		return NULL;
	return phase_names[value];
}

static const char *const backend_names[] = {
	"slot",
	"rescan",
};

const char *gfnl_backend_name(unsigned int value)
{
	if (value >= sizeof(backend_names) / sizeof(backend_names[0]))
		return NULL;
	return backend_names[value];
}

static const char *const identity_source_names[] = {
	"unknown",
	"live",
	"last-seen",
	"declared",
};

const char *gfnl_identity_source_name(unsigned int value)
{
	if (value >= sizeof(identity_source_names) / sizeof(identity_source_names[0]))
		return NULL;
	return identity_source_names[value];
}

static const char *const composition_state_names[] = {
	"composing",
	"active",
	"degraded",
	"resizing",
	"releasing",
	"failed",
	"released",
};

const char *gfnl_composition_state_name(unsigned int value)
{
	if (value >= sizeof(composition_state_names) / sizeof(composition_state_names[0]))
		return NULL;
	return composition_state_names[value];
}

static const char *const event_kind_names[] = {
	"slot-added",
	"slot-changed",
	"slot-removed",
	"switch-added",
	"switch-changed",
	"switch-removed",
	"composition-added",
	"composition-changed",
	"composition-removed",
	"operation-started",
	"operation-done",
	"drain",
};

const char *gfnl_event_kind_name(unsigned int value)
{
	if (value >= sizeof(event_kind_names) / sizeof(event_kind_names[0]))
		return NULL;
	return event_kind_names[value];
}

static const char *const slot_flag_names[] = {
	"quarantined",
	"link-degraded",
	"foreign",
	"no-driver",
	"unmanaged",
	"chassis",
};

const char *gfnl_slot_flag_name(unsigned int value)
{
	if (value >= sizeof(slot_flag_names) / sizeof(slot_flag_names[0]))
		return NULL;
	return slot_flag_names[value];
}

static const char *const slot_cap_names[] = {
	"attention-button",
	"power-controller",
	"mrl-sensor",
	"attention-indicator",
	"power-indicator",
	"surprise",
	"interlock",
	"no-command-completed",
};

const char *gfnl_slot_cap_name(unsigned int value)
{
	if (value >= sizeof(slot_cap_names) / sizeof(slot_cap_names[0]))
		return NULL;
	return slot_cap_names[value];
}

static const char *const bar_flag_names[] = {
	"assigned",
	"wide",
	"prefetchable",
	"io",
	"resizable",
	"optional",
	"virtual",
	"bridge",
};

const char *gfnl_bar_flag_name(unsigned int value)
{
	if (value >= sizeof(bar_flag_names) / sizeof(bar_flag_names[0]))
		return NULL;
	return bar_flag_names[value];
}

static const char *const composition_flag_names[] = {
	"bound",
	"orphaned",
};

const char *gfnl_composition_flag_name(unsigned int value)
{
	if (value >= sizeof(composition_flag_names) / sizeof(composition_flag_names[0]))
		return NULL;
	return composition_flag_names[value];
}

static const char *const request_flag_names[] = {
	"bind",
	"force",
	"keep",
	"check",
};

const char *gfnl_request_flag_name(unsigned int value)
{
	if (value >= sizeof(request_flag_names) / sizeof(request_flag_names[0]))
		return NULL;
	return request_flag_names[value];
}

static const char *const command_names[] = {
	[GPUFABRIC_CMD_STATUS_GET] = "status-get",
	[GPUFABRIC_CMD_SWITCH_GET] = "switch-get",
	[GPUFABRIC_CMD_SLOT_GET] = "slot-get",
	[GPUFABRIC_CMD_COMPOSITION_GET] = "composition-get",
	[GPUFABRIC_CMD_DRAIN] = "drain",
	[GPUFABRIC_CMD_DRAIN_ABORT] = "drain-abort",
	[GPUFABRIC_CMD_ATTACH] = "attach",
	[GPUFABRIC_CMD_DETACH] = "detach",
	[GPUFABRIC_CMD_CLEAR] = "clear",
	[GPUFABRIC_CMD_COMPOSE] = "compose",
	[GPUFABRIC_CMD_RESIZE] = "resize",
	[GPUFABRIC_CMD_RELEASE] = "release",
	[GPUFABRIC_CMD_HISTORY_GET] = "history-get",
	[GPUFABRIC_CMD_STATS_GET] = "stats-get",
	[GPUFABRIC_CMD_EVENT] = "event",
};

const char *gfnl_command_name(unsigned int command)
{
	if (command >= sizeof(command_names) / sizeof(command_names[0]))
		return NULL;
	return command_names[command];
}

const struct nla_policy gfnl_link_policy[GPUFABRIC_A_LINK_MAX + 1] = {
	[GPUFABRIC_A_LINK_SPEED] = { .type = NLA_U32 },
	[GPUFABRIC_A_LINK_WIDTH] = { .type = NLA_U32 },
	[GPUFABRIC_A_LINK_PORT_SPEED] = { .type = NLA_U32 },
	[GPUFABRIC_A_LINK_PORT_WIDTH] = { .type = NLA_U32 },
	[GPUFABRIC_A_LINK_DEVICE_SPEED] = { .type = NLA_U32 },
	[GPUFABRIC_A_LINK_DEVICE_WIDTH] = { .type = NLA_U32 },
};

const struct nla_policy gfnl_bar_policy[GPUFABRIC_A_BAR_MAX + 1] = {
	[GPUFABRIC_A_BAR_INDEX] = { .type = NLA_U32 },
	[GPUFABRIC_A_BAR_SIZE] = { .type = NLA_U64 },
	[GPUFABRIC_A_BAR_FLAGS] = { .type = NLA_U32 },
	[GPUFABRIC_A_BAR_ADDRESS] = { .type = NLA_U64 },
	[GPUFABRIC_A_BAR_ALIGN] = { .type = NLA_U64 },
	[GPUFABRIC_A_BAR_SIZES] = { .type = NLA_U32 },
	[GPUFABRIC_A_BAR_DEPTH] = { .type = NLA_U32 },
};

const struct nla_policy gfnl_function_policy[GPUFABRIC_A_FUNCTION_MAX + 1] = {
	[GPUFABRIC_A_FUNCTION_ADDRESS] = { .type = NLA_STRING },
	[GPUFABRIC_A_FUNCTION_VENDOR] = { .type = NLA_U32 },
	[GPUFABRIC_A_FUNCTION_DEVICE] = { .type = NLA_U32 },
	[GPUFABRIC_A_FUNCTION_SUBSYSTEM_VENDOR] = { .type = NLA_U32 },
	[GPUFABRIC_A_FUNCTION_SUBSYSTEM_DEVICE] = { .type = NLA_U32 },
	[GPUFABRIC_A_FUNCTION_CLASS] = { .type = NLA_U32 },
	[GPUFABRIC_A_FUNCTION_REVISION] = { .type = NLA_U32 },
	[GPUFABRIC_A_FUNCTION_DRIVER] = { .type = NLA_STRING },
	[GPUFABRIC_A_FUNCTION_BAR] = { .type = NLA_NESTED },
	[GPUFABRIC_A_FUNCTION_IOMMU_GROUP] = { .type = NLA_U32 },
};

const struct nla_policy gfnl_window_policy[GPUFABRIC_A_WINDOW_MAX + 1] = {
	[GPUFABRIC_A_WINDOW_FLAGS] = { .type = NLA_U32 },
	[GPUFABRIC_A_WINDOW_SIZE] = { .type = NLA_U64 },
	[GPUFABRIC_A_WINDOW_FREE] = { .type = NLA_U64 },
};

const struct nla_policy gfnl_duration_policy[GPUFABRIC_A_DURATION_MAX + 1] = {
	[GPUFABRIC_A_DURATION_PHASE] = { .type = NLA_U32 },
	[GPUFABRIC_A_DURATION_MICROSECONDS] = { .type = NLA_U64 },
};

const struct nla_policy gfnl_operation_policy[GPUFABRIC_A_OPERATION_MAX + 1] = {
	[GPUFABRIC_A_OPERATION_ID] = { .type = NLA_U64 },
	[GPUFABRIC_A_OPERATION_KIND] = { .type = NLA_U32 },
	[GPUFABRIC_A_OPERATION_STARTED] = { .type = NLA_U64 },
	[GPUFABRIC_A_OPERATION_DEADLINE] = { .type = NLA_U64 },
	[GPUFABRIC_A_OPERATION_ERROR] = { .type = NLA_S32 },
	[GPUFABRIC_A_OPERATION_TEXT] = { .type = NLA_STRING },
	[GPUFABRIC_A_OPERATION_DURATION] = { .type = NLA_NESTED },
	[GPUFABRIC_A_OPERATION_FUNCTION] = { .type = NLA_STRING },
	[GPUFABRIC_A_OPERATION_DRIVER] = { .type = NLA_STRING },
	[GPUFABRIC_A_OPERATION_UID] = { .type = NLA_U32 },
	[GPUFABRIC_A_OPERATION_PID] = { .type = NLA_U32 },
	[GPUFABRIC_A_OPERATION_COMMAND] = { .type = NLA_STRING },
	[GPUFABRIC_A_OPERATION_REASON] = { .type = NLA_STRING },
	[GPUFABRIC_A_OPERATION_COMPOSITION] = { .type = NLA_STRING },
	[GPUFABRIC_A_OPERATION_SLOTS] = { .type = NLA_U32 },
};

const struct nla_policy gfnl_slot_policy[GPUFABRIC_A_SLOT_MAX + 1] = {
	[GPUFABRIC_A_SLOT_ID] = { .type = NLA_U32 },
	[GPUFABRIC_A_SLOT_NAME] = { .type = NLA_STRING },
	[GPUFABRIC_A_SLOT_SWITCH_ID] = { .type = NLA_U32 },
	[GPUFABRIC_A_SLOT_ADDRESS] = { .type = NLA_STRING },
	[GPUFABRIC_A_SLOT_GENERATION] = { .type = NLA_U32 },
	[GPUFABRIC_A_SLOT_STATE] = { .type = NLA_U32 },
	[GPUFABRIC_A_SLOT_SINCE] = { .type = NLA_U64 },
	[GPUFABRIC_A_SLOT_CAUSE] = { .type = NLA_U32 },
	[GPUFABRIC_A_SLOT_TEXT] = { .type = NLA_STRING },
	[GPUFABRIC_A_SLOT_FLAGS] = { .type = NLA_U32 },
	[GPUFABRIC_A_SLOT_CAPS] = { .type = NLA_U32 },
	[GPUFABRIC_A_SLOT_BACKEND] = { .type = NLA_U32 },
	[GPUFABRIC_A_SLOT_SLOT_DRIVER] = { .type = NLA_STRING },
	[GPUFABRIC_A_SLOT_NUMA_NODE] = { .type = NLA_S32 },
	[GPUFABRIC_A_SLOT_PRESENCE] = { .type = NLA_U8 },
	[GPUFABRIC_A_SLOT_POWER] = { .type = NLA_U8 },
	[GPUFABRIC_A_SLOT_LINK] = { .type = NLA_NESTED },
	[GPUFABRIC_A_SLOT_IDENTITY] = { .type = NLA_U32 },
	[GPUFABRIC_A_SLOT_IDENTITY_TIME] = { .type = NLA_U64 },
	[GPUFABRIC_A_SLOT_VENDOR] = { .type = NLA_U32 },
	[GPUFABRIC_A_SLOT_DEVICE] = { .type = NLA_U32 },
	[GPUFABRIC_A_SLOT_SUBSYSTEM_VENDOR] = { .type = NLA_U32 },
	[GPUFABRIC_A_SLOT_SUBSYSTEM_DEVICE] = { .type = NLA_U32 },
	[GPUFABRIC_A_SLOT_CLASS] = { .type = NLA_U32 },
	[GPUFABRIC_A_SLOT_SERIAL] = { .type = NLA_U64 },
	[GPUFABRIC_A_SLOT_FUNCTION] = { .type = NLA_NESTED },
	[GPUFABRIC_A_SLOT_WINDOW] = { .type = NLA_NESTED },
	[GPUFABRIC_A_SLOT_BUS_FIRST] = { .type = NLA_U32 },
	[GPUFABRIC_A_SLOT_BUS_LAST] = { .type = NLA_U32 },
	[GPUFABRIC_A_SLOT_COMPOSITION] = { .type = NLA_STRING },
	[GPUFABRIC_A_SLOT_COMPOSITION_ID] = { .type = NLA_U32 },
	[GPUFABRIC_A_SLOT_OPERATION] = { .type = NLA_NESTED },
	[GPUFABRIC_A_SLOT_LAST_OPERATION] = { .type = NLA_NESTED },
	[GPUFABRIC_A_SLOT_ATTACHES] = { .type = NLA_U32 },
	[GPUFABRIC_A_SLOT_DETACHES] = { .type = NLA_U32 },
	[GPUFABRIC_A_SLOT_FAULTS] = { .type = NLA_U32 },
	[GPUFABRIC_A_SLOT_FLAPS] = { .type = NLA_U32 },
	[GPUFABRIC_A_SLOT_DEGRADATIONS] = { .type = NLA_U32 },
	[GPUFABRIC_A_SLOT_DRAIN_DEADLINE] = { .type = NLA_U64 },
	[GPUFABRIC_A_SLOT_GPUS] = { .type = NLA_U32 },
	[GPUFABRIC_A_SLOT_NEED] = { .type = NLA_NESTED },
};

const struct nla_policy gfnl_switch_policy[GPUFABRIC_A_SWITCH_MAX + 1] = {
	[GPUFABRIC_A_SWITCH_ID] = { .type = NLA_U32 },
	[GPUFABRIC_A_SWITCH_ADDRESS] = { .type = NLA_STRING },
	[GPUFABRIC_A_SWITCH_NUMA_NODE] = { .type = NLA_S32 },
	[GPUFABRIC_A_SWITCH_VENDOR] = { .type = NLA_U32 },
	[GPUFABRIC_A_SWITCH_DEVICE] = { .type = NLA_U32 },
	[GPUFABRIC_A_SWITCH_SLOTS] = { .type = NLA_U32 },
	[GPUFABRIC_A_SWITCH_LINK] = { .type = NLA_NESTED },
};

const struct nla_policy gfnl_member_policy[GPUFABRIC_A_MEMBER_MAX + 1] = {
	[GPUFABRIC_A_MEMBER_SLOT_ID] = { .type = NLA_U32 },
	[GPUFABRIC_A_MEMBER_SLOT_NAME] = { .type = NLA_STRING },
	[GPUFABRIC_A_MEMBER_GENERATION] = { .type = NLA_U32 },
	[GPUFABRIC_A_MEMBER_EXPECT_VENDOR] = { .type = NLA_U32 },
	[GPUFABRIC_A_MEMBER_EXPECT_DEVICE] = { .type = NLA_U32 },
	[GPUFABRIC_A_MEMBER_EXPECT_SUBSYSTEM_VENDOR] = { .type = NLA_U32 },
	[GPUFABRIC_A_MEMBER_EXPECT_SUBSYSTEM_DEVICE] = { .type = NLA_U32 },
	[GPUFABRIC_A_MEMBER_STATE] = { .type = NLA_U32 },
	[GPUFABRIC_A_MEMBER_ORDER] = { .type = NLA_U32 },
};

const struct nla_policy gfnl_composition_policy[GPUFABRIC_A_COMPOSITION_MAX + 1] = {
	[GPUFABRIC_A_COMPOSITION_ID] = { .type = NLA_U32 },
	[GPUFABRIC_A_COMPOSITION_NAME] = { .type = NLA_STRING },
	[GPUFABRIC_A_COMPOSITION_TENANT] = { .type = NLA_STRING },
	[GPUFABRIC_A_COMPOSITION_LABEL] = { .type = NLA_STRING },
	[GPUFABRIC_A_COMPOSITION_JOB] = { .type = NLA_STRING },
	[GPUFABRIC_A_COMPOSITION_OWNER] = { .type = NLA_U32 },
	[GPUFABRIC_A_COMPOSITION_STATE] = { .type = NLA_U32 },
	[GPUFABRIC_A_COMPOSITION_FLAGS] = { .type = NLA_U32 },
	[GPUFABRIC_A_COMPOSITION_MEMBER] = { .type = NLA_NESTED },
	[GPUFABRIC_A_COMPOSITION_CREATED] = { .type = NLA_U64 },
	[GPUFABRIC_A_COMPOSITION_LEASE] = { .type = NLA_U64 },
	[GPUFABRIC_A_COMPOSITION_OPERATION] = { .type = NLA_NESTED },
};

const struct nla_policy gfnl_history_policy[GPUFABRIC_A_HISTORY_MAX + 1] = {
	[GPUFABRIC_A_HISTORY_SLOT_ID] = { .type = NLA_U32 },
	[GPUFABRIC_A_HISTORY_SLOT_NAME] = { .type = NLA_STRING },
	[GPUFABRIC_A_HISTORY_SEQUENCE] = { .type = NLA_U64 },
	[GPUFABRIC_A_HISTORY_TIME] = { .type = NLA_U64 },
	[GPUFABRIC_A_HISTORY_STATE] = { .type = NLA_U32 },
	[GPUFABRIC_A_HISTORY_CAUSE] = { .type = NLA_U32 },
	[GPUFABRIC_A_HISTORY_OPERATION] = { .type = NLA_NESTED },
};

const struct nla_policy gfnl_bucket_policy[GPUFABRIC_A_BUCKET_MAX + 1] = {
	[GPUFABRIC_A_BUCKET_BELOW] = { .type = NLA_U64 },
	[GPUFABRIC_A_BUCKET_COUNT] = { .type = NLA_U64 },
};

const struct nla_policy gfnl_stats_policy[GPUFABRIC_A_STATS_MAX + 1] = {
	[GPUFABRIC_A_STATS_KIND] = { .type = NLA_U32 },
	[GPUFABRIC_A_STATS_PHASE] = { .type = NLA_U32 },
	[GPUFABRIC_A_STATS_COUNT] = { .type = NLA_U64 },
	[GPUFABRIC_A_STATS_MICROSECONDS] = { .type = NLA_U64 },
	[GPUFABRIC_A_STATS_BUCKET] = { .type = NLA_NESTED },
};

const struct nla_policy gfnl_status_policy[GPUFABRIC_A_STATUS_MAX + 1] = {
	[GPUFABRIC_A_STATUS_VERSION] = { .type = NLA_STRING },
	[GPUFABRIC_A_STATUS_SWITCHES] = { .type = NLA_U32 },
	[GPUFABRIC_A_STATUS_SLOTS] = { .type = NLA_U32 },
	[GPUFABRIC_A_STATUS_COMPOSITIONS] = { .type = NLA_U32 },
	[GPUFABRIC_A_STATUS_OPERATIONS] = { .type = NLA_U32 },
	[GPUFABRIC_A_STATUS_HISTORY] = { .type = NLA_U32 },
	[GPUFABRIC_A_STATUS_CHANGES] = { .type = NLA_U64 },
};

const struct nla_policy gfnl_message_policy[GPUFABRIC_A_MAX + 1] = {
	[GPUFABRIC_A_ID] = { .type = NLA_U32 },
	[GPUFABRIC_A_NAME] = { .type = NLA_STRING },
	[GPUFABRIC_A_SEQUENCE] = { .type = NLA_U64 },
	[GPUFABRIC_A_TIME] = { .type = NLA_U64 },
	[GPUFABRIC_A_EVENT] = { .type = NLA_U32 },
	[GPUFABRIC_A_PREVIOUS] = { .type = NLA_U32 },
	[GPUFABRIC_A_SWITCH] = { .type = NLA_NESTED },
	[GPUFABRIC_A_SLOT] = { .type = NLA_NESTED },
	[GPUFABRIC_A_COMPOSITION] = { .type = NLA_NESTED },
	[GPUFABRIC_A_OPERATION] = { .type = NLA_NESTED },
	[GPUFABRIC_A_HISTORY] = { .type = NLA_NESTED },
	[GPUFABRIC_A_STATS] = { .type = NLA_NESTED },
	[GPUFABRIC_A_STATUS] = { .type = NLA_NESTED },
	[GPUFABRIC_A_MEMBER] = { .type = NLA_NESTED },
	[GPUFABRIC_A_REMOVE] = { .type = NLA_NESTED },
	[GPUFABRIC_A_TENANT] = { .type = NLA_STRING },
	[GPUFABRIC_A_LABEL] = { .type = NLA_STRING },
	[GPUFABRIC_A_JOB] = { .type = NLA_STRING },
	[GPUFABRIC_A_OWNER] = { .type = NLA_U32 },
	[GPUFABRIC_A_LEASE] = { .type = NLA_U64 },
	[GPUFABRIC_A_TIMEOUT] = { .type = NLA_U32 },
	[GPUFABRIC_A_DRIVER_TIMEOUT] = { .type = NLA_U32 },
	[GPUFABRIC_A_FLAGS] = { .type = NLA_U32 },
	[GPUFABRIC_A_REASON] = { .type = NLA_STRING },
	[GPUFABRIC_A_JUDGED_AT] = { .type = NLA_U64 },
};

static const char *const message_names[] = {
	[GPUFABRIC_A_PAD] = "pad",
	[GPUFABRIC_A_ID] = "id",
	[GPUFABRIC_A_NAME] = "name",
	[GPUFABRIC_A_SEQUENCE] = "sequence",
	[GPUFABRIC_A_TIME] = "time",
	[GPUFABRIC_A_EVENT] = "event",
	[GPUFABRIC_A_PREVIOUS] = "previous",
	[GPUFABRIC_A_SWITCH] = "switch",
	[GPUFABRIC_A_SLOT] = "slot",
	[GPUFABRIC_A_COMPOSITION] = "composition",
	[GPUFABRIC_A_OPERATION] = "operation",
	[GPUFABRIC_A_HISTORY] = "history",
	[GPUFABRIC_A_STATS] = "stats",
	[GPUFABRIC_A_STATUS] = "status",
	[GPUFABRIC_A_MEMBER] = "member",
	[GPUFABRIC_A_REMOVE] = "remove",
	[GPUFABRIC_A_TENANT] = "tenant",
	[GPUFABRIC_A_LABEL] = "label",
	[GPUFABRIC_A_JOB] = "job",
	[GPUFABRIC_A_OWNER] = "owner",
	[GPUFABRIC_A_LEASE] = "lease",
	[GPUFABRIC_A_TIMEOUT] = "timeout",
	[GPUFABRIC_A_DRIVER_TIMEOUT] = "driver-timeout",
	[GPUFABRIC_A_FLAGS] = "flags",
	[GPUFABRIC_A_REASON] = "reason",
	[GPUFABRIC_A_JUDGED_AT] = "judged-at",
};

const char *gfnl_attr_name(unsigned int attr)
{
	if (attr >= sizeof(message_names) / sizeof(message_names[0]))
		return NULL;
	return message_names[attr];
}
