// SPDX-License-Identifier: GPL-2.0-only
/* Do not edit: generated from uapi/netlink/specs/gpufabric.yaml by tools/gen-tool.py. */
#include "module/netlink_gen.h"

static const char *const occupancy_names[] = {
	"empty",
	"unknown",
	"gpu",
	"other",
};

const char *gfnl_occupancy_name(unsigned int value)
{
	if (value >= sizeof(occupancy_names) / sizeof(occupancy_names[0]))
		return NULL;
	return occupancy_names[value];
}

static const char *const power_names[] = {
	"off",
	"on",
	"changing",
	"no-control",
};

const char *gfnl_power_name(unsigned int value)
{
	if (value >= sizeof(power_names) / sizeof(power_names[0]))
		return NULL;
	return power_names[value];
}

static const char *const activity_names[] = {
	"none",
	"draining",
	"attaching",
	"detaching",
};

const char *gfnl_activity_name(unsigned int value)
{
	if (value >= sizeof(activity_names) / sizeof(activity_names[0]))
		return NULL;
	return activity_names[value];
}

static const char *const health_names[] = {
	"ok",
	"fault",
	"lost",
	"stuck",
};

const char *gfnl_health_name(unsigned int value)
{
	if (value >= sizeof(health_names) / sizeof(health_names[0]))
		return NULL;
	return health_names[value];
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
	"memory",
	"reset",
	"error",
	"busy",
	"chassis",
	"other",
	"switch-gone",
	"replaced",
	"remains",
	"changed",
	"window",
	"port",
	"containment",
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
};

const char *gfnl_identity_source_name(unsigned int value)
{
	if (value >= sizeof(identity_source_names) / sizeof(identity_source_names[0]))
		return NULL;
	return identity_source_names[value];
}

static const char *const contents_names[] = {
	"unknown",
	"former",
	"power-cycled",
	"reset",
};

