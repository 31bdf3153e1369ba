// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Objects in messages, and events
 *
 * One function for each object, used alike by replies, dumps and events. It takes the reader along:
 * an unprivileged one is not told who asked and why, whose a composition is, and serial numbers.
 *
 * Every change is announced once, with a number that rises by one, to the group monitor for
 * everyone and to the group private for CAP_SYS_ADMIN. An event that cannot be built for want of
 * memory still takes its number: the gap tells listeners to take a new snapshot.
 */
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/user_namespace.h>

#include "compat.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "snapshot.h"

static int close_nest(struct sk_buff *skb, struct nlattr *nest, int err)
{
	gf_assert_locked();
	if (!nest)
		return -EMSGSIZE;
	if (err) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/*
 * A nest, and in it what @puts puts, which is evaluated once, after the head. Where there was no
 * room for that, what was put without it goes with the message.
 */
#define put_nest(skb, type, puts) ({						\
	struct sk_buff *skb_ = (skb);						\
	struct nlattr *nest_ = nla_nest_start(skb_, type);			\
										\
	close_nest(skb_, nest_, puts);						\
})

static int put_text(struct sk_buff *skb, int type, const char *text)
{
	return text[0] ? nla_put_string(skb, type, text) : 0;
}

static int put_u32(struct sk_buff *skb, int type, u32 value)
{
	return value ? nla_put_u32(skb, type, value) : 0;
}

/* In as many bytes as it needs, 4 or 8. */
static int put_u64(struct sk_buff *skb, int type, u64 value)
{
	return value > U32_MAX ? nla_put(skb, type, sizeof(value), &value) :
				 nla_put_u32(skb, type, value);
}

static int put_uint(struct sk_buff *skb, int type, u64 value)
{
	return value ? put_u64(skb, type, value) : 0;
}

/* The attributes of ids follow that of the vendor. */
static int put_ids(struct sk_buff *skb, int vendor, const struct gf_ids *ids, bool zeroes)
{
	int i, err = 0;

	for (i = 0; !err && i < ARRAY_SIZE(ids->id); i++)
		err = zeroes || ids->id[i] ? nla_put_u32(skb, vendor + i, ids->id[i]) : 0;
	return err;
}

/* The number of the last event, and whose numbers these are. */
int gf_fill_number(struct sk_buff *skb)
{
	gf_assert_locked();
	return put_u64(skb, GPUFABRIC_A_SEQUENCE, gf.sequence) ||
	       put_u64(skb, GPUFABRIC_A_INSTANCE, gf.instance);
}

static int fill_condition(struct sk_buff *skb, int type, const struct gf_condition *condition)
{
	return put_nest(skb, type,
		nla_put_u32(skb, GPUFABRIC_A_CONDITION_OCCUPANCY, condition->occupancy) ||
		nla_put_u32(skb, GPUFABRIC_A_CONDITION_POWER, condition->power) ||
		nla_put_u32(skb, GPUFABRIC_A_CONDITION_ACTIVITY, condition->activity) ||
		nla_put_u32(skb, GPUFABRIC_A_CONDITION_HEALTH, condition->health) ||
		nla_put_u32(skb, GPUFABRIC_A_CONDITION_CAUSE, condition->cause));
}

static int fill_link(struct sk_buff *skb, int type, const struct gf_link *link)
{
	return put_nest(skb, type,
		nla_put_u32(skb, GPUFABRIC_A_LINK_SPEED, link->speed) ||
		nla_put_u32(skb, GPUFABRIC_A_LINK_WIDTH, link->width) ||
		nla_put_u32(skb, GPUFABRIC_A_LINK_PORT_SPEED, link->port_speed) ||
		nla_put_u32(skb, GPUFABRIC_A_LINK_PORT_WIDTH, link->port_width) ||
		nla_put_u32(skb, GPUFABRIC_A_LINK_DEVICE_SPEED, link->device_speed) ||
		nla_put_u32(skb, GPUFABRIC_A_LINK_DEVICE_WIDTH, link->device_width));
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

	return put_nest(skb, GPUFABRIC_A_FUNCTION,
		nla_put_u32(skb, GPUFABRIC_A_FUNCTION_SLOT_ID, slot->id) ||
		nla_put_u32(skb, GPUFABRIC_A_FUNCTION_INVENTORY, slot->inventory) ||
		nla_put_string(skb, GPUFABRIC_A_FUNCTION_ADDRESS, function->address) ||
		put_ids(skb, GPUFABRIC_A_FUNCTION_VENDOR, &function->ids, true) ||
		nla_put_u32(skb, GPUFABRIC_A_FUNCTION_CLASS, function->class) ||
		nla_put_u32(skb, GPUFABRIC_A_FUNCTION_REVISION, function->revision) ||
		put_text(skb, GPUFABRIC_A_FUNCTION_DRIVER, function->driver) ||
		(function->iommu_group >= 0 &&
		 nla_put_u32(skb, GPUFABRIC_A_FUNCTION_IOMMU_GROUP, function->iommu_group)));
}

