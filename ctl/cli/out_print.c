// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: text of the emitter
 *
 * Tables are as wide as the widest of their cells, so nothing is printed before all is known.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/out_private.h"

/* Columns that print_columns() prints, and their widths. */
struct shown {
	size_t *columns, *widths;
	size_t n;
};

static bool column_shown(const struct out_table *table, size_t column)
{
	const struct out_column *c = &table->columns[column];
	size_t i;

	if (!c->title)
		return false;
	if (!(c->flags & OUT_OPTIONAL))
		return true;
	for (i = 0; i < table->n_rows; i++)
		if (table->rows[i].texts[column] && strcmp(table->rows[i].texts[column], "-"))
			return true;
	return false;
}

static const char *cell_text(const struct out_table *table, const struct out_row_data *row,
			     size_t column)
{
	if (!row)
		return table->columns[column].title;
	return row->texts[column] ? row->texts[column] : "-";
}

static void print_blanks(FILE *f, size_t n)
{
	static const char blanks[] = "                                ";

	for (; n > sizeof(blanks) - 1; n -= sizeof(blanks) - 1)
		fwrite(blanks, 1, sizeof(blanks) - 1, f);
	fwrite(blanks, 1, n, f);
}

/* One line; @row NULL prints the heading. Blanks at the end are never printed. */
static void print_line(FILE *f, const struct out_table *table, const struct out_row_data *row,
		       const struct shown *shown, int indent)
{
	size_t pending = (size_t)indent, i;

	for (i = 0; i < shown->n; i++) {
		const char *s = cell_text(table, row, shown->columns[i]);
		size_t pad = shown->widths[i] - text_width(s);

		if (table->columns[shown->columns[i]].flags & OUT_RIGHT) {
			pending += pad;
			pad = 0;
		}
		if (*s) {
			print_blanks(f, pending);
			fputs(s, f);
		} else {
			pad += pending;
		}
		pending = pad + 2;
	}
	fputc('\n', f);
}

static void print_table(FILE *f, const struct out_table *table, int indent);

/* Which columns are printed, in which order and how wide. */
static void show_columns(const struct out_table *table, bool heading, struct shown *shown)
{
	size_t i, j, width;

	shown->columns = mem_zalloc(table->n_columns + table->n_chosen, sizeof(size_t));
	shown->widths = mem_zalloc(table->n_columns + table->n_chosen, sizeof(size_t));
	shown->n = 0;
	for (i = 0; i < table->n_chosen; i++)
		shown->columns[shown->n++] = table->chosen[i];
	for (i = 0; !table->n_chosen && i < table->n_columns; i++)
		if (column_shown(table, i))
			shown->columns[shown->n++] = i;
	for (i = 0; i < shown->n; i++) {
		if (heading)
			shown->widths[i] = text_width(table->columns[shown->columns[i]].title);
		for (j = 0; j < table->n_rows; j++) {
			width = text_width(cell_text(table, &table->rows[j], shown->columns[i]));
			if (width > shown->widths[i])
				shown->widths[i] = width;
		}
	}
}

static void print_columns(FILE *f, const struct out_table *table, int indent)
{
	bool heading = table->layout == OUT_TABLE && !table->out->no_headings;
	struct shown shown;
	size_t i, j;

	show_columns(table, heading, &shown);
	if (table->n_rows && heading)
		print_line(f, table, NULL, &shown, indent);
	for (j = 0; j < table->n_rows; j++) {
		print_line(f, table, &table->rows[j], &shown, indent);
		for (i = 0; !table->n_chosen && i < table->rows[j].n_subs; i++)
			print_table(f, table->rows[j].subs[i], indent + 2);
	}
	free(shown.columns);
	free(shown.widths);
}

static void print_records(FILE *f, const struct out_table *table, int indent)
{
	size_t width = 0, i, j;

	for (i = 0; i < table->n_columns; i++) {
		bool used = false;

		for (j = 0; j < table->n_rows; j++)
			used = used ||
			       (table->rows[j].texts[i] && strcmp(table->rows[j].texts[i], "-"));
		if (used && text_width(table->columns[i].title) > width)
			width = text_width(table->columns[i].title);
	}
	for (j = 0; j < table->n_rows; j++) {
		const struct out_row_data *row = &table->rows[j];

		if (j)
			fputc('\n', f);
		for (i = 0; i < table->n_columns; i++) {
			const char *title = table->columns[i].title;

			if (!title || !row->texts[i] || !strcmp(row->texts[i], "-"))
				continue;
			fprintf(f, "%*s%s%*s  %s\n", indent, "", title,
				(int)(width - text_width(title)), "", row->texts[i]);
		}
		for (i = 0; i < row->n_subs; i++)
			print_table(f, row->subs[i], indent + 2);
	}
}

static void print_table(FILE *f, const struct out_table *table, int indent)
{
	if (table->hidden)
		return;
	if (table->layout == OUT_TABLE || table->layout == OUT_LINES)
		print_columns(f, table, indent);
	else
		print_records(f, table, indent);
}

void out_print_text(const struct out *out, FILE *f)
{
	size_t i;

	for (i = 0; i < out->n_items; i++) {
		if (out->items[i].table)
			print_table(f, out->items[i].table, 0);
		else
			fprintf(f, "%s\n", out->items[i].text);
	}
}

char *out_render_text(struct out *out)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f;

	f = open_memstream(&text, &len);
	if (!f)
		return mem_strdup("");
	out_print_text(out, f);
	fclose(f);
	return text ? text : mem_strdup("");
}
