// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: programs of others
 *
 * Each runs in a process group of its own, so that it can be stopped with
 * what it started. The end of a program is the end of its process, not of its
 * output: a daemon that it started may keep that open for ever.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/program.h"
#include "base/text.h"

/* Enough for a message; the end is what tells. */
#define OUTPUT_MAX 4096
/* From the request to stop to the end by force. */
#define GRACE_MS 2000

/**
 * struct running - a program under way
 * @program: which
 * @pid: its process and its group, 0 when it has ended
 * @pidfd: readable when it has ended
 * @pipe: what it prints, -1 when closed
 */
struct running {
	struct program *program;
	pid_t pid;
	int pidfd;
	int pipe;
};

/* A file in memory with what the program is to read; -1 with errno. */
static int input_open(const char *text)
{
	size_t len = strlen(text);
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd >= 0 && (write(fd, text, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET))) {
		close(fd);
		errno = EIO;
		return -1;
	}
	return fd;
}

static int spawn(struct running *r, int in, int out)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, usual;
	int err;

	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGINT);
	sigaddset(&usual, SIGTERM);
	sigaddset(&usual, SIGPIPE);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
						POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &usual);
	posix_spawn_file_actions_init(&actions);
	if (in >= 0)
		posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	else
		posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
	posix_spawn_file_actions_addchdir_np(&actions, "/");
	err = posix_spawn(&r->pid, r->program->argv[0], &actions, &attr, r->program->argv,
			  r->program->env);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	return err;
}

static void start(struct running *r)
{
	int pipes[2], in = -1, err = 0;

	r->pid = 0;
	r->pidfd = -1;
	r->pipe = -1;
	if (r->program->input) {
		in = input_open(r->program->input);
		err = in < 0 ? errno : 0;
	}
	if (!err && pipe2(pipes, O_CLOEXEC))
		err = errno;
	if (!err) {
		err = spawn(r, in, pipes[1]);
		close(pipes[1]);
		r->pipe = pipes[0];
		fcntl(r->pipe, F_SETFL, O_NONBLOCK);
	}
	if (in >= 0)
		close(in);
	if (!err) {
		r->pidfd = pidfd_open(r->pid, 0);
		if (r->pidfd >= 0)
			return;
		err = errno;
		kill(-r->pid, SIGKILL);
		waitpid(r->pid, NULL, 0);
	}
	r->pid = 0;
	r->program->end = PROGRAM_NOT_STARTED;
	r->program->status = err;
}

/* Keep the end of what is printed. */
static void take_output(struct running *r)
{
	struct program *program = r->program;
	size_t most = program->output_max ? program->output_max : OUTPUT_MAX;
	char buf[OUTPUT_MAX];
	ssize_t n;

	while (r->pipe >= 0 && (n = read(r->pipe, buf, sizeof(buf))) != 0) {
		size_t have = program->output ? strlen(program->output) : 0, drop = 0, i;

		if (n < 0) {
			if (errno == EINTR)
				continue;
			if (errno == EAGAIN)
				return;
			break;
		}
		for (i = 0; i < (size_t)n; i++)
			if (!buf[i])
				buf[i] = '?';
		if (have + (size_t)n > most)
			drop = have + (size_t)n - most;
		if (drop)
			memmove(program->output, program->output + drop, have - drop);
		have -= drop;
		program->output = mem_grow(program->output, have + (size_t)n + 1, 1);
		memcpy(program->output + have, buf, (size_t)n);
		program->output[have + (size_t)n] = '\0';
	}
	if (r->pipe >= 0)
		close(r->pipe);
	r->pipe = -1;
}

/* @why: how its end is to be called when it was not its own. */
static void program_reap(struct running *r, enum program_end why)
{
	int status = 0;

	/* Not yet waited for, its number still names its group. */
	if (why != PROGRAM_EXITED)
		kill(-r->pid, SIGKILL);
	while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR)
		;
	take_output(r);
	if (r->pipe >= 0)
		close(r->pipe);
	close(r->pidfd);
	r->pid = 0;
	r->program->end = why;
	if (why != PROGRAM_EXITED)
		return;
	if (WIFSIGNALED(status)) {
		r->program->end = PROGRAM_KILLED;
		r->program->status = WTERMSIG(status);
	} else {
		r->program->status = WEXITSTATUS(status);
	}
}

static size_t count_running(const struct running *running, size_t n)
{
	size_t i, count = 0;

	for (i = 0; i < n; i++)
		count += running[i].pid != 0;
	return count;
}

