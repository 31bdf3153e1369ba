// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/hub/name.c ctl/hub/listing.c ctl/hub/answer.c ctl/web/header.c ctl/size/scan.c ctl/base/text.c ctl/base/fault.c
// packages: json-c
/* What people type of the Hub and what servers answer, as far as it needs no network. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "hub/answer.h"
#include "hub/listing.h"
#include "tap.h"

#define SHA "0123456789abcdef0123456789abcdef01234567"

static void names(void)
{
	static const struct {
		const char *text, *repo, *file, *revision;
	} good[] = {
		{ "hf:Qwen/Qwen3-8B", "Qwen/Qwen3-8B", "", "main" },
		{ "hf:gpt2", "gpt2", "", "main" },
		{ "hf:a/b@v1.0", "a/b", "", "v1.0" },
		{ "hf:a/b@refs/pr/1", "a/b", "", "refs/pr/1" },
		{ "hf:a/b/c d.gguf@" SHA, "a/b", "c d.gguf", SHA },
		{ "hf:a_1/B.2-c/x/y.gguf", "a_1/B.2-c", "x/y.gguf", "main" },
	};
	static const char *const bad[] = {
		"hf:", "qwen", "hf:/", "hf:a/", "hf:/b", "hf:a//c", "hf:a/b/", "hf:a/b/c/", "hf:a/b/../c",
		"hf:../b", "hf:a/..", "hf:.a/b", "hf:a/b-", "hf:a--b/c", "hf:a/b..c", "hf:a/b?c", "hf:a/b#c",
		"hf:a/b%2e", "hf:a/b@", "hf:a/b@/x", "hf:a/b@x/", "hf:a/b@x..y", "hf:a/b@x//y", "hf:a/b@-x",
		"hf:a/b@x@y", "hf:a/b/.git/config", "hf:a/b/c\nd", "hf:a/b/c\\d", "hf:a b/c",
	};
	struct hub_name name;
	struct fault f;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ok(!hub_name_read(good[i].text, &name, &f) && !strcmp(name.repo, good[i].repo) &&
		   !strcmp(name.file, good[i].file) && !strcmp(name.revision, good[i].revision),
		   "%s", good[i].text);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		f.text[0] = '\0';
		ok(hub_name_read(bad[i], &name, &f) < 0 && strstr(f.text, "is not a model of the Hub"),
		   "bad name %zu is refused", i);
	}
}

static void quotes(void)
{
	static const struct {
		const char *text, *whole, *path;
	} rows[] = {
		{ "a-b_c.d9", "a-b_c.d9", "a-b_c.d9" },
		{ "a/b c", "a%2Fb%20c", "a/b%20c" },
		{ "?#%&\xc3\xa9", "%3F%23%25%26%C3%A9", "%3F%23%25%26%C3%A9" },
		{ "", "", "" },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *whole = hub_quote(rows[i].text), *path = hub_quote_path(rows[i].text);

		is_str(whole, rows[i].whole, "as one part of a URL");
		is_str(path, rows[i].path, "as a path of it");
		free(whole);
		free(path);
	}
}

/* @part: of the refusal, NULL where there is none. */
static void listing(const char *text, size_t n, const char *part, const char *what)
{
	struct hub_listing list;
	struct fault f = { "" };
	int err = hub_listing_read(text, strlen(text), &list, &f);

	if (part)
		ok(err < 0 && strstr(f.text, part), "%s: %s", what, f.text);
	else
		ok(!err && list.n == n && !strcmp(list.sha, SHA), "%s: %s", what, f.text);
	hub_listing_free(&list);
}

#define LIST(files) "{\"sha\":\"" SHA "\",\"gated\":false,\"siblings\":[" files "]}"
#define NAMED(name) LIST("{\"rfilename\":\"" name "\"}")

