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

#define MANUAL_EXAMPLES 7

/**
 * struct manual_section - a part of one page that no table knows
 * @title: heading
 * @text: paragraphs
 * @terms: a list behind them: names and what they mean, ends with NULL; NULL for none
 */
struct manual_section {
	const char *title;
	const char *text;
	const struct manual_example *terms;
};

/**
 * struct manual - what is added for one command
 * @command: its name
 * @exits: bits of the exit codes that it has beside done, failed and wrong usage
 * @examples: at least one, ends with line NULL
 * @see: more pages, such as "gpuctl-hooks(5)", blanks between them; NULL for none
 * @sections: parts before the exit codes, ends with title NULL; NULL for none
 */
struct manual {
	const char *command;
	unsigned int exits;
	struct manual_example examples[MANUAL_EXAMPLES + 1];
	const char *see;
	const struct manual_section *sections;
};

/* NULL for a command that nothing was written for. */
const struct manual *manual_of(const struct ctl_command *command);

/* All of them; ends with command NULL. */
extern const struct manual manuals[];

#endif /* GPUCTL_MAN_MANUAL_H */
