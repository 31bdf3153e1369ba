// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: from the words of a command line to the row of a table that runs
 *
 * The table is the caller's: nothing here knows a command by its name but the one that
 * says the versions.
 */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/out.h"

const struct ctl_option ctl_global_options[] = {
	{ "json", 'j', NULL, "print JSON with stable field names" },
	{ "dry-run", 'n', NULL, "show what would be done and change nothing" },
	{ "help", 'h', NULL, "show help" },
	{ "version", 'V', NULL, "show versions" },
	{ NULL },
};

const struct ctl_option ctl_table_options[] = {
	{ "columns", 'o', "COLUMNS", "print only the first table, with these columns: A,B,..." },
	{ "noheadings", 0, NULL, "leave out the headings of tables" },
	{ NULL },
};

const struct ctl_exit_text ctl_exit_texts[] = {
	{ CTL_DONE, "done" },
	{ CTL_FAILED, "failed" },
	{ CTL_USAGE, "wrong usage" },
	{ CTL_NO_FIT, "does not fit: GPUs, memory, window or quota" },
	{ CTL_BUSY, "busy: holders are listed, or a composition claims the slot" },
	{ CTL_DENIED, "not permitted" },
	{ CTL_NO_MODULE, "module gpufabric is not loaded, or this gpuctl cannot use its version" },
	{ CTL_TIMEOUT, "timed out or stuck" },
	{ 0, NULL },
};

/* getopt_long() values of options without a letter start above all letters. */
#define OPTION_BASE 256
#define OPTIONS_MAX 64

