// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/module/annotation.c ctl/publish/journal.c ctl/base/service.c ctl/session/render.c ctl/host/drives.c ctl/base/tree.c ctl/module/failure.c ctl/cli/out.c ctl/cli/out_print.c ctl/base/text.c ctl/module/model.c ctl/module/state.c ctl/module/object.c ctl/session/identity.c ctl/module/netlink_gen.c ctl/cli/context.c ctl/catalogue/catalogue.c ctl/catalogue/engine.c ctl/base/conf.c ctl/base/fault.c ctl/catalogue/gpu.c ctl/catalogue/gpu_find.c ctl/catalogue/model.c ctl/catalogue/model_find.c ctl/catalogue/load.c ctl/base/conf_dir.c ctl/catalogue/build.c ctl/catalogue/expr.c ctl/catalogue/family.c ctl/catalogue/family_check.c
// packages: json-c libnl-3.0
/*
 * What a change is in the journal, field by field: programs rely on the names.
 */
#include <errno.h>
#include <stdlib.h>

#include "module/annotation.h"
#include "publish/journal.h"
#include "tap.h"

static struct gf_slot slot = {
	.id = 7, .name = (char *)"3-2", .address = (char *)"0000:c1:02.0",
	.state = GF_STATE_READY, .composition = (char *)"train70b",
};
static const struct gf_fabric fabric = { .slots = &slot, .n_slots = 1 };

static const char *value(const struct journal_entry *entry, const char *name)
{
	size_t i, len = strlen(name);

	for (i = 0; i < entry->n; i++)
		if (!strncmp(entry->fields[i], name, len) && entry->fields[i][len] == '=')
			return entry->fields[i] + len + 1;
	return NULL;
}

static void has(const struct journal_entry *entry, const char *name, const char *want)
{
	is_str(value(entry, name), want, name);
}

static void a_slot(void)
{
	struct gf_message event = {
		.kind = GPUFABRIC_EVENT_KIND_SLOT_CHANGED, .sequence = 41, .has.slot = true,
		.slot = slot, .has.previous = true, .was = GF_STATE_ATTACHING,
	};
	struct journal_entry entry;

	journal_entry(&entry, &fabric, &event);
	has(&entry, "MESSAGE", "slot 3-2: attaching -> ready, of train70b");
	has(&entry, "PRIORITY", "6");
	has(&entry, "SYSLOG_IDENTIFIER", "gpufabric");
	has(&entry, "GPUFABRIC_EVENT", "slot-changed");
	has(&entry, "GPUFABRIC_SEQUENCE", "41");
	has(&entry, "GPUFABRIC_SLOT", "3-2");
	has(&entry, "GPUFABRIC_PORT", "0000:c1:02.0");
	has(&entry, "GPUFABRIC_STATE", "ready");
	has(&entry, "GPUFABRIC_PREVIOUS", "attaching");
	has(&entry, "GPUFABRIC_COMPOSITION", "train70b");
	has(&entry, "GPUFABRIC_CAUSE", NULL);
	journal_free(&entry);
	is_int(entry.n, 0, "freed");

	event.slot.state = GF_STATE_FAULT;
	event.slot.condition.cause = GPUFABRIC_CAUSE_LINK;
	event.slot.failure = (struct gf_failure){
		.cause = GPUFABRIC_CAUSE_LINK, .address = (char *)"0000:05\n:00.0",
	};
	event.slot.composition = NULL;
	journal_entry(&entry, &fabric, &event);
	has(&entry, "MESSAGE", "slot 3-2: attaching -> fault (link): the link of 0000:05?:00.0 is down");
	has(&entry, "PRIORITY", "3");
	has(&entry, "GPUFABRIC_CAUSE", "link");
	journal_free(&entry);
}

