// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the listing of a revision
 *
 * {"sha": "...", "siblings": [{"rfilename": "config.json", "size": 728}, ...]}, among much
 * else that is passed over. Names become paths in the cache: one that could lead out of
 * its folder is a reason to refuse the whole answer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "hub/listing.h"
#include "size/scan.h"

static int read_memory(void *arg, uint64_t offset, void *buf, size_t n)
{
	memcpy(buf, (const char *)arg + offset, n);
	return 0;
}

static int listing_broken(const struct scan *s, struct fault *f)
{
	return fault_set(f, EINVAL, "the answer is not the listing of a model (%s)",
			 s->why ? s->why : "the type of a value is wrong");
}

static bool is_ours(const char *name)
{
	static const char *const ends[] = { ".json", ".safetensors", ".gguf" };
	size_t len = strlen(name), i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (len > strlen(ends[i]) && !strcmp(name + len - strlen(ends[i]), ends[i]))
			return true;
	return false;
}

/* Tried on purpose, so no word of that answer is believed. */
static bool leads_out(const char *name)
{
	return *name == '/' || !strncmp(name, "../", 3) || strstr(name, "/../");
}

/* A number that is a size; others leave it unknown. */
static void take_size(const struct scan *s, enum scan_token token, struct hub_file *file)
{
	file->sized = token == SCAN_NUMBER && scan_whole(s, &file->size);
}

/* {"sha256": ..., "size": 16381470720}: where large files are kept, their size is here. */
static int read_lfs(struct scan *s, struct hub_file *file, struct fault *f)
{
	enum scan_token token = scan_next(s);

	if (token != SCAN_OPEN_OBJECT)
		return scan_skip(s, token) == SCAN_ERROR ? listing_broken(s, f) : 0;
	while ((token = scan_next(s)) == SCAN_KEY) {
		bool size = !strcmp(s->text, "size");

		token = scan_skip(s, scan_next(s));
		if (token == SCAN_ERROR)
			break;
		if (size)
			take_size(s, token, file);
	}
	return token == SCAN_CLOSE_OBJECT ? 0 : listing_broken(s, f);
}

static int listing_add(struct hub_listing *out, const struct hub_file *file, const char *name,
		       struct fault *f)
{
	if (!hub_file_is_safe(name))
		return fault_set(f, EINVAL,
				 "the listing has a file \"%.80s\", whose name is not safe to use",
				 name);
	if (file->sized && file->size > HUB_FILE_SIZE_MAX)
		return fault_set(f, EINVAL, "the listing says that %.80s has %llu bytes", name,
				 (unsigned long long)file->size);
	if (hub_listing_find(out, name))
		return fault_set(f, EINVAL, "the listing has the file %.80s twice", name);
	if (out->n == HUB_FILES_MAX)
		return fault_set(f, EINVAL, "the model has more than %d files", HUB_FILES_MAX);
	out->file = mem_push(out->file, out->n, sizeof(*out->file));
	out->file[out->n] = *file;
	out->file[out->n++].name = mem_strdup(name);
	return 0;
}

static int read_sibling(struct scan *s, struct hub_listing *out, struct fault *f)
{
	struct hub_file file = { 0 };
	char name[SCAN_STRING_MAX] = "";
	enum scan_token token;
	int err = 0;

	while (!err && (token = scan_next(s)) == SCAN_KEY) {
		if (!strcmp(s->text, "lfs")) {
			err = read_lfs(s, &file, f);
		} else if (!strcmp(s->text, "size")) {
			take_size(s, scan_skip(s, scan_next(s)), &file);
		} else if (!strcmp(s->text, "rfilename")) {
			if (scan_next(s) != SCAN_STRING)
				return listing_broken(s, f);
			memcpy(name, s->text, sizeof(name));
		} else if (scan_skip(s, scan_next(s)) == SCAN_ERROR) {
			return listing_broken(s, f);
		}
	}
	if (!err && token != SCAN_CLOSE_OBJECT)
		return listing_broken(s, f);
	/* what was cut at the scanner's limit has no end that would be ours */
	if (err || !is_ours(name) || (!hub_file_is_plain(name) && !leads_out(name)))
		return err;
	return listing_add(out, &file, name, f);
}

static int read_siblings(struct scan *s, struct hub_listing *out, struct fault *f)
{
	enum scan_token token;
	int err = 0;

	if (scan_next(s) != SCAN_OPEN_ARRAY)
		return listing_broken(s, f);
	while (!err && (token = scan_next(s)) == SCAN_OPEN_OBJECT)
		err = read_sibling(s, out, f);
	if (err)
		return err;
	return token == SCAN_CLOSE_ARRAY ? 0 : listing_broken(s, f);
}

static int read_revision(struct scan *s, struct hub_listing *out, struct fault *f)
{
	enum scan_token token;
	int err = 0;

	if (scan_next(s) != SCAN_OPEN_OBJECT)
		return listing_broken(s, f);
	while (!err && (token = scan_next(s)) == SCAN_KEY) {
		if (!strcmp(s->text, "siblings")) {
			err = read_siblings(s, out, f);
		} else if (!strcmp(s->text, "sha")) {
			if (scan_next(s) != SCAN_STRING || !hub_is_sha(s->text))
				return fault_set(f, EINVAL, "the listing names no commit");
			memcpy(out->sha, s->text, sizeof(out->sha));
		} else if (scan_skip(s, scan_next(s)) == SCAN_ERROR) {
			return listing_broken(s, f);
		}
	}
	if (err)
		return err;
	if (token != SCAN_CLOSE_OBJECT || scan_next(s) != SCAN_END)
		return listing_broken(s, f);
	return *out->sha ? 0 : fault_set(f, EINVAL, "the listing names no commit");
}

int hub_listing_read(const char *text, size_t len, struct hub_listing *out, struct fault *f)
{
	struct size_source source = { read_memory, (void *)(uintptr_t)text, len };
	struct scan *s = mem_zalloc(1, sizeof(*s));
	int err;

	memset(out, 0, sizeof(*out));
	scan_start(s, &source, 0, len);
	err = read_revision(s, out, f);
	free(s);
	return err;
}

void hub_listing_free(struct hub_listing *listing)
{
	size_t i;

	for (i = 0; i < listing->n; i++)
		free(listing->file[i].name);
	free(listing->file);
	memset(listing, 0, sizeof(*listing));
}

struct hub_file *hub_listing_find(struct hub_listing *listing, const char *name)
{
	size_t i;

	for (i = 0; i < listing->n; i++)
		if (!strcmp(listing->file[i].name, name))
			return &listing->file[i];
	return NULL;
}
