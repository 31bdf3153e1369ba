// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl nodes: links to the device nodes of slots and compositions. */
#include <errno.h>
#include <unistd.h>

#include "base/replace.h"
#include "cli/ctl.h"
#include "cli/given.h"
#include "cli/out.h"
#include "publish/devlinks.h"
#include "session/session.h"

#define DEV "/dev"

static const struct ctl_option options[] = {
	{ "remove", 'r', NULL, "remove all links" },
	{ NULL },
};

static const struct out_column columns[] = {
	{ "made", NULL },
	{ "removed", NULL },
	{ NULL, NULL },
};

static int nodes_apply(struct ctl_ctx *ctx, int dir, const struct devlinks *links)
{
	struct devlinks_done done = { 0 };
	struct out_table *t;
	int err = devlinks_apply(dir, DEV, links, ctx->dry_run, &done);

	if (err)
		return ctl_fail(ctx, err == -EACCES || err == -EPERM ? CTL_DENIED : CTL_FAILED,
				"cannot make links below " DEV "/gpufabric: %s",
				replace_error(err));
	t = out_table(ctx->out, "links", columns, OUT_SINGLE);
	out_uint(t, "made", done.made);
	out_uint(t, "removed", done.removed);
	if (ctx->dry_run)
		out_note(ctx->out, "would", "would ", "make %zu links and remove %zu", done.made,
			 done.removed);
	return CTL_DONE;
}

static int apply_fabric(struct ctl_ctx *ctx, int dir)
{
	static const struct places places = { "/proc", "" };
	struct fault fault = { "" };
	struct session session;
	struct vendors vendors;
	struct devlinks links;
	int ret = session_open(ctx, &session, SESSION_LOOK);

	if (ret)
		return ret;
	if (vendors_load(&vendors, ctx->data_dir, ctx->config_dir, &fault)) {
		session_close(&session);
		return ctl_fail(ctx, CTL_FAILED, "%s", fault.text);
	}
	devlinks_want(&links, &session.fabric, &places, &vendors);
	ret = nodes_apply(ctx, dir, &links);
	devlinks_free(&links);
	vendors_free(&vendors);
	session_close(&session);
	return ret;
}

static int nodes_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	static const struct devlinks none;
	int ret, dir, lock;

	(void)argv;
	ret = ctl_operands(ctx, argc, 0, 0);
	if (ret)
		return ret;
	/* First this, then the snapshot: of two at a time the later one knows more. */
	dir = devlinks_open(DEV, ctx->dry_run, &lock);
	if (dir < 0 && !(ctx->dry_run && dir == -ENOENT))
		return ctl_fail(ctx, dir == -EACCES || dir == -EPERM ? CTL_DENIED : CTL_FAILED,
				"cannot use " DEV "/gpufabric: %s", replace_error(dir));
	ret = ctl_flag(ctx, "remove") ? nodes_apply(ctx, dir, &none) : apply_fabric(ctx, dir);
	if (dir >= 0)
		close(dir);
	if (lock >= 0)
		close(lock);
	return ret;
}

const struct ctl_command cmd_nodes = {
	.name = "nodes",
	.group = CTL_PLUMBING,
	.args = "",
	.summary = "links to device nodes: /dev/gpufabric/by-slot, by-composition",
	.help = "Updates the links for the GPUs that are ready: by-slot/SLOT/NODE leads to a device node of the GPU,\n"
		"by-composition/NAME/SLOT to the nodes of a slot. gpuctl also makes missing links MAJOR:MINOR in\n"
		"/dev/char to nodes of a driver, which container runtimes use, and removes them with the GPU.",
	.options = { options },
	.run = nodes_run,
};
