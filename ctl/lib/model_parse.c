// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: from netlink to the tool's objects
 *
 * Only the generated policies decide which size an attribute must have.
 * Attributes and values that a newer module adds are passed over.
 */
#include <errno.h>
#include <netlink/attr.h>
#include <stdlib.h>
#include <string.h>

#include "lib/model.h"
#include "lib/netlink_gen.h"
#include "lib/text.h"

static char *get_string(struct nlattr *attr)
{
	char *s;

	if (!attr)
		return NULL;
	/* The policy does not promise a NUL at the end. */
	s = strndup(nla_data(attr), (size_t)nla_len(attr));
	return s ? s : mem_strdup("");
}

static uint32_t get_u32(struct nlattr *attr)
{
	return attr ? nla_get_u32(attr) : 0;
}

static uint64_t get_u64(struct nlattr *attr)
{
	return attr ? nla_get_u64(attr) : 0;
}

static int32_t get_node(struct nlattr *attr)
{
	return attr ? nla_get_s32(attr) : -1;
}

static int parse_link(struct nlattr *nest, struct gf_link *link)
{
	struct nlattr *tb[GPUFABRIC_A_LINK_MAX + 1];
	int err;

	if (!nest)
		return 0;
	err = nla_parse_nested(tb, GPUFABRIC_A_LINK_MAX, nest, gfnl_link_policy);
	if (err)
		return err;
	link->speed = get_u32(tb[GPUFABRIC_A_LINK_SPEED]);
	link->width = get_u32(tb[GPUFABRIC_A_LINK_WIDTH]);
	link->port_speed = get_u32(tb[GPUFABRIC_A_LINK_PORT_SPEED]);
	link->port_width = get_u32(tb[GPUFABRIC_A_LINK_PORT_WIDTH]);
	link->device_speed = get_u32(tb[GPUFABRIC_A_LINK_DEVICE_SPEED]);
	link->device_width = get_u32(tb[GPUFABRIC_A_LINK_DEVICE_WIDTH]);
	return 0;
}

static int parse_bar(struct nlattr *nest, struct gf_bar *bar)
{
	struct nlattr *tb[GPUFABRIC_A_BAR_MAX + 1];
	int err;

	err = nla_parse_nested(tb, GPUFABRIC_A_BAR_MAX, nest, gfnl_bar_policy);
	if (err)
		return err;
	bar->index = get_u32(tb[GPUFABRIC_A_BAR_INDEX]);
	bar->size = get_u64(tb[GPUFABRIC_A_BAR_SIZE]);
	bar->flags = get_u32(tb[GPUFABRIC_A_BAR_FLAGS]);
	bar->has_address = tb[GPUFABRIC_A_BAR_ADDRESS];
	bar->address = get_u64(tb[GPUFABRIC_A_BAR_ADDRESS]);
	bar->align = get_u64(tb[GPUFABRIC_A_BAR_ALIGN]);
	bar->sizes = get_u32(tb[GPUFABRIC_A_BAR_SIZES]);
	bar->depth = get_u32(tb[GPUFABRIC_A_BAR_DEPTH]);
	return 0;
}

