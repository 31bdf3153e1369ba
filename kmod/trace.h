/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM gpufabric

#if !defined(GPUFABRIC_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define GPUFABRIC_TRACE_H

#include <linux/tracepoint.h>

#include "op.h"
#include "slot.h"

TRACE_EVENT(gpufabric_state,
	TP_PROTO(const struct gf_slot *slot, int previous), TP_ARGS(slot, previous),
	TP_STRUCT__entry(
		__array(char, name, GPUFABRIC_SLOT_NAME_MAX + 1)
		__field(u32, id)
		__field(u32, generation)
		__field(int, previous)
		__field(int, state)
		__field(int, cause)
	),
	TP_fast_assign(
		strscpy(__entry->name, slot->name, sizeof(__entry->name));
		__entry->id = slot->id;
		__entry->generation = slot->generation;
		__entry->previous = previous;
		__entry->state = slot->state;
		__entry->cause = slot->failure.cause;
	),
	TP_printk("slot=%s id=%u generation=%u previous=%s state=%s cause=%d",
		  __entry->name, __entry->id, __entry->generation,
		  gf_state_name(__entry->previous), gf_state_name(__entry->state), __entry->cause)
);

TRACE_EVENT(gpufabric_step,
	TP_PROTO(const struct gf_step *step), TP_ARGS(step),
	TP_STRUCT__entry(
		__array(char, name, GPUFABRIC_SLOT_NAME_MAX + 1)
		__field(u64, op)
		__field(int, kind)
		__field(int, error)
		__array(u32, us, GF_PHASES)
	),
	TP_fast_assign(
		strscpy(__entry->name, step->slot->name, sizeof(__entry->name));
		__entry->op = step->op->id;
		__entry->kind = step->op->kind;
		__entry->error = step->result.failure.error;
		memcpy(__entry->us, step->result.phase_us, sizeof(__entry->us));
	),
	TP_printk("slot=%s operation=%llu kind=%d error=%d us=%s",
		  __entry->name, __entry->op, __entry->kind, __entry->error,
		  __print_array(__entry->us, GF_PHASES, sizeof(u32)))
);

#endif /* GPUFABRIC_TRACE_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