static void listings(void)
{
	struct hub_listing list;
	struct fault f = { "" };
	static const char text[] =
		LIST("{\"rfilename\":\"config.json\",\"size\":7},"
		     "{\"rfilename\":\"a/b.safetensors\",\"lfs\":{\"sha256\":\"x\",\"size\":9}},"
		     "{\"rfilename\":\"x.bin\",\"size\":1},{\"rfilename\":\"c.gguf\"}");

	ok(!hub_listing_read(text, strlen(text), &list, &f), "a listing %s", f.text);
	is_int((intmax_t)list.n, 3, "has the files that are ours");
	if (list.n == 3) {
		is_str(list.file[0].name, "config.json", "by name");
		ok(list.file[0].sized && list.file[0].size == 7, "with their sizes");
		ok(list.file[1].sized && list.file[1].size == 9, "also those of large files");
		ok(!list.file[2].sized, "or without");
		ok(hub_listing_find(&list, "c.gguf") == &list.file[2], "and is found");
		ok(!hub_listing_find(&list, "x.bin"), "another is not");
	}
	hub_listing_free(&list);

	listing(LIST(""), 0, NULL, "no files");
	listing(NAMED(".cache/x.json"), 0, NULL, "hidden ones are left out");
	listing(NAMED("a/.b/x.json"), 0, NULL, "also further down");
	listing(NAMED("1/2/3/4/5/6/7/8/9/x.json"), 0, NULL, "those deep down, too");
	listing(NAMED("\\u002e\\u002e/x.json"), 0, NULL, "what would have to be decoded is left out");
	listing(NAMED("../x.json"), 0, "not safe", "out of the folder");
	listing(NAMED("a/../../x.json"), 0, "not safe", "out of it further down");
	listing(NAMED("/x.json"), 0, "not safe", "an absolute path");
	listing(NAMED("a//x.json"), 0, "not safe", "an empty name between slashes");
	listing(LIST("{\"rfilename\":\"x.json\"},{\"rfilename\":\"x.json\"}"), 0, "twice", "the same twice");
	listing(LIST("{\"rfilename\":\"x.json\",\"size\":99999999999999}"), 0, "bytes", "too large");
	listing(LIST("{\"rfilename\":7}"), 0, "not the listing", "a name that is none");
	listing("{\"siblings\":[]}", 0, "no commit", "no commit");
	listing("{\"sha\":\"../../../../../../../../../../../../etc\",\"siblings\":[]}", 0, "no commit",
		"a commit that would be a path");
	listing("[]", 0, "not the listing", "a list");
	listing("", 0, "not the listing", "nothing");
	listing("{\"sha\":\"" SHA "\",\"siblings\":[{\"rfilename\":\"x.json\"", 0, "cut off", "cut off");
	listing(LIST("") "x", 0, "after the end of the document", "something behind it");
}

static struct hub_answer headers(const char *const *lines)
{
	struct hub_answer answer = { 0 };

	for (; *lines; lines++)
		hub_answer_header(&answer, *lines, strlen(*lines));
	return answer;
}

#define HEADERS(...) headers((const char *const []){ __VA_ARGS__, NULL })

static void answers(void)
{
	struct hub_answer a = HEADERS("HTTP/1.1 206 Partial Content\r\n",
				      "content-range: bytes 5-14/1234567890123\r\n", "\r\n");

	ok(a.status == 206 && a.ranged && a.sized && a.from == 5 && a.total == 1234567890123,
	   "a part of a file");
	a = HEADERS("HTTP/2 200\r\n", "Content-Length: 42\r\n");
	ok(a.status == 200 && !a.ranged && a.sized && a.total == 42, "a whole one");
	a = HEADERS("HTTP/1.1 206 x", "Content-Length: 42");
	ok(!a.sized, "the length of a part is not that of the file");
	a = HEADERS("HTTP/1.1 302 Found", "X-Error-Code: GatedRepo", "HTTP/1.1 200 OK");
	ok(a.status == 200 && !*a.error, "the next answer begins anew");
	ok(!HEADERS("HTTP/1.1 206", "Content-Range: bytes 9-5/20").ranged, "a range backwards");
	ok(!HEADERS("HTTP/1.1 206", "Content-Range: bytes 0-20/20").ranged, "a range beyond the end");
	ok(!HEADERS("HTTP/1.1 206", "Content-Range: bytes */20").ranged, "a range that is none");
	ok(!HEADERS("HTTP/1.1 206", "Content-Range: bytes 0-9/*").ranged, "a file without an end");
	ok(!HEADERS("HTTP/1.1 206", "Content-Range: bytes 0-9/99999999999999999999999").ranged,
	   "a number of no 64 bits");
	ok(!HEADERS("HTTP/1.1 200", "Content-Length: -1").sized, "a length below nothing");
	ok(!HEADERS("HTTP/1.1 xyz").status, "no status");
}

static void refusal(long status, const char *error, bool token, int want, const char *part)
{
	const struct hub_question q = { "hub.example", "https://hub.example", "a/b", "main", NULL, token };
	struct hub_answer a = { .status = status };
	struct fault f = { "" };
	int ret;

	snprintf(a.error, sizeof(a.error), "%s", error);
	ret = hub_answer_refuse(&a, &q, &f);
	ok(ret == want && strstr(f.text, part) && !strchr(f.text, '\n'), "%ld %s: %s", status, error,
	   f.text);
}

static void refusals(void)
{
	refusal(401, "GatedRepo", false, CTL_DENIED, "accept its terms at https://hub.example/a/b");
	refusal(403, "GatedRepo", true, CTL_DENIED, "token of that account");
	refusal(401, "RepoNotFound", false, CTL_DENIED, "or set HF_TOKEN");
	refusal(404, "RepoNotFound", true, CTL_USAGE, "this token");
	refusal(404, "RevisionNotFound", true, CTL_USAGE, "no revision main");
	refusal(403, "DisabledRepo", true, CTL_DENIED, "disabled");
	refusal(401, "", true, CTL_DENIED, "settings/tokens");
	refusal(403, "", false, CTL_DENIED, "set HF_TOKEN");
	refusal(404, "", false, CTL_USAGE, "check name and revision");
	refusal(429, "", false, CTL_FAILED, "later");
	refusal(502, "", false, CTL_FAILED, "(502)");
	refusal(0, "", false, CTL_FAILED, "status 0");
}

int main(void)
{
	names();
	quotes();
	listings();
	answers();
	refusals();
	return tap_done();
}
