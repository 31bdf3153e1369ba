// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl env: what gpuctl run would set for a command, for processes that others start. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ctl.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "publish/environment.h"
#include "session/render.h"
#include "session/session.h"

static const struct ctl_option options[] = {
	{ "format", 0, "FORMAT",
	  "shell (default; export lines), plain (NAME=VALUE) or null (NULs for newlines)",
	  "shell plain null" },
	{ "slot", 0, "SLOT", "only the GPUs of this slot, for one of several processes" },
	{ NULL },
};

static int env_read_format(struct ctl_ctx *ctx, enum environment_format *format)
{
	static const char *const words[] = {
		[ENVIRONMENT_SHELL] = "shell",
		[ENVIRONMENT_PLAIN] = "plain",
		[ENVIRONMENT_NULL] = "null",
	};
	const char *word = ctl_opt(ctx, "format");
	size_t i;

	*format = ENVIRONMENT_SHELL;
	if (word && ctx->json)
		return ctl_fail(ctx, CTL_USAGE,
				"--format and -j exclude each other: give one of them");
	for (i = 0; word && i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i], word))
			continue;
		*format = (enum environment_format)i;
		return CTL_DONE;
	}
	return word ? ctl_fail(ctx, CTL_USAGE, "--format %s: write shell, plain or null", word) :
		      CTL_DONE;
}

static void env_render(struct out *out, const struct environment *environment)
{
	static const struct out_column columns[] = { { "name", NULL },
						     { "value", NULL },
						     { NULL } };
	struct out_table *t = out_table(out, "variables", columns, OUT_TABLE);
	size_t i;

	for (i = 0; i < environment->n; i++) {
		out_row(t);
		out_str(t, "name", environment->items[i].name);
		out_str(t, "value", environment->items[i].value);
	}
}

/* Lines of text hold no NULs: they go out beside the results. */
static int env_print(struct ctl_ctx *ctx, const struct environment *environment,
		     enum environment_format format)
{
	struct text text = { 0 };
	int ret = CTL_DONE;

	environment_write(environment, format, &text);
	if (fwrite(text.text, 1, text.len, stdout) != text.len || fflush(stdout))
		ret = ctl_fail(ctx, CTL_FAILED, "cannot write: %s", strerror(errno));
	free(text.text);
	return ret;
}

/* Before all its GPUs are there, and once they go, a process would find too few. */
static int env_check(struct ctl_ctx *ctx, const struct gf_composition *composition)
{
	switch (composition->state) {
	case GPUFABRIC_COMPOSITION_STATE_ACTIVE:
	case GPUFABRIC_COMPOSITION_STATE_DEGRADED:
		return CTL_DONE;
	default:
		return ctl_fail(ctx, CTL_BUSY,
				"%s is %s, and its GPUs are not all there: gpuctl watch until %s active",
				composition->name, render_composition_state(composition->state),
				composition->name);
	}
}

/* The slot of --slot, and the composition: that which was named, or that which has the slot. */
static int env_find(struct session *session, const char *name, struct gf_composition **composition,
		    struct gf_slot **only)
{
	const char *slot = ctl_opt(session->ctx, "slot");
	int ret = CTL_DONE;

	*only = NULL;
	if (slot)
		ret = session_slot(session, slot, only);
	if (!ret && *only && !(*only)->composition)
		ret = ctl_fail(session->ctx, CTL_USAGE, "slot %s is in no composition", slot);
	if (!ret && *only && name && strcmp((*only)->composition, name))
		ret = ctl_fail(session->ctx, CTL_USAGE, "slot %s is in composition %s, not in %s",
			       slot, (*only)->composition, name);
	if (!ret)
		ret = session_composition(session, *only ? (*only)->composition : name,
					  composition);
	if (!ret)
		ret = env_check(session->ctx, *composition);
	if (!ret && *only && !gf_gpu_function(*only))
		ret = ctl_fail(session->ctx, CTL_FAILED, "slot %s has no GPU: see gpuctl show %s",
			       slot, slot);
	return ret;
}

static int env_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct gf_composition *composition;
	struct environment environment;
	enum environment_format format;
	struct gf_slot *only;
	struct session session;
	int ret;

	ret = ctl_operands(ctx, argc, ctl_opt(ctx, "slot") ? 0 : 1, 1);
	if (!ret)
		ret = env_read_format(ctx, &format);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_LOOK);
	if (ret)
		return ret;
	ret = env_find(&session, argc ? argv[0] : NULL, &composition, &only);
	if (!ret) {
		environment_of("/proc", "/sys", &session.fabric, composition, only, &environment);
		if (ctx->json)
			env_render(ctx->out, &environment);
		else
			ret = env_print(ctx, &environment, format);
		environment_free(&environment);
	}
	session_close(&session);
	return ret;
}

const struct ctl_command cmd_env = {
	.name = "env",
	.group = CTL_PLUMBING,
	.args = "[NAME]",
	.summary = "print the environment for processes of a composition",
	.help = "These are the variables that gpuctl run sets for its command: GPUFABRIC_COMPOSITION, GPUFABRIC_SLOTS\n"
		"and GPUFABRIC_ADDRESSES, and CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES or ZE_AFFINITY_MASK if the\n"
		"vendor's driver provides the identifiers. These variables give a job of a scheduler or a container its\n"
		"GPUs if gpuctl run did not start it. With --slot the process gets only the GPUs of that slot; the name\n"
		"of the composition can be left out. While a composition changes, the exit code is 4.",
	.options = { options },
	.flags = CTL_NO_DRY_RUN,
	.completes = "@compositions,",
	.run = env_run,
};
