// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl show: everything about one slot or one composition. */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "choose/handover.h"
#include "choose/placement.h"
#include "cli/ctl.h"
#include "cli/out.h"
#include "host/drives.h"
#include "host/holders.h"
#include "host/hwdb.h"
#include "host/iommu.h"
#include "host/lamp.h"
#include "host/pci.h"
#include "host/vfs.h"
#include "module/netlink_gen.h"
#include "session/render.h"
#include "session/session.h"

#define SYS "/sys"

static const struct out_column slot_columns[] = {
	{ "slot", "slot" },
	{ "id", NULL },
	{ "state", "state" },
	{ "since", "since" },
	{ "cause", "cause" },
	{ "text", "text" },
	{ "flags", "flags" },
	{ "gpu", "GPU" },
	{ "gpu_id", "catalogue" },
	{ "gpus", NULL },
	{ "simulated", NULL },
	{ "memory", "memory" },
	{ "identity", "identity" },
	{ "identity_time", "read at" },
	{ "ids", "PCI ids" },
	{ "serial", "serial" },
	{ "group", "group" },
	{ "composition", "composition" },
	{ "contents", "contents" },
	{ "former", NULL },
	{ "former_tenant", NULL },
	{ "link", "link" },
	{ NULL, "link can do" },
	{ "port", "port" },
	{ "switch", "switch" },
	{ "numa_node", "NUMA node" },
	{ "backend", "driven by" },
	{ "slot_driver", NULL },
	{ "capabilities", "can do" },
	{ "indicator", "indicator" },
	{ "latch", "latch" },
	{ "power_fault", "power fault" },
	{ "occupancy", NULL },
	{ "power", NULL },
	{ "activity", NULL },
	{ "health", NULL },
	{ "generation", "generation" },
	{ "buses", "buses" },
	{ "verdict", "address space" },
	{ "verdict_need", NULL },
	{ "verdict_free", NULL },
	{ "verdict_bridge", NULL },
	{ "verdict_text", "because" },
	{ "verdict_largest", "resized to the most" },
	{ "drain_deadline", "drain ends" },
	{ "attaches", NULL },
	{ "detaches", NULL },
	{ "faults", NULL },
	{ "flaps", NULL },
	{ "degradations", NULL },
	{ NULL, "counts" },
	{ NULL, NULL },
};

static const struct out_column composition_columns[] = {
	{ "name", "composition" },
	{ "id", NULL },
	{ "state", "state" },
	{ "gpus", "GPUs" },
	{ "memory", "memory" },
	{ "slots", "slots" },
	{ "tenant", "tenant" },
	{ "label", "label" },
	{ "job", "job" },
	{ "owner", "owner" },
	{ "created", "created" },
	{ "lease", "lease" },
	{ "annotation", "annotation" },
	{ "generation", NULL },
	{ "flags", NULL },
	{ NULL, NULL },
};

static void show_flags(struct out_table *t, const char *column, uint32_t flags,
		       const char *(*name)(unsigned int))
{
	const char **names;
	size_t n;

	names = render_flags(flags, name, &n);
	if (n || !strcmp(column, "flags"))
		out_list(t, column, names, n);
	free(names);
}

static void show_identity(struct out_table *t, const struct gf_slot *slot,
			  const struct identity *identity)
{
	const struct gf_ids *ids = &identity->ids;
	char age[48], gpus[IDENTITY_GPUS];

	out_str(t, "gpu", strcmp(identity->label, "-") ? identity->label : NULL);
	if (identity->gpus > 1)
		out_text(t, "gpu", "%s", identity_gpus(gpus, identity));
	out_bool(t, "simulated", identity->simulated);
	if (identity->gpu)
		out_strf(t, "gpu_id", "%s", identity->gpu->id);
	if (identity->memory)
		out_bytes(t, "memory", identity->memory * identity->gpus);
	if (identity->source != IDENTITY_UNKNOWN)
		out_uint(t, "gpus", identity->gpus);
	out_str(t, "identity", identity_source_name(identity->source));
	out_text(t, "identity", "%s", identity_text(age, identity, text_now()));
	if (identity->time)
		out_time(t, "identity_time", identity->time);
	if (ids->vendor)
		out_strf(t, "ids", "%04x:%04x/%04x:%04x", ids->vendor, ids->device,
			 ids->subsystem_vendor, ids->subsystem_device);
	if (slot->serial)
		out_strf(t, "serial", "%016llx", (unsigned long long)slot->serial);
}

