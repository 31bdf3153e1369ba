// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: showing slots and compositions
 *
 * Words of states come from the generated tables; a number that this tool
 * does not know yet (a newer module) is shown as itself.
 */
#include <json-c/json.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "host/drives.h"
#include "module/annotation.h"
#include "module/failure.h"
#include "module/netlink_gen.h"
#include "session/render.h"

const struct out_column render_slot_columns[] = {
	{ "slot", "SLOT" },
	{ "id", NULL },
	{ "gpu", "GPU" },
	{ "gpu_id", NULL },
	{ "gpus", NULL },
	{ "simulated", NULL },
	{ "memory", "MEMORY", OUT_RIGHT },
	{ "state", "STATE" },
	{ "cause", NULL },
	{ "text", NULL },
	{ "since", NULL },
	{ "flags", NULL },
	{ "link", "LINK" },
	{ "link_speed", NULL },
	{ "link_width", NULL },
	{ "numa_node", "NUMA" },
	{ "switch", NULL },
	{ "port", NULL },
	{ "backend", NULL },
	{ "address", NULL },
	{ "driver", NULL },
	{ "group", "GROUP", OUT_OPTIONAL },
	{ "composition", "COMPOSITION" },
	{ "identity", NULL },
	{ "identity_time", NULL },
	{ NULL, "IDENTITY" },
	{ "vendor", NULL },
	{ "device", NULL },
	{ "subsystem_vendor", NULL },
	{ "subsystem_device", NULL },
	{ "serial", NULL },
	{ "generation", NULL },
	{ "operation", NULL },
	{ "verdict", NULL },
	{ NULL, NULL },
};

const struct out_column render_composition_columns[] = {
	{ "name", "NAME" },
	{ "id", NULL },
	{ "state", "STATE" },
	{ "gpus", "GPUS", OUT_RIGHT },
	{ "memory", "MEMORY", OUT_RIGHT },
	{ "slots", "SLOTS" },
	{ "tenant", "TENANT", OUT_OPTIONAL },
	{ "label", "LABEL", OUT_OPTIONAL },
	{ "job", "JOB", OUT_OPTIONAL },
	{ "owner", "OWNER" },
	{ "created", "CREATED" },
	{ "lease", "LEASE", OUT_OPTIONAL },
	{ "annotation", "ANNOTATION", OUT_OPTIONAL },
	{ "generation", NULL },
	{ "flags", NULL },
	{ NULL, NULL },
};

const char *render_state(uint32_t state)
{
	const char *name = gf_state_name(state);

	return name ? name : "unknown";
}

void render_slot_state(struct out_table *table, const struct gf_slot *slot)
{
	out_str(table, "state", render_state(slot->state));
	if (slot->flags & GPUFABRIC_SLOT_FLAG_UNMANAGED)
		out_text(table, "state", "%s, unmanaged", render_state(slot->state));
}

const char *render_cause(uint32_t cause)
{
	const char *name = gfnl_cause_name(cause);

	return name ? name : "unknown";
}

const char *render_kind(uint32_t kind)
{
	const char *name = gfnl_operation_kind_name(kind);

	return name ? name : "unknown";
}

const char *render_composition_state(uint32_t state)
{
	const char *name = gfnl_composition_state_name(state);

	return name ? name : "unknown";
}

const char **render_flags(uint32_t flags, const char *(*name)(unsigned int bit), size_t *n)
{
	const char **names = mem_zalloc(33, sizeof(*names));
	unsigned int bit;

	*n = 0;
	for (bit = 0; bit < 32; bit++)
		if ((flags & (1u << bit)) && name(bit))
			names[(*n)++] = name(bit);
	return names;
}

static void set_flags(struct out_table *table, const char *column, uint32_t flags,
		      const char *(*name)(unsigned int bit))
{
	const char **names;
	size_t n;

	names = render_flags(flags, name, &n);
	out_list(table, column, names, n);
	free(names);
}

