// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the emitter
 *
 * Everything a command says is collected as items in their order: tables,
 * lines and notes. A row keeps a JSON object or the texts of its cells, as the output
 * is for programs or for people, so that both come from the same calls. Printing
 * happens in out_flush(): only then are the widths of columns known.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "cli/out_private.h"

struct out *out_new(FILE *file)
{
	struct out *out = mem_zalloc(1, sizeof(*out));

	out->file = file;
	out->document = json_object_new_object();
	return out;
}

void out_set_json(struct out *out, bool json)
{
	out->json = json;
}

bool out_is_json(const struct out *out)
{
	return out->json;
}

void out_set_headings(struct out *out, bool headings)
{
	out->no_headings = !headings;
}

void out_stream(struct out *out)
{
	out->stream = true;
}

bool out_empty(const struct out *out)
{
	return !out->n_items;
}

static void table_free(struct out_table *table)
{
	size_t i, j;

	for (i = 0; i < table->n_rows; i++) {
		struct out_row_data *row = &table->rows[i];

		for (j = 0; row->texts && j < table->n_columns; j++)
			free(row->texts[j]);
		for (j = 0; j < row->n_subs; j++)
			table_free(row->subs[j]);
		free(row->texts);
		free(row->subs);
	}
	free(table->rows);
	free(table->chosen);
	free(table);
}

static void out_clear(struct out *out)
{
	size_t i;

	for (i = 0; i < out->n_items; i++) {
		free(out->items[i].text);
		if (out->items[i].table)
			table_free(out->items[i].table);
	}
	free(out->items);
	out->items = NULL;
	out->n_items = 0;
	json_object_put(out->document);
	out->document = json_object_new_object();
}

void out_free(struct out *out)
{
	if (!out)
		return;
	out_clear(out);
	json_object_put(out->document);
	free(out);
}

static struct out_item *out_add_item(struct out *out)
{
	struct out_item *item;

	out->items = mem_push(out->items, out->n_items, sizeof(*out->items));
	item = &out->items[out->n_items++];
	memset(item, 0, sizeof(*item));
	return item;
}

static struct out_table *table_new(struct out *out, struct json_object *parent, const char *name,
				   const struct out_column *columns, enum out_layout layout)
{
	struct out_table *table = mem_zalloc(1, sizeof(*table));
	const struct out_column *c;

	table->out = out;
	table->columns = columns;
	table->layout = layout;
	table->hidden = true;
	for (c = columns; c->name || c->title; c++) {
		table->n_columns++;
		if (c->title)
			table->hidden = false;
	}
	if (!out->json)
		return table;
	if (!name) {
		table->target = parent;
		return table;
	}
	/* The same table once more, as when one command does a thing several times: it goes on. */
	if (layout != OUT_SINGLE && json_object_object_get_ex(parent, name, &table->target) &&
	    json_object_is_type(table->target, json_type_array))
		return table;
	table->target = layout == OUT_SINGLE ? json_object_new_object() : json_object_new_array();
	json_object_object_add(parent, name, table->target);
	return table;
}

struct out_table *out_table(struct out *out, const char *name, const struct out_column *columns,
			    enum out_layout layout)
{
	struct out_table *table = table_new(out, out->document, name, columns, layout);

	out_add_item(out)->table = table;
	return table;
}

static struct out_row_data *current_row(struct out_table *table)
{
	if (!table->n_rows)
		out_row(table);
	return &table->rows[table->n_rows - 1];
}

struct out_table *out_sub(struct out_table *parent, const char *name,
			  const struct out_column *columns, enum out_layout layout)
{
	struct out_row_data *row = current_row(parent);
	struct out_table *table = table_new(parent->out, row->json, name, columns, layout);

	row->subs = mem_grow(row->subs, row->n_subs + 1, sizeof(struct out_table *));
	row->subs[row->n_subs++] = table;
	return table;
}

