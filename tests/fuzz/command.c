// SPDX-License-Identifier: GPL-2.0-only
// sources: tool
// packages: json-c libnl-3.0 libnl-genl-3.0 libudev libsystemd
/*
 * Whole command lines, an argument a line. Commands that need no module run to
 * their end; of the others, options and operands are parsed.
 */
#include <errno.h>
#include <getopt.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/out.h"
#include "cmd/cmd.h"
#include "fuzz.h"

#define ARGUMENTS_MAX 16

static bool runs_alone(const char *name)
{
	static const char *const names[] = { "size",   "gpus", "models",
					     "help", "man",  "completion" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static int dispatch(struct ctl_ctx *ctx, int argc, char **argv)
{
	const struct ctl_command *command = argc > 1 ? ctl_command_find(ctl_commands, argv[1]) : NULL;
	bool help = false;

	/* getopt's own memory of the last command line. */
	optind = 0;
	opterr = 0;
	if (!command || runs_alone(argv[1]))
		return ctl_dispatch(ctx, ctl_commands, argc, argv);
	argc--;
	argv++;
	if (command->verbs && argc > 1 && ctl_verb_find(command, argv[1])) {
		argc--;
		argv++;
		command = ctl_verb_find(command, argv[0]);
	}
	return ctl_parse(ctx, command, &argc, argv, &help);
}

static void run(int argc, char **argv)
{
	struct ctl_ctx ctx = { .data_dir = "ctl/catalogue", .config_dir = "/nowhere" };
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	int ret;

	ctx.out = out_new(file);
	ret = dispatch(&ctx, argc, argv);
	must(ret >= CTL_DONE && ret <= CTL_TIMEOUT);
	must(!ret || ctx.error);
	must(!out_flush(ctx.out));
	out_free(ctx.out);
	fclose(file);
	free(text);
	free(ctx.given);
	free(ctx.error);
	free(ctx.more);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size < 1024 ? size : 1024), *rest = text, *word;
	char *argv[ARGUMENTS_MAX + 2] = { "gpuctl" };
	int argc = 1;

	while (argc <= ARGUMENTS_MAX && (word = strsep(&rest, "\n")))
		argv[argc++] = word;
	/* Only a command that is there: the first argument picks it. */
	run(argc, argv);
	free(text);
	return 0;
}
