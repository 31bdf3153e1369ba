// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: resources within resources
 *
 * $expand puts the resource in the place of the link to it, with the tag that it has by itself:
 * the tag is good for If-Match. Links go in circles, so what an answer may hold is bounded by its
 * size, and collections come in pages. Who asks sees no more than by asking for each resource.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fm/expand.h"

/**
 * struct expansion - one answer
 * @left: how many bytes are left; @full: they were not enough
 */
struct expansion {
	const struct service *service;
	const struct ask *ask;
	const struct query *query;
	size_t left;
	bool full;
};

/* What a link leads to, as it is read by itself; NULL for nothing that may be seen. */
static struct json_object *resource_of(struct expansion *x, const char *path)
{
	struct ask ask = *x->ask;
	char etag[ANSWER_ETAG], *parts = mem_zalloc(strlen(path) + 1, 1);
	const struct resource *resource;
	struct json_object *document = NULL;
	size_t size;

	memset(ask.argument, 0, sizeof(ask.argument));
	ask.path = path;
	resource = service_find(path, parts, &ask);
	if (resource && resource->get)
		document = resource->get(x->service, &ask);
	free(parts);
	if (!document)
		return NULL;
	size = answer_tag(document, etag);
	document_text(document, "@odata.etag", etag);
	x->full = size > x->left;
	x->left -= x->full ? x->left : size;
	return document;
}

static void walk(struct expansion *x, struct json_object *value, bool links, unsigned int levels);

/* What is to stand in the place of @value, which is not a link; NULL: it stays. */
static struct json_object *replacement(struct expansion *x, struct json_object *value, bool links,
				       unsigned int levels)
{
	const char *path = query_link(value);
	struct json_object *resource;

	if (!path) {
		walk(x, value, links, levels);
		return NULL;
	}
	if (links ? !x->query->links : !x->query->below)
		return NULL;
	resource = resource_of(x, path);
	if (resource && levels > 1)
		walk(x, resource, false, levels - 1);
	return resource;
}

static void walk(struct expansion *x, struct json_object *value, bool links, unsigned int levels)
{
	struct json_object *with;
	struct lh_entry *entry, *next;
	size_t i;

	if (json_object_is_type(value, json_type_array)) {
		for (i = 0; i < json_object_array_length(value) && !x->full; i++) {
			with = replacement(x, json_object_array_get_idx(value, i), links, levels);
			if (with)
				json_object_array_put_idx(value, i, with);
		}
		return;
	}
	if (!json_object_is_type(value, json_type_object))
		return;
	lh_foreach_safe(json_object_get_object(value), entry, next)
	{
		const char *key = lh_entry_k(entry);

		if (x->full)
			return;
		with = replacement(x, (struct json_object *)lh_entry_v(entry),
				   links || !strcmp(key, "Links"), levels);
		if (with)
			json_object_object_add(value, key, with);
	}
}

/* Where the next page is. */
static void add_next(struct json_object *document, const struct ask *ask, uint64_t skip,
		     uint64_t top)
{
	char *same = query_text(ask->query), *link;

	link = mem_printf("%s?%s%s$skip=%llu", ask->path, same, *same ? "&" : "",
			  (unsigned long long)skip);
	free(same);
	if (top) {
		same = mem_printf("%s&$top=%llu", link, (unsigned long long)top);
		free(link);
		link = same;
	}
	document_text(document, "Members@odata.nextLink", link);
	free(link);
}

/* Only some members: those that are asked for, and no more than a page. */
static void members_cut(const struct ask *ask, struct json_object *document,
			struct json_object *members)
{
	const struct query *q = ask->query;
	uint64_t n = json_object_array_length(members), skip = q->skip < n ? q->skip : n,
		 top = q->has_top && q->top < n - skip ? q->top : n - skip,
		 shown = q->expand && top > EXPAND_PAGE ? EXPAND_PAGE : top;

	if (shown < top)
		add_next(document, ask, skip + shown, q->has_top ? top - shown : 0);
	if (skip + shown < n)
		json_object_array_del_idx(members, skip + shown, n - skip - shown);
	if (skip)
		json_object_array_del_idx(members, 0, skip);
}

bool expand_document(const struct service *service, const struct ask *ask,
		     struct json_object *document, struct answer *answer)
{
	struct expansion x = { service, ask, ask->query, EXPAND_BYTES, false };
	struct json_object *members;
	bool is_collection = json_object_object_get_ex(document, "Members", &members) &&
			     json_object_is_type(members, json_type_array);

	if ((ask->query->has_skip || ask->query->has_top) && !is_collection) {
		answer_refuse(answer, 400, "QueryNotSupportedOnResource", NULL, NULL,
			      "$skip and $top are for collections");
		return false;
	}
	if (is_collection)
		members_cut(ask, document, members);
	if (ask->query->expand)
		walk(&x, document, false, ask->query->levels);
	if (x.full) {
		answer_refuse(answer, 507, "InsufficientStorage", NULL, NULL,
			      "the answer would be too large: expand fewer levels, or a part of them");
		return false;
	}
	query_select(ask->query, document);
	return true;
}
