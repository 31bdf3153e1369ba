// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the process that speaks to the network
 *
 * It has one folder, the token and a connection. Of root it is "nobody", who may do nothing
 * but fill that folder; of others it can gain no rights. What it made is looked through by
 * who started it before it gets a name in the cache. It has no output of its own, since gpuctl
 * believes what is printed: the commit, or why there is none, goes to who started it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "hub/fill.h"
#include "hub/worker.h"
#include "size/source.h"
#include "web/rights.h"

#define CERTIFICATES ".certificates"
#define CERTIFICATES_MAX (8u << 20)
/* The descriptor that the commit is written to, or the reason of a failure. */
#define REPLY 3

void hub_say(const char *what, const char *text)
{
	printf("%s %s\n", what, text);
	fflush(stdout);
}

/* Reads what sizing reads; what it makes of that is no concern here. */
static void read_all(struct hub_fill *fill, const char *file)
{
	const struct cat_families none = { 0 };
	const struct size_reader reader = { &none, hub_fill_want, fill };
	struct size_stored *stored = mem_zalloc(1, sizeof(*stored));
	struct fault ignored = { "" };

	if (!stored_read(*file ? file : ".", &reader, stored, &ignored))
		stored_free(stored);
	free(stored);
}

static int fill_folder(struct hub_fill *fill, const struct hub_work *work)
{
	char file[HUB_FILE_MAX];
	int ret = hub_fill_make(fill);

	if (!ret)
		ret = hub_pick_file(AT_FDCWD, work->name, file, &fill->fault);
	if (!ret) {
		read_all(fill, file);
		ret = fill->ret;
	}
	return ret;
}

static int reply_write(const char *text, size_t n)
{
	return write(REPLY, text, n) == (ssize_t)n ? CTL_DONE : CTL_FAILED;
}

/* In the new process; returns its exit code. */
static int worker_run(struct hub_work *work, const char *certificates)
{
	struct hub_listing listing = { 0 };
	struct hub_http http;
	struct hub_fill fill = { .http = &http, .listing = &listing, .name = work->name };
	int ret = hub_http_open(&http, work->settings, certificates, &fill.fault);

	if (!ret)
		ret = hub_fill_list(&fill);
	if (!ret && !strstr(work->known, listing.sha))
		ret = fill_folder(&fill, work);
	hub_http_close(&http);
	if (certificates)
		unlink(certificates);
	if (ret)
		reply_write(fill.fault.text, strlen(fill.fault.text));
	else
		ret = reply_write(listing.sha, HUB_SHA_LENGTH);
	hub_listing_free(&listing);
	return ret;
}

/* A file that nobody may not be able to reach, copied to where the process will be. */
static int copy_certificates(const struct hub_work *work, struct fault *f)
{
	const char *from = work->settings->certificates;
	char *text = mem_zalloc(CERTIFICATES_MAX, 1);
	int in = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK), out, err = 0;
	ssize_t n = in < 0 ? -1 : read(in, text, CERTIFICATES_MAX);

	if (n < 0)
		err = errno;
	else if (!n || n == CERTIFICATES_MAX)
		err = EINVAL;
	if (in >= 0)
		close(in);
	if (!err) {
		out = openat(work->folder, CERTIFICATES,
			     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (out < 0 || write(out, text, (size_t)n) != n ||
		    fchown(out, work->owner, (gid_t)-1))
			err = errno ? errno : EIO;
		if (out >= 0)
			close(out);
	}
	free(text);
	if (!err)
		return CTL_DONE;
	fault_set(f, err, "SSL_CERT_FILE: %.200s: %s", from, strerror(err));
	return CTL_FAILED;
}

/* The new process has the reply alone to speak by; 0 or an errno. */
static int worker_outputs(int reply)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	/* gpuctl reads both. */
	if (null < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0 ||
	    dup3(reply, REPLY, 0) != REPLY || close_range(REPLY + 1, ~0u, 0))
		return errno;
	return 0;
}

static _Noreturn void worker_start(struct hub_work *work, const struct passwd *nobody, int reply,
				   pid_t parent)
{
	static const char no_rights[] = "cannot drop its rights, so it does not use the network";
	int err = fchdir(work->folder) ? errno : 0;

	if (!err)
		err = worker_outputs(reply);
	if (!err)
		err = web_give_up_rights(nobody);
	if (err || getppid() != parent) {
		reply_write(no_rights, strlen(no_rights));
		_exit(CTL_FAILED);
	}
	exit(worker_run(work, work->settings->certificates ? CERTIFICATES : NULL));
}

/* Its reply and its end. */
static int worker_await(struct hub_work *work, pid_t pid, int reply, struct fault *f)
{
	char said[FAULT_TEXT_MAX];
	size_t have = 0;
	ssize_t n = 1;
	int status;

	while (n > 0 && have < sizeof(said) - 1) {
		n = read(reply, said + have, sizeof(said) - 1 - have);
		if (n > 0)
			have += (size_t)n;
		else if (n < 0 && errno == EINTR)
			n = 1;
	}
	said[have] = '\0';
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return CTL_FAILED;
	if (WIFEXITED(status) && WEXITSTATUS(status)) {
		/* It may say anything, but one line of it. */
		text_tame(said, false);
		fault_set(f, EIO, "%s", *said ? said : "the process that reads the network failed");
		return WEXITSTATUS(status);
	}
	if (WIFEXITED(status) && hub_is_sha(said)) {
		memcpy(work->sha, said, HUB_SHA_LENGTH + 1);
		return CTL_DONE;
	}
	fault_set(f, EIO, "the process that reads the network was ended by signal %d",
		  WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	return CTL_FAILED;
}

int hub_work(struct hub_work *work, struct fault *f)
{
	const struct passwd *nobody = geteuid() ? NULL : web_nobody();
	pid_t parent = getpid(), pid = -1;
	int reply[2], ret;

	work->owner = nobody ? nobody->pw_uid : geteuid();
	if (nobody && fchown(work->folder, nobody->pw_uid, nobody->pw_gid)) {
		fault_set(f, errno, "the cache: %s", strerror(errno));
		return CTL_FAILED;
	}
	ret = work->settings->certificates ? copy_certificates(work, f) : CTL_DONE;
	if (ret)
		return ret;
	if (!pipe2(reply, O_CLOEXEC))
		pid = fork();
	if (pid < 0) {
		fault_set(f, errno, "cannot start a process: %s", strerror(errno));
		return CTL_FAILED;
	}
	if (!pid)
		worker_start(work, nobody, reply[1], parent);
	close(reply[1]);
	ret = worker_await(work, pid, reply[0], f);
	close(reply[0]);
	return ret;
}
