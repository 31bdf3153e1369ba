// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Objects in messages, and events
 *
 * One function for each object of the protocol, used alike by replies, dumps and events. Each
 * takes the reader along: an unprivileged one is not told who asked and why, whose a composition
 * is, serial numbers and physical addresses. Under the fabric's lock.
 *
 * Every change is announced once, under the same lock and with a sequence number that rises by
 * one, so that events arrive in the order of the changes and a listener sees a gap. Two groups
 * carry them: monitor for everyone, and private, with what others are not told, for
 * CAP_SYS_ADMIN. An event that cannot be built for want of memory still takes its number: the gap
 * tells listeners to take a new snapshot.
 */
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/user_namespace.h>
#include <net/genetlink.h>

#include "backend.h"
#include "compat.h"
#include "composition.h"
#include "guard.h"
#include "history.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "notify.h"
#include "op.h"
#include "slot.h"
#include "snapshot.h"
#include "stats.h"
#include "switch.h"

/*
 * Whether there was room for the nest itself is seen here. Where there was not, what was put
 * without it goes with the message.
 */
static int close_nest(struct sk_buff *skb, struct nlattr *nest, int err)
{
	if (!nest)
		return -EMSGSIZE;
	if (err) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int put_text(struct sk_buff *skb, int type, const char *text)
{
	return text[0] ? nla_put_string(skb, type, text) : 0;
}

static int put_u32(struct sk_buff *skb, int type, u32 value)
{
	return value ? nla_put_u32(skb, type, value) : 0;
}

static int put_uint(struct sk_buff *skb, int type, u64 value)
{
	return value ? nla_put_uint(skb, type, value) : 0;
}

/* The number of the last event, and whose numbers these are. */
int gf_fill_number(struct sk_buff *skb)
{
	gf_assert_locked();
	return nla_put_uint(skb, GPUFABRIC_A_SEQUENCE, gf.sequence) ||
	       nla_put_uint(skb, GPUFABRIC_A_INSTANCE, gf.instance);
}

static int fill_condition(struct sk_buff *skb, int type, const struct gf_condition *condition)
{
	struct nlattr *nest = nla_nest_start(skb, type);

	return close_nest(skb, nest,
		nla_put_u32(skb, GPUFABRIC_A_CONDITION_OCCUPANCY,
			    condition->occupancy) ||
		nla_put_u32(skb, GPUFABRIC_A_CONDITION_POWER,
			    condition->power) ||
		nla_put_u32(skb, GPUFABRIC_A_CONDITION_ACTIVITY,
			    condition->activity) ||
		nla_put_u32(skb, GPUFABRIC_A_CONDITION_HEALTH,
			    condition->health) ||
		nla_put_u32(skb, GPUFABRIC_A_CONDITION_CAUSE, condition->cause));
}

static int fill_link(struct sk_buff *skb, int type, const struct gf_link *link)
{
	struct nlattr *nest = nla_nest_start(skb, type);

	return close_nest(skb, nest,
		nla_put_u32(skb, GPUFABRIC_A_LINK_SPEED, link->speed) ||
		nla_put_u32(skb, GPUFABRIC_A_LINK_WIDTH, link->width) ||
		nla_put_u32(skb, GPUFABRIC_A_LINK_PORT_SPEED,
			    link->port_speed) ||
		nla_put_u32(skb, GPUFABRIC_A_LINK_PORT_WIDTH,
			    link->port_width) ||
		nla_put_u32(skb, GPUFABRIC_A_LINK_DEVICE_SPEED,
			    link->device_speed) ||
		nla_put_u32(skb, GPUFABRIC_A_LINK_DEVICE_WIDTH, link->device_width));
}

static int fill_bar(struct sk_buff *skb, const struct gf_reader *reader,
		    const struct gf_bar *bar, u32 index)
{
	struct nlattr *nest = nla_nest_start(skb, GPUFABRIC_A_FUNCTION_BAR);

	return close_nest(skb, nest,
		nla_put_u32(skb, GPUFABRIC_A_BAR_INDEX, index) ||
		nla_put_uint(skb, GPUFABRIC_A_BAR_SIZE, bar->size) ||
		nla_put_u32(skb, GPUFABRIC_A_BAR_FLAGS, bar->flags) ||
		(reader->private &&
		 nla_put_uint(skb, GPUFABRIC_A_BAR_ADDRESS, bar->address)));
}

/* How many parts a slot has, or for those of GPUFABRIC_CMD_MEMBER_GET a composition. */
unsigned int gf_part_count(const void *of, u8 command)
{
	const struct gf_slot *slot = of;
	const struct gf_composition *composition = of;

	gf_assert_locked();
	switch (command) {
	case GPUFABRIC_CMD_MEMBER_GET:
		return composition->nr_members;
	case GPUFABRIC_CMD_FUNCTION_GET:
		return slot->snap ? slot->snap->nr_functions : 0;
	case GPUFABRIC_CMD_WINDOW_GET:
		return slot->snap ? slot->snap->nr_windows : 0;
	default:
		/* Of a card that is there the functions tell. */
		return slot->facts && !(slot->snap && slot->snap->nr_functions) ?
		       slot->facts->count : 0;
	}
}

int gf_fill_function(struct sk_buff *skb, const struct gf_reader *reader, const void *object)
{
	const struct gf_part *part = object;
	const struct gf_slot *slot = part->of;
	const struct gf_function *function = &slot->snap->functions[part->index];
	struct nlattr *nest = nla_nest_start(skb, GPUFABRIC_A_FUNCTION);
	u32 i;
	int err;

	gf_assert_locked();
	err = nla_put_u32(skb, GPUFABRIC_A_FUNCTION_SLOT_ID, slot->id) ||
	      nla_put_u32(skb, GPUFABRIC_A_FUNCTION_INVENTORY,
			  slot->inventory) ||
	      nla_put_string(skb, GPUFABRIC_A_FUNCTION_ADDRESS,
			     function->address) ||
	      nla_put_u32(skb, GPUFABRIC_A_FUNCTION_VENDOR,
			  function->vendor) ||
	      nla_put_u32(skb, GPUFABRIC_A_FUNCTION_DEVICE,
			  function->device) ||
	      nla_put_u32(skb, GPUFABRIC_A_FUNCTION_SUBSYSTEM_VENDOR,
			  function->subsystem_vendor) ||
	      nla_put_u32(skb, GPUFABRIC_A_FUNCTION_SUBSYSTEM_DEVICE,
			  function->subsystem_device) ||
	      nla_put_u32(skb, GPUFABRIC_A_FUNCTION_CLASS, function->class) ||
	      nla_put_u32(skb, GPUFABRIC_A_FUNCTION_REVISION,
			  function->revision) ||
	      put_text(skb, GPUFABRIC_A_FUNCTION_DRIVER, function->driver) ||
	      (function->iommu_group >= 0 &&
	       nla_put_u32(skb, GPUFABRIC_A_FUNCTION_IOMMU_GROUP, function->iommu_group));
	for (i = 0; !err && i < PCI_STD_NUM_BARS; i++) {
		if (function->bars[i].size)
			err = fill_bar(skb, reader, &function->bars[i], i);
	}
	return close_nest(skb, nest, err);
}

int gf_fill_window(struct sk_buff *skb, const struct gf_reader *reader, const void *object)
{
	const struct gf_part *part = object;
	const struct gf_slot *slot = part->of;
	const struct gf_window *window = &slot->snap->windows[part->index];
	struct nlattr *nest = nla_nest_start(skb, GPUFABRIC_A_WINDOW);

	gf_assert_locked();
	return close_nest(skb, nest,
		nla_put_u32(skb, GPUFABRIC_A_WINDOW_SLOT_ID, slot->id) ||
		nla_put_u32(skb, GPUFABRIC_A_WINDOW_INVENTORY,
			    slot->inventory) ||
		nla_put_u32(skb, GPUFABRIC_A_WINDOW_FLAGS, window->flags) ||
		nla_put_uint(skb, GPUFABRIC_A_WINDOW_SIZE, window->size) ||
		nla_put_uint(skb, GPUFABRIC_A_WINDOW_FREE, window->free));
}

static int fill_phases(struct sk_buff *skb, const u32 *phase_us)
{
	unsigned int phase;

	for (phase = 0; phase < GF_PHASES; phase++) {
		struct nlattr *nest;

		if (!phase_us[phase])
			continue;
		nest = nla_nest_start(skb, GPUFABRIC_A_OPERATION_DURATION);
		if (close_nest(skb, nest,
			       nla_put_u32(skb, GPUFABRIC_A_DURATION_PHASE,
					   phase) ||
			       nla_put_uint(skb, GPUFABRIC_A_DURATION_MICROSECONDS,
					    phase_us[phase])))
			return -EMSGSIZE;
	}
	return 0;
}

static int fill_who(struct sk_buff *skb, const struct gf_reader *reader, const struct gf_who *who)
{
	if (!who->pid || !reader->private)
		return 0;
	return nla_put_u32(skb, GPUFABRIC_A_OPERATION_UID,
			   from_kuid_munged(&init_user_ns, who->uid)) ||
	       nla_put_u32(skb, GPUFABRIC_A_OPERATION_PID,
			   pid_nr_ns(who->pid, reader->pid_ns)) ||
	       nla_put_string(skb, GPUFABRIC_A_OPERATION_COMMAND, who->comm) ||
	       put_text(skb, GPUFABRIC_A_OPERATION_REASON, who->reason);
}

static int fill_task(struct sk_buff *skb, const struct gf_binding *at)
{
	if (!at->pdev)
		return 0;
	return nla_put_string(skb, GPUFABRIC_A_FAILURE_TASK, at->comm) ||
	       put_u32(skb, GPUFABRIC_A_FAILURE_PID, at->pid) ||
	       nla_put_string(skb, GPUFABRIC_A_FAILURE_TASK_ADDRESS, at->address) ||
	       nla_put_u32(skb, GPUFABRIC_A_FAILURE_TASK_ACTIVITY,
			   at->unbinds ? GPUFABRIC_ACTIVITY_DETACHING :
					 GPUFABRIC_ACTIVITY_ATTACHING) ||
	       nla_put_uint(skb, GPUFABRIC_A_FAILURE_TASK_SINCE, at->since);
}

/* @failed: the step of an operation, NULL where it is clear which slot it is. */
static int fill_failure(struct sk_buff *skb, int type, const struct gf_failure *failure,
			const struct gf_step *failed)
{
	struct nlattr *nest = nla_nest_start(skb, type);

	return close_nest(skb, nest,
		nla_put_u32(skb, GPUFABRIC_A_FAILURE_CAUSE, failure->cause) ||
		nla_put_u32(skb, GPUFABRIC_A_FAILURE_ACTIVITY, failure->activity) ||
		nla_put_s32(skb, GPUFABRIC_A_FAILURE_ERROR, failure->error) ||
		(failed &&
		 nla_put_string(skb, GPUFABRIC_A_FAILURE_SLOT_NAME, failed->slot->name)) ||
		put_text(skb, GPUFABRIC_A_FAILURE_ADDRESS, failure->address) ||
		put_text(skb, GPUFABRIC_A_FAILURE_DRIVER, failure->driver) ||
		put_u32(skb, GPUFABRIC_A_FAILURE_WAITED, failure->waited_ms) ||
		(failure->cause == GPUFABRIC_CAUSE_RESOURCES &&
		 nla_put_u32(skb, GPUFABRIC_A_FAILURE_BAR, failure->bar)) ||
		put_uint(skb, GPUFABRIC_A_FAILURE_SIZE, failure->size) ||
		put_u32(skb, GPUFABRIC_A_FAILURE_VENDOR, failure->id[0]) ||
		put_u32(skb, GPUFABRIC_A_FAILURE_DEVICE, failure->id[1]) ||
		put_u32(skb, GPUFABRIC_A_FAILURE_SUBSYSTEM_VENDOR, failure->id[2]) ||
		put_u32(skb, GPUFABRIC_A_FAILURE_SUBSYSTEM_DEVICE, failure->id[3]) ||
		put_u32(skb, GPUFABRIC_A_FAILURE_CLASS, failure->class) ||
		fill_task(skb, &failure->binding));
}

/* How an operation, or its part for one slot, ended. */
static int fill_end(struct sk_buff *skb, const struct gf_failure *failure,
		    const struct gf_step *failed)
{
	return nla_put_s32(skb, GPUFABRIC_A_OPERATION_ERROR, failure->error) ||
	       (failure->cause &&
		fill_failure(skb, GPUFABRIC_A_OPERATION_FAILURE, failure, failed));
}

int gf_fill_op(struct sk_buff *skb, const struct gf_reader *reader, const void *object)
{
	const struct gf_op *op = object;
	struct nlattr *nest = nla_nest_start(skb, GPUFABRIC_A_OPERATION);
	int err;

	gf_assert_locked();
	err = nla_put_uint(skb, GPUFABRIC_A_OPERATION_ID, op->id) ||
	      nla_put_u32(skb, GPUFABRIC_A_OPERATION_KIND, op->kind) ||
	      nla_put_uint(skb, GPUFABRIC_A_OPERATION_STARTED, op->started) ||
	      put_uint(skb, GPUFABRIC_A_OPERATION_DEADLINE, gf_op_deadline(op)) ||
	      nla_put_u32(skb, GPUFABRIC_A_OPERATION_SLOTS, op->nr_steps) ||
	      (op->composition &&
	       nla_put_string(skb, GPUFABRIC_A_OPERATION_COMPOSITION,
			      op->composition->name)) ||
	      (op->stage == GF_STAGE_DONE &&
	       fill_end(skb, &op->failure, op->failed)) ||
	      fill_who(skb, reader, &op->who);
	return close_nest(skb, nest, err);
}

static int fill_running(struct sk_buff *skb, const struct gf_reader *reader,
			const struct gf_slot *slot)
{
	struct nlattr *nest = nla_nest_start(skb, GPUFABRIC_A_SLOT_OPERATION);
	const struct gf_op *op = slot->step->op;

	return close_nest(skb, nest,
		nla_put_uint(skb, GPUFABRIC_A_OPERATION_ID, op->id) ||
		nla_put_u32(skb, GPUFABRIC_A_OPERATION_KIND, op->kind) ||
		nla_put_uint(skb, GPUFABRIC_A_OPERATION_STARTED, op->started) ||
		put_uint(skb, GPUFABRIC_A_OPERATION_DEADLINE, gf_op_deadline(op)) ||
		fill_who(skb, reader, &op->who));
}

static int fill_last(struct sk_buff *skb, const struct gf_result *last)
{
	struct nlattr *nest = nla_nest_start(skb, GPUFABRIC_A_SLOT_LAST_OPERATION);

	return close_nest(skb, nest,
		nla_put_uint(skb, GPUFABRIC_A_OPERATION_ID, last->id) ||
		nla_put_u32(skb, GPUFABRIC_A_OPERATION_KIND, last->kind) ||
		nla_put_uint(skb, GPUFABRIC_A_OPERATION_STARTED, last->started) ||
		fill_end(skb, &last->failure, NULL) ||
		fill_phases(skb, last->phase_us));
}

static int fill_identity(struct sk_buff *skb, const struct gf_reader *reader,
			 const struct gf_identity *identity)
{
	if (nla_put_u32(skb, GPUFABRIC_A_SLOT_IDENTITY, identity->source))
		return -EMSGSIZE;
	if (identity->source == GPUFABRIC_IDENTITY_SOURCE_UNKNOWN)
		return 0;
	return nla_put_uint(skb, GPUFABRIC_A_SLOT_IDENTITY_TIME, identity->time) ||
	       nla_put_u32(skb, GPUFABRIC_A_SLOT_VENDOR, identity->vendor) ||
	       nla_put_u32(skb, GPUFABRIC_A_SLOT_DEVICE, identity->device) ||
	       nla_put_u32(skb, GPUFABRIC_A_SLOT_SUBSYSTEM_VENDOR,
			   identity->subsystem_vendor) ||
	       nla_put_u32(skb, GPUFABRIC_A_SLOT_SUBSYSTEM_DEVICE,
			   identity->subsystem_device) ||
	       nla_put_u32(skb, GPUFABRIC_A_SLOT_CLASS, identity->class) ||
	       nla_put_u32(skb, GPUFABRIC_A_SLOT_GPUS, identity->gpus) ||
	       (identity->serial && reader->private &&
		nla_put_uint(skb, GPUFABRIC_A_SLOT_SERIAL, identity->serial));
}

int gf_fill_need(struct sk_buff *skb, const struct gf_reader *reader, const void *object)
{
	const struct gf_part *part = object;
	const struct gf_slot *slot = part->of;
	const struct gf_fact *fact = &slot->facts->fact[part->index];
	struct nlattr *nest = nla_nest_start(skb, GPUFABRIC_A_NEED);

	gf_assert_locked();
	return close_nest(skb, nest,
		nla_put_u32(skb, GPUFABRIC_A_NEED_SLOT_ID, slot->id) ||
		nla_put_u32(skb, GPUFABRIC_A_NEED_INVENTORY,
			    slot->inventory) ||
		nla_put_uint(skb, GPUFABRIC_A_NEED_SIZE, fact->size) ||
		nla_put_u32(skb, GPUFABRIC_A_NEED_FLAGS, fact->flags) ||
		(fact->align != fact->size &&
		 nla_put_uint(skb, GPUFABRIC_A_NEED_ALIGN, fact->align)) ||
		(fact->sizes &&
		 nla_put_u32(skb, GPUFABRIC_A_NEED_SIZES, fact->sizes)) ||
		(fact->depth &&
		 nla_put_u32(skb, GPUFABRIC_A_NEED_DEPTH, fact->depth)));
}

static int fill_snapshot(struct sk_buff *skb, const struct gf_snapshot *snap)
{
	return fill_link(skb, GPUFABRIC_A_SLOT_LINK, &snap->link) ||
	       nla_put_u32(skb, GPUFABRIC_A_SLOT_FUNCTION_COUNT,
			   snap->nr_functions) ||
	       nla_put_u32(skb, GPUFABRIC_A_SLOT_BUS_FIRST, snap->bus_first) ||
	       nla_put_u32(skb, GPUFABRIC_A_SLOT_BUS_LAST, snap->bus_last);
}

static int fill_counters(struct sk_buff *skb, const struct gf_slot *slot)
{
	return nla_put_u32(skb, GPUFABRIC_A_SLOT_ATTACHES, slot->attaches) ||
	       nla_put_u32(skb, GPUFABRIC_A_SLOT_DETACHES, slot->detaches) ||
	       nla_put_u32(skb, GPUFABRIC_A_SLOT_FAULTS, slot->faults) ||
	       nla_put_u32(skb, GPUFABRIC_A_SLOT_FLAPS, slot->flaps) ||
	       nla_put_u32(skb, GPUFABRIC_A_SLOT_DEGRADATIONS, slot->degradations);
}

int gf_fill_slot(struct sk_buff *skb, const struct gf_reader *reader, const void *object)
{
	const struct gf_slot *slot = object;
	const struct gf_condition condition = gf_slot_condition(slot);
	struct nlattr *nest = nla_nest_start(skb, GPUFABRIC_A_SLOT);
	int err;

	gf_assert_locked();
	err = nla_put_u32(skb, GPUFABRIC_A_SLOT_ID, slot->id) ||
	      nla_put_string(skb, GPUFABRIC_A_SLOT_NAME, slot->name) ||
	      (slot->sw &&
	       nla_put_u32(skb, GPUFABRIC_A_SLOT_SWITCH_ID, slot->sw->id)) ||
	      nla_put_string(skb, GPUFABRIC_A_SLOT_ADDRESS, slot->address) ||
	      nla_put_u32(skb, GPUFABRIC_A_SLOT_GENERATION,
			  slot->generation) ||
	      fill_condition(skb, GPUFABRIC_A_SLOT_CONDITION, &condition) ||
	      nla_put_uint(skb, GPUFABRIC_A_SLOT_SINCE, slot->since) ||
	      (slot->failure.cause &&
	       fill_failure(skb, GPUFABRIC_A_SLOT_FAILURE, &slot->failure, NULL)) ||
	      nla_put_u32(skb, GPUFABRIC_A_SLOT_FLAGS, slot->flags) ||
	      nla_put_u32(skb, GPUFABRIC_A_SLOT_CAPS, slot->caps) ||
	      nla_put_u32(skb, GPUFABRIC_A_SLOT_BACKEND, slot->backend->id) ||
	      (slot->driver_name[0] &&
	       nla_put_string(skb, GPUFABRIC_A_SLOT_SLOT_DRIVER,
			      slot->driver_name)) ||
	      (slot->sw &&
	       nla_put_s32(skb, GPUFABRIC_A_SLOT_NUMA_NODE,
			   slot->sw->numa_node)) ||
	      fill_identity(skb, reader, &slot->identity) ||
	      nla_put_u32(skb, GPUFABRIC_A_SLOT_INVENTORY, slot->inventory) ||
	      (slot->snap && fill_snapshot(skb, slot->snap)) ||
	      (slot->composition &&
	       (nla_put_string(skb, GPUFABRIC_A_SLOT_COMPOSITION,
			       slot->composition->name) ||
		nla_put_u32(skb, GPUFABRIC_A_SLOT_COMPOSITION_ID,
			    slot->composition->id))) ||
	      (slot->step && fill_running(skb, reader, slot)) ||
	      (slot->last.id && fill_last(skb, &slot->last)) ||
	      fill_counters(skb, slot) ||
	      put_uint(skb, GPUFABRIC_A_SLOT_DRAIN_DEADLINE, slot->drain_deadline);
	return close_nest(skb, nest, err);
}

int gf_fill_switch(struct sk_buff *skb, const struct gf_reader *reader, const void *object)
{
	const struct gf_switch *sw = object;
	struct nlattr *nest = nla_nest_start(skb, GPUFABRIC_A_SWITCH);

	gf_assert_locked();
	return close_nest(skb, nest,
		nla_put_u32(skb, GPUFABRIC_A_SWITCH_ID, sw->id) ||
		nla_put_string(skb, GPUFABRIC_A_SWITCH_ADDRESS,
			       sw->address) ||
		nla_put_s32(skb, GPUFABRIC_A_SWITCH_NUMA_NODE,
			    sw->numa_node) ||
		nla_put_u32(skb, GPUFABRIC_A_SWITCH_VENDOR, sw->vendor) ||
		nla_put_u32(skb, GPUFABRIC_A_SWITCH_DEVICE, sw->device) ||
		nla_put_u32(skb, GPUFABRIC_A_SWITCH_SLOTS, sw->slots) ||
		fill_link(skb, GPUFABRIC_A_SWITCH_LINK, &sw->link));
}

int gf_fill_member(struct sk_buff *skb, const struct gf_slot *slot)
{
	struct nlattr *nest = nla_nest_start(skb, GPUFABRIC_A_MEMBER);

	gf_assert_locked();
	return close_nest(skb, nest,
		nla_put_u32(skb, GPUFABRIC_A_MEMBER_SLOT_ID, slot->id) ||
		nla_put_string(skb, GPUFABRIC_A_MEMBER_SLOT_NAME, slot->name) ||
		nla_put_u32(skb, GPUFABRIC_A_MEMBER_GENERATION, slot->generation));
}

int gf_fill_membership(struct sk_buff *skb, const struct gf_reader *reader, const void *object)
{
	const struct gf_part *part = object;
	const struct gf_composition *composition = part->of;
	struct nlattr *nest = nla_nest_start(skb, GPUFABRIC_A_MEMBERSHIP);
	unsigned int index = part->index;
	struct gf_member *member;

	gf_assert_locked();
	list_for_each_entry(member, &composition->members, list) {
		if (!index--)
			break;
	}
	return close_nest(skb, nest,
		nla_put_u32(skb, GPUFABRIC_A_MEMBERSHIP_COMPOSITION_ID, composition->id) ||
		nla_put_u32(skb, GPUFABRIC_A_MEMBERSHIP_GENERATION, composition->generation) ||
		nla_put_u32(skb, GPUFABRIC_A_MEMBERSHIP_SLOT_ID, member->slot->id) ||
		nla_put_string(skb, GPUFABRIC_A_MEMBERSHIP_SLOT_NAME, member->slot->name));
}

static int fill_composition_op(struct sk_buff *skb, const struct gf_op *op)
{
	struct nlattr *nest = nla_nest_start(skb, GPUFABRIC_A_COMPOSITION_OPERATION);

	return close_nest(skb, nest,
		nla_put_uint(skb, GPUFABRIC_A_OPERATION_ID, op->id) ||
		nla_put_u32(skb, GPUFABRIC_A_OPERATION_KIND, op->kind));
}

static int fill_whose(struct sk_buff *skb, const struct gf_composition *whose)
{
	return (whose->annotation_len &&
		nla_put(skb, GPUFABRIC_A_COMPOSITION_ANNOTATION,
			whose->annotation_len, whose->annotation)) ||
	       nla_put_u32(skb, GPUFABRIC_A_COMPOSITION_OWNER,
			   from_kuid_munged(&init_user_ns, whose->owner));
}

int gf_fill_composition(struct sk_buff *skb, const struct gf_reader *reader, const void *object)
{
	const struct gf_composition *composition = object;
	struct nlattr *nest = nla_nest_start(skb, GPUFABRIC_A_COMPOSITION);
	int err;

	gf_assert_locked();
	err = nla_put_u32(skb, GPUFABRIC_A_COMPOSITION_ID, composition->id) ||
	      nla_put_string(skb, GPUFABRIC_A_COMPOSITION_NAME,
			     composition->name) ||
	      (reader->private && fill_whose(skb, composition)) ||
	      nla_put_u32(skb, GPUFABRIC_A_COMPOSITION_STATE,
			  composition->state) ||
	      nla_put_u32(skb, GPUFABRIC_A_COMPOSITION_FLAGS,
			  composition->flags) ||
	      nla_put_uint(skb, GPUFABRIC_A_COMPOSITION_CREATED, composition->created) ||
	      nla_put_u32(skb, GPUFABRIC_A_COMPOSITION_GENERATION,
			  composition->generation) ||
	      nla_put_u32(skb, GPUFABRIC_A_COMPOSITION_MEMBER_COUNT, composition->nr_members) ||
	      (composition->op && fill_composition_op(skb, composition->op));
	return close_nest(skb, nest, err);
}

static int fill_history_op(struct sk_buff *skb, const struct gf_reader *reader,
			   const struct gf_history_entry *entry)
{
	struct nlattr *nest = nla_nest_start(skb, GPUFABRIC_A_HISTORY_OPERATION);

	return close_nest(skb, nest,
		nla_put_uint(skb, GPUFABRIC_A_OPERATION_ID, entry->op) ||
		nla_put_u32(skb, GPUFABRIC_A_OPERATION_KIND, entry->kind) ||
		fill_end(skb, &entry->failure, NULL) ||
		nla_put_uint(skb, GPUFABRIC_A_OPERATION_STARTED, entry->started) ||
		put_text(skb, GPUFABRIC_A_OPERATION_COMPOSITION,
			 entry->composition) ||
		fill_phases(skb, entry->phase_us) ||
		fill_who(skb, reader, &entry->who));
}

int gf_fill_history(struct sk_buff *skb, const struct gf_reader *reader, const void *object)
{
	const struct gf_history_entry *entry = object;
	struct nlattr *nest = nla_nest_start(skb, GPUFABRIC_A_HISTORY);

	gf_assert_locked();
	return close_nest(skb, nest,
		nla_put_u32(skb, GPUFABRIC_A_HISTORY_SLOT_ID,
			    entry->slot_id) ||
		nla_put_string(skb, GPUFABRIC_A_HISTORY_SLOT_NAME,
			       entry->slot_name) ||
		nla_put_uint(skb, GPUFABRIC_A_HISTORY_SEQUENCE, entry->sequence) ||
		nla_put_uint(skb, GPUFABRIC_A_HISTORY_TIME, entry->time) ||
		fill_condition(skb, GPUFABRIC_A_HISTORY_CONDITION,
			       &entry->condition) ||
		fill_history_op(skb, reader, entry));
}

static int fill_buckets(struct sk_buff *skb, const struct gf_histogram *histogram)
{
	u64 bound = GF_BUCKET_FIRST_US;
	unsigned int i;

	for (i = 0; i < GF_BUCKETS; i++, bound *= 2) {
		struct nlattr *nest = nla_nest_start(skb, GPUFABRIC_A_STATS_BUCKET);

		if (close_nest(skb, nest,
			       (i < GF_BUCKETS - 1 &&
				nla_put_uint(skb, GPUFABRIC_A_BUCKET_BELOW, bound)) ||
			       nla_put_uint(skb, GPUFABRIC_A_BUCKET_COUNT, histogram->buckets[i])))
			return -EMSGSIZE;
	}
	return 0;
}

int gf_fill_stats(struct sk_buff *skb, const struct gf_reader *reader, const void *object)
{
	const struct gf_histogram *histogram = object;
	struct nlattr *nest = nla_nest_start(skb, GPUFABRIC_A_STATS);

	return close_nest(skb, nest,
		nla_put_u32(skb, GPUFABRIC_A_STATS_KIND, histogram->kind) ||
		nla_put_u32(skb, GPUFABRIC_A_STATS_PHASE, histogram->phase) ||
		nla_put_uint(skb, GPUFABRIC_A_STATS_COUNT, histogram->count) ||
		nla_put_uint(skb, GPUFABRIC_A_STATS_MICROSECONDS, histogram->us) ||
		fill_buckets(skb, histogram));
}

int gf_fill_status(struct sk_buff *skb, const struct gf_reader *reader, const void *object)
{
	struct nlattr *nest = nla_nest_start(skb, GPUFABRIC_A_STATUS);

	gf_assert_locked();
	return close_nest(skb, nest,
		nla_put_string(skb, GPUFABRIC_A_STATUS_VERSION,
			       THIS_MODULE->version ?: "unknown") ||
		nla_put_u32(skb, GPUFABRIC_A_STATUS_SWITCHES,
			    gf.nr_switches) ||
		nla_put_u32(skb, GPUFABRIC_A_STATUS_SLOTS, gf.nr_slots) ||
		nla_put_u32(skb, GPUFABRIC_A_STATUS_COMPOSITIONS,
			    gf.nr_compositions) ||
		nla_put_u32(skb, GPUFABRIC_A_STATUS_OPERATIONS,
			    gf.nr_operations) ||
		nla_put_u32(skb, GPUFABRIC_A_STATUS_HISTORY,
			    gf_history_count()) ||
		nla_put_uint(skb, GPUFABRIC_A_STATUS_CHANGES, gf_notify_changes()));
}

#define EVENT_SIZE_FIRST 2048
#define EVENT_SIZE_MAX (256 * 1024)

/* An event that is being announced. */
struct gf_event {
	enum gpufabric_event_kind kind; /* what it tells */
	struct gf_slot *slot; /* slot that it is about, or NULL */
	struct gf_condition previous; /* what @slot was in when it was last told of */
	struct gf_switch *sw; /* switch that it is about, or NULL */
	struct gf_composition *composition; /* composition that it is about, or NULL */
	struct gf_op *op; /* operation that it is about, or NULL */
	u64 time; /* when, milliseconds since the epoch */
};

static int fill_event(struct sk_buff *skb, const struct gf_reader *reader,
		      const struct gf_event *event)
{
	void *header = genlmsg_put(skb, 0, 0, &gf_family, 0, GPUFABRIC_CMD_EVENT);

	if (!header)
		return -EMSGSIZE;
	if (gf_fill_number(skb) ||
	    nla_put_uint(skb, GPUFABRIC_A_TIME, event->time) ||
	    nla_put_u32(skb, GPUFABRIC_A_EVENT, event->kind) ||
	    (event->slot &&
	     (fill_condition(skb, GPUFABRIC_A_PREVIOUS, &event->previous) ||
	      gf_fill_slot(skb, reader, event->slot))) ||
	    (event->sw && gf_fill_switch(skb, reader, event->sw)) ||
	    (event->composition &&
	     gf_fill_composition(skb, reader, event->composition)) ||
	    (event->op && gf_fill_op(skb, reader, event->op))) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

static struct sk_buff *build_event(const struct gf_reader *reader, const struct gf_event *event)
{
	unsigned int size;

	for (size = EVENT_SIZE_FIRST; size <= EVENT_SIZE_MAX; size *= 2) {
		struct sk_buff *skb = genlmsg_new(size, GFP_KERNEL);

		if (!skb)
			return NULL;
		if (!fill_event(skb, reader, event))
			return skb;
		nlmsg_free(skb);
	}
	return NULL;
}

static void send_to(unsigned int group, bool private, const struct gf_event *event)
{
	const struct gf_reader reader = {
		.private = private,
		.pid_ns = &init_pid_ns,
	};
	struct sk_buff *skb;

	if (!genl_has_listeners(&gf_family, &init_net, group))
		return;
	skb = build_event(&reader, event);
	if (skb)
		genlmsg_multicast(&gf_family, skb, 0, group, GFP_KERNEL);
}

/* The family is registered; under the fabric's lock. */
static bool announcing;

/* Begin after the family is registered, cease before: numbers of groups mean others' then. */
void gf_event_enable(bool on)
{
	mutex_lock(&gf.lock);
	announcing = on;
	mutex_unlock(&gf.lock);
}

static void announce(struct gf_event *event)
{
	gf_assert_locked();
	gf.sequence++;
	if (!announcing)
		return;
	event->time = gf_now_ms();
	send_to(GPUFABRIC_NLGRP_MONITOR, false, event);
	send_to(GPUFABRIC_NLGRP_PRIVATE, true, event);
}

/* Announce a slot, and to udev what has changed of its condition. */
void gf_event_slot(struct gf_slot *slot, enum gpufabric_event_kind kind)
{
	const struct gf_condition now = gf_slot_condition(slot);
	struct gf_event event = {
		.kind = kind, .slot = slot, .previous = slot->told,
	};

	if (kind == GPUFABRIC_EVENT_KIND_SLOT_ADDED)
		event.previous = now;
	if (memcmp(&slot->told, &now, sizeof(now))) {
		slot->told = now;
		slot->since = gf_now_ms();
		if (!slot->retired)
			gf_slot_publish(slot);
	}
	announce(&event);
}

void gf_event_switch(struct gf_switch *sw, enum gpufabric_event_kind kind)
{
	struct gf_event event = { .kind = kind, .sw = sw };

	announce(&event);
}

void gf_event_composition(struct gf_composition *composition, enum gpufabric_event_kind kind)
{
	struct gf_event event = { .kind = kind, .composition = composition };

	announce(&event);
}

void gf_event_operation(struct gf_op *op, enum gpufabric_event_kind kind)
{
	struct gf_event event = { .kind = kind, .op = op };

	announce(&event);
}
