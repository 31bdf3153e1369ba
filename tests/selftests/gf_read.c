// SPDX-License-Identifier: GPL-2.0-only
/* The objects of the protocol, read from their attributes. */
#include <stdio.h>
#include <string.h>

#include "gf.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void text(char *to, size_t size, const struct nlattr *attr)
{
	strncpy(to, gf_text(attr), size - 1);
	to[size - 1] = '\0';
}

#define TEXT(to, nest, type) text(to, sizeof(to), gf_sub(nest, type))

static const char *name_of(const char *const *names, size_t count, uint32_t value)
{
	return value < count ? names[value] : "?";
}

static const char *const state_names[] = {
	"empty", "off", "attaching", "attached", "ready", "draining", "detaching", "fault", "stuck", "lost",
	"other",
};

static const char *const cause_names[] = {
	"none", "power", "link", "presence", "enumerate", "resources", "identity", "driver", "timeout",
	"surprise", "memory", "reset", "error", "busy", "chassis", "other", "switch-gone", "replaced",
	"remains", "changed", "window", "port", "containment",
};

static const char *const kind_names[] = {
	"none", "attach", "detach", "compose", "resize", "release", "drain", "drain-abort", "clear",
};

static const char *const event_names[] = {
	"slot-added", "slot-changed", "slot-removed", "switch-added", "switch-removed",
	"composition-added", "composition-changed", "composition-removed", "operation-started",
	"operation-done",
};

static const char *const composition_state_names[] = {
	"composing", "active", "degraded", "resizing", "releasing", "failed", "released",
};

const char *gf_state_name(uint32_t state)
{
	return name_of(state_names, COUNT(state_names), state);
}

const char *gf_cause_name(uint32_t cause)
{
	return name_of(cause_names, COUNT(cause_names), cause);
}

const char *gf_kind_name(uint32_t kind)
{
	return name_of(kind_names, COUNT(kind_names), kind);
}

const char *gf_event_name(uint32_t kind)
{
	return name_of(event_names, COUNT(event_names), kind);
}

const char *gf_composition_state_name(uint32_t state)
{
	return name_of(composition_state_names, COUNT(composition_state_names), state);
}

int gf_state_of(const char *name)
{
	for (size_t i = 0; i < COUNT(state_names); i++) {
		if (!strcmp(state_names[i], name))
			return (int)i;
	}
	return -1;
}

static void read_phases(const struct nlattr *nest, struct gf_operation *operation)
{
	const struct nlattr *one = NULL;

	while ((one = gf_next_sub(nest, one, GPUFABRIC_A_OPERATION_DURATION))) {
		uint32_t phase = gf_u32(gf_sub(one, GPUFABRIC_A_DURATION_PHASE));

		if (phase < COUNT(operation->phase_us))
			operation->phase_us[phase] = gf_u64(gf_sub(one, GPUFABRIC_A_DURATION_MICROSECONDS));
	}
}