static void set_ids(struct out_table *table, const struct identity *identity)
{
	out_strf(table, "vendor", "%04x", identity->ids.vendor);
	out_strf(table, "device", "%04x", identity->ids.device);
	out_strf(table, "subsystem_vendor", "%04x", identity->ids.subsystem_vendor);
	out_strf(table, "subsystem_device", "%04x", identity->ids.subsystem_device);
}

void render_slot(struct out_table *table, const struct gf_slot *slot,
		 const struct identity *identity, uint64_t now)
{
	const struct gf_function *gpu = gf_gpu_function(slot);
	char link[32], age[48], gpus[IDENTITY_GPUS];

	out_str(table, "slot", slot->name);
	out_uint(table, "id", slot->id);
	out_str(table, "gpu", strcmp(identity->label, "-") ? identity->label : NULL);
	if (identity->gpus > 1)
		out_text(table, "gpu", "%s", identity_gpus(gpus, identity));
	out_str(table, "gpu_id", identity->gpu ? identity->gpu->id : NULL);
	if (identity->source != IDENTITY_UNKNOWN)
		out_uint(table, "gpus", identity->gpus);
	out_bool(table, "simulated", identity->simulated);
	if (identity->memory) {
		/* One decimal for all, so that the column can be read down. */
		uint64_t memory = identity->memory * identity->gpus;

		out_cell(table, "memory", json_object_new_uint64(memory), "%.1f GiB",
			 (double)memory / (1ull << 30));
	}
	render_slot_state(table, slot);
	if (slot->flags & GPUFABRIC_SLOT_FLAG_QUARANTINED)
		out_text(table, "state", "%s, quarantined", render_state(slot->state));
	if (slot->condition.cause)
		out_str(table, "cause", render_cause(slot->condition.cause));
	render_failure(table, &slot->failure);
	out_time(table, "since", slot->since);
	set_flags(table, "flags", slot->flags, gfnl_slot_flag_name);
	gf_link_text(link, slot->link.speed, slot->link.width);
	out_str(table, "link", strcmp(link, "-") ? link : NULL);
	if (slot->flags & GPUFABRIC_SLOT_FLAG_LINK_DEGRADED)
		out_text(table, "link", "%s !", link);
	out_uint(table, "link_speed", slot->link.speed);
	out_uint(table, "link_width", slot->link.width);
	if (slot->numa_node < 0)
		out_cell(table, "numa_node", json_object_new_int64(slot->numa_node), "-");
	else
		out_int(table, "numa_node", slot->numa_node);
	out_uint(table, "switch", slot->switch_id);
	out_str(table, "port", slot->address);
	out_str(table, "backend", gfnl_backend_name(slot->backend));
	out_str(table, "address", gpu ? gpu->address : NULL);
	out_str(table, "driver", gpu ? gpu->driver : NULL);
	if (identity->group)
		out_str(table, "group", identity->group);
	out_str(table, "composition", slot->composition);
	out_str(table, "identity", identity_source_name(identity->source));
	if (identity->time)
		out_time(table, "identity_time", identity->time);
	out_str(table, "IDENTITY", identity_text(age, identity, now));
	if (identity->ids.vendor)
		set_ids(table, identity);
	if (slot->serial)
		out_strf(table, "serial", "%016llx", (unsigned long long)slot->serial);
	out_uint(table, "generation", slot->generation);
	if (slot->operation.id)
		out_str(table, "operation", render_kind(slot->operation.kind));
}

/* The end of a lease as a clock on the wall will show it, and what is left. */
static void render_lease(struct out_table *table, uint64_t lease, uint64_t now)
{
	uint64_t boot = text_uptime();
	char left[TEXT_QUANTITY];

	out_time(table, "lease", now - boot + lease);
	if (lease > boot)
		out_text(table, "lease", "%s left", text_duration(left, lease - boot));
	else
		out_text(table, "lease", "over for %s", text_duration(left, boot - lease));
}

