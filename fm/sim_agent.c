// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the agent of the simulator
 *
 * The agent of gpufabric-fm's driver "sim", a program in a host with the simulator gpufabric_sim:
 * it puts cards into slots, pulls them out and says what is there.
 *
 *	sim-agent [DEVICE]
 *
 * DEVICE is a serial port that leads to the manager, such as /dev/ttyS4; without one, standard
 * input and output do. Each command is carried out before the next one is read:
 *
 *	ID hello 1 .                     does this agent speak the first version? "ID done"
 *	ID look .                        "ID card SWITCH.SLOT SERIAL" for each card, "ID done"
 *	ID put SWITCH.SLOT SERIAL CARD . a card as kmod/sim/README.md has it
 *	ID pull SERIAL .                 a slot that has power keeps its card
 *
 * "ID refused REASON": nothing was changed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/text.h"
#include "fm/sim_command.h"
#include "fm/sim_slots.h"

/**
 * struct host - the slots of this host during a command
 * @names: of all slots
 */
struct host {
	char **names;
	size_t count;
};

static void refuse(struct text *answer, const struct sim_command *command, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void refuse(struct text *answer, const struct sim_command *command, const char *fmt, ...)
{
	va_list ap;
	char *why;

	va_start(ap, fmt);
	why = mem_vprintf(fmt, ap);
	va_end(ap);
	text_add(answer, "%s refused %s\n", command->id, why);
	free(why);
}

static void look(const struct host *host, const struct sim_command *command, struct text *answer)
{
	struct sim_slot slot;
	size_t i;

	for (i = 0; i < host->count; i++) {
		if (!sim_slot_read(host->names[i], &slot)) {
			refuse(answer, command, "slot %s cannot be read", host->names[i]);
			return;
		}
		if (*slot.serial)
			text_add(answer, "%s card %s %s\n", command->id, host->names[i],
				 slot.serial);
	}
	text_add(answer, "%s done\n", command->id);
}

/* The slot that has the command's card, NULL for none. False: the simulator cannot be read. */
static bool find_card(const struct host *host, const char *serial, const char **place,
		      struct sim_slot *found)
{
	struct sim_slot slot;
	size_t i;

	*place = NULL;
	for (i = 0; i < host->count; i++) {
		if (!sim_slot_read(host->names[i], &slot))
			return false;
		if (!strcmp(slot.serial, serial)) {
			*place = host->names[i];
			*found = slot;
		}
	}
	return true;
}

static bool has_slot(const struct host *host, const char *name)
{
	size_t i;

	for (i = 0; i < host->count; i++)
		if (!strcmp(host->names[i], name))
			return true;
	return false;
}

static void put(const struct host *host, const struct sim_command *command, struct text *answer)
{
	struct fault f = { "" };
	struct sim_slot slot;
	const char *place;

	if (!has_slot(host, command->slot))
		refuse(answer, command, "the simulator has no slot %s", command->slot);
	else if (!find_card(host, command->serial, &place, &slot))
		refuse(answer, command, "the simulator cannot be read");
	else if (place)
		refuse(answer, command, "the card is in slot %s already", place);
	else if (!sim_slot_read(command->slot, &slot))
		refuse(answer, command, "the simulator cannot be read");
	else if (*slot.serial)
		refuse(answer, command, "slot %s has another card", command->slot);
	else if (sim_slot_put(command->slot, command->serial, command->card, &f))
		refuse(answer, command, "the simulator does not take the card: %s", f.text);
	else
		text_add(answer, "%s done\n", command->id);
}

static void pull(const struct host *host, const struct sim_command *command, struct text *answer)
{
	struct fault f = { "" };
	struct sim_slot slot;
	const char *place;

	if (!find_card(host, command->serial, &place, &slot))
		refuse(answer, command, "the simulator cannot be read");
	else if (place && slot.power)
		refuse(answer, command, "slot %s has power: the host has not let go of the card",
		       place);
	else if (place && sim_slot_pull(place, &f))
		refuse(answer, command, "the simulator does not let go: %s", f.text);
	else
		text_add(answer, "%s done\n", command->id);
}

static void carry_out(const struct sim_command *command, struct text *answer)
{
	struct host host;
	size_t i;

	if (command->refusal) {
		refuse(answer, command, "%s", command->refusal);
		return;
	}
	host.names = sim_slots_list(&host.count);
	switch (command->verb) {
	case SIM_HELLO:
		text_add(answer, "%s done\n", command->id);
		break;
	case SIM_LOOK:
		look(&host, command, answer);
		break;
	case SIM_PUT:
		put(&host, command, answer);
		break;
	case SIM_PULL:
		pull(&host, command, answer);
		break;
	}
	for (i = 0; i < host.count; i++)
		free(host.names[i]);
	free(host.names);
}

/* False: nobody listens any more. */
static bool send_text(int fd, const struct text *text)
{
	size_t sent = 0;

	while (sent < text->len) {
		ssize_t n = write(fd, text->text + sent, text->len - sent);

		if (n < 0 && errno != EINTR)
			return false;
		sent += n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* Until the connection ends, which is no error, also in the middle of a line. */
static void serve(int in, int out)
{
	struct sim_line line = { 0 };
	struct sim_command command;
	char buf[4096];
	ssize_t n, i;

	for (;;) {
		n = read(in, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		for (i = 0; i < n; i++) {
			struct text answer = { 0 };
			bool heard = true;

			if (sim_line_take(&line, buf[i]) && sim_command_read(&line, &command)) {
				carry_out(&command, &answer);
				heard = send_text(out, &answer);
			}
			free(answer.text);
			if (!heard)
				return;
		}
	}
}

/* A serial port whose line discipline changes nothing and echoes nothing; -1 with errno. */
static int port_open(const char *path)
{
	int fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC), err;
	struct termios settings;

	if (fd < 0)
		return -1;
	if (!tcgetattr(fd, &settings)) {
		cfmakeraw(&settings);
		/* what has come already stays */
		if (!tcsetattr(fd, TCSADRAIN, &settings))
			return fd;
	}
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

int main(int argc, char **argv)
{
	int port;

	if (argc > 2 || (argc == 2 && *argv[1] == '-')) {
		fputs("usage: sim-agent [DEVICE]\n", stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	if (argc < 2) {
		serve(STDIN_FILENO, STDOUT_FILENO);
		return EXIT_SUCCESS;
	}
	port = port_open(argv[1]);
	if (port < 0) {
		fprintf(stderr, "sim-agent: %s: %s\n", argv[1], strerror(errno));
		return EXIT_FAILURE;
	}
	serve(port, port);
	close(port);
	return EXIT_SUCCESS;
}
