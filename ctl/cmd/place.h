/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the cursor stands in a command line, and what can stand there. Pure. */
#ifndef GPUCTL_COMPLETION_PLACE_H
#define GPUCTL_COMPLETION_PLACE_H

#include <stddef.h>

#include "cli/ctl.h"

/**
 * struct place - the place of the last word of a command line
 * @command: the command before it; NULL: a command is to come
 * @kinds: what completes it, as struct ctl_option.completes; newly allocated, "" for nothing
 * @prefix: what stands before the value in the same word, such as "--slot="; newly allocated
 * @current: the value as far as it is typed, part of the last word
 * @options: an option of @command can stand here
 * @taken: operands before it, parts of the line; newly allocated
 * @n_taken: how many
 */
struct place {
	const struct ctl_command *command;
	char *kinds;
	char *prefix;
	const char *current;
	bool options;
	const char **taken;
	size_t n_taken;
};

/* The words after "gpuctl", the last one up to the cursor ("" behind a blank); @n >= 1. */
void place_find(struct place *place, const char *const *words, size_t n);
void place_free(struct place *place);

/* Kinds of an option's argument; newly allocated. */
char *place_option_kinds(const struct ctl_option *option);

#endif /* GPUCTL_COMPLETION_PLACE_H */
