// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl slurm check: is Slurm's configuration one that GPUs of a fabric can be used with? */
#include <errno.h>

#include "cli/ctl.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "slurm/check.h"

#define SLURM_FOLDER "/etc/slurm"

static const struct ctl_option options[] = {
	{ "folder", 0, "DIR",
	  "folder of slurm.conf and the other files (default " SLURM_FOLDER ")" },
	{ NULL },
};

static size_t slurm_check_render(struct out *out, const struct slurm_findings *findings)
{
	static const struct out_column columns[] = {
		{ "level", NULL },  { "where", NULL }, { "text", NULL },
		{ "remedy", NULL }, { NULL },
	};
	struct out_table *t = NULL;
	size_t errors = 0, i;

	if (out_is_json(out))
		t = out_table(out, "findings", columns, OUT_TABLE);
	for (i = 0; i < findings->n; i++) {
		const struct slurm_finding *finding = &findings->items[i];
		const char *level = finding->level == SLURM_ERROR ? "error" : "warning";

		errors += finding->level == SLURM_ERROR;
		if (!t) {
			out_line(out, "%s: %s: %s", finding->where, level, finding->text);
			out_line(out, "    %s", finding->remedy);
			continue;
		}
		out_row(t);
		out_str(t, "level", level);
		out_str(t, "where", finding->where);
		out_str(t, "text", finding->text);
		out_str(t, "remedy", finding->remedy);
	}
	return errors;
}

static int slurm_check_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	const char *folder = ctl_opt(ctx, "folder");
	struct slurm_findings findings;
	struct slurm_files files;
	struct fault fault = { "" };
	size_t errors;
	int ret, err;

	(void)argv;
	ret = ctl_operands(ctx, argc, 0, 0);
	if (ret)
		return ret;
	err = slurm_files_read(&files, folder ? folder : SLURM_FOLDER, &fault);
	if (err) {
		slurm_files_free(&files);
		return ctl_fail(ctx, err == -EACCES ? CTL_DENIED : CTL_FAILED, "%s", fault.text);
	}
	slurm_check(&files, &findings);
	errors = slurm_check_render(ctx->out, &findings);
	if (errors)
		ret = ctl_fail(ctx, CTL_FAILED,
			       "jobs with GPUs of the fabric would fail: %zu error%s", errors,
			       errors == 1 ? "" : "s");
	else if (!findings.n)
		out_line(ctx->out, "nothing is missing");
	slurm_findings_free(&findings);
	slurm_files_free(&files);
	return ret;
}

const struct ctl_command cmd_slurm_check = {
	.name = "slurm check",
	.args = "",
	.summary = "report gaps and contradictions of Slurm's configuration",
	.help = "The command reads slurm.conf, gres.conf, cgroup.conf and plugstack.conf, with the files that they include.\n"
		"It needs neither Slurm nor the module. An error makes jobs with GPUs fail or run without them, and the\n"
		"exit code is 1. A warning is about a setting that does not always work, or not well. Each finding comes\n"
		"with the line that helps.",
	.options = { options },
	.flags = CTL_NO_DRY_RUN,
	.run = slurm_check_run,
};
