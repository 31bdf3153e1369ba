// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl kubernetes install: the manifests of the driver, with the paths of this host. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "publish/cdi.h"
#include "publish/manifest.h"

#define KUBELET_DIR "/var/lib/kubelet"
#define NAMESPACE "gpufabric"
#define IMAGE "gpufabric-dra:" GPUCTL_VERSION

static const struct ctl_option options[] = {
	{ "output", 'o', "FORMAT", "format of the manifests: only yaml", "yaml" },
	{ "namespace", 0, "NAME", "namespace of the driver (default " NAMESPACE ")" },
	{ "image", 0, "IMAGE",
	  "container image with gpufabric-dra and gpuctl (default " IMAGE ")" },
	{ "kubelet-dir", 0, "DIR", "root directory of the kubelet (default " KUBELET_DIR ")" },
	{ NULL },
};

static const char *given_or(const struct ctl_ctx *ctx, const char *name, const char *otherwise)
{
	const char *given = ctl_opt(ctx, name);

	return given ? given : otherwise;
}

static int kubernetes_install_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	static const struct out_column columns[] = { { "manifest", NULL }, { NULL } };
	const struct manifest_install install = {
		.namespace = given_or(ctx, "namespace", NAMESPACE),
		.image = given_or(ctx, "image", IMAGE),
		.kubelet = given_or(ctx, "kubelet-dir", KUBELET_DIR),
		.config = ctx->config_dir,
		.cdi = CDI_DIRECTORY,
	};
	struct fault fault = { "" };
	struct out_table *t;
	char *text;
	int ret;

	(void)argv;
	ret = ctl_operands(ctx, argc, 0, 0);
	if (ret)
		return ret;
	if (strcmp(given_or(ctx, "output", "yaml"), "yaml"))
		return ctl_fail(ctx, CTL_USAGE, "--output %s: yaml is the only format",
				ctl_opt(ctx, "output"));
	text = manifest_install(&install, &fault);
	if (!text)
		return ctl_fail(ctx, CTL_USAGE, "%s", fault.text);
	if (out_is_json(ctx->out)) {
		t = out_table(ctx->out, "install", columns, OUT_SINGLE);
		out_row(t);
		out_str(t, "manifest", text);
	} else {
		out_line(ctx->out, "%s", text);
	}
	free(text);
	return CTL_DONE;
}

const struct ctl_command cmd_kubernetes_install = {
	.name = "kubernetes install",
	.args = "",
	.summary = "the manifests of the driver: DaemonSet, rights, DeviceClass",
	.help = "The DaemonSet runs on each node with the label gpufabric.io/slots, which node feature discovery takes from\n"
		"gpuctl features. Directories are those of this host; run the command on a host that is like the nodes.",
	.options = { options },
	.flags = CTL_NO_DRY_RUN,
	.run = kubernetes_install_run,
};
