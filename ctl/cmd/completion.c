// SPDX-License-Identifier: GPL-2.0-only
/*
 * gpuctl completion: what can stand at the cursor of a shell.
 *
 * The scripts for bash and zsh, beside this file, pass the words on and know
 * nothing of commands: the table of commands says what each place takes, and
 * names are asked for at that moment. A line is a word, a tab and a remark.
 * What only the shell can complete is a line of its own: @files, @dirs, @programs;
 * @nospace says that the word goes on.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/out.h"
#include "cmd/names.h"
#include "cmd/place.h"
#include "hub/name.h"

static bool is_for_shell(const char *kind)
{
	return !strcmp(kind, "files") || !strcmp(kind, "dirs") || !strcmp(kind, "programs");
}

static bool is_taken(const struct place *place, const char *word)
{
	size_t i;

	for (i = 0; i < place->n_taken; i++)
		if (!strcmp(place->taken[i], word))
			return true;
	return false;
}

static void offer(struct out *out, const struct place *place, const char *word, const char *remark)
{
	if (strncmp(word, place->current, strlen(place->current)) || is_taken(place, word))
		return;
	/* A remark is one line; help texts are, names of others need not be. */
	out_line(out, "%s%s\t%.*s", place->prefix, word, (int)strcspn(remark, "\n\t"), remark);
}

static void offer_options(struct out *out, const struct place *place)
{
	const struct ctl_option *o;
	char *word;
	size_t g;

	for (g = 0; g <= CTL_OPTION_GROUPS; g++) {
		o = ctl_global_options;
		if (g < CTL_OPTION_GROUPS)
			o = place->command ? place->command->options[g] : NULL;
		for (; o && o->name; o++) {
			if (place->command && (place->command->flags & CTL_NO_DRY_RUN) &&
			    o->letter == 'n' && !strcmp(o->name, "dry-run"))
				continue;
			word = mem_printf("--%s", o->name);
			offer(out, place, word, o->help);
			free(word);
		}
	}
}

/* What a word of the table is: a verb has a summary. */
static const char *remark_of(const struct place *place, const char *word)
{
	const struct ctl_command *verb = NULL;

	if (place->command && place->command->verbs)
		verb = ctl_verb_find(place->command, word);
	return verb ? verb->summary : "";
}

static void offer_kind(struct ctl_ctx *ctx, const struct place *place, const char *kind)
{
	struct names names = { 0 };
	size_t i;

	if (kind[0] != '@') {
		offer(ctx->out, place, kind, remark_of(place, kind));
		return;
	}
	if (is_for_shell(kind + 1)) {
		out_line(ctx->out, "%s", kind);
		return;
	}
	/* Once it has begun: the word goes on, which is then said of all that is offered. */
	if (!strcmp(kind, "@hub") &&
	    (!*place->current || strncmp(HUB_PREFIX, place->current, strlen(place->current))))
		return;
	/* What cannot be asked now, without the module for instance, has no names. */
	names_of_kind(ctx, kind + 1, &names);
	/* --gpu h100-pcie-80:4, hf:OWNER/NAME */
	if ((!strcmp(kind, "@kinds") || !strcmp(kind, "@hub")) && names.n)
		out_line(ctx->out, "@nospace");
	for (i = 0; i < names.n; i++)
		offer(ctx->out, place, names.items[i].word, names.items[i].remark);
	names_free(&names);
}

static void completion_complete(struct ctl_ctx *ctx, const char *const *words, size_t n)
{
	struct place place;
	char *kind, *save;

	place_find(&place, words, n);
	/* Where nothing else can stand options are offered without a dash, too. */
	if (place.options &&
	    (place.current[0] == '-' || (place.command && !*place.kinds && !*place.current)))
		offer_options(ctx->out, &place);
	for (kind = strtok_r(place.kinds, " ", &save); kind; kind = strtok_r(NULL, " ", &save))
		offer_kind(ctx, &place, kind);
	place_free(&place);
}

static int list_kind(struct ctl_ctx *ctx, const char *kind)
{
	struct names names = { 0 };
	size_t i;
	int ret;

	ret = names_of_kind(ctx, kind, &names);
	for (i = 0; i < names.n; i++)
		out_line(ctx->out, "%s", names.items[i].word);
	names_free(&names);
	return ret;
}

static int completion_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	out_set_json(ctx->out, false);
	if (!ctx->rest && argc) {
		completion_complete(ctx, (const char *const *)argv, (size_t)argc);
		return CTL_DONE;
	}
	if (argc != 1)
		return ctl_operands(ctx, argc ? 2 : 0, 1, 1);
	return list_kind(ctx, argv[0]);
}

const struct ctl_command cmd_completion = {
	.name = "completion",
	.args = "KIND | -- WORD...",
	.summary = "words that a shell can complete",
	.flags = CTL_NO_DRY_RUN | CTL_HIDDEN,
	.run = completion_run,
};
