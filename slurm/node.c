// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: jobs on a node
 *
 * A Prolog can outlive slurmd, and then an Epilog runs beside it. So each job has a file, and who
 * composes or releases for it has that locked. It stays when the job ends, for as long as Slurm
 * may start the job once more.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/program.h"
#include "base/text.h"
#include "slurm/node.h"

#define ARGS_MAX 80
#define ENDED "ended "
/* A name, and a number. */
#define NOTE_MAX (NODE_NAME_MAX + sizeof(ENDED) + 32)
#define LOCK_STEP_MS 50
/* From SIGTERM on gpuctl undoes what it has begun. */
#define GRACE_MS 20000
#define RELEASE_WAIT "30s"

static char *const service_env[] = {
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	"LC_ALL=C.UTF-8",
	NULL,
};

bool node_job_id(const char *text, uint32_t *id)
{
	uint64_t value;

	if (!text || strspn(text, "0123456789") != strlen(text) ||
	    !text_number(text, UINT32_MAX, &value) || !value)
		return false;
	*id = (uint32_t)value;
	return true;
}

char *node_composition(uint32_t id)
{
	return mem_printf("slurm-%u", id);
}

static char *job_file(uint32_t id)
{
	return mem_printf(NODE_RUN "/%u", id);
}

/* Locked, and still the file of that name: an Epilog removes it while it has the lock. */
static bool lock_holds(int fd, const char *path)
{
	struct stat ours, there;

	return !fstat(fd, &ours) && !stat(path, &there) && ours.st_ino == there.st_ino &&
	       ours.st_dev == there.st_dev;
}

int node_job_lock(uint32_t id, uint64_t wait_ms, bool *new)
{
	const struct timespec step = { .tv_nsec = LOCK_STEP_MS * 1000000L };
	const uint64_t until = text_monotonic() + wait_ms;
	char *path = job_file(id);
	int fd = -1, err = 0;

	/* Who can open a file can lock it, and keep a job from its start or end. */
	if ((mkdir(NODE_RUN, 0700) && errno != EEXIST) || chmod(NODE_RUN, 0700)) {
		err = -errno;
		goto out;
	}
	for (;;) {
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
		*new = fd >= 0;
		if (fd < 0 && errno == EEXIST)
			fd = open(path, O_RDWR | O_NOFOLLOW);
		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0) {
			err = -errno;
			goto out;
		}
		if (!flock(fd, LOCK_EX | LOCK_NB) && lock_holds(fd, path))
			break;
		close(fd);
		if (text_monotonic() >= until) {
			err = -EBUSY;
			goto out;
		}
		nanosleep(&step, NULL);
	}
out:
	free(path);
	return err ? err : fd;
}

void node_job_forget(uint32_t id)
{
	char *path = job_file(id);

	unlink(path);
	free(path);
}

int node_job_note(int fd, enum node_job what, const char *node, uint64_t until)
{
	char *text =
		mem_printf("%s%s\n%" PRIu64 "\n", what == NODE_JOB_ENDED ? ENDED : "", node, until);
	int err = 0;

	if (ftruncate(fd, 0) || pwrite(fd, text, strlen(text), 0) != (ssize_t)strlen(text))
		err = errno ? -errno : -EIO;
	free(text);
	return err;
}

/* What the file of a job says, both lines; -1 for none. */
static ssize_t job_note_read(uint32_t id, char text[NOTE_MAX])
{
	char *path = job_file(id);
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, NOTE_MAX - 1);

	if (length >= 0)
		text[length] = '\0';
	if (fd >= 0)
		close(fd);
	free(path);
	return length;
}

enum node_job node_job_state(uint32_t id, char *node, size_t size)
{
	char text[NOTE_MAX];
	enum node_job state;

	*node = '\0';
	if (job_note_read(id, text) < 0)
		return NODE_JOB_UNKNOWN;
	text[strcspn(text, "\n")] = '\0';
	state = strncmp(text, ENDED, strlen(ENDED)) ? NODE_JOB_HERE : NODE_JOB_ENDED;
	snprintf(node, size, "%s", text + (state == NODE_JOB_ENDED ? strlen(ENDED) : 0));
	return state;
}

uint64_t node_job_until(uint32_t id)
{
	char text[NOTE_MAX], *line;

	if (job_note_read(id, text) < 0)
		return 0;
	line = strchr(text, '\n');
	return line ? strtoull(line + 1, NULL, 10) : 0;
}

int gpuctl_run(struct gpuctl_call *call)
{
	const struct program_limits limits = { .timeout_ms = call->timeout_ms,
					       .grace_ms = GRACE_MS };
	const char *argv[ARGS_MAX] = { GPUCTL_PROGRAM };
	struct program program = {
		.argv = (char *const *)argv,
		.env = call->env ? call->env : service_env,
		.input = call->input,
		.output_max = call->output_max,
	};
	size_t n;

	for (n = 0; call->argv[n] && n + 2 < ARGS_MAX; n++)
		argv[n + 1] = call->argv[n];
	programs_run(&program, 1, &limits);
	call->exit = program.end == PROGRAM_EXITED ? program.status : GPUCTL_ENDED;
	if (program.end == PROGRAM_EXITED) {
		call->output = program.output;
		program.output = NULL;
	} else {
		call->output = program_complaint(&program, &limits);
	}
	program_free(&program);
	return call->exit;
}

char *gpuctl_said(const struct gpuctl_call *call)
{
	static const char name[] = "gpuctl: ";
	const char *text = call->output ? call->output : "", *end = text + strlen(text), *line;
	char *said;

	while (end > text && end[-1] == '\n')
		end--;
	for (line = end; line > text && line[-1] != '\n';)
		line--;
	if ((size_t)(end - line) >= strlen(name) && !strncmp(line, name, strlen(name)))
		line += strlen(name);
	said = mem_printf("%.*s", (int)(end - line), line);
	text_tame(said, false);
	return said;
}

void gpuctl_free(struct gpuctl_call *call)
{
	free(call->output);
	call->output = NULL;
}

bool gpuctl_release(uint32_t id, uint64_t timeout_ms, char **why)
{
	char *name = node_composition(id);
	const char *const argv[] = { "release", name, "--wait", RELEASE_WAIT, NULL };
	struct gpuctl_call call = { .argv = argv, .timeout_ms = timeout_ms };
	bool good;

	gpuctl_run(&call);
	good = call.exit == GPUCTL_DONE || call.exit == GPUCTL_USAGE;
	*why = good ? NULL : gpuctl_said(&call);
	gpuctl_free(&call);
	free(name);
	return good;
}
