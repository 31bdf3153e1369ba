// SPDX-License-Identifier: GPL-2.0-only
// sources: $(filter-out ctl/main.c,$(wildcard ctl/*.c ctl/*/*.c ctl/*/*/*.c))
// packages: libnl-3.0 libnl-genl-3.0 json-c libudev libsystemd
/*
 * Command lines: what is taken, what is refused with which words, and that the
 * table of commands is fit for help, manual and completion.
 */
#include <stdlib.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "cmd/manual.h"
#include "tap.h"

#define WORDS 12

static char *text;
static size_t size;
static char *error;

/* Run a command line as main() does; output is left in text, the error in error. */
static int gpuctl(const char *line)
{
	char *words[WORDS + 1] = { 0 }, *copy = mem_strdup(line), *save, *word;
	struct ctl_ctx ctx = { .data_dir = "ctl/catalogue", .config_dir = "/nonexistent" };
	int argc = 0, ret;
	FILE *f;

	for (word = strtok_r(copy, " ", &save); word && argc < WORDS;
	     word = strtok_r(NULL, " ", &save))
		words[argc++] = word;
	free(text);
	free(error);
	f = open_memstream(&text, &size);
	ctx.out = out_new(f);
	ret = ctl_dispatch(&ctx, ctl_commands, argc, words);
	out_flush(ctx.out);
	out_free(ctx.out);
	fclose(f);
	error = ctx.error ? ctx.error : mem_strdup("");
	free(ctx.more);
	free(ctx.given);
	free(copy);
	return ret;
}

static const struct ctl_option options[] = {
	{ "flag", 'f', NULL, "a flag" },
	{ "value", 'v', "V", "a value" },
	{ "long-only", 0, "V", "no letter" },
	{ NULL },
};

static const struct ctl_command command = { .name = "test",
					    .args = "WORD...",
					    .options = { options } };
static const struct ctl_command runner = { .name = "run",
					   .args = "WORD -- COMMAND...",
					   .options = { options } };

static struct ctl_ctx ctx;
static char *argv[WORDS + 1];
static int argc;
static char *line_copy;

