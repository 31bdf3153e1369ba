// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: names of the Hub
 *
 * A name becomes part of a URL and of a path in the cache, so nothing is taken here that
 * could mean something else there.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "hub/name.h"

#define WORD_MAX 96

static bool is_name_character(char c)
{
	return isascii((unsigned char)c) && (isalnum((unsigned char)c) || strchr("-_.", c));
}

/* Owner or name, as the Hub allows them: so "OWNER--NAME" is told apart, too. */
static bool name_is_word(const char *s, size_t len)
{
	size_t i;

	if (!len || len > WORD_MAX || strchr("-.", s[0]) || strchr("-.", s[len - 1]))
		return false;
	for (i = 0; i < len; i++)
		if (!s[i] || !is_name_character(s[i]) ||
		    (i && strchr("-.", s[i]) && s[i] == s[i - 1]))
			return false;
	return true;
}

static bool is_revision(const char *s)
{
	size_t i, len = strlen(s);

	if (!len || len >= HUB_REVISION_MAX || strchr("-./", s[0]) || s[len - 1] == '/')
		return false;
	for (i = 0; i < len; i++)
		if ((!is_name_character(s[i]) && s[i] != '/') ||
		    (i && strchr("./", s[i]) && s[i] == s[i - 1]))
			return false;
	return true;
}

bool hub_file_is_safe(const char *file)
{
	size_t len;
	const char *c;

	if (strlen(file) >= HUB_FILE_MAX)
		return false;
	for (c = file; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f || *c == '\\')
			return false;
	for (c = file;; c += len + 1) {
		len = strcspn(c, "/");
		if (!len || (len == 1 && *c == '.') || (len == 2 && !strncmp(c, "..", 2)))
			return false;
		if (!c[len])
			return true;
	}
}

bool hub_file_is_plain(const char *file)
{
	unsigned int depth = 0;
	const char *c;

	if (strlen(file) >= HUB_FILE_MAX || strchr(file, '\\') || *file == '.')
		return false;
	for (c = file; (c = strchr(c, '/'));)
		if (++depth > HUB_DEPTH_MAX ||
		    (*++c == '.' && strncmp(c, "../", 3) && strncmp(c, "./", 2)))
			return false;
	return true;
}

bool hub_is_sha(const char *text)
{
	return strlen(text) == HUB_SHA_LENGTH && strspn(text, "0123456789abcdef") == HUB_SHA_LENGTH;
}

static int name_refuse(const char *text, struct fault *f)
{
	return fault_set(f, EINVAL,
			 "\"%.100s\" is not a model of the Hub: write hf:OWNER/NAME, hf:OWNER/NAME/FILE, or one of them with @REVISION after it",
			 text);
}

int hub_name_read(const char *text, struct hub_name *name, struct fault *f)
{
	const char *repo = text + strlen(HUB_PREFIX), *at, *end, *slash, *file = NULL;

	memset(name, 0, sizeof(*name));
	if (strncmp(text, HUB_PREFIX, strlen(HUB_PREFIX)))
		return name_refuse(text, f);
	at = strchr(repo, '@');
	end = at ? at : repo + strlen(repo);
	slash = memchr(repo, '/', (size_t)(end - repo));
	if (slash)
		file = memchr(slash + 1, '/', (size_t)(end - slash - 1));
	if (!name_is_word(repo, (size_t)((slash ? slash : end) - repo)) ||
	    (slash && !name_is_word(slash + 1, (size_t)((file ? file : end) - slash - 1))) ||
	    (at && !is_revision(at + 1)) || (file && (size_t)(end - file) > sizeof(name->file)))
		return name_refuse(text, f);
	memcpy(name->repo, repo, (size_t)((file ? file : end) - repo));
	if (file)
		memcpy(name->file, file + 1, (size_t)(end - file - 1));
	if (file && (!hub_file_is_plain(name->file) || !hub_file_is_safe(name->file)))
		return name_refuse(text, f);
	strcpy(name->revision, at ? at + 1 : "main");
	return 0;
}

static char *name_quote(const char *text, const char *kept)
{
	struct text out = { 0 };

	for (; *text; text++)
		text_add(&out, is_name_character(*text) || strchr(kept, *text) ? "%c" : "%%%02X",
			 (unsigned char)*text);
	return out.text ? out.text : mem_strdup("");
}

char *hub_quote(const char *text)
{
	return name_quote(text, "");
}

char *hub_quote_path(const char *path)
{
	return name_quote(path, "/");
}
