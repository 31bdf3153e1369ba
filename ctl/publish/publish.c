// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: publishing
 *
 * Texts that other programs read have their own format: -j does not change
 * them. A file is replaced as a whole and can be read by all.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/replace.h"
#include "cli/out.h"
#include "publish/publish.h"
#include "session/session.h"

static int publish_failed(struct ctl_ctx *ctx, const char *path, int err)
{
	return ctl_fail(ctx, err == -EACCES || err == -EPERM ? CTL_DENIED : CTL_FAILED,
			"cannot write %s: %s", path, replace_error(err));
}

int publish_begin(struct ctl_ctx *ctx, const char *path, int *lock)
{
	*lock = path && !ctx->dry_run ? replace_lock(path) : -ENOENT;
	if (path && !ctx->dry_run && *lock < 0)
		return publish_failed(ctx, path, *lock);
	return CTL_DONE;
}

void publish_end(int lock)
{
	if (lock >= 0)
		close(lock);
}

int publish(struct ctl_ctx *ctx, const char *path, const char *text)
{
	size_t len = strlen(text);
	int err;

	if (!path) {
		out_set_json(ctx->out, false);
		/* The line's own end is the text's. */
		if (len && text[len - 1] == '\n')
			len--;
		out_line(ctx->out, "%.*s", (int)len, text);
		return CTL_DONE;
	}
	if (ctx->dry_run) {
		out_note(ctx->out, "would", "would ", "replace %s", path);
		return CTL_DONE;
	}
	err = replace_file(path, text, 0644);
	return err ? publish_failed(ctx, path, err) : CTL_DONE;
}

int publish_run(struct ctl_ctx *ctx, int argc, char **argv,
		int (*print)(struct session *session, char **text))
{
	const char *path = argc ? argv[0] : NULL;
	struct session session;
	char *text = NULL;
	int ret, lock = -1;

	ret = ctl_operands(ctx, argc, 0, 1);
	if (!ret)
		ret = publish_begin(ctx, path, &lock);
	if (ret)
		return ret;
	ret = session_open(ctx, &session, SESSION_LOOK);
	if (!ret) {
		ret = print(&session, &text);
		if (!ret)
			ret = publish(ctx, path, text);
		free(text);
		session_close(&session);
	}
	publish_end(lock);
	return ret;
}
