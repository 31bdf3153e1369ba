// SPDX-License-Identifier: GPL-2.0-only
// sources: $(filter-out ctl/main.c,$(wildcard ctl/*.c ctl/*/*.c ctl/*/*/*.c))
// packages: libnl-3.0 libnl-genl-3.0 json-c libudev libsystemd
/*
 * Where the cursor of a shell stands in a command line, and what the table
 * says can stand there.
 */
#include <stdlib.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cmd/cmd.h"
#include "cmd/names.h"
#include "cmd/place.h"
#include "tap.h"

#define WORDS 16

static struct place place;
static char *copy;

/* The place at the end of a line; a blank there begins a new word. */
static void at(const char *line)
{
	const char *words[WORDS];
	char *save, *word;
	size_t n = 0;

	place_free(&place);
	free(copy);
	copy = mem_strdup(line);
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		words[n++] = word;
	if (!n || line[strlen(line) - 1] == ' ')
		words[n++] = "";
	place_find(&place, words, n);
}

static void takes(const char *line, const char *kinds)
{
	at(line);
	is_str(place.kinds, kinds, line);
}

static void test_places(void)
{
	takes("", "@commands");
	takes("li", "@commands");
	takes("-j ", "@commands");
	takes("--json li", "@commands");
	takes("frobnicate ", "");
	takes("attach ", "@slots");
	takes("attach 3-0 3-", "@slots");
	is_int((int)place.n_taken, 1, "one was taken");
	is_str(place.taken[0], "3-0", "that before");
	takes("list ", "");
	takes("show ", "@slots @compositions");
	takes("show 3-0 ", "");
	takes("history ", "@slots");
	takes("gpus h100 ", "@gpus");
	takes("models ", "@models");
	takes("size ", "estimate machines compare table check learn @models @hub @files");
	takes("size estimate ", "@models @hub @files");
	takes("size llama ", "");
	takes("size check ", "@compositions");
	takes("size check c ", "@models @hub @files");
	takes("size learn ", "@files");
	takes("watch ", "changes until daemon");
	takes("watch until ", "@slots @compositions");
	takes("watch until x ", "");
	takes("watch -j ", "changes until daemon");
	takes("help ", "@commands");
	takes("compose ", "");
	takes("release ", "@compositions");
	takes("metrics ", "@files");
}

static void test_options(void)
{
	takes("compose x --tenant ", "@tenants");
	takes("compose x --gpu ", "@kinds");
	takes("compose x --exclude ", "@slots");
	takes("compose x --model ", "@models @hub @files");
	takes("compose x --task ", "@tasks");
	takes("compose x --for ", "");
	takes("size --engine ", "@engines");
	takes("size machines --best ", "cost time energy count");
	takes("watch -s ", "@slots");
	takes("watch -C ", "@compositions");
	takes("topo --svg ", "@files");
	takes("cdi --output ", "@dirs");
	takes("compose x --tenant=re", "@tenants");
	is_str(place.prefix, "--tenant=", "what stands before the value");
	is_str(place.current, "re", "and the value so far");
	takes("watch -s3-", "@slots");
	is_str(place.prefix, "-s", "a letter before its value");
	is_str(place.current, "3-", "and the value");
	takes("detach --wai 5s ", "@slots");
	takes("detach -w 5s ", "@slots");
	takes("detach -fw ", "");
	ok(!place.options, "the time that -w wants is no option");
	takes("detach --wai", "");
	ok(place.options, "an option");
	is_str(place.current, "--wai", "as far as it is typed");
	takes("compose x --json ", "");
	ok(place.options, "a flag takes nothing");
}

static void test_commands_of_others(void)
{
	takes("run ", "");
	takes("run --gpus 2 -- ", "@programs");
	ok(!place.options, "no option of ours");
	takes("run --gpus 2 -- ls ", "@files");
	takes("run --gpus 2 -- ls --ta", "@files");
	takes("attach -- 3", "@slots");
	ok(!place.options, "nor behind --");
}

static bool is_asked_for(const char *kind)
{
	char *known = names_kinds(), *save, *word;
	bool found = !strcmp(kind, "files") || !strcmp(kind, "dirs") || !strcmp(kind, "programs");

	for (word = strtok_r(known, ", ", &save); word; word = strtok_r(NULL, ", ", &save))
		found = found || !strcmp(word, kind);
	free(known);
	return found;
}

static bool all_known(const char *kinds)
{
	char *words = mem_strdup(kinds ? kinds : ""), *save, *word;
	bool good = true;

	for (word = strtok_r(words, ", ", &save); word; word = strtok_r(NULL, ", ", &save))
		good = good && (word[0] != '@' || is_asked_for(word + 1));
	free(words);
	return good;
}

/* Each row names kinds that there are. */
static void test_table(void)
{
	const struct ctl_command *const *c;
	const struct ctl_option *o;
	size_t g;

	for (c = ctl_commands; *c; c++) {
		bool good = all_known((*c)->completes);

		for (g = 0; g < CTL_OPTION_GROUPS; g++)
			for (o = (*c)->options[g]; o && o->name; o++)
				good = good && all_known(o->completes) && (o->arg || !o->completes);
		ok(good, "%s: what completes it can be asked for", (*c)->name);
	}
	ok(!all_known("@slots @frobs"), "a kind that there is not is noticed");
}

int main(void)
{
	test_places();
	test_options();
	test_commands_of_others();
	test_table();
	place_free(&place);
	free(copy);
	return tap_done();
}