/* Of a slot that goes only its number comes. */
static void a_slot_that_goes(void)
{
	struct gf_message event = {
		.kind = GPUFABRIC_EVENT_KIND_SLOT_REMOVED, .has.slot = true, .slot = { .id = 7 },
	};
	struct journal_entry entry;

	journal_entry(&entry, &fabric, &event);
	has(&entry, "MESSAGE", "slot 3-2: gone, of train70b");
	has(&entry, "GPUFABRIC_STATE", "gone");
	journal_free(&entry);
	event.slot.id = 8;
	journal_entry(&entry, &fabric, &event);
	has(&entry, "MESSAGE", "slot-removed");
	journal_free(&entry);
}

static void an_operation(void)
{
	struct gf_message event = {
		.kind = GPUFABRIC_EVENT_KIND_OPERATION_DONE, .has.operation = true,
		.operation = {
			.id = 12, .kind = GPUFABRIC_OPERATION_KIND_COMPOSE, .error = -ETIMEDOUT,
			.composition = (char *)"train70b", .reason = (char *)"night run",
			.command = (char *)"gpuctl", .has.uid = true, .uid = 1000,
			.has.pid = true, .pid = 4711,
			.failure = {
				.cause = GPUFABRIC_CAUSE_DRIVER, .slot_name = (char *)"3-2",
				.waited = 300,
			},
		},
	};
	struct journal_entry entry;

	journal_entry(&entry, &fabric, &event);
	has(&entry, "GPUFABRIC_OPERATION", "compose");
	has(&entry, "GPUFABRIC_OPERATION_ID", "12");
	has(&entry, "GPUFABRIC_ERRNO", "110");
	has(&entry, "GPUFABRIC_UID", "1000");
	has(&entry, "GPUFABRIC_PID", "4711");
	has(&entry, "GPUFABRIC_COMMAND", "gpuctl");
	has(&entry, "GPUFABRIC_REASON", "night run");
	has(&entry, "PRIORITY", "4");
	has(&entry, "MESSAGE", "compose of train70b: Connection timed out: slot 3-2: no driver bound to "
	    "the GPU within 300 ms: see the kernel log for its probe");
	journal_free(&entry);
	event.kind = GPUFABRIC_EVENT_KIND_OPERATION_STARTED;
	event.operation.error = 0;
	event.operation.has.pid = false;
	event.operation.failure.cause = GPUFABRIC_CAUSE_NONE;
	journal_entry(&entry, &fabric, &event);
	has(&entry, "MESSAGE", "compose of train70b: started");
	has(&entry, "GPUFABRIC_PID", NULL);
	has(&entry, "GPUFABRIC_ERRNO", NULL);
	journal_free(&entry);
}

static void a_composition(void)
{
	const struct annotation note = { .tenant = "ml", .job = "4711" };
	uint8_t bytes[GPUFABRIC_ANNOTATION_MAX];
	struct gf_message event = {
		.kind = GPUFABRIC_EVENT_KIND_COMPOSITION_CHANGED, .has.composition = true,
		.composition = {
			.name = (char *)"train70b", .annotation = bytes,
			.n_annotation = annotation_write(&note, bytes),
			.state = GPUFABRIC_COMPOSITION_STATE_DEGRADED,
			.flags = GPUFABRIC_COMPOSITION_FLAG_ORPHANED,
		},
	};
	struct journal_entry entry;

	journal_entry(&entry, &fabric, &event);
	has(&entry, "MESSAGE", "composition train70b: degraded, its client is gone");
	has(&entry, "PRIORITY", "4");
	has(&entry, "GPUFABRIC_TENANT", "ml");
	has(&entry, "GPUFABRIC_JOB", "4711");
	journal_free(&entry);
	event.kind = GPUFABRIC_EVENT_KIND_COMPOSITION_REMOVED;
	event.composition.flags = 0;
	journal_entry(&entry, &fabric, &event);
	has(&entry, "MESSAGE", "composition train70b: removed");
	has(&entry, "PRIORITY", "6");
	journal_free(&entry);
}

int main(void)
{
	struct journal_entry entry;

	a_slot();
	a_slot_that_goes();
	an_operation();
	a_composition();
	journal_note(&entry, "overrun", "changes were lost");
	has(&entry, "GPUFABRIC_EVENT", "overrun");
	has(&entry, "PRIORITY", "5");
	journal_free(&entry);
	return tap_done();
}
