/* SPDX-License-Identifier: GPL-2.0-only */
/* What stands behind the "?" of a request that reads. Pure. */
#ifndef FM_QUERY_H
#define FM_QUERY_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "fm/answer.h"

#define QUERY_LEVELS_MAX 6
#define QUERY_SELECT_MAX 32
#define QUERY_NAME_MAX 128
#define QUERY_DEPTH_MAX 8

/**
 * struct query - parameters of a request
 * @given: there is one that begins with "$"
 * @expand: there is $expand
 * @below, @links: links outside of "Links" are replaced by what they lead to, links within
 * @levels: how deep
 * @skip, @top: members of a collection to leave out, and how many to show
 * @has_skip, @has_top: they are given
 * @select: names of members, with "/" between the parts; owned, @select_count of them
 */
struct query {
	bool given;
	bool expand, below, links;
	unsigned int levels;
	bool has_skip, has_top;
	uint64_t skip, top;
	char **select;
	unsigned int select_count;
};

/*
 * One parameter; @value NULL where there is no "=". False: @answer says what is wrong. One that
 * does not begin with "$" is left alone. query_free() in either case.
 */
bool query_take(struct query *query, const char *key, const char *value, struct answer *answer);
void query_free(struct query *query);

/*
 * Takes the escapes out of a path or a parameter, in its place; returns its new length. %00, which
 * would hide what is behind it, stays as it is.
 */
size_t query_unescape(char *text);

/* "$expand=.($levels=1)&$select=Id", of what is the same on the next page; the caller frees. */
char *query_text(const struct query *query);

/*
 * Leaves of a resource what $select names, and what must stay; of a resource that was expanded
 * within it the same.
 */
void query_select(const struct query *query, struct json_object *resource);

/* A link to a resource: its path; NULL for anything else, a resource that was expanded, too. */
const char *query_link(struct json_object *value);

#endif /* FM_QUERY_H */
