/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables of commands; dispatch, help, manual and completion read the one in cmd/commands.c. */
#ifndef GPUCTL_COMMANDS_H
#define GPUCTL_COMMANDS_H

#include "cli/ctl.h"

/* Options that every command takes; ends with name NULL. */
extern const struct ctl_option ctl_global_options[];

/* Exit codes with their meaning, for help and manual; ends with text NULL. */
struct ctl_exit_text {
	int code;
	const char *text;
};

extern const struct ctl_exit_text ctl_exit_texts[];

/* Titles of the groups, as enum ctl_group counts them; none for what is not listed. */
extern const char *const ctl_group_titles[CTL_GROUPS];

/* A row of a table, which ends with NULL; NULL when it has none of this name. */
const struct ctl_command *ctl_command_find(const struct ctl_command *const *commands,
					   const char *name);

/* A verb of a command; NULL when it has none of this name. */
const struct ctl_command *ctl_verb_find(const struct ctl_command *command, const char *verb);

/*
 * The verb that begins with a word: of that name, or the first one where a command can do
 * without (CTL_FIRST_VERB), whose word it is then; NULL for none, and for global options.
 */
const struct ctl_command *ctl_verb_of(const struct ctl_command *command, const char *word);

/* The last word of a verb's name, which is typed behind the command. */
const char *ctl_verb_word(const struct ctl_command *verb);

/* Record that there is no such command or verb (@of: the command, NULL: none); CTL_USAGE. */
int ctl_unknown(struct ctl_ctx *ctx, const struct ctl_command *of, const char *word);

/*
 * Parse the words after the command into ctx->given and move the operands to
 * the front of @argv; returns enum ctl_exit. @help is set when help is asked for.
 */
int ctl_parse(struct ctl_ctx *ctx, const struct ctl_command *command, int *argc, char **argv,
	      bool *help);

/*
 * Parse a whole command line and run the row of @commands that it names; returns enum
 * ctl_exit. The table has a row "version", which --version runs.
 */
int ctl_dispatch(struct ctl_ctx *ctx, const struct ctl_command *const *commands, int argc,
		 char **argv);

/* Text of `gpuctl` alone, of `gpuctl --help` and of `gpuctl help COMMAND`. */
void ctl_help_brief(struct out *out, const struct ctl_command *const *commands);
void ctl_help(struct out *out, const struct ctl_command *const *commands);
void ctl_help_command(struct out *out, const struct ctl_command *command);

#endif /* GPUCTL_COMMANDS_H */
