// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: gpuctl
 *
 * tool_main() wires and unwinds: it makes the context, runs the command of the
 * table, prints what the command collected and then the error, once.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "tool/tool.h"

#ifndef GPUCTL_DATA_DIR
#define GPUCTL_DATA_DIR "/usr/share/gpuctl"
#endif
#ifndef GPUCTL_CONFIG_DIR
#define GPUCTL_CONFIG_DIR "/etc/gpuctl"
#endif
#ifndef GPUCTL_LIBEXEC_DIR
#define GPUCTL_LIBEXEC_DIR "/usr/libexec/gpuctl"
#endif

/* Progress is drawn over itself, which not every terminal can. */
static bool can_be_drawn_on(int fd)
{
	const char *term = getenv("TERM");

	return isatty(fd) && term && *term && strcmp(term, "dumb");
}

static const char *directory(const char *variable, const char *fallback)
{
	const char *value = secure_getenv(variable);

	return value && *value ? value : fallback;
}

/*
 * Where it was built, in build/, gpuctl finds the catalogue beside its sources, and programs beside
 * itself. Who can write there could put another program in its place as well.
 */
struct built {
	char catalogue[PATH_MAX + 16];
	char programs[PATH_MAX + 16];
};

static bool find_built(struct built *built)
{
	static const char here[] = "/build";
	ssize_t n = readlink("/proc/self/exe", built->programs, PATH_MAX);
	size_t top;

	if (n < 0 || n == PATH_MAX)
		return false;
	built->programs[n] = '\0';
	*strrchr(built->programs, '/') = '\0';
	top = strlen(built->programs);
	if (top < strlen(here) || strcmp(built->programs + top - strlen(here), here))
		return false;
	top -= strlen(here);
	memcpy(built->catalogue, built->programs, top);
	strcpy(built->catalogue + top, "/ctl/catalogue");
	return !access(built->catalogue, R_OK | X_OK);
}

int tool_main(int argc, char **argv, const struct screen *screen)
{
	static struct built built;
	bool beside = find_built(&built);
	struct ctl_ctx ctx = {
		.data_dir =
			directory("GPUCTL_DATA_DIR", beside ? built.catalogue : GPUCTL_DATA_DIR),
		.config_dir = directory("GPUCTL_CONFIG_DIR", GPUCTL_CONFIG_DIR),
		.libexec_dir = beside ? built.programs : GPUCTL_LIBEXEC_DIR,
		.screen = screen,
		.words = mem_zalloc((size_t)argc + 1, sizeof(*ctx.words)),
		.tty = can_be_drawn_on(STDERR_FILENO),
	};
	int ret, err;

	memcpy(ctx.words, argv, (size_t)argc * sizeof(*argv));
	/* A reader that goes away (head) must not kill us half way through a change. */
	signal(SIGPIPE, SIG_IGN);

	ctx.out = out_new(stdout);
	ret = ctl_dispatch(&ctx, ctl_commands, argc, argv);

	err = out_flush(ctx.out);
	if (err && err != -EPIPE && !ret)
		ret = ctl_fail(&ctx, CTL_FAILED, "cannot write the output: %s", strerror(-err));
	/* What went wrong before another attempt succeeded is of no interest. */
	if (ret && ctx.error)
		fprintf(stderr, "gpuctl: %s\n", ctx.error);
	if (ret && ctx.more && !ctx.json)
		fputs(ctx.more, stderr);

	out_free(ctx.out);
	free(ctx.words);
	free(ctx.given);
	free(ctx.error);
	free(ctx.more);
	return ret;
}
