/* SPDX-License-Identifier: GPL-2.0-only */
/* Do not edit: generated from uapi/netlink/specs/gpufabric.yaml by tools/gen-tool.py. */
#ifndef GPUCTL_NETLINK_GEN_H
#define GPUCTL_NETLINK_GEN_H

#include "module/object.h"
#include "linux/gpufabric.h"

/* Name of a value of an enum, or of a bit number of a flags type; NULL when unknown. */
const char *gfnl_occupancy_name(unsigned int value);
const char *gfnl_power_name(unsigned int value);
const char *gfnl_activity_name(unsigned int value);
const char *gfnl_health_name(unsigned int value);
const char *gfnl_cause_name(unsigned int value);
const char *gfnl_operation_kind_name(unsigned int value);
const char *gfnl_phase_name(unsigned int value);
const char *gfnl_backend_name(unsigned int value);
const char *gfnl_identity_source_name(unsigned int value);
const char *gfnl_contents_name(unsigned int value);
const char *gfnl_composition_state_name(unsigned int value);
const char *gfnl_event_kind_name(unsigned int value);
const char *gfnl_slot_flag_name(unsigned int value);
const char *gfnl_slot_cap_name(unsigned int value);
const char *gfnl_bar_flag_name(unsigned int value);
const char *gfnl_composition_flag_name(unsigned int value);
const char *gfnl_attach_flag_name(unsigned int value);
const char *gfnl_detach_flag_name(unsigned int value);
const char *gfnl_compose_flag_name(unsigned int value);
const char *gfnl_resize_flag_name(unsigned int value);
const char *gfnl_release_flag_name(unsigned int value);
const char *gfnl_drain_abort_flag_name(unsigned int value);

/* Name of a command; NULL when unknown. */
const char *gfnl_command_name(unsigned int command);

/* Name of an attribute at the top of a message, for error texts; NULL when unknown. */
const char *gfnl_attr_name(unsigned int attr);

/**
 * struct gf_condition - attributes of the set condition
 * @has: which attributes came
 */
struct gf_condition {
	uint32_t occupancy;
	uint32_t power;
	uint32_t activity;
	uint32_t health;
	uint32_t cause;
	struct {
		bool occupancy, power, activity, health, cause;
	} has;
};

extern const struct object gf_condition_object;

static inline int gf_condition_parse(const void *attrs, size_t len, struct gf_condition *to)
{
	return object_parse(&gf_condition_object, attrs, len, to);
}

static inline void gf_condition_free(struct gf_condition *from)
{
	object_free(&gf_condition_object, from);
}

/**
 * struct gf_link - attributes of the set link
 * @speed: Trained speed in MT/s per lane, 0 when down.
 * @width: Trained width in lanes, 0 when down.
 * @port_speed: Fastest speed of the port in MT/s per lane.
 * @port_width: Widest width of the port in lanes.
 * @device_speed: Fastest speed of the GPU in MT/s per lane.
 * @device_width: Widest width of the GPU in lanes.
 * @has: which attributes came
 */
struct gf_link {
	uint32_t speed;
	uint32_t width;
	uint32_t port_speed;
	uint32_t port_width;
	uint32_t device_speed;
	uint32_t device_width;
	struct {
		bool speed, width, port_speed, port_width, device_speed, device_width;
	} has;
};

extern const struct object gf_link_object;

static inline int gf_link_parse(const void *attrs, size_t len, struct gf_link *to)
{
	return object_parse(&gf_link_object, attrs, len, to);
}

static inline void gf_link_free(struct gf_link *from)
{
	object_free(&gf_link_object, from);
}

/**
 * struct gf_function - attributes of the set function
 * @inventory: That of the slot when it was so.
 * @address: PCI address, domain:bus:device.function.
 * @class: Class code, 24 bits.
 * @driver: Bound driver, absent when none.
 * @sequence: Number of the last event that this includes.
 * @instance: The load of the module that this is of.
 * @has: which attributes came
 */
struct gf_function {
	uint32_t slot_id;
	uint32_t inventory;
	char *address;
	uint32_t vendor;
	uint32_t device;
	uint32_t subsystem_vendor;
	uint32_t subsystem_device;
	uint32_t class;
	uint32_t revision;
	char *driver;
	uint32_t iommu_group;
	uint64_t sequence, instance;
	struct {
		bool slot_id, inventory, address, vendor, device, subsystem_vendor,
		     subsystem_device, class, revision, driver, iommu_group;
	} has;
};

extern const struct object gf_function_object;

