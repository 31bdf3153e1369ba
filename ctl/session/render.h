/* SPDX-License-Identifier: GPL-2.0-only */
/* How slots, compositions and operations are shown; every command shows them alike. */
#ifndef GPUCTL_RENDER_H
#define GPUCTL_RENDER_H

#include "cli/out.h"
#include "host/judge.h"
#include "module/model.h"
#include "session/identity.h"

/* Columns of a list of slots, and of a list of compositions. */
extern const struct out_column render_slot_columns[];
extern const struct out_column render_composition_columns[];

/* Fill a row of a table with those columns. */
void render_slot(struct out_table *table, const struct gf_slot *slot,
		 const struct identity *identity, uint64_t now);
void render_composition(struct out_table *table, const struct gf_composition *composition,
			const struct gf_fabric *fabric, const struct knowledge *knowledge,
			uint64_t now);

/* What the reader of a list should know about a slot; goes to "warnings". */
void render_slot_warnings(struct out *out, const struct gf_slot *slot,
			  const struct identity *identity, const struct verdict *verdict);
/* One such line for all slots that are unmanaged. */
void render_unmanaged(struct out *out, const struct gf_slot *slots, size_t n);
/* For each slot with a switch that may be a chassis or a card: what to do when it is a card. */
void render_chassis(struct out *out, const struct gf_fabric *fabric, const struct gf_slot *slots,
		    size_t n);

/* "2 switches, 5 slots: 2 ready, 3 off"; also as object "summary" in JSON. */
void render_summary(struct out *out, const struct gf_fabric *fabric);

/* Column "text": why, where there is something to say. */
void render_failure(struct out_table *table, const struct gf_failure *failure);

/* A record of one operation below the current row of @parent. */
void render_operation(struct out_table *parent, const char *name,
		      const struct gf_operation *operation);

/* The slot holds a card that is no GPU. For the module that is empty, and a flag. */
/* Column "state": people read "other" there, JSON has the module's word. */
void render_slot_state(struct out_table *table, const struct gf_slot *slot);

/* Words for numbers of the protocol; never NULL. */
const char *render_state(uint32_t state);
const char *render_cause(uint32_t cause);
const char *render_kind(uint32_t kind);
const char *render_composition_state(uint32_t state);

/* Names of the bits set in @flags; @names as generated; NULL-terminated, free the array. */
const char **render_flags(uint32_t flags, const char *(*name)(unsigned int bit), size_t *n);

/* "link 0.12  driver 0.16": seconds of each phase that took place. */
char *render_durations(const struct gf_operation *operation);
/* The same for JSON: microseconds by phase. */
struct json_object *render_durations_json(const struct gf_operation *operation);

#endif /* GPUCTL_RENDER_H */
