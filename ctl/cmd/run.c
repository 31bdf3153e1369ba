// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: gpuctl run
 *
 * Compose, run a command with the GPUs in its environment, release on any exit.
 * The composition is bound to this client: should that be killed, the kernel marks it
 * orphaned, the command is ended by its parent-death signal, and gpuctl reap
 * takes the GPUs back. Where systemd is in charge the command has a scope of its own,
 * and nothing of it outlives the composition.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/request.h"
#include "cmd/size_options.h"
#include "host/scope.h"
#include "op/release.h"
#include "publish/environment.h"
#include "session/session.h"

/* What the command leaves behind has so long to let go of the GPUs. */
#define LET_GO_MS 10000
/* As shells say it. */
#define STATUS_NOT_FOUND 127
#define STATUS_NOT_RUN 126
#define STATUS_SIGNAL 128

static const struct ctl_option options[] = {
	{ "name", 0, "NAME", "name of the composition (default run-PID)" },
	{ NULL },
};

/* In the child; only what is written to the environment before exec. */
static void tell_command(const struct session *session, const struct gf_composition *composition)
{
	struct environment environment;
	size_t i;

	environment_of("/proc", "/sys", &session->fabric, composition, NULL, &environment);
	for (i = 0; i < environment.n; i++)
		setenv(environment.items[i].name, environment.items[i].value, 1);
	environment_free(&environment);
}