static inline int gf_function_parse(const void *attrs, size_t len, struct gf_function *to)
{
	return object_parse(&gf_function_object, attrs, len, to);
}

static inline void gf_function_free(struct gf_function *from)
{
	object_free(&gf_function_object, from);
}

/**
 * struct gf_need - attributes of the set need
 * @inventory: That of the slot when it was so.
 * @size: In bytes.
 * @align: What it has to be aligned to, where that is not its size.
 * @sizes: Sizes that it can be set to; bit N stands for 2^N MiB.
 * @depth: Bridges of the card above it.
 * @sequence: Number of the last event that this includes.
 * @instance: The load of the module that this is of.
 * @has: which attributes came
 */
struct gf_need {
	uint32_t slot_id;
	uint32_t inventory;
	uint64_t size;
	uint32_t flags;
	uint64_t align;
	uint32_t sizes;
	uint32_t depth;
	uint64_t sequence, instance;
	struct {
		bool slot_id, inventory, size, flags, align, sizes, depth;
	} has;
};

extern const struct object gf_need_object;

static inline int gf_need_parse(const void *attrs, size_t len, struct gf_need *to)
{
	return object_parse(&gf_need_object, attrs, len, to);
}

static inline void gf_need_free(struct gf_need *from)
{
	object_free(&gf_need_object, from);
}

/**
 * struct gf_duration - attributes of the set duration
 * @has: which attributes came
 */
struct gf_duration {
	uint32_t phase;
	uint64_t microseconds;
	struct {
		bool phase, microseconds;
	} has;
};

extern const struct object gf_duration_object;

static inline int gf_duration_parse(const void *attrs, size_t len, struct gf_duration *to)
{
	return object_parse(&gf_duration_object, attrs, len, to);
}

static inline void gf_duration_free(struct gf_duration *from)
{
	object_free(&gf_duration_object, from);
}

/**
 * struct gf_failure - attributes of the set failure
 * @activity: What was under way; none where nobody had asked.
 * @error: A negative errno, 0 where nobody had asked.
 * @slot_name: The slot that failed first, of an operation.
 * @address: Function that it is about.
 * @driver: Driver that was awaited, or that does not return.
 * @waited: For how long, in milliseconds.
 * @bar: Index of the BAR.
 * @size: Of the BAR or the window, in bytes.
 * @vendor: Of the GPU that was found.
 * @class: Of the device that was found.
 * @task: Thread of the kernel that binds or unbinds a driver for longest, and so is
 *	likely to be waited for; empty for a process.
 * @pid: Of that thread.
 * @task_address: Function whose driver it binds or unbinds.
 * @task_activity: It binds (attaching) or unbinds (detaching).
 * @task_since: Since when, milliseconds of CLOCK_BOOTTIME.
 * @has: which attributes came
 */
struct gf_failure {
	uint32_t cause;
	uint32_t activity;
	int32_t error;
	char *slot_name;
	char *address;
	char *driver;
	uint32_t waited;
	uint32_t bar;
	uint64_t size;
	uint32_t vendor;
	uint32_t device;
	uint32_t subsystem_vendor;
	uint32_t subsystem_device;
	uint32_t class;
	char *task;
	uint32_t pid;
	char *task_address;
	uint32_t task_activity;
	uint64_t task_since;
	struct {
		bool cause, activity, error, slot_name, address, driver, waited, bar, size,
		     vendor, device, subsystem_vendor, subsystem_device, class, task, pid,
		     task_address, task_activity, task_since;
	} has;
};

extern const struct object gf_failure_object;

static inline int gf_failure_parse(const void *attrs, size_t len, struct gf_failure *to)
{
	return object_parse(&gf_failure_object, attrs, len, to);
}

static inline void gf_failure_free(struct gf_failure *from)
{
	object_free(&gf_failure_object, from);
}

/**
 * struct gf_operation - attributes of the set operation
 * @started: Milliseconds since the epoch.
 * @deadline: When its first stage is over at the latest, milliseconds of
 *	CLOCK_BOOTTIME. A removal after additions, and undoing, begin anew.
 * @error: 0 or a negative errno; absent while it runs.
 * @failure: Absent when the error is 0.
 * @uid: Who asked; only with CAP_SYS_ADMIN.
 * @pid: Who asked, in the pid namespace of the reader, in events in the initial
 *	one; only with CAP_SYS_ADMIN.
 * @command: Who asked; only with CAP_SYS_ADMIN.
 * @reason: Why; only with CAP_SYS_ADMIN.
 * @slots: Number of slots in the operation.
 * @sequence: Number of the last event that this includes.
 * @instance: The load of the module that this is of.
 * @has: which attributes came
 */
