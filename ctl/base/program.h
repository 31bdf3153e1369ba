/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs of others: several at once, bounded in time, what they print kept. */
#ifndef GPUCTL_PROGRAM_H
#define GPUCTL_PROGRAM_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a program came to its end. */
enum program_end {
	PROGRAM_EXITED, /* status: its exit status */
	PROGRAM_KILLED, /* status: the signal */
	PROGRAM_TIMED_OUT, /* ended by us, with all that it had started */
	PROGRAM_INTERRUPTED, /* the same, because we were told to stop */
	PROGRAM_NOT_STARTED, /* status: an errno */
};

/**
 * struct program - one program
 * @argv: what to run, ends with NULL; argv[0] is a path
 * @env: its whole environment, ends with NULL
 * @input: what it reads on standard input, NULL for nothing
 * @output_max: bytes of @output that are kept, 0 for what a message takes
 * @end: filled: how it ended
 * @status: filled: see enum program_end
 * @output: filled: the end of what it printed, owned, may be NULL
 */
struct program {
	char *const *argv;
	char *const *env;
	const char *input;
	size_t output_max;
	enum program_end end;
	int status;
	char *output;
};

/**
 * struct program_limits - when programs have to stop
 * @timeout_ms: so long after their start
 * @signals: mask while waiting, so that a blocked signal can come; NULL for none
 * @stop: told after a signal whether to stop, may be NULL
 * @grace_ms: from the request to stop to the end by force, 0 for the usual
 * @stop_fd: to stop as soon as it is readable, 0 for none
 */
struct program_limits {
	uint64_t timeout_ms;
	const sigset_t *signals;
	bool (*stop)(void);
	uint64_t grace_ms;
	int stop_fd;
};

/*
 * Run programs side by side and wait for all of them. What they print is taken. A child that a
 * program leaves running is left alone, unless the program itself had to be stopped.
 */
void programs_run(struct program *programs, size_t n, const struct program_limits *limits);
void program_free(struct program *program);

bool program_succeeded(const struct program *program);

/* "status 3: no such GPU", "no end within 30 s"; caller frees. */
char *program_complaint(const struct program *program, const struct program_limits *limits);

#endif /* GPUCTL_PROGRAM_H */
