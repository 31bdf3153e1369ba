/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every command of gpuctl shares: the context of one run, the row of
 * the command table, exit codes and the way errors travel up to main.
 */
#ifndef GPUCTL_CTL_H
#define GPUCTL_CTL_H

#include <stdbool.h>
#include <stddef.h>

/* Rows of tables leave trailing fields out on purpose. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* Exit codes; documented in the manual page, scripts depend on them. */
enum ctl_exit {
	CTL_DONE = 0,
	CTL_FAILED = 1,
	CTL_USAGE = 2,
	CTL_NO_FIT = 3, /* GPUs, memory, window or quota */
	CTL_BUSY = 4, /* holders, or claimed by a composition */
	CTL_DENIED = 5,
	CTL_NO_MODULE = 6,
	CTL_TIMEOUT = 7, /* timed out or stuck */
};

/**
 * struct ctl_option - an option of a command
 * @name: long name without dashes; NULL ends a table
 * @letter: short letter, 0 for none
 * @arg: name of the argument as help shows it, NULL for a flag
 * @help: one sentence without a full stop
 * @completes: what a shell offers for the argument: words as they are, and
 *   "@slots" and the like (see cmd/names.h) for what is asked for; NULL: by the
 *   words of @arg, such as SLOT and FILE
 */
struct ctl_option {
	const char *name;
	char letter;
	const char *arg;
	const char *help;
	const char *completes;
};

#define CTL_OPTION_GROUPS 6

struct ctl_ctx;

/* Properties of a command. */
enum ctl_command_flag {
	CTL_HIDDEN = 1, /* not in help, manual and completion */
	CTL_NO_DRY_RUN = 2, /* changes nothing anyway: -n is refused */
	CTL_FIRST_VERB = 4, /* without a verb the first one runs */
};

/* Where a command stands in the list of them, in this order. */
enum ctl_group {
	CTL_UNLISTED,
	CTL_LOOK,
	CTL_GPUS,
	CTL_COMPOSITIONS,
	CTL_SIZING,
	CTL_HOST,
	CTL_PLUMBING,
	CTL_GROUPS
};

/**
 * struct ctl_command - a row of the command table
 * @name: the word on the command line
 * @group: where the list of commands has it; verbs go with their command
 * @args: operands as usage shows them, "" for none
 * @summary: one line for the list of commands
 * @help: paragraphs for `gpuctl help COMMAND` and the manual, may be NULL
 * @options: groups of options; groups can be shared between commands
 * @flags: enum ctl_command_flag
 * @completes: of the operands, as that of an option; a comma begins the next operand
 * @run: does it; argv holds the operands alone (argv[0] is the first), the
 *   options are read with ctl_opt() of cli/given.h; returns enum ctl_exit
 * @verbs: commands below this one, named "COMMAND VERB"; ends with NULL. Such a command has
 *   no options and no @run of its own
 */
struct ctl_command {
	const char *name;
	enum ctl_group group;
	const char *args;
	const char *summary;
	const char *help;
	const struct ctl_option *options[CTL_OPTION_GROUPS];
	unsigned int flags;
	const char *completes;
	int (*run)(struct ctl_ctx *ctx, int argc, char **argv);
	const struct ctl_command *const *verbs;
};

/* Which columns of its table a command prints; only for commands that change nothing. */
extern const struct ctl_option ctl_table_options[];

/* An option as it was given. */
struct ctl_given {
	const struct ctl_option *option;
	const char *value; /* NULL for a flag */
};

struct out;
struct screen;

/**
 * struct ctl_ctx - one run of gpuctl
 * @json: -j, print JSON
 * @dry_run: -n, say what would be done and change nothing
 * @version: only the versions were asked for
 * @tty: standard error is a terminal: progress may be drawn there
 * @data_dir: files that come with gpuctl (GPUCTL_DATA_DIR overrides)
 * @config_dir: the admin's files (GPUCTL_CONFIG_DIR overrides)
 * @libexec_dir: programs that gpuctl starts
 * @words: the command line, ends with NULL
 * @screen: what draws on a terminal, see top/screen.h; NULL when another program does
 * @out: where results go; main prints it when the command is done
 * @commands: the table of commands
 * @command: the command that runs
 * @given: options that were given, in their order
 * @n_given: how many
 * @rest: index in argv of the first operand after "--", argc when none
 * @error: text of the error, printed once by main
 * @more: further lines of the error, for a reader who is not a program
 */
struct ctl_ctx {
	bool json;
	bool dry_run;
	bool version;
	bool tty;
	const char *data_dir;
	const char *config_dir;
	const char *libexec_dir;
	char **words;
	const struct screen *screen;
	struct out *out;
	const struct ctl_command *const *commands;
	const struct ctl_command *command;
	struct ctl_given *given;
	size_t n_given;
	int rest;
	char *error;
	char *more;
};

/* Record the error of this run, replacing an earlier one; returns @code. */
int ctl_fail(struct ctl_ctx *ctx, enum ctl_exit code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Add a line below the error; not shown with -j. */
void ctl_more(struct ctl_ctx *ctx, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Print a warning to standard error at once; it does not change the exit code. */
void ctl_warn(const struct ctl_ctx *ctx, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Usage error for a wrong number of operands: fewer than @min or more than @max (-1: any). */
int ctl_operands(struct ctl_ctx *ctx, int argc, int min, int max);

#endif /* GPUCTL_CTL_H */
