// SPDX-License-Identifier: GPL-2.0-only
/*
 * Families as the catalogue files describe them. A family is like another one
 * ("like"), and all are like [transformer]: its lines are theirs, unless they
 * say otherwise. Linked once, a line is found by bisection.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "family.h"
#include "family_check.h"

#define LINES_MAX 512
#define LIKE_DEPTH_MAX 8

static const char *const properties[PART_PROPERTIES] = {
	[PART_WHEN] = "when",	    [PART_LAYERS] = "layers",	  [PART_GROUP] = "group",
	[PART_COPIES] = "copies",   [PART_ACTIVE] = "active",	  [PART_TENSORS] = "tensors",
	[PART_KEPT] = "kept",	    [PART_KV_HEADS] = "kv_heads", [PART_KV_WIDTH] = "kv_width",
	[PART_WINDOW] = "window",   [PART_STATE] = "state",	  [PART_INDEX] = "index",
	[PART_REPEATS] = "repeats",
};

static struct cat_family *find(const struct cat_families *families, const char *id)
{
	size_t i;

	for (i = 0; i < families->n; i++)
		if (!strcmp(families->item[i].id, id))
			return &families->item[i];
	return NULL;
}

const struct cat_family *family_get(const struct cat_families *families, const char *id)
{
	return find(families, id);
}

static void drop_lines(struct family_line *lines, size_t n)
{
	while (n--) {
		free(lines[n].key);
		free(lines[n].value);
	}
	free(lines);
}

static int open_family(struct cat_families *families, unsigned int layer, const char *id,
		       struct fault *f)
{
	struct cat_family *family = find(families, id), *more;

	if (family && family->layer == layer)
		return fault_set(f, EEXIST, "[%s] is already described in this directory", id);
	if (family) {
		family->layer = layer;
		return 0;
	}
	more = mem_push(families->item, families->n, sizeof(*more));
	families->item = more;
	more += families->n;
	memset(more, 0, sizeof(*more));
	more->layer = layer;
	more->id = strdup(id);
	if (!more->id)
		return fault_set(f, ENOMEM, "out of memory");
	families->n++;
	return 0;
}

/* Property of "part.property", or -1. */
static int property_of(const char *key)
{
	const char *dot = strchr(key, '.');
	int i;

	for (i = 0; dot && i < PART_PROPERTIES; i++)
		if (!strcmp(dot + 1, properties[i]))
			return i;
	return -1;
}

static int check_key(const char *key, struct fault *f)
{
	const char *dot = strchr(key, '.');
	int i;

	if (!dot || property_of(key) >= 0 || !strcmp(dot, ".model"))
		return 0;
	fault_set(f, EINVAL, "%s: a part has no \"%.40s\"; known are", key, dot + 1);
	for (i = 0; i < PART_PROPERTIES; i++)
		fault_add(f, " %s", properties[i]);
	return -EINVAL;
}

static int set_line(struct family_line *line, const char *key, const char *value, struct fault *f)
{
	line->key = strdup(key);
	line->value = strdup(value);
	if (line->key && line->value)
		return 0;
	free(line->key);
	free(line->value);
	return fault_set(f, ENOMEM, "out of memory");
}

int family_item(struct cat_families *families, unsigned int layer, const char *id,
		const struct conf_item *item, struct fault *f)
{
	struct cat_family *family;
	struct family_line *more;
	char *value;
	size_t i;
	int err;

	if (!item->key)
		return open_family(families, layer, id, f);
	family = find(families, id);
	err = check_key(item->key, f);
	/* those that come along are checked by a test */
	if (!err && layer)
		err = family_check_line(item->key, item->value, f);
	if (err)
		return err;
	for (i = 0; i < family->n_own && strcmp(family->own[i].key, item->key); i++)
		;
	if (i < family->n_own) {
		value = strdup(item->value);
		if (!value)
			return fault_set(f, ENOMEM, "out of memory");
		free(family->own[i].value);
		family->own[i].value = value;
		return 0;
	}
	if (i == LINES_MAX)
		return fault_set(f, E2BIG, "more than %d lines", LINES_MAX);
	more = mem_push(family->own, i, sizeof(*more));
	family->own = more;
	err = set_line(&more[i], item->key, item->value, f);
	family->n_own += !err;
	return err;
}

/* --- linking -------------------------------------------------------------------- */

const char *family_own_text(const struct cat_family *family, const char *key)
{
	size_t i;

	for (i = 0; i < family->n_own; i++)
		if (!strcmp(family->own[i].key, key))
			return family->own[i].value;
	return NULL;
}

static int by_key(const void *a, const void *b)
{
	const struct family_line *x = a, *y = b;

	return strcmp(x->key, y->key);
}

/* What names the family itself is not passed on. */
static bool is_personal(const char *key)
{
	return !strcmp(key, "model_types") || !strcmp(key, "gguf") || !strcmp(key, "source") ||
	       !strcmp(key, "like") || !strcmp(key, "guess") || !strcmp(key, "defaults");
}

/* Adds the lines of @from that @family does not have yet; borrowed strings. */
static int take_lines(struct cat_family *family, const struct cat_family *from, struct fault *f)
{
	size_t i, j, had = family->n;

	for (i = 0; i < from->n_own; i++) {
		if (from != family && is_personal(from->own[i].key))
			continue;
		for (j = 0; j < had && strcmp(family->line[j].key, from->own[i].key); j++)
			;
		if (j < had)
			continue;
		if (family->n == LINES_MAX)
			return fault_set(f, E2BIG, "[%s] has more than %d lines", family->id,
					 LINES_MAX);
		family->line[family->n++] = from->own[i];
	}
	return 0;
}

