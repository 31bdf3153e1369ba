// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: pictures
 *
 * A switch is a column: its uplink on top, a box for each slot below. The fill tells the
 * state, the bar at the left the composition, in a colour that its name determines; both
 * are written as well, for those who print in grey.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "publish/draw.h"
#include "session/render.h"

#define COLUMN 250
#define GAP 30
#define MARGIN 24
#define HEAD 64
#define ROW 46
#define TITLE 40

/* What XML and DOT take for their own, replaced. */
static char *escaped(const char *s)
{
	struct text out = { 0 };

	for (; *s; s++) {
		switch (*s) {
		case '&':
			text_add(&out, "&amp;");
			break;
		case '<':
			text_add(&out, "&lt;");
			break;
		case '>':
			text_add(&out, "&gt;");
			break;
		case '"':
			text_add(&out, "&quot;");
			break;
		default:
			text_add(&out, "%c", (unsigned char)*s < ' ' ? ' ' : *s);
		}
	}
	return out.text ? out.text : mem_strdup("");
}

static const char *state_colour(uint32_t state)
{
	switch (state) {
	case GF_STATE_READY:
		return "#d7f0d7";
	case GF_STATE_ATTACHED:
	case GF_STATE_ATTACHING:
	case GF_STATE_DRAINING:
	case GF_STATE_DETACHING:
		return "#fff3cf";
	case GF_STATE_FAULT:
	case GF_STATE_LOST:
	case GF_STATE_STUCK:
		return "#f8d2d2";
	case GF_STATE_OFF:
		return "#e8e8e8";
	default:
		return "#ffffff";
	}
}

/* The same name has the same colour in every picture. */
static unsigned int hue(const char *name)
{
	unsigned int hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return hash % 360;
}

static size_t slots_of(const struct session *session, uint32_t switch_id)
{
	size_t i, n = 0;

	for (i = 0; i < session->fabric.n_slots; i++)
		n += session->fabric.slots[i].switch_id == switch_id;
	return n;
}

static size_t most_slots(const struct session *session)
{
	size_t i, most = 0;

	for (i = 0; i < session->fabric.n_switches; i++) {
		size_t n = slots_of(session, session->fabric.switches[i].id);

		most = n > most ? n : most;
	}
	return most;
}

/* "H100 PCIe  x16 32.0 GT/s" */
static char *draw_describe(const struct session *session, const struct gf_slot *slot)
{
	struct identity identity;
	struct text text = { 0 };
	char link[32];

	identity_of(&session->knowledge, slot, &identity);
	text_add(&text, "%s", strcmp(identity.label, "-") ? identity.label : "unknown GPU");
	if (slot->state == GF_STATE_EMPTY || gf_slot_is_other(slot)) {
		free(text.text);
		return mem_strdup(gf_slot_is_other(slot) ? "not a GPU" : "empty");
	}
	gf_link_text(link, slot->link.speed, slot->link.width);
	if (strcmp(link, "-"))
		text_add(&text, ", %s%s", link,
			 slot->flags & GPUFABRIC_SLOT_FLAG_LINK_DEGRADED ? " degraded" : "");
	return text.text;
}

static void svg_slot(struct text *out, const struct session *session, const struct gf_slot *slot,
		     size_t x, size_t y)
{
	char *what = draw_describe(session, slot), *label = escaped(what);
	char *name = escaped(slot->name);

	text_add(out,
		 "<rect x=\"%zu\" y=\"%zu\" width=\"%d\" height=\"%d\" rx=\"4\" fill=\"%s\" stroke=\"#666\"/>\n",
		 x, y, COLUMN, ROW - 8, state_colour(slot->state));
	if (slot->composition)
		text_add(out,
			 "<rect x=\"%zu\" y=\"%zu\" width=\"8\" height=\"%d\" rx=\"4\" fill=\"hsl(%u,60%%,45%%)\"/>\n",
			 x, y, ROW - 8, hue(slot->composition));
	text_add(out,
		 "<text x=\"%zu\" y=\"%zu\" font-weight=\"bold\">%s</text><text x=\"%zu\" y=\"%zu\" text-anchor=\"end\">%s%s%s</text>\n",
		 x + 14, y + 16, name, x + COLUMN - 8, y + 16,
		 slot->composition ? slot->composition : "", slot->composition ? ", " : "",
		 render_state(slot->state));
	text_add(out, "<text x=\"%zu\" y=\"%zu\" fill=\"#333\">%s</text>\n", x + 14, y + 32, label);
	free(name);
	free(label);
	free(what);
}

