// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: hooks
 *
 * What a vendor's stack wants before its GPU goes (a daemon stopped, a mode
 * turned off), and how a fabric brings a GPU to a port, is the admin's to say
 * and not in our code: executable files in hooks.d/NAME.d, run in the order
 * of their names as run-parts does it, with the name of the hook as argument and slot and
 * GPU in the environment.
 *
 * Those of the fabric are called once for all slots of a request: a fabric manager
 * changes a host in a transaction, of which it has one at a time.
 *
 * They run with our rights. So one that others may write, or that lies where
 * others may put it, is refused, and the request with it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/program.h"
#include "base/text.h"
#include "base/trust.h"
#include "cli/out.h"
#include "op/hooks.h"
#include "session/render.h"

#define TIMEOUT_MS 30000
#define TIMEOUT_MAX_MS 600000
#define TIMEOUT_VARIABLE "GPUCTL_HOOK_TIMEOUT"
#define PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

bool hooks_is_name(const char *name)
{
	static const char *const names[] = {
		HOOK_PRE_ATTACH, HOOK_POST_ATTACH, HOOK_PRE_DETACH, HOOK_POST_DETACH,
		HOOK_ASSIGN,	 HOOK_UNASSIGN,	   HOOK_RESIZE,
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* False when the variable says something that is no time for a hook. */
static bool parse_timeout(uint64_t *ms)
{
	const char *text = secure_getenv(TIMEOUT_VARIABLE);

	*ms = TIMEOUT_MS;
	return !text || (text_parse_duration(text, ms) && *ms && *ms <= TIMEOUT_MAX_MS);
}

static uint64_t timeout_ms(void)
{
	uint64_t ms;

	/* hooks_find() has refused what cannot be read. */
	parse_timeout(&ms);
	return ms;
}

static int check_trust(struct ctl_ctx *ctx, const char *path)
{
	struct fault fault = { "" };

	switch (trust_path(path, &fault)) {
	case 0:
		return CTL_DONE;
	case -EPERM:
		return ctl_fail(ctx, CTL_DENIED, "hook %s is not run: %s", path, fault.text);
	default:
		return ctl_fail(ctx, CTL_FAILED, "%s", fault.text);
	}
}

/* As run-parts: no names with dots, which package managers and editors leave behind. */
static int is_program(const struct dirent *entry)
{
	const char *c;

	for (c = entry->d_name; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", *c))
			return 0;
	return 1;
}

static int take_program(struct ctl_ctx *ctx, struct hooks *hooks, char *path)
{
	struct stat st;
	int ret = CTL_DONE;

	/* Without the executable bit it is switched off. */
	if (stat(path, &st) || !S_ISREG(st.st_mode) || !(st.st_mode & 0100)) {
		free(path);
		return CTL_DONE;
	}
	ret = check_trust(ctx, path);
	if (ret) {
		free(path);
		return ret;
	}
	hooks->programs = mem_grow(hooks->programs, hooks->n + 1, sizeof(*hooks->programs));
	hooks->programs[hooks->n++] = path;
	return CTL_DONE;
}

int hooks_find(struct ctl_ctx *ctx, const char *name, struct hooks *hooks)
{
	char *dir = mem_printf("%s/hooks.d/%s.d", ctx->config_dir, name);
	struct dirent **names = NULL;
	int n, i, ret = CTL_DONE;
	uint64_t ms;

	memset(hooks, 0, sizeof(*hooks));
	hooks->name = name;
	hooks->together = !strcmp(name, HOOK_ASSIGN) || !strcmp(name, HOOK_UNASSIGN) ||
			  !strcmp(name, HOOK_RESIZE);
	if (!parse_timeout(&ms))
		ret = ctl_fail(ctx, CTL_USAGE,
			       TIMEOUT_VARIABLE ": write a time of up to 10min, such as 45s");
	n = scandir(dir, &names, is_program, alphasort);
	if (n < 0 && errno != ENOENT && !ret)
		ret = ctl_fail(ctx, CTL_FAILED, "%s: %s", dir, strerror(errno));
	for (i = 0; i < n; i++) {
		if (!ret)
			ret = take_program(ctx, hooks, mem_printf("%s/%s", dir, names[i]->d_name));
		free(names[i]);
	}
	free(names);
	free(dir);
	if (ret)
		hooks_free(hooks);
	return ret;
}

void hooks_free(struct hooks *hooks)
{
	size_t i;

	for (i = 0; i < hooks->n; i++)
		free(hooks->programs[i]);
	free(hooks->programs);
	hooks->programs = NULL;
	hooks->n = 0;
	hooks->ran = 0;
}

uint64_t hooks_budget(const struct hooks *hooks)
{
	return hooks->n * timeout_ms();
}

static void add_env(char ***env, size_t *n, const char *name, const char *value)
{
	*env = mem_grow(*env, *n + 2, sizeof(**env));
	(*env)[(*n)++] = mem_printf("%s=%s", name, value ? value : "");
	(*env)[*n] = NULL;
}

static void add_ids(char ***env, size_t *n, const struct gf_ids *ids)
{
	static const char *const names[] = { "GPUFABRIC_VENDOR", "GPUFABRIC_DEVICE",
					     "GPUFABRIC_SUBSYSTEM_VENDOR",
					     "GPUFABRIC_SUBSYSTEM_DEVICE" };
	const uint32_t values[] = { ids->vendor, ids->device, ids->subsystem_vendor,
				    ids->subsystem_device };
	char text[16];
	size_t i;

	for (i = 0; i < 4 && ids->vendor; i++) {
		snprintf(text, sizeof(text), "%04x", values[i]);
		add_env(env, n, names[i], text);
	}
}

static char **hooks_describe(struct session *session, const char *reason,
			     const struct gf_slot *slot)
{
	const struct gf_function *gpu = gf_gpu_function(slot);
	struct text functions = { 0 };
	struct identity identity;
	char **env = NULL;
	size_t n = 0, i;

	identity_of(&session->knowledge, slot, &identity);
	for (i = 0; i < slot->n_functions; i++)
		if (!gf_is_bridge(&slot->functions[i]))
			text_join(&functions, " ", slot->functions[i].address);
	env = mem_grow(NULL, 2, sizeof(*env));
	env[n++] = mem_strdup(PATH);
	add_env(&env, &n, "GPUFABRIC_SLOT", slot->name);
	add_env(&env, &n, "GPUFABRIC_PORT", slot->address);
	add_env(&env, &n, "GPUFABRIC_STATE", render_state(slot->state));
	add_env(&env, &n, "GPUFABRIC_COMPOSITION", slot->composition);
	add_env(&env, &n, "GPUFABRIC_ADDRESS", gpu ? gpu->address : NULL);
	add_env(&env, &n, "GPUFABRIC_FUNCTIONS", functions.text);
	add_env(&env, &n, "GPUFABRIC_DRIVER", gpu ? gpu->driver : NULL);
	add_env(&env, &n, "GPUFABRIC_MODEL", identity.gpu ? identity.gpu->id : NULL);
	add_env(&env, &n, "GPUFABRIC_REASON", reason);
	add_ids(&env, &n, &identity.ids);
	free(functions.text);
	return env;
}

int hook_slots_init(struct session *session, const char *reason, struct gf_slot *const *slots,
		    size_t n, struct hook_slots *about)
{
	size_t i;
	int ret;

	memset(about, 0, sizeof(*about));
	ret = session_know(session);
	if (ret)
		return ret;
	about->names = mem_zalloc(n, sizeof(*about->names));
	about->env = mem_zalloc(n, sizeof(*about->env));
	for (i = 0; i < n; i++) {
		about->names[i] = mem_strdup(slots[i]->name);
		about->env[i] = hooks_describe(session, reason, slots[i]);
	}
	about->n = n;
	return CTL_DONE;
}

static void free_strings(char **strings)
{
	size_t i;

	for (i = 0; strings[i]; i++)
		free(strings[i]);
	free(strings);
}

void hook_slots_free(struct hook_slots *about)
{
	size_t i;

	for (i = 0; i < about->n; i++) {
		free_strings(about->env[i]);
		free(about->names[i]);
	}
	free(about->env);
	free(about->names);
	free(about->composition);
	memset(about, 0, sizeof(*about));
}

char *hook_slots_text(const struct hook_slots *about, const bool *which, const char *separator)
{
	struct text names = { 0 };
	size_t i;

	for (i = 0; i < about->n; i++)
		if (!which || which[i])
			text_join(&names, separator, about->names[i]);
	return names.text ? names.text : mem_strdup("");
}

/* What a slot's environment says of @name. */
static const char *value_of(char *const *env, const char *name)
{
	size_t len = strlen(name);

	for (; *env; env++)
		if (!strncmp(*env, name, len) && (*env)[len] == '=')
			return *env + len + 1;
	return "";
}

/* For a program that is told of several slots at once; NULL when there are none. */
static char **describe_together(const struct hook_slots *about, const bool *which)
{
	const char *reason = NULL;
	struct text ports = { 0 };
	char **env;
	size_t n = 0, i;

	for (i = 0; i < about->n; i++) {
		const char *port = value_of(about->env[i], "GPUFABRIC_PORT");

		if (which && !which[i])
			continue;
		text_join(&ports, " ", *port ? port : "-");
		reason = value_of(about->env[i], "GPUFABRIC_REASON");
	}
	if (!reason)
		return NULL;
	env = mem_grow(NULL, 2, sizeof(*env));
	env[n++] = mem_strdup(PATH);
	add_env(&env, &n, "GPUFABRIC_PORTS", ports.text);
	add_env(&env, &n, "GPUFABRIC_REASON", reason);
	if (about->composition) {
		char gpus[24];

		snprintf(gpus, sizeof(gpus), "%zu", about->gpus);
		add_env(&env, &n, "GPUFABRIC_COMPOSITION", about->composition);
		add_env(&env, &n, "GPUFABRIC_GPUS", gpus);
	}
	free(ports.text);
	return env;
}

/* CTL_DONE, or how a program failed; @slot: which it was about, NULL for all of them. */
static int take_end(struct ctl_ctx *ctx, struct program *program, const char *action,
		    const char *slot, const struct program_limits *limits)
{
	char *complaint;
	int ret;

	if (program_succeeded(program))
		return CTL_DONE;
	complaint = program_complaint(program, limits);
	ret = ctl_fail(ctx, program->end == PROGRAM_TIMED_OUT ? CTL_TIMEOUT : CTL_FAILED,
		       "%s%s%shook %s %s: %s", slot ? "slot " : "", slot ? slot : "",
		       slot ? ": " : "", program->argv[0], action, complaint);
	free(complaint);
	return ret;
}

/* One program for all slots, side by side; the error is that of the first slot that has one. */
static int run_each(struct ctl_ctx *ctx, char *path, const char *action,
		    const struct hook_slots *about, const bool *which,
		    const struct program_limits *limits)
{
	char *const argv[] = { path, (char *)action, NULL };
	struct program *programs = mem_zalloc(about->n, sizeof(*programs));
	size_t *slot = mem_zalloc(about->n, sizeof(*slot));
	size_t n = 0, i;
	int ret = CTL_DONE;

	for (i = 0; i < about->n; i++) {
		if (which && !which[i])
			continue;
		programs[n] = (struct program){ .argv = argv, .env = about->env[i] };
		slot[n++] = i;
	}
	programs_run(programs, n, limits);
	for (i = 0; i < n; i++) {
		if (!ret)
			ret = take_end(ctx, &programs[i], action, about->names[slot[i]], limits);
		program_free(&programs[i]);
	}
	free(slot);
	free(programs);
	return ret;
}

/* One program, once. */
static int run_together(struct ctl_ctx *ctx, char *path, const char *action,
			const struct hook_slots *about, const bool *which,
			const struct program_limits *limits)
{
	char **env = describe_together(about, which);
	char **argv = mem_zalloc(about->n + 3, sizeof(*argv));
	struct program program = { .argv = argv, .env = env };
	size_t n = 0, i;
	int ret = CTL_DONE;

	if (!env)
		goto out;
	argv[n++] = path;
	argv[n++] = (char *)action;
	for (i = 0; i < about->n; i++)
		if (!which || which[i])
			argv[n++] = about->names[i];
	programs_run(&program, 1, limits);
	ret = take_end(ctx, &program, action, NULL, limits);
	program_free(&program);
	free_strings(env);
out:
	free(argv);
	return ret;
}

static int run_program(struct ctl_ctx *ctx, const struct hooks *hooks, char *path,
		       const char *action, const struct hook_slots *about, const bool *which,
		       bool (*stop)(void))
{
	const sigset_t *signals = stop ? gfc_signal_mask() : NULL;
	const struct program_limits limits = { timeout_ms(), signals, signals ? stop : NULL };

	return hooks->together ? run_together(ctx, path, action, about, which, &limits) :
				 run_each(ctx, path, action, about, which, &limits);
}

/* Turn the error into a warning; an earlier error stays. */
static void warn(struct ctl_ctx *ctx, char *before)
{
	ctl_warn(ctx, "%s", ctx->error);
	free(ctx->error);
	ctx->error = before;
}

static int hooks_each(struct ctl_ctx *ctx, struct hooks *hooks, const char *action,
		      const struct hook_slots *about, const bool *which, enum hooks_failure failure)
{
	bool (*stop)(void) = failure == HOOKS_SEE_THROUGH ? gfc_signalled_again : gfc_signalled;
	int ret = CTL_DONE;

	for (hooks->ran = 0; hooks->ran < hooks->n && !ret;) {
		char *path = hooks->programs[hooks->ran++], *before = ctx->error;

		if (failure != HOOKS_STOP)
			ctx->error = NULL;
		ret = run_program(ctx, hooks, path, action, about, which, stop);
		if (failure != HOOKS_STOP) {
			if (ret)
				warn(ctx, before);
			else
				ctx->error = before;
			ret = CTL_DONE;
		}
	}
	return ret;
}

int hooks_run(struct ctl_ctx *ctx, struct hooks *hooks, const struct hook_slots *about,
	      const bool *which, enum hooks_failure failure)
{
	return hooks_each(ctx, hooks, hooks->name, about, which, failure);
}

void hooks_tell(struct ctl_ctx *ctx, struct hooks *hooks, const char *action,
		const struct hook_slots *about, const bool *which, enum hooks_failure failure)
{
	hooks_each(ctx, hooks, action, about, which, failure);
}

void hooks_undo(struct ctl_ctx *ctx, struct hooks *hooks, const char *action,
		const struct hook_slots *about, const bool *which)
{
	while (hooks->ran) {
		char *path = hooks->programs[--hooks->ran], *before = ctx->error;

		ctx->error = NULL;
		/* It may be a signal that made this necessary. */
		if (run_program(ctx, hooks, path, action, about, which, NULL))
			warn(ctx, before);
		else
			ctx->error = before;
	}
}

char *hooks_give_back(struct ctl_ctx *ctx, struct hooks *unassign, const struct hook_slots *about,
		      const bool *which)
{
	char *before = ctx->error, *slots = hook_slots_text(about, which, " ");
	struct text kept = { 0 };

	for (unassign->ran = 0; unassign->ran < unassign->n;) {
		char *path = unassign->programs[unassign->ran++];

		ctx->error = NULL;
		if (run_program(ctx, unassign, path, unassign->name, about, which, NULL)) {
			text_join(&kept, "\n", ctx->error);
			text_add(&kept, "\nby hand: %s %s %s", path, unassign->name, slots);
		}
		free(ctx->error);
	}
	ctx->error = before;
	free(slots);
	return kept.text;
}

void hooks_render(struct ctl_ctx *ctx, const struct hooks *hooks)
{
	size_t i;

	for (i = 0; i < hooks->n; i++)
		out_note(ctx->out, "would", "would ", "run %s", hooks->programs[i]);
}