/* What was there before; in a composition it is that one's business by now. */
static void show_contents(struct out_table *t, const struct gf_slot *slot)
{
	char *words, *tenant;

	if (slot->composition || slot->flags & GPUFABRIC_SLOT_FLAG_UNMANAGED ||
	    slot->state == GF_STATE_EMPTY || gf_slot_is_other(slot))
		return;
	out_str(t, "contents", gfnl_contents_name(slot->contents));
	switch (slot->contents) {
	case GPUFABRIC_CONTENTS_POWER_CYCLED:
		out_text(t, "contents", "clean since it was without power");
		return;
	case GPUFABRIC_CONTENTS_RESET:
		out_text(t, "contents", "clean since it was reset");
		return;
	}
	words = handover_former(slot);
	tenant = handover_former_tenant(slot);
	out_text(t, "contents", "may hold data of %s", words);
	out_str(t, "former", slot->former);
	out_str(t, "former_tenant", tenant);
	free(tenant);
	free(words);
}

static void show_link(struct out_table *t, const struct gf_link *link)
{
	char now[32], port[32], device[32];

	gf_link_text(now, link->speed, link->width);
	out_str(t, "link", strcmp(now, "-") ? now : NULL);
	if (link->port_speed)
		out_text(t, "link can do", "port %s, GPU %s",
			 gf_link_text(port, link->port_speed, link->port_width),
			 gf_link_text(device, link->device_speed, link->device_width));
}

static void show_verdict(struct out_table *t, const struct verdict *verdict)
{
	char need[TEXT_QUANTITY], room[TEXT_QUANTITY];

	out_str(t, "verdict", verdict_name(verdict->now));
	if (verdict->now == GF_FIT_UNKNOWN)
		return;
	out_bytes(t, "verdict_need", verdict->need);
	out_bytes(t, "verdict_free", verdict->free);
	out_str(t, "verdict_bridge", verdict->bridge);
	out_text(t, "verdict", "%s: needs %s, %s is available behind %s",
		 verdict_name(verdict->now), text_bytes(need, verdict->need),
		 text_bytes(room, verdict->free), verdict->bridge);
	if (*verdict->text)
		out_str(t, "verdict_text", verdict->text);
	if (verdict->largest)
		out_str(t, "verdict_largest", verdict_name(verdict->largest));
}

static void show_place(struct out_table *t, const struct gf_fabric *fabric,
		       const struct gf_slot *slot)
{
	const struct gf_switch *sw = gf_switch_by_id(fabric, slot->switch_id);
	const char *backend = gfnl_backend_name(slot->backend);
	char *driver = drives_slot(slot);

	out_str(t, "port", slot->address);
	out_str(t, "switch", sw ? sw->address : NULL);
	out_int(t, "numa_node", slot->numa_node);
	if (slot->numa_node < 0)
		out_text(t, "numa_node", "unknown");
	out_str(t, "backend", backend ? backend : "unknown");
	if (driver) {
		out_str(t, "slot_driver", driver);
		out_text(t, "backend", "%s", driver);
	}
	free(driver);
	show_flags(t, "capabilities", slot->caps, gfnl_slot_cap_name);
	out_str(t, "occupancy", gfnl_occupancy_name(slot->condition.occupancy));
	out_str(t, "power", gfnl_power_name(slot->condition.power));
	out_str(t, "activity", gfnl_activity_name(slot->condition.activity));
	out_str(t, "health", gfnl_health_name(slot->condition.health));
	if (slot->bus_first || slot->bus_last)
		out_strf(t, "buses", "%02x-%02x", slot->bus_first, slot->bus_last);
}

