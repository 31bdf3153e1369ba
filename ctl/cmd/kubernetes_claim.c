// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: gpuctl kubernetes claim
 *
 * A template for claims with as many GPUs as gpuctl size answers. Claims are for one kind, because
 * the number is.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "cmd/size.h"
#include "publish/manifest.h"
#include "size/estimate.h"

static const struct ctl_option options[] = {
	{ "name", 0, "NAME", "name of the template (default: made from the name of the model)" },
	{ NULL },
};

static const struct out_column columns[] = {
	{ "name", NULL }, { "gpu", NULL }, { "gpus", NULL }, { "manifest", NULL }, { NULL },
};

static void claim_print(struct ctl_ctx *ctx, const struct manifest_claim *claim)
{
	char *text = manifest_claim(claim);
	struct out_table *t;

	if (out_is_json(ctx->out)) {
		t = out_table(ctx->out, "claim", columns, OUT_SINGLE);
		out_row(t);
		out_str(t, "name", claim->name);
		out_str(t, "gpu", claim->kind);
		out_uint(t, "gpus", claim->count);
		out_str(t, "manifest", text);
	} else {
		out_line(ctx->out, "%s", text);
	}
	free(text);
}

/* Of a path, or of hf:OWNER/NAME. */
static const char *last_part(const char *word)
{
	const char *slash = strrchr(word, '/');

	return slash && slash[1] ? slash + 1 : word;
}

/* How the number came about, for whoever reads the template later. */
static char *claim_why(const char *model, const struct size_request *req,
		       const struct size_row *row)
{
	char total[UNITS_TEXT_MAX], each[UNITS_TEXT_MAX], of[UNITS_TEXT_MAX];
	const struct size_fit *fit = &row->fit;
	struct size_terms terms;
	struct text text = { 0 };

	size_need(req, &terms);
	text_add(&text, "%s on %u x %s", model, fit->gpus, row->gpu->name);
	if (req->method->terms)
		text_add(&text, ": %s in all", units_gib(total, terms.total));
	if (fit->per_gpu && fit->usable)
		text_add(&text, ", at most %s (P95) of %s on each", units_gib(each, fit->per_gpu),
			 units_gib(of, fit->usable));
	if (fit->layout.tp > 1 || fit->layout.pp > 1)
		text_add(&text, ", TP %u, PP %u", fit->layout.tp, fit->layout.pp);
	text_tame(text.text, false);
	return text.text;
}

static int template_make(struct ctl_ctx *ctx, struct catalogue *cat, const struct size_request *req,
			 const char *word)
{
	struct size_row *rows;
	struct manifest_claim claim;
	char *name, *why;
	int ret = size_check_kinds(ctx, cat);

	if (ret)
		return ret;
	rows = mem_zalloc(cat->n_gpus + 1, sizeof(*rows));
	if (!size_rows(ctx, cat, req, rows) || !rows[0].fit.gpus) {
		ret = ctl_fail(ctx, CTL_NO_FIT,
			       "the workload fits on no number of GPUs of one kind: gpuctl size shows why");
	} else if (rows[0].fit.gpus > MANIFEST_DEVICES_MAX) {
		ret = ctl_fail(ctx, CTL_NO_FIT,
			       "%u GPUs of kind %s are needed, and a claim can have %d: use several pods, or another kind by --gpu",
			       rows[0].fit.gpus, rows[0].gpu->id, MANIFEST_DEVICES_MAX);
	} else {
		name = manifest_name(ctl_opt(ctx, "name") ? ctl_opt(ctx, "name") : last_part(word));
		why = claim_why(word, req, &rows[0]);
		claim.name = name;
		claim.why = why;
		claim.kind = rows[0].gpu->id;
		claim.count = rows[0].fit.gpus;
		claim_print(ctx, &claim);
		free(name);
		free(why);
	}
	free(rows);
	return ret;
}

static int kubernetes_claim_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	const char *word = argv[0] ? argv[0] : ctl_opt(ctx, "model");
	int ret = ctl_operands(ctx, argc, 0, 1);

	if (ret)
		return ret;
	return size_verb_run(ctx, word ? word : "gpus", argv[0], SIZE_READ_MEMORY, template_make);
}

const struct ctl_command cmd_kubernetes_claim = {
	.name = "kubernetes claim",
	.args = "[MODEL]",
	.summary = "a ResourceClaimTemplate with the GPUs that a workload needs",
	.help = "The kind is the first one that gpuctl size lists for the workload, or the one that --gpu names; name one\n"
		"that the cluster has. A comment explains the number of GPUs.",
	.options = { options, size_kind_options, size_workload_options },
	.flags = CTL_NO_DRY_RUN,
	.completes = SIZE_MODELS,
	.run = kubernetes_claim_run,
};
