// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the journal
 *
 * Each change is one entry: MESSAGE for people, GPUFABRIC_* for programs, so that
 * "journalctl GPUFABRIC_SLOT=3-2" is the life of a slot. Faults have a priority that
 * monitoring looks at.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <syslog.h>

#include "base/service.h"
#include "base/text.h"
#include "module/annotation.h"
#include "module/failure.h"
#include "module/netlink_gen.h"
#include "publish/journal.h"
#include "session/render.h"

#define IDENTIFIER "gpufabric"

static void journal_add(struct journal_entry *entry, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	entry->fields = mem_grow(entry->fields, entry->n + 1, sizeof(*entry->fields));
	entry->fields[entry->n++] = mem_printf("%s=%s", name, value);
}

static void journal_add_number(struct journal_entry *entry, const char *name, uint64_t value)
{
	char *text = mem_printf("%llu", (unsigned long long)value);

	journal_add(entry, name, text);
	free(text);
}

static void journal_begin(struct journal_entry *entry, const char *event, int priority)
{
	memset(entry, 0, sizeof(*entry));
	journal_add(entry, "SYSLOG_IDENTIFIER", IDENTIFIER);
	journal_add_number(entry, "PRIORITY", (uint64_t)priority);
	journal_add(entry, "GPUFABRIC_EVENT", event);
}

static int slot_priority(const struct gf_slot *slot)
{
	switch (slot->state) {
	case GF_STATE_FAULT:
	case GF_STATE_LOST:
	case GF_STATE_STUCK:
		return LOG_ERR;
	default:
		return LOG_INFO;
	}
}

static int priority_of(const struct gf_message *event)
{
	if (event->has.slot && event->slot.name)
		return slot_priority(&event->slot);
	if (event->has.operation && event->kind == GPUFABRIC_EVENT_KIND_OPERATION_DONE &&
	    event->operation.error)
		return LOG_WARNING;
	if (event->has.composition && event->kind != GPUFABRIC_EVENT_KIND_COMPOSITION_REMOVED &&
	    (event->composition.state == GPUFABRIC_COMPOSITION_STATE_DEGRADED ||
	     event->composition.state == GPUFABRIC_COMPOSITION_STATE_FAILED))
		return LOG_WARNING;
	return LOG_INFO;
}

/* "slot 3-2: attaching -> ready"; of one that is removed only its number comes. */
static void journal_put_slot(struct journal_entry *entry, struct text *message,
			     const struct gf_fabric *fabric, const struct gf_message *event)
{
	const struct gf_slot *slot = &event->slot;
	bool gone = event->kind == GPUFABRIC_EVENT_KIND_SLOT_REMOVED;

	if (!slot->name)
		slot = gf_slot_by_id(fabric, event->slot.id);
	if (!slot)
		return;
	journal_add(entry, "GPUFABRIC_SLOT", slot->name);
	journal_add(entry, "GPUFABRIC_PORT", slot->address);
	journal_add(entry, "GPUFABRIC_STATE", gone ? "gone" : render_state(slot->state));
	if (event->has.previous)
		journal_add(entry, "GPUFABRIC_PREVIOUS", render_state(event->was));
	if (slot->condition.cause)
		journal_add(entry, "GPUFABRIC_CAUSE", render_cause(slot->condition.cause));
	journal_add(entry, "GPUFABRIC_COMPOSITION", slot->composition);
	text_add(message, "slot %s: ", slot->name);
	if (event->has.previous && event->was != slot->state)
		text_add(message, "%s -> ", render_state(event->was));
	text_add(message, "%s", gone ? "gone" : render_state(slot->state));
	if (slot->condition.cause)
		text_add(message, " (%s)", render_cause(slot->condition.cause));
	failure_add(message, ": ", &slot->failure);
	if (slot->composition)
		text_add(message, ", of %s", slot->composition);
}

