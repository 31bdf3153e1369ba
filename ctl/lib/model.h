/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module's objects as the tool holds them, filled from netlink. Strings
 * are owned and NULL when the attribute was absent.
 */
#ifndef GPUCTL_MODEL_H
#define GPUCTL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "linux/gpufabric.h"

struct nlattr;

#define GF_NO_GROUP UINT32_MAX

struct gf_link {
	uint32_t speed, width;			/* MT/s per lane, lanes; 0 when down */
	uint32_t port_speed, port_width;
	uint32_t device_speed, device_width;	/* 0 when unknown */
};

struct gf_bar {
	uint32_t index, flags;
	uint64_t size, address;
	bool has_address;
	uint64_t align;				/* of a need, where that is not its size */
	uint32_t sizes, depth;
};

struct gf_function {
	char *address;
	uint32_t vendor, device, subsystem_vendor, subsystem_device, class, revision;
	char *driver;
	uint32_t iommu_group;			/* GF_NO_GROUP when none */
	struct gf_bar *bars;
	size_t n_bars;
};

struct gf_window {
	uint32_t flags;
	uint64_t size, free;
};

struct gf_operation {
	uint64_t id;				/* 0: there is none */
	uint32_t kind;
	uint64_t started, deadline;
	bool done;
	int32_t error;				/* 0 or a negative errno, once done */
	char *text;
	uint64_t durations[GPUFABRIC_PHASE_TOTAL + 1];	/* microseconds */
	char *function, *driver;
	bool has_uid, has_pid;
	uint32_t uid, pid;
	char *command, *reason, *composition;
	uint32_t slots;
};

/* What a slot's GPU is, as far as PCI says, and the BAR that goes with it. */
struct gf_ids {
	uint32_t vendor, device, subsystem_vendor, subsystem_device, class;
	uint64_t bar;				/* bytes, of the catalogue; 0 when unknown */
};

struct gf_slot {
	uint64_t sequence;			/* last event that this includes */
	uint32_t id;
	char *name;
	uint32_t switch_id;
	char *address;
	uint32_t generation, state;
	uint64_t since;
	uint32_t cause;
	char *text;
	uint32_t flags, caps, backend;
	char *slot_driver;
	int32_t numa_node;
	bool presence, power;
	struct gf_link link;
	uint32_t identity;
	uint64_t identity_time;
	struct gf_ids ids;
	uint64_t serial;
	uint32_t gpus;				/* 0 when unknown */
	struct gf_function *functions;
	size_t n_functions;
	struct gf_window *windows;
	size_t n_windows;
	uint32_t bus_first, bus_last;
	struct gf_bar *need;			/* what its card had, while it has no functions */
	size_t n_need;
	char *composition;
	uint32_t composition_id;
	struct gf_operation operation, last_operation;
	uint32_t attaches, detaches, faults, flaps, degradations;
	uint64_t drain_deadline;
};

struct gf_switch {
	uint64_t sequence;
	uint32_t id;
	char *address;
	int32_t numa_node;
	uint32_t vendor, device, slots;
	struct gf_link link;
};

struct gf_member {
	uint32_t slot_id;
	char *slot_name;
	uint32_t generation, state;
};

struct gf_composition {
	uint64_t sequence;
	uint32_t id;
	char *name, *tenant, *label, *job;
	uint32_t owner, state, flags;
	struct gf_member *members;
	size_t n_members;
	uint64_t created, lease;
	struct gf_operation operation;
};

struct gf_history {
	uint32_t slot_id;
	char *slot_name;
	uint64_t sequence, time;
	bool has_state;
	uint32_t state, cause;
	struct gf_operation operation;
};

struct gf_bucket {
	uint64_t below;				/* UINT64_MAX for the last one */
	uint64_t count;
};

struct gf_stats {
	uint32_t kind, phase;
	uint64_t count, microseconds;
	struct gf_bucket *buckets;
	size_t n_buckets;
};

