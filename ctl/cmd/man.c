// SPDX-License-Identifier: GPL-2.0-only
/*
 * gpuctl man: the manual pages, from the table of commands and the texts below.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "cmd/manual.h"

/* What roff would read as its own, and signs that it would print as others. */
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
		else if (*s == '~')
			text_add(&text, "\\(ti");
		else if (*s == '"')
			text_add(&text, "\\(dq");
		else if (*s == '^')
			text_add(&text, "\\(ha");
		else if (*s == '\n' && s[1] == '\n')
			text_add(&text, "\n.PP");
		else
			text_add(&text, "%c", *s);
		start = *s == '\n';
	}
	return text.text ? text.text : mem_strdup("");
}

static void man_print_text(struct out *out, const char *s)
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
	  "Before it asks for a GPU gpuctl works out from sysfs whether the windows of the bridges above\n"
	  "can take it: fits, fits-after-reassignment (its port gets another window), or cannot. That takes\n"
	  "what the GPU needs: seen by the module earlier, those of virtual functions and of a switch on\n"
	  "the card included, or, in slots.d, the BAR of the catalogue where that was verified. For\n"
	  "other GPUs there is no verdict, and nothing is refused. The verdict cannot is a refusal, exit code 3,\n"
	  "because the attempt can take the addresses of GPUs in use away; --no-fit-check of\n"
	  "attach, compose and resize tries all the same. When windows change meanwhile the module says so\n"
	  "and gpuctl works it out anew, five times at most (exit code 4 then). Whoever asks the module\n"
	  "without gpuctl is spared the worst: it powers no GPU whose windows would be taken from others,\n"
	  "as far as it has seen that GPU. show has the verdict, and in JSON its fields: verdict,\n"
	  "verdict_need and verdict_free in bytes, verdict_bridge, verdict_text with why and what helps,\n"
	  "verdict_largest for BARs that a driver may resize to the most. list warns of the first 256\n"
	  "slots that are off. Where slots are root ports the windows of the host bridge are known to\n"
	  "root alone." },
	{ "TENANTS",
	  "What a tenant leaves in the memory of a GPU is cleared before another tenant gets that GPU. A GPU\n"
	  "that is given back with release --keep, or whose slot cannot be powered off, would have it still.\n"
	  "compose, resize, run, restore and the planner power-cycle such a GPU, or reset it where its slot has\n"
	  "no power control: without its driver, by the methods that the kernel lists in reset_method. Hooks\n"
	  "before a detach run, and whoever uses the GPU stops it (exit code 4). A GPU for which neither is\n"
	  "possible is not chosen; if none is left that is exit code 3, and --dirty takes it as it is.\n"
	  "A composition without a tenant is nobody's, and nobody is a tenant of its own: GPUs go from nobody\n"
	  "to nobody as they are. A GPU that was on when the module was loaded was nobody's, except for restore,\n"
	  "which takes it for what it saved. What is used without a composition does not count.\n"
	  "show has whose data a GPU may hold, or why it is clean; in JSON contents (former, power-cycled,\n"
	  "reset, unknown), former (the composition) and, for root, former_tenant. Requests list what they\n"
	  "did to GPUs in cleaned. A link that is disabled or blinks counts for nothing. What a reset does\n"
	  "to memory is for the card; a power-cycle leaves nothing." },
	{ "UNITS",
	  "gpufabric.target comes and goes with the module. gpufabric-watch.service writes every change to the\n"
	  "journal and starts the others: gpufabric-save.service, -cdi, -metrics and -features after changes,\n"
	  "by gpufabric-changed.service; gpufabric-reap.service when a lease ends or a client dies;\n"
	  "gpufabric-fault@SLOT.service and gpufabric-detached@SLOT.service, which do nothing themselves: units\n"
	  "with WantedBy= one of them follow. gpufabric-attached@.service is active while a GPU is ready.\n"
	  "gpufabric-restore.service brings compositions back after a reboot; as long as that failed, nothing\n"
	  "is saved over what could not be restored. Each is switched off by systemctl\n"
	  "disable or mask." },
	{ "OUTPUT",
	  "With -j each command prints one JSON document; watch prints one a line. Names of fields are stable,\n"
	  "fields may be added. Sizes are in bytes, times in milliseconds since the epoch, durations in\n"
	  "microseconds, link speeds in MT/s. Errors go to standard error as one line." },
	{ NULL, NULL },
};

/* What a page has a list of: names in italics, each with a text. */
struct entry {
	const char *name;
	const char *text;
};

static void print_entries(struct out *out, const char *title, const struct entry *entries)
{
	out_line(out, ".SH %s", title);
	for (; entries->name; entries++) {
		char *name = escape(entries->name);

		out_line(out, ".TP");
		out_line(out, ".I %s", name);
		man_print_text(out, entries->text);
		free(name);
	}
}

