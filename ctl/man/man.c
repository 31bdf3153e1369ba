// SPDX-License-Identifier: GPL-2.0-only
/*
 * gpuctl man: the manual page, from the table of commands and the texts below.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "lib/out.h"
#include "lib/text.h"

/* roff reads a backslash and a dot or quote at the start of a line; a "-" would become a hyphen. */
static char *escape(const char *s)
{
	struct text text = { 0 };
	bool start = true;

	for (; *s; s++) {
		if (start && (*s == '.' || *s == '\''))
			text_add(&text, "\\&");
		if (*s == '\\')
			text_add(&text, "\\e");
		else if (*s == '-')
			text_add(&text, "\\-");
		else
			text_add(&text, "%c", *s);
		start = *s == '\n';
	}
	return text.text ? text.text : mem_strdup("");
}

static void print_text(struct out *out, const char *s)
{
	char *escaped = escape(s);

	out_line(out, "%s", escaped);
	free(escaped);
}

static void print_options(struct out *out, const struct ctl_option *options)
{
	const struct ctl_option *o;

	for (o = options; o && o->name; o++) {
		char *name = escape(o->name), *help = escape(o->help),
		     *arg = o->arg ? escape(o->arg) : NULL;

		out_line(out, ".TP");
		if (o->letter)
			out_line(out, "\\fB\\-%c\\fR, \\fB\\-\\-%s\\fR%s%s%s", o->letter, name,
				 arg ? " \\fI" : "", arg ? arg : "", arg ? "\\fR" : "");
		else
			out_line(out, "\\fB\\-\\-%s\\fR%s%s%s", name, arg ? " \\fI" : "",
				 arg ? arg : "", arg ? "\\fR" : "");
		out_line(out, "%s.", help);
		free(name);
		free(help);
		free(arg);
	}
}

static void print_command(const struct ctl_command *command, void *arg)
{
	struct out *out = arg;
	char *args = escape(command->args), *summary = escape(command->summary);
	size_t g;

	out_line(out, ".SS \"%s %s\"", command->name, args);
	out_line(out, "%c%s.", toupper((unsigned char)summary[0]), summary + 1);
	if (command->help) {
		out_line(out, ".PP");
		print_text(out, command->help);
	}
	for (g = 0; g < CTL_OPTION_GROUPS; g++)
		print_options(out, command->options[g]);
	free(args);
	free(summary);
}

/**
 * struct section - a part of the page that no table can know
 * @title: heading
 * @text: paragraphs, as people write them
 */
struct section {
	const char *title;
	const char *text;
};

static const struct section sections[] = {
	{ "IDENTITY",
	  "A slot that is off or empty has no config space: its GPU cannot be identified. So what is\n"
	  "known of a GPU is shown with its source: live (read now), last seen (read while the module\n"
	  "was loaded), declared (in slots.d, see FILES) or unknown. Slots are chosen by it, and the\n"
	  "module verifies it after power-on: another GPU than expected is a fault, and the\n"
	  "composition is rolled back." },
	{ "ADDRESS SPACE",
	  "Before a GPU is powered the module works out whether the windows of the bridges above can\n"
	  "take it: fits, fits-after-reassignment (its port gets another window), or cannot. That takes\n"
	  "what the GPU needs: seen by the module earlier, or, in slots.d, the BAR of the catalogue where\n"
	  "that was verified. Of other GPUs nothing is said, and nothing is refused. What cannot be is\n"
	  "refused with exit code 3, because the kernel that tries can take the addresses of GPUs in use\n"
	  "away; --no-fit-check of attach and compose tries all the same. show has the verdict, and in\n"
	  "JSON its fields: verdict, verdict_need and verdict_free in bytes, verdict_bridge, verdict_age in\n"
	  "milliseconds, verdict_text with why and what helps, verdict_largest for BARs that a driver may\n"
	  "resize to the most." },
	{ "OUTPUT",
	  "With -j each command prints one JSON document; watch prints one a line. Names of fields are stable,\n"
	  "fields may be added. Sizes are in bytes, times in milliseconds since the epoch, durations in\n"
	  "microseconds, link speeds in MT/s. Errors go to standard error as one line." },
	{ NULL, NULL },
};

static void print_files(struct out *out)
{
	static const struct {
		const char *name;
		const char *text;
	} files[] = {
		{ "/etc/gpuctl/gpus.d/*.conf, models.d/*.conf, nodes.d/*.conf",
		  "GPUs and models that the catalogue lacks, or corrections of it." },
		{ "/etc/gpuctl/slots.d/*.conf",
		  "What sits where: lines of \"SLOT GPU\", with a catalogue name or PCI ids such as\n"
		  "10de:2331; the slot may hold wildcards of the shell, and the last line that matches\n"
		  "counts. # begins a comment." },
		{ "/var/lib/gpuctl/compositions.json",
		  "What gpuctl save writes and gpuctl restore reads: see gpuctl-saved(5)." },
		{ "/etc/gpuctl/hooks.d/HOOK.d/*",
		  "Programs to call when GPUs come and go: see gpuctl-hooks(5)." },
	};
	size_t i;

	out_line(out, ".SH FILES");
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		out_line(out, ".TP");
		out_line(out, ".I %s", files[i].name);
		print_text(out, files[i].text);
	}
}

static int run(struct ctl_ctx *ctx, int argc, char **argv)
{
	const struct ctl_exit_text *e;
	struct out *out = ctx->out;
	size_t i;
	int ret;

	(void)argv;
	ret = ctl_operands(ctx, argc, 0, 0);
	if (ret)
		return ret;
	out_set_json(out, false);
	out_line(out, ".\\\" Generated by: gpuctl man");
	out_line(out, ".TH GPUCTL 8 \"\" \"gpufabric\" \"System Administration\"");
	out_line(out, ".SH NAME");
	out_line(out, "gpuctl \\- attach, detach and compose GPUs behind PCIe switches");
	out_line(out, ".SH SYNOPSIS");
	out_line(out, ".B gpuctl\n[\\fIOPTION\\fR...] \\fICOMMAND\\fR [\\fIARGUMENT\\fR...]");
	out_line(out, ".SH OPTIONS");
	print_options(out, ctl_global_options);
	out_line(out, ".SH COMMANDS");
	ctl_each_command(print_command, out);
	for (i = 0; sections[i].title; i++) {
		out_line(out, ".SH %s", sections[i].title);
		print_text(out, sections[i].text);
	}
	out_line(out, ".SH \"EXIT STATUS\"");
	for (e = ctl_exit_texts; e->text; e++) {
		char *text = escape(e->text);

		out_line(out, ".TP\n.B %d\n%s.", e->code, text);
		free(text);
	}
	print_files(out);
	return CTL_DONE;
}

const struct ctl_command cmd_man = {
	.name = "man",
	.args = "",
	.summary = "print the manual page",
	.flags = CTL_NO_DRY_RUN | CTL_HIDDEN,
	.run = run,
};
