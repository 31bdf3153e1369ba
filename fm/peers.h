/* SPDX-License-Identifier: GPL-2.0-only */
/* Connections: where they come from, and how long a request may take to arrive. */
#ifndef FM_PEERS_H
#define FM_PEERS_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/fault.h"

struct peer;

/**
 * struct peers - all connections
 * @lock: covers what is below it
 * @answered: an answer was sent, or its connection has ended
 * @limit_ms: a request has to be complete so long after the connection, or after the last answer
 * @closed: whoever asks from now on is not answered
 */
struct peers {
	pthread_mutex_t lock;
	pthread_cond_t answered;
	struct peer *first;
	uint64_t limit_ms;
	bool closed;
};

void peers_init(struct peers *peers, uint64_t limit_ms);
void peers_free(struct peers *peers);
void peers_set_time(struct peers *peers, uint64_t limit_ms);

/* For MHD_OPTION_NOTIFY_CONNECTION, with a struct peers. */
void peers_notify(void *peers, struct MHD_Connection *connection, void **context,
		  enum MHD_ConnectionNotificationCode code);
/* A request is waited for from now on, or has arrived. False when it comes too late to be answered. */
bool peers_limit(struct peers *peers, struct MHD_Connection *connection, bool limited);
/*
 * Waits until each request that has arrived is answered; a client may not read its answer. One that arrives
 * later is too late.
 */
void peers_await_answers(struct peers *peers, unsigned int seconds);
/* Ends a connection, whatever it waits for. */
void peers_cut(struct peers *peers, struct MHD_Connection *connection);
/* Closes those whose time is over. */
void peers_close_slow(struct peers *peers);

/* An address as people write it; one of IPv4 behind a socket of IPv6 as IPv4. */
void peers_address(const struct sockaddr *address, char *text, size_t size);
/* A socket that listens; @address is filled with where. -1 with the reason. */
int peers_listen(const char *text, char *address, size_t size, struct fault *f);

#endif /* FM_PEERS_H */