/* One line of all that there is: "slot 200: timeout of 0000:05:00.0, driver nvidia". */
static void read_failure(const struct nlattr *nest, char to[GF_TEXT])
{
	const struct nlattr *vendor = gf_sub(nest, GPUFABRIC_A_FAILURE_VENDOR);
	const struct nlattr *class = gf_sub(nest, GPUFABRIC_A_FAILURE_CLASS);
	const struct nlattr *bar = gf_sub(nest, GPUFABRIC_A_FAILURE_BAR);
	const struct nlattr *task = gf_sub(nest, GPUFABRIC_A_FAILURE_TASK);
	const char *slot = gf_text(gf_sub(nest, GPUFABRIC_A_FAILURE_SLOT_NAME));
	const char *address = gf_text(gf_sub(nest, GPUFABRIC_A_FAILURE_ADDRESS));
	const char *driver = gf_text(gf_sub(nest, GPUFABRIC_A_FAILURE_DRIVER));
	FILE *out = fmemopen(to, GF_TEXT, "w");

	to[0] = '\0';
	if (!nest || !out)
		goto out;
	if (*slot)
		fprintf(out, "slot %s: ", slot);
	fputs(gf_cause_name(gf_u32(gf_sub(nest, GPUFABRIC_A_FAILURE_CAUSE))), out);
	fprintf(out, *address ? " of %s" : "", address);
	fprintf(out, *driver ? ", driver %s" : "", driver);
	if (vendor)
		fprintf(out, ", found %04x:%04x (%04x:%04x)", gf_u32(vendor),
			gf_u32(gf_sub(nest, GPUFABRIC_A_FAILURE_DEVICE)),
			gf_u32(gf_sub(nest, GPUFABRIC_A_FAILURE_SUBSYSTEM_VENDOR)),
			gf_u32(gf_sub(nest, GPUFABRIC_A_FAILURE_SUBSYSTEM_DEVICE)));
	if (class)
		fprintf(out, ", class %06x", gf_u32(class));
	if (bar)
		fprintf(out, ", BAR %u", gf_u32(bar));
	if (task)
		fprintf(out, "; %s (pid %u) is %s %s", gf_text(task), gf_u32(gf_sub(nest, GPUFABRIC_A_FAILURE_PID)),
			gf_u32(gf_sub(nest, GPUFABRIC_A_FAILURE_TASK_ACTIVITY)) == GPUFABRIC_ACTIVITY_DETACHING ?
			"unbinding" : "binding", gf_text(gf_sub(nest, GPUFABRIC_A_FAILURE_TASK_ADDRESS)));
out:
	if (out)
		fclose(out);
}

void gf_read_operation(const struct nlattr *nest, struct gf_operation *operation)
{
	memset(operation, 0, sizeof(*operation));
	operation->id = gf_u64(gf_sub(nest, GPUFABRIC_A_OPERATION_ID));
	operation->deadline = gf_u64(gf_sub(nest, GPUFABRIC_A_OPERATION_DEADLINE));
	operation->kind = gf_u32(gf_sub(nest, GPUFABRIC_A_OPERATION_KIND));
	operation->slots = gf_u32(gf_sub(nest, GPUFABRIC_A_OPERATION_SLOTS));
	operation->done = gf_sub(nest, GPUFABRIC_A_OPERATION_ERROR);
	operation->error = (int)gf_u32(gf_sub(nest, GPUFABRIC_A_OPERATION_ERROR));
	read_failure(gf_sub(nest, GPUFABRIC_A_OPERATION_FAILURE), operation->text);
	TEXT(operation->composition, nest, GPUFABRIC_A_OPERATION_COMPOSITION);
	operation->has_uid = gf_sub(nest, GPUFABRIC_A_OPERATION_UID);
	operation->uid = gf_u32(gf_sub(nest, GPUFABRIC_A_OPERATION_UID));
	operation->has_pid = gf_sub(nest, GPUFABRIC_A_OPERATION_PID);
	operation->pid = gf_u32(gf_sub(nest, GPUFABRIC_A_OPERATION_PID));
	operation->has_command = gf_sub(nest, GPUFABRIC_A_OPERATION_COMMAND);
	TEXT(operation->command, nest, GPUFABRIC_A_OPERATION_COMMAND);
	operation->has_reason = gf_sub(nest, GPUFABRIC_A_OPERATION_REASON);
	TEXT(operation->reason, nest, GPUFABRIC_A_OPERATION_REASON);
	read_phases(nest, operation);
}

static void read_function(const struct nlattr *nest, struct gf_function *function)
{
	memset(function, 0, sizeof(*function));
	TEXT(function->address, nest, GPUFABRIC_A_FUNCTION_ADDRESS);
	TEXT(function->driver, nest, GPUFABRIC_A_FUNCTION_DRIVER);
	function->vendor = gf_u32(gf_sub(nest, GPUFABRIC_A_FUNCTION_VENDOR));
	function->device = gf_u32(gf_sub(nest, GPUFABRIC_A_FUNCTION_DEVICE));
	function->subsystem_vendor = gf_u32(gf_sub(nest, GPUFABRIC_A_FUNCTION_SUBSYSTEM_VENDOR));
	function->subsystem_device = gf_u32(gf_sub(nest, GPUFABRIC_A_FUNCTION_SUBSYSTEM_DEVICE));
	function->class = gf_u32(gf_sub(nest, GPUFABRIC_A_FUNCTION_CLASS));
}