/* Of every operation and phase. */
struct gf_histograms {
	struct gf_stats *items;
	size_t n;
};

struct gf_status {
	uint64_t sequence;
	char *version;
	uint64_t changes;
	uint32_t switches, slots, compositions, operations, history;
};

struct gf_event {
	uint64_t sequence, time;
	uint32_t kind;
	bool has_previous, has_slot, has_switch, has_composition, has_operation;
	uint32_t previous;
	struct gf_slot slot;
	struct gf_switch sw;
	struct gf_composition composition;
	struct gf_operation operation;
};

/* Everything at once; arrays are sorted by switch and slot name. */
struct gf_fabric {
	struct gf_slot *slots;
	size_t n_slots;
	struct gf_switch *switches;
	size_t n_switches;
	struct gf_composition *compositions;
	size_t n_compositions;
};

/*
 * Parsers of one nest each; they fill a zeroed object and return 0 or a
 * negative libnl error when an attribute has a wrong size.
 */
int gf_parse_slot(struct nlattr *nest, struct gf_slot *slot);
int gf_parse_switch(struct nlattr *nest, struct gf_switch *sw);
int gf_parse_composition(struct nlattr *nest, struct gf_composition *composition);
int gf_parse_operation(struct nlattr *nest, struct gf_operation *operation);
int gf_parse_member(struct nlattr *nest, struct gf_member *member);
int gf_parse_history(struct nlattr *nest, struct gf_history *history);
int gf_parse_stats(struct nlattr *nest, struct gf_stats *stats);
int gf_parse_status(struct nlattr *nest, struct gf_status *status);
/* @attrs: the attributes at the top of the message. */
int gf_parse_event(struct nlattr **attrs, struct gf_event *event);

void gf_slot_free(struct gf_slot *slot);
void gf_switch_free(struct gf_switch *sw);
void gf_composition_free(struct gf_composition *composition);
void gf_operation_free(struct gf_operation *operation);
void gf_member_free(struct gf_member *member);
void gf_history_free(struct gf_history *history);
void gf_stats_free(struct gf_stats *stats);
void gf_histograms_free(struct gf_histograms *histograms);
void gf_event_free(struct gf_event *event);
void gf_fabric_free(struct gf_fabric *fabric);

/* "3-2" before "3-10": numbers inside names compare as numbers. */
int gf_name_compare(const char *a, const char *b);
void gf_fabric_sort(struct gf_fabric *fabric);

struct gf_slot *gf_slot_by_name(const struct gf_fabric *fabric, const char *name);
struct gf_slot *gf_slot_by_id(const struct gf_fabric *fabric, uint32_t id);
struct gf_switch *gf_switch_by_id(const struct gf_fabric *fabric, uint32_t id);
struct gf_composition *gf_composition_by_name(const struct gf_fabric *fabric, const char *name);

/* The function with the GPU's own class, of the first GPU; NULL when the slot has none. */
const struct gf_function *gf_gpu_function(const struct gf_slot *slot);
/* The next GPU of the same card; the first after NULL, NULL after the last. */
const struct gf_function *gf_gpu_next(const struct gf_slot *slot, const struct gf_function *gpu);
/* A bridge of the card's switch, which nobody uses by itself. */
bool gf_is_bridge(const struct gf_function *function);
/* True while a card's functions are on the bus, so that it can be held open. */
bool gf_slot_has_gpu(const struct gf_slot *slot);
/* What is left of a GPU that was lost or is in fault: functions that are on the bus. */
bool gf_slot_is_left(const struct gf_slot *slot);

/*
 * Bring the fabric up to date with an event; takes what it needs out of the
 * event. False when the snapshot includes the event already.
 */
bool gf_fabric_apply(struct gf_fabric *fabric, struct gf_event *event);

/* "32 GT/s x16", "-" when down. */
const char *gf_link_text(char buf[32], uint32_t speed, uint32_t width);

#endif /* GPUCTL_MODEL_H */
