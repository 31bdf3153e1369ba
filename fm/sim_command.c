// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: commands to the agent of the simulator
 *
 * A connection can end in the middle of a line, and half a command of a killed manager can be in
 * front of the next one. So only a line that is whole and ends with its dot is a command, and of a
 * line that is too long no part is one.
 */
#include <string.h>

#include "fm/sim_command.h"

/* An ID, a verb, a slot, a serial number, words of a card, a dot. */
#define WORDS_MAX 32

bool sim_line_take(struct sim_line *line, char byte)
{
	if (line->whole)
		*line = (struct sim_line){ 0 };
	if (byte == '\n')
		line->whole = true;
	else if (byte == '\0' || line->len == SIM_LINE_MAX)
		line->broken = true;
	else
		line->text[line->len++] = byte;
	return line->whole;
}

static const char *read_hello(struct sim_command *command, char **words)
{
	command->verb = SIM_HELLO;
	return strcmp(words[0], "1") ? "version 1 is spoken here" : NULL;
}

static const char *read_pull(struct sim_command *command, char **words)
{
	command->verb = SIM_PULL;
	if (!agent_serial_valid(words[0]))
		return "no serial number";
	strcpy(command->serial, words[0]);
	return NULL;
}

static const char *read_put(struct sim_command *command, char **words, size_t n)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	char *end = command->card;
	size_t i;

	command->verb = SIM_PUT;
	if (n < 3)
		return "put SLOT SERIAL CARD";
	if (!agent_serial_valid(words[1]))
		return "no serial number, or no card";
	/* no longer than the line, which has them all */
	for (i = 2; i < n; i++) {
		if (words[i][strspn(words[i], letters)])
			return "no serial number, or no card";
		if (i > 2)
			*end++ = ' ';
		end = stpcpy(end, words[i]);
	}
	strcpy(command->slot, words[0]);
	strcpy(command->serial, words[1]);
	return NULL;
}

static const char *read_words(struct sim_command *command, char **words, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strlen(words[i]) > AGENT_WORD_MAX)
			return "a word is too long";
	if (n == 2 && !strcmp(words[0], "hello"))
		return read_hello(command, words + 1);
	if (n == 1 && !strcmp(words[0], "look")) {
		command->verb = SIM_LOOK;
		return NULL;
	}
	if (n && !strcmp(words[0], "put"))
		return read_put(command, words + 1, n - 1);
	if (n == 2 && !strcmp(words[0], "pull"))
		return read_pull(command, words + 1);
	return "there is no such command";
}

bool sim_command_read(const struct sim_line *line, struct sim_command *command)
{
	char text[SIM_LINE_MAX + 1], *at = text, *word, *words[WORDS_MAX] = { NULL };
	bool broken = line->broken;
	size_t n = 0;

	*command = (struct sim_command){ 0 };
	memcpy(text, line->text, line->len);
	text[line->len] = '\0';
	while ((word = strsep(&at, " \t"))) {
		if (*word && n < WORDS_MAX)
			words[n++] = word;
		else if (*word)
			broken = true;
	}
	if (!n || strlen(words[0]) > SIM_ID_MAX || words[0][strspn(words[0], "0123456789")])
		return false;
	strcpy(command->id, words[0]);
	if (broken || strcmp(words[n - 1], "."))
		command->refusal = "no whole command";
	else
		command->refusal = read_words(command, words + 1, n - 2);
	return true;
}