static void render_annotation(struct out_table *table, const struct gf_composition *composition,
			      uint64_t now)
{
	char unknown[ANNOTATION_UNKNOWN];
	struct annotation note;
	uint64_t lease;

	if (!annotation_of(composition, &note))
		out_str(table, "annotation", annotation_unknown(unknown, &note));
	out_str(table, "tenant", *note.tenant ? note.tenant : NULL);
	out_str(table, "label", *note.label ? note.label : NULL);
	out_str(table, "job", *note.job ? note.job : NULL);
	lease = annotation_lease(&note, composition->instance);
	if (lease)
		render_lease(table, lease, now);
	else if (note.lease)
		out_text(table, "lease", "of another load of the module");
}

void render_composition(struct out_table *table, const struct gf_composition *composition,
			const struct gf_fabric *fabric, const struct knowledge *knowledge,
			uint64_t now)
{
	const char **names = mem_zalloc(composition->n_members + 1, sizeof(*names));
	uint64_t memory = 0;
	size_t i;

	for (i = 0; i < composition->n_members; i++) {
		const struct gf_slot *slot = gf_slot_by_id(fabric, composition->members[i].slot_id);
		struct identity identity;

		names[i] = composition->members[i].slot_name;
		if (!names[i])
			names[i] = slot ? slot->name : "?";
		if (slot) {
			identity_of(knowledge, slot, &identity);
			memory += identity.memory * identity.gpus;
		}
	}
	out_str(table, "name", composition->name);
	out_uint(table, "id", composition->id);
	out_str(table, "state", render_composition_state(composition->state));
	if (composition->flags & GPUFABRIC_COMPOSITION_FLAG_ORPHANED)
		out_text(table, "state", "%s, orphaned",
			 render_composition_state(composition->state));
	out_uint(table, "gpus", identity_members(knowledge, fabric, composition));
	if (memory) {
		out_bytes(table, "memory", memory);
		out_text(table, "memory", "%.1f GiB", (double)memory / (1ull << 30));
	}
	out_list(table, "slots", names, composition->n_members);
	render_annotation(table, composition, now);
	if (composition->has.owner)
		out_uint(table, "owner", composition->owner);
	if (composition->has.owner && getpwuid(composition->owner))
		out_text(table, "owner", "%s", getpwuid(composition->owner)->pw_name);
	out_time(table, "created", composition->created);
	out_uint(table, "generation", composition->generation);
	set_flags(table, "flags", composition->flags, gfnl_composition_flag_name);
	free(names);
}

static void warn_link(struct out *out, const struct gf_slot *slot)
{
	const struct gf_link *l = &slot->link;
	uint32_t speed = l->port_speed, width = l->port_width;
	char now[32], best[32];

	/* The best that both ends can do. */
	if (l->device_speed && l->device_speed < speed)
		speed = l->device_speed;
	if (l->device_width && l->device_width < width)
		width = l->device_width;
	out_note(out, "warnings", "! ", "%s: link trained at %s, it can do %s (gpuctl show %s)",
		 slot->name, gf_link_text(now, l->speed, l->width),
		 gf_link_text(best, speed, width), slot->name);
}

static void warn_state(struct out *out, const struct gf_slot *slot)
{
	const struct gf_operation *op = slot->operation.id ? &slot->operation :
							     &slot->last_operation;
	const struct gf_failure *failure = &slot->failure;
	char *text = failure_text(failure);

	switch (slot->state) {
	case GF_STATE_FAULT:
	case GF_STATE_LOST:
		out_note(out, "warnings", "! ", "%s: %s (%s)%s%s (gpuctl %s %s)", slot->name,
			 render_state(slot->state), render_cause(slot->condition.cause),
			 text ? ": " : "", text ? text : "",
			 gf_slot_is_left(slot) ? "detach" : "clear", slot->name);
		break;
	case GF_STATE_STUCK:
		if (failure->driver && failure->address)
			out_note(out, "warnings", "! ",
				 "%s: stuck in %s: driver %s does not let go of %s (gpuctl show %s)",
				 slot->name, render_kind(op->kind), failure->driver,
				 failure->address, slot->name);
		else
			out_note(out, "warnings", "! ", "%s: stuck in %s%s%s (gpuctl show %s)",
				 slot->name, render_kind(op->kind), text ? ": " : "",
				 text ? text : "", slot->name);
		break;
	}
	free(text);
}