static int parse_function(struct nlattr *nest, struct gf_function *function)
{
	struct nlattr *tb[GPUFABRIC_A_FUNCTION_MAX + 1], *attr;
	int err, rem;

	err = nla_parse_nested(tb, GPUFABRIC_A_FUNCTION_MAX, nest, gfnl_function_policy);
	if (err)
		return err;
	function->address = get_string(tb[GPUFABRIC_A_FUNCTION_ADDRESS]);
	function->vendor = get_u32(tb[GPUFABRIC_A_FUNCTION_VENDOR]);
	function->device = get_u32(tb[GPUFABRIC_A_FUNCTION_DEVICE]);
	function->subsystem_vendor = get_u32(tb[GPUFABRIC_A_FUNCTION_SUBSYSTEM_VENDOR]);
	function->subsystem_device = get_u32(tb[GPUFABRIC_A_FUNCTION_SUBSYSTEM_DEVICE]);
	function->class = get_u32(tb[GPUFABRIC_A_FUNCTION_CLASS]);
	function->revision = get_u32(tb[GPUFABRIC_A_FUNCTION_REVISION]);
	function->driver = get_string(tb[GPUFABRIC_A_FUNCTION_DRIVER]);
	function->iommu_group = tb[GPUFABRIC_A_FUNCTION_IOMMU_GROUP] ?
		nla_get_u32(tb[GPUFABRIC_A_FUNCTION_IOMMU_GROUP]) : GF_NO_GROUP;

	nla_for_each_nested(attr, nest, rem) {
		struct gf_bar bar = { 0 };

		if (nla_type(attr) != GPUFABRIC_A_FUNCTION_BAR)
			continue;
		err = parse_bar(attr, &bar);
		if (err)
			return err;
		function->bars = mem_grow(function->bars, function->n_bars + 1, sizeof(bar));
		function->bars[function->n_bars++] = bar;
	}
	return 0;
}

static int parse_window(struct nlattr *nest, struct gf_window *window)
{
	struct nlattr *tb[GPUFABRIC_A_WINDOW_MAX + 1];
	int err;

	err = nla_parse_nested(tb, GPUFABRIC_A_WINDOW_MAX, nest, gfnl_window_policy);
	if (err)
		return err;
	window->flags = get_u32(tb[GPUFABRIC_A_WINDOW_FLAGS]);
	window->size = get_u64(tb[GPUFABRIC_A_WINDOW_SIZE]);
	window->free = get_u64(tb[GPUFABRIC_A_WINDOW_FREE]);
	return 0;
}

int gf_parse_operation(struct nlattr *nest, struct gf_operation *operation)
{
	struct nlattr *tb[GPUFABRIC_A_OPERATION_MAX + 1], *attr;
	int err, rem;

	if (!nest)
		return 0;
	err = nla_parse_nested(tb, GPUFABRIC_A_OPERATION_MAX, nest, gfnl_operation_policy);
	if (err)
		return err;
	operation->id = get_u64(tb[GPUFABRIC_A_OPERATION_ID]);
	operation->kind = get_u32(tb[GPUFABRIC_A_OPERATION_KIND]);
	operation->started = get_u64(tb[GPUFABRIC_A_OPERATION_STARTED]);
	operation->deadline = get_u64(tb[GPUFABRIC_A_OPERATION_DEADLINE]);
	operation->done = tb[GPUFABRIC_A_OPERATION_ERROR];
	if (operation->done)
		operation->error = nla_get_s32(tb[GPUFABRIC_A_OPERATION_ERROR]);
	operation->text = get_string(tb[GPUFABRIC_A_OPERATION_TEXT]);
	operation->function = get_string(tb[GPUFABRIC_A_OPERATION_FUNCTION]);
	operation->driver = get_string(tb[GPUFABRIC_A_OPERATION_DRIVER]);
	operation->has_uid = tb[GPUFABRIC_A_OPERATION_UID];
	operation->uid = get_u32(tb[GPUFABRIC_A_OPERATION_UID]);
	operation->has_pid = tb[GPUFABRIC_A_OPERATION_PID];
	operation->pid = get_u32(tb[GPUFABRIC_A_OPERATION_PID]);
	operation->command = get_string(tb[GPUFABRIC_A_OPERATION_COMMAND]);
	operation->reason = get_string(tb[GPUFABRIC_A_OPERATION_REASON]);
	operation->composition = get_string(tb[GPUFABRIC_A_OPERATION_COMPOSITION]);
	operation->slots = get_u32(tb[GPUFABRIC_A_OPERATION_SLOTS]);

	nla_for_each_nested(attr, nest, rem) {
		struct nlattr *d[GPUFABRIC_A_DURATION_MAX + 1];
		uint32_t phase;

		if (nla_type(attr) != GPUFABRIC_A_OPERATION_DURATION)
			continue;
		err = nla_parse_nested(d, GPUFABRIC_A_DURATION_MAX, attr, gfnl_duration_policy);
		if (err)
			return err;
		phase = get_u32(d[GPUFABRIC_A_DURATION_PHASE]);
		if (phase <= GPUFABRIC_PHASE_TOTAL)
			operation->durations[phase] = get_u64(d[GPUFABRIC_A_DURATION_MICROSECONDS]);
	}
	return 0;
}

