// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl save: write down which slots which composition holds. */
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/replace.h"
#include "base/text.h"
#include "cli/ctl.h"
#include "cli/out.h"
#include "op/saved.h"
#include "session/session.h"

static int save(struct session *session, const char *path)
{
	struct ctl_ctx *ctx = session->ctx;
	char *text = saved_print(&session->fabric, text_now(), text_uptime());
	size_t n = session->fabric.n_compositions;
	int err;

	if (ctx->dry_run) {
		out_note(ctx->out, "would", "would ", "write %zu composition%s to %s", n,
			 n == 1 ? "" : "s", path);
		free(text);
		return CTL_DONE;
	}
	/* The place that is ours need not be there yet. */
	if (!strcmp(path, SAVED_FILE)) {
		char *copy = mem_strdup(path);

		mkdir(dirname(copy), 0755);
		free(copy);
	}
	err = replace_file(path, text, 0600);
	free(text);
	if (err)
		return ctl_fail(ctx, err == -EACCES || err == -EPERM ? CTL_DENIED : CTL_FAILED,
				"cannot write %s: %s", path, replace_error(err));
	out_line(ctx->out, "%zu composition%s saved in %s", n, n == 1 ? "" : "s", path);
	return CTL_DONE;
}

static int save_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct session session;
	int ret;

	ret = ctl_operands(ctx, argc, 0, 1);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_LOOK);
	if (ret)
		return ret;
	ret = save(&session, argc ? argv[0] : SAVED_FILE);
	session_close(&session);
	return ret;
}

const struct ctl_command cmd_save = {
	.name = "save",
	.group = CTL_COMPOSITIONS,
	.args = "[FILE]",
	.summary = "save compositions to a file, for gpuctl restore",
	.help = "The file (default " SAVED_FILE ") is replaced as a whole or not at all; its\n"
		"format is described in gpuctl-saved(5). Compositions of gpuctl run are not in it: they end with\n"
		"their command.",
	.run = save_run,
};