static void show_panel(struct out_table *t, const struct tree *tree, const struct gf_slot *slot)
{
	struct lamp_panel panel;

	lamp_look(tree, slot->name, slot->address, &panel);
	if (panel.lamp >= 0)
		out_str(t, "indicator", lamp_name(panel.lamp));
	else if (panel.lamp == -EAGAIN)
		out_text(t, "indicator", "unknown while the port sleeps");
	if (panel.latch >= 0)
		out_str(t, "latch", panel.latch ? "open" : "closed");
	if (panel.power_fault >= 0)
		out_bool(t, "power_fault", panel.power_fault);
}

static void show_counts(struct out_table *t, const struct gf_slot *slot)
{
	out_uint(t, "attaches", slot->attaches);
	out_uint(t, "detaches", slot->detaches);
	out_uint(t, "faults", slot->faults);
	out_uint(t, "flaps", slot->flaps);
	out_uint(t, "degradations", slot->degradations);
	out_text(t, "counts", "%u attaches, %u detaches, %u faults, %u flaps, %u degradations",
		 slot->attaches, slot->detaches, slot->faults, slot->flaps, slot->degradations);
}

/* The address of a range, where it has one, and its properties. */
static void show_range(struct out_table *t, const struct pci_range *range, bool resizable)
{
	const char *flags[4];
	size_t n = 0;

	if (pci_is_assigned(range)) {
		out_cell(t, "address", json_object_new_uint64(range->start), "0x%llx",
			 (unsigned long long)range->start);
		flags[n++] = "assigned";
	}
	if (range->flags & PCI_RES_WIDE)
		flags[n++] = "wide";
	if (range->flags & PCI_RES_PREFETCH)
		flags[n++] = "prefetchable";
	if (resizable)
		flags[n++] = "resizable";
	out_bytes(t, "size", pci_range_size(range));
	out_list(t, "flags", flags, n);
	if (!pci_is_assigned(range))
		out_text(t, "flags", "NOT ASSIGNED");
}

static void show_bars(struct out_table *parent, const struct tree *tree, const char *address)
{
	static const struct out_column columns[] = {
		{ "index", "BAR" },
		{ "size", "SIZE", OUT_RIGHT },
		{ "address", "ADDRESS", OUT_OPTIONAL },
		{ "flags", "PROPERTIES" },
		{ NULL, NULL },
	};
	struct out_table *t = out_sub(parent, "bars", columns, OUT_TABLE);
	struct pci_device dev = { 0 };
	unsigned int i;

	pci_read_ranges(tree, address, &dev);
	for (i = 0; i < 6; i++) {
		if (!(dev.res[i].flags & PCI_RES_MEM) || !pci_range_size(&dev.res[i]))
			continue;
		out_row(t);
		out_uint(t, "index", i);
		show_range(t, &dev.res[i],
			   tree_has(tree, "sys/bus/pci/devices/%s/resource%u_resize", address, i));
	}
}

/* The IOMMU group of a function, and what else is in it. */
static void show_group(struct out_table *t, const struct gf_function *f)
{
	char **members;
	size_t n, i, others = 0;

	if (!f->has.iommu_group)
		return;
	out_uint(t, "iommu_group", f->iommu_group);
	members = iommu_members(SYS, f->iommu_group, &n);
	for (i = 0; i < n; i++) {
		if (strcmp(members[i], f->address))
			members[others++] = members[i];
		else
			free(members[i]);
	}
	out_list(t, "iommu_members", (const char *const *)members, others);
	iommu_free(members, others);
}

