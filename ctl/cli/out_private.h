/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the emitter share among themselves. */
#ifndef GPUCTL_OUT_PRIVATE_H
#define GPUCTL_OUT_PRIVATE_H

#include <stdint.h>

#include "cli/out.h"

/**
 * struct out_row_data - a row
 * @json: its fields; NULL in an output for people
 * @texts: one text a column, NULL where none was set; NULL in JSON
 * @subs: tables below the row
 * @n_subs: how many
 * @keys: columns that @json has, a bit each, of those that a bit is for
 */
struct out_row_data {
	struct json_object *json;
	uint64_t keys;
	char **texts;
	struct out_table **subs;
	size_t n_subs;
};

struct out_table {
	struct out *out;
	const struct out_column *columns;
	size_t n_columns;
	enum out_layout layout;
	/* Array that rows go to, or the object of OUT_SINGLE; NULL in an output for people. */
	struct json_object *target;
	struct out_row_data *rows;
	size_t n_rows;
	size_t next; /* column that is likely to be set next */
	bool hidden; /* nothing in it has a text */
	size_t *chosen; /* columns of out_choose() in their order */
	size_t n_chosen;
};

/* A line or note when @text is set, else a table. */
struct out_item {
	char *text;
	struct out_table *table;
};

struct out {
	bool json;
	bool stream;
	bool no_headings;
	int error; /* of the first write that failed; it stays */
	FILE *file;
	struct json_object *document;
	struct out_item *items;
	size_t n_items;
};

/* All items, for people. */
void out_print_text(const struct out *out, FILE *f);

#endif /* GPUCTL_OUT_PRIVATE_H */
