/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text format of the catalogues: sections of "key = value" lines. It is
 * described for admins in gpuctl-catalogue(5).
 */
#ifndef GPUCTL_CATALOGUE_CONF_H
#define GPUCTL_CATALOGUE_CONF_H

#include <stdbool.h>
#include <stddef.h>

#include "fault.h"

/**
 * struct conf_item - one thing that the parser found
 * @section: the section it stands in
 * @key: NULL when the section just began
 * @value: trimmed, never empty; NULL when @key is
 * @inherited: repeated from [defaults] of the same file, so that a line of the
 *	section itself may say otherwise
 * @file: path as given to conf_parse()
 * @line: counted from 1; for an inherited item the line of the section
 *
 * All strings are valid during the call only.
 */
struct conf_item {
	const char *section;
	const char *key;
	const char *value;
	bool inherited;
	const char *file;
	unsigned int line;
};

/*
 * Returns 0, or a negative errno after fault_set(); conf_parse() puts file and
 * line before the text.
 */
typedef int (*conf_fn)(const struct conf_item *item, void *arg, struct fault *f);

/*
 * Reads @len bytes of @text, which came from @file, and calls @fn for each
 * section and each line in order. Stops at the first error.
 */
int conf_parse(const char *file, const char *text, size_t len, conf_fn fn, void *arg,
	       struct fault *f);

/* The same for sections that are named by people: capitals and underscores as well. */
int conf_parse_names(const char *file, const char *text, size_t len, conf_fn fn, void *arg,
		     struct fault *f);

/* The same for a file that is keys alone, without a section; keys may have dashes. */
int conf_parse_keys(const char *file, const char *text, size_t len, conf_fn fn, void *arg,
		    struct fault *f);

/* A whole number without sign, and nothing after it; -EINVAL or -ERANGE. */
int conf_whole(const char *value, unsigned long long min, unsigned long long max,
	       unsigned long long *out, struct fault *f);

/* A number with at most six decimals, no exponent. */
int conf_decimal(const char *value, double min, double max, double *out, struct fault *f);

int conf_bool(const char *value, bool *out, struct fault *f);

/*
 * Splits a list at blanks into newly allocated strings and a newly allocated
 * array; conf_list_free() frees both and takes an empty list.
 */
int conf_list(const char *value, char ***out, size_t *n, struct fault *f);
void conf_list_free(char **list, size_t n);

#endif