static void journal_put_operation(struct journal_entry *entry, struct text *message,
				  const struct gf_message *event)
{
	const struct gf_operation *op = &event->operation;
	bool over = event->kind == GPUFABRIC_EVENT_KIND_OPERATION_DONE;

	journal_add(entry, "GPUFABRIC_OPERATION", render_kind(op->kind));
	journal_add_number(entry, "GPUFABRIC_OPERATION_ID", op->id);
	journal_add(entry, "GPUFABRIC_COMPOSITION", op->composition);
	journal_add(entry, "GPUFABRIC_REASON", op->reason);
	journal_add(entry, "GPUFABRIC_COMMAND", op->command);
	if (op->has.uid)
		journal_add_number(entry, "GPUFABRIC_UID", op->uid);
	if (op->has.pid)
		journal_add_number(entry, "GPUFABRIC_PID", op->pid);
	if (over)
		journal_add_number(entry, "GPUFABRIC_ERRNO", (uint64_t)-op->error);
	text_add(message, "%s%s%s: %s", render_kind(op->kind), op->composition ? " of " : "",
		 op->composition ? op->composition : "",
		 !over	   ? "started" :
		 op->error ? strerror(-op->error) :
			     "done");
	failure_add(message, ": ", &op->failure);
}

static void journal_put_composition(struct journal_entry *entry, struct text *message,
				    const struct gf_message *event)
{
	const struct gf_composition *composition = &event->composition;
	bool gone = event->kind == GPUFABRIC_EVENT_KIND_COMPOSITION_REMOVED;
	const char *state = gone ? "removed" : render_composition_state(composition->state);
	struct annotation note;

	journal_add(entry, "GPUFABRIC_COMPOSITION", composition->name);
	journal_add(entry, "GPUFABRIC_STATE", state);
	annotation_of(composition, &note);
	journal_add(entry, "GPUFABRIC_TENANT", note.tenant);
	journal_add(entry, "GPUFABRIC_JOB", note.job);
	text_add(message, "composition %s: %s", composition->name, state);
	if (composition->flags & GPUFABRIC_COMPOSITION_FLAG_ORPHANED)
		text_add(message, ", its client is gone");
}

void journal_entry(struct journal_entry *entry, const struct gf_fabric *fabric,
		   const struct gf_message *event)
{
	const char *kind = gfnl_event_kind_name(event->kind);
	struct text message = { 0 };

	journal_begin(entry, kind ? kind : "unknown", priority_of(event));
	journal_add_number(entry, "GPUFABRIC_SEQUENCE", event->sequence);
	journal_add_number(entry, "GPUFABRIC_INSTANCE", event->instance);
	if (event->has.slot)
		journal_put_slot(entry, &message, fabric, event);
	else if (event->has.operation)
		journal_put_operation(entry, &message, event);
	else if (event->has.composition)
		journal_put_composition(entry, &message, event);
	if (!message.len)
		text_add(&message, "%s%s%s", kind ? kind : "event", event->has.sw ? " " : "",
			 event->has.sw && event->sw.address ? event->sw.address : "");
	text_tame(message.text, false);
	journal_add(entry, "MESSAGE", message.text);
	free(message.text);
}

void journal_note(struct journal_entry *entry, const char *event, const char *message)
{
	journal_begin(entry, event, LOG_NOTICE);
	journal_add(entry, "MESSAGE", message);
}

void journal_free(struct journal_entry *entry)
{
	size_t i;

	for (i = 0; i < entry->n; i++)
		free(entry->fields[i]);
	free(entry->fields);
	memset(entry, 0, sizeof(*entry));
}

int journal_send(const struct journal_entry *entry)
{
	struct iovec *iov;
	size_t i;
	int err;

	iov = mem_zalloc(entry->n, sizeof(*iov));
	for (i = 0; i < entry->n; i++) {
		iov[i].iov_base = entry->fields[i];
		iov[i].iov_len = strlen(entry->fields[i]);
	}
	err = service_log(iov, (int)entry->n);
	free(iov);
	return err;
}

void journal_ready(void)
{
	service_notify("READY=1");
}