static int fill_phases(struct sk_buff *skb, const u32 *phase_us)
{
	int phase, err = 0;

	for (phase = 0; !err && phase < GF_PHASES; phase++)
		err = phase_us[phase] && put_nest(skb, GPUFABRIC_A_OPERATION_DURATION,
			nla_put_u32(skb, GPUFABRIC_A_DURATION_PHASE, phase) ||
			put_u64(skb, GPUFABRIC_A_DURATION_MICROSECONDS, phase_us[phase]));
	return err;
}

static int fill_who(struct sk_buff *skb, const struct gf_reader *reader, const struct gf_who *who)
{
	if (!who->pid || !reader->private)
		return 0;
	return nla_put_u32(skb, GPUFABRIC_A_OPERATION_UID,
			   from_kuid_munged(&init_user_ns, who->uid)) ||
	       nla_put_u32(skb, GPUFABRIC_A_OPERATION_PID, pid_nr_ns(who->pid, reader->pid_ns)) ||
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
	       put_u64(skb, GPUFABRIC_A_FAILURE_TASK_SINCE, at->since);
}

/* @failed: the step of an operation, NULL where it is clear which slot it is. */
static int fill_failure(struct sk_buff *skb, int type, const struct gf_failure *failure,
			const struct gf_step *failed)
{
	return put_nest(skb, type,
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
		put_ids(skb, GPUFABRIC_A_FAILURE_VENDOR, &failure->ids, false) ||
		put_u32(skb, GPUFABRIC_A_FAILURE_CLASS, failure->class) ||
		fill_task(skb, &failure->binding));
}

static int fill_end(struct sk_buff *skb, const struct gf_failure *failure,
		    const struct gf_step *failed)
{
	return nla_put_s32(skb, GPUFABRIC_A_OPERATION_ERROR, failure->error) ||
	       (failure->cause &&
		fill_failure(skb, GPUFABRIC_A_OPERATION_FAILURE, failure, failed));
}

static int fill_begun(struct sk_buff *skb, const struct gf_reader *reader, const struct gf_op *op)
{
	return put_u64(skb, GPUFABRIC_A_OPERATION_ID, op->id) ||
	       nla_put_u32(skb, GPUFABRIC_A_OPERATION_KIND, op->kind) ||
	       put_u64(skb, GPUFABRIC_A_OPERATION_STARTED, op->started) ||
	       put_uint(skb, GPUFABRIC_A_OPERATION_DEADLINE, gf_op_deadline(op)) ||
	       fill_who(skb, reader, &op->who);
}

int gf_fill_op(struct sk_buff *skb, const struct gf_reader *reader, const void *object)
{
	const struct gf_op *op = object;

	return put_nest(skb, GPUFABRIC_A_OPERATION,
		fill_begun(skb, reader, op) ||
		nla_put_u32(skb, GPUFABRIC_A_OPERATION_SLOTS, op->nr_steps) ||
		(op->composition &&
		 nla_put_string(skb, GPUFABRIC_A_OPERATION_COMPOSITION, op->composition->name)) ||
		(op->stage == GF_STAGE_DONE && fill_end(skb, &op->failure, op->failed)));
}

static int fill_result(struct sk_buff *skb, const struct gf_result *result)
{
	return put_u64(skb, GPUFABRIC_A_OPERATION_ID, result->id) ||
	       nla_put_u32(skb, GPUFABRIC_A_OPERATION_KIND, result->kind) ||
	       put_u64(skb, GPUFABRIC_A_OPERATION_STARTED, result->started) ||
	       fill_end(skb, &result->failure, NULL) || fill_phases(skb, result->phase_us);
}

