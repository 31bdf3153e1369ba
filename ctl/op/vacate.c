// SPDX-License-Identifier: GPL-2.0-only
/* DOC: this host has to stop using the GPUs of a manager, and has not much time for that. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/program.h"
#include "base/text.h"
#include "op/vacate.h"
#include "session/session.h"

#define SELF "/proc/self/exe"
#define KILL_MS 200

/* Names of the manager's slots that have power; each is owned. */
static int find_on(struct ctl_ctx *ctx, const struct manager_conf *conf, char ***names, size_t *n)
{
	struct session session;
	size_t i;
	int ret = session_open(ctx, &session, SESSION_LOOK);

	*names = NULL;
	*n = 0;
	if (ret)
		return ret;
	for (i = 0; i < conf->n_ports; i++) {
		const struct gf_slot *slot = gf_slot_by_name(&session.fabric, conf->ports[i].slot);

		if (!slot || gf_slot_has_no_power(slot))
			continue;
		*names = mem_push(*names, *n, sizeof(**names));
		(*names)[(*n)++] = mem_strdup(slot->name);
	}
	session_close(&session);
	return CTL_DONE;
}

static void names_free(char **names, size_t n)
{
	while (n)
		free(names[--n]);
	free(names);
}

static void vacate_off(struct ctl_ctx *ctx, char *const *names, size_t n, uint64_t limit_ms)
{
	static const char *const words[] = { SELF, "detach", "--force", "--reason",
					     "the lease is over" };
	const size_t fixed = sizeof(words) / sizeof(words[0]);
	const struct program_limits limits = { .timeout_ms = limit_ms, .grace_ms = KILL_MS };
	char **argv = mem_zalloc(fixed + n + 1, sizeof(*argv));
	struct program program = { .argv = argv, .env = environ };
	char *why;
	size_t i;

	for (i = 0; i < fixed; i++)
		argv[i] = (char *)(uintptr_t)words[i];
	for (i = 0; i < n; i++)
		argv[fixed + i] = names[i];
	programs_run(&program, 1, &limits);
	if (!program_succeeded(&program)) {
		why = program_complaint(&program, &limits);
		ctl_warn(ctx, "gpuctl detach: %s", why);
		free(why);
	}
	program_free(&program);
	free(argv);
}

int vacate(struct ctl_ctx *ctx, const struct manager_conf *conf, uint64_t limit_ms, size_t *left)
{
	char **names;
	size_t n;
	int ret = find_on(ctx, conf, &names, &n);

	*left = SIZE_MAX;
	/* Slots are asked again: what a program says of them is not enough here. */
	if (!ret && n) {
		vacate_off(ctx, names, n, limit_ms);
		names_free(names, n);
		ret = find_on(ctx, conf, &names, &n);
	}
	if (!ret)
		*left = n;
	names_free(names, n);
	return ret;
}
