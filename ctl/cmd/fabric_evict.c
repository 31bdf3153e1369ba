// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl fabric evict: say that a host is off. */
#include <string.h>

#include "cli/given.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "managers/manager.h"

static const struct ctl_option options[] = {
	{ "manager", 'm', "NAME", "the fabric manager that has the host", "" },
	{ "credentials", 'c', "FILE", "user and password of an administrator at the manager", "" },
	{ NULL },
};

/* The one that is named, or the only one. */
static const struct manager_conf *evicting_manager(struct ctl_ctx *ctx,
						   const struct managers *managers)
{
	const char *name = ctl_opt(ctx, "manager");
	size_t i;

	for (i = 0; i < managers->n; i++)
		if (name ? !strcmp(managers->conf[i].name, name) : managers->n == 1)
			return &managers->conf[i];
	if (managers_check(ctx, managers))
		return NULL;
	if (name)
		ctl_fail(ctx, CTL_USAGE, "no fabric manager %s: gpuctl fabric lists them", name);
	else
		ctl_fail(ctx, CTL_USAGE,
			 managers->n ?
				 "there are several fabric managers: name one with --manager" :
				 "there is no fabric manager: see gpuctl-fabric(5)");
	return NULL;
}

static int fabric_evict(struct ctl_ctx *ctx, const struct managers *managers, const char *host)
{
	const struct manager_conf *conf = evicting_manager(ctx, managers);
	const struct manager_request request = {
		.verb = MANAGER_EVICT,
		.host = host,
		.credentials = ctl_opt(ctx, "credentials"),
	};
	struct manager_reply reply = { 0 };
	int ret = CTL_DONE;

	if (!conf)
		return managers->n_bad ? managers->bad[0].exit : CTL_USAGE;
	if (!ctx->dry_run)
		ret = manager_ask(ctx, conf, &request, &reply);
	if (!ret)
		out_note(ctx->out, ctx->dry_run ? "would" : "evicted",
			 ctx->dry_run ? "would evict " : "evicted: ", "%s", host);
	manager_reply_free(&reply);
	return ret;
}

static int fabric_evict_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	const char *credentials = ctl_opt(ctx, "credentials");
	struct managers managers;
	int ret = ctl_operands(ctx, argc, 1, 1);

	if (!ret && !manager_is_id(argv[0]))
		ret = ctl_fail(ctx, CTL_USAGE, "\"%s\" is no name of a host", argv[0]);
	if (!ret && credentials && *credentials != '/')
		ret = ctl_fail(ctx, CTL_USAGE, "--credentials: \"%s\" is no path from /",
			       credentials);
	if (ret)
		return ret;
	managers_load(ctx, &managers);
	ret = fabric_evict(ctx, &managers, argv[0]);
	managers_free(&managers);
	return ret;
}

const struct ctl_command cmd_fabric_evict = {
	.name = "fabric evict",
	.args = "HOST",
	.summary = "tell a fabric manager that a host is off: its GPUs become free",
	.help = "Use this command for a host that no longer answers; it works on any host of the fabric. If the evicted\n"
		"host is not off, two hosts may get the same GPU: look first. Only an administrator's account at the\n"
		"manager may do it; --credentials names a file with lines user = ... and password = ... that nobody else\n"
		"can read. While the host answers, the manager refuses (exit code 4). The module is not needed.\n"
		"gpufabric-fm evict does the same at the manager.",
	.options = { options },
	.run = fabric_evict_run,
};
