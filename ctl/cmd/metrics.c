// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl metrics: the fabric for Prometheus. */
#include <stdlib.h>

#include "ctl.h"
#include "lib/metrics.h"
#include "lib/publish.h"
#include "lib/session.h"

static int print(struct session *session, const char *path)
{
	struct gf_histograms histograms = { 0 };
	struct gf_status status = { 0 };
	char *text;
	int ret;

	ret = gfc_status(session->client, &status);
	if (!ret)
		ret = gfc_histograms(session->client, &histograms);
	if (!ret) {
		text = metrics_print(&session->fabric, &histograms, &status, &session->knowledge);
		ret = publish(session->ctx, path, text);
		free(text);
	}
	gf_histograms_free(&histograms);
	free(status.version);
	return ret;
}

static int run(struct ctl_ctx *ctx, int argc, char **argv)
{
	const char *path = argc ? argv[0] : NULL;
	struct session session;
	int ret, lock = -1;

	ret = ctl_operands(ctx, argc, 0, 1);
	if (!ret)
		ret = publish_begin(ctx, path, &lock);
	if (ret)
		return ret;
	ret = session_open(ctx, &session, SESSION_LOOK);
	if (!ret) {
		ret = print(&session, path);
		session_close(&session);
	}
	publish_end(lock);
	return ret;
}

const struct ctl_command cmd_metrics = {
	.name = "metrics",
	.args = "[FILE]",
	.summary = "slots, GPUs and durations for Prometheus",
	.help =
		"FILE is replaced as a whole, as the textfile collector of Prometheus' node exporter wants it: give it a\n"
		"name that ends in .prom. Without FILE the text goes to standard output.",
	.run = run,
};
