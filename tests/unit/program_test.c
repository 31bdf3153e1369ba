// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/base/program.c ctl/base/text.c
/*
 * Programs of others: how they end, what is kept of their output, and that
 * one which does not end is ended with what it started.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/program.h"
#include "base/text.h"
#include "tap.h"

static char *const env[] = { "PATH=/usr/bin:/bin", "WORD=told", NULL };

static struct program shell(char *command, char *argv[4])
{
	argv[0] = "/bin/sh";
	argv[1] = "-c";
	argv[2] = command;
	argv[3] = NULL;
	return (struct program){ .argv = argv, .env = env };
}

static bool at_once(void)
{
	return true;
}

/* Run one command and compare what is said of its end. */
static void ends(char *command, const struct program_limits *limits, const char *want)
{
	char *argv[4];
	struct program program = shell(command, argv);
	char *got;

	programs_run(&program, 1, limits);
	got = program_succeeded(&program) ? mem_strdup("well") : program_complaint(&program, limits);
	is_str(got, want, command);
	free(got);
	program_free(&program);
}

/* What a program is given to read, and how much is kept of what it prints. */
static void input_and_output(const struct program_limits *limits)
{
	char *argv[4], *text = mem_zalloc(100001, 1);
	struct program program = shell("cat", argv);

	memset(text, 'x', 100000);
	program.input = text;
	program.output_max = 200000;
	programs_run(&program, 1, limits);
	is_str(program.output, text, "all of its input, and all that it prints");
	program_free(&program);
	program.output_max = 0;
	programs_run(&program, 1, limits);
	is_int((int)strlen(program.output), 4096, "or the end of it");
	program_free(&program);
	program.input = NULL;
	programs_run(&program, 1, limits);
	ok(!program.output, "without input there is nothing to read");
	program_free(&program);
	free(text);
}

/* It is told to stop, and has time to do so. */
static void grace(void)
{
	static const struct program_limits patient = {
		.timeout_ms = 200, .grace_ms = 60000
	};
	char *argv[4];
	struct program program = shell("trap 'sleep 3; echo done; exit' TERM; while :; do sleep 0.1; done", argv);

	programs_run(&program, 1, &patient);
	is_int((int)program.end, PROGRAM_TIMED_OUT, "a program is told to stop");
	ok(program.output && strstr(program.output, "done\n"), "and has its time for that");
	program_free(&program);
}

/* By a descriptor, which stays as it is: also one that does not end by itself. */
static void told_by_descriptor(void)
{
	struct program_limits limits = { .timeout_ms = 60000, .grace_ms = 500 };

	limits.stop_fd = eventfd(0, EFD_CLOEXEC);
	ends("exit 3", &limits, "status 3");
	eventfd_write(limits.stop_fd, 1);
	ends("sleep 1000", &limits, "interrupted");
	ends("trap '' TERM; sleep 1000 & wait; wait", &limits, "interrupted");
	close(limits.stop_fd);
}

int main(void)
{
	static const struct program_limits usual = { .timeout_ms = 60000 };
	static const struct program_limits quick = { .timeout_ms = 200 };
	static const struct program_limits stopped = { .timeout_ms = 60000, .stop = at_once };
	char template[] = "/tmp/program_test.XXXXXX";
	struct program programs[2];
	char *argv[2][4];
	char *none[] = { "/nonexistent/program", NULL };
	char *text, *reader, *writer;

	input_and_output(&usual);
	grace();
	told_by_descriptor();
	ends("exit 0", &usual, "well");
	ends("exit 3", &usual, "status 3");
	ends("echo one; echo 'two ' >&2; echo; exit 1", &usual, "status 1: two");
	ends("printf 'a\\033[31mb'; exit 1", &usual, "status 1: a?[31mb");
	ends("printf 'a\\000b'; exit 1", &usual, "status 1: a?b");
	ends("kill -9 $$", &usual, "killed by signal 9");
	ends("test $WORD = told && test -z \"$HOME\" && test \"$PWD\" = /", &usual, "well");
	ends("read x && exit 1; exit 0", &usual, "well");
	ends("sleep 5 & exit 0", &usual, "well");
	ends("i=0; while [ $i -lt 2000 ]; do echo $i-xxxxxxxxxxxxxxxxxxxx; i=$((i+1)); done; exit 1", &usual,
	     "status 1: 1999-xxxxxxxxxxxxxxxxxxxx");
	ends("echo busy; sleep 1000", &quick, "no end within 0.20 s: busy");
	ends("trap '' TERM; sleep 1000 & wait; wait", &quick, "no end within 0.20 s");
	ends("echo awake; sleep 1000", &stopped, "interrupted: awake");

	programs[0] = (struct program){ .argv = none, .env = env };
	programs_run(programs, 1, &usual);
	text = program_complaint(&programs[0], &usual);
	is_str(text, "cannot be run: No such file or directory", "a program that does not exist");
	free(text);

	/* Each end of a pipe waits for the other: one after the other would at_once end. */
	text = mkdtemp(template) ? mem_printf("%s/fifo", template) : NULL;
	if (!text || mkfifo(text, 0600))
		return 1;
	reader = mem_printf("read x <%s && test $x = told", text);
	writer = mem_printf("echo $WORD >%s", text);
	programs[0] = shell(reader, argv[0]);
	programs[1] = shell(writer, argv[1]);
	programs_run(programs, 2, &usual);
	ok(program_succeeded(&programs[0]) && program_succeeded(&programs[1]), "two that need each other");
	unlink(text);
	rmdir(template);
	free(text);
	free(reader);
	free(writer);
	program_free(&programs[0]);
	program_free(&programs[1]);
	return tap_done();
}
