// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/cli/out.c ctl/cli/out_print.c ctl/base/text.c ctl/base/fault.c
// packages: json-c
/* The emitter: the same calls give text for people and JSON for programs. */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>

#include "base/text.h"
#include "cli/out.h"
#include "tap.h"

static char *text;
static size_t size;

static const struct out_column columns[] = {
	{ "slot", "SLOT" },
	{ "memory", "MEMORY", OUT_RIGHT },
	{ "note", "NOTE", OUT_OPTIONAL },
	{ "id", NULL },
	{ NULL, "LAST" },
	{ NULL, NULL },
};

static const struct out_column inner[] = { { "index", "BAR" }, { NULL, NULL } };

static void fill(struct out *out)
{
	struct out_table *t = out_table(out, "slots", columns, OUT_TABLE), *sub;

	out_row(t);
	out_str(t, "slot", "3-0");
	out_bytes(t, "memory", 128ull << 30);
	out_uint(t, "id", 7);
	out_text(t, "LAST", "live");
	sub = out_sub(t, "bars", inner, OUT_TABLE);
	out_row(sub);
	out_uint(sub, "index", 1);
	out_row(t);
	out_str(t, "slot", NULL);
	out_note(out, "warnings", "! ", "first");
	out_note(out, "warnings", "! ", "second");
	out_line(out, "2 slots");
}

static struct out *open_out(FILE **f, bool json)
{
	struct out *out;

	*f = open_memstream(&text, &size);
	out = out_new(*f);
	out_set_json(out, json);
	return out;
}

static void close_out(struct out *out, FILE *f)
{
	is_int(out_flush(out), 0, "printing");
	out_free(out);
	fclose(f);
}

static void test_text(void)
{
	FILE *f;
	struct out *out = open_out(&f, false);

	fill(out);
	close_out(out, f);
	is_str(text,
	       "SLOT   MEMORY  LAST\n"
	       "3-0   128 GiB  live\n"
	       "  BAR\n"
	       "  1\n"
	       "-           -  -\n"
	       "! first\n"
	       "! second\n"
	       "2 slots\n", "text");
	free(text);
}

static struct json_object *field(struct json_object *object, const char *name)
{
	struct json_object *value = NULL;

	json_object_object_get_ex(object, name, &value);
	return value;
}

static void test_json(void)
{
	struct json_object *document, *slots, *first, *second;
	FILE *f;
	struct out *out = open_out(&f, true);

	fill(out);
	close_out(out, f);
	document = json_tokener_parse(text);
	slots = field(document, "slots");
	is_int((intmax_t)json_object_array_length(slots), 2, "two rows");
	first = json_object_array_get_idx(slots, 0);
	second = json_object_array_get_idx(slots, 1);
	is_str(json_object_get_string(field(first, "slot")), "3-0", "a string");
	is_int(json_object_get_int64(field(first, "memory")), 128ll << 30, "bytes are bytes");
	is_int(json_object_get_int64(field(first, "id")), 7, "a field that only programs see");
	ok(!field(first, "LAST"), "a column that only people see");
	is_int((intmax_t)json_object_array_length(field(first, "bars")), 1, "a table inside a row");
	ok(json_object_object_get_ex(second, "slot", NULL) && !field(second, "slot"),
	   "null is null");
	ok(!json_object_object_get_ex(second, "memory", NULL), "what is not set is absent");
	is_int((intmax_t)json_object_array_length(field(document, "warnings")), 2, "notes");
	json_object_put(document);
	free(text);
}

static void test_records(void)
{
	static const struct out_column record[] = {
		{ "a", "short" }, { "b", "much longer" }, { "c", "none" }, { NULL, NULL }
	};
	struct json_object *document;
	struct out_table *t;
	FILE *f;
	struct out *out = open_out(&f, false);

	t = out_table(out, NULL, record, OUT_SINGLE);
	out_int(t, "a", -1);
	out_bool(t, "b", true);
	out_str(t, "c", NULL);
	close_out(out, f);
	is_str(text, "short        -1\nmuch longer  yes\n",
	       "a record: what is not known is left out");
	free(text);

	out = open_out(&f, true);
	t = out_table(out, NULL, record, OUT_SINGLE);
	out_int(t, "a", -1);
	close_out(out, f);
	document = json_tokener_parse(text);
	is_int(json_object_get_int(field(document, "a")), -1, "its fields are at the top in JSON");
	json_object_put(document);
	free(text);
}

static void test_stream(void)
{
	struct out_table *t;
	FILE *f;
	struct out *out = open_out(&f, true);
	int i;

	out_stream(out);
	for (i = 0; i < 2; i++) {
		t = out_table(out, NULL, inner, OUT_SINGLE);
		out_int(t, "index", i);
		is_int(out_flush(out), 0, "one document");
	}
	close_out(out, f);
	is_str(text, "{\"index\":0}\n{\"index\":1}\n", "one line a document, and none for nothing");
	free(text);
}

