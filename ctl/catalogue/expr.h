/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Formulas of families, as text: "@num_key_value_heads | heads". A formula is
 * evaluated where it stands; what it cannot know is absent, and `|` takes the
 * next alternative then. The language is described in gpuctl-catalogue(5).
 */
#ifndef GPUCTL_CATALOGUE_EXPR_H
#define GPUCTL_CATALOGUE_EXPR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"

#define EXPR_PATH_MAX 128

enum expr_kind {
	EXPR_ABSENT,
	EXPR_NUMBER, /* also true and false */
	EXPR_TEXT,
	EXPR_LIST, /* number is its length */
	EXPR_OBJECT,
};

/**
 * struct expr_value - what a formula gives, or a fact of a file is
 * @text: of EXPR_TEXT, borrowed from the file
 * @node: of EXPR_OBJECT, for facts.get
 */
struct expr_value {
	enum expr_kind kind;
	double number;
	const char *text;
	const void *node;
};

/**
 * struct expr_facts - what a file says
 * @get: the value at "a.b.3.c", an entry of a list or a character of a text by its number
 * @node: where paths begin
 * @outer: of the file around this part, or NULL; paths "outer.x" begin there
 * @defaults: "key=number key=number ...", what a part means that leaves a key out; or NULL
 */
struct expr_facts {
	void (*get)(const void *node, const char *path, struct expr_value *out);
	const void *node;
	const struct expr_facts *outer;
	const char *defaults;
};

/**
 * struct expr_scope - what names in a formula mean
 * @variable: value of a name of @len characters; -ENOENT if nothing is called so
 * @arg: for it
 * @facts: of the file, or NULL
 * @layer: number of the layer that `i` means
 * @saw_layer: set when a formula looked at `i`
 * @path: the last fact that was there, for errors
 * @depth: of formulas that wait for others
 * @searched: entries of lists that were looked at
 * @short_list: the first list that has no entry for a layer, or ""
 * @checks: names are looked up in branches that are not taken as well
 */
struct expr_scope {
	int (*variable)(void *arg, const char *name, size_t len, struct expr_value *out,
			struct fault *f);
	void *arg;
	const struct expr_facts *facts;
	unsigned int layer;
	bool saw_layer;
	char path[EXPR_PATH_MAX];
	unsigned int depth;
	unsigned int searched;
	char short_list[EXPR_PATH_MAX];
	bool checks;
};

/*
 * Evaluates @text up to its end or one of @stops outside parentheses; *@end is
 * set to where it stopped. Numbers are finite. -EINVAL for what is no formula.
 */
int expr_eval(struct expr_scope *scope, const char *text, const char *stops, const char **end,
	      struct expr_value *out, struct fault *f);

/*
 * Is @text a formula up to its end or one of @stops? Nothing is looked up but, with
 * scope->checks, names.
 */
int expr_check(struct expr_scope *scope, const char *text, const char *stops, const char **end,
	       struct fault *f);

/* Looks a fact up. */
void expr_fact(const struct expr_facts *facts, const char *path, struct expr_value *out);

#endif
