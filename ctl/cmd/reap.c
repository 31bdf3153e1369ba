// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl reap: release compositions whose client is gone or whose lease is over. */
#include <stdlib.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "cli/out.h"
#include "cmd/options.h"
#include "module/annotation.h"
#include "op/release.h"
#include "op/unused.h"
#include "session/session.h"

static const char *due(const struct session *session, const struct gf_composition *composition,
		       uint64_t now)
{
	char unknown[ANNOTATION_UNKNOWN];
	struct annotation note;
	uint64_t lease;

	/* It may say that its GPUs are to stay, whatever becomes of the client. */
	if (!annotation_of(composition, &note)) {
		session_say(session, "%s: annotation: %s, left alone", composition->name,
			    annotation_unknown(unknown, &note));
		return NULL;
	}
	lease = annotation_lease(&note, composition->instance);
	if (composition->flags & GPUFABRIC_COMPOSITION_FLAG_ORPHANED)
		return "its client is gone";
	if (lease && lease <= now)
		return "its lease is over";
	return NULL;
}

/* Names of those that are due, caller frees each; what is reaped changes the snapshot. */
static char **find_due(struct session *session, size_t *n)
{
	const struct gf_fabric *fabric = &session->fabric;
	char **names = mem_zalloc(fabric->n_compositions, sizeof(*names));
	uint64_t now = text_uptime();
	size_t i;

	*n = 0;
	for (i = 0; i < fabric->n_compositions; i++) {
		const char *why = due(session, &fabric->compositions[i], now);

		if (!why)
			continue;
		session_say(session, "%s: %s", fabric->compositions[i].name, why);
		names[(*n)++] = mem_strdup(fabric->compositions[i].name);
	}
	return names;
}

/* One that cannot be released does not keep the others. */
static int reap_reap(struct session *session, const struct op_terms *terms, char *const *names,
		     size_t n)
{
	struct ctl_ctx *ctx = session->ctx;
	size_t i, failed = 0;
	int ret, worst = CTL_DONE;

	for (i = 0; i < n; i++) {
		ret = release_composition(session, terms, names[i], false);
		if (!ret) {
			if (!ctx->dry_run)
				out_note(ctx->out, "reaped", "reaped ", "%s", names[i]);
		} else {
			failed++;
			worst = ret;
			ctl_warn(ctx, "%s: %s", names[i], ctx->error);
		}
		if (gfc_signalled())
			return ctl_fail(ctx, CTL_FAILED, "interrupted");
		ret = session_refresh(session);
		if (ret)
			return ret;
	}
	if (failed)
		return ctl_fail(ctx, worst, "%zu of %zu compositions could not be released", failed,
				n);
	return CTL_DONE;
}

static int reap_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	struct session session;
	struct op_terms terms;
	char **names, *failed;
	size_t n, i, returned;
	int ret, more;

	(void)argv;
	ret = ctl_operands(ctx, argc, 0, 0);
	if (!ret)
		ret = terms_read(ctx, TERMS_REMOVE, 0, &terms);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_CHANGE);
	if (ret)
		return ret;
	names = find_due(&session, &n);
	ret = reap_reap(&session, &terms, names, n);
	/* What failed so far stays the error. */
	failed = ctx->error;
	ctx->error = NULL;
	more = unused_return(&session, &terms, &returned);
	if (ret) {
		free(ctx->error);
		ctx->error = failed;
	} else if (more) {
		ret = ctx->error ? more :
				   ctl_fail(ctx, (enum ctl_exit)more,
					    "not all unused GPUs were given back");
	}
	if (!n && !returned && !ret)
		out_line(ctx->out, "nothing to reap");
	for (i = 0; i < n; i++)
		free(names[i]);
	free(names);
	session_close(&session);
	return ret;
}

const struct ctl_command cmd_reap = {
	.name = "reap",
	.group = CTL_PLUMBING,
	.args = "",
	.summary = "release orphaned and expired compositions, return unused GPUs",
	.help = "Orphaned compositions are those whose client is gone (a killed gpuctl run); expired ones have a lease\n"
		"(--for) that is over. The kernel never takes GPUs away; this command does, by the rules of gpuctl\n"
		"release: a GPU that a process holds stays, and its holders are listed. The watch service calls it. It\n"
		"leaves a composition alone if a newer gpuctl wrote its annotation.\n"
		"A GPU that a fabric manager has bound to this host goes back if no composition has it, no process holds\n"
		"it and its slot has not changed for return_after: see gpuctl-fabric(5).",
	.options = { remove_options, session_options },
	.run = reap_run,
};