/* A name that is not the very string of the columns, cells in any order, and one that is set twice. */
static void put_twice(struct out *out)
{
	char name[] = "slot";
	struct out_table *t = out_table(out, "slots", columns, OUT_TABLE);

	out_row(t);
	out_text(t, "LAST", "a");
	out_uint(t, "id", 1);
	out_str(t, name, "0-0");
	out_text(t, "LAST", "b");
	out_uint(t, "id", 2);
	out_row(t);
	out_uint(t, "id", 3);
	t = out_table(out, "one", columns, OUT_SINGLE);
	out_uint(t, "id", 4);
	out_uint(t, "id", 5);
}

static void test_twice(void)
{
	FILE *f;
	struct out *out = open_out(&f, true);

	out_stream(out);
	put_twice(out);
	close_out(out, f);
	is_str(text, "{\"slots\":[{\"id\":2,\"slot\":\"0-0\"},{\"id\":3}],\"one\":{\"id\":5}}\n",
	       "of a cell that is set twice the last counts in JSON, and stands there once");
	free(text);
	out = open_out(&f, false);
	put_twice(out);
	close_out(out, f);
	ok(strstr(text, "0-0        -  b\n"), "and in text: %s", text);
	free(text);
}

static void test_error(void)
{
	FILE *full = fopen("/dev/full", "w");
	struct out *out;

	if (!full) {
		ok(true, "no /dev/full here # SKIP");
		return;
	}
	out = out_new(full);
	out_line(out, "text");
	is_int(out_flush(out), -ENOSPC, "a full device is told");
	is_int(out_flush(out), -ENOSPC, "and not forgotten");
	out_free(out);
	fclose(full);
}

static void test_width(void)
{
	static const struct out_column two[] = { { NULL, "A" }, { NULL, "B" }, { NULL, NULL } };
	struct out_table *t;
	FILE *f;
	struct out *out = open_out(&f, false);

	t = out_table(out, "x", two, OUT_TABLE);
	out_row(t);
	out_text(t, "A", "\xc3\xa4");
	out_text(t, "B", "x");
	out_row(t);
	out_text(t, "A", "a");
	out_text(t, "B", "%s", "");
	close_out(out, f);
	is_str(text, "A  B\n\xc3\xa4  x\na\n",
	       "letters of two bytes are one wide; no blanks at the end");
	free(text);
}

/* What a process or a driver calls itself cannot play with the terminal or break JSON. */
static void test_hostile(void)
{
	static const struct out_column columns[] = { { "name", "NAME" }, { NULL, NULL } };
	int json;

	for (json = 0; json < 2; json++) {
		FILE *f;
		struct out *out = open_out(&f, json);
		struct out_table *t = out_table(out, NULL, columns, OUT_SINGLE);

		out_row(t);
		out_str(t, "name", "a\033[2J\377");
		out_note(out, "warnings", "warning: ", "\033%s", "x");
		close_out(out, f);
		if (json) {
			ok(strstr(text, "a\\u001b[2J?") && !strchr(text, '\377'), "JSON: escaped, and UTF-8");
		} else {
			ok(strstr(text, "a?[2J?") && strstr(text, "warning: ?x"), "text: tame");
			ok(!strchr(text, '\033'), "text: no escape anywhere");
		}
		free(text);
	}
}

static void test_columns(void)
{
	struct fault fault = { "" };
	FILE *f;
	struct out *out = open_out(&f, false);

	fill(out);
	ok(out_choose(out, "memory,nothing", &fault), "a column that is not there");
	is_str(fault.text, "no column \"nothing\": the columns are SLOT, MEMORY, NOTE, LAST", "is named");
	out_free(out);
	fclose(f);
	free(text);

	out = open_out(&f, false);
	fill(out);
	is_int(out_choose(out, "LAST,slot", &fault), 0, "chosen columns");
	close_out(out, f);
	is_str(text, "LAST  SLOT\nlive  3-0\n-     -\n", "in the order of the request, without the rest");
	free(text);

	out = open_out(&f, false);
	fill(out);
	out_set_headings(out, false);
	is_int(out_choose(out, "slot,slot", &fault), 0, "one column twice");
	close_out(out, f);
	is_str(text, "3-0  3-0\n-    -\n", "without headings");
	free(text);

	out = open_out(&f, true);
	fill(out);
	is_int(out_choose(out, "ID,slot", &fault), 0, "fields");
	out_stream(out);
	close_out(out, f);
	is_str(text, "{\"slots\":[{\"slot\":\"3-0\",\"id\":7},{\"slot\":null}]}\n", "the same in JSON");
	free(text);
}

/* Wide characters take two columns, combining ones none, a byte that is no UTF-8 one. */
static void test_widths(void)
{
	is_int((intmax_t)text_width("abc"), 3, "Latin");
	is_int((intmax_t)text_width("\xe8\xae\xad\xe7\xbb\x83"), 4, "two Chinese characters");
	is_int((intmax_t)text_width("e\xcc\x81"), 1, "a letter and its accent");
	is_int((intmax_t)text_width("a\xff" "b"), 3, "no UTF-8");
}

int main(void)
{
	test_text();
	test_hostile();
	test_json();
	test_records();
	test_stream();
	test_twice();
	test_error();
	test_width();
	test_columns();
	test_widths();
	return tap_done();
}
