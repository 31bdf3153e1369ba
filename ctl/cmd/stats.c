// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl stats: how long the phases of attach and detach take. */
#include "base/text.h"
#include "cli/ctl.h"
#include "cli/out.h"
#include "module/netlink_gen.h"
#include "session/render.h"
#include "session/session.h"

static const struct out_column columns[] = {
	{ "operation", "OPERATION" },
	{ "phase", "PHASE" },
	{ "count", "COUNT", OUT_RIGHT },
	{ "microseconds", NULL },
	{ NULL, "MEAN", OUT_RIGHT },
	{ NULL, "HALF BELOW", OUT_RIGHT },
	{ NULL, "90 % BELOW", OUT_RIGHT },
	{ NULL, "ALL BELOW", OUT_RIGHT },
	{ NULL, NULL },
};

static const struct out_column bucket_columns[] = {
	{ "below", NULL },
	{ "count", NULL },
	{ NULL, NULL },
};

/* Upper bound of the bucket that the given share of all falls into. */
static void set_bound(struct out_table *t, const char *column, const struct gf_stats *stats,
		      unsigned int percent)
{
	uint64_t rank = (stats->count * percent + 99) / 100, sum = 0;
	char text[TEXT_QUANTITY];
	size_t i;

	for (i = 0; i < stats->n_buckets; i++) {
		sum += stats->buckets[i].count;
		if (sum >= rank)
			break;
	}
	if (!stats->count || i == stats->n_buckets)
		return;
	if (!stats->buckets[i].has.below)
		out_text(t, column, "more");
	else if (stats->buckets[i].below < 1000)
		out_text(t, column, "%llu us", (unsigned long long)stats->buckets[i].below);
	else
		out_text(t, column, "%s", text_duration(text, stats->buckets[i].below / 1000));
}

static void stats_render(struct out_table *t, const struct gf_stats *stats)
{
	const char *phase = gfnl_phase_name(stats->phase);
	struct out_table *buckets;
	char text[TEXT_QUANTITY];
	size_t i;

	out_row(t);
	out_str(t, "operation", render_kind(stats->kind));
	out_str(t, "phase", phase ? phase : "unknown");
	out_uint(t, "count", stats->count);
	out_uint(t, "microseconds", stats->microseconds);
	if (stats->count)
		out_text(t, "MEAN", "%s",
			 text_duration(text, stats->microseconds / stats->count / 1000));
	set_bound(t, "HALF BELOW", stats, 50);
	set_bound(t, "90 % BELOW", stats, 90);
	set_bound(t, "ALL BELOW", stats, 100);
	buckets = out_sub(t, "buckets", bucket_columns, OUT_TABLE);
	for (i = 0; i < stats->n_buckets; i++) {
		out_row(buckets);
		if (stats->buckets[i].has.below)
			out_uint(buckets, "below", stats->buckets[i].below);
		out_uint(buckets, "count", stats->buckets[i].count);
	}
}

static int stats_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct gf_histograms h;
	struct gfc *client;
	struct out_table *t;
	size_t i, shown = 0;
	int ret;

	(void)argv;
	ret = ctl_operands(ctx, argc, 0, 0);
	if (!ret)
		ret = gfc_open(ctx, &client);
	if (ret)
		return ret;
	ret = gfc_histograms(client, &h);
	if (!ret) {
		t = out_table(ctx->out, "stats", columns, OUT_TABLE);
		for (i = 0; i < h.n; i++) {
			if (!h.items[i].count)
				continue;
			stats_render(t, &h.items[i]);
			shown++;
		}
		if (!shown)
			out_line(ctx->out, "nothing was attached or detached yet");
	}
	gf_histograms_free(&h);
	gfc_close(client);
	return ret;
}

const struct ctl_command cmd_stats = {
	.name = "stats",
	.group = CTL_LOOK,
	.args = "",
	.summary = "durations of attach and detach, by phase",
	.help = "The times come from histograms: \"below\" is the upper end of a range. If a slot driver powers the slot\n"
		"and trains the link in one call, both are counted as link.",
	.flags = CTL_NO_DRY_RUN,
	.options = { ctl_table_options },
	.run = stats_run,
};
