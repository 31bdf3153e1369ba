// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the context of one run
 *
 * Options are looked up by name, so that a command reads like its help; a
 * name that the command's table lacks is a mistake of ours and aborts.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/given.h"

static void check_option(const struct ctl_ctx *ctx, const char *name)
{
	const struct ctl_option *o;
	size_t g;

	for (g = 0; g < CTL_OPTION_GROUPS; g++)
		for (o = ctx->command->options[g]; o && o->name; o++)
			if (!strcmp(o->name, name))
				return;
	fprintf(stderr, "gpuctl: %s has no option --%s in its table\n", ctx->command->name, name);
	abort();
}

const char *ctl_opt_next(const struct ctl_ctx *ctx, const char *name, size_t *pos)
{
	check_option(ctx, name);
	while (*pos < ctx->n_given) {
		const struct ctl_given *given = &ctx->given[(*pos)++];

		if (!strcmp(given->option->name, name))
			return given->value ? given->value : "";
	}
	return NULL;
}

const char *ctl_opt(const struct ctl_ctx *ctx, const char *name)
{
	const char *value, *last = NULL;
	size_t pos = 0;

	while ((value = ctl_opt_next(ctx, name, &pos)))
		last = value;
	return last;
}

bool ctl_flag(const struct ctl_ctx *ctx, const char *name)
{
	return ctl_opt(ctx, name);
}

/* It may quote what was typed or read, so it is made harmless. */
__attribute__((format(printf, 1, 0))) static char *message(const char *fmt, va_list ap)
{
	char *s = mem_vprintf(fmt, ap);

	text_tame(s, true);
	return s;
}

int ctl_fail(struct ctl_ctx *ctx, enum ctl_exit code, const char *fmt, ...)
{
	va_list ap;
	char *s;

	/* Format first: an argument may be the text that is replaced. */
	va_start(ap, fmt);
	s = message(fmt, ap);
	va_end(ap);
	free(ctx->error);
	ctx->error = s;
	return code;
}

void ctl_more(struct ctl_ctx *ctx, const char *fmt, ...)
{
	struct text more = { ctx->more, ctx->more ? strlen(ctx->more) : 0 };
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = message(fmt, ap);
	va_end(ap);
	text_add(&more, "%s\n", s);
	ctx->more = more.text;
	free(s);
}

void ctl_warn(const struct ctl_ctx *ctx, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = message(fmt, ap);
	va_end(ap);
	fprintf(stderr, "gpuctl: %s%s\n", ctx->json ? "warning: " : "", s);
	free(s);
}

int ctl_operands(struct ctl_ctx *ctx, int argc, int min, int max)
{
	const struct ctl_command *c = ctx->command;

	if (argc >= min && (max < 0 || argc <= max))
		return CTL_DONE;
	return ctl_fail(ctx, CTL_USAGE, "%s operands: usage: gpuctl %s%s%s",
			argc < min ? "missing" : "too many", c->name, *c->args ? " " : "", c->args);
}