void out_row(struct out_table *table)
{
	struct out_row_data *row;

	/* A second row of a single record would overwrite the first in JSON only. */
	if (table->layout == OUT_SINGLE && table->n_rows)
		abort();
	table->rows = mem_push(table->rows, table->n_rows, sizeof(*table->rows));
	row = &table->rows[table->n_rows++];
	memset(row, 0, sizeof(*row));
	if (!table->out->json) {
		row->texts = mem_zalloc(table->n_columns, sizeof(char *));
	} else if (table->layout == OUT_SINGLE) {
		row->json = table->target;
	} else {
		row->json = json_object_new_object();
		json_object_array_add(table->target, row->json);
	}
}

static const char *column_name(const struct out_column *c)
{
	return c->name ? c->name : c->title;
}

/*
 * Columns are named: a wrong name is a mistake of ours, found by the first run. Cells are set in
 * the order of the columns but for some that a row lacks: look from the last one on, and for the
 * very string first, which the linker keeps once for the whole program.
 */
static size_t column_index(struct out_table *table, const char *name)
{
	size_t i;

	for (i = table->next; i < table->n_columns; i++)
		if (column_name(&table->columns[i]) == name)
			goto found;
	for (i = 0; i < table->n_columns; i++)
		if (!strcmp(column_name(&table->columns[i]), name))
			goto found;
	fprintf(stderr, "gpuctl: no column %s in this table\n", name);
	abort();
found:
	table->next = i + 1;
	return i;
}

/* A string of JSON is UTF-8, whatever its origin calls itself. */
static struct json_object *new_string(const char *value)
{
	struct json_object *string;
	const char *at = value;
	char *copy;

	while (*at && (unsigned char)*at < 0x80)
		at++;
	if (!*at)
		return json_object_new_string_len(value, (int)(at - value));
	copy = mem_strdup(value);
	text_utf8(copy);
	string = json_object_new_string(copy);
	free(copy);
	return string;
}

/**
 * struct cell - where a value goes. Texts are for people, values for programs: only those that are
 * printed are made.
 * @value: a value for JSON is wanted
 * @text: a text is wanted
 */
struct cell {
	struct out_table *table;
	struct out_row_data *row;
	size_t column;
	bool value, text;
};

static struct cell cell_of(struct out_table *table, const char *name)
{
	struct cell cell = { table, current_row(table), column_index(table, name), false, false };
	const struct out_column *column = &table->columns[cell.column];
	bool json = table->out->json;

	cell.value = json && column->name;
	cell.text = !json && column->title;
	return cell;
}

/*
 * The object of a single record can be that of other tables too, so a key of a record is looked
 * for; that of a row of many is known to be new.
 */
static void cell_set_value(const struct cell *cell, struct json_object *value)
{
	unsigned int flags = JSON_C_OBJECT_ADD_CONSTANT_KEY;
	uint64_t bit = cell->column < 64 ? UINT64_C(1) << cell->column : 0;

	if (cell->table->layout != OUT_SINGLE && bit && !(cell->row->keys & bit))
		flags |= JSON_C_OBJECT_ADD_KEY_IS_NEW;
	cell->row->keys |= bit;
	json_object_object_add_ex(cell->row->json, cell->table->columns[cell->column].name, value,
				  flags);
}

static void cell_set_text(const struct cell *cell, char *text)
{
	char **where = &cell->row->texts[cell->column];

	free(*where);
	text_tame(text, false);
	*where = text;
}

void out_str(struct out_table *table, const char *column, const char *value)
{
	struct cell cell = cell_of(table, column);

	if (cell.value)
		cell_set_value(&cell, value ? new_string(value) : NULL);
	if (cell.text)
		cell_set_text(&cell, mem_strdup(value ? value : "-"));
}

void out_strf(struct out_table *table, const char *column, const char *fmt, ...)
{
	struct cell cell = cell_of(table, column);
	va_list ap;
	char *s;

	if (!cell.value && !cell.text)
		return;
	va_start(ap, fmt);
	s = mem_vprintf(fmt, ap);
	va_end(ap);
	if (cell.value)
		cell_set_value(&cell, new_string(s));
	if (cell.text)
		cell_set_text(&cell, s);
	else
		free(s);
}

