// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: what a manager has
 *
 * Resources are found by the links between them, from the fabric or the composition service on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "redfish/link.h"
#include "redfish/view.h"

#define FABRICS "/redfish/v1/Fabrics"
#define SYSTEMS "/redfish/v1/Systems"
#define BLOCKS "/redfish/v1/CompositionService/ResourceBlocks"

bool view_has_blocks(const struct view *view)
{
	return view->client->conf->way == MANAGER_BLOCKS ||
	       view->client->conf->way == MANAGER_COMPOSE;
}

static int view_fault(const struct view *view, int ret, struct fault *f)
{
	fault_prefix(f, "fabric manager %s", view->client->conf->name);
	return ret;
}

/* The fabric of the configuration, or the only one. */
static int fabric_find(struct view *view, struct fault *f)
{
	const char *id = view->client->conf->fabric;
	struct members all = { 0 };
	int ret;

	if (id) {
		view->fabric = mem_printf(FABRICS "/%s", id);
		return CTL_DONE;
	}
	ret = members_read(view->client, FABRICS, NULL, &all, f);
	if (!ret && all.n != 1) {
		fault_set(f, ENOENT, "it has %zu fabrics: name one as fabric in %s", all.n,
			  view->client->conf->file);
		ret = view_fault(view, CTL_FAILED, f);
	}
	if (!ret)
		view->fabric = mem_strdup(all.path[0]);
	members_free(&all);
	return ret;
}

/* The member of a collection whose path ends in @id, NULL for none. */
static const char *members_find(const struct members *members, const char *id)
{
	size_t i;

	for (i = 0; i < members->n; i++)
		if (!strcmp(link_last(members->path[i]), id))
			return members->path[i];
	return NULL;
}

static int owner_find(struct view *view, const char *collection, const char *what, struct fault *f)
{
	const char *host = view->client->conf->host, *path;
	struct members all = { 0 };
	int ret = members_read(view->client, collection, NULL, &all, f);

	path = ret ? NULL : members_find(&all, host);
	if (path) {
		view->owner = mem_strdup(path);
	} else if (!ret) {
		fault_set(f, ENOENT, "it has no %s %s: host in %s", what, host,
			  view->client->conf->file);
		ret = view_fault(view, CTL_FAILED, f);
	}
	members_free(&all);
	return ret;
}

static void owner_clear(struct view *view)
{
	while (view->n_members)
		free(view->members[--view->n_members]);
	free(view->members);
	view->members = NULL;
}

/* Who is in our zone or system, and as of when. */
static int owner_read(struct view *view, struct fault *f)
{
	struct answer answer = { 0 };
	struct json_object *list;
	const char *etag;
	size_t i;
	int ret = client_get(view->client, view->owner, NULL, &answer, f);

	if (ret)
		goto out;
	owner_clear(view);
	list = doc_array(doc_object(answer.body, "Links"),
			 view_has_blocks(view) ? "ResourceBlocks" : "Endpoints");
	for (i = 0; list && i < json_object_array_length(list); i++) {
		const char *path = link_path(json_object_array_get_idx(list, i));

		if (!path || view->n_members == VIEW_ENDPOINTS_MAX) {
			fault_set(f, EINVAL,
				  "%s: entry %zu of its links is no path below /redfish/v1",
				  view->owner, i);
			ret = view_fault(view, CTL_FAILED, f);
			goto out;
		}
		view->members = mem_push(view->members, view->n_members, sizeof(*view->members));
		view->members[view->n_members++] = mem_strdup(path);
	}
	etag = *answer.etag ? answer.etag : doc_text(answer.body, "@odata.etag");
	view->etag[0] = '\0';
	if (etag && strlen(etag) < sizeof(view->etag))
		strcpy(view->etag, etag);
out:
	answer_free(&answer);
	return ret;
}

static int fabric_open(struct view *view, struct fault *f)
{
	struct answer answer = { 0 };
	const char *zones, *endpoints;
	int ret = fabric_find(view, f);

	if (!ret)
		ret = client_get(view->client, view->fabric, NULL, &answer, f);
	zones = ret ? NULL : link_below(answer.body, "Zones");
	endpoints = ret ? NULL : link_below(answer.body, "Endpoints");
	if (!ret && (!zones || !endpoints)) {
		fault_set(f, EINVAL, "%s has no zones or no endpoints: set another way in %s",
			  view->fabric, view->client->conf->file);
		ret = view_fault(view, CTL_FAILED, f);
	}
	if (!ret) {
		view->collection = mem_strdup(endpoints);
		ret = owner_find(view, zones, "zone", f);
	}
	answer_free(&answer);
	return ret;
}

int view_open(struct view *view, struct client *client, struct fault *f)
{
	int ret;

	memset(view, 0, sizeof(*view));
	view->client = client;
	if (view_has_blocks(view)) {
		view->collection = mem_strdup(BLOCKS);
		ret = owner_find(view, SYSTEMS, "system", f);
	} else {
		ret = fabric_open(view, f);
	}
	return ret ? ret : owner_read(view, f);
}

static void endpoint_clear(struct endpoint *e)
{
	free(e->id);
	free(e->model);
	free(e->serial);
	free(e->host);
	free(e->port);
	free(e->why);
	*e = (struct endpoint){ .path = e->path };
}

/* Is there all that is read of it? What came with others may lack anything. */
static bool is_whole(const struct view *view, struct json_object *body)
{
	const bool blocks = view_has_blocks(view);

	return doc_text(body, "Id") && doc_object(body, "Links") &&
	       doc_array(body, blocks ? "Processors" : "ConnectedEntities") &&
	       doc_object(body, blocks ? "CompositionStatus" : "Status");
}

