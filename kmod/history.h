/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_HISTORY_H
#define GPUFABRIC_HISTORY_H

#include "op.h"

#define GF_HISTORY_SIZE 4096

/* One thing that happened to a slot. */
struct gf_history_entry {
	u64 sequence; /* from 1 */
	u64 time; /* milliseconds since the epoch */
	u32 slot_id;
	char slot_name[GPUFABRIC_SLOT_NAME_MAX + 1];
	char composition[GPUFABRIC_NAME_MAX + 1]; /* that it was about, may be empty */
	struct gf_condition condition; /* of the slot after it */
	u64 op; /* 0 when nobody asked */
	enum gpufabric_operation_kind kind;
	u64 started; /* milliseconds since the epoch */
	u32 phase_us[GF_PHASES];
	struct gf_failure failure;
	struct gf_who who; /* its pid is referenced */
};

void gf_history_step(struct gf_step *step);
void gf_history_state(struct gf_slot *slot);
void gf_history_request(struct gf_slot *slot, enum gpufabric_operation_kind kind,
			const struct gf_who *who);
u32 gf_history_count(void);
u64 gf_history_last(void);
const struct gf_history_entry *gf_history_at(u64 sequence);
void gf_history_free(void);

#endif /* GPUFABRIC_HISTORY_H */
