// SPDX-License-Identifier: GPL-2.0-only
/* DOC: measured costs as verbs of plan take them, see plan_costs.h. */
#include "cli/out.h"
#include "cmd/plan_costs.h"
#include "module/netlink_gen.h"
#include "session/render.h"

int plan_costs_here(struct gfc *client, struct plan_costs *costs)
{
	struct gf_histograms h;
	const char *phase;
	size_t i;
	int ret;

	ret = gfc_histograms(client, &h);
	for (i = 0; !ret && i < h.n; i++) {
		phase = gfnl_phase_name(h.items[i].phase);
		plan_costs_add(costs, render_kind(h.items[i].kind), phase ? phase : "unknown",
			       h.items[i].count, (double)h.items[i].microseconds);
	}
	gf_histograms_free(&h);
	return ret;
}

static void plan_costs_say(struct ctl_ctx *ctx, const char *what, double seconds, uint64_t count)
{
	if (count)
		out_note(ctx->out, "remarks", "", "%s %.3f: measured, mean of %llu", what,
			 seconds / (double)count, (unsigned long long)count);
	else
		out_note(ctx->out, "remarks", "",
			 "%s was not measured yet, so the value in the file is used", what);
}

void plan_costs_use(struct ctl_ctx *ctx, const struct plan_costs *costs, struct plan_instance *in)
{
	plan_costs_apply(costs, in);
	plan_costs_say(ctx, "attach_s", costs->attach_s, costs->attaches);
	plan_costs_say(ctx, "detach_s", costs->detach_s, costs->detaches);
}
