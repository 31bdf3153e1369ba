/* SPDX-License-Identifier: GPL-2.0-only */
/* What the manual page of a command has beside the row of the table. */
#ifndef GPUCTL_MAN_MANUAL_H
#define GPUCTL_MAN_MANUAL_H

#include "cli/ctl.h"

/**
 * struct manual_example - a command line and what comes of it
 * @line: as it is typed, without a prompt
 * @text: a sentence without its full stop
 */
struct manual_example {
	const char *line;
	const char *text;
};

#define MANUAL_EXAMPLES 6

/**
 * struct manual - what is added for one command
 * @command: its name
 * @exits: bits of the exit codes that it has beside done, failed and wrong usage
 * @examples: at least one, ends with line NULL
 * @see: more pages, such as "gpuctl-hooks(5)", blanks between them; NULL for none
 */
struct manual {
	const char *command;
	unsigned int exits;
	struct manual_example examples[MANUAL_EXAMPLES + 1];
	const char *see;
};

/* NULL for a command that nothing was written for. */
const struct manual *manual_of(const struct ctl_command *command);

/* All of them; ends with command NULL. */
extern const struct manual manuals[];

#endif /* GPUCTL_MAN_MANUAL_H */
