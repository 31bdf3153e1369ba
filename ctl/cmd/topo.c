// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl topo: the tree of switches and slots, and how far GPUs are apart. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/pool_table.h"
#include "host/p2p.h"
#include "host/pci.h"
#include "host/topo.h"
#include "publish/draw.h"
#include "session/render.h"
#include "session/session.h"

static const struct ctl_option options[] = {
	{ "pairs", 'p', NULL, "the path between each two GPUs, and whether they are peers" },
	{ "pool", 0, NULL, "GPUs of fabric managers as well, with the host that has each" },
	{ "svg", 0, "FILE", "draw a picture; - is standard output" },
	{ "dot", 0, "FILE", "the same as a graph for graphviz" },
	{ NULL },
};

static const struct out_column slot_columns[] = {
	{ "slot", "SLOT" },
	{ "port", "PORT" },
	{ "address", "GPU AT" },
	{ "gpu", "GPU" },
	{ "state", "STATE" },
	{ "link", "LINK" },
	{ "numa_node", "NUMA" },
	{ "group", "GROUP", OUT_OPTIONAL },
	{ "composition", "COMPOSITION", OUT_OPTIONAL },
	{ NULL, NULL },
};

static const struct out_column pair_columns[] = {
	{ "from", "FROM" },
	{ "to", "TO" },
	{ "relation", "THROUGH" },
	{ "hops", "HOPS", OUT_RIGHT },
	{ "p2p", "PEERS" },
	{ "reason", "BECAUSE" },
	{ NULL, NULL },
};

static void topo_show_slot(struct out_table *t, const struct session *session,
			   const struct gf_slot *slot)
{
	const struct gf_function *gpu = gf_gpu_function(slot);
	struct identity identity;
	char link[32], gpus[IDENTITY_GPUS];

	identity_of(&session->knowledge, slot, &identity);
	gf_link_text(link, slot->link.speed, slot->link.width);
	out_row(t);
	out_str(t, "slot", slot->name);
	out_str(t, "port", slot->address);
	out_str(t, "address", gpu ? gpu->address : NULL);
	out_str(t, "gpu", strcmp(identity.label, "-") ? identity.label : NULL);
	if (identity.gpus > 1)
		out_text(t, "gpu", "%s", identity_gpus(gpus, &identity));
	render_slot_state(t, slot);
	out_str(t, "link", strcmp(link, "-") ? link : NULL);
	if (slot->flags & GPUFABRIC_SLOT_FLAG_LINK_DEGRADED)
		out_text(t, "link", "%s !", link);
	out_int(t, "numa_node", slot->numa_node);
	if (slot->numa_node < 0)
		out_text(t, "numa_node", "-");
	if (identity.group)
		out_str(t, "group", identity.group);
	out_str(t, "composition", slot->composition);
}

/* The line of a switch; in JSON a record with its slots inside. */
static void show_switch(struct session *session, struct out_table *t, const struct gf_switch *sw)
{
	char *path = pci_path(&session->judge->tree, sw->address);
	struct out_table *slots;
	struct text head = { 0 };
	char link[32];
	size_t i;

	gf_link_text(link, sw->link.speed, sw->link.width);
	out_row(t);
	out_uint(t, "id", sw->id);
	out_str(t, "address", sw->address);
	out_strf(t, "vendor", "%04x", sw->vendor);
	out_strf(t, "device", "%04x", sw->device);
	out_int(t, "numa_node", sw->numa_node);
	out_str(t, "link", strcmp(link, "-") ? link : NULL);
	out_uint(t, "depth", topo_depth(path));

	text_add(&head, "switch %s  %04x:%04x", sw->address, sw->vendor, sw->device);
	if (strcmp(link, "-"))
		text_add(&head, "  uplink %s", link);
	if (sw->numa_node >= 0)
		text_add(&head, "  NUMA %d", sw->numa_node);
	if (path)
		text_add(&head, "  below %.*s", (int)strcspn(path, "/"), path);
	out_str(t, "SWITCH", head.text);
	slots = out_sub(t, "slots", slot_columns, OUT_TABLE);
	for (i = 0; i < session->fabric.n_slots; i++)
		if (session->fabric.slots[i].switch_id == sw->id)
			topo_show_slot(slots, session, &session->fabric.slots[i]);
	free(head.text);
	free(path);
}