static void signal_all(const struct running *running, size_t n, int signal)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (running[i].pid)
			kill(-running[i].pid, signal);
}

/* Until something happens, at most up to @end; returns what ppoll() does. The last of @fds is @stop. */
static int await(struct running *running, size_t n, struct pollfd *fds, uint64_t end,
		 const sigset_t *signals, int stop)
{
	uint64_t now = text_monotonic(), left = end > now ? end - now : 0;
	struct timespec ts = { (time_t)(left / 1000), (long)(left % 1000) * 1000000 };
	size_t i;
	int ret;

	for (i = 0; i < n; i++) {
		fds[2 * i] = (struct pollfd){ .fd = running[i].pid ? running[i].pidfd : -1,
					      .events = POLLIN };
		fds[2 * i + 1] = (struct pollfd){ .fd = running[i].pid ? running[i].pipe : -1,
						  .events = POLLIN };
	}
	fds[2 * n] = (struct pollfd){ .fd = stop > 0 ? stop : -1, .events = POLLIN };
	ret = ppoll(fds, 2 * n + 1, &ts, signals);
	for (i = 0; i < n && ret > 0; i++)
		if (fds[2 * i + 1].revents)
			take_output(&running[i]);
	return ret;
}

void programs_run(struct program *programs, size_t n, const struct program_limits *limits)
{
	struct running *running = mem_zalloc(n, sizeof(*running));
	struct pollfd *fds = mem_zalloc(2 * n + 1, sizeof(*fds));
	uint64_t end = text_monotonic() + limits->timeout_ms;
	uint64_t grace = limits->grace_ms ? limits->grace_ms : GRACE_MS;
	enum program_end why = PROGRAM_EXITED;
	size_t i;

	for (i = 0; i < n; i++) {
		running[i].program = &programs[i];
		start(&running[i]);
	}
	while (count_running(running, n)) {
		/* Once it has told, it would do so all the time. */
		int stop = why == PROGRAM_EXITED ? limits->stop_fd : 0;
		int ready = await(running, n, fds, end, limits->signals, stop);
		bool told = ready > 0 && fds[2 * n].revents;

		for (i = 0; i < n && ready > 0; i++)
			if (running[i].pid && fds[2 * i].revents)
				program_reap(&running[i], why);
		if (why == PROGRAM_EXITED && (told || (limits->stop && limits->stop()))) {
			why = PROGRAM_INTERRUPTED;
		} else if (ready || text_monotonic() < end) {
			continue;
		} else if (why != PROGRAM_EXITED) {
			signal_all(running, n, SIGKILL);
			end = text_monotonic() + GRACE_MS;
			continue;
		} else {
			why = PROGRAM_TIMED_OUT;
		}
		signal_all(running, n, SIGTERM);
		end = text_monotonic() + grace;
	}
	free(fds);
	free(running);
}

void program_free(struct program *program)
{
	free(program->output);
	program->output = NULL;
}

bool program_succeeded(const struct program *program)
{
	return program->end == PROGRAM_EXITED && !program->status;
}

/* The last line that says something. */
static char *last_line(const char *output)
{
	const char *end = output ? output + strlen(output) : NULL, *start;
	char *line;

	while (end && end > output && strchr(" \t\r\n", end[-1]))
		end--;
	if (!end || end == output)
		return NULL;
	for (start = end; start > output && start[-1] != '\n';)
		start--;
	line = mem_printf("%.*s", (int)(end - start), start);
	text_tame(line, false);
	return line;
}

char *program_complaint(const struct program *program, const struct program_limits *limits)
{
	char took[TEXT_QUANTITY];
	char *line = last_line(program->output), *how, *text;

	switch (program->end) {
	case PROGRAM_EXITED:
		how = mem_printf("status %d", program->status);
		break;
	case PROGRAM_KILLED:
		how = mem_printf("killed by signal %d", program->status);
		break;
	case PROGRAM_TIMED_OUT:
		how = mem_printf("no end within %s", text_duration(took, limits->timeout_ms));
		break;
	case PROGRAM_INTERRUPTED:
		how = mem_strdup("interrupted");
		break;
	default:
		how = mem_printf("cannot be run: %s", strerror(program->status));
		break;
	}
	text = line ? mem_printf("%s: %s", how, line) : mem_strdup(how);
	free(how);
	free(line);
	return text;
}
