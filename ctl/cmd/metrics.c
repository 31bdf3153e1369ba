// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl metrics: the fabric for Prometheus. */
#include <stdlib.h>

#include "cli/ctl.h"
#include "plan/report.h"
#include "publish/metrics.h"
#include "publish/publish.h"
#include "sense/metrics.h"
#include "session/session.h"

/* The text of the fabric with that of the workloads behind it. */
static char *with_workloads(const struct ctl_ctx *ctx, char *fabric)
{
	struct text all = { 0 };
	struct plan_report report;
	struct sense_shown shown;

	sense_show(ctx->config_dir, &shown);
	text_add(&all, "%s", fabric);
	sense_metrics(&all, &shown);
	sense_shown_free(&shown);
	plan_report_show(&report);
	plan_report_metrics(&all, &report);
	plan_report_free(&report);
	free(fabric);
	return all.text;
}

static int print(struct session *session, char **text)
{
	struct gf_histograms histograms = { 0 };
	struct gf_status status = { 0 };
	int ret;

	ret = gfc_status(session->client, &status);
	if (!ret)
		ret = gfc_histograms(session->client, &histograms);
	if (!ret)
		*text = with_workloads(session->ctx, metrics_print(&session->fabric, &histograms,
								   &status, &session->knowledge));
	gf_histograms_free(&histograms);
	gf_status_free(&status);
	return ret;
}

static int metrics_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	return publish_run(ctx, argc, argv, print);
}

const struct ctl_command cmd_metrics = {
	.name = "metrics",
	.group = CTL_PLUMBING,
	.args = "[FILE]",
	.summary = "slots, GPUs, durations, demand and the planner for Prometheus",
	.help = "FILE is replaced atomically, as the textfile collector of Prometheus' node exporter expects; its name\n"
		"has to end in .prom. Without FILE, the text goes to standard output.",
	.run = metrics_run,
};