static int parse_slot_lists(struct nlattr *nest, struct gf_slot *slot)
{
	struct nlattr *attr;
	int err, rem;

	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) == GPUFABRIC_A_SLOT_FUNCTION) {
			struct gf_function *f;

			slot->functions =
				mem_grow(slot->functions, slot->n_functions + 1, sizeof(*f));
			f = &slot->functions[slot->n_functions++];
			memset(f, 0, sizeof(*f));
			err = parse_function(attr, f);
			if (err)
				return err;
		} else if (nla_type(attr) == GPUFABRIC_A_SLOT_WINDOW) {
			struct gf_window window = { 0 };

			err = parse_window(attr, &window);
			if (err)
				return err;
			slot->windows =
				mem_grow(slot->windows, slot->n_windows + 1, sizeof(window));
			slot->windows[slot->n_windows++] = window;
		} else if (nla_type(attr) == GPUFABRIC_A_SLOT_NEED) {
			struct gf_bar bar;

			err = parse_bar(attr, &bar);
			if (err)
				return err;
			slot->need = mem_grow(slot->need, slot->n_need + 1, sizeof(bar));
			slot->need[slot->n_need++] = bar;
		}
	}
	return 0;
}

static void parse_slot_identity(struct nlattr **tb, struct gf_slot *slot)
{
	slot->identity = get_u32(tb[GPUFABRIC_A_SLOT_IDENTITY]);
	slot->identity_time = get_u64(tb[GPUFABRIC_A_SLOT_IDENTITY_TIME]);
	slot->ids.vendor = get_u32(tb[GPUFABRIC_A_SLOT_VENDOR]);
	slot->ids.device = get_u32(tb[GPUFABRIC_A_SLOT_DEVICE]);
	slot->ids.subsystem_vendor = get_u32(tb[GPUFABRIC_A_SLOT_SUBSYSTEM_VENDOR]);
	slot->ids.subsystem_device = get_u32(tb[GPUFABRIC_A_SLOT_SUBSYSTEM_DEVICE]);
	slot->ids.class = get_u32(tb[GPUFABRIC_A_SLOT_CLASS]);
	slot->serial = get_u64(tb[GPUFABRIC_A_SLOT_SERIAL]);
	slot->gpus = get_u32(tb[GPUFABRIC_A_SLOT_GPUS]);
}

static void parse_slot_buses(struct nlattr **tb, struct gf_slot *slot)
{
	slot->bus_first = get_u32(tb[GPUFABRIC_A_SLOT_BUS_FIRST]);
	slot->bus_last = get_u32(tb[GPUFABRIC_A_SLOT_BUS_LAST]);
}

static void parse_slot_counts(struct nlattr **tb, struct gf_slot *slot)
{
	slot->attaches = get_u32(tb[GPUFABRIC_A_SLOT_ATTACHES]);
	slot->detaches = get_u32(tb[GPUFABRIC_A_SLOT_DETACHES]);
	slot->faults = get_u32(tb[GPUFABRIC_A_SLOT_FAULTS]);
	slot->flaps = get_u32(tb[GPUFABRIC_A_SLOT_FLAPS]);
	slot->degradations = get_u32(tb[GPUFABRIC_A_SLOT_DEGRADATIONS]);
}