static void become(const char *scope, char **argv, pid_t parent)
{
	static const int caught[] = { SIGINT, SIGTERM, SIGPIPE };
	sigset_t none;
	size_t i;
	int err;

	for (i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		signal(caught[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* The parent may have died before it could be told. */
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) || getppid() != parent)
		_exit(STATUS_NOT_RUN);
	err = scope_exec(scope, argv);
	dprintf(STDERR_FILENO, "gpuctl: cannot run %s: %s\n", argv[0], strerror(err));
	_exit(err == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUN);
}

/* Until the command ends. A signal that comes to us ends it, the second one by force. */
static int await_command(pid_t pid, int pidfd)
{
	struct pollfd fd = { .fd = pidfd, .events = POLLIN };
	int status, passed = 0;

	while (ppoll(&fd, 1, NULL, gfc_signal_mask()) < 0 && errno == EINTR) {
		if (!gfc_signalled())
			continue;
		gfc_forget_signals();
		kill(pid, passed++ ? SIGKILL : SIGTERM);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* The command's exit status, or -1 when it could not be started. */
static int run_inside(struct session *session, const struct gf_composition *composition,
		      const char *scope, char **argv)
{
	bool json = session->ctx->json;
	pid_t parent = getpid(), pid;
	int pidfd, status;

	/* Standard output is one JSON document or the command's, never both. */
	if (!json)
		out_flush(session->ctx->out);
	pid = fork();
	if (!pid) {
		if (json && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
			_exit(STATUS_NOT_RUN);
		tell_command(session, composition);
		become(scope, argv, parent);
	}
	pidfd = pid > 0 ? pidfd_open(pid, 0) : -1;
	if (pidfd < 0) {
		ctl_fail(session->ctx, CTL_FAILED, "cannot start %s: %s", argv[0], strerror(errno));
		if (pid > 0) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
		}
		return -1;
	}
	status = await_command(pid, pidfd);
	close(pidfd);
	return status;
}

/* The same, with nothing left of the command where there is a scope. */
static int run_command(struct session *session, const struct gf_composition *composition,
		       char **argv)
{
	char *scope = scope_name(composition->name);
	int status = run_inside(session, composition, scope, argv);

	if (!scope_stop(scope))
		ctl_warn(session->ctx, "processes that the command left in %s do not end", scope);
	free(scope);
	return status;
}

/* With -j the document tells of the GPUs as the command had them. */
static int release_quietly(struct session *session, const struct op_terms *terms, const char *name)
{
	struct ctl_ctx *ctx = session->ctx;
	struct out *own = ctx->out;
	int ret;

	if (ctx->json)
		ctx->out = out_new(NULL);
	ret = release_composition(session, terms, name, 0);
	if (ctx->json) {
		out_free(ctx->out);
		ctx->out = own;
	}
	return ret;
}

static void render_end(struct ctl_ctx *ctx, int status, bool released)
{
	static const struct out_column columns[] = {
		{ "status", NULL },
		{ "released", NULL },
		{ NULL, NULL },
	};
	struct out_table *t = out_table(ctx->out, NULL, columns, OUT_SINGLE);

	if (status >= 0)
		out_int(t, "status", status);
	out_bool(t, "released", released);
}

static int run_give_back(struct session *session, const struct op_terms *terms, const char *name,
			 int status)
{
	struct ctl_ctx *ctx = session->ctx;
	int ret;

	/* A signal has done its work; this end is to come to its own. */
	gfc_drop_signals();
	ret = session_refresh(session);
	if (!ret)
		ret = release_quietly(session, terms, name);
	if (ctx->json)
		render_end(ctx, status, !ret);
	if (ret)
		ctl_more(ctx,
			 "composition %s remains: gpuctl reap releases it when its GPUs are free",
			 name);
	if (status < 0)
		return CTL_FAILED;
	return ret && !status ? ret : status;
}

static int run_session(struct session *session, const struct op_terms *terms,
		       struct compose_request *request, char **argv)
{
	struct gf_composition *composition;
	int ret, status = -1;

	ret = compose(session, terms, request);
	if (ret || session->ctx->dry_run)
		return ret;
	ret = session_refresh(session);
	if (!ret)
		ret = session_composition(session, request->name, &composition);
	if (!ret && gfc_signalled())
		ctl_fail(session->ctx, CTL_FAILED, "interrupted: %s was not started", argv[0]);
	else if (!ret)
		status = run_command(session, composition, argv);
	return run_give_back(session, terms, request->name, status);
}

static int run_start(struct ctl_ctx *ctx, int argc, char **argv)
{
	const char *given = ctl_opt(ctx, "name");
	struct compose_request request;
	struct session session;
	struct op_terms terms;
	struct asked asked;
	char *name;
	int ret;

	if (ctx->rest)
		return ctl_fail(ctx, CTL_USAGE, "write the command after --: gpuctl run %s",
				ctx->command->args);
	if (!argc)
		return ctl_fail(ctx, CTL_USAGE, "the command is missing: gpuctl run %s",
				ctx->command->args);
	name = given ? mem_strdup(given) : mem_printf("run-%d", (int)getpid());
	ret = session_check_name(ctx, "name", name);
	if (!ret)
		ret = terms_read(ctx, TERMS_ADD | TERMS_REMOVE | TERMS_GIVE, LET_GO_MS, &terms);
	if (!ret)
		ret = session_open(ctx, &session, SESSION_CHOOSE);
	if (!ret) {
		ret = compose_read(ctx, &session.knowledge.catalogue, name, &asked, &request);
		request.bind = true;
		if (!ret)
			ret = run_session(&session, &terms, &request, argv);
		asked_free(&asked);
		session_close(&session);
	}
	free(name);
	return ret;
}

const struct ctl_command cmd_run = {
	.name = "run",
	.group = CTL_COMPOSITIONS,
	.args = "-- COMMAND...",
	.summary = "compose, run a command with the GPUs, release on any exit",
	.help = "The request is that of gpuctl compose. COMMAND finds GPUFABRIC_COMPOSITION, GPUFABRIC_SLOTS and\n"
		"GPUFABRIC_ADDRESSES in its environment, and CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES or\n"
		"ZE_AFFINITY_MASK if the vendor's driver provides the identifiers. gpuctl exits with the status of\n"
		"COMMAND. SIGINT, SIGTERM and SIGHUP end COMMAND, and then gpuctl releases the GPUs. If a signal comes before\n"
		"the GPUs are ready, gpuctl completes the attach, releases the GPUs and does not start COMMAND; its exit code\n"
		"is 1. If gpuctl itself is killed, COMMAND is killed too, and gpuctl reap takes the GPUs back. On a host\n"
		"with systemd, root's COMMAND runs in the scope gpufabric-run-NAME.scope; when it ends, the processes that\n"
		"it left there are ended, by force after 5 s. Elsewhere such processes may keep GPUs busy, and gpuctl\n"
		"names them. With -j, the output of COMMAND goes to standard error, and one document with its exit status\n"
		"follows at the end.",
	.options = { options, pool_options, compose_options, size_workload_options, remove_options,
		     session_options },
	.completes = "@programs, @files",
	.run = run_start,
};
