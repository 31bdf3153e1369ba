/* SPDX-License-Identifier: GPL-2.0-only */
/* What has changed of late, and who listens. Any thread may call these. */
#ifndef FM_EVENTS_H
#define FM_EVENTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fm/access.h"
#include "fm/registry.h"

#define EVENTS_KEPT 256
#define EVENTS_LISTENERS 32
#define EVENTS_LISTENERS_EACH 8

/**
 * struct listener_info - a listener, as others see it
 * @id: larger than all of earlier runs
 * @session: of which it is a part, 0 for none
 */
struct listener_info {
	uint64_t id;
	struct account who;
	uint64_t session;
	char address[ACCESS_ADDRESS];
	uint64_t begun_ms;
};

struct listener;

/**
 * struct events_link - the transport of a listener; called with the lock held
 * @park: nothing is there to send; @wake is called once when there is
 * @cut: ends the connection, whatever it waits for
 */
struct events_link {
	void (*park)(void *link);
	void (*wake)(void *link);
	void (*cut)(void *link);
};

/**
 * struct events - the last events, as they are sent, and the listeners
 * @lock: covers all of it
 * @kept: event number n at n % EVENTS_KEPT
 * @last: number of the last event; numbers go on to rise after a restart
 * @first: number of the first event that is kept
 * @beat_ms: when listeners were last sent something for the sake of sending
 */
struct events {
	pthread_mutex_t lock;
	const struct events_link *link;
	char *kept[EVENTS_KEPT];
	uint64_t last, first;
	struct listener *listeners;
	size_t count;
	uint64_t last_listener, beat_ms;
	bool ending;
};

void events_init(struct events *events, const struct events_link *link);
void events_free(struct events *events);

/* @origin: the URI of what has changed */
void events_tell(struct events *events, enum message message, const char *origin,
		 const char *const *arguments);

/*
 * Listens from now on, or from the event behind @after, the number of one; NULL when there are
 * too many listeners. Of @who only name, role, session, and address are taken.
 */
struct listener *events_listen(struct events *events, const struct listener_info *who,
			       const char *after, void *link);
/* What is to be sent: bytes; 0: nothing, and the link is parked; -1: it is over. */
ssize_t events_read(struct listener *listener, char *buffer, size_t size);
/* The connection has ended. */
void events_leave(struct listener *listener);

/* A copy of all; returns their number. */
size_t events_list(struct events *events, struct listener_info list[EVENTS_LISTENERS]);
bool events_drop(struct events *events, uint64_t id);
/* Every now and then: finds out whether listeners are there, and drops those who may not listen. */
void events_tick(struct events *events, bool (*may)(void *arg, const struct listener_info *who),
		 void *arg);
/* All listeners are sent away, and no more are taken. */
void events_end(struct events *events);

#endif /* FM_EVENTS_H */
