// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: lists of jobs that are alive
 *
 * A job that lacks in such a list loses its GPUs, so a list has to show that it is one. The scheduler
 * that cannot be reached, the pipe that breaks and the disk that is full all leave a list that is
 * empty or ends early, and an empty list is right as well, on a host that has just started. So
 * the last line is a full stop alone, which whoever makes the list adds when the scheduler's command
 * has succeeded. A list is also of a moment: what was composed shortly before it, or after it, may be
 * for a job that the scheduler had not started yet when it was asked.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cmd/jobs_alive.h"
#include "module/annotation.h"
#include "module/nl.h"

#define LIST_MAX (16u << 20)
#define LIST_END "."
/* The scheduler starts a job before anything is composed for it; clocks and answers take time. */
#define SETTLED_MS 60000

static int job_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int jobs_line_bad(struct ctl_ctx *ctx, const char *from, size_t line, const char *why)
{
	return ctl_fail(ctx, CTL_USAGE, "--jobs-alive %s: line %zu: %s; nothing was released", from,
			line, why);
}

int jobs_alive_parse(struct ctl_ctx *ctx, const char *from, const char *text, size_t len,
		     struct jobs_alive *jobs)
{
	const char *at = text, *end = text + len, *stop;
	size_t line = 0;
	bool whole = false;

	memset(jobs, 0, sizeof(*jobs));
	for (; at < end; at = stop + 1) {
		char *name;

		line++;
		stop = memchr(at, '\n', (size_t)(end - at));
		if (whole)
			return jobs_line_bad(ctx, from, line, "the list went on after its end");
		/* A line that ends without a newline may have been longer. */
		if (!stop)
			break;
		if (memchr(at, '\0', (size_t)(stop - at)))
			return jobs_line_bad(ctx, from, line, "this is no text");
		name = mem_zalloc((size_t)(stop - at) + 1, 1);
		memcpy(name, at, (size_t)(stop - at));
		if (!strcmp(name, LIST_END)) {
			whole = true;
			free(name);
			continue;
		}
		if (!annotation_job_valid(name)) {
			free(name);
			return jobs_line_bad(ctx, from, line,
					     "write one job a line, and nothing else in it");
		}
		jobs->names = mem_push(jobs->names, jobs->n, sizeof(*jobs->names));
		jobs->names[jobs->n++] = name;
	}
	if (!whole)
		return ctl_fail(ctx, CTL_USAGE,
				"--jobs-alive %s: the list is not whole: its last line has to be a full stop, added when the scheduler's command has succeeded; nothing was released",
				from);
	if (jobs->n)
		qsort(jobs->names, jobs->n, sizeof(*jobs->names), job_compare);
	return CTL_DONE;
}

/* All of it, or an error; a signal ends the wait for a pipe. */
static int jobs_read_all(struct ctl_ctx *ctx, const char *from, int fd, struct text *text)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char part[4096];
	ssize_t n;

	while (text->len <= LIST_MAX) {
		if (ppoll(&p, 1, NULL, gfc_signal_mask()) < 0 && errno == EINTR) {
			if (gfc_signalled())
				return ctl_fail(ctx, CTL_FAILED, "interrupted");
			continue;
		}
		n = read(fd, part, sizeof(part));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ctl_fail(ctx, CTL_FAILED, "--jobs-alive %s: %s", from,
					strerror(errno));
		if (!n)
			return CTL_DONE;
		text->text = mem_grow(text->text, text->len + (size_t)n, 1);
		memcpy(text->text + text->len, part, (size_t)n);
		text->len += (size_t)n;
	}
	return ctl_fail(ctx, CTL_USAGE, "--jobs-alive %s: longer than 16 MiB", from);
}

int jobs_alive_read(struct ctl_ctx *ctx, const char *path, struct jobs_alive *jobs)
{
	bool standard = !strcmp(path, "-");
	const char *from = standard ? "standard input" : path;
	uint64_t moment = text_now();
	struct text text = { 0 };
	struct stat st;
	int fd = STDIN_FILENO, ret;

	memset(jobs, 0, sizeof(*jobs));
	if (!standard)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		return ctl_fail(ctx, errno == EACCES ? CTL_DENIED : CTL_FAILED,
				"--jobs-alive %s: %s", from, strerror(errno));
	/* What writes to a pipe was started when we were; a file is as old as it says. */
	if (S_ISREG(st.st_mode))
		moment =
			(uint64_t)st.st_mtim.tv_sec * 1000 + (uint64_t)st.st_mtim.tv_nsec / 1000000;
	ret = jobs_read_all(ctx, from, fd, &text);
	if (!standard)
		close(fd);
	if (!ret)
		ret = jobs_alive_parse(ctx, from, text.text ? text.text : "", text.len, jobs);
	jobs->since = moment > SETTLED_MS ? moment - SETTLED_MS : 0;
	free(text.text);
	if (ret)
		jobs_alive_free(jobs);
	return ret;
}

bool jobs_alive_lack(const struct jobs_alive *jobs, const char *job, uint64_t created)
{
	if (!*job || created >= jobs->since)
		return false;
	return !jobs->n || !bsearch(&job, jobs->names, jobs->n, sizeof(*jobs->names), job_compare);
}

void jobs_alive_free(struct jobs_alive *jobs)
{
	size_t i;

	for (i = 0; i < jobs->n; i++)
		free(jobs->names[i]);
	free(jobs->names);
	jobs->names = NULL;
	jobs->n = 0;
}