void gf_read_function(const struct nlattr *nest, struct gf_slot *slot)
{
	if (gf_u32(gf_sub(nest, GPUFABRIC_A_FUNCTION_SLOT_ID)) == slot->id &&
	    slot->n_functions < COUNT(slot->functions))
		read_function(nest, &slot->functions[slot->n_functions++]);
}

void gf_read_need(const struct nlattr *nest, struct gf_slot *slot)
{
	struct bar_need *to = &slot->need[slot->n_need];

	if (gf_u32(gf_sub(nest, GPUFABRIC_A_NEED_SLOT_ID)) != slot->id ||
	    slot->n_need == COUNT(slot->need))
		return;
	slot->n_need++;
	to->size = gf_u64(gf_sub(nest, GPUFABRIC_A_NEED_SIZE));
	to->align = gf_u64(gf_sub(nest, GPUFABRIC_A_NEED_ALIGN));
	to->sizes = gf_u32(gf_sub(nest, GPUFABRIC_A_NEED_SIZES));
	to->flags = gf_u32(gf_sub(nest, GPUFABRIC_A_NEED_FLAGS));
	to->depth = gf_u32(gf_sub(nest, GPUFABRIC_A_NEED_DEPTH));
}

static void read_slot_nests(const struct nlattr *nest, struct gf_slot *slot)
{
	const struct nlattr *one;

	one = gf_sub(nest, GPUFABRIC_A_SLOT_LINK);
	slot->speed = gf_u32(gf_sub(one, GPUFABRIC_A_LINK_SPEED));
	slot->width = gf_u32(gf_sub(one, GPUFABRIC_A_LINK_WIDTH));
	one = gf_sub(nest, GPUFABRIC_A_SLOT_OPERATION);
	slot->has_operation = one;
	gf_read_operation(one, &slot->operation);
	one = gf_sub(nest, GPUFABRIC_A_SLOT_LAST_OPERATION);
	slot->has_last = one;
	gf_read_operation(one, &slot->last);
}

static struct gf_condition read_condition(const struct nlattr *nest)
{
	return (struct gf_condition){
		.occupancy = gf_u32(gf_sub(nest, GPUFABRIC_A_CONDITION_OCCUPANCY)),
		.power = gf_u32(gf_sub(nest, GPUFABRIC_A_CONDITION_POWER)),
		.activity = gf_u32(gf_sub(nest, GPUFABRIC_A_CONDITION_ACTIVITY)),
		.health = gf_u32(gf_sub(nest, GPUFABRIC_A_CONDITION_HEALTH)),
		.cause = gf_u32(gf_sub(nest, GPUFABRIC_A_CONDITION_CAUSE)),
	};
}

/* One word for the four; a second opinion on what gpuctl makes of them. */
static uint32_t state_of(const struct gf_condition *now)
{
	static const uint32_t bad[] = { GF_STATE_READY, GF_STATE_FAULT, GF_STATE_LOST, GF_STATE_STUCK };
	static const uint32_t at_rest[] = { GF_STATE_EMPTY, GF_STATE_OFF, GF_STATE_READY, GF_STATE_OTHER };

	if (now->health)
		return bad[now->health];
	if (now->activity == GPUFABRIC_ACTIVITY_ATTACHING)
		return now->power == GPUFABRIC_POWER_CHANGING ? GF_STATE_ATTACHING : GF_STATE_ATTACHED;
	if (now->activity == GPUFABRIC_ACTIVITY_DETACHING)
		return GF_STATE_DETACHING;
	return now->activity ? GF_STATE_DRAINING : at_rest[now->occupancy];
}

