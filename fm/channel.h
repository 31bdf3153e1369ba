/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A connection to a peer that speaks in lines, by a local socket. The socket does not block;
 * every wait is a poll() with a deadline and a descriptor that ends it.
 */
#ifndef FM_CHANNEL_H
#define FM_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/**
 * struct channel - a connection
 * @fd: -1 when there is none
 * @stop: a descriptor that ends every wait when it becomes readable; -1 for none
 * @peer: what messages call the other side; not owned
 */
struct channel {
	int fd;
	int stop;
	const char *peer;
};

/*
 * @deadline is a time of text_monotonic(). All return 0 or a negative errno with the reason:
 * -ECONNREFUSED when the socket is there and nobody listens, -EINTR when @stop became readable,
 * -ETIMEDOUT after the deadline, -EPIPE when the other side is gone; after -EPIPE the
 * connection is closed.
 */
int channel_open(struct channel *channel, const char *path, int stop, struct fault *f);
void channel_close(struct channel *channel);
/* Until the socket is ready for @events (0), or @also is readable (-EINTR); -1 for none. */
int channel_await(struct channel *channel, short events, int also, uint64_t deadline,
		  struct fault *f);
int channel_send(struct channel *channel, const char *text, uint64_t deadline, struct fault *f);
/* What has arrived, perhaps nothing, behind the @len bytes of @buf, which has @size. */
int channel_receive(struct channel *channel, char *buf, size_t size, size_t *len, struct fault *f);

#endif /* FM_CHANNEL_H */