static void show_functions(struct out_table *parent, const struct tree *tree,
			   const struct gf_slot *slot)
{
	static const struct out_column columns[] = {
		{ "address", "FUNCTION" },
		{ "class", "CLASS" },
		{ "ids", "IDS" },
		{ "name", "NAME", OUT_OPTIONAL },
		{ "revision", NULL },
		{ "driver", "DRIVER" },
		{ "iommu_group", "IOMMU", OUT_OPTIONAL },
		{ "iommu_members", "TOGETHER WITH", OUT_OPTIONAL },
		{ NULL, NULL },
	};
	struct out_table *t = out_sub(parent, "functions", columns, OUT_TABLE);
	size_t i;

	for (i = 0; i < slot->n_functions; i++) {
		const struct gf_function *f = &slot->functions[i];
		char *name = hwdb_name(f);

		out_row(t);
		out_str(t, "address", f->address);
		out_str(t, "name", name);
		free(name);
		out_strf(t, "class", "%06x", f->class);
		out_strf(t, "ids", "%04x:%04x/%04x:%04x", f->vendor, f->device, f->subsystem_vendor,
			 f->subsystem_device);
		out_uint(t, "revision", f->revision);
		out_str(t, "driver", f->driver);
		show_group(t, f);
		show_bars(t, tree, f->address);
	}
}

static size_t count_vfs(const struct gf_slot *slot)
{
	size_t i, n, all = 0;

	for (i = 0; i < slot->n_functions; i++) {
		struct gf_function *vfs = vfs_of(SYS, slot->functions[i].address, &n);

		vfs_free(vfs, n);
		all += n;
	}
	return all;
}

static void show_vfs(struct out_table *parent, const struct gf_slot *slot)
{
	static const struct out_column columns[] = {
		{ "address", "VIRTUAL FUNCTION" },
		{ "function", "OF" },
		{ "driver", "DRIVER" },
		{ "iommu_group", "IOMMU", OUT_OPTIONAL },
		{ "iommu_members", "TOGETHER WITH", OUT_OPTIONAL },
		{ NULL, NULL },
	};
	struct out_table *t = out_sub(parent, "virtual_functions", columns, OUT_TABLE);
	size_t i, j, n;

	for (i = 0; i < slot->n_functions; i++) {
		struct gf_function *vfs = vfs_of(SYS, slot->functions[i].address, &n);

		for (j = 0; j < n; j++) {
			out_row(t);
			out_str(t, "address", vfs[j].address);
			out_str(t, "function", slot->functions[i].address);
			out_str(t, "driver", vfs[j].driver);
			show_group(t, &vfs[j]);
		}
		vfs_free(vfs, n);
	}
}

/* Where there are virtual functions, who has them; elsewhere detach asks. */
static void show_shares(struct session *session, struct out_table *t, const struct gf_slot *slot)
{
	struct holders holders;

	if (!count_vfs(slot))
		return;
	show_vfs(t, slot);
	holders_scan(&holders_system, &slot, 1, &holders);
	holders_render(session->ctx->out, &holders);
	holders_free(&holders);
}

/* Those of the slot's port: what a card in it can have. */
static void show_windows(struct out_table *parent, const struct tree *tree, const char *address)
{
	static const struct out_column columns[] = {
		{ "size", "WINDOW", OUT_RIGHT },
		{ "address", "ADDRESS", OUT_OPTIONAL },
		{ "flags", "PROPERTIES" },
		{ NULL, NULL },
	};
	struct out_table *t = out_sub(parent, "windows", columns, OUT_TABLE);
	struct pci_device dev = { 0 };
	size_t i;

	pci_read_ranges(tree, address, &dev);
	for (i = 0; i < 2; i++) {
		if (!pci_is_assigned(&dev.window[i]))
			continue;
		out_row(t);
		show_range(t, &dev.window[i], false);
	}
}

