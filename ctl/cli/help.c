// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: help
 *
 * All of it comes from the rows of the table, so that none of it can be out of date. Commands
 * are listed by groups: what is typed every day first, what units and hooks call last.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/out.h"

const char *const ctl_group_titles[CTL_GROUPS] = {
	[CTL_LOOK] = "Look",
	[CTL_GPUS] = "GPUs",
	[CTL_COMPOSITIONS] = "Compositions",
	[CTL_SIZING] = "Sizing and planning",
	[CTL_HOST] = "Host",
	[CTL_PLUMBING] = "Plumbing (called by units and hooks)",
};

static void help_options(struct out *out, const struct ctl_option *options,
			 const struct ctl_command *command)
{
	const struct ctl_option *o;

	for (o = options; o && o->name; o++) {
		char *left;

		if (command && (command->flags & CTL_NO_DRY_RUN) && o->letter == 'n' &&
		    !strcmp(o->name, "dry-run"))
			continue;
		left = mem_printf("%s%c%s--%s%s%s", o->letter ? "-" : " ",
				  o->letter ? o->letter : ' ', o->letter ? ", " : "  ", o->name,
				  o->arg ? " " : "", o->arg ? o->arg : "");
		out_line(out, "  %-30s %s", left, o->help);
		free(left);
	}
}

static void help_row(struct out *out, const struct ctl_command *command)
{
	char *left = mem_printf("%-12s %s", command->name, command->args);

	out_line(out, "  %-41s %s", left, command->summary);
	free(left);
}

static bool is_listed(const struct ctl_command *command, size_t group)
{
	return command->group == group && !(command->flags & CTL_HIDDEN);
}

void ctl_help_brief(struct out *out, const struct ctl_command *const *commands)
{
	const struct ctl_command *const *c;
	struct text names = { 0 };
	size_t g;

	out_line(out, "usage: gpuctl [-j] [-n] COMMAND ...");
	for (g = CTL_UNLISTED + 1; g < CTL_GROUPS; g++) {
		for (c = commands; *c; c++)
			if (is_listed(*c, g))
				text_join(&names, " ", (*c)->name);
		out_line(out, "  %s: %s", ctl_group_titles[g], names.text);
		free(names.text);
		names = (struct text){ 0 };
	}
}

void ctl_help(struct out *out, const struct ctl_command *const *commands)
{
	const struct ctl_command *const *c;
	const struct ctl_exit_text *e;
	size_t g;

	out_line(out, "usage: gpuctl [-j] [-n] COMMAND ...");
	out_line(out, "Attach, detach and compose GPUs behind PCIe switches.");
	for (g = CTL_UNLISTED + 1; g < CTL_GROUPS; g++) {
		out_line(out, "\n%s:", ctl_group_titles[g]);
		for (c = commands; *c; c++)
			if (is_listed(*c, g))
				help_row(out, *c);
	}
	out_line(out, "\nFor every command:");
	help_options(out, ctl_global_options, NULL);
	out_line(out, "\nExit codes:");
	for (e = ctl_exit_texts; e->text; e++)
		out_line(out, "  %d  %s", e->code, e->text);
	out_line(out, "\nMore: gpuctl help COMMAND, man gpuctl");
}

void ctl_help_command(struct out *out, const struct ctl_command *command)
{
	const struct ctl_command *const *v;
	size_t g;

	/* What follows "--" is another program's, so options come first. */
	out_line(out, "usage: gpuctl %s [OPTION...]%s%s", command->name, *command->args ? " " : "",
		 command->args);
	out_line(out, "%c%s.",
		 command->summary[0] -
			 ('a' <= command->summary[0] && command->summary[0] <= 'z' ? 32 : 0),
		 command->summary + 1);
	if (command->help)
		out_line(out, "\n%s", command->help);
	if (command->verbs)
		out_line(out, "%s", "");
	for (v = command->verbs; v && *v; v++)
		help_row(out, *v);
	/* What runs without a verb is asked for by the command's name alone. */
	if (command->flags & CTL_FIRST_VERB) {
		command = command->verbs[0];
		out_line(out, "\nOptions of %s:", command->name);
	} else {
		out_line(out, "\nOptions:");
	}
	for (g = 0; g < CTL_OPTION_GROUPS; g++)
		help_options(out, command->options[g], command);
	help_options(out, ctl_global_options, command);
}
