// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl features: what node feature discovery makes labels of. */
#include <stdlib.h>

#include "ctl.h"
#include "lib/features.h"
#include "lib/publish.h"
#include "lib/session.h"

static int run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct session session;
	char *text;
	int ret;

	ret = ctl_operands(ctx, argc, 0, 1);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_LOOK);
	if (ret)
		return ret;
	text = features_print(&session.fabric, &session.knowledge);
	ret = publish(ctx, argc ? argv[0] : NULL, text);
	free(text);
	session_close(&session);
	return ret;
}

const struct ctl_command cmd_features = {
	.name = "features",
	.args = "[FILE]",
	.summary = "GPUs that are ready, for node feature discovery",
	.help =
		"Lines of key=value for the local source of Kubernetes' node feature discovery, which reads\n"
		"/etc/kubernetes/node-feature-discovery/features.d. Only GPUs in state ready are counted. FILE is replaced\n"
		"as a whole; without it the lines go to standard output.",
	.run = run,
};