static void show_slot(struct session *session, const struct tree *tree, const struct gf_slot *slot)
{
	struct out_table *t = out_table(session->ctx->out, "slot", slot_columns, OUT_SINGLE);
	struct identity identity;
	struct verdict verdict;

	identity_of(&session->knowledge, slot, &identity);
	out_str(t, "slot", slot->name);
	out_uint(t, "id", slot->id);
	render_slot_state(t, slot);
	out_time(t, "since", slot->since);
	if (slot->condition.cause)
		out_str(t, "cause", render_cause(slot->condition.cause));
	render_failure(t, &slot->failure);
	show_flags(t, "flags", slot->flags, gfnl_slot_flag_name);
	show_identity(t, slot, &identity);
	if (identity.group)
		out_str(t, "group", identity.group);
	out_str(t, "composition", slot->composition);
	show_contents(t, slot);
	show_link(t, &slot->link);
	show_place(t, &session->fabric, slot);
	show_panel(t, tree, slot);
	out_uint(t, "generation", slot->generation);
	placement_verdict(session, slot, &verdict);
	show_verdict(t, &verdict);
	if (slot->drain_deadline)
		out_time(t, "drain_deadline", text_wall(slot->drain_deadline));
	show_counts(t, slot);
	if (slot->n_functions)
		show_functions(t, tree, slot);
	show_shares(session, t, slot);
	show_windows(t, tree, slot->address);
	if (slot->operation.id)
		render_operation(t, "operation", &slot->operation);
	if (slot->last_operation.id)
		render_operation(t, "last_operation", &slot->last_operation);
	render_slot_warnings(session->ctx->out, slot, &identity, &verdict);
	render_chassis(session->ctx->out, &session->fabric, slot, 1);
	render_unmanaged(session->ctx->out, slot, 1);
}

static void show_composition(struct session *session, const struct gf_composition *composition)
{
	struct out_table *t, *members;
	uint64_t now = text_now();
	size_t i;

	t = out_table(session->ctx->out, "composition", composition_columns, OUT_SINGLE);
	render_composition(t, composition, &session->fabric, &session->knowledge, now);
	if (composition->operation.id)
		render_operation(t, "operation", &composition->operation);
	members = out_sub(t, "members", render_slot_columns, OUT_TABLE);
	for (i = 0; i < composition->n_members; i++) {
		const struct gf_slot *slot =
			gf_slot_by_id(&session->fabric, composition->members[i].slot_id);
		struct identity identity;
		struct verdict verdict;

		if (!slot)
			continue;
		identity_of(&session->knowledge, slot, &identity);
		out_row(members);
		render_slot(members, slot, &identity, now);
		placement_verdict(session, slot, &verdict);
		render_slot_warnings(session->ctx->out, slot, &identity, &verdict);
	}
}

static int show_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	const struct gf_composition *composition;
	const struct gf_slot *slot;
	struct fault fault = { "" };
	struct session session;
	struct tree tree;
	int ret;

	ret = ctl_operands(ctx, argc, 1, 1);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_LOOK);
	if (ret)
		return ret;
	slot = gf_slot_by_name(&session.fabric, argv[0]);
	composition = gf_composition_by_name(&session.fabric, argv[0]);
	if (slot && tree_open(&tree, NULL, &fault)) {
		ret = ctl_fail(ctx, CTL_FAILED, "%s", fault.text);
	} else if (slot) {
		show_slot(&session, &tree, slot);
		tree_close(&tree);
	}
	if (composition)
		show_composition(&session, composition);
	if (!slot && !composition)
		ret = ctl_fail(ctx, CTL_USAGE,
			       "no slot and no composition is called %s: see gpuctl list", argv[0]);
	session_close(&session);
	return ret;
}

const struct ctl_command cmd_show = {
	.name = "show",
	.group = CTL_LOOK,
	.args = "SLOT|NAME",
	.summary = "all details of a slot or a composition",
	.help = "Only root sees who requested operations, the tenant, label, job and lease of a composition, serial\n"
		"numbers, and whether the port has detected a power fault.\n"
		"The NAME of a function comes from udev's hardware database. The IOMMU group of each function is listed\n"
		"with its other members, which go to a guest together. Virtual functions are listed with their holders.",
	.flags = CTL_NO_DRY_RUN,
	.completes = "@slots @compositions",
	.run = show_run,
};