const char *gfnl_contents_name(unsigned int value)
{
	if (value >= sizeof(contents_names) / sizeof(contents_names[0]))
		return NULL;
	return contents_names[value];
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
	"switch-removed",
	"composition-added",
	"composition-changed",
	"composition-removed",
	"operation-started",
	"operation-done",
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
	"wide",
	"prefetchable",
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

static const char *const attach_flag_names[] = {
	"check",
	"force",
	"harm",
};

const char *gfnl_attach_flag_name(unsigned int value)
{
	if (value >= sizeof(attach_flag_names) / sizeof(attach_flag_names[0]))
		return NULL;
	return attach_flag_names[value];
}

static const char *const detach_flag_names[] = {
	"check",
	"force",
};

const char *gfnl_detach_flag_name(unsigned int value)
{
	if (value >= sizeof(detach_flag_names) / sizeof(detach_flag_names[0]))
		return NULL;
	return detach_flag_names[value];
}

static const char *const compose_flag_names[] = {
	"check",
	"bind",
	"harm",
};

const char *gfnl_compose_flag_name(unsigned int value)
{
	if (value >= sizeof(compose_flag_names) / sizeof(compose_flag_names[0]))
		return NULL;
	return compose_flag_names[value];
}

static const char *const resize_flag_names[] = {
	"check",
	"harm",
};

const char *gfnl_resize_flag_name(unsigned int value)
{
	if (value >= sizeof(resize_flag_names) / sizeof(resize_flag_names[0]))
		return NULL;
	return resize_flag_names[value];
}

static const char *const release_flag_names[] = {
	"check",
	"keep",
};

const char *gfnl_release_flag_name(unsigned int value)
{
	if (value >= sizeof(release_flag_names) / sizeof(release_flag_names[0]))
		return NULL;
	return release_flag_names[value];
}

static const char *const drain_abort_flag_names[] = {
	"reset",
};

const char *gfnl_drain_abort_flag_name(unsigned int value)
{
	if (value >= sizeof(drain_abort_flag_names) / sizeof(drain_abort_flag_names[0]))
		return NULL;
	return drain_abort_flag_names[value];
}

static const char *const command_names[] = {
	[GPUFABRIC_CMD_STATUS_GET] = "status-get",
	[GPUFABRIC_CMD_SWITCH_GET] = "switch-get",
	[GPUFABRIC_CMD_SLOT_GET] = "slot-get",
	[GPUFABRIC_CMD_FUNCTION_GET] = "function-get",
	[GPUFABRIC_CMD_NEED_GET] = "need-get",
	[GPUFABRIC_CMD_COMPOSITION_GET] = "composition-get",
	[GPUFABRIC_CMD_DRAIN] = "drain",
	[GPUFABRIC_CMD_DRAIN_ABORT] = "drain-abort",
	[GPUFABRIC_CMD_ATTACH] = "attach",
	[GPUFABRIC_CMD_DETACH] = "detach",
	[GPUFABRIC_CMD_CLEAR] = "clear",
	[GPUFABRIC_CMD_COMPOSE] = "compose",
	[GPUFABRIC_CMD_RESIZE] = "resize",
	[GPUFABRIC_CMD_RELEASE] = "release",
	[GPUFABRIC_CMD_ANNOTATE] = "annotate",
	[GPUFABRIC_CMD_HISTORY_GET] = "history-get",
	[GPUFABRIC_CMD_STATS_GET] = "stats-get",
	[GPUFABRIC_CMD_EVENT] = "event",
	[GPUFABRIC_CMD_MEMBER_GET] = "member-get",
};

const char *gfnl_command_name(unsigned int command)
{
	if (command >= sizeof(command_names) / sizeof(command_names[0]))
		return NULL;
	return command_names[command];
}

static const char *const message_names[] = {
	[GPUFABRIC_A_ID] = "id",
	[GPUFABRIC_A_NAME] = "name",
	[GPUFABRIC_A_SEQUENCE] = "sequence",
	[GPUFABRIC_A_TIME] = "time",
	[GPUFABRIC_A_EVENT] = "event",
	[GPUFABRIC_A_PREVIOUS] = "previous",
	[GPUFABRIC_A_SWITCH] = "switch",
	[GPUFABRIC_A_SLOT] = "slot",
	[GPUFABRIC_A_FUNCTION] = "function",
	[GPUFABRIC_A_NEED] = "need",
	[GPUFABRIC_A_COMPOSITION] = "composition",
	[GPUFABRIC_A_OPERATION] = "operation",
	[GPUFABRIC_A_HISTORY] = "history",
	[GPUFABRIC_A_STATS] = "stats",
	[GPUFABRIC_A_STATUS] = "status",
	[GPUFABRIC_A_MEMBER] = "member",
	[GPUFABRIC_A_REMOVE] = "remove",
	[GPUFABRIC_A_ANNOTATION] = "annotation",
	[GPUFABRIC_A_GENERATION] = "generation",
	[GPUFABRIC_A_OWNER] = "owner",
	[GPUFABRIC_A_TIMEOUT] = "timeout",
	[GPUFABRIC_A_DRIVER_TIMEOUT] = "driver-timeout",
	[GPUFABRIC_A_ATTACH_FLAGS] = "attach-flags",
	[GPUFABRIC_A_DETACH_FLAGS] = "detach-flags",
	[GPUFABRIC_A_COMPOSE_FLAGS] = "compose-flags",
	[GPUFABRIC_A_RESIZE_FLAGS] = "resize-flags",
	[GPUFABRIC_A_RELEASE_FLAGS] = "release-flags",
	[GPUFABRIC_A_REASON] = "reason",
	[GPUFABRIC_A_JUDGED_AT] = "judged-at",
	[GPUFABRIC_A_INSTANCE] = "instance",
	[GPUFABRIC_A_DRIVER] = "driver",
	[GPUFABRIC_A_MEMBERSHIP] = "membership",
	[GPUFABRIC_A_DRAIN_ABORT_FLAGS] = "drain-abort-flags",
};

const char *gfnl_attr_name(unsigned int attr)
{
	if (attr >= sizeof(message_names) / sizeof(message_names[0]))
		return NULL;
	return message_names[attr];
}

#define NUMBER(sign, type, member) { .kind = (sign), .width = sizeof(((struct type *)0)->member), \
	.at = offsetof(struct type, member), .has = offsetof(struct type, has.member) }
#define UNSIGNED(type, member) NUMBER(OBJECT_UNSIGNED, type, member)
#define SIGNED(type, member) NUMBER(OBJECT_SIGNED, type, member)
#define STRING(type, member) { .kind = OBJECT_STRING, .at = offsetof(struct type, member), \
	.has = offsetof(struct type, has.member) }
