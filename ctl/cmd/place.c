// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the place of the cursor
 *
 * The words before the cursor are read as getopt_long() would read them, with
 * the same table, so that what is offered is what would be taken.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cmd/cmd.h"
#include "cmd/place.h"

/* Words of usage, and what completes them where the table does not say. */
static const struct {
	const char *word;
	const char *kinds;
} usual[] = {
	{ "SLOT", "@slots" },	    { "MODEL", "@models" }, { "GPU", "@gpus" },
	{ "COMMAND", "@commands" }, { "FILE", "@files" },   { "PATH", "@files" },
	{ "DIR", "@dirs" },
};

/* Each word in capitals of @usage that is a usual one. */
static char *usual_kinds(const char *usage)
{
	struct text kinds = { 0 };
	const char *end;
	size_t i;

	for (; *usage; usage = end) {
		for (end = usage; isupper((unsigned char)*end); end++)
			;
		for (i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
			if (strlen(usual[i].word) == (size_t)(end - usage) &&
			    !strncmp(usual[i].word, usage, (size_t)(end - usage)))
				text_join(&kinds, " ", usual[i].kinds);
		if (end == usage)
			end++;
	}
	return kinds.text ? kinds.text : mem_strdup("");
}

char *place_option_kinds(const struct ctl_option *option)
{
	return option->completes ? mem_strdup(option->completes) : usual_kinds(option->arg);
}

/* How many operands @usage speaks of; (size_t)-1 for any number. */
static size_t operands_of(const char *usage)
{
	size_t n = 0;

	if (strstr(usage, "..."))
		return (size_t)-1;
	while (*usage) {
		usage += strspn(usage, " ");
		n += *usage != '\0';
		usage += strcspn(usage, " ");
	}
	return n;
}

static char *verb_words(const struct ctl_command *command)
{
	const struct ctl_command *const *v;
	struct text words = { 0 };

	for (v = command->verbs; *v; v++)
		if (!((*v)->flags & CTL_HIDDEN))
			text_join(&words, " ", ctl_verb_word(*v));
	return words.text ? words.text : mem_strdup("");
}

static char *operand_kinds(const struct ctl_command *command, size_t n);

/* A verb, or what the first one begins with where none has to be named. */
static char *verb_kinds(const struct ctl_command *command)
{
	char *words = verb_words(command), *first, *both;

	if (!(command->flags & CTL_FIRST_VERB))
		return words;
	first = operand_kinds(command->verbs[0], 0);
	both = mem_printf("%s%s%s", words, *first ? " " : "", first);
	free(words);
	free(first);
	return both;
}

/* What completes operand number @n of the command. */
static char *operand_kinds(const struct ctl_command *command, size_t n)
{
	const char *kinds = command->completes, *comma;
	char *copy;

	if (command->verbs)
		return verb_kinds(command);
	if (n >= operands_of(command->args))
		return mem_strdup("");
	if (!kinds)
		return usual_kinds(command->args);
	while (n && (comma = strchr(kinds, ','))) {
		kinds = comma + 1 + strspn(comma + 1, " ");
		n--;
	}
	copy = mem_strdup(kinds);
	copy[strcspn(copy, ",")] = '\0';
	return copy;
}

static const struct ctl_option *options_of(const struct ctl_command *command, size_t group)
{
	if (group == CTL_OPTION_GROUPS)
		return ctl_global_options;
	return command ? command->options[group] : NULL;
}

static const struct ctl_option *option_by_letter(const struct ctl_command *command, char letter)
{
	const struct ctl_option *o;
	size_t g;

	for (g = 0; g <= CTL_OPTION_GROUPS; g++)
		for (o = options_of(command, g); o && o->name; o++)
			if (letter && o->letter == letter)
				return o;
	return NULL;
}

/* By name, or by the beginning of one name alone, as getopt_long() has it. */
static const struct ctl_option *option_by_name(const struct ctl_command *command, const char *name,
					       size_t len)
{
	const struct ctl_option *o, *found = NULL;
	bool several = false;
	size_t g;

	for (g = 0; g <= CTL_OPTION_GROUPS; g++) {
		for (o = options_of(command, g); o && o->name; o++) {
			if (strncmp(o->name, name, len))
				continue;
			if (strlen(o->name) == len)
				return o;
			several = found;
			found = o;
		}
	}
	return several ? NULL : found;
}

/* The option whose argument the next word is, NULL when @word is whole in itself. */
static const struct ctl_option *wants_more(const struct ctl_command *command, const char *word)
{
	const struct ctl_option *o;

	if (word[1] == '-') {
		o = strchr(word, '=') ? NULL : option_by_name(command, word + 2, strlen(word + 2));
		return o && o->arg ? o : NULL;
	}
	for (word++; *word; word++) {
		o = option_by_letter(command, *word);
		if (o && o->arg)
			return word[1] ? NULL : o;
	}
	return NULL;
}

/* The last word is "--name=value" or "-lvalue": the place is that of the value. */
static const struct ctl_option *value_inside(const struct ctl_command *command, const char *word,
					     size_t *prefix)
{
	const char *equals = strchr(word, '=');
	const struct ctl_option *o;

	if (word[0] != '-' || !word[1])
		return NULL;
	if (word[1] == '-') {
		*prefix = equals ? (size_t)(equals + 1 - word) : 0;
		o = equals ? option_by_name(command, word + 2, *prefix - 3) : NULL;
	} else {
		*prefix = 2;
		o = word[2] ? option_by_letter(command, word[1]) : NULL;
	}
	return o && o->arg ? o : NULL;
}

/* An option stands before any verb: it is one of the verb that runs without its name. */
static void place_descend(struct place *place, const char *word)
{
	const struct ctl_command *verb = NULL;

	if (place->command && place->command->verbs)
		verb = ctl_verb_of(place->command, word);
	if (verb)
		place->command = verb;
}

/* Walk the words before the last; returns the option that the last one is the argument of. */
static const struct ctl_option *place_walk(struct place *place, const char *const *words, size_t n,
					   bool *rest)
{
	const struct ctl_option *wanting = NULL;
	size_t i;

	for (i = 0; i + 1 < n; i++) {
		if (wanting) {
			wanting = NULL;
		} else if (!*rest && !strcmp(words[i], "--")) {
			*rest = true;
			/* Those before it are ours, what follows is another's. */
			if (place->command && strstr(place->command->args, "-- "))
				place->n_taken = 0;
		} else if (!*rest && words[i][0] == '-' && words[i][1]) {
			place_descend(place, words[i]);
			wanting = wants_more(place->command, words[i]);
		} else if (!place->command) {
			place->command = ctl_command_find(ctl_commands, words[i]);
			if (!place->command)
				return NULL;
		} else if (place->command->verbs) {
			const struct ctl_command *of = place->command;

			place->command = ctl_verb_of(of, words[i]);
			if (!place->command)
				return NULL;
			if (!ctl_verb_find(of, words[i]))
				place->taken[place->n_taken++] = words[i];
		} else {
			place->taken[place->n_taken++] = words[i];
		}
	}
	return wanting;
}

void place_find(struct place *place, const char *const *words, size_t n)
{
	const char *last = words[n - 1];
	const struct ctl_option *option;
	bool rest = false, runs;
	size_t prefix = 0;

	*place = (struct place){ .current = last, .taken = mem_zalloc(n, sizeof(*place->taken)) };
	option = place_walk(place, words, n, &rest);
	if (!option && !rest && last[0] == '-')
		place_descend(place, last);
	if (!option && !rest)
		option = value_inside(place->command, last, &prefix);
	place->prefix = mem_printf("%.*s", (int)prefix, last);
	place->current = last + prefix;
	runs = place->command && strstr(place->command->args, "-- ");

	if (option)
		place->kinds = place_option_kinds(option);
	else if (!rest && last[0] == '-')
		place->kinds = mem_strdup("");
	else if (!place->command)
		place->kinds = mem_strdup(n == 1 || words[n - 2][0] == '-' ? "@commands" : "");
	else if (runs && !rest)
		place->kinds = mem_strdup("");
	else
		place->kinds = operand_kinds(place->command, place->n_taken);
	place->options = !option && !rest;
}

void place_free(struct place *place)
{
	free(place->kinds);
	free(place->prefix);
	free(place->taken);
	memset(place, 0, sizeof(*place));
}