const struct ctl_command *ctl_command_find(const struct ctl_command *const *commands,
					   const char *name)
{
	const struct ctl_command *const *c;

	for (c = commands; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}

const char *ctl_verb_word(const struct ctl_command *verb)
{
	const char *space = strrchr(verb->name, ' ');

	return space ? space + 1 : verb->name;
}

const struct ctl_command *ctl_verb_find(const struct ctl_command *command, const char *word)
{
	const struct ctl_command *const *v;

	for (v = command->verbs; v && *v; v++)
		if (!strcmp(ctl_verb_word(*v), word))
			return *v;
	return NULL;
}

/* A word of global options alone, with which neither a command nor a verb begins. */
static bool is_global(const char *word)
{
	const struct ctl_option *o;
	size_t known = 0;

	if (word[0] != '-' || !word[1])
		return false;
	for (o = ctl_global_options; o->name; o++) {
		if (word[1] == '-' && !strcmp(o->name, word + 2))
			return true;
		for (const char *c = word + 1; word[1] != '-' && *c; c++)
			known += *c == o->letter;
	}
	return word[1] != '-' && known == strlen(word + 1);
}

const struct ctl_command *ctl_verb_of(const struct ctl_command *command, const char *word)
{
	const struct ctl_command *verb = ctl_verb_find(command, word);

	if (verb || !(command->flags & CTL_FIRST_VERB) || is_global(word))
		return verb;
	return word[0] == '-' || *command->verbs[0]->args ? command->verbs[0] : NULL;
}

static size_t collect_options(const struct ctl_command *command,
			      const struct ctl_option *all[OPTIONS_MAX])
{
	const struct ctl_option *o;
	size_t n = 0, g;

	for (g = 0; g <= CTL_OPTION_GROUPS; g++) {
		if (g == CTL_OPTION_GROUPS)
			o = ctl_global_options;
		else
			o = command ? command->options[g] : NULL;
		for (; o && o->name; o++) {
			if (n == OPTIONS_MAX)
				abort();
			all[n++] = o;
		}
	}
	return n;
}

static void dispatch_remember(struct ctl_ctx *ctx, const struct ctl_option *option,
			      const char *value)
{
	ctx->given = mem_grow(ctx->given, ctx->n_given + 1, sizeof(*ctx->given));
	ctx->given[ctx->n_given].option = option;
	ctx->given[ctx->n_given].value = value;
	ctx->n_given++;
}

static bool has_option(const struct ctl_command *command, const char *name)
{
	const struct ctl_option *o;
	size_t g;

	for (g = 0; g < CTL_OPTION_GROUPS; g++)
		for (o = command->options[g]; o && o->name; o++)
			if (!strncmp(o->name, name, strcspn(name, "=")) &&
			    strlen(o->name) == strcspn(name, "="))
				return true;
	return false;
}

/* Another verb of the same command that has an option. */
static const struct ctl_command *sibling_with(const struct ctl_ctx *ctx,
					      const struct ctl_command *verb, const char *name)
{
	const struct ctl_command *const *c, *const *v;

	for (c = ctx->commands; c && *c; c++) {
		if (!(*c)->verbs || strncmp((*c)->name, verb->name, strlen((*c)->name)) ||
		    verb->name[strlen((*c)->name)] != ' ')
			continue;
		for (v = (*c)->verbs; *v; v++)
			if (has_option(*v, name))
				return *v;
	}
	return NULL;
}

static int option_error(struct ctl_ctx *ctx, const struct ctl_command *command, int found,
			const char *word, const struct ctl_option *const *all, size_t n)
{
	const char *of = command ? command->name : "--help", *nearest;
	const struct ctl_command *sibling;
	const char *names[OPTIONS_MAX];
	char name[64];
	size_t i;

	if (optopt >= OPTION_BASE)
		snprintf(name, sizeof(name), "--%s", all[optopt - OPTION_BASE]->name);
	else if (optopt)
		snprintf(name, sizeof(name), "-%c", optopt);
	else
		snprintf(name, sizeof(name), "%s", word);

	if (found == ':')
		return ctl_fail(ctx, CTL_USAGE, "option %s needs an argument: see gpuctl help %s",
				name, of);
	if (optopt >= OPTION_BASE)
		return ctl_fail(ctx, CTL_USAGE, "option %s takes no argument", name);

	for (i = 0; i < n; i++)
		names[i] = all[i]->name;
	nearest = optopt ? NULL : text_nearest(name + 2, names, n);
	sibling = optopt || !command ? NULL : sibling_with(ctx, command, name + 2);
	if (sibling)
		return ctl_fail(ctx, CTL_USAGE, "no option %s: gpuctl %s has it", name,
				sibling->name);
	if (nearest)
		return ctl_fail(ctx, CTL_USAGE, "no option %s: did you mean --%s?", name, nearest);
	return ctl_fail(ctx, CTL_USAGE, "no option %s: see gpuctl %s%s", name,
			command ? "help " : "", of);
}

/* Without @command the options before the command are parsed, up to the first operand. */
static int parse_options(struct ctl_ctx *ctx, const struct ctl_command *command, int argc,
			 char **argv, bool *help)
{
	const struct ctl_option *all[OPTIONS_MAX];
	struct option longs[OPTIONS_MAX + 1] = { 0 };
	char shorts[2 * OPTIONS_MAX + 3];
	size_t n = collect_options(command, all), i, s = 0;
	int found;

	shorts[s++] = command ? ':' : '+';
	if (!command)
		shorts[s++] = ':';
	for (i = 0; i < n; i++) {
		longs[i].name = all[i]->name;
		longs[i].has_arg = all[i]->arg ? required_argument : no_argument;
		longs[i].val = OPTION_BASE + (int)i;
		if (!all[i]->letter)
			continue;
		shorts[s++] = all[i]->letter;
		if (all[i]->arg)
			shorts[s++] = ':';
	}
	shorts[s] = '\0';

	opterr = 0;
	optind = 0; /* glibc: start anew */
	while ((found = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct ctl_option *option = NULL;

		if (found == '?' || found == ':')
			return option_error(ctx, command, found, argv[optind - 1], all, n);
		for (i = 0; i < n && !option; i++)
			if (found == OPTION_BASE + (int)i ||
			    (all[i]->letter && found == all[i]->letter))
				option = all[i];
		if (!strcmp(option->name, "json"))
			ctx->json = true;
		else if (!strcmp(option->name, "dry-run"))
			ctx->dry_run = true;
		else if (!strcmp(option->name, "help"))
			*help = true;
		else if (!strcmp(option->name, "version"))
			ctx->version = true;
		else
			dispatch_remember(ctx, option, optarg);
	}
	return CTL_DONE;
}

int ctl_parse(struct ctl_ctx *ctx, const struct ctl_command *command, int *argc, char **argv,
	      bool *help)
{
	int all = *argc, end = *argc, ret, i;

	ctx->command = command;
	/* A command that runs another one: what follows "--" is not ours to parse. */
	if (strstr(command->args, "-- "))
		for (end = 1; end < all && strcmp(argv[end], "--");)
			end++;

	ret = parse_options(ctx, command, end, argv, help);
	if (ret)
		return ret;

	/* getopt_long() moved the operands behind the options. */
	*argc = 0;
	for (i = optind; i < end; i++)
		argv[(*argc)++] = argv[i];
	ctx->rest = *argc;
	for (i = end + 1; i < all; i++)
		argv[(*argc)++] = argv[i];
	argv[*argc] = NULL;
	return CTL_DONE;
}

int ctl_unknown(struct ctl_ctx *ctx, const struct ctl_command *of, const char *word)
{
	const struct ctl_command *const *c = of ? of->verbs : ctx->commands;
	const char *space = of ? " " : "", *name = of ? of->name : "";
	const char *words[OPTIONS_MAX], *nearest;
	size_t n = 0;

	for (; *c && n < OPTIONS_MAX; c++)
		if (!((*c)->flags & CTL_HIDDEN))
			words[n++] = ctl_verb_word(*c);
	nearest = text_nearest(word, words, n);
	if (nearest)
		return ctl_fail(ctx, CTL_USAGE, "no command %s%s%s: did you mean %s%s%s?", name,
				space, word, name, space, nearest);
	return ctl_fail(ctx, CTL_USAGE, "no command %s%s%s: see gpuctl help%s%s", name, space, word,
			space, name);
}

static int show_version(struct ctl_ctx *ctx)
{
	ctx->command = ctl_command_find(ctx->commands, "version");
	out_set_json(ctx->out, ctx->json);
	return ctx->command->run(ctx, 0, NULL);
}

/* The row that the words name; parsed up to the last of them. NULL: @ret is the answer. */
static const struct ctl_command *find_row(struct ctl_ctx *ctx, int *argc, char ***argv, int *ret)
{
	const struct ctl_command *command = NULL, *row;
	bool help = false;
	int i;

	do {
		/* What is no verb is for the first one, with all its words. */
		for (i = 1; command && i < *argc && is_global((*argv)[i]); i++)
			;
		if (command && i < *argc && !ctl_verb_find(command, (*argv)[i]) &&
		    ctl_verb_of(command, (*argv)[i]))
			return command->verbs[0];
		*ret = parse_options(ctx, NULL, *argc, *argv, &help);
		if (*ret)
			return NULL;
		*argc -= optind;
		*argv += optind;
		if (ctx->version) {
			*ret = show_version(ctx);
			return NULL;
		}
		if (!help && !*argc && command && command->flags & CTL_FIRST_VERB)
			return command->verbs[0];
		if (help || !*argc) {
			if (command)
				ctl_help_command(ctx->out, command);
			else
				(help ? ctl_help : ctl_help_brief)(ctx->out, ctx->commands);
			*ret = help ? CTL_DONE :
				      ctl_fail(ctx, CTL_USAGE, "no %s given",
					       command ? "verb" : "command");
			return NULL;
		}
		row = command ? ctl_verb_find(command, **argv) :
				ctl_command_find(ctx->commands, **argv);
		if (!row) {
			*ret = ctl_unknown(ctx, command, **argv);
			return NULL;
		}
		command = row;
	} while (command->verbs);
	return command;
}

/* What ctl_table_options say of the tables that the command has made. */
static int arrange_tables(struct ctl_ctx *ctx)
{
	struct fault fault = { "" };
	size_t i;

	for (i = 0; i < ctx->n_given; i++) {
		const struct ctl_given *given = &ctx->given[i];

		if (given->option == &ctl_table_options[1])
			out_set_headings(ctx->out, false);
		else if (given->option == &ctl_table_options[0] &&
			 out_choose(ctx->out, given->value, &fault))
			return ctl_fail(ctx, CTL_USAGE, "--columns: %s", fault.text);
	}
	return CTL_DONE;
}

int ctl_dispatch(struct ctl_ctx *ctx, const struct ctl_command *const *commands, int argc,
		 char **argv)
{
	const struct ctl_command *command;
	bool help = false;
	int ret;

	ctx->commands = commands;
	command = find_row(ctx, &argc, &argv, &ret);
	if (!command)
		return ret;
	ret = ctl_parse(ctx, command, &argc, argv, &help);
	if (ret)
		return ret;
	out_set_json(ctx->out, ctx->json);
	if (help) {
		out_set_json(ctx->out, false);
		ctl_help_command(ctx->out, command);
		return CTL_DONE;
	}
	if (ctx->version)
		return show_version(ctx);
	if (ctx->dry_run && (command->flags & CTL_NO_DRY_RUN))
		return ctl_fail(ctx, CTL_USAGE, "%s changes nothing: leave -n out", command->name);
	ret = command->run(ctx, argc, argv);
	return ret ? ret : arrange_tables(ctx);
}
