// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: events in words
 *
 * A line begins with what the event is about and its name, in columns that
 * the eye can follow from line to line.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "module/failure.h"
#include "module/netlink_gen.h"
#include "publish/event_text.h"
#include "session/render.h"

const char *event_clock(char buf[EVENT_CLOCK], uint64_t ms)
{
	char full[TEXT_QUANTITY];

	text_time(full, ms);
	/* Date and time have a fixed form; only the time of day is wanted. */
	snprintf(buf, EVENT_CLOCK, "%.8s.%03u", strlen(full) > 11 ? full + 11 : full,
		 (unsigned int)(ms % 1000));
	return buf;
}

static void slot_text(struct text *text, const struct gf_message *event,
		      const struct gf_fabric *fabric, const struct knowledge *knowledge)
{
	const struct gf_slot *before = gf_slot_by_id(fabric, event->slot.id);
	const struct gf_slot *s = event->slot.name ? &event->slot : before;
	bool changed = event->kind == GPUFABRIC_EVENT_KIND_SLOT_CHANGED;
	struct identity identity;

	if (!s)
		return;
	identity_of(knowledge, s, &identity);
	text_add(text, "%-12s %-10s ", changed ? "slot" : gfnl_event_kind_name(event->kind),
		 s->name);
	if (changed && event->has.previous && event->was != s->state)
		text_add(text, "%s -> %s", render_state(event->was), render_state(s->state));
	else
		text_add(text, "%s", render_state(s->state));
	if (s->condition.cause)
		text_add(text, " (%s)", render_cause(s->condition.cause));
	text_add(text, "  %s", identity.label);
	if (s->composition)
		text_add(text, "  %s", s->composition);
	failure_add(text, "  ", &s->failure);
}

static void operation_text(struct text *text, const struct gf_message *event)
{
	const struct gf_operation *op = &event->operation;
	const char *result = "done";

	if (event->kind != GPUFABRIC_EVENT_KIND_OPERATION_DONE)
		result = "started";
	else if (op->error)
		result = strerror(-op->error);
	text_add(text, "%-12s %-10s %s", "operation", render_kind(op->kind), result);
	if (op->composition)
		text_add(text, "  %s", op->composition);
	failure_add(text, "  ", &op->failure);
}

char *event_text(const struct gf_message *event, const struct gf_fabric *fabric,
		 const struct knowledge *knowledge)
{
	const char *kind = gfnl_event_kind_name(event->kind);
	struct text text = { 0 };

	if (event->has.slot)
		slot_text(&text, event, fabric, knowledge);
	else if (event->has.operation)
		operation_text(&text, event);
	else if (event->has.composition)
		text_add(&text, "%-12s %-10s %s", "composition", event->composition.name,
			 event->kind == GPUFABRIC_EVENT_KIND_COMPOSITION_REMOVED ?
				 "removed" :
				 render_composition_state(event->composition.state));
	else
		text_add(&text, "%-12s %s", kind ? kind : "event",
			 event->has.sw ? event->sw.address : "");
	return text.text ? text.text : mem_strdup("");
}
