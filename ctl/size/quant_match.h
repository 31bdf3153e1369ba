/* SPDX-License-Identifier: GPL-2.0-only */
/* Which modules a name in a quantizer's stanza means. */
#ifndef GPUCTL_SIZE_QUANT_MATCH_H
#define GPUCTL_SIZE_QUANT_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct quant_pattern - a name, a glob, or the globs of a regular expression
 * @text: @n of them, each with its NUL
 * @regex: they are of a regular expression
 */
struct quant_pattern {
	char *text;
	size_t n;
	bool regex;
};

/*
 * Reads a pattern; quant_pattern_drop() frees it. -ENOTSUP for a regular expression
 * that no few globs say: lookaheads, counts of groups, hundreds of alternatives.
 */
int quant_pattern_read(const char *pattern, struct quant_pattern *out);

void quant_pattern_drop(struct quant_pattern *pattern);

/* Does it mean the module @name? Adds what that took to @steps: characters compared. */
bool quant_pattern_means(const struct quant_pattern *pattern, const char *name, uint64_t *steps);

/* Layer of "...layers.N...", -1 if there is none or it may be any. */
int quant_layer_of(const char *name);

#endif
