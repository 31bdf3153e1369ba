// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the admin's socket
 *
 * One line asks ("evict HOST"), one line answers ("ok" or "error TEXT"). Only root and the
 * user that the manager runs as may ask.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/text.h"
#include "fm/control.h"
#include "fm/fence.h"

#define LINE_MAX_LEN 1024

int control_lock(const char *run, struct fault *f)
{
	char *path = mem_printf("%s/lock", run);
	int fd, err = 0;

	mkdir(run, 0755);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		err = fault_set(f, errno, "%s: %s", path, strerror(errno));
	else if (flock(fd, LOCK_EX | LOCK_NB))
		err = fault_set(f, EBUSY, "%s: another gpufabric-fm is running", path);
	if (err && fd >= 0)
		close(fd);
	free(path);
	return err ? err : fd;
}

static int control_address(const char *run, struct sockaddr_un *address, struct fault *f)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(run) + sizeof("/control") > sizeof(address->sun_path))
		return fault_set(f, ENAMETOOLONG, "%s: too long for a socket", run);
	strcpy(address->sun_path, run);
	strcat(address->sun_path, "/control");
	return 0;
}

int control_open(const char *run, struct fault *f)
{
	struct sockaddr_un address;
	int err = control_address(run, &address, f), fd;
	mode_t old;

	if (err)
		return err;
	/* the lock is ours, so nobody listens there */
	unlink(address.sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	old = umask(0177);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 8))
		err = fault_set(f, errno, "%s: %s", address.sun_path, strerror(errno));
	umask(old);
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

/* A line within a second. */
static bool read_line(int fd, char line[LINE_MAX_LEN])
{
	const struct timeval second = { .tv_sec = 1 };
	uint64_t end = text_monotonic() + 1000;
	size_t len = 0;
	ssize_t n;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
	while (len < LINE_MAX_LEN - 1 && text_monotonic() < end) {
		n = recv(fd, line + len, LINE_MAX_LEN - 1 - len, 0);
		if (n <= 0)
			return false;
		len += (size_t)n;
		line[len] = '\0';
		if (line[len - 1] == '\n') {
			line[len - 1] = '\0';
			return true;
		}
	}
	return false;
}

void control_serve(int listener, struct manager *manager)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC), err;
	struct ucred who;
	socklen_t size = sizeof(who);
	char line[LINE_MAX_LEN], *name, *answer;
	struct fault f = { "" };

	if (fd < 0)
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) ||
	    (who.uid && who.uid != geteuid()) || !read_line(fd, line)) {
		close(fd);
		return;
	}
	name = mem_printf("uid %u by the socket", (unsigned int)who.uid);
	if (strncmp(line, "evict ", 6))
		err = fault_set(&f, EINVAL, "the manager does not know this command");
	else
		err = fence_evict(manager, line + 6, name, &f);
	answer = err ? mem_printf("error %s\n", f.text) : mem_strdup("ok\n");
	text_tame(answer, true);
	send(fd, answer, strlen(answer), MSG_NOSIGNAL);
	free(answer);
	free(name);
	close(fd);
}

int control_evict(const char *run, const char *host, struct fault *f)
{
	const struct timeval limit = { .tv_sec = 30 };
	struct sockaddr_un address;
	char answer[LINE_MAX_LEN], *question = mem_printf("evict %s\n", host);
	int err = control_address(run, &address, f),
	    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t len = 0;
	ssize_t n = 1;

	if (!err && (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address))))
		err = fault_set(f, errno, "%s: %s: is gpufabric-fm running?", address.sun_path,
				strerror(errno));
	if (!err) {
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		if (send(fd, question, strlen(question), MSG_NOSIGNAL) < 0)
			n = -1;
		while (n > 0 && len < sizeof(answer) - 1) {
			n = recv(fd, answer + len, sizeof(answer) - 1 - len, 0);
			len += n > 0 ? (size_t)n : 0;
		}
		answer[len] = '\0';
		answer[strcspn(answer, "\n")] = '\0';
		if (!strncmp(answer, "error ", 6))
			err = fault_set(f, EREMOTEIO, "%s", answer + 6);
		else if (strcmp(answer, "ok"))
			err = fault_set(f, EPERM,
					"the manager did not answer: only root and its own user may use the socket");
	}
	if (fd >= 0)
		close(fd);
	free(question);
	return err;
}
