// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/cli/out.c ctl/cli/out_print.c ctl/base/fault.c ctl/base/text.c
// packages: json-c
/*
 * Results with any text in them: what a driver, a process or an admin calls
 * itself. JSON stays JSON and says the same text; in text a result cannot play
 * with the terminal.
 */
#include <json-c/json.h>

#include "cli/out.h"
#include "fuzz.h"

static const struct out_column columns[] = {
	{ "name", "NAME" }, { "value", "VALUE", OUT_RIGHT }, { "list", "LIST", OUT_OPTIONAL },
	{ "flag", "FLAG" }, { "size", NULL }, { NULL, NULL },
};

static char *print(const char *const *texts, size_t n, uint8_t how, bool json)
{
	char *text = NULL;
	size_t size, i;
	FILE *file = open_memstream(&text, &size);
	struct out *out = out_new(file);
	struct out_table *table, *sub;

	out_set_json(out, json);
	table = out_table(out, "rows", columns, (enum out_layout)(how % 3));
	for (i = 0; i < n; i++) {
		out_row(table);
		out_str(table, "name", texts[i]);
		out_int(table, "value", (int64_t)(i - how));
		if (how & 4)
			out_list(table, "list", texts, i);
		if (how & 8)
			out_strf(table, "flag", "%s|%s", texts[i], texts[n - 1]);
		out_bytes(table, "size", (uint64_t)how << i);
		if (how & 16) {
			sub = out_sub(table, "more", columns, OUT_TABLE);
			out_row(sub);
			out_str(sub, "name", texts[n - 1 - i]);
		}
	}
	if (how & 32)
		out_note(out, "warnings", "warning: ", "%s", texts[0]);
	must(!out_flush(out));
	out_free(out);
	fclose(file);
	return text;
}

/* It is strict JSON, and text that is ASCII comes back as it went in. */
static void check_json(const char *document, const char *const *texts, size_t n, bool ascii)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *object, *rows, *name;
	size_t i;

	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	object = json_tokener_parse_ex(tokener, document, -1);
	json_tokener_free(tokener);
	must(object && json_object_object_get_ex(object, "rows", &rows));
	must(json_object_array_length(rows) == n);
	for (i = 0; ascii && i < n; i++) {
		must(json_object_object_get_ex(json_object_array_get_idx(rows, i), "name", &name));
		must(!strcmp(json_object_get_string(name), texts[i]));
	}
	json_object_put(object);
}

static bool is_ascii(const char *s)
{
	while (*s > 0)
		s++;
	return !*s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_parts parts = { data + 1, size - 1 };
	char *texts[6] = { NULL };
	bool ascii = true;
	size_t n, i;
	char *text;

	if (!size)
		return 0;
	for (n = 0; n < 6 && (parts.size || !n); n++) {
		texts[n] = fuzz_part_text(&parts);
		ascii = ascii && is_ascii(texts[n]);
	}
	text = print((const char *const *)texts, n, data[0], false);
	must(!strchr(text, '\033'));
	free(text);
	text = print((const char *const *)texts, n, data[0], true);
	check_json(text, (const char *const *)texts, n, ascii);
	free(text);
	for (i = 0; i < n; i++)
		free(texts[i]);
	return 0;
}