void render_failure(struct out_table *table, const struct gf_failure *failure)
{
	char *text = failure_text(failure);

	if (text)
		out_str(table, "text", text);
	free(text);
}

void render_unmanaged(struct out *out, const struct gf_slot *slots, size_t n)
{
	char *driver = NULL;
	struct text names = { 0 };
	size_t i;

	for (i = 0; i < n; i++) {
		if (!(slots[i].flags & GPUFABRIC_SLOT_FLAG_UNMANAGED))
			continue;
		driver = driver ? driver : drives_slot(&slots[i]);
		text_join(&names, ", ", slots[i].name);
	}
	if (names.text)
		out_note(out, "warnings", "! ",
			 "%s: listed only, as slot driver %s may free them at any time (gpuctl doctor)",
			 names.text, driver ? driver : "unknown");
	free(driver);
	free(names.text);
}

/* Whether slots behind the switch in a slot are managed: then it is a chassis for sure. */
static bool has_managed(const struct gf_fabric *fabric, const struct gf_slot *slot)
{
	size_t i, j;

	for (i = 0; i < slot->n_functions; i++)
		for (j = 0; j < fabric->n_switches; j++)
			if (slot->functions[i].address && fabric->switches[j].address &&
			    !strcmp(slot->functions[i].address, fabric->switches[j].address))
				return true;
	return false;
}

void render_chassis(struct out *out, const struct gf_fabric *fabric, const struct gf_slot *slots,
		    size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (slots[i].flags & GPUFABRIC_SLOT_FLAG_CHASSIS && !has_managed(fabric, &slots[i]))
			out_note(out, "warnings", "! ",
				 "%s: holds a switch with slots, which is left alone; if it is a card, load the module with cards=%s",
				 slots[i].name, slots[i].address);
}

void render_slot_warnings(struct out *out, const struct gf_slot *slot,
			  const struct identity *identity, const struct verdict *verdict)
{
	char need[TEXT_QUANTITY], room[TEXT_QUANTITY], driver[64];

	warn_state(out, slot);
	if (slot->flags & GPUFABRIC_SLOT_FLAG_QUARANTINED)
		out_note(out, "warnings", "! ",
			 "%s: in quarantine after %u faults (gpuctl clear %s)", slot->name,
			 slot->faults, slot->name);
	if (slot->flags & GPUFABRIC_SLOT_FLAG_LINK_DEGRADED)
		warn_link(out, slot);
	if ((slot->flags & GPUFABRIC_SLOT_FLAG_NO_DRIVER) && slot->state == GF_STATE_READY &&
	    identity_loaded_driver(identity, driver, sizeof(driver)))
		out_note(out, "warnings", "! ", "%s: driver %s is loaded but not bound", slot->name,
			 driver);
	if (verdict->now == GF_FIT_CANNOT)
		out_note(out, "warnings", "! ",
			 "%s: needs %s of address space, %s is available behind %s (gpuctl show)",
			 slot->name, text_bytes(need, verdict->need),
			 text_bytes(room, verdict->free), verdict->bridge);
}

