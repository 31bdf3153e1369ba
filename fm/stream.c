// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: streams
 *
 * A connection whose listener has nothing to be sent is suspended, so it costs no thread. One
 * whose client does not read is not suspended: it waits for its socket, and when its listener
 * is dropped the socket is shut down.
 */
#include <stdlib.h>
#include <sys/socket.h>

#include "base/text.h"
#include "fm/stream.h"

/* What the kernel keeps for a listener that does not read. */
#define SEND_BUFFER 32768
#define BLOCK 4096

struct stream {
	struct peers *peers;
	struct MHD_Connection *connection;
	struct listener *listener;
};

static void stream_park(void *link)
{
	MHD_suspend_connection(((struct stream *)link)->connection);
}

static void stream_wake(void *link)
{
	MHD_resume_connection(((struct stream *)link)->connection);
}

static void stream_cut(void *link)
{
	struct stream *stream = link;

	peers_cut(stream->peers, stream->connection);
}

const struct events_link stream_link = { stream_park, stream_wake, stream_cut };

static ssize_t stream_read(void *arg, uint64_t position, char *buffer, size_t size)
{
	struct stream *stream = arg;
	ssize_t n = events_read(stream->listener, buffer, size);

	(void)position;
	return n < 0 ? MHD_CONTENT_READER_END_OF_STREAM : n;
}

static void stream_free(void *arg)
{
	struct stream *stream = arg;

	events_leave(stream->listener);
	free(stream);
}

static void bound_buffer(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	const int size = SEND_BUFFER;

	if (info)
		setsockopt(info->connect_fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

struct MHD_Response *stream_new(struct events *events, struct peers *peers,
				struct MHD_Connection *connection, const struct listener_info *who,
				const char *after)
{
	struct stream *stream = mem_zalloc(1, sizeof(*stream));
	struct MHD_Response *response;

	*stream = (struct stream){ .peers = peers, .connection = connection };
	stream->listener = events_listen(events, who, after, stream);
	if (!stream->listener) {
		free(stream);
		return NULL;
	}
	bound_buffer(connection);
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, stream_read, stream,
						     stream_free);
	if (!response)
		stream_free(stream);
	return response;
}
