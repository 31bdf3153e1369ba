/* SPDX-License-Identifier: GPL-2.0-only */
/* The one table of commands; dispatch, help, manual and completion read it. */
#ifndef GPUCTL_COMMANDS_H
#define GPUCTL_COMMANDS_H

#include "ctl.h"

/* All commands, in the order of help; ends with NULL. */
extern const struct ctl_command *const ctl_commands[];

/* Options that every command takes; ends with name NULL. */
extern const struct ctl_option ctl_global_options[];

/* Exit codes with their meaning, for help and manual; ends with text NULL. */
struct ctl_exit_text {
	int code;
	const char *text;
};

extern const struct ctl_exit_text ctl_exit_texts[];

const struct ctl_command *ctl_command_find(const char *name);

/* A verb of a command; NULL when it has none of this name. */
const struct ctl_command *ctl_verb_find(const struct ctl_command *command, const char *verb);
/* The last word of a verb's name, which is typed behind the command. */
const char *ctl_verb_word(const struct ctl_command *verb);

/* Call @each for every row that is not hidden, verbs behind their command. */
void ctl_each_command(void (*each)(const struct ctl_command *command, void *arg), void *arg);
/* Record that there is no such command or verb (@of: the command, NULL: none); CTL_USAGE. */
int ctl_unknown(struct ctl_ctx *ctx, const struct ctl_command *of, const char *word);

/*
 * Parse the words after the command into ctx->given and move the operands to
 * the front of @argv; returns enum ctl_exit. @help is set when help is asked for.
 */
int ctl_parse(struct ctl_ctx *ctx, const struct ctl_command *command, int *argc, char **argv,
	      bool *help);

/* Parse a whole command line and run it; returns enum ctl_exit. */
int ctl_dispatch(struct ctl_ctx *ctx, int argc, char **argv);

/* Text of `gpuctl --help` and of `gpuctl help COMMAND`. */
void ctl_help(struct out *out);
void ctl_help_command(struct out *out, const struct ctl_command *command);

#endif /* GPUCTL_COMMANDS_H */