int gf_parse_slot(struct nlattr *nest, struct gf_slot *slot)
{
	struct nlattr *tb[GPUFABRIC_A_SLOT_MAX + 1];
	int err;

	err = nla_parse_nested(tb, GPUFABRIC_A_SLOT_MAX, nest, gfnl_slot_policy);
	if (err)
		return err;
	slot->id = get_u32(tb[GPUFABRIC_A_SLOT_ID]);
	slot->name = tb[GPUFABRIC_A_SLOT_NAME] ? get_string(tb[GPUFABRIC_A_SLOT_NAME]) :
		mem_printf("#%u", slot->id);
	slot->switch_id = get_u32(tb[GPUFABRIC_A_SLOT_SWITCH_ID]);
	slot->address = get_string(tb[GPUFABRIC_A_SLOT_ADDRESS]);
	slot->generation = get_u32(tb[GPUFABRIC_A_SLOT_GENERATION]);
	slot->state = get_u32(tb[GPUFABRIC_A_SLOT_STATE]);
	slot->since = get_u64(tb[GPUFABRIC_A_SLOT_SINCE]);
	slot->cause = get_u32(tb[GPUFABRIC_A_SLOT_CAUSE]);
	slot->text = get_string(tb[GPUFABRIC_A_SLOT_TEXT]);
	slot->flags = get_u32(tb[GPUFABRIC_A_SLOT_FLAGS]);
	slot->caps = get_u32(tb[GPUFABRIC_A_SLOT_CAPS]);
	slot->backend = get_u32(tb[GPUFABRIC_A_SLOT_BACKEND]);
	slot->slot_driver = get_string(tb[GPUFABRIC_A_SLOT_SLOT_DRIVER]);
	slot->numa_node = get_node(tb[GPUFABRIC_A_SLOT_NUMA_NODE]);
	slot->presence = tb[GPUFABRIC_A_SLOT_PRESENCE] && nla_get_u8(tb[GPUFABRIC_A_SLOT_PRESENCE]);
	slot->power = tb[GPUFABRIC_A_SLOT_POWER] && nla_get_u8(tb[GPUFABRIC_A_SLOT_POWER]);
	slot->composition = get_string(tb[GPUFABRIC_A_SLOT_COMPOSITION]);
	slot->composition_id = get_u32(tb[GPUFABRIC_A_SLOT_COMPOSITION_ID]);
	slot->drain_deadline = get_u64(tb[GPUFABRIC_A_SLOT_DRAIN_DEADLINE]);
	parse_slot_identity(tb, slot);
	parse_slot_buses(tb, slot);
	parse_slot_counts(tb, slot);

	err = parse_link(tb[GPUFABRIC_A_SLOT_LINK], &slot->link);
	if (!err)
		err = gf_parse_operation(tb[GPUFABRIC_A_SLOT_OPERATION], &slot->operation);
	if (!err)
		err = gf_parse_operation(tb[GPUFABRIC_A_SLOT_LAST_OPERATION],
					 &slot->last_operation);
	if (!err)
		err = parse_slot_lists(nest, slot);
	return err;
}

int gf_parse_switch(struct nlattr *nest, struct gf_switch *sw)
{
	struct nlattr *tb[GPUFABRIC_A_SWITCH_MAX + 1];
	int err;

	err = nla_parse_nested(tb, GPUFABRIC_A_SWITCH_MAX, nest, gfnl_switch_policy);
	if (err)
		return err;
	sw->id = get_u32(tb[GPUFABRIC_A_SWITCH_ID]);
	sw->address = tb[GPUFABRIC_A_SWITCH_ADDRESS] ? get_string(tb[GPUFABRIC_A_SWITCH_ADDRESS]) :
		mem_printf("#%u", sw->id);
	sw->numa_node = get_node(tb[GPUFABRIC_A_SWITCH_NUMA_NODE]);
	sw->vendor = get_u32(tb[GPUFABRIC_A_SWITCH_VENDOR]);
	sw->device = get_u32(tb[GPUFABRIC_A_SWITCH_DEVICE]);
	sw->slots = get_u32(tb[GPUFABRIC_A_SWITCH_SLOTS]);
	return parse_link(tb[GPUFABRIC_A_SWITCH_LINK], &sw->link);
}

