// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: a connection to a peer that speaks in lines
 *
 * What a line is, and how long it may be, is the protocol's business (qmp.c, agent.c).
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/text.h"
#include "fm/channel.h"

/* For what was there in time, when the thread that reads it is late. */
#define LATE_MS 1000
/* poll() takes an int. */
#define POLL_MAX_MS 60000

void channel_close(struct channel *channel)
{
	if (channel->fd >= 0)
		close(channel->fd);
	channel->fd = -1;
}

int channel_open(struct channel *channel, const char *path, int stop, struct fault *f)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int err;

	channel->fd = -1;
	channel->stop = stop;
	if (strlen(path) >= sizeof(address.sun_path))
		return fault_set(f, ENAMETOOLONG, "%s: too long for a socket", path);
	strcpy(address.sun_path, path);
	channel->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (channel->fd < 0 || connect(channel->fd, (struct sockaddr *)&address, sizeof(address))) {
		err = fault_set(f, errno, "%s: %s", path, strerror(errno));
		channel_close(channel);
		return err;
	}
	return 0;
}

int channel_await(struct channel *channel, short events, int also, uint64_t deadline,
		  struct fault *f)
{
	for (;;) {
		struct pollfd fds[3] = {
			{ .fd = channel->fd, .events = events },
			{ .fd = channel->stop, .events = POLLIN },
			{ .fd = also, .events = POLLIN },
		};
		uint64_t now = text_monotonic(), left = now < deadline ? deadline - now : 0;
		int ret = poll(fds, 3, left > POLL_MAX_MS ? POLL_MAX_MS : (int)left);

		if (ret < 0 && errno != EINTR)
			return fault_set(f, errno, "poll: %s", strerror(errno));
		if (ret > 0 && fds[1].revents)
			return fault_set(f, EINTR, "the manager is stopping");
		/* a peer that always has something to say prolongs no wait */
		if (ret > 0 && fds[0].revents && now < deadline + LATE_MS)
			return 0;
		if (ret > 0 && fds[2].revents)
			return fault_set(f, EINTR, "the manager is stopping");
		if (text_monotonic() >= deadline)
			return fault_set(f, ETIMEDOUT, "%s does not answer in time", channel->peer);
	}
}

static int channel_end(struct channel *channel, struct fault *f)
{
	channel_close(channel);
	return fault_set(f, EPIPE, "%s has closed the connection", channel->peer);
}

int channel_send(struct channel *channel, const char *text, uint64_t deadline, struct fault *f)
{
	size_t left = strlen(text);
	int err;

	while (left) {
		ssize_t n = send(channel->fd, text, left, MSG_NOSIGNAL);

		if (n > 0) {
			text += n;
			left -= (size_t)n;
			continue;
		}
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return channel_end(channel, f);
		err = channel_await(channel, POLLOUT, -1, deadline, f);
		if (err)
			return err;
	}
	return 0;
}

int channel_receive(struct channel *channel, char *buf, size_t size, size_t *len, struct fault *f)
{
	ssize_t n = recv(channel->fd, buf + *len, size - *len, 0);

	if (n > 0)
		*len += (size_t)n;
	else if (!n || (errno != EAGAIN && errno != EINTR))
		return channel_end(channel, f);
	return 0;
}
