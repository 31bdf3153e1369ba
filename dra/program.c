// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DOC: gpuctl as a program
 *
 * It has a process group of its own, so that what it started can be ended with it. Several threads
 * run it at the same time: its pipes are closed in all other programs.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dra/program.h"

#define OUTPUT_MAX (16u << 20)
#define ERROR_MAX 4096
#define WORDS_MAX 1024
#define JSON_DEPTH 32
/* From the request to stop to the end by force: gpuctl undoes what it began. */
#define GRACE_MS 30000

/**
 * struct run - gpuctl under way
 * @pid: its process and its group
 * @pidfd: readable when it has ended
 * @pipes: what it prints, on standard output and standard error; -1 when closed
 */
struct run {
	pid_t pid;
	int pidfd;
	int pipes[2];
	struct buffer output[2];
};

static int run_spawn(struct run *run, char *const *argv, int out, int err)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, usual;
	int ret;

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
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
	ret = posix_spawn(&run->pid, argv[0], &actions, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	return ret;
}

/**
 * struct spawning - a start in another network namespace
 */
struct spawning {
	struct run *run;
	const char *network;
	char *const *argv;
	int out, err, ret;
};

/* A thread can change its own namespace, and what it starts is there, too. */
static void *run_spawn_there(void *arg)
{
	struct spawning *s = arg;
	int fd = open(s->network, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, CLONE_NEWNET))
		s->ret = errno;
	else
		s->ret = run_spawn(s->run, s->argv, s->out, s->err);
	if (fd >= 0)
		close(fd);
	return NULL;
}

static int run_spawn_where(struct run *run, const struct gpuctl *gpuctl, char *const *argv, int out,
			   int err)
{
	struct spawning spawning = { run, gpuctl->network, argv, out, err, 0 };
	pthread_t thread;
	int ret;

	if (!gpuctl->network)
		return run_spawn(run, argv, out, err);
	ret = pthread_create(&thread, NULL, run_spawn_there, &spawning);
	if (ret)
		return ret;
	pthread_join(thread, NULL);
	return spawning.ret;
}

/* 0 or an errno. */
static int run_start(struct run *run, const struct gpuctl *gpuctl, char *const *argv)
{
	int out[2], err[2], ret;

	if (pipe2(out, O_CLOEXEC))
		return errno;
	if (pipe2(err, O_CLOEXEC)) {
		ret = errno;
		close(out[0]);
		close(out[1]);
		return ret;
	}
	ret = run_spawn_where(run, gpuctl, argv, out[1], err[1]);
	close(out[1]);
	close(err[1]);
	run->pipes[0] = out[0];
	run->pipes[1] = err[0];
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(err[0], F_SETFL, O_NONBLOCK);
	if (ret)
		return ret;
	run->pidfd = pidfd_open(run->pid, 0);
	if (run->pidfd >= 0)
		return 0;
	ret = errno;
	kill(-run->pid, SIGKILL);
	waitpid(run->pid, NULL, 0);
	return ret;
}

static void run_take(struct run *run, int i)
{
	char piece[4096];
	ssize_t n;

	while (run->pipes[i] >= 0) {
		n = read(run->pipes[i], piece, sizeof(piece));
		if (n < 0 && errno == EAGAIN)
			return;
		if (n > 0)
			buffer_add(&run->output[i], piece, (size_t)n);
		if (n > 0 || (n < 0 && errno == EINTR))
			continue;
		close(run->pipes[i]);
		run->pipes[i] = -1;
	}
}

/* Wait for its end and take what it prints; false if that is not in time. */
static bool run_await(struct run *run, uint64_t until)
{
	for (;;) {
		struct pollfd polled[] = { { .fd = run->pidfd, .events = POLLIN },
					   { .fd = run->pipes[0], .events = POLLIN },
					   { .fd = run->pipes[1], .events = POLLIN } };
		uint64_t now = clock_ms();
		int n;

		if (now >= until)
			return false;
		n = poll(polled, 3, (int)(until - now > 60000 ? 60000 : until - now));
		if (n < 0 && errno != EINTR)
			return false;
		run_take(run, 0);
		run_take(run, 1);
		if (n > 0 && polled[0].revents)
			return true;
	}
}

/* Its exit code. */
static int run_end(struct run *run, const struct gpuctl *gpuctl, struct reason *reason)
{
	bool late = !run_await(run, clock_ms() + gpuctl->timeout_ms);
	int status = 0, i;

	if (late) {
		kill(-run->pid, SIGTERM);
		if (!run_await(run, clock_ms() + GRACE_MS))
			kill(-run->pid, SIGKILL);
	}
	while (waitpid(run->pid, &status, 0) < 0 && errno == EINTR)
		;
	for (i = 0; i < 2; i++)
		run_take(run, i);
	if (late)
		refuse(reason, "gpuctl did not end within %llu s",
		       (unsigned long long)gpuctl->timeout_ms / 1000);
	else if (WIFSIGNALED(status))
		refuse(reason, "gpuctl was killed by signal %d", WTERMSIG(status));
	return late || !WIFEXITED(status) ? GPUCTL_LOST : WEXITSTATUS(status);
}

