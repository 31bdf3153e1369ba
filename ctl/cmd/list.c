// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl list: every slot with what is in it. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/pool_table.h"
#include "host/judge.h"
#include "module/nl.h"
#include "session/identity.h"
#include "session/render.h"

static const struct ctl_option options[] = {
	{ "free", 'f', NULL, "only slots with a GPU that no composition holds" },
	{ "pool", 'p', NULL, "GPUs of fabric managers as well, with the host that has each" },
	{ NULL },
};

static bool list_is_free(const struct gf_slot *slot)
{
	return !slot->composition &&
	       !(slot->flags & (GPUFABRIC_SLOT_FLAG_QUARANTINED | GPUFABRIC_SLOT_FLAG_UNMANAGED)) &&
	       (slot->state == GF_STATE_OFF || slot->state == GF_STATE_READY);
}

/* Each takes a look at its port: with very many, show has it of one. */
#define JUDGED_MAX 256

/* One for each slot, of those that are off; the caller frees. */
static struct verdict *judge_all(const struct gf_fabric *fabric, const struct knowledge *knowledge)
{
	struct verdict *verdicts = mem_zalloc(fabric->n_slots, sizeof(*verdicts));
	struct identity identity;
	size_t i, judged = 0;
	struct judge judge;

	judge_open(&judge, NULL);
	for (i = 0; i < fabric->n_slots && judged < JUDGED_MAX; i++) {
		if (fabric->slots[i].state != GF_STATE_OFF)
			continue;
		judged++;
		identity_of(knowledge, &fabric->slots[i], &identity);
		judge_slot(&judge, &fabric->slots[i], identity.ids.bar, &verdicts[i]);
	}
	judge_close(&judge);
	return verdicts;
}

static void print_warnings(struct ctl_ctx *ctx, const struct gf_fabric *fabric,
			   const struct knowledge *knowledge, const struct verdict *verdicts)
{
	struct identity identity;
	size_t i;

	for (i = 0; i < fabric->n_slots; i++) {
		identity_of(knowledge, &fabric->slots[i], &identity);
		render_slot_warnings(ctx->out, &fabric->slots[i], &identity, &verdicts[i]);
	}
}

static void list_print(struct ctl_ctx *ctx, const struct gf_fabric *fabric,
		       const struct knowledge *knowledge)
{
	struct verdict *verdicts = judge_all(fabric, knowledge);
	uint64_t now = text_now();
	struct identity identity;
	struct out_table *t;
	size_t i;

	t = out_table(ctx->out, "slots", render_slot_columns, OUT_TABLE);
	for (i = 0; i < fabric->n_slots; i++) {
		if (ctl_flag(ctx, "free") && !list_is_free(&fabric->slots[i]))
			continue;
		identity_of(knowledge, &fabric->slots[i], &identity);
		out_row(t);
		render_slot(t, &fabric->slots[i], &identity, now);
		if (verdicts[i].now != GF_FIT_UNKNOWN)
			out_str(t, "verdict", verdict_name(verdicts[i].now));
	}
	print_warnings(ctx, fabric, knowledge, verdicts);
	free(verdicts);
	render_chassis(ctx->out, fabric, fabric->slots, fabric->n_slots);
	render_unmanaged(ctx->out, fabric->slots, fabric->n_slots);
	if (fabric->n_compositions) {
		out_line(ctx->out, "%s", "");
		t = out_table(ctx->out, "compositions", render_composition_columns, OUT_TABLE);
		for (i = 0; i < fabric->n_compositions; i++) {
			out_row(t);
			render_composition(t, &fabric->compositions[i], fabric, knowledge, now);
		}
		out_line(ctx->out, "%s", "");
	} else {
		out_table(ctx->out, "compositions", render_composition_columns, OUT_TABLE);
	}
	if (!fabric->n_slots)
		out_line(ctx->out,
			 "no slots: no port that can take a GPU was found (see dmesg | grep pciehp)");
	render_summary(ctx->out, fabric);
}

static int list_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct knowledge knowledge;
	struct gf_fabric fabric;
	struct gfc *client;
	int ret;

	(void)argv;
	ret = ctl_operands(ctx, argc, 0, 0);
	if (!ret)
		ret = gfc_open(ctx, &client);
	if (ret)
		return ret;
	ret = gfc_fabric(client, &fabric, GFC_FUNCTIONS | GFC_NEEDS);
	if (!ret) {
		ret = knowledge_load(ctx, &knowledge, false);
		list_print(ctx, &fabric, &knowledge);
		if (ctl_flag(ctx, "pool"))
			pool_print(ctx, &knowledge.catalogue);
		knowledge_free(&knowledge);
		gf_fabric_free(&fabric);
	}
	gfc_close(client);
	return ret;
}

const struct ctl_command cmd_list = {
	.name = "list",
	.group = CTL_LOOK,
	.args = "",
	.summary = "slots with their GPUs, and compositions",
	.help = "IDENTITY tells how gpuctl knows the GPU of a slot: live (read from it now), seen (read earlier, since\n"
		"the module was loaded), declared (in slots.d of the configuration) or - (unknown: a slot without power\n"
		"cannot be read; gpuctl scan powers such slots once).\n"
		"\n"
		"STATE is one word for four facts, which show -j prints separately: the contents of the slot\n"
		"(occupancy), its power, the operation on it (activity) and its health. A slot in state other holds\n"
		"a card that is not a GPU, and gpuctl leaves it alone. A card with a switch of its own belongs to one\n"
		"slot with all its GPUs; gpus is their number in JSON. A switch with two or more ports that implement\n"
		"slots could be a chassis: it has the flag chassis and is never powered, unless the module was loaded\n"
		"with cards=PORT, where PORT is the address of the slot's port. verdict is in JSON for slots that are\n"
		"off: fits, fits-after-reassignment or cannot, as show says.\n"
		"\n"
		"The name of a slot is a PCI address if its port has no slot driver. gpuctl then uses the link of the\n"
		"port: detach disables it, attach enables it and scans the bus below.\n"
		"\n"
		"An unmanaged slot has a slot driver that can free it at any time, such as acpiphp. gpuctl lists what the\n"
		"kernel knows of it, and no request touches it. gpuctl doctor says what to change on the host.\n"
		"\n"
		"--pool asks the fabric managers, and lists their GPUs below as gpuctl fabric does.",
	.options = { options, ctl_table_options },
	.flags = CTL_NO_DRY_RUN,
	.run = list_run,
};