void out_uint(struct out_table *table, const char *column, uint64_t value)
{
	struct cell cell = cell_of(table, column);

	if (cell.value)
		cell_set_value(&cell, json_object_new_uint64(value));
	if (cell.text)
		cell_set_text(&cell, mem_printf("%llu", (unsigned long long)value));
}

void out_int(struct out_table *table, const char *column, int64_t value)
{
	struct cell cell = cell_of(table, column);

	if (cell.value)
		cell_set_value(&cell, json_object_new_int64(value));
	if (cell.text)
		cell_set_text(&cell, mem_printf("%lld", (long long)value));
}

void out_bool(struct out_table *table, const char *column, bool value)
{
	struct cell cell = cell_of(table, column);

	if (cell.value)
		cell_set_value(&cell, json_object_new_boolean(value));
	if (cell.text)
		cell_set_text(&cell, mem_strdup(value ? "yes" : "no"));
}

void out_real(struct out_table *table, const char *column, double value, int digits)
{
	struct cell cell = cell_of(table, column);

	if (cell.value)
		cell_set_value(&cell, json_object_new_double(value));
	if (cell.text)
		cell_set_text(&cell, mem_printf("%.*f", digits, value));
}

void out_bytes(struct out_table *table, const char *column, uint64_t bytes)
{
	struct cell cell = cell_of(table, column);
	char buf[TEXT_QUANTITY];

	if (cell.value)
		cell_set_value(&cell, json_object_new_uint64(bytes));
	if (cell.text)
		cell_set_text(&cell, mem_strdup(text_bytes(buf, bytes)));
}

void out_time(struct out_table *table, const char *column, uint64_t ms)
{
	struct cell cell = cell_of(table, column);
	char buf[TEXT_QUANTITY];

	if (cell.value)
		cell_set_value(&cell, json_object_new_uint64(ms));
	if (cell.text)
		cell_set_text(&cell, mem_strdup(text_time(buf, ms)));
}

void out_list(struct out_table *table, const char *column, const char *const *items, size_t n)
{
	struct cell cell = cell_of(table, column);
	struct json_object *array = cell.value ? json_object_new_array() : NULL;
	struct text text = { 0 };
	size_t i;

	for (i = 0; i < n; i++) {
		if (array)
			json_object_array_add(array, new_string(items[i]));
		else if (cell.text)
			text_join(&text, ", ", items[i]);
	}
	if (cell.value)
		cell_set_value(&cell, array);
	if (cell.text)
		cell_set_text(&cell, text.text ? text.text : mem_strdup("-"));
}

void out_cell(struct out_table *table, const char *column, struct json_object *value,
	      const char *fmt, ...)
{
	struct cell cell = cell_of(table, column);
	va_list ap;

	if (cell.value)
		cell_set_value(&cell, value);
	else
		json_object_put(value);
	if (!cell.text)
		return;
	va_start(ap, fmt);
	cell_set_text(&cell, mem_vprintf(fmt, ap));
	va_end(ap);
}

void out_text(struct out_table *table, const char *column, const char *fmt, ...)
{
	struct cell cell = cell_of(table, column);
	va_list ap;

	if (!cell.text)
		return;
	va_start(ap, fmt);
	cell_set_text(&cell, mem_vprintf(fmt, ap));
	va_end(ap);
}

void out_line(struct out *out, const char *fmt, ...)
{
	struct out_item *item = out_add_item(out);
	va_list ap;

	va_start(ap, fmt);
	item->text = mem_vprintf(fmt, ap);
	va_end(ap);
	text_tame(item->text, true);
}

static void document_add_note(struct json_object *document, const char *name, const char *text)
{
	struct json_object *array;

	if (!json_object_object_get_ex(document, name, &array)) {
		array = json_object_new_array();
		json_object_object_add(document, name, array);
	}
	json_object_array_add(array, new_string(text));
}

