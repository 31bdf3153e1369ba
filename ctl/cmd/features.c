// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl features: what node feature discovery makes labels of. */
#include "cli/ctl.h"
#include "publish/features.h"
#include "publish/publish.h"
#include "session/session.h"

static int print(struct session *session, char **text)
{
	struct managers managers;

	managers_load(session->ctx, &managers);
	*text = features_print(&session->fabric, &session->knowledge, &managers);
	managers_free(&managers);
	return CTL_DONE;
}

static int features_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	return publish_run(ctx, argc, argv, print);
}

const struct ctl_command cmd_features = {
	.name = "features",
	.group = CTL_PLUMBING,
	.args = "[FILE]",
	.summary = "GPUs that are ready, for node feature discovery",
	.help = "Writes lines of key=value for the local source of Kubernetes' node feature discovery, which reads\n"
		"/etc/kubernetes/node-feature-discovery/features.d. Only GPUs in state ready are counted. For each\n"
		"fabric manager, gpufabric.io/fabric.POOL is the number of ports of this host: gpufabric-dra(8) publishes\n"
		"the manager's GPUs for the nodes with this label. FILE is replaced as a whole; without FILE the lines go\n"
		"to standard output.",
	.run = features_run,
};