static void show_pairs(struct session *session)
{
	const struct tree *tree = &session->judge->tree;
	const struct gf_fabric *fabric = &session->fabric;
	struct out_table *t = out_table(session->ctx->out, "pairs", pair_columns, OUT_TABLE);
	char **paths = mem_zalloc(fabric->n_slots, sizeof(*paths));
	char *why;
	size_t i, j;

	for (i = 0; i < fabric->n_slots; i++)
		if (gf_gpu_function(&fabric->slots[i]))
			paths[i] = pci_path(tree, gf_gpu_function(&fabric->slots[i])->address);
	for (i = 0; i < fabric->n_slots; i++) {
		for (j = i + 1; j < fabric->n_slots; j++) {
			if (!paths[i] || !paths[j])
				continue;
			out_row(t);
			out_str(t, "from", fabric->slots[i].name);
			out_str(t, "to", fabric->slots[j].name);
			out_str(t, "relation",
				topo_relation_name(topo_relation(&fabric->slots[i], paths[i],
								 &fabric->slots[j], paths[j])));
			/* Both ends are GPUs: what lies between are the bridges. */
			out_uint(t, "hops", topo_hops(paths[i], paths[j]) - 2);
			out_str(t, "p2p",
				p2p_verdict_name(p2p_verdict(tree, &fabric->slots[i], paths[i],
							     &fabric->slots[j], paths[j], &why)));
			out_str(t, "reason", why);
			free(why);
		}
	}
	for (i = 0; i < fabric->n_slots; i++)
		free(paths[i]);
	free(paths);
}

/* Write a picture where the user wants it. */
static int topo_draw(struct session *session, const char *option,
		     char *(*picture)(const struct session *session))
{
	const char *path = ctl_opt(session->ctx, option);
	bool standard = path && !strcmp(path, "-");
	char *text;
	FILE *f;
	int err;

	if (!path)
		return CTL_DONE;
	f = standard ? stdout : fopen(path, "we");
	if (!f)
		return ctl_fail(session->ctx, CTL_FAILED, "%s: %s", path, strerror(errno));
	text = picture(session);
	err = fputs(text, f) < 0 || fflush(f) ? errno : 0;
	free(text);
	if (!standard && fclose(f) && !err)
		err = errno;
	return err ? ctl_fail(session->ctx, CTL_FAILED, "%s: %s", path, strerror(err)) : CTL_DONE;
}

static void show_tree(struct session *session)
{
	static const struct out_column columns[] = {
		{ "id", NULL },	    { "address", NULL },   { "vendor", NULL },
		{ "device", NULL }, { "numa_node", NULL }, { "link", NULL },
		{ "depth", NULL },  { NULL, "SWITCH" },	   { NULL, NULL },
	};
	struct out_table *t = out_table(session->ctx->out, "switches", columns, OUT_LINES);
	size_t i;

	for (i = 0; i < session->fabric.n_switches; i++)
		show_switch(session, t, &session->fabric.switches[i]);
	render_unmanaged(session->ctx->out, session->fabric.slots, session->fabric.n_slots);
	if (!session->fabric.n_switches)
		out_line(session->ctx->out,
			 "no switches: no port that can take a GPU was found (see dmesg | grep pciehp)");
}

static int topo_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct session session;
	int ret;

	(void)argv;
	ret = ctl_operands(ctx, argc, 0, 0);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_LOOK);
	if (ret)
		return ret;
	if (ctl_opt(ctx, "svg") || ctl_opt(ctx, "dot")) {
		ret = topo_draw(&session, "svg", draw_svg);
		if (!ret)
			ret = topo_draw(&session, "dot", draw_dot);
	} else {
		show_tree(&session);
		if (ctl_flag(ctx, "pairs"))
			show_pairs(&session);
		if (ctl_flag(ctx, "pool"))
			pool_print(ctx, &session.knowledge.catalogue);
	}
	session_close(&session);
	return ret;
}

const struct ctl_command cmd_topo = {
	.name = "topo",
	.group = CTL_LOOK,
	.args = "",
	.summary = "tree of switches, slots and GPUs",
	.help = "With --pairs, THROUGH is switch (one switch), root-port (several switches below one root port), host (a\n"
		"host bridge of one NUMA node) or numa, and HOPS is the number of bridges in between. PEERS tells\n"
		"whether the two GPUs can reach each other's memory: yes (through switches alone), slow (through the\n"
		"root complex, for example because ACS redirects requests), or no. GROUP is declared in slots.d, see\n"
		"gpuctl(8). --pool asks the fabric managers, and lists their GPUs below as gpuctl fabric does.",
	.options = { options },
	.flags = CTL_NO_DRY_RUN,
	.run = topo_run,
};
