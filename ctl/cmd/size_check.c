// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: gpuctl size check
 *
 * What the GPUs of a running composition use, beside the estimate of the
 * workload that the options describe.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "cmd/size.h"
#include "host/used.h"
#include "session/session.h"
#include "size/layouts.h"
#include "size/physics.h"

#define SMI_MAX (1 << 20)

static const struct ctl_option options[] = {
	{ "smi", 0, "FILE", "CSV output of nvidia-smi --query-gpu=pci.bus_id,memory.used" },
	{ NULL },
};

static const struct out_column columns[] = {
	{ "slot", "SLOT", 0 },
	{ "address", "ADDRESS", 0 },
	{ "used_bytes", "USED", OUT_RIGHT },
	{ "p50_bytes", "P50", OUT_RIGHT },
	{ "p95_bytes", "P95", OUT_RIGHT },
	{ "verdict", "VERDICT", 0 },
	{ "source", "READ FROM", 0 },
	{ NULL, NULL, 0 },
};

/* How the workload is spread over what the composition has. */
static struct size_layout spread(const struct size_request *given, unsigned int gpus)
{
	struct size_request req = *given;
	struct size_layout layout;
	struct layouts layouts;

	req.round = SIZE_ROUND_NONE;
	layouts_start(&layouts, &req, gpus, gpus);
	if (!layouts_next(&layouts, &layout))
		layout = (struct size_layout){ .gpus = gpus, .tp = 1, .pp = 1, .adp = 1 };
	layouts_end(&layouts);
	return layout;
}

static void check_put(struct out_table *t, const struct gf_slot *slot, const char *address,
		      const char *smi, const struct size_estimate *e)
{
	const char *source;
	uint64_t used;

	out_row(t);
	out_str(t, "slot", slot->name);
	out_str(t, "address", address);
	out_bytes(t, "p50_bytes", (uint64_t)e->memory[MEMORY_DEVICE]);
	out_bytes(t, "p95_bytes", (uint64_t)e->p95[MEMORY_DEVICE]);
	if (!address || !used_memory(address, smi, &used, &source)) {
		out_str(t, "verdict", "cannot be read: no driver file, no NVML");
		return;
	}
	out_bytes(t, "used_bytes", used);
	out_str(t, "source", source);
	out_str(t, "verdict", (double)used > e->p95[MEMORY_DEVICE] ? "beyond P95" : "within P95");
}

/* A line for each GPU of a card; one that says so where there is none. */
static void put_slot(struct out_table *t, const struct gf_slot *slot, const char *smi,
		     const struct size_estimate *e)
{
	const struct gf_function *gpu = gf_gpu_function(slot);

	if (!gpu)
		check_put(t, slot, NULL, smi, e);
	for (; gpu; gpu = gf_gpu_next(slot, gpu))
		check_put(t, slot, gpu->address, smi, e);
}

static int print(struct session *session, const struct size_request *req, const char *name,
		 const char *smi)
{
	struct gf_composition *composition;
	struct size_layout layout;
	struct size_estimate e;
	struct text how = { 0 };
	struct out_table *t;
	size_t i, j;
	int ret = session_composition(session, name, &composition);

	if (ret)
		return ret;
	if (!composition->n_members)
		return ctl_fail(session->ctx, CTL_FAILED, "%s has no GPUs", name);
	layout = spread(req, (unsigned int)identity_members(&session->knowledge, &session->fabric,
							    composition));
	size_estimate(req, &layout, &e);
	t = out_table(session->ctx->out, "check", columns, OUT_TABLE);
	for (i = 0; i < composition->n_members; i++)
		for (j = 0; j < session->fabric.n_slots; j++)
			if (session->fabric.slots[j].id == composition->members[i].slot_id)
				put_slot(t, &session->fabric.slots[j], smi, &e);
	size_layout_say(&how, &layout);
	out_line(session->ctx->out, "estimate of engine %s on %u GPUs%s%s", req->engine->id,
		 layout.gpus, how.text ? ": " : "", how.text ? how.text : "");
	free(how.text);
	return CTL_DONE;
}

static int check(struct ctl_ctx *ctx, struct catalogue *cat, const struct size_request *req,
		 const char *name)
{
	const char *path = ctl_opt(ctx, "smi");
	struct session session;
	char *smi = NULL;
	int ret;

	(void)cat;
	if (path) {
		FILE *file = fopen(path, "re");

		if (!file)
			return ctl_fail(ctx, CTL_USAGE, "--smi: %s: %s", path, strerror(errno));
		smi = mem_zalloc(SMI_MAX + 1, 1);
		if (!fread(smi, 1, SMI_MAX, file))
			*smi = '\0';
		fclose(file);
	}
	ret = session_open(ctx, &session, SESSION_LOOK);
	if (!ret) {
		ret = print(&session, req, name, smi);
		session_close(&session);
	}
	free(smi);
	return ret;
}

static int size_check_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	int ret = ctl_operands(ctx, argc, 1, 2);

	return ret ? ret : size_verb_run(ctx, argv[0], argv[1], SIZE_READ_MEMORY, check);
}

const struct ctl_command cmd_size_check = {
	.name = "size check",
	.args = "NAME [MODEL]",
	.summary = "compare the estimate with what the GPUs of a composition use",
	.options = { options, size_workload_options },
	.flags = CTL_NO_DRY_RUN,
	.completes = "@compositions, " SIZE_MODELS,
	.run = size_check_run,
};
