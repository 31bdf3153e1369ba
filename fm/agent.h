/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The channel to an agent of the simulator: lines of text over a socket, which may lead to a
 * serial port of a virtual machine. A command is "ID WORD... ." and has one answer, "ID done",
 * "ID refused REASON", or lines "ID card ..." before "ID done". What the agent sends is not
 * trusted: lines and their number are bounded, and what does not follow this ends the connection.
 */
#ifndef FM_AGENT_H
#define FM_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "fm/channel.h"

#define AGENT_LINE_MAX 256
#define AGENT_WORD_MAX 64

enum agent_kind {
	AGENT_DONE,
	AGENT_REFUSED,
	AGENT_CARD,
};

/**
 * struct agent_line - one line of an answer
 * @id: of the command
 * @port: of a card
 * @serial: of a card, 16 hexadecimal digits
 * @text: reason of a refusal, tamed
 */
struct agent_line {
	enum agent_kind kind;
	uint64_t id;
	char port[AGENT_WORD_MAX + 1];
	char serial[17];
	char text[AGENT_LINE_MAX];
};

/* One line without its end; -EPROTO with the reason when it is none of these. Pure. */
int agent_read(const char *line, size_t len, struct agent_line *said, struct fault *f);
/* "67670000000000a1": 16 hexadecimal digits in lower case, not all 0. */
bool agent_serial_valid(const char *text);

/**
 * struct agent - a connection
 * @greeted: what is received from now on is for this connection
 * @first_id: of this connection; answers to greetings that were said twice are passed over
 */
struct agent {
	struct channel channel;
	bool greeted;
	uint64_t first_id, next_id;
	char buf[4096];
	size_t len;
};

/* -ECONNREFUSED: the socket is there, and nobody listens. */
int agent_connect(struct agent *agent, const char *path, int stop, struct fault *f);
void agent_close(struct agent *agent);
/*
 * Agrees on the protocol, and reads away what the agent had to say to somebody else. When it
 * returns 0, all that was sent over this channel before is done.
 */
int agent_greet(struct agent *agent, uint64_t ms, struct fault *f);
/*
 * A command, with each card of its answer given to @card, which may be NULL. -EREMOTEIO: it was
 * refused, and @f has the reason. After any other error the connection is closed, and nobody
 * knows.
 */
int agent_command(struct agent *agent, const char *command, uint64_t ms,
		  int (*card)(void *arg, const struct agent_line *line, struct fault *f), void *arg,
		  struct fault *f);
/* Waits until @wake is readable (-EINTR), or @ms are over (0); -EPIPE when the agent is gone. */
int agent_await(struct agent *agent, int wake, uint64_t ms, struct fault *f);

#endif /* FM_AGENT_H */