static int fill_identity(struct sk_buff *skb, const struct gf_reader *reader,
			 const struct gf_identity *identity)
{
	if (nla_put_u32(skb, GPUFABRIC_A_SLOT_IDENTITY, identity->source))
		return -EMSGSIZE;
	if (identity->source == GPUFABRIC_IDENTITY_SOURCE_UNKNOWN)
		return 0;
	return put_u64(skb, GPUFABRIC_A_SLOT_IDENTITY_TIME, identity->time) ||
	       put_ids(skb, GPUFABRIC_A_SLOT_VENDOR, &identity->ids, true) ||
	       nla_put_u32(skb, GPUFABRIC_A_SLOT_CLASS, identity->class) ||
	       nla_put_u32(skb, GPUFABRIC_A_SLOT_GPUS, identity->gpus) ||
	       (identity->serial && reader->private &&
		put_u64(skb, GPUFABRIC_A_SLOT_SERIAL, identity->serial));
}

int gf_fill_need(struct sk_buff *skb, const struct gf_reader *reader, const void *object)
{
	const struct gf_part *part = object;
	const struct gf_slot *slot = part->of;
	const struct gf_fact *fact = &slot->facts->fact[part->index];

	return put_nest(skb, GPUFABRIC_A_NEED,
		nla_put_u32(skb, GPUFABRIC_A_NEED_SLOT_ID, slot->id) ||
		nla_put_u32(skb, GPUFABRIC_A_NEED_INVENTORY, slot->inventory) ||
		put_u64(skb, GPUFABRIC_A_NEED_SIZE, fact->size) ||
		nla_put_u32(skb, GPUFABRIC_A_NEED_FLAGS, fact->flags) ||
		(fact->align != fact->size && put_u64(skb, GPUFABRIC_A_NEED_ALIGN, fact->align)) ||
		put_u32(skb, GPUFABRIC_A_NEED_SIZES, fact->sizes) ||
		put_u32(skb, GPUFABRIC_A_NEED_DEPTH, fact->depth));
}

static int put_annotation(struct sk_buff *skb, int type, const struct gf_reader *reader,
			  const struct gf_composition *composition)
{
	if (!reader->private || !composition->annotation_len)
		return 0;
	return nla_put(skb, type, composition->annotation_len, composition->annotation);
}

