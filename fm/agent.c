// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the channel to an agent of the simulator
 *
 * A serial port does not say where a connection begins: half a command of a manager that was
 * killed, and answers that it did not read, may be in it. So each connection begins with an
 * empty line and a greeting with a number that nobody can have used, and what comes before the
 * answer to that is thrown away. The agent carries out its commands one after the other, also those
 * of a connection that has ended: the answer to the greeting says that nothing is under way.
 *
 * Each command ends with a dot, so that one that was cut short is no shorter command.
 */
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/text.h"
#include "fm/agent.h"

/* More than the cards of a host. */
#define LINES_MAX 4096
#define GREET_AGAIN_MS 2000

bool agent_serial_valid(const char *text)
{
	return strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16 &&
	       strspn(text, "0") < 16;
}

/* The next word of a line, up to a blank; NULL where there is none. */
static char *take_word(char **at)
{
	char *word = strsep(at, " ");

	return word && *word ? word : NULL;
}

static bool read_card(char **at, struct agent_line *said)
{
	const char *port = take_word(at), *serial = take_word(at);

	if (!port || !serial || *at || strlen(port) > AGENT_WORD_MAX || !agent_serial_valid(serial))
		return false;
	strcpy(said->port, port);
	strcpy(said->serial, serial);
	return true;
}

int agent_read(const char *line, size_t len, struct agent_line *said, struct fault *f)
{
	char text[AGENT_LINE_MAX], *at = text, *word;
	bool good = false;

	*said = (struct agent_line){ 0 };
	if (len >= sizeof(text) || memchr(line, '\0', len))
		return fault_set(f, EPROTO, "the agent says something that is no line of text");
	memcpy(text, line, len);
	text[len] = '\0';
	word = take_word(&at);
	if (word && text_number(word, UINT64_MAX, &said->id)) {
		word = take_word(&at);
		if (word && !strcmp(word, "done")) {
			said->kind = AGENT_DONE;
			good = !at;
		} else if (word && !strcmp(word, "refused")) {
			said->kind = AGENT_REFUSED;
			strcpy(said->text, at && *at ? at : "no reason");
			text_tame(said->text, false);
			good = true;
		} else if (word && !strcmp(word, "card")) {
			said->kind = AGENT_CARD;
			good = read_card(&at, said);
		}
	}
	return good ? 0 : fault_set(f, EPROTO, "the agent's answer is none");
}

void agent_close(struct agent *agent)
{
	channel_close(&agent->channel);
	agent->greeted = false;
	agent->len = 0;
}

int agent_connect(struct agent *agent, const char *path, int stop, struct fault *f)
{
	*agent = (struct agent){ .channel.peer = "the agent" };
	return channel_open(&agent->channel, path, stop, f);
}

static int agent_receive(struct agent *agent, struct fault *f)
{
	/* what came before the greeting is no line, or nobody's */
	if (agent->len == sizeof(agent->buf) && !agent->greeted)
		agent->len = 0;
	if (agent->len == sizeof(agent->buf))
		return fault_set(f, EPROTO, "the agent says something that is no line");
	return channel_receive(&agent->channel, agent->buf, sizeof(agent->buf), &agent->len, f);
}

/* The next line; before the greeting is answered those that are none are passed over. */
static int agent_next(struct agent *agent, uint64_t deadline, struct agent_line *said,
		      struct fault *f)
{
	const char *end;
	size_t len;
	int err;

	for (;;) {
		end = memchr(agent->buf, '\n', agent->len);
		if (end) {
			len = (size_t)(end - agent->buf);
			err = agent_read(agent->buf, len && end[-1] == '\r' ? len - 1 : len, said,
					 f);
			agent->len -= len + 1;
			memmove(agent->buf, end + 1, agent->len);
			if (!err || agent->greeted)
				return err;
			continue;
		}
		err = channel_await(&agent->channel, POLLIN, -1, deadline, f);
		if (!err)
			err = agent_receive(agent, f);
		if (err)
			return err;
	}
}

/* Says hello, and waits for the answer to that or to an earlier one. */
static int agent_hello(struct agent *agent, uint64_t until, struct agent_line *said,
		       struct fault *f)
{
	unsigned long long id = ++agent->next_id;
	char *line = mem_printf("\n%llu hello 1 .\n", id);
	int err = channel_send(&agent->channel, line, until, f);

	free(line);
	do {
		if (!err)
			err = agent_next(agent, until, said, f);
	} while (!err && (said->id < agent->first_id || said->id > agent->next_id));
	return err;
}

/* One that came before the agent had its port open is lost: it is said again. */
int agent_greet(struct agent *agent, uint64_t ms, struct fault *f)
{
	uint64_t deadline = text_monotonic() + ms, now, again;
	struct agent_line said;
	int err;

	if (agent->greeted)
		return 0;
	if (getrandom(&agent->next_id, sizeof(agent->next_id), 0) != sizeof(agent->next_id))
		return fault_set(f, EIO, "no random number");
	/* room for those that follow */
	agent->next_id >>= 2;
	agent->first_id = agent->next_id + 1;
	do {
		now = text_monotonic();
		again = now + GREET_AGAIN_MS;
		err = agent_hello(agent, again < deadline ? again : deadline, &said, f);
	} while (err == -ETIMEDOUT && now < deadline);
	if (!err && said.kind != AGENT_DONE)
		err = fault_set(f, EPROTO, "the agent does not speak this protocol: %s", said.text);
	if (err)
		agent_close(agent);
	agent->greeted = !err;
	return err;
}

int agent_command(struct agent *agent, const char *command, uint64_t ms,
		  int (*card)(void *arg, const struct agent_line *line, struct fault *f), void *arg,
		  struct fault *f)
{
	uint64_t deadline = text_monotonic() + ms, id = ++agent->next_id;
	char *line = mem_printf("%llu %s .\n", (unsigned long long)id, command);
	struct agent_line said = { .kind = AGENT_CARD };
	unsigned int lines;
	int err;

	if (agent->channel.fd < 0)
		err = fault_set(f, EPIPE, "no connection to the agent");
	else
		err = channel_send(&agent->channel, line, deadline, f);
	free(line);
	for (lines = 0; !err && said.kind == AGENT_CARD; lines++) {
		do
			err = agent_next(agent, deadline, &said, f);
		while (!err && said.id >= agent->first_id && said.id < id);
		if (!err && (said.id != id || lines == LINES_MAX))
			err = fault_set(f, EPROTO, "the agent answers something else");
		if (!err && said.kind == AGENT_CARD)
			err = card ? card(arg, &said, f) :
				     fault_set(f, EPROTO, "the agent's answer is none");
	}
	if (err) {
		agent_close(agent);
		/* this means more when it comes from connect() or a refusal */
		return err == -EREMOTEIO || err == -ECONNREFUSED ? -EPROTO : err;
	}
	return said.kind == AGENT_REFUSED ? fault_set(f, EREMOTEIO, "%s", said.text) : 0;
}

int agent_await(struct agent *agent, int wake, uint64_t ms, struct fault *f)
{
	uint64_t deadline = text_monotonic() + ms;
	int err;

	if (agent->channel.fd < 0)
		return fault_set(f, EPIPE, "no connection to the agent");
	err = channel_await(&agent->channel, POLLIN, wake, deadline, f);
	if (err)
		return err == -ETIMEDOUT ? 0 : err;
	/* it says nothing unless it is asked: this is the end, or an agent that has begun anew */
	agent_close(agent);
	return fault_set(f, EPIPE, "the agent has closed the connection");
}
