/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module's objects as the tool holds them: what follows from those that
 * netlink_gen.h has from the spec, and all of them together.
 */
#ifndef GPUCTL_MODEL_H
#define GPUCTL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "module/netlink_gen.h"
#include "module/state.h"

/* What a slot's GPU is, as far as PCI says, and the BAR that goes with it. */
struct gf_ids {
	uint32_t vendor, device, subsystem_vendor, subsystem_device, class;
	uint64_t bar; /* bytes, of the catalogue; 0 when unknown */
};

/* Of every operation and phase. */
struct gf_histograms {
	struct gf_stats *items;
	size_t n;
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
 * Read the attributes of a reply or an event, with what follows from them: an object that
 * has no name is called by its number, one without a NUMA node has -1, and those of a
 * snapshot know the number of the message. 0 or a negative errno, then @message is zeroed.
 */
int gf_message_read(const void *attrs, size_t len, struct gf_message *message);

void gf_histograms_free(struct gf_histograms *histograms);
void gf_fabric_free(struct gf_fabric *fabric);

/* "3-2" before "3-10": numbers inside names compare as numbers. */
int gf_name_compare(const char *a, const char *b);
void gf_fabric_sort(struct gf_fabric *fabric);

struct gf_slot *gf_slot_by_name(const struct gf_fabric *fabric, const char *name);
struct gf_slot *gf_slot_by_id(const struct gf_fabric *fabric, uint32_t id);
struct gf_switch *gf_switch_by_id(const struct gf_fabric *fabric, uint32_t id);
struct gf_composition *gf_composition_by_id(const struct gf_fabric *fabric, uint32_t id);
struct gf_composition *gf_composition_by_name(const struct gf_fabric *fabric, const char *name);

/* Is there an operation, and has it no end yet? */
bool gf_operation_is_under_way(const struct gf_operation *operation);

/* Microseconds that an operation spent in a phase, 0 when it has not. */
uint64_t gf_duration(const struct gf_operation *operation, uint32_t phase);

/* Is nothing in it that has power? */
bool gf_slot_is_off(const struct gf_slot *slot);

/* The same, and nothing is under way: what is left in fault or was lost has no power either. */
bool gf_slot_has_no_power(const struct gf_slot *slot);

/* May a GPU be brought to it: is it empty, nobody's, ours to drive and not in quarantine? */
bool gf_slot_is_vacant(const struct gf_slot *slot);

/* What the first GPU of a slot is; all 0 when unknown. */
struct gf_ids gf_slot_ids(const struct gf_slot *slot);

/* The function with the GPU's own class, of the first GPU; NULL when the slot has none. */
const struct gf_function *gf_gpu_function(const struct gf_slot *slot);
/* The next GPU of the same card; the first after NULL, NULL after the last. */
const struct gf_function *gf_gpu_next(const struct gf_slot *slot, const struct gf_function *gpu);
/* A bridge of the card's switch, which nobody uses by itself. */
bool gf_is_bridge(const struct gf_function *function);
/* True while a card's functions are on the bus, so that it can be held open. */
bool gf_slot_has_gpu(const struct gf_slot *slot);
/* It holds a card that is not a GPU. */
bool gf_slot_is_other(const struct gf_slot *slot);
/* What is left of a GPU that was lost or is in fault: functions that are on the bus. */
bool gf_slot_is_left(const struct gf_slot *slot);

/*
 * What comes by dumps of its own goes over to the same slot as it is later, which has none
 * yet. Nothing when it is not of the same inventory.
 */
void gf_slot_move_parts(struct gf_slot *to, struct gf_slot *from);
/* The same for members; nothing when they are not of the same generation. */
void gf_composition_move_parts(struct gf_composition *to, struct gf_composition *from);

/* What an event says of an object, or that it is gone, is known already. */
bool gf_fabric_includes(const struct gf_fabric *fabric, const struct gf_message *event);
/*
 * Bring the fabric up to date with an event; takes what it needs out of the
 * event. False when it is known already. See module/mirror.h for events in order.
 */
bool gf_fabric_apply(struct gf_fabric *fabric, struct gf_message *event);

/* "32 GT/s x16", "-" when down. */
const char *gf_link_text(char buf[32], uint32_t speed, uint32_t width);

#endif /* GPUCTL_MODEL_H */