void gf_read_slot(const struct nlattr *nest, struct gf_slot *slot)
{
	memset(slot, 0, sizeof(*slot));
	slot->id = gf_u32(gf_sub(nest, GPUFABRIC_A_SLOT_ID));
	slot->switch_id = gf_u32(gf_sub(nest, GPUFABRIC_A_SLOT_SWITCH_ID));
	slot->generation = gf_u32(gf_sub(nest, GPUFABRIC_A_SLOT_GENERATION));
	slot->condition = read_condition(gf_sub(nest, GPUFABRIC_A_SLOT_CONDITION));
	slot->state = state_of(&slot->condition);
	slot->inventory = gf_u32(gf_sub(nest, GPUFABRIC_A_SLOT_INVENTORY));
	slot->function_count = gf_u32(gf_sub(nest, GPUFABRIC_A_SLOT_FUNCTION_COUNT));
	slot->since = gf_u64(gf_sub(nest, GPUFABRIC_A_SLOT_SINCE));
	slot->cause = slot->condition.cause;
	slot->flags = gf_u32(gf_sub(nest, GPUFABRIC_A_SLOT_FLAGS));
	slot->backend = gf_u32(gf_sub(nest, GPUFABRIC_A_SLOT_BACKEND));
	TEXT(slot->name, nest, GPUFABRIC_A_SLOT_NAME);
	TEXT(slot->address, nest, GPUFABRIC_A_SLOT_ADDRESS);
	read_failure(gf_sub(nest, GPUFABRIC_A_SLOT_FAILURE), slot->text);
	TEXT(slot->slot_driver, nest, GPUFABRIC_A_SLOT_SLOT_DRIVER);
	TEXT(slot->composition, nest, GPUFABRIC_A_SLOT_COMPOSITION);
	slot->contents = gf_u32(gf_sub(nest, GPUFABRIC_A_SLOT_CONTENTS));
	TEXT(slot->former, nest, GPUFABRIC_A_SLOT_FORMER);
	slot->has_former_annotation = gf_sub(nest, GPUFABRIC_A_SLOT_FORMER_ANNOTATION);
	slot->identity = gf_u32(gf_sub(nest, GPUFABRIC_A_SLOT_IDENTITY));
	slot->vendor = gf_u32(gf_sub(nest, GPUFABRIC_A_SLOT_VENDOR));
	slot->device = gf_u32(gf_sub(nest, GPUFABRIC_A_SLOT_DEVICE));
	slot->subsystem_vendor = gf_u32(gf_sub(nest, GPUFABRIC_A_SLOT_SUBSYSTEM_VENDOR));
	slot->subsystem_device = gf_u32(gf_sub(nest, GPUFABRIC_A_SLOT_SUBSYSTEM_DEVICE));
	slot->class = gf_u32(gf_sub(nest, GPUFABRIC_A_SLOT_CLASS));
	slot->serial = gf_u64(gf_sub(nest, GPUFABRIC_A_SLOT_SERIAL));
	slot->attaches = gf_u32(gf_sub(nest, GPUFABRIC_A_SLOT_ATTACHES));
	slot->detaches = gf_u32(gf_sub(nest, GPUFABRIC_A_SLOT_DETACHES));
	slot->faults = gf_u32(gf_sub(nest, GPUFABRIC_A_SLOT_FAULTS));
	slot->flaps = gf_u32(gf_sub(nest, GPUFABRIC_A_SLOT_FLAPS));
	slot->degradations = gf_u32(gf_sub(nest, GPUFABRIC_A_SLOT_DEGRADATIONS));
	slot->drain_deadline = gf_u64(gf_sub(nest, GPUFABRIC_A_SLOT_DRAIN_DEADLINE));
	read_slot_nests(nest, slot);
}