static int parse(const struct ctl_command *c, const char *line)
{
	char *word, *save;
	bool help = false;

	free(ctx.given);
	free(ctx.error);
	memset(&ctx, 0, sizeof(ctx));
	free(line_copy);
	line_copy = mem_strdup(line);
	argc = 0;
	for (word = strtok_r(line_copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	argv[argc] = NULL;
	return ctl_parse(&ctx, c, &argc, argv, &help);
}

static void test_parse(void)
{
	size_t pos = 0;

	is_int(parse(&command, "test a -f b --value=1 -v 2 c"), CTL_DONE, "options among operands");
	ok(argc == 3 && !strcmp(argv[0], "a") && !strcmp(argv[1], "b") && !strcmp(argv[2], "c"),
	   "operands in their order");
	ok(ctl_flag(&ctx, "flag"), "a flag");
	is_str(ctl_opt(&ctx, "value"), "2", "the last value counts");
	is_str(ctl_opt_next(&ctx, "value", &pos), "1", "or each");
	is_str(ctl_opt_next(&ctx, "value", &pos), "2", "in their order");
	ok(!ctl_opt_next(&ctx, "value", &pos), "to the end");
	ok(!ctl_opt(&ctx, "long-only"), "what was not given");
	is_int(parse(&command, "test -jfv3 --dry-run"), CTL_DONE, "letters together");
	ok(ctx.json && ctx.dry_run && ctl_flag(&ctx, "flag"), "global options behind the command");
	is_str(ctl_opt(&ctx, "value"), "3", "a value behind its letter");
	is_int(parse(&command, "test --value -1"), CTL_DONE, "a value that begins with a dash");
	is_str(ctl_opt(&ctx, "value"), "-1", "is a value");
	is_int(parse(&command, "test -- -f"), CTL_DONE, "-- ends the options");
	ok(argc == 1 && !strcmp(argv[0], "-f") && !ctl_flag(&ctx, "flag"),
	   "what follows is an operand");
	is_int(parse(&runner, "run x -f -- sleep -v 1"), CTL_DONE, "a command to run");
	ok(argc == 4 && ctx.rest == 1 && !strcmp(argv[1], "sleep") && !strcmp(argv[2], "-v"),
	   "keeps its options to itself");
	ok(ctl_flag(&ctx, "flag") && !ctl_opt(&ctx, "value"), "and ours are ours");
}

static void test_errors(void)
{
	is_int(parse(&command, "test --vlaue 1"), CTL_USAGE, "a misspelt option");
	ok(strstr(ctx.error, "did you mean --value?"), "says which was meant: %s", ctx.error);
	is_int(parse(&command, "test -x"), CTL_USAGE, "an unknown letter");
	ok(strstr(ctx.error, "-x"), "names it: %s", ctx.error);
	is_int(parse(&command, "test -fx"), CTL_USAGE, "an unknown letter among known ones");
	ok(strstr(ctx.error, "no option -x"), "names that letter: %s", ctx.error);
	is_int(parse(&command, "test --value"), CTL_USAGE, "a missing value");
	ok(strstr(ctx.error, "--value needs an argument"), "says so: %s", ctx.error);
	is_int(parse(&command, "test -v"), CTL_USAGE, "a missing value of a letter");
	is_int(parse(&command, "test --flag=1"), CTL_USAGE, "a flag with a value");
	ok(strstr(ctx.error, "--flag takes no argument"), "says so: %s", ctx.error);

	is_int(gpuctl("gpuctl"), CTL_USAGE, "no command");
	is_int(gpuctl("gpuctl lits"), CTL_USAGE, "a misspelt command");
	ok(strstr(error, "did you mean list?"), "says which was meant: %s", error);
	is_int(gpuctl("gpuctl frobnicate"), CTL_USAGE, "an unknown command");
	is_int(gpuctl("gpuctl -x list"), CTL_USAGE, "an unknown option before the command");
	is_int(gpuctl("gpuctl list extra"), CTL_USAGE, "too many operands");
	is_int(gpuctl("gpuctl attach"), CTL_USAGE, "too few operands");
	ok(strstr(error, "usage: gpuctl attach SLOT..."), "says how: %s", error);
	is_int(gpuctl("gpuctl -n list"), CTL_USAGE, "-n where nothing is changed");
	is_int(gpuctl("gpuctl compose 1x --gpus 1"), CTL_USAGE, "a bad name");
	is_int(gpuctl("gpuctl help frobnicate"), CTL_USAGE, "help for an unknown command");
	is_int(gpuctl("gpuctl plan"), CTL_USAGE, "no verb");
	is_str(error, "no verb given", "is said");
	is_int(gpuctl("gpuctl -j plan slove x"), CTL_USAGE, "a misspelt verb");
	is_str(error, "no command plan slove: did you mean plan solve?", "is said with the nearest");
	is_int(gpuctl("gpuctl plan -j frobnicate"), CTL_USAGE, "an unknown verb");
	is_str(error, "no command plan frobnicate: see gpuctl help plan", "is said");
	is_int(gpuctl("gpuctl plan solve --jsn x"), CTL_USAGE, "an option of a verb");
	is_str(error, "no option --jsn: did you mean --json?", "is judged by the verb's options");
	is_int(gpuctl("gpuctl help plan frobnicate"), CTL_USAGE, "help for an unknown verb");
	is_int(gpuctl("gpuctl help list frobnicate"), CTL_USAGE, "help for a verb of none");
}

#define USAGE_SOLVE "usage: gpuctl plan solve [OPTION...] FILE\n"

/* Where @word stands in its line. */
static int column(const char *word)
{
	const char *at = strstr(text, word), *start = at;

	while (start && start > text && start[-1] != '\n')
		start--;
	return at ? (int)(at - start) : -1;
}

static void test_help(void)
{
	const struct ctl_command *const *c;

	is_int(gpuctl("gpuctl --help"), CTL_DONE, "help");
	for (c = ctl_commands; *c; c++) {
		char *line, *row = mem_printf("\n  %s ", (*c)->name);

		ok(!strstr(text, row) == !!((*c)->flags & CTL_HIDDEN),
		   "%s is in the list unless it is hidden", (*c)->name);
		free(row);
		line = mem_printf("gpuctl help %s", (*c)->name);
		gpuctl(line);
		free(line);
		line = mem_printf("usage: gpuctl %s", (*c)->name);
		ok(text && !strncmp(text, line, strlen(line)), "help %s begins with its usage",
		   (*c)->name);
		free(line);
		gpuctl("gpuctl --help");
	}
	is_int(gpuctl("gpuctl list --help"), CTL_DONE, "--help behind a command");
	ok(strstr(text, "usage: gpuctl list"), "is help for it");
	is_int(gpuctl("gpuctl plan -h"), CTL_DONE, "help for a command with verbs");
	ok(strstr(text, "usage: gpuctl plan [OPTION...] VERB") && strstr(text, "\n  plan solve"),
	   "lists the verbs");
	gpuctl("gpuctl help plan solve");
	ok(!strncmp(text, USAGE_SOLVE, strlen(USAGE_SOLVE)), "help for a verb");
	is_int(gpuctl("gpuctl -j plan solve -h"), CTL_DONE, "--help behind a verb");
	ok(!strncmp(text, USAGE_SOLVE, strlen(USAGE_SOLVE)), "is help for it");
	gpuctl("gpuctl help run");
	ok(strstr(text, "usage: gpuctl run [OPTION...] -- COMMAND...\n"),
	   "options come before the command that is run");
	gpuctl("gpuctl help kubernetes");
	is_int(column(" a ResourceClaimTemplate"), column(" the manifests"),
	       "texts of verbs are one below the other, also those of long names");
}

static bool is_sentence(const char *s)
{
	size_t len = strlen(s);

	/* Punctuation is help's own; an ellipsis is not a full stop. */
	return len && !strchr(s, '\n') &&
	       (s[len - 1] != '.' || (len > 3 && !strcmp(s + len - 3, "...")));
}

static void check_command(const struct ctl_command *c)
{
	const struct ctl_command *const *v;
	const struct ctl_option *all[64], *o;
	size_t n = 0, g, i, j;
	bool unique = true, good = true;

	for (g = 0; g <= CTL_OPTION_GROUPS; g++)
		for (o = g < CTL_OPTION_GROUPS ? c->options[g] : ctl_global_options;
		     o && o->name && n < 64; o++)
			all[n++] = o;
	for (i = 0; i < n; i++) {
		good = good && all[i]->help && is_sentence(all[i]->help);
		for (j = 0; j < i; j++)
			unique = unique && strcmp(all[i]->name, all[j]->name) &&
				 (!all[i]->letter || all[i]->letter != all[j]->letter);
	}
	ok(!c->run == !!c->verbs && c->args && c->summary && is_sentence(c->summary), "%s: the row is whole",
	   c->name);
	ok(good, "%s: each option has a help of one sentence", c->name);
	ok(unique, "%s: no option and no letter twice", c->name);
	for (v = c->verbs; v && *v; v++) {
		n = strlen(c->name);
		ok(!strncmp((*v)->name, c->name, n) && (*v)->name[n] == ' ' &&
		   ctl_verb_find(c, ctl_verb_word(*v)) == *v, "%s is found below %s", (*v)->name,
		   c->name);
		check_command(*v);
	}
}

/* Each command that is not hidden has a page, with all of its options and with examples. */
static void check_page(const struct ctl_command *c)
{
	char *line = mem_printf("gpuctl man %s", c->name);
	const struct ctl_command *const *v;
	const struct ctl_option *o;
	bool all = true;
	size_t g;

	is_int(gpuctl(line), CTL_DONE, line);
	free(line);
	for (v = c->verbs; v && *v; v++)
		ok(strstr(text, (*v)->name), "%s is on the page", (*v)->name);
	for (g = 0; g < CTL_OPTION_GROUPS; g++) {
		for (o = c->options[g]; o && o->name; o++) {
			size_t i, n = 0;
			char name[64];

			for (i = 0; o->name[i] && n + 3 < sizeof(name); i++) {
				if (o->name[i] == '-')
					name[n++] = '\\';
				name[n++] = o->name[i];
			}
			name[n] = '\0';
			all = all && strstr(text, name);
		}
	}
	ok(all, "%s: each option is on its page", c->name);
	ok(strstr(text, ".SH \"EXIT STATUS\"") && strstr(text, ".SH \"SEE ALSO\""),
	   "%s: exit codes, and where to read on", c->name);
	ok(strstr(text, ".SH EXAMPLES\n.TP"), "%s: an example", c->name);
}

static void test_manual(void)
{
	const struct ctl_command *const *c;
	const struct manual *m;

	is_int(gpuctl("gpuctl man"), CTL_DONE, "the manual");
	ok(strstr(text, "gpuctl\\-compose (8)") && strstr(text, ".SH \"EXIT STATUS\""),
	   "has commands and exit codes");
	is_int(gpuctl("gpuctl man frobnicate"), CTL_USAGE, "a page of no command");
	for (c = ctl_commands; *c; c++)
		if (!((*c)->flags & CTL_HIDDEN))
			check_page(*c);
	for (m = manuals; m->command; m++)
		ok(ctl_command_find(ctl_commands, m->command), "the examples of %s are of a command", m->command);
}

static void test_completion(void)
{
	is_int(gpuctl("gpuctl completion"), CTL_USAGE, "nothing to complete");
	is_int(gpuctl("gpuctl completion models"), CTL_DONE, "words of the catalogue");
	ok(strstr(text, "llama-3.1-70b\n"), "one a line");
	is_int(gpuctl("gpuctl completion -- li"), CTL_DONE, "words at the cursor");
	is_str(text, "list\tslots with their GPUs, and compositions\n", "with a remark");
	is_int(gpuctl("gpuctl completion -- compose x --same"), CTL_DONE, "an option");
	is_str(text, "--same-switch\tall behind one switch, or fail\n", "of that command");
	is_int(gpuctl("gpuctl completion -- size x --task=q"), CTL_DONE, "a value in the word");
	is_str(text, "--task=qlora\t\n", "goes on with the word");
	is_int(gpuctl("gpuctl completion -- topo --svg a"), CTL_DONE, "a file");
	is_str(text, "@files\n", "is the shell's to complete");
	is_int(gpuctl("gpuctl completion -- plan so"), CTL_DONE, "a verb");
	is_str(text, "solve\tthe plan of an instance in a file, with cost, bound and gap\n", "of its command");
	is_int(gpuctl("gpuctl completion -- plan solve --eff"), CTL_DONE, "an option of a verb");
	ok(!strncmp(text, "--effort\t", 9), "is offered behind it");
	is_int(gpuctl("gpuctl completion -- -n list --dry"), CTL_DONE, "what a command lacks");
	is_str(text, "", "is not offered");
}

int main(void)
{
	const struct ctl_command *const *c;

	test_parse();
	test_errors();
	test_help();
	for (c = ctl_commands; *c; c++)
		check_command(*c);
	test_manual();
	test_completion();
	free(ctx.given);
	free(ctx.error);
	free(line_copy);
	free(text);
	free(error);
	return tap_done();
}