int gf_fill_slot(struct sk_buff *skb, const struct gf_reader *reader, const void *object)
{
	const struct gf_slot *slot = object;
	const struct gf_condition condition = gf_slot_condition(slot);

	return put_nest(skb, GPUFABRIC_A_SLOT,
		nla_put_u32(skb, GPUFABRIC_A_SLOT_ID, slot->id) ||
		nla_put_string(skb, GPUFABRIC_A_SLOT_NAME, slot->name) ||
		(slot->sw && nla_put_u32(skb, GPUFABRIC_A_SLOT_SWITCH_ID, slot->sw->id)) ||
		nla_put_string(skb, GPUFABRIC_A_SLOT_ADDRESS, slot->address) ||
		nla_put_u32(skb, GPUFABRIC_A_SLOT_GENERATION, slot->generation) ||
		fill_condition(skb, GPUFABRIC_A_SLOT_CONDITION, &condition) ||
		put_u64(skb, GPUFABRIC_A_SLOT_SINCE, slot->since) ||
		(slot->failure.cause &&
		 fill_failure(skb, GPUFABRIC_A_SLOT_FAILURE, &slot->failure, NULL)) ||
		nla_put_u32(skb, GPUFABRIC_A_SLOT_FLAGS, slot->flags) ||
		nla_put_u32(skb, GPUFABRIC_A_SLOT_CAPS, slot->caps) ||
		nla_put_u32(skb, GPUFABRIC_A_SLOT_BACKEND, slot->backend->id) ||
		(slot->driver_name &&
		 nla_put_string(skb, GPUFABRIC_A_SLOT_SLOT_DRIVER, slot->driver_name)) ||
		(slot->sw && nla_put_s32(skb, GPUFABRIC_A_SLOT_NUMA_NODE, slot->sw->numa_node)) ||
		fill_identity(skb, reader, &slot->identity) ||
		nla_put_u32(skb, GPUFABRIC_A_SLOT_INVENTORY, slot->inventory) ||
		(slot->snap &&
		 (fill_link(skb, GPUFABRIC_A_SLOT_LINK, &slot->snap->link) ||
		  nla_put_u32(skb, GPUFABRIC_A_SLOT_FUNCTION_COUNT, slot->snap->nr_functions) ||
		  nla_put_u32(skb, GPUFABRIC_A_SLOT_BUS_FIRST, slot->snap->bus_first) ||
		  nla_put_u32(skb, GPUFABRIC_A_SLOT_BUS_LAST, slot->snap->bus_last))) ||
		(slot->composition &&
		 (nla_put_string(skb, GPUFABRIC_A_SLOT_COMPOSITION, slot->composition->name) ||
		  nla_put_u32(skb, GPUFABRIC_A_SLOT_COMPOSITION_ID, slot->composition->id))) ||
		(slot->step && put_nest(skb, GPUFABRIC_A_SLOT_OPERATION,
					fill_begun(skb, reader, slot->step->op))) ||
		(slot->last.id && put_nest(skb, GPUFABRIC_A_SLOT_LAST_OPERATION,
					   fill_result(skb, &slot->last))) ||
		nla_put_u32(skb, GPUFABRIC_A_SLOT_ATTACHES, slot->attaches) ||
		nla_put_u32(skb, GPUFABRIC_A_SLOT_DETACHES, slot->detaches) ||
		nla_put_u32(skb, GPUFABRIC_A_SLOT_FAULTS, slot->faults) ||
		nla_put_u32(skb, GPUFABRIC_A_SLOT_FLAPS, slot->flaps) ||
		nla_put_u32(skb, GPUFABRIC_A_SLOT_DEGRADATIONS, slot->degradations) ||
		put_uint(skb, GPUFABRIC_A_SLOT_DRAIN_DEADLINE, slot->drain_deadline) ||
		nla_put_u32(skb, GPUFABRIC_A_SLOT_CONTENTS, slot->contents) ||
		(slot->former &&
		 (nla_put_string(skb, GPUFABRIC_A_SLOT_FORMER, slot->former->name) ||
		  put_annotation(skb, GPUFABRIC_A_SLOT_FORMER_ANNOTATION, reader, slot->former))));
}

int gf_fill_switch(struct sk_buff *skb, const struct gf_reader *reader, const void *object)
{
	const struct gf_switch *sw = object;

	return put_nest(skb, GPUFABRIC_A_SWITCH,
		nla_put_u32(skb, GPUFABRIC_A_SWITCH_ID, sw->id) ||
		nla_put_string(skb, GPUFABRIC_A_SWITCH_ADDRESS, sw->address) ||
		nla_put_s32(skb, GPUFABRIC_A_SWITCH_NUMA_NODE, sw->numa_node) ||
		nla_put_u32(skb, GPUFABRIC_A_SWITCH_VENDOR, sw->vendor) ||
		nla_put_u32(skb, GPUFABRIC_A_SWITCH_DEVICE, sw->device) ||
		nla_put_u32(skb, GPUFABRIC_A_SWITCH_SLOTS, sw->slots) ||
		fill_link(skb, GPUFABRIC_A_SWITCH_LINK, &sw->link));
}

int gf_fill_member(struct sk_buff *skb, const struct gf_slot *slot)
{
	return put_nest(skb, GPUFABRIC_A_MEMBER,
		nla_put_u32(skb, GPUFABRIC_A_MEMBER_SLOT_ID, slot->id) ||
		nla_put_string(skb, GPUFABRIC_A_MEMBER_SLOT_NAME, slot->name) ||
		nla_put_u32(skb, GPUFABRIC_A_MEMBER_GENERATION, slot->generation));
}

