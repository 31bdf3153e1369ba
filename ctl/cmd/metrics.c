// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl metrics: the fabric for Prometheus. */
#include <stdlib.h>

#include "cli/ctl.h"
#include "publish/metrics.h"
#include "publish/publish.h"
#include "session/session.h"

static int print(struct session *session, char **text)
{
	struct gf_histograms histograms = { 0 };
	struct gf_status status = { 0 };
	int ret;

	ret = gfc_status(session->client, &status);
	if (!ret)
		ret = gfc_histograms(session->client, &histograms);
	if (!ret)
		*text = metrics_print(&session->fabric, &histograms, &status, &session->knowledge);
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
	.summary = "slots, GPUs and durations for Prometheus",
	.help = "FILE is replaced atomically, as the textfile collector of Prometheus' node exporter expects; its name\n"
		"has to end in .prom. Without FILE, the text goes to standard output.",
	.run = metrics_run,
};