struct gf_operation {
	uint64_t id;
	uint32_t kind;
	uint64_t started;
	uint64_t deadline;
	int32_t error;
	struct gf_failure failure;
	struct gf_duration *durations;
	size_t n_durations;
	uint32_t uid;
	uint32_t pid;
	char *command;
	char *reason;
	char *composition;
	uint32_t slots;
	uint64_t sequence, instance;
	struct {
		bool id, kind, started, deadline, error, failure, uid, pid, command, reason,
		     composition, slots;
	} has;
};

extern const struct object gf_operation_object;

static inline int gf_operation_parse(const void *attrs, size_t len, struct gf_operation *to)
{
	return object_parse(&gf_operation_object, attrs, len, to);
}

static inline void gf_operation_free(struct gf_operation *from)
{
	object_free(&gf_operation_object, from);
}

/**
 * struct gf_slot - attributes of the set slot
 * @address: PCI address of the downstream port.
 * @generation: Another one after each thing that was done to the slot, that befell
 *	it, or that a composition left in its GPU; detach names the one that drain
 *	returned. While the module is loaded no slot and no composition gets one that was
 *	given before.
 * @since: When the condition last changed, milliseconds since the epoch.
 * @failure: What is known of the cause.
 * @identity_time: When it was read, milliseconds since the epoch.
 * @serial: Device Serial Number capability; only with CAP_SYS_ADMIN.
 * @inventory: Counts changes of the functions and needs that belong to the slot;
 *	they are objects of their own.
 * @function_count: Functions of the card.
 * @composition: Name of the composition that claims the slot.
 * @operation: Operation under way.
 * @drain_deadline: When a drain ends by itself, milliseconds of CLOCK_BOOTTIME.
 * @gpus: GPUs of the card. Vendor, device, class and serial number are those of the
 *	first.
 * @former: Name of the composition that the contents are of; absent when there is
 *	none.
 * @former_annotation: Its annotation, absent when it is empty; only with
 *	CAP_SYS_ADMIN.
 * @sequence: Number of the last event that this includes.
 * @instance: The load of the module that this is of.
 * @state: enum gf_state of @condition
 * @functions: objects that come by themselves
 * @needs: objects that come by themselves
 * @loaded: inventory of which these are, 0 for none
 * @ahead: read for them, so that older events are still to come
 * @has: which attributes came
 */
struct gf_slot {
	uint32_t id;
	char *name;
	uint32_t switch_id;
	char *address;
	uint32_t generation;
	struct gf_condition condition;
	uint64_t since;
	struct gf_failure failure;
	uint32_t flags;
	uint32_t caps;
	uint32_t backend;
	char *slot_driver;
	int32_t numa_node;
	struct gf_link link;
	uint32_t identity;
	uint64_t identity_time;
	uint32_t vendor;
	uint32_t device;
	uint32_t subsystem_vendor;
	uint32_t subsystem_device;
	uint32_t class;
	uint64_t serial;
	uint32_t inventory;
	uint32_t function_count;
	uint32_t bus_first;
	uint32_t bus_last;
	char *composition;
	uint32_t composition_id;
	struct gf_operation operation;
	struct gf_operation last_operation;
	uint32_t attaches;
	uint32_t detaches;
	uint32_t faults;
	uint32_t flaps;
	uint32_t degradations;
	uint64_t drain_deadline;
	uint32_t gpus;
	uint32_t contents;
	char *former;
	uint8_t *former_annotation;
	size_t n_former_annotation;
	uint64_t sequence, instance;
	uint32_t state;
	struct gf_function *functions;
	size_t n_functions;
	struct gf_need *needs;
	size_t n_needs;
	uint32_t loaded;
	bool ahead;
	struct {
		bool id, name, switch_id, address, generation, condition, since, failure, flags,
		     caps, backend, slot_driver, numa_node, link, identity, identity_time, vendor,
		     device, subsystem_vendor, subsystem_device, class, serial, inventory,
		     function_count, bus_first, bus_last, composition, composition_id, operation,
		     last_operation, attaches, detaches, faults, flaps, degradations,
		     drain_deadline, gpus, contents, former;
	} has;
};

extern const struct object gf_slot_object;

static inline int gf_slot_parse(const void *attrs, size_t len, struct gf_slot *to)
{
	return object_parse(&gf_slot_object, attrs, len, to);
}

static inline void gf_slot_free(struct gf_slot *from)
{
	object_free(&gf_slot_object, from);
}