int gf_fill_membership(struct sk_buff *skb, const struct gf_reader *reader, const void *object)
{
	const struct gf_part *part = object;
	const struct gf_composition *composition = part->of;
	unsigned int index = part->index;
	const struct gf_slot *slot;

	list_for_each_entry(slot, &composition->members, member) {
		if (!index--)
			break;
	}
	return put_nest(skb, GPUFABRIC_A_MEMBERSHIP,
		nla_put_u32(skb, GPUFABRIC_A_MEMBERSHIP_COMPOSITION_ID, composition->id) ||
		nla_put_u32(skb, GPUFABRIC_A_MEMBERSHIP_GENERATION, composition->generation) ||
		nla_put_u32(skb, GPUFABRIC_A_MEMBERSHIP_SLOT_ID, slot->id) ||
		nla_put_string(skb, GPUFABRIC_A_MEMBERSHIP_SLOT_NAME, slot->name));
}

int gf_fill_composition(struct sk_buff *skb, const struct gf_reader *reader, const void *object)
{
	const struct gf_composition *composition = object;

	return put_nest(skb, GPUFABRIC_A_COMPOSITION,
		nla_put_u32(skb, GPUFABRIC_A_COMPOSITION_ID, composition->id) ||
		nla_put_string(skb, GPUFABRIC_A_COMPOSITION_NAME, composition->name) ||
		put_annotation(skb, GPUFABRIC_A_COMPOSITION_ANNOTATION, reader, composition) ||
		(reader->private &&
		 nla_put_u32(skb, GPUFABRIC_A_COMPOSITION_OWNER,
			     from_kuid_munged(&init_user_ns, composition->owner))) ||
		nla_put_u32(skb, GPUFABRIC_A_COMPOSITION_STATE, composition->state) ||
		nla_put_u32(skb, GPUFABRIC_A_COMPOSITION_FLAGS, composition->flags) ||
		put_u64(skb, GPUFABRIC_A_COMPOSITION_CREATED, composition->created) ||
		nla_put_u32(skb, GPUFABRIC_A_COMPOSITION_GENERATION, composition->generation) ||
		nla_put_u32(skb, GPUFABRIC_A_COMPOSITION_MEMBER_COUNT, composition->nr_members) ||
		(composition->op && put_nest(skb, GPUFABRIC_A_COMPOSITION_OPERATION,
			put_u64(skb, GPUFABRIC_A_OPERATION_ID, composition->op->id) ||
			nla_put_u32(skb, GPUFABRIC_A_OPERATION_KIND, composition->op->kind))));
}

int gf_fill_history(struct sk_buff *skb, const struct gf_reader *reader, const void *object)
{
	const struct gf_history_entry *entry = object;

	return put_nest(skb, GPUFABRIC_A_HISTORY,
		nla_put_u32(skb, GPUFABRIC_A_HISTORY_SLOT_ID, entry->slot_id) ||
		nla_put_string(skb, GPUFABRIC_A_HISTORY_SLOT_NAME, entry->slot_name) ||
		put_u64(skb, GPUFABRIC_A_HISTORY_SEQUENCE, entry->sequence) ||
		put_u64(skb, GPUFABRIC_A_HISTORY_TIME, entry->time) ||
		fill_condition(skb, GPUFABRIC_A_HISTORY_CONDITION, &entry->condition) ||
		put_nest(skb, GPUFABRIC_A_HISTORY_OPERATION,
			 fill_result(skb, &entry->result) ||
			 put_text(skb, GPUFABRIC_A_OPERATION_COMPOSITION, entry->composition) ||
			 fill_who(skb, reader, &entry->who)));
}

static int fill_buckets(struct sk_buff *skb, const struct gf_histogram *histogram)
{
	int i, err = 0;

	for (i = 0; !err && i < GF_BUCKETS; i++)
		err = put_nest(skb, GPUFABRIC_A_STATS_BUCKET,
			       put_uint(skb, GPUFABRIC_A_BUCKET_BELOW,
					i < GF_BUCKETS - 1 ? (u64)GF_BUCKET_FIRST_US << i : 0) ||
			       put_u64(skb, GPUFABRIC_A_BUCKET_COUNT, histogram->buckets[i]));
	return err;
}

int gf_fill_stats(struct sk_buff *skb, const struct gf_reader *reader, const void *object)
{
	const struct gf_histogram *histogram = object;

	return put_nest(skb, GPUFABRIC_A_STATS,
		nla_put_u32(skb, GPUFABRIC_A_STATS_KIND, histogram->kind) ||
		nla_put_u32(skb, GPUFABRIC_A_STATS_PHASE, histogram->phase) ||
		put_u64(skb, GPUFABRIC_A_STATS_COUNT, histogram->count) ||
		put_u64(skb, GPUFABRIC_A_STATS_MICROSECONDS, histogram->us) ||
		fill_buckets(skb, histogram));
}

