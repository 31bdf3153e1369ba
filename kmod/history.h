/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_HISTORY_H
#define GPUFABRIC_HISTORY_H

#include "op.h"

#define GF_HISTORY_SIZE 4096

/**
 * struct gf_history_entry - one thing that happened to a slot
 * @sequence: number of the entry, from 1
 * @time: milliseconds since the epoch
 * @slot_id: id of the slot
 * @slot_name: its name
 * @composition: composition that it was about, may be empty
 * @condition: of the slot after it
 * @op: id of the operation, 0 when nobody asked
 * @kind: what was asked for
 * @error: how it ended
 * @text: @error in words
 * @started: when it began, milliseconds since the epoch
 * @phase_us: microseconds per phase
 * @who: who asked; its pid is referenced
 */
struct gf_history_entry {
	u64 sequence;
	u64 time;
	u32 slot_id;
	char slot_name[GPUFABRIC_SLOT_NAME_MAX + 1];
	char composition[GPUFABRIC_NAME_MAX + 1];
	struct gf_condition condition;
	u64 op;
	enum gpufabric_operation_kind kind;
	int error;
	char text[GF_TEXT_MAX];
	u64 started;
	u32 phase_us[GF_PHASES];
	struct gf_who who;
};

void gf_history_step(struct gf_step *step);
void gf_history_state(struct gf_slot *slot);
void gf_history_request(struct gf_slot *slot,
			enum gpufabric_operation_kind kind,
			const struct gf_who *who);
u32 gf_history_count(void);
u64 gf_history_last(void);
const struct gf_history_entry *gf_history_at(u64 sequence);
void gf_history_free(void);

#endif /* GPUFABRIC_HISTORY_H */