static void print_files(struct out *out)
{
	static const struct entry files[] = {
		{ "/etc/gpuctl/gpus.d/*.conf, models.d/*.conf, nodes.d/*.conf",
		  "GPUs and models that the catalogue lacks, or corrections of it." },
		{ "/etc/gpuctl/slots.d/*.conf",
		  "The GPUs in slots: lines of \"SLOT GPU\", with a catalogue name or PCI ids such as\n"
		  "10de:2331; the slot may hold wildcards of the shell, and the last line that matches\n"
		  "counts. A number behind it is the number of GPUs of the card: \"5-1 a16 4\".\n"
		  "\"3-* group=nvl0\" says that links of their own connect the GPUs of these slots, such as\n"
		  "NVLink, NVSwitch or XGMI: a choice takes whole groups, and breaks as few as it can.\n"
		  "# begins a comment." },
		{ "/var/lib/gpuctl/compositions.json",
		  "The file of gpuctl save and gpuctl restore: see gpuctl-saved(5)." },
		{ "/etc/gpuctl/hooks.d/HOOK.d/*",
		  "Programs to call when GPUs come and go: see gpuctl-hooks(5)." },
		{ "/etc/gpuctl/fabric.d/*.conf",
		  "Fabric managers, and the ports of this host: see gpuctl-fabric(5)." },
		{ NULL, NULL },
	};

	print_entries(out, "FILES", files);
}

static void print_environment(struct out *out)
{
	static const struct entry variables[] = {
		{ "NO_COLOR", "When it is set and not empty, gpuctl top has no colours; words\n"
			      "say the same." },
		{ "GPUCTL_CONFIG_DIR, GPUCTL_DATA_DIR",
		  "Other directories than /etc/gpuctl and that of the catalogues; of no effect for a\n"
		  "program that runs with more rights than its caller." },
		{ "GPUCTL_HOOK_TIMEOUT", "How long a hook may take: see gpuctl-hooks(5)." },
		{ NULL, NULL },
	};

	print_entries(out, "ENVIRONMENT", variables);
}

static void print_head(struct out *out, const char *page, const char *section, const char *summary)
{
	char *name = escape(page), *text = escape(summary), *c;
	char *title = mem_strdup(page);

	for (c = title; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	out_line(out, ".\\\" Generated by: gpuctl man");
	out_line(out, ".TH %s %s \"\" \"gpufabric\" \"System Administration\"", title, section);
	out_line(out, ".SH NAME\n%s \\- %s", name, text);
	free(title);
	free(text);
	free(name);
}

/* One "gpuctl-list(8)" a word. */
static void print_pages(struct out *out, const char *pages)
{
	char *copy = mem_strdup(pages), *save, *word, *page;

	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		size_t name;

		page = escape(word);
		name = strcspn(page, "(");
		out_line(out, ".BR %.*s %s%s", (int)name, page, page + name,
			 save && *save ? " ," : "");
		free(page);
	}
	free(copy);
}

static void print_exits(struct out *out, unsigned int exits)
{
	const struct ctl_exit_text *e;

	out_line(out, ".SH \"EXIT STATUS\"");
	for (e = ctl_exit_texts; e->text; e++) {
		char *text = escape(e->text);

		if (exits & (1u << e->code))
			out_line(out, ".TP\n.B %d\n%c%s.", e->code, toupper((unsigned char)*text),
				 text + 1);
		free(text);
	}
}

static void print_examples(struct out *out, const struct manual_example *examples)
{
	out_line(out, ".SH EXAMPLES");
	for (; examples->line; examples++) {
		char *line = escape(examples->line), *text = escape(examples->text);

		out_line(out, ".TP\n\\fB%s\\fR\n%s.", line, text);
		free(line);
		free(text);
	}
}

static void print_synopsis(struct out *out, const struct ctl_command *command)
{
	char *args = escape(command->args);

	out_line(out, ".SH SYNOPSIS");
	out_line(out, ".B gpuctl\n[\\fB\\-j\\fR]%s \\fB%s\\fR%s%s%s [\\fIOPTION\\fR...]",
		 command->flags & CTL_NO_DRY_RUN ? "" : " [\\fB\\-n\\fR]", command->name,
		 *args ? " \\fI" : "", args, *args ? "\\fR" : "");
	free(args);
}

static void print_sections(struct out *out, const struct manual_section *section)
{
	const struct manual_example *term;

	for (; section && section->title; section++) {
		out_line(out, ".SH \"%s\"", section->title);
		man_print_text(out, section->text);
		for (term = section->terms; term && term->line; term++) {
			char *name = escape(term->line), *text = escape(term->text);

			out_line(out, ".TP\n.I %s\n%s.", name, text);
			free(name);
			free(text);
		}
	}
}

#define EXITS_OF_ALL (1u << CTL_DONE | 1u << CTL_FAILED | 1u << CTL_USAGE)

