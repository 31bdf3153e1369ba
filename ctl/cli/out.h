/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one emitter of results. A command describes tables and fills rows; the
 * emitter prints text for people or, with -j, one JSON document whose field
 * names are stable. Nothing reaches standard output by any other way.
 */
#ifndef GPUCTL_OUT_H
#define GPUCTL_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Rows of tables leave trailing fields out on purpose. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#include "base/fault.h"

struct json_object;
struct out;
struct out_table;

enum out_column_flag {
	OUT_RIGHT = 1, /* align the text to the right */
	OUT_OPTIONAL = 2, /* leave the column out when no row fills it */
};

/**
 * struct out_column - a column of a table, or a line of a record
 * @name: field in JSON (snake_case, stable); NULL for a column in text only
 * @title: heading in text; NULL for a field in JSON only
 * @flags: enum out_column_flag
 */
struct out_column {
	const char *name;
	const char *title;
	unsigned int flags;
};

enum out_layout {
	OUT_TABLE, /* text: heading and rows; JSON: array of objects */
	OUT_RECORDS, /* text: one "title value" line a field; JSON: array of objects */
	OUT_LINES, /* text: rows without a heading; JSON: array of objects */
	OUT_SINGLE, /* as OUT_RECORDS for exactly one row; JSON: object */
};

struct out *out_new(FILE *file);
void out_free(struct out *out);
void out_set_json(struct out *out, bool json);
bool out_is_json(const struct out *out);

/*
 * Start a table. @name is its field in the JSON document; NULL (OUT_SINGLE
 * only) puts the fields at the top of the document; a name that was used before
 * continues that table. The column array must
 * outlive the table; it ends with an all-NULL entry.
 */
struct out_table *out_table(struct out *out, const char *name, const struct out_column *columns,
			    enum out_layout layout);

/* A table inside the row that @parent is at; text shows it below that row, indented. */
struct out_table *out_sub(struct out_table *parent, const char *name,
			  const struct out_column *columns, enum out_layout layout);

/* Start a row; the setters below fill it. What is not set is "-" in a table and absent in JSON. */
void out_row(struct out_table *table);

/*
 * Setters; @column is the name in JSON, or the title of a text-only column.
 * NULL strings are null in JSON and "-" in text.
 */
void out_str(struct out_table *table, const char *column, const char *value);
void out_strf(struct out_table *table, const char *column, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void out_uint(struct out_table *table, const char *column, uint64_t value);
void out_int(struct out_table *table, const char *column, int64_t value);
void out_bool(struct out_table *table, const char *column, bool value);
void out_real(struct out_table *table, const char *column, double value, int digits);
/* Bytes: "79.6 GiB" in text, the number in JSON. */
void out_bytes(struct out_table *table, const char *column, uint64_t bytes);
/* Milliseconds since the epoch: local time in text, the number in JSON. */
void out_time(struct out_table *table, const char *column, uint64_t ms);
/* Strings: joined by ", " in text, an array in JSON. */
void out_list(struct out_table *table, const char *column, const char *const *items, size_t n);
/* Any value (ownership passes; NULL: null) with a text of its own. */
void out_cell(struct out_table *table, const char *column, struct json_object *value,
	      const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Only the text of a cell, replacing what a setter wrote there; JSON keeps its value. */
void out_text(struct out_table *table, const char *column, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A line of text between tables; absent in JSON. */
void out_line(struct out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A list of strings that JSON carries at the top as @name and text as lines with @prefix. */
void out_note(struct out *out, const char *name, const char *prefix, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Without headings tables begin with their first row. */
void out_set_headings(struct out *out, bool headings);
/*
 * Print only the first table, with these columns in this order; @columns is a list with commas
 * of titles or names, in any case. In JSON the rows have only these fields. 0, also
 * where there is no table, or -EINVAL with the columns that there are.
 */
int out_choose(struct out *out, const char *columns, struct fault *fault);

/*
 * Print what was collected and start anew; returns 0 or a negative errno of
 * the write. With out_stream() JSON documents take one line each.
 */
void out_stream(struct out *out);
int out_flush(struct out *out);
bool out_empty(const struct out *out);

/* The text of what was collected, for an error's further lines; caller frees. */
char *out_render_text(struct out *out);

#endif /* GPUCTL_OUT_H */
