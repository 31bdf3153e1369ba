// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl features: what node feature discovery makes labels of. */
#include <stdlib.h>

#include "ctl.h"
#include "lib/features.h"
#include "lib/publish.h"
#include "lib/session.h"

static int print(struct session *session, const char *path)
{
	char *text = features_print(&session->fabric, &session->knowledge);
	int ret = publish(session->ctx, path, text);

	free(text);
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