/**
 * struct gf_switch - attributes of the set switch
 * @address: PCI address of the upstream port, or of the root bus.
 * @sequence: Number of the last event that this includes.
 * @instance: The load of the module that this is of.
 * @has: which attributes came
 */
struct gf_switch {
	uint32_t id;
	char *address;
	int32_t numa_node;
	uint32_t vendor;
	uint32_t device;
	uint32_t slots;
	struct gf_link link;
	uint64_t sequence, instance;
	struct {
		bool id, address, numa_node, vendor, device, slots, link;
	} has;
};

extern const struct object gf_switch_object;

static inline int gf_switch_parse(const void *attrs, size_t len, struct gf_switch *to)
{
	return object_parse(&gf_switch_object, attrs, len, to);
}

static inline void gf_switch_free(struct gf_switch *from)
{
	object_free(&gf_switch_object, from);
}

/**
 * struct gf_member - attributes of the set member
 * @slot_name: With slot-id, the slot has to have both.
 * @generation: As drain returned it, or as it is in a slot that is lost or in
 *	fault; of a slot to attach as it was when it was chosen.
 * @order: Slots of one switch that have it are powered one after the other, the
 *	lowest first: where windows move, that decides who gets one.
 * @has: which attributes came
 */
struct gf_member {
	uint32_t slot_id;
	char *slot_name;
	uint32_t generation;
	uint32_t expect_vendor;
	uint32_t expect_device;
	uint32_t expect_subsystem_vendor;
	uint32_t expect_subsystem_device;
	uint32_t order;
	struct {
		bool slot_id, slot_name, generation, expect_vendor, expect_device,
		     expect_subsystem_vendor, expect_subsystem_device, order;
	} has;
};

extern const struct object gf_member_object;

static inline int gf_member_parse(const void *attrs, size_t len, struct gf_member *to)
{
	return object_parse(&gf_member_object, attrs, len, to);
}

static inline void gf_member_free(struct gf_member *from)
{
	object_free(&gf_member_object, from);
}

/**
 * struct gf_composition - attributes of the set composition
 * @annotation: As it was given, absent when it is empty; only with CAP_SYS_ADMIN.
 * @generation: Another one after each change of the members or of the annotation,
 *	as of a slot.
 * @owner: User id that the composition is held for; only with CAP_SYS_ADMIN.
 * @member_count: Number of its members, which are objects of their own.
 * @created: Milliseconds since the epoch.
 * @operation: Operation under way, or the last one.
 * @sequence: Number of the last event that this includes.
 * @instance: The load of the module that this is of.
 * @members: objects that come by themselves
 * @loaded: generation of which these are, 0 for none
 * @ahead: read for them, so that older events are still to come
 * @has: which attributes came
 */
struct gf_composition {
	uint32_t id;
	char *name;
	uint8_t *annotation;
	size_t n_annotation;
	uint32_t generation;
	uint32_t owner;
	uint32_t state;
	uint32_t flags;
	uint32_t member_count;
	uint64_t created;
	struct gf_operation operation;
	uint64_t sequence, instance;
	struct gf_membership *members;
	size_t n_members;
	uint32_t loaded;
	bool ahead;
	struct {
		bool id, name, generation, owner, state, flags, member_count, created, operation;
	} has;
};

extern const struct object gf_composition_object;

static inline int gf_composition_parse(const void *attrs, size_t len, struct gf_composition *to)
{
	return object_parse(&gf_composition_object, attrs, len, to);
}

static inline void gf_composition_free(struct gf_composition *from)
{
	object_free(&gf_composition_object, from);
}

/**
 * struct gf_membership - attributes of the set membership
 * @generation: Of the composition.
 * @slot_name: A slot that is gone stays a member, and only this tells of it.
 * @sequence: Number of the last event that this includes.
 * @instance: The load of the module that this is of.
 * @has: which attributes came
 */
struct gf_membership {
	uint32_t composition_id;
	uint32_t generation;
	uint32_t slot_id;
	char *slot_name;
	uint64_t sequence, instance;
	struct {
		bool composition_id, generation, slot_id, slot_name;
	} has;
};

extern const struct object gf_membership_object;

static inline int gf_membership_parse(const void *attrs, size_t len, struct gf_membership *to)
{
	return object_parse(&gf_membership_object, attrs, len, to);
}

static inline void gf_membership_free(struct gf_membership *from)
{
	object_free(&gf_membership_object, from);
}

/**
 * struct gf_history - attributes of the set history
 * @time: Milliseconds since the epoch.
 * @condition: Of the slot after it.
 * @state: enum gf_state of @condition
 * @has: which attributes came
 */