int gf_parse_member(struct nlattr *nest, struct gf_member *member)
{
	struct nlattr *tb[GPUFABRIC_A_MEMBER_MAX + 1];
	int err;

	err = nla_parse_nested(tb, GPUFABRIC_A_MEMBER_MAX, nest, gfnl_member_policy);
	if (err)
		return err;
	member->slot_id = get_u32(tb[GPUFABRIC_A_MEMBER_SLOT_ID]);
	member->slot_name = get_string(tb[GPUFABRIC_A_MEMBER_SLOT_NAME]);
	member->generation = get_u32(tb[GPUFABRIC_A_MEMBER_GENERATION]);
	member->state = get_u32(tb[GPUFABRIC_A_MEMBER_STATE]);
	return 0;
}

int gf_parse_composition(struct nlattr *nest, struct gf_composition *composition)
{
	struct nlattr *tb[GPUFABRIC_A_COMPOSITION_MAX + 1], *attr;
	int err, rem;

	err = nla_parse_nested(tb, GPUFABRIC_A_COMPOSITION_MAX, nest, gfnl_composition_policy);
	if (err)
		return err;
	composition->id = get_u32(tb[GPUFABRIC_A_COMPOSITION_ID]);
	composition->name = tb[GPUFABRIC_A_COMPOSITION_NAME]
				    ? get_string(tb[GPUFABRIC_A_COMPOSITION_NAME])
				    : mem_printf("#%u", composition->id);
	composition->tenant = get_string(tb[GPUFABRIC_A_COMPOSITION_TENANT]);
	composition->label = get_string(tb[GPUFABRIC_A_COMPOSITION_LABEL]);
	composition->job = get_string(tb[GPUFABRIC_A_COMPOSITION_JOB]);
	composition->owner = get_u32(tb[GPUFABRIC_A_COMPOSITION_OWNER]);
	composition->state = get_u32(tb[GPUFABRIC_A_COMPOSITION_STATE]);
	composition->flags = get_u32(tb[GPUFABRIC_A_COMPOSITION_FLAGS]);
	composition->created = get_u64(tb[GPUFABRIC_A_COMPOSITION_CREATED]);
	composition->lease = get_u64(tb[GPUFABRIC_A_COMPOSITION_LEASE]);

	nla_for_each_nested(attr, nest, rem) {
		struct gf_member *m;

		if (nla_type(attr) != GPUFABRIC_A_COMPOSITION_MEMBER)
			continue;
		composition->members =
			mem_grow(composition->members, composition->n_members + 1, sizeof(*m));
		m = &composition->members[composition->n_members++];
		memset(m, 0, sizeof(*m));
		err = gf_parse_member(attr, m);
		if (err)
			return err;
	}
	return gf_parse_operation(tb[GPUFABRIC_A_COMPOSITION_OPERATION], &composition->operation);
}

int gf_parse_history(struct nlattr *nest, struct gf_history *history)
{
	struct nlattr *tb[GPUFABRIC_A_HISTORY_MAX + 1];
	int err;

	err = nla_parse_nested(tb, GPUFABRIC_A_HISTORY_MAX, nest, gfnl_history_policy);
	if (err)
		return err;
	history->slot_id = get_u32(tb[GPUFABRIC_A_HISTORY_SLOT_ID]);
	history->slot_name = get_string(tb[GPUFABRIC_A_HISTORY_SLOT_NAME]);
	history->sequence = get_u64(tb[GPUFABRIC_A_HISTORY_SEQUENCE]);
	history->time = get_u64(tb[GPUFABRIC_A_HISTORY_TIME]);
	history->has_state = tb[GPUFABRIC_A_HISTORY_STATE];
	history->state = get_u32(tb[GPUFABRIC_A_HISTORY_STATE]);
	history->cause = get_u32(tb[GPUFABRIC_A_HISTORY_CAUSE]);
	return gf_parse_operation(tb[GPUFABRIC_A_HISTORY_OPERATION], &history->operation);
}