static int add_part(struct cat_family *family, int number, struct fault *f)
{
	const char *key = family->line[number].key;
	size_t len = strcspn(key, "."), i;
	int property = property_of(key), p;

	if (property < 0)
		return 0;
	for (i = 0; i < family->n_parts; i++)
		if (family->part[i].len == len && !strncmp(family->part[i].name, key, len))
			break;
	if (i == FAMILY_PARTS_MAX)
		return fault_set(f, E2BIG, "[%s] has more than %d parts", family->id,
				 FAMILY_PARTS_MAX);
	if (i == family->n_parts) {
		family->n_parts++;
		family->part[i].name = key;
		family->part[i].len = len;
		for (p = 0; p < PART_PROPERTIES; p++)
			family->part[i].line[p] = -1;
	}
	family->part[i].line[property] = number;
	return 0;
}

static int link_one(struct cat_families *families, struct cat_family *family, struct fault *f)
{
	const struct cat_family *from = family;
	const char *like = "";
	unsigned int depth;
	size_t i;
	int err;

	family->n = 0;
	family->n_parts = 0;
	free(family->line);
	family->line = calloc(LINES_MAX, sizeof(*family->line));
	if (!family->line)
		return fault_set(f, ENOMEM, "out of memory");
	for (depth = 0; from; depth++) {
		if (depth == LIKE_DEPTH_MAX)
			return fault_set(f, ELOOP, "[%s] is like itself", family->id);
		err = take_lines(family, from, f);
		if (err)
			return err;
		if (!strcmp(from->id, FAMILY_ROOT))
			break;
		like = family_own_text(from, "like");
		like = like ? like : FAMILY_ROOT;
		/* "nothing" is like nothing: it describes all of itself */
		if (!strcmp(like, "nothing"))
			break;
		from = find(families, like);
		if (!from)
			return fault_set(f, ENOENT, "[%s] is like %.40s, which is not described",
					 family->id, like);
	}
	qsort(family->line, family->n, sizeof(*family->line), by_key);
	for (i = 0; i < family->n; i++) {
		err = add_part(family, (int)i, f);
		if (err)
			return err;
	}
	return 0;
}

int families_link(struct cat_families *families, struct fault *f)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < families->n; i++)
		err = link_one(families, &families->item[i], f);
	for (i = 0; !err && i < families->n; i++)
		if (families->item[i].layer)
			err = family_check_names(&families->item[i], f);
	return err;
}

void families_free(struct cat_families *families)
{
	size_t i;

	for (i = 0; i < families->n; i++) {
		free(families->item[i].id);
		drop_lines(families->item[i].own, families->item[i].n_own);
		free(families->item[i].line);
	}
	free(families->item);
	memset(families, 0, sizeof(*families));
}

/* --- looking up ------------------------------------------------------------------ */

int family_line(const struct cat_family *family, const char *key, size_t len)
{
	size_t low = 0, high = family->n, mid;
	int order;

	while (low < high) {
		mid = (low + high) / 2;
		order = strncmp(key, family->line[mid].key, len);
		if (!order && family->line[mid].key[len])
			order = -1;
		if (!order)
			return (int)mid;
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return -1;
}

const char *family_text(const struct cat_family *family, const char *key)
{
	int line = family_line(family, key, strlen(key));

	return line < 0 ? NULL : family->line[line].value;
}

static bool has_word(const char *list, const char *word)
{
	size_t len, want = strlen(word);

	while (list && *list) {
		list += strspn(list, " \t");
		len = strcspn(list, " \t");
		if (len == want && !strncmp(list, word, len))
			return want > 0;
		list += len;
	}
	return false;
}

const struct cat_family *family_of_word(const struct cat_families *families, const char *key,
					const char *word)
{
	size_t i;

	/* the last one wins: an admin's family comes behind those that come along */
	for (i = families->n; i; i--)
		if (has_word(family_own_text(&families->item[i - 1], key), word))
			return &families->item[i - 1];
	return NULL;
}

/* Number of keys that a family would know the facts by, 0 if they lack one of them. */
static unsigned int likeness(const struct cat_family *family, const struct expr_facts *facts)
{
	const char *list = family_own_text(family, "guess");
	struct expr_value value;
	unsigned int found = 0;
	char key[64];
	size_t len;

	for (; list && *list; list += len) {
		list += strspn(list, " \t");
		len = strcspn(list, " \t");
		if (!len || len >= sizeof(key))
			continue;
		snprintf(key, sizeof(key), "%.*s", (int)len, list);
		expr_fact(facts, key, &value);
		if (value.kind == EXPR_ABSENT)
			return 0;
		found++;
	}
	return found;
}

const struct cat_family *family_guess(const struct cat_families *families,
				      const struct expr_facts *facts)
{
	const struct cat_family *best = family_get(families, FAMILY_ROOT);
	unsigned int most = 0, found;
	size_t i;

	for (i = 0; i < families->n; i++) {
		found = likeness(&families->item[i], facts);
		if (found > most) {
			most = found;
			best = &families->item[i];
		}
	}
	return best;
}

void family_inner(const struct expr_facts *facts, const char *text, char path[64],
		  struct expr_value *out)
{
	size_t n;

	do {
		n = strcspn(text, "| ");
		snprintf(path, 64, "%.*s", (int)(n < 60 ? n : 60), text);
		expr_fact(facts, path, out);
		text += n + 1;
	} while (out->kind != EXPR_OBJECT && text[-1] == '|');
}

void family_fact(const struct cat_family *family, const char *name, char out[64])
{
	const char *text = family_text(family, name);
	const char *at = text ? strchr(text, '@') : NULL;
	size_t n = at ? strspn(at + 1, "abcdefghijklmnopqrstuvwxyz0123456789_.") : 0;

	snprintf(out, 64, "%.*s", n ? (int)n : 60, n ? at + 1 : name);
}