struct gf_history {
	uint32_t slot_id;
	char *slot_name;
	uint64_t sequence;
	uint64_t time;
	struct gf_condition condition;
	struct gf_operation operation;
	uint32_t state;
	struct {
		bool slot_id, slot_name, sequence, time, condition, operation;
	} has;
};

extern const struct object gf_history_object;

static inline int gf_history_parse(const void *attrs, size_t len, struct gf_history *to)
{
	return object_parse(&gf_history_object, attrs, len, to);
}

static inline void gf_history_free(struct gf_history *from)
{
	object_free(&gf_history_object, from);
}

/**
 * struct gf_bucket - attributes of the set bucket
 * @below: Upper bound in microseconds, absent for the last one.
 * @has: which attributes came
 */
struct gf_bucket {
	uint64_t below;
	uint64_t count;
	struct {
		bool below, count;
	} has;
};

extern const struct object gf_bucket_object;

static inline int gf_bucket_parse(const void *attrs, size_t len, struct gf_bucket *to)
{
	return object_parse(&gf_bucket_object, attrs, len, to);
}

static inline void gf_bucket_free(struct gf_bucket *from)
{
	object_free(&gf_bucket_object, from);
}

/**
 * struct gf_stats - attributes of the set stats
 * @microseconds: Sum over all.
 * @has: which attributes came
 */
struct gf_stats {
	uint32_t kind;
	uint32_t phase;
	uint64_t count;
	uint64_t microseconds;
	struct gf_bucket *buckets;
	size_t n_buckets;
	struct {
		bool kind, phase, count, microseconds;
	} has;
};

extern const struct object gf_stats_object;

static inline int gf_stats_parse(const void *attrs, size_t len, struct gf_stats *to)
{
	return object_parse(&gf_stats_object, attrs, len, to);
}

static inline void gf_stats_free(struct gf_stats *from)
{
	object_free(&gf_stats_object, from);
}

/**
 * struct gf_status - attributes of the set status
 * @version: Version of the module.
 * @operations: Operations under way; the module cannot be unloaded before they end.
 * @history: Entries in the history.
 * @changes: Counts functions that come, go or get a driver in slots, and accepted
 *	requests that attach.
 * @sequence: Number of the last event that this includes.
 * @instance: The load of the module that this is of.
 * @has: which attributes came
 */
struct gf_status {
	char *version;
	uint32_t switches;
	uint32_t slots;
	uint32_t compositions;
	uint32_t operations;
	uint32_t history;
	uint64_t changes;
	uint64_t sequence, instance;
	struct {
		bool version, switches, slots, compositions, operations, history, changes;
	} has;
};

extern const struct object gf_status_object;

static inline int gf_status_parse(const void *attrs, size_t len, struct gf_status *to)
{
	return object_parse(&gf_status_object, attrs, len, to);
}

static inline void gf_status_free(struct gf_status *from)
{
	object_free(&gf_status_object, from);
}

/**
 * struct gf_message - attributes of the set message
 * @sequence: In an event its number, one more than that of the event before; in a
 *	reply the number of the last event that the reply includes.
 * @time: Time of an event, milliseconds since the epoch.
 * @previous: What the slot was in when the event before told of it.
 * @members: Slot to act on; in resize a slot to add.
 * @instance: A random number that the module has drawn when it was loaded. Ids and
 *	sequence numbers of two instances have nothing to do with each other.
 * @was: enum gf_state of @previous
 * @has: which attributes came
 */
struct gf_message {
	uint64_t sequence;
	uint64_t time;
	uint32_t kind;
	struct gf_condition previous;
	struct gf_switch sw;
	struct gf_slot slot;
	struct gf_function function;
	struct gf_need need;
	struct gf_composition composition;
	struct gf_operation operation;
	struct gf_history history;
	struct gf_stats stats;
	struct gf_status status;
	struct gf_member *members;
	size_t n_members;
	uint64_t instance;
	struct gf_membership membership;
	uint32_t was;
	struct {
		bool sequence, time, kind, previous, sw, slot, function, need, composition,
		     operation, history, stats, status, instance, membership;
	} has;
};

extern const struct object gf_message_object;

static inline int gf_message_parse(const void *attrs, size_t len, struct gf_message *to)
{
	return object_parse(&gf_message_object, attrs, len, to);
}

static inline void gf_message_free(struct gf_message *from)
{
	object_free(&gf_message_object, from);
}

#endif /* GPUCTL_NETLINK_GEN_H */