int gf_parse_stats(struct nlattr *nest, struct gf_stats *stats)
{
	struct nlattr *tb[GPUFABRIC_A_STATS_MAX + 1], *attr;
	int err, rem;

	err = nla_parse_nested(tb, GPUFABRIC_A_STATS_MAX, nest, gfnl_stats_policy);
	if (err)
		return err;
	stats->kind = get_u32(tb[GPUFABRIC_A_STATS_KIND]);
	stats->phase = get_u32(tb[GPUFABRIC_A_STATS_PHASE]);
	stats->count = get_u64(tb[GPUFABRIC_A_STATS_COUNT]);
	stats->microseconds = get_u64(tb[GPUFABRIC_A_STATS_MICROSECONDS]);

	nla_for_each_nested(attr, nest, rem) {
		struct nlattr *b[GPUFABRIC_A_BUCKET_MAX + 1];
		struct gf_bucket bucket;

		if (nla_type(attr) != GPUFABRIC_A_STATS_BUCKET)
			continue;
		err = nla_parse_nested(b, GPUFABRIC_A_BUCKET_MAX, attr, gfnl_bucket_policy);
		if (err)
			return err;
		bucket.below = b[GPUFABRIC_A_BUCKET_BELOW]
				       ? nla_get_u64(b[GPUFABRIC_A_BUCKET_BELOW])
				       : UINT64_MAX;
		bucket.count = get_u64(b[GPUFABRIC_A_BUCKET_COUNT]);
		stats->buckets = mem_grow(stats->buckets, stats->n_buckets + 1, sizeof(bucket));
		stats->buckets[stats->n_buckets++] = bucket;
	}
	return 0;
}

int gf_parse_status(struct nlattr *nest, struct gf_status *status)
{
	struct nlattr *tb[GPUFABRIC_A_STATUS_MAX + 1];
	int err;

	err = nla_parse_nested(tb, GPUFABRIC_A_STATUS_MAX, nest, gfnl_status_policy);
	if (err)
		return err;
	status->version = get_string(tb[GPUFABRIC_A_STATUS_VERSION]);
	status->changes = get_u64(tb[GPUFABRIC_A_STATUS_CHANGES]);
	status->switches = get_u32(tb[GPUFABRIC_A_STATUS_SWITCHES]);
	status->slots = get_u32(tb[GPUFABRIC_A_STATUS_SLOTS]);
	status->compositions = get_u32(tb[GPUFABRIC_A_STATUS_COMPOSITIONS]);
	status->operations = get_u32(tb[GPUFABRIC_A_STATUS_OPERATIONS]);
	status->history = get_u32(tb[GPUFABRIC_A_STATUS_HISTORY]);
	return 0;
}

int gf_parse_event(struct nlattr **attrs, struct gf_event *event)
{
	int err = 0;

	event->sequence = get_u64(attrs[GPUFABRIC_A_SEQUENCE]);
	event->time = get_u64(attrs[GPUFABRIC_A_TIME]);
	event->kind = get_u32(attrs[GPUFABRIC_A_EVENT]);
	event->has_previous = attrs[GPUFABRIC_A_PREVIOUS];
	event->previous = get_u32(attrs[GPUFABRIC_A_PREVIOUS]);
	event->has_slot = attrs[GPUFABRIC_A_SLOT];
	event->has_switch = attrs[GPUFABRIC_A_SWITCH];
	event->has_composition = attrs[GPUFABRIC_A_COMPOSITION];
	event->has_operation = attrs[GPUFABRIC_A_OPERATION];

	if (event->has_slot)
		err = gf_parse_slot(attrs[GPUFABRIC_A_SLOT], &event->slot);
	if (!err && event->has_switch)
		err = gf_parse_switch(attrs[GPUFABRIC_A_SWITCH], &event->sw);
	if (!err && event->has_composition)
		err = gf_parse_composition(attrs[GPUFABRIC_A_COMPOSITION], &event->composition);
	if (!err && event->has_operation)
		err = gf_parse_operation(attrs[GPUFABRIC_A_OPERATION], &event->operation);
	event->slot.sequence = event->sequence;
	event->sw.sequence = event->sequence;
	event->composition.sequence = event->sequence;
	return err;
}