#define BINARY(type, member) { .kind = OBJECT_BINARY, .at = offsetof(struct type, member), \
	.has = offsetof(struct type, n_##member) }
#define NEST(type, member, item) { .kind = OBJECT_NEST, .at = offsetof(struct type, member), \
	.has = offsetof(struct type, has.member), .nested = &(item##_object) }
#define OWNED(type, member, item) { .kind = OBJECT_OWNED, .at = offsetof(struct type, member), \
	.has = offsetof(struct type, n_##member), .nested = &(item##_object) }
#define LIST(type, member, item) { .kind = OBJECT_LIST, .at = offsetof(struct type, member), \
	.has = offsetof(struct type, n_##member), .nested = &(item##_object) }

static const struct object_field condition_fields[] = {
	[GPUFABRIC_A_CONDITION_OCCUPANCY] = UNSIGNED(gf_condition, occupancy),
	[GPUFABRIC_A_CONDITION_POWER] = UNSIGNED(gf_condition, power),
	[GPUFABRIC_A_CONDITION_ACTIVITY] = UNSIGNED(gf_condition, activity),
	[GPUFABRIC_A_CONDITION_HEALTH] = UNSIGNED(gf_condition, health),
	[GPUFABRIC_A_CONDITION_CAUSE] = UNSIGNED(gf_condition, cause),
};

const struct object gf_condition_object = {
	.fields = condition_fields,
	.n_fields = sizeof(condition_fields) / sizeof(condition_fields[0]),
	.size = sizeof(struct gf_condition),
};

static const struct object_field link_fields[] = {
	[GPUFABRIC_A_LINK_SPEED] = UNSIGNED(gf_link, speed),
	[GPUFABRIC_A_LINK_WIDTH] = UNSIGNED(gf_link, width),
	[GPUFABRIC_A_LINK_PORT_SPEED] = UNSIGNED(gf_link, port_speed),
	[GPUFABRIC_A_LINK_PORT_WIDTH] = UNSIGNED(gf_link, port_width),
	[GPUFABRIC_A_LINK_DEVICE_SPEED] = UNSIGNED(gf_link, device_speed),
	[GPUFABRIC_A_LINK_DEVICE_WIDTH] = UNSIGNED(gf_link, device_width),
};

const struct object gf_link_object = {
	.fields = link_fields,
	.n_fields = sizeof(link_fields) / sizeof(link_fields[0]),
	.size = sizeof(struct gf_link),
};

static const struct object_field function_fields[] = {
	[GPUFABRIC_A_FUNCTION_SLOT_ID] = UNSIGNED(gf_function, slot_id),
	[GPUFABRIC_A_FUNCTION_INVENTORY] = UNSIGNED(gf_function, inventory),
	[GPUFABRIC_A_FUNCTION_ADDRESS] = STRING(gf_function, address),
	[GPUFABRIC_A_FUNCTION_VENDOR] = UNSIGNED(gf_function, vendor),
	[GPUFABRIC_A_FUNCTION_DEVICE] = UNSIGNED(gf_function, device),
	[GPUFABRIC_A_FUNCTION_SUBSYSTEM_VENDOR] = UNSIGNED(gf_function, subsystem_vendor),
	[GPUFABRIC_A_FUNCTION_SUBSYSTEM_DEVICE] = UNSIGNED(gf_function, subsystem_device),
	[GPUFABRIC_A_FUNCTION_CLASS] = UNSIGNED(gf_function, class),
	[GPUFABRIC_A_FUNCTION_REVISION] = UNSIGNED(gf_function, revision),
	[GPUFABRIC_A_FUNCTION_DRIVER] = STRING(gf_function, driver),
	[GPUFABRIC_A_FUNCTION_IOMMU_GROUP] = UNSIGNED(gf_function, iommu_group),
};

static const uint16_t function_owners[] = {
	GPUFABRIC_A_FUNCTION_ADDRESS,
	GPUFABRIC_A_FUNCTION_DRIVER,
};

const struct object gf_function_object = {
	.fields = function_fields,
	.n_fields = sizeof(function_fields) / sizeof(function_fields[0]),
	.owners = function_owners,
	.n_owners = sizeof(function_owners) / sizeof(function_owners[0]),
	.size = sizeof(struct gf_function),
};

static const struct object_field need_fields[] = {
	[GPUFABRIC_A_NEED_SLOT_ID] = UNSIGNED(gf_need, slot_id),
	[GPUFABRIC_A_NEED_INVENTORY] = UNSIGNED(gf_need, inventory),
	[GPUFABRIC_A_NEED_SIZE] = UNSIGNED(gf_need, size),
	[GPUFABRIC_A_NEED_FLAGS] = UNSIGNED(gf_need, flags),
	[GPUFABRIC_A_NEED_ALIGN] = UNSIGNED(gf_need, align),
	[GPUFABRIC_A_NEED_SIZES] = UNSIGNED(gf_need, sizes),
	[GPUFABRIC_A_NEED_DEPTH] = UNSIGNED(gf_need, depth),
};

const struct object gf_need_object = {
	.fields = need_fields,
	.n_fields = sizeof(need_fields) / sizeof(need_fields[0]),
	.size = sizeof(struct gf_need),
};

static const struct object_field duration_fields[] = {
	[GPUFABRIC_A_DURATION_PHASE] = UNSIGNED(gf_duration, phase),
	[GPUFABRIC_A_DURATION_MICROSECONDS] = UNSIGNED(gf_duration, microseconds),
};

const struct object gf_duration_object = {
	.fields = duration_fields,
	.n_fields = sizeof(duration_fields) / sizeof(duration_fields[0]),
	.size = sizeof(struct gf_duration),
};

static const struct object_field failure_fields[] = {
	[GPUFABRIC_A_FAILURE_CAUSE] = UNSIGNED(gf_failure, cause),
	[GPUFABRIC_A_FAILURE_ACTIVITY] = UNSIGNED(gf_failure, activity),
	[GPUFABRIC_A_FAILURE_ERROR] = SIGNED(gf_failure, error),
	[GPUFABRIC_A_FAILURE_SLOT_NAME] = STRING(gf_failure, slot_name),
	[GPUFABRIC_A_FAILURE_ADDRESS] = STRING(gf_failure, address),
	[GPUFABRIC_A_FAILURE_DRIVER] = STRING(gf_failure, driver),
	[GPUFABRIC_A_FAILURE_WAITED] = UNSIGNED(gf_failure, waited),
	[GPUFABRIC_A_FAILURE_BAR] = UNSIGNED(gf_failure, bar),
	[GPUFABRIC_A_FAILURE_SIZE] = UNSIGNED(gf_failure, size),
	[GPUFABRIC_A_FAILURE_VENDOR] = UNSIGNED(gf_failure, vendor),
	[GPUFABRIC_A_FAILURE_DEVICE] = UNSIGNED(gf_failure, device),
	[GPUFABRIC_A_FAILURE_SUBSYSTEM_VENDOR] = UNSIGNED(gf_failure, subsystem_vendor),
	[GPUFABRIC_A_FAILURE_SUBSYSTEM_DEVICE] = UNSIGNED(gf_failure, subsystem_device),
	[GPUFABRIC_A_FAILURE_CLASS] = UNSIGNED(gf_failure, class),
	[GPUFABRIC_A_FAILURE_TASK] = STRING(gf_failure, task),
	[GPUFABRIC_A_FAILURE_PID] = UNSIGNED(gf_failure, pid),
	[GPUFABRIC_A_FAILURE_TASK_ADDRESS] = STRING(gf_failure, task_address),
	[GPUFABRIC_A_FAILURE_TASK_ACTIVITY] = UNSIGNED(gf_failure, task_activity),
	[GPUFABRIC_A_FAILURE_TASK_SINCE] = UNSIGNED(gf_failure, task_since),
};

static const uint16_t failure_owners[] = {
	GPUFABRIC_A_FAILURE_SLOT_NAME,
	GPUFABRIC_A_FAILURE_ADDRESS,
	GPUFABRIC_A_FAILURE_DRIVER,
	GPUFABRIC_A_FAILURE_TASK,
	GPUFABRIC_A_FAILURE_TASK_ADDRESS,
};

const struct object gf_failure_object = {
	.fields = failure_fields,
	.n_fields = sizeof(failure_fields) / sizeof(failure_fields[0]),
	.owners = failure_owners,
	.n_owners = sizeof(failure_owners) / sizeof(failure_owners[0]),
	.size = sizeof(struct gf_failure),
};

static const struct object_field operation_fields[] = {
	[GPUFABRIC_A_OPERATION_ID] = UNSIGNED(gf_operation, id),
	[GPUFABRIC_A_OPERATION_KIND] = UNSIGNED(gf_operation, kind),
	[GPUFABRIC_A_OPERATION_STARTED] = UNSIGNED(gf_operation, started),
	[GPUFABRIC_A_OPERATION_DEADLINE] = UNSIGNED(gf_operation, deadline),
	[GPUFABRIC_A_OPERATION_ERROR] = SIGNED(gf_operation, error),
	[GPUFABRIC_A_OPERATION_FAILURE] = NEST(gf_operation, failure, gf_failure),
	[GPUFABRIC_A_OPERATION_DURATION] = LIST(gf_operation, durations, gf_duration),
	[GPUFABRIC_A_OPERATION_UID] = UNSIGNED(gf_operation, uid),
	[GPUFABRIC_A_OPERATION_PID] = UNSIGNED(gf_operation, pid),
	[GPUFABRIC_A_OPERATION_COMMAND] = STRING(gf_operation, command),
	[GPUFABRIC_A_OPERATION_REASON] = STRING(gf_operation, reason),
	[GPUFABRIC_A_OPERATION_COMPOSITION] = STRING(gf_operation, composition),
	[GPUFABRIC_A_OPERATION_SLOTS] = UNSIGNED(gf_operation, slots),
};

static const uint16_t operation_owners[] = {
	GPUFABRIC_A_OPERATION_FAILURE,
	GPUFABRIC_A_OPERATION_DURATION,
	GPUFABRIC_A_OPERATION_COMMAND,
	GPUFABRIC_A_OPERATION_REASON,
	GPUFABRIC_A_OPERATION_COMPOSITION,
};

const struct object gf_operation_object = {
	.fields = operation_fields,
	.n_fields = sizeof(operation_fields) / sizeof(operation_fields[0]),
	.owners = operation_owners,
	.n_owners = sizeof(operation_owners) / sizeof(operation_owners[0]),
	.size = sizeof(struct gf_operation),
};

static const struct object_field slot_fields[] = {
	[GPUFABRIC_A_SLOT_ID] = UNSIGNED(gf_slot, id),
	[GPUFABRIC_A_SLOT_NAME] = STRING(gf_slot, name),
	[GPUFABRIC_A_SLOT_SWITCH_ID] = UNSIGNED(gf_slot, switch_id),
	[GPUFABRIC_A_SLOT_ADDRESS] = STRING(gf_slot, address),
	[GPUFABRIC_A_SLOT_GENERATION] = UNSIGNED(gf_slot, generation),
	[GPUFABRIC_A_SLOT_CONDITION] = NEST(gf_slot, condition, gf_condition),
	[GPUFABRIC_A_SLOT_SINCE] = UNSIGNED(gf_slot, since),
	[GPUFABRIC_A_SLOT_FAILURE] = NEST(gf_slot, failure, gf_failure),
	[GPUFABRIC_A_SLOT_FLAGS] = UNSIGNED(gf_slot, flags),
	[GPUFABRIC_A_SLOT_CAPS] = UNSIGNED(gf_slot, caps),
	[GPUFABRIC_A_SLOT_BACKEND] = UNSIGNED(gf_slot, backend),
	[GPUFABRIC_A_SLOT_SLOT_DRIVER] = STRING(gf_slot, slot_driver),
	[GPUFABRIC_A_SLOT_NUMA_NODE] = SIGNED(gf_slot, numa_node),
	[GPUFABRIC_A_SLOT_LINK] = NEST(gf_slot, link, gf_link),
	[GPUFABRIC_A_SLOT_IDENTITY] = UNSIGNED(gf_slot, identity),
	[GPUFABRIC_A_SLOT_IDENTITY_TIME] = UNSIGNED(gf_slot, identity_time),
	[GPUFABRIC_A_SLOT_VENDOR] = UNSIGNED(gf_slot, vendor),
	[GPUFABRIC_A_SLOT_DEVICE] = UNSIGNED(gf_slot, device),
	[GPUFABRIC_A_SLOT_SUBSYSTEM_VENDOR] = UNSIGNED(gf_slot, subsystem_vendor),
	[GPUFABRIC_A_SLOT_SUBSYSTEM_DEVICE] = UNSIGNED(gf_slot, subsystem_device),
	[GPUFABRIC_A_SLOT_CLASS] = UNSIGNED(gf_slot, class),
	[GPUFABRIC_A_SLOT_SERIAL] = UNSIGNED(gf_slot, serial),
	[GPUFABRIC_A_SLOT_INVENTORY] = UNSIGNED(gf_slot, inventory),
	[GPUFABRIC_A_SLOT_FUNCTION_COUNT] = UNSIGNED(gf_slot, function_count),
	[GPUFABRIC_A_SLOT_BUS_FIRST] = UNSIGNED(gf_slot, bus_first),
	[GPUFABRIC_A_SLOT_BUS_LAST] = UNSIGNED(gf_slot, bus_last),
	[GPUFABRIC_A_SLOT_COMPOSITION] = STRING(gf_slot, composition),
	[GPUFABRIC_A_SLOT_COMPOSITION_ID] = UNSIGNED(gf_slot, composition_id),
	[GPUFABRIC_A_SLOT_OPERATION] = NEST(gf_slot, operation, gf_operation),
	[GPUFABRIC_A_SLOT_LAST_OPERATION] = NEST(gf_slot, last_operation, gf_operation),
	[GPUFABRIC_A_SLOT_ATTACHES] = UNSIGNED(gf_slot, attaches),
	[GPUFABRIC_A_SLOT_DETACHES] = UNSIGNED(gf_slot, detaches),
	[GPUFABRIC_A_SLOT_FAULTS] = UNSIGNED(gf_slot, faults),
	[GPUFABRIC_A_SLOT_FLAPS] = UNSIGNED(gf_slot, flaps),
	[GPUFABRIC_A_SLOT_DEGRADATIONS] = UNSIGNED(gf_slot, degradations),
	[GPUFABRIC_A_SLOT_DRAIN_DEADLINE] = UNSIGNED(gf_slot, drain_deadline),
	[GPUFABRIC_A_SLOT_GPUS] = UNSIGNED(gf_slot, gpus),
	[GPUFABRIC_A_SLOT_CONTENTS] = UNSIGNED(gf_slot, contents),
	[GPUFABRIC_A_SLOT_FORMER] = STRING(gf_slot, former),
	[GPUFABRIC_A_SLOT_FORMER_ANNOTATION] = BINARY(gf_slot, former_annotation),
	[GPUFABRIC_A_SLOT_MAX + 1] = OWNED(gf_slot, functions, gf_function),
	[GPUFABRIC_A_SLOT_MAX + 2] = OWNED(gf_slot, needs, gf_need),
};

static const uint16_t slot_owners[] = {
	GPUFABRIC_A_SLOT_NAME,
	GPUFABRIC_A_SLOT_ADDRESS,
	GPUFABRIC_A_SLOT_FAILURE,
	GPUFABRIC_A_SLOT_SLOT_DRIVER,
	GPUFABRIC_A_SLOT_COMPOSITION,
	GPUFABRIC_A_SLOT_OPERATION,
	GPUFABRIC_A_SLOT_LAST_OPERATION,
	GPUFABRIC_A_SLOT_FORMER,
	GPUFABRIC_A_SLOT_FORMER_ANNOTATION,
	GPUFABRIC_A_SLOT_MAX + 1,
	GPUFABRIC_A_SLOT_MAX + 2,
};

const struct object gf_slot_object = {
	.fields = slot_fields,
	.n_fields = sizeof(slot_fields) / sizeof(slot_fields[0]),
	.owners = slot_owners,
	.n_owners = sizeof(slot_owners) / sizeof(slot_owners[0]),
	.size = sizeof(struct gf_slot),
};

static const struct object_field switch_fields[] = {
	[GPUFABRIC_A_SWITCH_ID] = UNSIGNED(gf_switch, id),
	[GPUFABRIC_A_SWITCH_ADDRESS] = STRING(gf_switch, address),
	[GPUFABRIC_A_SWITCH_NUMA_NODE] = SIGNED(gf_switch, numa_node),
	[GPUFABRIC_A_SWITCH_VENDOR] = UNSIGNED(gf_switch, vendor),
	[GPUFABRIC_A_SWITCH_DEVICE] = UNSIGNED(gf_switch, device),
	[GPUFABRIC_A_SWITCH_SLOTS] = UNSIGNED(gf_switch, slots),
	[GPUFABRIC_A_SWITCH_LINK] = NEST(gf_switch, link, gf_link),
};

static const uint16_t switch_owners[] = {
	GPUFABRIC_A_SWITCH_ADDRESS,
};

const struct object gf_switch_object = {
	.fields = switch_fields,
	.n_fields = sizeof(switch_fields) / sizeof(switch_fields[0]),
	.owners = switch_owners,
	.n_owners = sizeof(switch_owners) / sizeof(switch_owners[0]),
	.size = sizeof(struct gf_switch),
};

static const struct object_field member_fields[] = {
	[GPUFABRIC_A_MEMBER_SLOT_ID] = UNSIGNED(gf_member, slot_id),
	[GPUFABRIC_A_MEMBER_SLOT_NAME] = STRING(gf_member, slot_name),
	[GPUFABRIC_A_MEMBER_GENERATION] = UNSIGNED(gf_member, generation),
	[GPUFABRIC_A_MEMBER_EXPECT_VENDOR] = UNSIGNED(gf_member, expect_vendor),
	[GPUFABRIC_A_MEMBER_EXPECT_DEVICE] = UNSIGNED(gf_member, expect_device),
	[GPUFABRIC_A_MEMBER_EXPECT_SUBSYSTEM_VENDOR] = UNSIGNED(gf_member, expect_subsystem_vendor),
	[GPUFABRIC_A_MEMBER_EXPECT_SUBSYSTEM_DEVICE] = UNSIGNED(gf_member, expect_subsystem_device),
	[GPUFABRIC_A_MEMBER_ORDER] = UNSIGNED(gf_member, order),
};

static const uint16_t member_owners[] = {
	GPUFABRIC_A_MEMBER_SLOT_NAME,
};

const struct object gf_member_object = {
	.fields = member_fields,
	.n_fields = sizeof(member_fields) / sizeof(member_fields[0]),
	.owners = member_owners,
	.n_owners = sizeof(member_owners) / sizeof(member_owners[0]),
	.size = sizeof(struct gf_member),
};

static const struct object_field composition_fields[] = {
	[GPUFABRIC_A_COMPOSITION_ID] = UNSIGNED(gf_composition, id),
	[GPUFABRIC_A_COMPOSITION_NAME] = STRING(gf_composition, name),
	[GPUFABRIC_A_COMPOSITION_ANNOTATION] = BINARY(gf_composition, annotation),
	[GPUFABRIC_A_COMPOSITION_GENERATION] = UNSIGNED(gf_composition, generation),
	[GPUFABRIC_A_COMPOSITION_OWNER] = UNSIGNED(gf_composition, owner),
	[GPUFABRIC_A_COMPOSITION_STATE] = UNSIGNED(gf_composition, state),
	[GPUFABRIC_A_COMPOSITION_FLAGS] = UNSIGNED(gf_composition, flags),
	[GPUFABRIC_A_COMPOSITION_MEMBER_COUNT] = UNSIGNED(gf_composition, member_count),
	[GPUFABRIC_A_COMPOSITION_CREATED] = UNSIGNED(gf_composition, created),
	[GPUFABRIC_A_COMPOSITION_OPERATION] = NEST(gf_composition, operation, gf_operation),
	[GPUFABRIC_A_COMPOSITION_MAX + 1] = OWNED(gf_composition, members, gf_membership),
};

static const uint16_t composition_owners[] = {
	GPUFABRIC_A_COMPOSITION_NAME,
	GPUFABRIC_A_COMPOSITION_ANNOTATION,
	GPUFABRIC_A_COMPOSITION_OPERATION,
	GPUFABRIC_A_COMPOSITION_MAX + 1,
};

const struct object gf_composition_object = {
	.fields = composition_fields,
	.n_fields = sizeof(composition_fields) / sizeof(composition_fields[0]),
	.owners = composition_owners,
	.n_owners = sizeof(composition_owners) / sizeof(composition_owners[0]),
	.size = sizeof(struct gf_composition),
};

static const struct object_field membership_fields[] = {
	[GPUFABRIC_A_MEMBERSHIP_COMPOSITION_ID] = UNSIGNED(gf_membership, composition_id),
	[GPUFABRIC_A_MEMBERSHIP_GENERATION] = UNSIGNED(gf_membership, generation),
	[GPUFABRIC_A_MEMBERSHIP_SLOT_ID] = UNSIGNED(gf_membership, slot_id),
	[GPUFABRIC_A_MEMBERSHIP_SLOT_NAME] = STRING(gf_membership, slot_name),
};

static const uint16_t membership_owners[] = {
	GPUFABRIC_A_MEMBERSHIP_SLOT_NAME,
};

const struct object gf_membership_object = {
	.fields = membership_fields,
	.n_fields = sizeof(membership_fields) / sizeof(membership_fields[0]),
	.owners = membership_owners,
	.n_owners = sizeof(membership_owners) / sizeof(membership_owners[0]),
	.size = sizeof(struct gf_membership),
};

static const struct object_field history_fields[] = {
	[GPUFABRIC_A_HISTORY_SLOT_ID] = UNSIGNED(gf_history, slot_id),
	[GPUFABRIC_A_HISTORY_SLOT_NAME] = STRING(gf_history, slot_name),
	[GPUFABRIC_A_HISTORY_SEQUENCE] = UNSIGNED(gf_history, sequence),
	[GPUFABRIC_A_HISTORY_TIME] = UNSIGNED(gf_history, time),
	[GPUFABRIC_A_HISTORY_CONDITION] = NEST(gf_history, condition, gf_condition),
	[GPUFABRIC_A_HISTORY_OPERATION] = NEST(gf_history, operation, gf_operation),
};

static const uint16_t history_owners[] = {
	GPUFABRIC_A_HISTORY_SLOT_NAME,
	GPUFABRIC_A_HISTORY_OPERATION,
};

const struct object gf_history_object = {
	.fields = history_fields,
	.n_fields = sizeof(history_fields) / sizeof(history_fields[0]),
	.owners = history_owners,
	.n_owners = sizeof(history_owners) / sizeof(history_owners[0]),
	.size = sizeof(struct gf_history),
};

static const struct object_field bucket_fields[] = {
	[GPUFABRIC_A_BUCKET_BELOW] = UNSIGNED(gf_bucket, below),
	[GPUFABRIC_A_BUCKET_COUNT] = UNSIGNED(gf_bucket, count),
};

const struct object gf_bucket_object = {
	.fields = bucket_fields,
	.n_fields = sizeof(bucket_fields) / sizeof(bucket_fields[0]),
	.size = sizeof(struct gf_bucket),
};

static const struct object_field stats_fields[] = {
	[GPUFABRIC_A_STATS_KIND] = UNSIGNED(gf_stats, kind),
	[GPUFABRIC_A_STATS_PHASE] = UNSIGNED(gf_stats, phase),
	[GPUFABRIC_A_STATS_COUNT] = UNSIGNED(gf_stats, count),
	[GPUFABRIC_A_STATS_MICROSECONDS] = UNSIGNED(gf_stats, microseconds),
	[GPUFABRIC_A_STATS_BUCKET] = LIST(gf_stats, buckets, gf_bucket),
};

static const uint16_t stats_owners[] = {
	GPUFABRIC_A_STATS_BUCKET,
};

const struct object gf_stats_object = {
	.fields = stats_fields,
	.n_fields = sizeof(stats_fields) / sizeof(stats_fields[0]),
	.owners = stats_owners,
	.n_owners = sizeof(stats_owners) / sizeof(stats_owners[0]),
	.size = sizeof(struct gf_stats),
};

static const struct object_field status_fields[] = {
	[GPUFABRIC_A_STATUS_VERSION] = STRING(gf_status, version),
	[GPUFABRIC_A_STATUS_SWITCHES] = UNSIGNED(gf_status, switches),
	[GPUFABRIC_A_STATUS_SLOTS] = UNSIGNED(gf_status, slots),
	[GPUFABRIC_A_STATUS_COMPOSITIONS] = UNSIGNED(gf_status, compositions),
	[GPUFABRIC_A_STATUS_OPERATIONS] = UNSIGNED(gf_status, operations),
	[GPUFABRIC_A_STATUS_HISTORY] = UNSIGNED(gf_status, history),
	[GPUFABRIC_A_STATUS_CHANGES] = UNSIGNED(gf_status, changes),
};

static const uint16_t status_owners[] = {
	GPUFABRIC_A_STATUS_VERSION,
};

const struct object gf_status_object = {
	.fields = status_fields,
	.n_fields = sizeof(status_fields) / sizeof(status_fields[0]),
	.owners = status_owners,
	.n_owners = sizeof(status_owners) / sizeof(status_owners[0]),
	.size = sizeof(struct gf_status),
};

static const struct object_field message_fields[] = {
	[GPUFABRIC_A_SEQUENCE] = UNSIGNED(gf_message, sequence),
	[GPUFABRIC_A_TIME] = UNSIGNED(gf_message, time),
	[GPUFABRIC_A_EVENT] = UNSIGNED(gf_message, kind),
	[GPUFABRIC_A_PREVIOUS] = NEST(gf_message, previous, gf_condition),
	[GPUFABRIC_A_SWITCH] = NEST(gf_message, sw, gf_switch),
	[GPUFABRIC_A_SLOT] = NEST(gf_message, slot, gf_slot),
	[GPUFABRIC_A_FUNCTION] = NEST(gf_message, function, gf_function),
	[GPUFABRIC_A_NEED] = NEST(gf_message, need, gf_need),
	[GPUFABRIC_A_COMPOSITION] = NEST(gf_message, composition, gf_composition),
	[GPUFABRIC_A_OPERATION] = NEST(gf_message, operation, gf_operation),
	[GPUFABRIC_A_HISTORY] = NEST(gf_message, history, gf_history),
	[GPUFABRIC_A_STATS] = NEST(gf_message, stats, gf_stats),
	[GPUFABRIC_A_STATUS] = NEST(gf_message, status, gf_status),
	[GPUFABRIC_A_MEMBER] = LIST(gf_message, members, gf_member),
	[GPUFABRIC_A_INSTANCE] = UNSIGNED(gf_message, instance),
	[GPUFABRIC_A_MEMBERSHIP] = NEST(gf_message, membership, gf_membership),
};

static const uint16_t message_owners[] = {
	GPUFABRIC_A_SWITCH,
	GPUFABRIC_A_SLOT,
	GPUFABRIC_A_FUNCTION,
	GPUFABRIC_A_COMPOSITION,
	GPUFABRIC_A_OPERATION,
	GPUFABRIC_A_HISTORY,
	GPUFABRIC_A_STATS,
	GPUFABRIC_A_STATUS,
	GPUFABRIC_A_MEMBER,
	GPUFABRIC_A_MEMBERSHIP,
};

const struct object gf_message_object = {
	.fields = message_fields,
	.n_fields = sizeof(message_fields) / sizeof(message_fields[0]),
	.owners = message_owners,
	.n_owners = sizeof(message_owners) / sizeof(message_owners[0]),
	.size = sizeof(struct gf_message),
};