void out_note(struct out *out, const char *name, const char *prefix, const char *fmt, ...)
{
	struct out_item *item;
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = mem_vprintf(fmt, ap);
	va_end(ap);

	if (out->json)
		document_add_note(out->document, name, s);
	item = out_add_item(out);
	item->text = mem_printf("%s%s", prefix, s);
	text_tame(item->text, false);
	free(s);
}

/* The column with this name or title that the output can have; n_columns when there is none. */
static size_t find_column(const struct out_table *table, const char *word)
{
	size_t i;

	for (i = 0; i < table->n_columns; i++) {
		const struct out_column *c = &table->columns[i];

		if (!(table->out->json ? c->name : c->title))
			continue;
		if ((c->name && !strcasecmp(c->name, word)) ||
		    (c->title && !strcasecmp(c->title, word)))
			break;
	}
	return i;
}

static char *column_names(const struct out_table *table)
{
	struct text names = { 0 };
	size_t i;

	for (i = 0; i < table->n_columns; i++) {
		const struct out_column *c = &table->columns[i];

		if (table->out->json ? c->name : c->title)
			text_join(&names, ", ", table->out->json ? c->name : c->title);
	}
	return names.text ? names.text : mem_strdup("none");
}

static bool out_is_chosen(const struct out_table *table, const char *name)
{
	size_t i;

	for (i = 0; i < table->n_chosen; i++)
		if (!strcmp(table->columns[table->chosen[i]].name, name))
			return true;
	return false;
}

/* Leave the chosen fields of each row alone in the document. */
static void prune_document(struct out *out, const struct out_table *table)
{
	size_t i;

	json_object_object_foreach(out->document, key, value) {
		if (value != table->target)
			json_object_object_del(out->document, key);
	}
	for (i = 0; i < table->n_rows; i++) {
		json_object_object_foreach(table->rows[i].json, field, unused) {
			(void)unused;
			if (!out_is_chosen(table, field))
				json_object_object_del(table->rows[i].json, field);
		}
	}
}

/* All other tables, lines and notes go. */
static void keep_item(struct out *out, const struct out_table *table)
{
	size_t i, kept = 0;

	for (i = 0; i < out->n_items; i++) {
		if (out->items[i].table == table) {
			out->items[kept++] = out->items[i];
			continue;
		}
		free(out->items[i].text);
		if (out->items[i].table)
			table_free(out->items[i].table);
	}
	out->n_items = kept;
}

static struct out_table *first_table(const struct out *out)
{
	size_t i;

	for (i = 0; i < out->n_items; i++)
		if (out->items[i].table && out->items[i].table->layout == OUT_TABLE)
			return out->items[i].table;
	return NULL;
}

int out_choose(struct out *out, const char *columns, struct fault *fault)
{
	struct out_table *table = first_table(out);
	char *copy, *rest, *word, *names;
	int err = 0;

	if (!table)
		return 0;
	copy = mem_strdup(columns);
	rest = copy;
	while (!err && (word = strsep(&rest, ","))) {
		size_t i = find_column(table, word);

		if (i == table->n_columns) {
			names = column_names(table);
			err = fault_set(fault, EINVAL, "no column \"%s\": the columns are %s", word,
					names);
			free(names);
			break;
		}
		table->chosen = mem_push(table->chosen, table->n_chosen, sizeof(size_t));
		table->chosen[table->n_chosen++] = i;
	}
	free(copy);
	if (err) {
		out_clear(out);
		return err;
	}
	if (out->json)
		prune_document(out, table);
	keep_item(out, table);
	return 0;
}

int out_flush(struct out *out)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE;

	errno = 0;
	if (out->json) {
		if (!out->stream)
			flags |= JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED;
		if (json_object_object_length(out->document))
			fprintf(out->file, "%s\n",
				json_object_to_json_string_ext(out->document, flags));
	} else {
		out_print_text(out, out->file);
	}
	if ((fflush(out->file) || ferror(out->file)) && !out->error)
		out->error = errno ? -errno : -EIO;
	out_clear(out);
	return out->error;
}