/* One that was read before is the GPU that it was, or what it says is of no use. */
static int check_same(const struct view *view, const struct endpoint *e, const struct endpoint *now,
		      struct fault *f)
{
	if (!e->id || (now->gpu && !strcmp(e->id, now->id)))
		return CTL_DONE;
	fault_set(f, EIO, "%s does not show GPU %s any more", e->path, e->id);
	return view_fault(view, CTL_FAILED, f);
}

/*
 * One resource into @e, whose path is set, from @body if that has it; after an error @e is as it
 * was.
 */
static int one_read(struct view *view, struct endpoint *e, struct json_object *body,
		    struct fault *f)
{
	struct endpoint now = { .path = e->path };
	struct answer answer = { 0 };
	const char *id, *etag;
	int ret = CTL_DONE;

	if (is_whole(view, body))
		answer.body = json_object_get(body);
	else
		ret = client_get(view->client, e->path, NULL, &answer, f);
	if (ret)
		goto out;
	id = doc_text(answer.body, "Id");
	if (!id || !manager_is_id(id)) {
		fault_set(f, EINVAL, "%s has no Id of A-Z a-z 0-9 . _ -", e->path);
		ret = view_fault(view, CTL_FAILED, f);
		goto out;
	}
	now.id = mem_strdup(id);
	etag = *answer.etag ? answer.etag : doc_text(answer.body, "@odata.etag");
	if (etag && strlen(etag) < sizeof(now.etag))
		strcpy(now.etag, etag);
	ret = (view_has_blocks(view) ? block_read : endpoint_read)(view, &now, &answer, f);
	if (!ret)
		ret = check_same(view, e, &now, f);
out:
	endpoint_clear(ret ? &now : e);
	if (!ret)
		*e = now;
	answer_free(&answer);
	return ret;
}

static int one_add(struct view *view, const char *path, struct json_object *body, struct fault *f)
{
	struct endpoint *e;
	int ret;

	view->endpoints = mem_push(view->endpoints, view->n, sizeof(*view->endpoints));
	e = &view->endpoints[view->n];
	*e = (struct endpoint){ .path = mem_strdup(path) };
	ret = one_read(view, e, body, f);
	if (!ret && e->gpu) {
		view->n++;
		return CTL_DONE;
	}
	endpoint_clear(e);
	free(e->path);
	return ret;
}

int view_read_all(struct view *view, struct fault *f)
{
	struct members all = { 0 };
	size_t i;
	/* The processor of a block is one level deeper. */
	int ret = members_expand(view->client, &view->expansion, view->collection,
				 view_has_blocks(view) ? 2 : 1, &all, f);

	for (i = 0; i < all.n && !ret; i++)
		ret = one_add(view, all.path[i], all.body[i], f);
	members_free(&all);
	return ret;
}

int view_read_one(struct view *view, const char *id, struct fault *f)
{
	struct members all = { 0 };
	const char *path;
	int ret;

	if (view_find(view, id))
		return CTL_DONE;
	ret = members_read(view->client, view->collection, NULL, &all, f);
	path = ret ? NULL : members_find(&all, id);
	if (path)
		ret = one_add(view, path, NULL, f);
	if (!ret && !view_find(view, id)) {
		fault_set(f, ENOENT, "it has no GPU %s", id);
		ret = view_fault(view, CTL_USAGE, f);
	}
	members_free(&all);
	return ret;
}

int view_refresh(struct view *view, struct fault *f)
{
	size_t i;
	int ret = owner_read(view, f);

	for (i = 0; i < view->n && !ret; i++)
		ret = one_read(view, &view->endpoints[i], NULL, f);
	return ret;
}

void view_free(struct view *view)
{
	owner_clear(view);
	while (view->n) {
		view->n--;
		endpoint_clear(&view->endpoints[view->n]);
		free(view->endpoints[view->n].path);
	}
	free(view->endpoints);
	free(view->fabric);
	free(view->collection);
	free(view->owner);
	memset(view, 0, sizeof(*view));
}

struct endpoint *view_find(const struct view *view, const char *id)
{
	size_t i;

	for (i = 0; i < view->n; i++)
		if (view->endpoints[i].id && !strcmp(view->endpoints[i].id, id))
			return &view->endpoints[i];
	return NULL;
}

bool view_is_mine(const struct view *view, const struct endpoint *e)
{
	return e->host && !strcmp(e->host, view->client->conf->host);
}

char *view_port_path(const struct view *view, const char *port)
{
	const char *slash = strchr(port, '/');

	if (slash == port || !slash || !view->fabric)
		return mem_strdup(port);
	return mem_printf("%s/Switches/%.*s/Ports/%s", view->fabric, (int)(slash - port), port,
			  slash + 1);
}

char *view_port_name(const struct view *view, const char *path)
{
	const struct manager_conf *conf = view->client->conf;
	const char *port = link_last(path), *rest;
	size_t i, len = view->fabric ? strlen(view->fabric) : 0;

	/* As the configuration has it, where it does. */
	for (i = 0; i < conf->n_ports; i++) {
		char *known = view_port_path(view, conf->ports[i].port);
		bool same = !strcmp(known, path);

		free(known);
		if (same)
			return mem_strdup(conf->ports[i].port);
	}
	rest = path + len;
	if (len && !strncmp(path, view->fabric, len) && !strncmp(rest, "/Switches/", 10)) {
		size_t n = strcspn(rest + 10, "/");

		if (!strncmp(rest + 10 + n, "/Ports/", 7) && rest + 10 + n + 7 == port)
			return mem_printf("%.*s/%s", (int)n, rest + 10, port);
	}
	return mem_strdup(path);
}
