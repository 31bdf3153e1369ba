/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands to the agent of the simulator: lines of text, "ID WORD... .", which come over a serial
 * port. A line without the dot was cut short. What comes is not trusted: lines and words are
 * bounded. The other side is agent.h.
 */
#ifndef FM_SIM_COMMAND_H
#define FM_SIM_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "fm/agent.h"

#define SIM_LINE_MAX 512
#define SIM_ID_MAX 20

/**
 * struct sim_line - a line as it comes
 * @len: what has come of it
 * @broken: it is too long, or has a byte that is no text
 * @whole: its end has come
 */
struct sim_line {
	char text[SIM_LINE_MAX + 1];
	size_t len;
	bool broken, whole;
};

/* The next byte of the connection; behind a whole line the next line begins. True: it is whole. */
bool sim_line_take(struct sim_line *line, char byte);

enum sim_verb {
	SIM_HELLO,
	SIM_LOOK,
	SIM_PUT,
	SIM_PULL,
};

/**
 * struct sim_command - a command
 * @id: decimal digits, for the answer
 * @refusal: why it is not carried out, NULL for a good command; the rest is unset then
 * @slot: of a put
 * @serial: of a put and a pull, 16 hexadecimal digits
 * @card: of a put, words with one blank between them
 */
struct sim_command {
	char id[SIM_ID_MAX + 1];
	const char *refusal;
	enum sim_verb verb;
	char slot[AGENT_WORD_MAX + 1];
	char serial[17];
	char card[SIM_LINE_MAX + 1];
};

/* False: the line is empty or has no ID, so there is no answer. Pure. */
bool sim_command_read(const struct sim_line *line, struct sim_command *command);

#endif /* FM_SIM_COMMAND_H */