void gf_read_composition(const struct nlattr *nest, struct gf_composition *composition)
{
	const struct nlattr *annotation = gf_sub(nest, GPUFABRIC_A_COMPOSITION_ANNOTATION);

	memset(composition, 0, sizeof(*composition));
	composition->id = gf_u32(gf_sub(nest, GPUFABRIC_A_COMPOSITION_ID));
	composition->owner = gf_u32(gf_sub(nest, GPUFABRIC_A_COMPOSITION_OWNER));
	composition->state = gf_u32(gf_sub(nest, GPUFABRIC_A_COMPOSITION_STATE));
	composition->flags = gf_u32(gf_sub(nest, GPUFABRIC_A_COMPOSITION_FLAGS));
	composition->created = gf_u64(gf_sub(nest, GPUFABRIC_A_COMPOSITION_CREATED));
	composition->generation = gf_u32(gf_sub(nest, GPUFABRIC_A_COMPOSITION_GENERATION));
	composition->has_operation = gf_sub(nest, GPUFABRIC_A_COMPOSITION_OPERATION);
	TEXT(composition->name, nest, GPUFABRIC_A_COMPOSITION_NAME);
	if (annotation && annotation->nla_len <= NLA_HDRLEN + GPUFABRIC_ANNOTATION_MAX) {
		composition->annotation_len = annotation->nla_len - NLA_HDRLEN;
		memcpy(composition->annotation, (const char *)annotation + NLA_HDRLEN,
		       composition->annotation_len);
	}
	composition->n_members = gf_u32(gf_sub(nest, GPUFABRIC_A_COMPOSITION_MEMBER_COUNT));
}

void gf_read_member(const struct nlattr *nest, struct gf_member *member)
{
	memset(member, 0, sizeof(*member));
	member->composition = gf_u32(gf_sub(nest, GPUFABRIC_A_MEMBERSHIP_COMPOSITION_ID));
	member->generation = gf_u32(gf_sub(nest, GPUFABRIC_A_MEMBERSHIP_GENERATION));
	member->id = gf_u32(gf_sub(nest, GPUFABRIC_A_MEMBERSHIP_SLOT_ID));
	TEXT(member->name, nest, GPUFABRIC_A_MEMBERSHIP_SLOT_NAME);
}

void gf_read_event(const struct nlmsghdr *message, struct gf_event *event)
{
	const struct nlattr *sw = gf_attr(message, GPUFABRIC_A_SWITCH);
	const struct nlattr *slot = gf_attr(message, GPUFABRIC_A_SLOT);
	const struct nlattr *composition = gf_attr(message, GPUFABRIC_A_COMPOSITION);
	const struct nlattr *operation = gf_attr(message, GPUFABRIC_A_OPERATION);
	struct gf_condition previous;

	event->sequence = gf_u64(gf_attr(message, GPUFABRIC_A_SEQUENCE));
	event->time = gf_u64(gf_attr(message, GPUFABRIC_A_TIME));
	event->kind = gf_u32(gf_attr(message, GPUFABRIC_A_EVENT));
	event->has_previous = gf_attr(message, GPUFABRIC_A_PREVIOUS);
	previous = read_condition(gf_attr(message, GPUFABRIC_A_PREVIOUS));
	event->previous = state_of(&previous);
	event->has_switch = sw;
	event->has_slot = slot;
	event->has_composition = composition;
	event->has_operation = operation;
	event->switch_id = gf_u32(gf_sub(sw, GPUFABRIC_A_SWITCH_ID));
	gf_read_slot(slot, &event->slot);
	gf_read_composition(composition, &event->composition);
	gf_read_operation(operation, &event->operation);
}

void gf_read_history(const struct nlattr *nest, struct gf_history *history)
{
	struct gf_condition condition;

	memset(history, 0, sizeof(*history));
	history->slot_id = gf_u32(gf_sub(nest, GPUFABRIC_A_HISTORY_SLOT_ID));
	condition = read_condition(gf_sub(nest, GPUFABRIC_A_HISTORY_CONDITION));
	history->state = state_of(&condition);
	history->cause = condition.cause;
	history->sequence = gf_u64(gf_sub(nest, GPUFABRIC_A_HISTORY_SEQUENCE));
	history->time = gf_u64(gf_sub(nest, GPUFABRIC_A_HISTORY_TIME));
	TEXT(history->name, nest, GPUFABRIC_A_HISTORY_SLOT_NAME);
	gf_read_operation(gf_sub(nest, GPUFABRIC_A_HISTORY_OPERATION), &history->operation);
}
