// SPDX-License-Identifier: GPL-2.0-only
/*
 * gpuctl man: the manual pages, from the table of commands and the texts below.
 */
#include <assert.h>
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
	  "A slot that is off or empty has no config space, so gpuctl cannot read its GPU. The column IDENTITY\n"
	  "tells the source of what gpuctl shows: live (read now), seen (read earlier, since the module was\n"
	  "loaded), declared (in slots.d, see FILES) or - (unknown). gpuctl chooses slots by this identity, and the module\n"
	  "verifies it after power-on: if the slot has another GPU, this is a fault, and the composition is\n"
	  "rolled back." },
	{ "ADDRESS SPACE",
	  "Before it requests a GPU, gpuctl computes from sysfs whether the windows of the bridges above have room\n"
	  "for it. The verdict is fits, fits-after-reassignment (the port gets another window), or cannot. gpuctl\n"
	  "needs to know the BARs of the GPU: the module has seen them earlier, with those of virtual functions and\n"
	  "of a switch on the card, or slots.d declares a GPU whose BAR in the catalogue is verified. For other GPUs\n"
	  "there is no verdict and no refusal. For the verdict cannot, gpuctl refuses the request with exit code 3,\n"
	  "because the attempt can take addresses away from GPUs in use; --no-fit-check of attach, compose, resize\n"
	  "and run tries it anyway. If windows change during the request, gpuctl computes the verdict five times\n"
	  "at most (exit code 4 then). The module also protects GPUs against requests without gpuctl: it does not\n"
	  "power a GPU that it has seen before if other GPUs would lose their windows. show has the verdict, and in\n"
	  "JSON the fields verdict, verdict_need and verdict_free in bytes, verdict_bridge, verdict_text with reason\n"
	  "and remedy, and verdict_largest for BARs that a driver may resize to the maximum. list prints warnings for\n"
	  "the first 256 slots that are off. If slots are root ports, only root can read the windows of the host\n"
	  "bridge. Newer kernels make the windows of bridges on a card with several GPUs too small (7.0; 6.19.4;\n"
	  "6.18.14), so such a card can be attached only to a port that pciehp drives." },
	{ "TENANTS",
	  "gpuctl clears the memory of a GPU before another tenant gets it. A GPU may hold data of a tenant after\n"
	  "release --keep, or if its slot cannot be powered off. compose, resize, run, restore and the planner\n"
	  "power-cycle such a GPU. If its slot has no power control, they unbind the driver and reset the GPU by the\n"
	  "methods that the kernel lists in reset_method. Hooks before a detach run first, and a process that uses\n"
	  "the GPU stops the request (exit code 4). If neither a power-cycle nor a reset is possible, gpuctl does not\n"
	  "choose the GPU; if no other is free, the exit code is 3, and --dirty takes the GPU as it is.\n"
	  "All compositions without a tenant count as one tenant. A GPU that was on when the module was loaded\n"
	  "counts for this tenant, too; but restore takes the GPU for the saved one. The use of a GPU without a\n"
	  "composition does not count.\n"
	  "show has the tenant whose data a GPU may hold, or the reason why it is clean; in JSON contents (former,\n"
	  "power-cycled, reset, unknown), former (the composition) and, for root, former_tenant. Requests list\n"
	  "the GPUs that they cleared in cleaned. A link that is disabled or blinks does not clear a GPU. The effect\n"
	  "of a reset on the memory depends on the card; a power-cycle clears all memory." },
	{ "UNITS",
	  "gpufabric.target is active while the module is loaded. gpufabric-watch.service writes every change to the\n"
	  "journal and starts the other units: gpufabric-save.service, -cdi, -metrics and -features after changes,\n"
	  "by gpufabric-changed.service; gpufabric-reap.service when a lease ends or a client dies;\n"
	  "gpufabric-fault@SLOT.service and gpufabric-detached@SLOT.service, which do nothing, but start your units\n"
	  "that have WantedBy= one of them. gpufabric-attached@.service is active while a GPU is ready.\n"
	  "gpufabric-restore.service restores compositions after a reboot. Until it succeeds, gpufabric-save.service\n"
	  "does not overwrite the saved compositions. To switch a unit off, use systemctl disable or mask." },
	{ "OUTPUT",
	  "With -j each command prints one JSON document; watch prints one per line. The names of fields are stable,\n"
	  "and new fields may be added. Sizes are in bytes, times in milliseconds since the epoch, durations in\n"
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
		{ "/etc/gpuctl/gpus.d/*.conf, models.d/*.conf, engines.d/*.conf, nodes.d/*.conf",
		  "Entries for the catalogues, or corrections: see gpuctl-catalogue(5)." },
		{ "/etc/gpuctl/slots.d/*.conf",
		  "The GPUs in slots: lines of \"SLOT GPU\", with a catalogue name or PCI ids such as\n"
		  "10de:2331; the slot may hold wildcards of the shell, and the last line that matches\n"
		  "counts. A number after the GPU is the number of GPUs of the card: \"5-1 a16 4\".\n"
		  "\"3-* group=nvl0\" says that links of their own connect the GPUs of these slots, such as\n"
		  "NVLink, NVSwitch or XGMI: a choice takes whole groups, and breaks as few as it can. A\n"
		  "composition that grows gets what is left of its groups first; one that shrinks gives its\n"
		  "smallest groups back first.\n"
		  "# begins a comment." },
		{ "/var/lib/gpuctl/compositions.json",
		  "The file of gpuctl save and gpuctl restore: see gpuctl-saved(5)." },
		{ "/etc/gpuctl/hooks.d/HOOK.d/*",
		  "Programs to call when GPUs come and go: see gpuctl-hooks(5)." },
		{ "/etc/gpuctl/fabric.d/*.conf",
		  "Fabric managers, and the ports of this host: see gpuctl-fabric(5)." },
		{ "/etc/gpuctl/tenants.d/*.conf", "Shares of tenants: see gpuctl-tenants(5)." },
		{ "/etc/gpuctl/workloads.d/NAME",
		  "Sensors of workloads: see gpuctl-workloads(5)." },
		{ "/etc/gpuctl/plan.json",
		  "The workloads of gpufabric-plan.service: see gpuctl-plan(5)." },
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
	size_t i;

	out_line(out, ".SH EXAMPLES");
	for (i = 0; examples[i].line; i++) {
		char *line = escape(examples[i].line), *text = escape(examples[i].text);

		/* With more of them no room is left for the end of the list. */
		assert(i < MANUAL_EXAMPLES);

		out_line(out, ".TP\n\\fB%s\\fR\n%s.", line, text);
		free(line);
		free(text);
	}
}

static void print_synopsis(struct out *out, const struct ctl_command *command)
{
	char *args = escape(command->args);

	out_line(out, ".SH SYNOPSIS");
	out_line(out, ".B gpuctl\n[\\fB\\-j\\fR]%s \\fB%s\\fR [\\fIOPTION\\fR...]%s%s%s",
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
		    "gpufabric(4) gpuctl-catalogue(5) gpuctl-fabric(5) gpuctl-hooks(5) gpuctl-plan(5) gpuctl-saved(5) gpuctl-tenants(5) gpuctl-workloads(5)");
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
