// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: connections
 *
 * A time-out of silence does not end a client that sends a byte now and then. So each connection
 * has a time until which its request has to be complete, whatever arrives meanwhile.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "fm/config.h"
#include "fm/peers.h"

/**
 * struct peer - a connection
 * @until_ms: a request has to be complete by then; 0 for no limit
 * @asks: its request is complete and its answer is not yet sent
 */
struct peer {
	int fd;
	uint64_t until_ms;
	bool asks;
	struct peer *next, *prev;
};

void peers_init(struct peers *peers, uint64_t limit_ms)
{
	pthread_condattr_t clock;

	*peers = (struct peers){ .limit_ms = limit_ms };
	pthread_mutex_init(&peers->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&peers->answered, &clock);
	pthread_condattr_destroy(&clock);
}

void peers_free(struct peers *peers)
{
	pthread_cond_destroy(&peers->answered);
	pthread_mutex_destroy(&peers->lock);
}

void peers_set_time(struct peers *peers, uint64_t limit_ms)
{
	pthread_mutex_lock(&peers->lock);
	peers->limit_ms = limit_ms;
	pthread_mutex_unlock(&peers->lock);
}

/* Lock held. */
static struct peer *peer_add(struct peers *peers, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct peer *peer = mem_zalloc(1, sizeof(*peer));

	peer->fd = info ? info->connect_fd : -1;
	peer->until_ms = text_monotonic() + peers->limit_ms;
	peer->next = peers->first;
	if (peer->next)
		peer->next->prev = peer;
	peers->first = peer;
	return peer;
}

/* Lock held. */
static void peer_remove(struct peers *peers, struct peer *peer)
{
	if (peer->next)
		peer->next->prev = peer->prev;
	if (peer->prev)
		peer->prev->next = peer->next;
	else
		peers->first = peer->next;
	pthread_cond_signal(&peers->answered);
	free(peer);
}

void peers_notify(void *arg, struct MHD_Connection *connection, void **context,
		  enum MHD_ConnectionNotificationCode code)
{
	struct peers *peers = arg;

	pthread_mutex_lock(&peers->lock);
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*context = peer_add(peers, connection);
	} else if (*context) {
		peer_remove(peers, *context);
		*context = NULL;
	}
	pthread_mutex_unlock(&peers->lock);
}

static struct peer *peer_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

bool peers_limit(struct peers *peers, struct MHD_Connection *connection, bool limited)
{
	struct peer *peer = peer_of(connection);
	bool closed;

	pthread_mutex_lock(&peers->lock);
	if (peer) {
		peer->until_ms = limited ? text_monotonic() + peers->limit_ms : 0;
		peer->asks = !limited;
		pthread_cond_signal(&peers->answered);
	}
	closed = peers->closed;
	pthread_mutex_unlock(&peers->lock);
	return !closed;
}

/* Lock held. */
static bool peers_ask(const struct peers *peers)
{
	const struct peer *peer = peers->first;

	while (peer && !peer->asks)
		peer = peer->next;
	return peer;
}

void peers_await_answers(struct peers *peers, unsigned int seconds)
{
	struct timespec end;
	int err = 0;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += seconds;
	pthread_mutex_lock(&peers->lock);
	while (!err && peers_ask(peers))
		err = pthread_cond_timedwait(&peers->answered, &peers->lock, &end);
	peers->closed = true;
	pthread_mutex_unlock(&peers->lock);
}

void peers_cut(struct peers *peers, struct MHD_Connection *connection)
{
	struct peer *peer = peer_of(connection);

	pthread_mutex_lock(&peers->lock);
	/* its thread sees the end and closes it */
	if (peer)
		shutdown(peer->fd, SHUT_RDWR);
	pthread_mutex_unlock(&peers->lock);
}

void peers_close_slow(struct peers *peers)
{
	uint64_t now = text_monotonic();
	struct peer *peer;

	pthread_mutex_lock(&peers->lock);
	for (peer = peers->first; peer; peer = peer->next) {
		if (!peer->until_ms || now < peer->until_ms)
			continue;
		/* its thread sees the end and closes it */
		shutdown(peer->fd, SHUT_RDWR);
		peer->until_ms = 0;
	}
	pthread_mutex_unlock(&peers->lock);
}

void peers_address(const struct sockaddr *address, char *text, size_t size)
{
	const struct sockaddr_in6 *six = (const void *)address;
	const struct sockaddr_in *four = (const void *)address;

	*text = '\0';
	if (address->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six->sin6_addr))
		inet_ntop(AF_INET, six->sin6_addr.s6_addr + 12, text, (socklen_t)size);
	else if (address->sa_family == AF_INET6)
		inet_ntop(AF_INET6, &six->sin6_addr, text, (socklen_t)size);
	else if (address->sa_family == AF_INET)
		inet_ntop(AF_INET, &four->sin_addr, text, (socklen_t)size);
}

static int open_socket(const struct addrinfo *info)
{
	int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1,
	    no = 0;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (info->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	if (!bind(fd, info->ai_addr, info->ai_addrlen) && !listen(fd, 128))
		return fd;
	no = errno;
	close(fd);
	errno = no;
	return -1;
}

int peers_listen(const char *text, char *address, size_t size, struct fault *f)
{
	struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
	};
	struct sockaddr_storage bound = { 0 };
	socklen_t length = sizeof(bound);
	char *host = NULL, *port = NULL, numeric[INET6_ADDRSTRLEN];
	struct addrinfo *info = NULL;
	int fd = -1, ret;

	if (!config_address(text, &host, &port)) {
		fault_set(f, EINVAL, "listen = %s: no address", text);
		return -1;
	}
	ret = getaddrinfo(host, port, &hints, &info);
	if (!ret)
		fd = open_socket(info);
	if (ret || fd < 0) {
		fault_set(f, EINVAL, "listen = %s: %s", text,
			  ret ? gai_strerror(ret) : strerror(errno));
		goto out;
	}
	getsockname(fd, (struct sockaddr *)&bound, &length);
	peers_address((struct sockaddr *)&bound, numeric, sizeof(numeric));
	snprintf(address, size, strchr(numeric, ':') ? "[%s]:%u" : "%s:%u", numeric,
		 ntohs(((struct sockaddr_in *)&bound)->sin_port));
out:
	if (info)
		freeaddrinfo(info);
	free(host);
	free(port);
	return fd;
}
