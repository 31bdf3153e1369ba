// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: a systemd scope around a command
 *
 * systemd-run --scope asks systemd to put the process that it is itself into a scope, and
 * becomes the command. A daemon that the command leaves behind stays in the scope
 * whatever it does to its parents and sessions, so stopping the scope ends it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/program.h"
#include "base/text.h"
#include "host/scope.h"

#define SYSTEMD_RUN "/usr/bin/systemd-run"
#define SYSTEMCTL "/usr/bin/systemctl"
/* Exists exactly where systemd is in charge of the system. */
#define SYSTEMD_HERE "/run/systemd/system"
/* A file for each unit that was made at run time and still is. */
#define UNITS "/run/systemd/transient"
/* From SIGTERM to SIGKILL, and how long systemd may take for both. */
#define STOP_AFTER "5s"
#define STOP_MS 15000
/* Words before the command. */
#define N_BEFORE 8
/* What execvp() searches when nothing else is said. */
#define USUAL_PATH "/bin:/usr/bin"

static bool scope_exists(const char *unit)
{
	char *path = mem_printf(UNITS "/%s", unit);
	bool found = !access(path, F_OK);

	free(path);
	return found;
}

char *scope_name(const char *composition)
{
	char *name;

	if (geteuid() || access(SYSTEMD_HERE, F_OK) || access(SYSTEMD_RUN, X_OK) ||
	    access(SYSTEMCTL, X_OK))
		return NULL;
	name = mem_printf("gpufabric-run-%s.scope", composition);
	if (!scope_exists(name))
		return name;
	free(name);
	return mem_printf("gpufabric-run-%s-%d.scope", composition, (int)getpid());
}

/* As execve() judges a file, short of reading it. */
static int scope_judge(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return access(path, X_OK) ? errno : 0;
}

int scope_find(const char *program)
{
	const char *path = getenv("PATH");
	char *copy, *rest, *dir;
	int err = ENOENT;

	if (!*program)
		return ENOENT;
	if (strchr(program, '/'))
		return scope_judge(program);
	copy = mem_strdup(path ? path : USUAL_PATH);
	rest = copy;
	while (err && (dir = strsep(&rest, ":"))) {
		char *full = mem_printf("%s/%s", *dir ? dir : ".", program);
		int one = scope_judge(full);

		/* One that may not be run is worth more than many that are not there. */
		if (!one || one == EACCES)
			err = one;
		free(full);
	}
	free(copy);
	return err;
}

int scope_exec(const char *name, char *const *argv)
{
	char *before[N_BEFORE] = {
		SYSTEMD_RUN,
		"--scope",
		"--quiet",
		"--collect",
		"--no-ask-password",
		"--property=TimeoutStopSec=" STOP_AFTER,
		NULL,
		"--",
	};
	size_t n_words = 0;
	char **words;
	int err;

	if (!name) {
		execvp(argv[0], argv);
		return errno;
	}
	/* systemd-run has no status of its own for this. */
	err = scope_find(argv[0]);
	if (err)
		return err;
	before[N_BEFORE - 2] = mem_printf("--unit=%s", name);
	while (argv[n_words])
		n_words++;
	words = mem_zalloc(N_BEFORE + n_words + 1, sizeof(*words));
	memcpy(words, before, sizeof(before));
	memcpy(words + N_BEFORE, argv, n_words * sizeof(*words));
	execv(words[0], words);
	err = errno;
	free(words);
	free(before[N_BEFORE - 2]);
	return err;
}

bool scope_stop(const char *name)
{
	const struct program_limits limits = { .timeout_ms = STOP_MS };
	char *const env[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL };
	char *argv[5] = { SYSTEMCTL, "--quiet", "stop", (char *)name, NULL };
	struct program program = { .argv = argv, .env = env };

	/* With its last process a scope goes by itself. */
	if (!name || !scope_exists(name))
		return true;
	programs_run(&program, 1, &limits);
	program_free(&program);
	return !scope_exists(name) || program_succeeded(&program);
}
