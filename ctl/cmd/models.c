// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl models: the catalogue of language models. */
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "catalogue/catalogue.h"
#include "cli/ctl.h"
#include "cli/out.h"
#include "size/kv.h"
#include "size/params.h"

static const struct out_column columns[] = {
	{ "id", "MODEL", 0 },
	{ "name", NULL, 0 },
	{ "aliases", NULL, 0 },
	{ "arch", "FAMILY", 0 },
	{ "parameters", "PARAMETERS", OUT_RIGHT },
	{ "active_parameters", "ACTIVE", OUT_RIGHT | OUT_OPTIONAL },
	{ "layers", "LAYERS", OUT_RIGHT },
	{ "hidden", "HIDDEN", OUT_RIGHT },
	{ "heads", "HEADS", OUT_RIGHT },
	{ "kv_heads", "KV", OUT_RIGHT },
	{ "head_dim", NULL, 0 },
	{ "ffn", NULL, 0 },
	{ "vocab", "VOCAB", OUT_RIGHT },
	{ "experts", NULL, 0 },
	{ "active_experts", NULL, 0 },
	{ "sliding_window", NULL, 0 },
	{ "weight_bytes_bf16", "BF16", OUT_RIGHT },
	{ "kv_bytes_per_token_bf16", "KV/TOKEN", OUT_RIGHT },
	{ "source", NULL, 0 },
	{ NULL, NULL, 0 },
};

static void print_one(struct out_table *t, const struct cat_model *m)
{
	const struct size_precision *bf16 = size_precision_get("bf16");
	char count[UNITS_TEXT_MAX];
	struct model_params p;
	uint64_t kv = kv_bytes_per_token(m, bf16, 1);

	model_params(m, &p);
	out_row(t);
	out_str(t, "id", m->id);
	out_str(t, "name", m->name);
	out_list(t, "aliases", (const char *const *)m->aliases, m->n_aliases);
	out_str(t, "arch", m->arch);
	out_uint(t, "parameters", p.total);
	out_text(t, "parameters", "%s", units_count(count, p.total));
	out_uint(t, "active_parameters", p.active);
	out_text(t, "active_parameters", "%s",
		 p.active == p.total ? "-" : units_count(count, p.active));
	out_uint(t, "layers", m->layers);
	out_uint(t, "hidden", m->hidden);
	out_uint(t, "heads", m->heads);
	out_uint(t, "kv_heads", m->kv_heads);
	if (m->kv_lora)
		out_text(t, "kv_heads", "latent");
	if (m->head_dim)
		out_uint(t, "head_dim", m->head_dim);
	out_uint(t, "ffn", m->ffn);
	out_uint(t, "vocab", m->vocab);
	if (m->experts) {
		out_uint(t, "experts", m->experts);
		out_uint(t, "active_experts", m->active_experts);
	}
	if (m->sliding_window)
		out_uint(t, "sliding_window", m->sliding_window);
	out_bytes(t, "weight_bytes_bf16", size_weight_bytes(&p, bf16));
	out_uint(t, "kv_bytes_per_token_bf16", kv);
	out_text(t, "kv_bytes_per_token_bf16", "%.1f KiB", (double)kv / 1024);
	out_str(t, "source", m->source);
}

/* An exact name, or any part of an id. */
static int print_named(struct ctl_ctx *ctx, const struct catalogue *cat, struct out_table *t,
		       const char *name)
{
	const struct cat_model *m;
	struct fault f = { "" };
	size_t i, n = 0;

	if (!cat_model_find(cat->models, cat->n_models, name, &m, &f)) {
		print_one(t, m);
		return CTL_DONE;
	}
	for (i = 0; i < cat->n_models; i++) {
		if (!strcasestr(cat->models[i].id, name))
			continue;
		print_one(t, &cat->models[i]);
		n++;
	}
	return n ? CTL_DONE : ctl_fail(ctx, CTL_USAGE, "%s", f.text);
}

static int models_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct catalogue cat;
	struct out_table *t;
	struct fault f = { "" };
	int ret = CTL_DONE, arg;
	size_t i;

	if (catalogue_load(&cat, ctx->data_dir, ctx->config_dir, &f))
		return ctl_fail(ctx, CTL_FAILED, "%s", f.text);
	t = out_table(ctx->out, "models", columns, OUT_TABLE);
	for (i = 0; !argc && i < cat.n_models; i++)
		print_one(t, &cat.models[i]);
	for (arg = 0; !ret && arg < argc; arg++)
		ret = print_named(ctx, &cat, t, argv[arg]);
	catalogue_free(&cat);
	return ret;
}

const struct ctl_command cmd_models = {
	.name = "models",
	.group = CTL_SIZING,
	.args = "[MODEL...]",
	.summary = "the catalogue of models",
	.help = "With a name or a part of a name, the command lists these models only. Parameters are computed from the\n"
		"shape of the model. KV/TOKEN is the cache that one token of context needs in 16 bits. Files in models.d\n"
		"of the configuration add models.",
	.options = { ctl_table_options },
	.flags = CTL_NO_DRY_RUN,
	.run = models_run,
};
