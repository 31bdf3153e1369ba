// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: collections
 *
 * They may come in pages, whose number is bounded, so that a loop of pages has an end. A manager
 * that has $expand sends the members with the collection, which saves a request for each;
 * it may leave out what it likes, so whoever reads a body looks whether all is there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "driver/doc.h"
#include "redfish/link.h"
#include "redfish/members.h"

#define ROOT "/redfish/v1/"
#define PAGES_MAX 100
#define LEVELS_MAX 9

static int members_fault(const struct client *client, struct fault *f)
{
	fault_prefix(f, "fabric manager %s", client->conf->name);
	return CTL_FAILED;
}

void members_free(struct members *members)
{
	while (members->n) {
		free(members->path[--members->n]);
		json_object_put(members->body[members->n]);
	}
	free(members->path);
	free(members->body);
	memset(members, 0, sizeof(*members));
}

static int page_take(struct client *client, struct members *members, struct json_object *body,
		     const char *where, struct fault *f)
{
	struct json_object *list = doc_array(body, "Members");
	size_t n = list ? json_object_array_length(list) : 0, i;

	if (!list || members->n + n > MEMBERS_MAX) {
		fault_set(f, EINVAL, list ? "%s: more than %d members" : "%s has no Members", where,
			  MEMBERS_MAX);
		return members_fault(client, f);
	}
	for (i = 0; i < n; i++) {
		struct json_object *one = json_object_array_get_idx(list, i);
		const char *path = link_path(one);

		if (!path) {
			fault_set(f, EINVAL, "%s: member %zu has no path below /redfish/v1", where,
				  i);
			return members_fault(client, f);
		}
		members->path = mem_push(members->path, members->n, sizeof(*members->path));
		members->body = mem_push(members->body, members->n, sizeof(*members->body));
		members->path[members->n] = mem_strdup(path);
		members->body[members->n++] =
			json_object_object_length(one) > 1 ? json_object_get(one) : NULL;
	}
	return CTL_DONE;
}

int members_read(struct client *client, const char *collection, bool *missing,
		 struct members *members, struct fault *f)
{
	char *at = mem_strdup(collection);
	int pages = 0, ret = CTL_DONE;

	while (at && !ret) {
		struct answer answer = { 0 };
		const char *next;

		ret = client_get(client, at, pages ? NULL : missing, &answer, f);
		if (!ret && answer.status == 200)
			ret = page_take(client, members, answer.body, at, f);
		next = ret ? NULL : doc_text(answer.body, "Members@odata.nextLink");
		if (next && (++pages == PAGES_MAX || !manager_is_path(next))) {
			fault_set(f, EINVAL,
				  pages == PAGES_MAX ?
					  "%s has more than %d pages" :
					  "%s: the link to page %d leads to another host",
				  collection, pages == PAGES_MAX ? PAGES_MAX : pages + 1);
			ret = members_fault(client, f);
		}
		free(at);
		at = next && !ret ? mem_strdup(next) : NULL;
		answer_free(&answer);
	}
	free(at);
	return ret;
}

static bool says_true(struct json_object *from, const char *key)
{
	struct json_object *value;

	return from && json_object_object_get_ex(from, key, &value) &&
	       json_object_is_type(value, json_type_boolean) && json_object_get_boolean(value);
}

/* How many levels of $expand=. the manager has: of its root, which need not be there. */
static void expansion_ask(struct client *client, struct expansion *expansion)
{
	struct answer answer = { 0 };
	struct fault ignored = { "" };
	struct json_object *query, *most;
	bool missing;
	int n = 1;

	expansion->known = true;
	if (client_get(client, ROOT, &missing, &answer, &ignored) || missing)
		goto out;
	query = doc_object(doc_object(answer.body, "ProtocolFeaturesSupported"), "ExpandQuery");
	if (!says_true(query, "NoLinks"))
		goto out;
	if (says_true(query, "Levels") && json_object_object_get_ex(query, "MaxLevels", &most) &&
	    json_object_is_type(most, json_type_int))
		n = json_object_get_int(most);
	expansion->levels = n < 1 ? 1 : n > LEVELS_MAX ? LEVELS_MAX : (unsigned int)n;
out:
	answer_free(&answer);
}

int members_expand(struct client *client, struct expansion *expansion, const char *collection,
		   unsigned int levels, struct members *members, struct fault *f)
{
	struct fault ignored = { "" };
	char *path;
	int ret;

	if (!expansion->known)
		expansion_ask(client, expansion);
	if (expansion->levels && !strchr(collection, '?')) {
		if (levels > expansion->levels)
			levels = expansion->levels;
		/* Some managers have $expand without levels. */
		path = levels > 1 ? mem_printf("%s?$expand=.($levels=%u)", collection, levels) :
				    mem_printf("%s?$expand=.", collection);
		ret = members_read(client, path, NULL, members, &ignored);
		free(path);
		if (!ret)
			return CTL_DONE;
		members_free(members);
	}
	return members_read(client, collection, NULL, members, f);
}
