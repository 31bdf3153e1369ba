// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/hub/name.c ctl/hub/listing.c ctl/hub/answer.c ctl/web/header.c ctl/size/scan.c ctl/base/text.c ctl/base/fault.c
// packages: json-c
/*
 * What a server answers: listings, headers, and names as people type them. The first byte
 * says which; of a listing no name leads out of a folder, and each refusal is one line.
 */
#include "cli/ctl.h"
#include "fuzz.h"
#include "hub/answer.h"
#include "hub/listing.h"

static void fuzz_listing(const char *text, size_t size)
{
	struct hub_listing list;
	struct fault f = { "" };
	size_t i;

	if (hub_listing_read(text, size, &list, &f))
		must(fuzz_is_line(f.text));
	else
		must(hub_is_sha(list.sha));
	for (i = 0; i < list.n; i++) {
		must(hub_file_is_safe(list.file[i].name) && hub_file_is_plain(list.file[i].name));
		must(*list.file[i].name != '/' && strncmp(list.file[i].name, "../", 3) &&
		     !strstr(list.file[i].name, "/../"));
		must(!list.file[i].sized || list.file[i].size <= HUB_FILE_SIZE_MAX);
		must(hub_listing_find(&list, list.file[i].name) == &list.file[i]);
	}
	hub_listing_free(&list);
}

static void fuzz_headers(const char *text, size_t size)
{
	static const struct hub_question question = { "host", "https://host", "a/b", "main", "c", true };
	struct hub_answer answer = { 0 };
	struct fault f = { "" };
	int ret;

	while (size) {
		const char *end = memchr(text, '\n', size);
		size_t n = end ? (size_t)(end + 1 - text) : size;

		hub_answer_header(&answer, text, n);
		must(!answer.ranged || (answer.sized && answer.from < answer.total));
		text += n;
		size -= n;
	}
	ret = hub_answer_refuse(&answer, &question, &f);
	must(ret > CTL_DONE && ret <= CTL_TIMEOUT && fuzz_is_line(f.text));
}

static void fuzz_name(const char *text, size_t size)
{
	char *word = fuzz_text(text, size), *quoted;
	struct hub_name name;
	struct fault f = { "" };

	if (hub_name_read(word, &name, &f)) {
		must(fuzz_is_line(f.text));
	} else {
		must(!*name.file || hub_file_is_safe(name.file));
		must(!strstr(name.repo, "..") && !strstr(name.revision, ".."));
		quoted = hub_quote(name.revision);
		must(!strchr(quoted, '/') && strlen(quoted) < 245);
		free(quoted);
	}
	free(word);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy;

	if (!size)
		return 0;
	copy = fuzz_behind(data, size--);
	if (*data == 'l')
		fuzz_listing(copy, size);
	else if (*data == 'h')
		fuzz_headers(copy, size);
	else
		fuzz_name(copy, size);
	free(copy);
	return 0;
}
