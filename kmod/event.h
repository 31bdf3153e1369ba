/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_EVENT_H
#define GPUFABRIC_EVENT_H

#include <linux/gpufabric.h>

struct gf_composition;
struct gf_op;
struct gf_slot;
struct gf_switch;

void gf_event_enable(bool on);
void gf_event_slot(struct gf_slot *slot, enum gpufabric_event_kind kind,
		   enum gpufabric_slot_state previous);
void gf_event_switch(struct gf_switch *sw, enum gpufabric_event_kind kind);
void gf_event_composition(struct gf_composition *composition,
			  enum gpufabric_event_kind kind);
void gf_event_operation(struct gf_op *op, enum gpufabric_event_kind kind);

#endif /* GPUFABRIC_EVENT_H */
