// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the device of a Switchtec switch
 *
 * A command is one write: its number, then the payload. Its answer is one read: the return
 * code, then data (drivers/pci/switch/switchtec.c of Linux). The index of the switch in the fabric
 * stands in the command from bit 18 on, as Microchip's library switchtec-user has it
 * (inc/switchtec/switchtec.h, MIT).
 *
 * The driver has a queue for all that have the device open, and carries out also what was
 * written by a process that has ended since. So the answer to a command says that all commands
 * before it have ended, those of a manager that was killed among them.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "fm/failpoint.h"
#include "fm/mrpc.h"

#define CODE_SIZE 4
#define PAX_SHIFT 18
#define SOCKET_PREFIX "unix:"

/**
 * struct mrpc - a device
 * @users: of those who have it; covered by @devices_lock, as is @next
 * @lock: covers all below it
 * @fd: -1 while it is closed
 * @owed: the answer to a command that was given up is still to come
 * @alive: see mrpc_is_alive()
 */
struct mrpc {
	char *path;
	int stop;
	unsigned int users;
	struct mrpc *next;
	pthread_mutex_t lock;
	int fd;
	bool owed, alive;
	struct mrpc_news news;
};

static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;
static struct mrpc *devices;

struct mrpc *mrpc_get(const char *path, int stop)
{
	struct mrpc *mrpc;

	pthread_mutex_lock(&devices_lock);
	for (mrpc = devices; mrpc; mrpc = mrpc->next)
		if (!strcmp(mrpc->path, path) && mrpc->stop == stop)
			break;
	if (!mrpc) {
		mrpc = mem_zalloc(1, sizeof(*mrpc));
		mrpc->path = mem_strdup(path);
		mrpc->stop = stop;
		mrpc->fd = -1;
		pthread_mutex_init(&mrpc->lock, NULL);
		mrpc->next = devices;
		devices = mrpc;
	}
	mrpc->users++;
	pthread_mutex_unlock(&devices_lock);
	return mrpc;
}

static void mrpc_close(struct mrpc *mrpc)
{
	if (mrpc->fd >= 0)
		close(mrpc->fd);
	mrpc->fd = -1;
	mrpc->owed = false;
	mrpc->alive = false;
}

void mrpc_put(struct mrpc *mrpc)
{
	struct mrpc **at;

	pthread_mutex_lock(&devices_lock);
	if (!--mrpc->users) {
		for (at = &devices; *at != mrpc; at = &(*at)->next)
			;
		*at = mrpc->next;
		mrpc_close(mrpc);
		pthread_mutex_destroy(&mrpc->lock);
		free(mrpc->path);
		free(mrpc);
	}
	pthread_mutex_unlock(&devices_lock);
}

int mrpc_lock(struct mrpc *mrpc, uint64_t deadline, struct fault *f)
{
	struct timespec until = {
		.tv_sec = (time_t)(deadline / 1000),
		.tv_nsec = (long)(deadline % 1000) * 1000000,
	};
	int err = pthread_mutex_clocklock(&mrpc->lock, CLOCK_MONOTONIC, &until);

	return err ? fault_set(f, err, "%s: other commands take too long", mrpc->path) : 0;
}

void mrpc_unlock(struct mrpc *mrpc)
{
	pthread_mutex_unlock(&mrpc->lock);
}

bool mrpc_is_alive(const struct mrpc *mrpc)
{
	return mrpc->alive;
}

struct mrpc_news *mrpc_news(struct mrpc *mrpc)
{
	return &mrpc->news;
}

/* -ETIMEDOUT, or -EINTR when the manager stops. */
static int mrpc_wait(struct mrpc *mrpc, short events, uint64_t deadline, struct fault *f)
{
	for (;;) {
		struct pollfd fds[2] = {
			{ .fd = mrpc->fd, .events = events },
			{ .fd = mrpc->stop, .events = POLLIN },
		};
		uint64_t now = text_monotonic(), left = now < deadline ? deadline - now : 0;
		int ret = poll(fds, 2, left > 60000 ? 60000 : (int)left);

		if (ret < 0 && errno != EINTR)
			return fault_set(f, errno, "poll: %s", strerror(errno));
		if (ret > 0 && fds[0].revents)
			return 0;
		if (ret > 0 && fds[1].revents)
			return fault_set(f, EINTR, "the manager is stopping");
		if (!left)
			return fault_set(f, ETIMEDOUT, "%s has not answered in time", mrpc->path);
	}
}

static int open_node(const char *path, struct fault *f)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return fault_set(f, errno, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) || !S_ISCHR(st.st_mode)) {
		close(fd);
		return fault_set(f, ENOTTY, "%s is not a character device", path);
	}
	return fd;
}

static int open_socket(const char *path, struct fault *f)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err;

	strncat(address.sun_path, path, sizeof(address.sun_path) - 1);
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	err = errno;
	if (fd >= 0)
		close(fd);
	return fault_set(f, err, "%s: %s", path, strerror(err));
}

