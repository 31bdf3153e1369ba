// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl annotate: change what is kept with a composition, and nothing else of it. */
#include <errno.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/options.h"
#include "op/submit.h"
#include "session/render.h"
#include "session/session.h"

/* Others may annotate it at the same time: each time it is read anew. */
#define TRIES 20

static const struct ctl_option options[] = {
	{ "label", 0, "NAME", "label, free to choose" },
	{ "job", 0, "NAME", "job of a scheduler that the composition is for" },
	{ "for", 0, "TIME", "new lease from now, such as 8h" },
	{ "no-lease", 0, NULL, "end the lease" },
	{ NULL },
};

/* What is there is kept but for what was asked: so it must not change in between. */
static int annotate(struct session *session, const char *name)
{
	struct gf_composition *composition;
	char unknown[ANNOTATION_UNKNOWN];
	struct annotation note;
	uint64_t lease;
	int ret;

	ret = session_composition(session, name, &composition);
	if (ret)
		return ret;
	if (!annotation_of(composition, &note))
		return ctl_fail(session->ctx, CTL_FAILED,
				"composition %s has an annotation of %s: it is left as it is", name,
				annotation_unknown(unknown, &note));
	if (ctl_flag(session->ctx, "no-lease"))
		note.lease = 0;
	ret = note_read(session->ctx, false, &note);
	if (!ret)
		ret = lease_read(session->ctx, &lease);
	if (ret || session->ctx->dry_run)
		return ret;
	if (lease) {
		note.lease = text_uptime() + lease;
		note.instance = session->mirror.instance;
	}
	return submit_annotation(session, composition, &note);
}

static int annotate_run_session(struct session *session, const char *name)
{
	struct ctl_ctx *ctx = session->ctx;
	const struct gf_composition *composition;
	int ret, tries = 0;

	ret = annotate(session, name);
	while (ret && gfc_last_errno(session->client) == ESTALE && ++tries < TRIES) {
		ret = session_refresh(session);
		if (!ret)
			ret = annotate(session, name);
	}
	if (!ret && ctx->dry_run)
		out_note(ctx->out, "would", "would ", "annotate %s", name);
	if (!ret && !ctx->dry_run)
		ret = session_refresh(session);
	composition = gf_composition_by_name(&session->fabric, name);
	if (!ret && composition && !ctx->dry_run) {
		struct out_table *t =
			out_table(ctx->out, "compositions", render_composition_columns, OUT_TABLE);

		out_row(t);
		render_composition(t, composition, &session->fabric, &session->knowledge,
				   text_now());
	}
	return ret;
}

static int annotate_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct session session;
	int ret;

	ret = ctl_operands(ctx, argc, 1, 1);
	if (!ret && ctl_flag(ctx, "for") && ctl_flag(ctx, "no-lease"))
		ret = ctl_fail(ctx, CTL_USAGE, "--for and --no-lease exclude each other: give one");
	if (!ret && !ctl_opt(ctx, "label") && !ctl_opt(ctx, "job") && !ctl_flag(ctx, "for") &&
	    !ctl_flag(ctx, "no-lease"))
		ret = ctl_fail(ctx, CTL_USAGE,
			       "nothing to do: give --label, --job, --for or --no-lease");
	if (!ret)
		ret = session_open(ctx, &session, SESSION_CHANGE);
	if (ret)
		return ret;
	ret = annotate_run_session(&session, argv[0]);
	session_close(&session);
	return ret;
}

const struct ctl_command cmd_annotate = {
	.name = "annotate",
	.group = CTL_COMPOSITIONS,
	.args = "NAME",
	.summary = "change label, job or lease of a composition",
	.help = "Values of options that are not given stay as they are, and so do the GPUs. The tenant cannot\n"
		"be changed: release the composition and compose another.",
	.options = { options },
	.completes = "@compositions",
	.run = annotate_run,
};