int gf_fill_status(struct sk_buff *skb, const struct gf_reader *reader, const void *object)
{
	return put_nest(skb, GPUFABRIC_A_STATUS,
		nla_put_string(skb, GPUFABRIC_A_STATUS_VERSION,
			       THIS_MODULE->version ?: "unknown") ||
		nla_put_u32(skb, GPUFABRIC_A_STATUS_SWITCHES, gf.nr_switches) ||
		nla_put_u32(skb, GPUFABRIC_A_STATUS_SLOTS, gf.nr_slots) ||
		nla_put_u32(skb, GPUFABRIC_A_STATUS_COMPOSITIONS, gf.nr_compositions) ||
		nla_put_u32(skb, GPUFABRIC_A_STATUS_OPERATIONS, gf.nr_operations) ||
		nla_put_u32(skb, GPUFABRIC_A_STATUS_HISTORY, gf_history_count()) ||
		put_u64(skb, GPUFABRIC_A_STATUS_CHANGES, gf_notify_changes()));
}

struct gf_event {
	enum gpufabric_event_kind kind;
	gf_fill_fn *fill; /* puts @object */
	const void *object; /* what it is about */
	const struct gf_condition *previous; /* of a slot when it was last told of, or NULL */
	u64 time; /* milliseconds since the epoch */
};

static int fill_event(struct sk_buff *skb, const struct gf_reader *reader,
		      const struct gf_event *event)
{
	void *header = genlmsg_put(skb, 0, 0, &gf_family, 0, GPUFABRIC_CMD_EVENT);

	if (!header)
		return -EMSGSIZE;
	if (gf_fill_number(skb) || put_u64(skb, GPUFABRIC_A_TIME, event->time) ||
	    nla_put_u32(skb, GPUFABRIC_A_EVENT, event->kind) ||
	    (event->previous && fill_condition(skb, GPUFABRIC_A_PREVIOUS, event->previous)) ||
	    event->fill(skb, reader, event->object))
		return -EMSGSIZE;
	genlmsg_end(skb, header);
	return 0;
}

static void send_to(unsigned int group, bool private, const struct gf_event *event)
{
	const struct gf_reader reader = { .private = private, .pid_ns = &init_pid_ns };
	struct sk_buff *skb;

	if (!genl_has_listeners(&gf_family, &init_net, group))
		return;
	skb = genlmsg_new(GF_MESSAGE_SIZE, GFP_KERNEL);
	if (!skb)
		return;
	if (WARN_ON_ONCE(fill_event(skb, &reader, event)))
		nlmsg_free(skb);
	else
		genlmsg_multicast(&gf_family, skb, 0, group, GFP_KERNEL);
}

static bool announcing; /* the family is registered; under the fabric's lock */

/* Begin after the family is registered, cease before: numbers of groups mean others' then. */
void gf_event_enable(bool on)
{
	guard(mutex)(&gf.lock);
	announcing = on;
}

/* @previous: of a slot, its condition when it was last told of; NULL of all else. */
void gf_announce(enum gpufabric_event_kind kind, gf_fill_fn *fill, const void *object,
		 const struct gf_condition *previous)
{
	const struct gf_event event = { kind, fill, object, previous, gf_now_ms() };

	gf_assert_locked();
	gf.sequence++;
	if (!announcing)
		return;
	send_to(GPUFABRIC_NLGRP_MONITOR, false, &event);
	send_to(GPUFABRIC_NLGRP_PRIVATE, true, &event);
}

/* Announce a slot, and to udev what has changed of its condition. */
void gf_event_slot(struct gf_slot *slot, enum gpufabric_event_kind kind)
{
	const struct gf_condition now = gf_slot_condition(slot);
	const struct gf_condition previous =
		kind == GPUFABRIC_EVENT_KIND_SLOT_ADDED ? now : slot->told;

	if (memcmp(&slot->told, &now, sizeof(now))) {
		slot->told = now;
		slot->since = gf_now_ms();
		if (!slot->retired)
			gf_slot_publish(slot);
	}
	gf_announce(kind, gf_fill_slot, slot, &previous);
}