static int mrpc_open(struct mrpc *mrpc, struct fault *f)
{
	const char *path = mrpc->path;
	int fd = strncmp(path, SOCKET_PREFIX, strlen(SOCKET_PREFIX)) ?
			 open_node(path, f) :
			 open_socket(path + strlen(SOCKET_PREFIX), f);

	if (fd < 0)
		return fd;
	mrpc->fd = fd;
	mrpc->owed = false;
	mrpc->alive = false;
	mrpc->news.silent = false;
	/* whatever ended it may have changed all */
	mrpc->news.count++;
	return 0;
}

/* The answer to what was sent, once it is there: bytes, or an error after which it is closed. */
static ssize_t mrpc_receive(struct mrpc *mrpc, void *to, size_t size, uint64_t deadline,
			    struct fault *f)
{
	ssize_t n;
	int err;

	for (;;) {
		err = mrpc_wait(mrpc, POLLIN, deadline, f);
		if (err)
			return err;
		n = read(mrpc->fd, to, size);
		if (n >= CODE_SIZE)
			return n;
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		err = n < 0 ? fault_set(f, EIO, "%s: %s", mrpc->path, strerror(errno)) :
		      n	    ? fault_set(f, EPROTO, "%s: an answer of %zd bytes", mrpc->path, n) :
			      fault_set(f, EPIPE, "%s: the device has gone", mrpc->path);
		mrpc_close(mrpc);
		return err;
	}
}

int mrpc_ready(struct mrpc *mrpc, uint64_t patience, struct fault *f)
{
	char answer[CODE_SIZE + MRPC_DATA_MAX];
	ssize_t n;

	if (mrpc->owed) {
		n = mrpc_receive(mrpc, answer, sizeof(answer), patience, f);
		if (n == -ETIMEDOUT)
			return fault_set(f, ETIMEDOUT,
					 "%s has not yet answered a command that timed out",
					 mrpc->path);
		if (n == -EINTR)
			return (int)n;
		mrpc->owed = false;
	}
	return mrpc->fd >= 0 ? 0 : mrpc_open(mrpc, f);
}

static int mrpc_send(struct mrpc *mrpc, const struct mrpc_call *call, uint64_t deadline,
		     struct fault *f)
{
	uint32_t code = call->code | call->pax << PAX_SHIFT;
	uint8_t packet[CODE_SIZE + MRPC_DATA_MAX];
	size_t i, len = CODE_SIZE + call->in_len;
	ssize_t n;

	for (i = 0; i < CODE_SIZE; i++)
		packet[i] = (uint8_t)(code >> (8 * i));
	if (call->in_len)
		memcpy(packet + CODE_SIZE, call->in, call->in_len);
	for (;;) {
		n = write(mrpc->fd, packet, len);
		if (n == (ssize_t)len)
			return 0;
		if (n < 0 && errno != EINTR && errno != EAGAIN) {
			fault_set(f, ENOTCONN, "%s: %s", mrpc->path, strerror(errno));
			mrpc_close(mrpc);
			return -ENOTCONN;
		}
		if (n >= 0) {
			/* a part of a command: who knows what was made of it */
			mrpc_close(mrpc);
			return fault_set(f, EIO, "%s has taken a part of a command", mrpc->path);
		}
		if (mrpc_wait(mrpc, POLLOUT, deadline, f))
			return -ENOTCONN;
	}
}

static uint32_t return_code(const uint8_t *answer)
{
	return answer[0] | (uint32_t)answer[1] << 8 | (uint32_t)answer[2] << 16 |
	       (uint32_t)answer[3] << 24;
}

int mrpc_call(struct mrpc *mrpc, const struct mrpc_call *call, uint64_t deadline, struct fault *f)
{
	uint8_t answer[CODE_SIZE + MRPC_DATA_MAX];
	size_t size = CODE_SIZE + call->out_len;
	uint32_t code;
	ssize_t n;
	int err;

	if (mrpc->fd < 0 || mrpc->owed)
		return fault_set(f, ENOTCONN, "%s is not open", mrpc->path);
	err = mrpc_send(mrpc, call, deadline, f);
	if (err)
		return err;
	if (call->name)
		failpoint(call->name);
	n = mrpc_receive(mrpc, answer, size, deadline, f);
	if (n < 0) {
		mrpc->owed = mrpc->fd >= 0;
		mrpc->alive = false;
		return (int)n;
	}
	mrpc->alive = true;
	code = return_code(answer);
	if (code)
		return fault_set(f, EREMOTEIO, "the switch refuses command 0x%x with code 0x%x",
				 call->code, code);
	if ((size_t)n != size)
		return fault_set(f, EPROTO, "command 0x%x: %zd bytes of answer instead of %zu",
				 call->code, n - CODE_SIZE, call->out_len);
	if (call->out_len)
		memcpy(call->out, answer + CODE_SIZE, call->out_len);
	return 0;
}