void render_summary(struct out *out, const struct gf_fabric *fabric)
{
	static const struct out_column columns[] = {
		{ "switches", NULL }, { "slots", NULL }, { "compositions", NULL },
		{ "states", NULL },   { NULL, NULL },
	};
	size_t counts[GF_STATES] = { 0 }, i;
	struct json_object *states = json_object_new_object();
	struct text text = { 0 };
	struct out_table *t;

	for (i = 0; i < fabric->n_slots; i++)
		counts[fabric->slots[i].state]++;

	text_add(&text, "%zu switch%s, %zu slot%s", fabric->n_switches,
		 fabric->n_switches == 1 ? "" : "es", fabric->n_slots,
		 fabric->n_slots == 1 ? "" : "s");
	/* Most useful first: ready, off and empty lead, troubles come last. */
	static const unsigned char order[] = {
		GF_STATE_READY,	    GF_STATE_ATTACHED, GF_STATE_ATTACHING, GF_STATE_DRAINING,
		GF_STATE_DETACHING, GF_STATE_OFF,      GF_STATE_EMPTY,	   GF_STATE_FAULT,
		GF_STATE_STUCK,	    GF_STATE_LOST,     GF_STATE_OTHER,
	};
	const char *separator = ": ";

	for (i = 0; i < sizeof(order); i++) {
		const char *name = render_state(order[i]);

		json_object_object_add(states, name,
				       json_object_new_int64((int64_t)counts[order[i]]));
		if (!counts[order[i]])
			continue;
		text_add(&text, "%s%zu %s", separator, counts[order[i]], name);
		separator = ", ";
	}
	if (fabric->n_compositions)
		text_add(&text, "; %zu composition%s", fabric->n_compositions,
			 fabric->n_compositions == 1 ? "" : "s");

	t = out_table(out, "summary", columns, OUT_SINGLE);
	out_uint(t, "switches", fabric->n_switches);
	out_uint(t, "slots", fabric->n_slots);
	out_uint(t, "compositions", fabric->n_compositions);
	out_cell(t, "states", states, "-");
	out_line(out, "%s", text.text);
	free(text.text);
}

char *render_durations(const struct gf_operation *operation)
{
	struct text text = { 0 };
	unsigned int phase;

	for (phase = 0; phase < GPUFABRIC_PHASE_TOTAL; phase++) {
		/* What rounds to nothing only hides what took the time. */
		if (gf_duration(operation, phase) < 5000)
			continue;
		text_add(&text, "%s%s %.2f", text.len ? "  " : "", gfnl_phase_name(phase),
			 (double)gf_duration(operation, phase) / 1e6);
	}
	return text.text ? text.text : mem_strdup("");
}

struct json_object *render_durations_json(const struct gf_operation *operation)
{
	struct json_object *object = json_object_new_object();
	unsigned int phase;

	for (phase = 0; phase <= GPUFABRIC_PHASE_TOTAL; phase++) {
		uint64_t us = gf_duration(operation, phase);

		if (us)
			json_object_object_add(object, gfnl_phase_name(phase),
					       json_object_new_uint64(us));
	}
	return object;
}

#define OPERATION_COLUMNS(title)                                                                   \
	{                                                                                          \
		{ "kind", title }, { "id", NULL }, { "started", "started" },                       \
			{ "deadline", "deadline" }, { "done", NULL }, { "error", NULL },           \
			{ NULL, "result" }, { "text", "text" }, { "durations", "seconds" },        \
			{ "uid", "user" }, { "pid", "process" }, { "command", "command" },         \
			{ "reason", "reason" }, { NULL, NULL },                                    \
	}

void render_operation(struct out_table *parent, const char *name,
		      const struct gf_operation *operation)
{
	static const struct out_column current[] = OPERATION_COLUMNS("operation");
	static const struct out_column last[] = OPERATION_COLUMNS("last operation");
	const struct out_column *columns = operation->has.error ? last : current;
	struct out_table *t = out_sub(parent, name, columns, OUT_SINGLE);
	char *durations;

	out_row(t);
	out_str(t, "kind", render_kind(operation->kind));
	out_uint(t, "id", operation->id);
	out_time(t, "started", operation->started);
	out_bool(t, "done", operation->has.error);
	if (operation->has.error) {
		out_int(t, "error", operation->error);
		out_str(t, "result", operation->error ? strerror(-operation->error) : "done");
	} else {
		out_time(t, "deadline", text_wall(operation->deadline));
		out_str(t, "result", "under way");
	}
	render_failure(t, &operation->failure);
	durations = render_durations(operation);
	if (*durations)
		out_cell(t, "durations", render_durations_json(operation), "%s", durations);
	free(durations);
	if (operation->has.uid) {
		out_uint(t, "uid", operation->uid);
		if (getpwuid(operation->uid))
			out_text(t, "uid", "%s", getpwuid(operation->uid)->pw_name);
	}
	if (operation->has.pid)
		out_uint(t, "pid", operation->pid);
	if (operation->command)
		out_str(t, "command", operation->command);
	if (operation->reason)
		out_str(t, "reason", operation->reason);
}
