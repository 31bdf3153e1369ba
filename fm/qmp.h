/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * QEMU's machine protocol: a connection, commands with their answers, and events. What QEMU
 * sends is not trusted: lines are bounded, and what does not follow the protocol ends the
 * connection.
 */
#ifndef FM_QMP_H
#define FM_QMP_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "fm/channel.h"

#define QMP_LINE_MAX (1u << 20)
#define QMP_EVENTS_MAX 64
#define QMP_WORD_MAX 128

enum qmp_kind {
	QMP_GREETING,
	QMP_RETURN,
	QMP_ERROR,
	QMP_EVENT,
};

/**
 * struct qmp_message - one line
 * @id: of the command that it answers; -1 when it has none
 * @word: name of the event, or the class of the error
 * @value: what is returned, or the event's data; owned, may be NULL
 * @text: of an error, tamed; owned
 */
struct qmp_message {
	enum qmp_kind kind;
	int64_t id;
	char word[QMP_WORD_MAX];
	struct json_object *value;
	char *text;
};

/* One line without its end; -EPROTO with the reason when it is none of these. Pure. */
int qmp_read(const char *line, size_t len, struct qmp_message *message, struct fault *f);
void qmp_message_free(struct qmp_message *message);

/**
 * struct qmp - a connection
 * @buf: what was received and is no whole line yet
 * @gone: ids of devices that were deleted, not yet asked for
 */
struct qmp {
	struct channel channel;
	char *buf;
	size_t len, size;
	int64_t next_id;
	char gone[QMP_EVENTS_MAX][QMP_WORD_MAX];
	size_t gone_count;
	bool overflow;
};

/*
 * Connects and reads the greeting. -ECONNREFUSED: the socket is there, and nobody listens.
 * All that wait return -EINTR when @stop became readable, -ETIMEDOUT after @ms, and
 * -EPIPE when the other side is gone. Except for -EREMOTEIO, -EINTR and -ETIMEDOUT of
 * qmp_await() the connection is closed then.
 */
int qmp_connect(struct qmp *qmp, const char *path, int stop, uint64_t ms, struct fault *f);
/* Agrees on the protocol, before the first command. */
int qmp_agree(struct qmp *qmp, uint64_t ms, struct fault *f);
void qmp_close(struct qmp *qmp);

/*
 * A command; takes @arguments over, may be NULL. @value, if asked for, is the caller's. -EREMOTEIO:
 * QEMU refused it, and @f is what it said.
 */
int qmp_command(struct qmp *qmp, const char *name, struct json_object *arguments, uint64_t ms,
		struct json_object **value, struct fault *f);

/* Waits for an event, until @also is readable (-EINTR), or @ms are over. 0: there is one. */
int qmp_await(struct qmp *qmp, int also, uint64_t ms, struct fault *f);
/* The next device that was deleted; false when there is none. */
bool qmp_next_gone(struct qmp *qmp, char id[QMP_WORD_MAX]);
/* Take this one out of those; false when it is not among them. */
bool qmp_take_gone(struct qmp *qmp, const char *id);
/* Were there more events than could be kept? Then the caller looks at everything anew. */
bool qmp_lost_events(struct qmp *qmp);

#endif /* FM_QMP_H */