static void print_verbs(struct out *out, const struct ctl_command *command)
{
	const struct ctl_command *const *v;
	size_t g;

	if (command->verbs)
		out_line(out, ".SH VERBS");
	for (v = command->verbs; v && *v; v++) {
		char *args = escape((*v)->args), *summary = escape((*v)->summary);

		out_line(out, ".SS \"%s %s\"", (*v)->name, args);
		out_line(out, "%c%s.", toupper((unsigned char)*summary), summary + 1);
		if ((*v)->help) {
			out_line(out, ".PP");
			man_print_text(out, (*v)->help);
		}
		for (g = 0; g < CTL_OPTION_GROUPS; g++)
			print_options(out, (*v)->options[g]);
		free(args);
		free(summary);
	}
}

static void print_command(struct out *out, const struct ctl_command *command)
{
	const struct manual *manual = manual_of(command);
	char *page = mem_printf("gpuctl-%s", command->name);
	char *summary = escape(command->summary);
	bool any = false;
	size_t g;

	print_head(out, page, "8", command->summary);
	print_synopsis(out, command);
	out_line(out, ".SH DESCRIPTION");
	out_line(out, "%c%s.", toupper((unsigned char)summary[0]), summary + 1);
	if (command->help) {
		out_line(out, ".PP");
		man_print_text(out, command->help);
	}
	print_verbs(out, command);
	for (g = 0; g < CTL_OPTION_GROUPS; g++)
		any = any || (command->options[g] && command->options[g]->name);
	if (any)
		out_line(out, ".SH OPTIONS");
	for (g = 0; g < CTL_OPTION_GROUPS; g++)
		print_options(out, command->options[g]);
	if (any)
		out_line(out, ".PP");
	out_line(out, "%s\n.BR gpuctl (8)%s", any ? "Those of" : ".PP\nOptions of",
		 "\nare for every command.");
	print_sections(out, manual ? manual->sections : NULL);
	print_exits(out, EXITS_OF_ALL | (manual ? manual->exits : ~0u));
	if (manual)
		print_examples(out, manual->examples);
	out_line(out, ".SH \"SEE ALSO\"\n.BR gpuctl (8)%s", manual && manual->see ? " ," : "");
	if (manual && manual->see)
		print_pages(out, manual->see);
	free(summary);
	free(page);
}

static void print_commands(struct out *out)
{
	const struct ctl_command *const *c;
	size_t g;

	for (g = CTL_UNLISTED + 1; g < CTL_GROUPS; g++) {
		out_line(out, ".SS \"%s\"", ctl_group_titles[g]);
		for (c = ctl_commands; *c; c++) {
			char *summary = escape((*c)->summary), *args = escape((*c)->args);

			if ((*c)->group == g)
				out_line(out, ".TP\n\\fB%s\\fR%s%s%s\n%c%s:\n.BR gpuctl\\-%s (8).",
					 (*c)->name, *args ? " \\fI" : "", args,
					 *args ? "\\fR" : "", toupper((unsigned char)*summary),
					 summary + 1, (*c)->name);
			free(summary);
			free(args);
		}
	}
}

static void print_overview(struct out *out)
{
	size_t i;

	print_head(out, "gpuctl", "8", "attach, detach and compose GPUs behind PCIe switches");
	out_line(out, ".SH SYNOPSIS");
	out_line(out, ".B gpuctl\n[\\fIOPTION\\fR...] \\fICOMMAND\\fR [\\fIARGUMENT\\fR...]");
	out_line(out, ".SH DESCRIPTION");
	man_print_text(out,
		       "The admin's tool for GPUs that join and leave a host while it runs. Each command has\n"
		       "a page of its own, gpuctl-COMMAND(8).");
	out_line(out, ".SH COMMANDS");
	print_commands(out);
	out_line(out, ".SH OPTIONS");
	print_options(out, ctl_global_options);
	for (i = 0; sections[i].title; i++) {
		out_line(out, ".SH \"%s\"", sections[i].title);
		man_print_text(out, sections[i].text);
	}
	print_exits(out, ~0u);
	print_files(out);
	print_environment(out);
	out_line(out, ".SH \"SEE ALSO\"");
	print_pages(out,
		    "gpufabric(4) gpuctl-catalogue(5) gpuctl-fabric(5) gpuctl-hooks(5) gpuctl-plan(5) gpuctl-saved(5) gpuctl-tenants(5)");
}

static int man_run(struct ctl_ctx *ctx, int argc, char **argv)
{
	const struct ctl_command *command;
	int ret;

	ret = ctl_operands(ctx, argc, 0, 1);
	if (ret)
		return ret;
	out_set_json(ctx->out, false);
	if (!argc) {
		print_overview(ctx->out);
		return CTL_DONE;
	}
	command = ctl_command_find(ctl_commands, argv[0]);
	if (!command)
		return ctl_fail(ctx, CTL_USAGE, "no command %s: see gpuctl help", argv[0]);
	print_command(ctx->out, command);
	return CTL_DONE;
}

const struct ctl_command cmd_man = {
	.name = "man",
	.args = "[COMMAND]",
	.summary = "print a manual page: of gpuctl, or of a command",
	.flags = CTL_NO_DRY_RUN | CTL_HIDDEN,
	.run = man_run,
};
