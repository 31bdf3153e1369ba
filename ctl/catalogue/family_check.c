// SPDX-License-Identifier: GPL-2.0-only
/*
 * An admin's family is read when a model of it is sized, perhaps months later.
 * So its formulas are read once when the file is: they are evaluated without a
 * file, and without looking at what they would give.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "expr.h"
#include "family_check.h"

/* Lines that are words, not formulas. */
static bool is_words(const char *key)
{
	static const char *const keys[] = { "like",  "model_types", "gguf",  "guess",
					    "needs", "defaults",    "source" };
	const char *dot = strchr(key, '.');
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(key, keys[i]))
			return true;
	return dot && !strcmp(dot, ".model");
}

static bool is_list(const char *key)
{
	const char *dot = strchr(key, '.');

	return dot && (!strcmp(dot, ".tensors") || !strcmp(dot, ".kept"));
}

static int check_group(const char *value, struct fault *f)
{
	static const char *const groups[] = {
		"text", "embedding", "head", "final", "vision", "mtp"
	};
	size_t i;

	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (!strcmp(value, groups[i]))
			return 0;
	fault_set(f, EINVAL, "there is no group \"%.40s\"; known are", value);
	for (i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		fault_add(f, " %s", groups[i]);
	return -EINVAL;
}

/* "name[rows, columns] name[length] ..." */
static int check_list(struct expr_scope *scope, const char *text, struct fault *f)
{
	size_t len;
	int err;

	for (;;) {
		text += strspn(text, " \t");
		if (!*text)
			return 0;
		len = strcspn(text, "[");
		if (!text[len] || !len)
			return fault_set(f, EINVAL, "\"%.40s\": name[rows, columns] is wanted",
					 text);
		text += len;
		do {
			err = expr_check(scope, text + 1, ",]", &text, f);
		} while (!err && *text == ',');
		if (err)
			return err;
		if (*text != ']')
			return fault_set(f, EINVAL, "] is missing");
		text++;
	}
}

static int check_value(struct expr_scope *scope, const char *key, const char *value,
		       struct fault *f)
{
	const char *dot = strchr(key, '.'), *end;

	if (is_words(key))
		return 0;
	if (dot && !strcmp(dot, ".group"))
		return check_group(value, f);
	if (is_list(key))
		return check_list(scope, value, f);
	return expr_check(scope, value, "", &end, f);
}

int family_check_line(const char *key, const char *value, struct fault *f)
{
	struct expr_scope scope = { .checks = false };
	int err = check_value(&scope, key, value, f);

	if (err)
		fault_prefix(f, "%s", key);
	return err;
}

static int is_known(void *arg, const char *name, size_t len, struct expr_value *out,
		    struct fault *f)
{
	(void)out;
	(void)f;
	return family_line(arg, name, len) < 0 ? -ENOENT : 0;
}

int family_check_names(const struct cat_family *family, struct fault *f)
{
	struct expr_scope scope = { .variable = is_known,
				    .arg = (void *)(uintptr_t)family,
				    .checks = true };
	size_t i;
	int err = 0;

	for (i = 0; !err && i < family->n_own; i++) {
		err = check_value(&scope, family->own[i].key, family->own[i].value, f);
		if (err)
			fault_prefix(f, "[%s] %s", family->id, family->own[i].key);
	}
	return err;
}
