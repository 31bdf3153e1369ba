// SPDX-License-Identifier: GPL-2.0-only
/*
 * Models of the Hugging Face Hub. A program of its own asks the network, see ctl/hub/main.c:
 * this process only reads the folder that it leaves in the cache.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/program.h"
#include "base/text.h"
#include "cmd/size_hub.h"
#include "hub/name.h"
#include "module/nl.h"

/* Longer than the program allows itself, twice: another run may have the cache. */
#define TIMEOUT_MS (2 * 3600000ull + 60000)

bool size_hub_is_name(const char *name)
{
	return !strncmp(name, HUB_PREFIX, strlen(HUB_PREFIX));
}

/* "error no such model": the text behind the word; NULL if the line is another. */
static const char *text_behind(const char *line, const char *word)
{
	size_t len = strlen(word);

	return !strncmp(line, word, len) && line[len] == ' ' ? line + len + 1 : NULL;
}

static bool is_exit(int status)
{
	return status > CTL_DONE && status <= CTL_TIMEOUT;
}

/* How it ended, where it did not say why. */
static int hub_failed(struct ctl_ctx *ctx, const struct program *program,
		      const struct program_limits *limits)
{
	char *why;
	int ret;

	if (program->end == PROGRAM_NOT_STARTED)
		return ctl_fail(ctx, CTL_FAILED,
				"%s, which reads the Hub, cannot be started (%s): install gpuctl as a whole",
				program->argv[0], strerror(program->status));
	if (program->end == PROGRAM_INTERRUPTED)
		return ctl_fail(ctx, CTL_FAILED,
				"interrupted while the model was fetched: nothing was changed");
	why = program_complaint(program, limits);
	ret = ctl_fail(ctx, program->end == PROGRAM_TIMED_OUT ? CTL_TIMEOUT : CTL_FAILED, "%s: %s",
		       program->argv[0], why);
	free(why);
	return ret;
}

static int hub_read_lines(struct ctl_ctx *ctx, const struct program *program,
			  const struct program_limits *limits, char **path)
{
	char *output = mem_strdup(program->output ? program->output : ""), *line, *save;
	bool done = program_succeeded(program);
	const char *text;
	int ret = CTL_DONE;

	for (line = strtok_r(output, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		text = text_behind(line, "warning");
		if (text)
			ctl_warn(ctx, "%s", text);
		text = text_behind(line, "path");
		if (text && done && !*path)
			*path = mem_strdup(text);
		text = text_behind(line, "error");
		if (text && program->end == PROGRAM_EXITED && is_exit(program->status))
			ret = ctl_fail(ctx, (enum ctl_exit)program->status, "%s", text);
	}
	if (!ret && !*path)
		ret = hub_failed(ctx, program, limits);
	free(output);
	return ret;
}

int size_hub_fetch(struct ctl_ctx *ctx, const char *name, char **path)
{
	const struct program_limits limits = { TIMEOUT_MS, gfc_signal_mask(), gfc_signalled, 0 };
	char *hub = mem_printf("%s/hub", ctx->libexec_dir);
	char *argv[3] = { hub, (char *)(uintptr_t)name, NULL };
	struct program program = { .argv = argv, .env = environ };
	int ret;

	*path = NULL;
	programs_run(&program, 1, &limits);
	ret = hub_read_lines(ctx, &program, &limits, path);
	program_free(&program);
	free(hub);
	return ret;
}
