// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl reap: release compositions whose client, lease or job has come to its end. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/jobs_alive.h"
#include "cmd/options.h"
#include "module/annotation.h"
#include "op/release.h"
#include "op/unused.h"
#include "session/session.h"

static const struct ctl_option options[] = {
	{ "jobs-alive", 0, "LIST",
	  "also release compositions of jobs that this file lacks (-: standard input)", "@files" },
	{ NULL },
};

/**
 * struct reaped - what one reap has done
 * @left: names of compositions that were tried and are still there
 * @n_left: how many
 * @tried: compositions that were due
 * @failed: those of them that could not be released
 * @worst: how the last one of these failed
 */
struct reaped {
	char **left;
	size_t n_left;
	size_t tried;
	size_t failed;
	int worst;
};

static bool reaped_has_left(const struct reaped *reaped, const char *name)
{
	size_t i;

	for (i = 0; i < reaped->n_left; i++)
		if (!strcmp(reaped->left[i], name))
			return true;
	return false;
}

static void reaped_leave(struct reaped *reaped, const char *name)
{
	reaped->left = mem_push(reaped->left, reaped->n_left, sizeof(*reaped->left));
	reaped->left[reaped->n_left++] = mem_strdup(name);
}

static void reaped_free(struct reaped *reaped)
{
	size_t i;

	for (i = 0; i < reaped->n_left; i++)
		free(reaped->left[i]);
	free(reaped->left);
}

/* Why it is due, NULL: it is not. @jobs is NULL where no list was given. */
static const char *due(const struct gf_composition *composition, const struct jobs_alive *jobs,
		       uint64_t now)
{
	struct annotation note;
	uint64_t lease;

	/* It may say that its GPUs are to stay, whatever becomes of the client. */
	if (!annotation_of(composition, &note))
		return NULL;
	lease = annotation_lease(&note, composition->instance);
	if (composition->flags & GPUFABRIC_COMPOSITION_FLAG_ORPHANED)
		return "its client is gone";
	if (lease && lease <= now)
		return "its lease is over";
	if (jobs && jobs_alive_lack(jobs, note.job, composition->created))
		return "its job has ended";
	return NULL;
}

static void say_left_alone(struct session *session)
{
	const struct gf_fabric *fabric = &session->fabric;
	char unknown[ANNOTATION_UNKNOWN];
	struct annotation note;
	size_t i;

	for (i = 0; i < fabric->n_compositions; i++)
		if (!annotation_of(&fabric->compositions[i], &note))
			session_say(session, "%s: annotation: %s, left alone",
				    fabric->compositions[i].name,
				    annotation_unknown(unknown, &note));
}

/* The name of the first one that is due and was not tried, caller frees; NULL: there is none. */
static char *find_due(struct session *session, const struct jobs_alive *jobs,
		      const struct reaped *reaped)
{
	const struct gf_fabric *fabric = &session->fabric;
	uint64_t now = text_uptime();
	size_t i;

	for (i = 0; i < fabric->n_compositions; i++) {
		const struct gf_composition *composition = &fabric->compositions[i];
		const char *why;

		if (reaped_has_left(reaped, composition->name))
			continue;
		why = due(composition, jobs, now);
		if (!why)
			continue;
		session_say(session, "%s: %s", composition->name, why);
		return mem_strdup(composition->name);
	}
	return NULL;
}

/* One that cannot be released, or was changed since it was found due, does not keep the others. */
static int reap_one(struct session *session, const struct op_terms *terms, const char *name,
		    struct reaped *reaped)
{
	struct ctl_ctx *ctx = session->ctx;
	int ret;

	reaped->tried++;
	ret = release_composition(session, terms, name, RELEASE_SAME);
	if (ret) {
		reaped->failed++;
		reaped->worst = ret;
		ctl_warn(ctx, "%s: %s", name, ctx->error);
	} else if (!ctx->dry_run) {
		out_note(ctx->out, "reaped", "reaped ", "%s", name);
	}
	if (ret || ctx->dry_run)
		reaped_leave(reaped, name);
	if (gfc_signalled())
		return ctl_fail(ctx, CTL_FAILED, "interrupted");
	return session_refresh(session);
}

/*
 * Until nothing is due: a release takes its time, and nobody starts a service that runs. What was
 * due before it may have a longer lease after it, so each is asked for when its turn comes.
 */
static int reap_rounds(struct session *session, const struct op_terms *terms,
		       const struct jobs_alive *jobs, struct reaped *reaped)
{
	int ret = CTL_DONE;
	char *name;

	while (!ret && (name = find_due(session, jobs, reaped))) {
		ret = reap_one(session, terms, name, reaped);
		free(name);
	}
	return ret;
}

/* Compositions that are due, GPUs of the fabric that nobody uses, and what was due meanwhile. */
static int reap_all(struct session *session, const struct op_terms *terms,
		    const struct jobs_alive *jobs)
{
	struct ctl_ctx *ctx = session->ctx;
	struct reaped reaped = { .n_left = 0 };
	char *failed, *unreturned;
	size_t returned;
	int ret, more;

	say_left_alone(session);
	ret = reap_rounds(session, terms, jobs, &reaped);
	/* What failed so far stays the error. */
	failed = ctx->error;
	ctx->error = NULL;
	more = unused_return(session, terms, &returned);
	unreturned = ctx->error;
	ctx->error = NULL;
	if (ret) {
		ctx->error = failed;
		failed = NULL;
	} else {
		ret = session_refresh(session);
		if (!ret)
			ret = reap_rounds(session, terms, jobs, &reaped);
	}
	if (!ret && reaped.failed)
		ret = ctl_fail(ctx, reaped.worst, "%zu of %zu compositions could not be released",
			       reaped.failed, reaped.tried);
	else if (!ret && more)
		ret = ctl_fail(ctx, (enum ctl_exit)more, "%s",
			       unreturned ? unreturned : "not all unused GPUs were given back");
	if (!reaped.tried && !returned && !ret)
		out_line(ctx->out, "nothing to reap");
	free(failed);
	free(unreturned);
	reaped_free(&reaped);
	return ret;
}

static int reap_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	const char *list = ctl_opt(ctx, "jobs-alive");
	struct jobs_alive jobs = { 0 };
	struct session session;
	struct op_terms terms;
	int ret;

	(void)argv;
	ret = ctl_operands(ctx, argc, 0, 0);
	if (!ret)
		ret = terms_read(ctx, TERMS_REMOVE, 0, &terms);
	if (!ret && list)
		ret = jobs_alive_read(ctx, list, &jobs);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_CHANGE);
	if (!ret) {
		ret = reap_all(&session, &terms, list ? &jobs : NULL);
		session_close(&session);
	}
	jobs_alive_free(&jobs);
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
		"With --jobs-alive a composition is also due if its annotation names a job (--job) that the list lacks.\n"
		"A composition without a job stays, and so does one that was composed less than a minute before the\n"
		"list was made, that is, before gpuctl started or the file was last written. The list has to have all\n"
		"jobs that anybody composes for on this host. A list whose last line is not a full stop alone is\n"
		"refused, and nothing is released: the command that prints the jobs may have failed, and an empty list\n"
		"would take the GPUs of all of them.\n"
		"A GPU that a fabric manager has bound to this host goes back if no composition had it, no process held\n"
		"it and its slot did not change for the time return_after. That time begins with the first reap that\n"
		"finds it unused (-n does not count): see gpuctl-fabric(5).",
	.options = { options, remove_options, session_options },
	.run = reap_run,
};