static void svg_switch(struct text *out, const struct session *session, const struct gf_switch *sw,
		       size_t x)
{
	char *address = escaped(sw->address ? sw->address : "-");
	size_t y = TITLE + HEAD, i;
	char link[32];

	gf_link_text(link, sw->link.speed, sw->link.width);
	text_add(out,
		 "<rect x=\"%zu\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" fill=\"#dfe8f5\" stroke=\"#446\"/>\n",
		 x, TITLE, COLUMN, HEAD - 16);
	text_add(out,
		 "<text x=\"%zu\" y=\"%d\" font-weight=\"bold\">switch %s</text><text x=\"%zu\" y=\"%d\">%04x:%04x, uplink %s",
		 x + 14, TITLE + 20, address, x + 14, TITLE + 38, sw->vendor, sw->device, link);
	if (sw->numa_node >= 0)
		text_add(out, ", NUMA node %d", sw->numa_node);
	text_add(out, "</text>\n");
	for (i = 0; i < session->fabric.n_slots; i++) {
		if (session->fabric.slots[i].switch_id != sw->id)
			continue;
		svg_slot(out, session, &session->fabric.slots[i], x, y);
		y += ROW;
	}
	free(address);
}

char *draw_svg(const struct session *session)
{
	const struct gf_fabric *fabric = &session->fabric;
	size_t columns = fabric->n_switches ? fabric->n_switches : 1, i;
	size_t width = 2 * MARGIN + columns * (COLUMN + GAP) - GAP;
	size_t height = TITLE + HEAD + most_slots(session) * ROW + MARGIN;
	struct text out = { 0 };

	text_add(&out,
		 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" viewBox=\"0 0 %zu %zu\" font-family=\"sans-serif\" font-size=\"12\">\n",
		 width, height, width, height);
	text_add(&out, "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
	text_add(&out,
		 "<text x=\"%d\" y=\"24\" font-size=\"14\">switches %zu, slots %zu, compositions %zu</text>\n",
		 MARGIN, fabric->n_switches, fabric->n_slots, fabric->n_compositions);
	for (i = 0; i < fabric->n_switches; i++)
		svg_switch(&out, session, &fabric->switches[i], MARGIN + i * (COLUMN + GAP));
	text_add(&out, "</svg>\n");
	return out.text;
}

char *draw_dot(const struct session *session)
{
	const struct gf_fabric *fabric = &session->fabric;
	struct text out = { 0 };
	size_t i;

	text_add(&out, "graph gpufabric {\n\trankdir=LR;\n");
	text_add(&out, "\tnode [shape=box, style=filled, fillcolor=white];\n");
	for (i = 0; i < fabric->n_switches; i++) {
		const struct gf_switch *sw = &fabric->switches[i];
		char *address = escaped(sw->address ? sw->address : "-");

		text_add(&out,
			 "\t\"switch %u\" [label=\"switch %s\\n%04x:%04x\", fillcolor=\"#dfe8f5\"];\n",
			 sw->id, address, sw->vendor, sw->device);
		free(address);
	}
	for (i = 0; i < fabric->n_slots; i++) {
		const struct gf_slot *slot = &fabric->slots[i];
		char *what = draw_describe(session, slot), *label = escaped(what);
		char *name = escaped(slot->name);

		text_add(&out, "\t\"slot %u\" [label=\"%s\\n%s\\n%s%s%s\", fillcolor=\"%s\"];\n",
			 slot->id, name, label, render_state(slot->state),
			 slot->composition ? ", " : "", slot->composition ? slot->composition : "",
			 state_colour(slot->state));
		text_add(&out, "\t\"switch %u\" -- \"slot %u\";\n", slot->switch_id, slot->id);
		free(name);
		free(label);
		free(what);
	}
	text_add(&out, "}\n");
	return out.text;
}