/* Add the words of a line of a table, with a blank between them. */
static void join_line(char *joined, const char *line)
{
	size_t len = strlen(joined);
	bool colon = len && joined[len - 1] == ':';

	if (len)
		len += (size_t)snprintf(joined + len, REASON_MAX - len, colon ? " " : "; ");
	for (; *line && len < REASON_MAX - 1; line++)
		if (*line != ' ' || line[1] != ' ')
			joined[len++] = *line;
	joined[len < REASON_MAX ? len : REASON_MAX - 1] = '\0';
}

/*
 * What went wrong, in one line: the last one of gpuctl's own, without its name, with what follows
 * about it, such as who holds a GPU. Of a text without such a line the last one.
 */
static void say_why(char *text, int code, struct reason *reason)
{
	static const char own[] = "gpuctl: ";
	char joined[REASON_MAX] = "", *rest = text, *line;
	bool found = false;

	while (rest && (line = strsep(&rest, "\n"))) {
		bool is_own = !strncmp(line, own, strlen(own));

		if (!*line)
			continue;
		if (is_own || !found)
			joined[0] = '\0';
		found = found || is_own;
		join_line(joined, is_own ? line + strlen(own) : line);
	}
	if (!*joined)
		refuse(reason, "gpuctl ended with exit code %d", code);
	else
		refuse(reason, "%s", joined);
}

int gpuctl_run(const struct gpuctl *gpuctl, const char *const *words, struct json_object **json,
	       struct reason *reason)
{
	struct run run = {
		.pidfd = -1,
		.pipes = { -1, -1 },
		.output = { { .max = OUTPUT_MAX }, { .max = ERROR_MAX } },
	};
	char *argv[WORDS_MAX + 2];
	int err, code, i;
	size_t n = 0;

	argv[n++] = (char *)gpuctl->path;
	while (*words && n <= WORDS_MAX)
		argv[n++] = (char *)*words++;
	argv[n] = NULL;
	err = *words ? E2BIG : run_start(&run, gpuctl, argv);
	if (err) {
		refuse(reason, "cannot start %s: %s", gpuctl->path, strerror(err));
		code = GPUCTL_LOST;
	} else {
		code = run_end(&run, gpuctl, reason);
	}
	if (code != GPUCTL_LOST && (code || run.output[1].len))
		say_why(run.output[1].data, code, reason);
	if (!code && json) {
		*json = run.output[0].full ? NULL :
					     json_read(run.output[0].data ? run.output[0].data : "",
						       run.output[0].len, reason);
		if (!*json) {
			refuse(reason, "gpuctl %s printed no JSON document", words[-1]);
			code = GPUCTL_LOST;
		}
	}
	for (i = 0; i < 2; i++) {
		if (run.pipes[i] >= 0)
			close(run.pipes[i]);
		buffer_free(&run.output[i]);
	}
	if (run.pidfd >= 0)
		close(run.pidfd);
	return code;
}

int gpuctl_follow(const struct gpuctl *gpuctl, const char *const *words, pid_t *pid,
		  struct reason *reason)
{
	struct run run = { .pidfd = -1, .pipes = { -1, -1 } };
	char *argv[16] = { (char *)gpuctl->path };
	int err;
	size_t n;

	for (n = 1; *words && n < 15; n++)
		argv[n] = (char *)*words++;
	err = run_start(&run, gpuctl, argv);
	if (run.pidfd >= 0)
		close(run.pidfd);
	/* What it complains of comes again from whoever is run to its end. */
	if (run.pipes[1] >= 0)
		close(run.pipes[1]);
	*pid = run.pid;
	if (!err)
		return run.pipes[0];
	if (run.pipes[0] >= 0)
		close(run.pipes[0]);
	refuse(reason, "cannot start %s: %s", gpuctl->path, strerror(err));
	return -1;
}

void gpuctl_unfollow(pid_t pid, int fd)
{
	close(fd);
	kill(-pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

struct json_object *json_read(const char *text, size_t len, struct reason *reason)
{
	struct json_tokener *tokener = json_tokener_new_ex(JSON_DEPTH);
	struct json_object *root = NULL;
	enum json_tokener_error err = json_tokener_error_parse_unexpected;

	if (tokener && len <= INT32_MAX) {
		root = json_tokener_parse_ex(tokener, text, (int)len);
		err = json_tokener_get_error(tokener);
		/* A number at the end may go on. */
		if (err == json_tokener_continue && !root) {
			root = json_tokener_parse_ex(tokener, "", 1);
			err = json_tokener_get_error(tokener);
		}
	}
	if (tokener)
		json_tokener_free(tokener);
	if (err == json_tokener_success && json_object_is_type(root, json_type_object))
		return root;
	json_object_put(root);
	refuse(reason, "no JSON object: %s",
	       err == json_tokener_success ? "something else" : json_tokener_error_desc(err));
	return NULL;
}

struct json_object *json_member(struct json_object *object, const char *name, enum json_type type)
{
	struct json_object *value = NULL;

	if (!json_object_is_type(object, json_type_object) ||
	    !json_object_object_get_ex(object, name, &value) || !json_object_is_type(value, type))
		return NULL;
	return value;
}

const char *json_text(struct json_object *object, const char *name)
{
	struct json_object *value = json_member(object, name, json_type_string);

	return value ? json_object_get_string(value) : NULL;
}
