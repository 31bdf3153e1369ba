// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: ways to ask for a change
 *
 * The Redfish schema has several. A zone or a system takes the whole list of what it is to have,
 * which the manager makes true all at once; actions of a zone are for one endpoint each; the
 * composition service takes a manifest with the list of a system's blocks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "redfish/change.h"
#include "redfish/link.h"

#define COMPOSE "/redfish/v1/CompositionService/Actions/CompositionService.Compose"

static bool is_wished(const struct view *view, const struct change *change, const char *path)
{
	size_t i;

	for (i = 0; i < change->n; i++)
		if (!strcmp(view_find(view, change->wishes[i].id)->path, path))
			return true;
	return false;
}

static bool is_member(const struct view *view, const char *path)
{
	size_t i;

	for (i = 0; i < view->n_members; i++)
		if (!strcmp(view->members[i], path))
			return true;
	return false;
}

/* What our zone or system is to have. */
static struct json_object *whole_list(const struct view *view, const struct change *change)
{
	struct json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < view->n_members; i++)
		if (change->bind || !is_wished(view, change, view->members[i]))
			json_object_array_add(list, link_reference(view->members[i]));
	for (i = 0; i < change->n && change->bind; i++) {
		const char *path = view_find(view, change->wishes[i].id)->path;

		if (!is_member(view, path))
			json_object_array_add(list, link_reference(path));
	}
	return list;
}

static struct json_object *links_of(const char *name, struct json_object *list)
{
	struct json_object *links = json_object_new_object(), *body = json_object_new_object();

	json_object_object_add(links, name, list);
	json_object_object_add(body, "Links", links);
	return body;
}

/* { "GPUFabric": what } */
static struct json_object *oem_of(const char *key, struct json_object *what)
{
	struct json_object *ours = json_object_new_object(), *oem = json_object_new_object();

	json_object_object_add(ours, key, what);
	json_object_object_add(oem, "GPUFabric", ours);
	return oem;
}

/* Which GPU is to come to which port; NULL where nothing is wished. */
static struct json_object *ports_of(const struct view *view, const struct change *change)
{
	struct json_object *ports = NULL;
	size_t i;

	for (i = 0; i < change->n && change->bind; i++) {
		struct json_object *one;
		char *path;

		if (!change->wishes[i].port)
			continue;
		ports = ports ? ports : json_object_new_array();
		one = json_object_new_object();
		path = view_port_path(view, change->wishes[i].port);
		json_object_object_add(one, "Endpoint",
				       link_reference(view_find(view, change->wishes[i].id)->path));
		json_object_object_add(one, "Port", link_reference(path));
		json_object_array_add(ports, one);
		free(path);
	}
	return ports;
}

static int zone_ask(struct view *view, const struct change *change, struct answer *answer,
		    struct fault *f)
{
	struct json_object *body = links_of("Endpoints", whole_list(view, change));
	struct json_object *ports = ports_of(view, change);
	int ret;

	if (ports)
		json_object_object_add(body, "Oem", oem_of("Ports", ports));
	ret = client_change(view->client, "PATCH", view->owner, view->etag, body, answer, f);
	json_object_put(body);
	return ret;
}

static int blocks_ask(struct view *view, const struct change *change, struct answer *answer,
		      struct fault *f)
{
	struct json_object *body = links_of("ResourceBlocks", whole_list(view, change));
	int ret = client_change(view->client, "PATCH", view->owner, view->etag, body, answer, f);

	json_object_put(body);
	return ret;
}

static int compose_ask(struct view *view, const struct change *change, struct answer *answer,
		       struct fault *f)
{
	struct json_object *body = json_object_new_object(), *manifest = json_object_new_object();
	struct json_object *stanzas = json_object_new_array(), *stanza = json_object_new_object();
	struct json_object *request = links_of("ResourceBlocks", whole_list(view, change));
	int ret;

	json_object_object_add(request, "@odata.id", json_object_new_string(view->owner));
	/* The whole list again: what another request of this host has bound is not in ours. */
	if (*view->etag)
		json_object_object_add(request, "@odata.etag", json_object_new_string(view->etag));
	json_object_object_add(stanza, "StanzaType", json_object_new_string("ComposeSystem"));
	json_object_object_add(stanza, "StanzaId", json_object_new_string("gpuctl"));
	json_object_object_add(stanza, "Request", request);
	json_object_array_add(stanzas, stanza);
	json_object_object_add(manifest, "Description", json_object_new_string("gpuctl"));
	json_object_object_add(manifest, "Expand", json_object_new_string("None"));
	json_object_object_add(manifest, "Stanzas", stanzas);
	json_object_object_add(body, "RequestFormat", json_object_new_string("Manifest"));
	json_object_object_add(body, "RequestType", json_object_new_string("Apply"));
	json_object_object_add(body, "Manifest", manifest);
	ret = client_change(view->client, "POST", COMPOSE, NULL, body, answer, f);
	json_object_put(body);
	return ret;
}

/* One endpoint into our zone, or out of it. */
static int action_ask(struct view *view, const struct change *change, size_t i,
		      struct answer *answer, struct fault *f)
{
	const struct endpoint *e = view_find(view, change->wishes[i].id);
	struct json_object *body = json_object_new_object();
	char *path = mem_printf("%s/Actions/Zone.%s", view->owner,
				change->bind ? "AddEndpoint" : "RemoveEndpoint"),
	     *port;
	int ret;

	json_object_object_add(body, "Endpoint", link_reference(e->path));
	if (*e->etag)
		json_object_object_add(body, "EndpointETag", json_object_new_string(e->etag));
	if (*view->etag)
		json_object_object_add(body, "ZoneETag", json_object_new_string(view->etag));
	if (change->bind && change->wishes[i].port) {
		port = view_port_path(view, change->wishes[i].port);
		json_object_object_add(body, "Oem", oem_of("Port", link_reference(port)));
		free(port);
	}
	ret = client_change(view->client, "POST", path, NULL, body, answer, f);
	json_object_put(body);
	free(path);
	return ret;
}

/* One by one: only the last answer goes up, or the first that is no success. */
static int actions_ask(struct view *view, struct change *change, struct answer *answer,
		       struct fault *f)
{
	size_t left = 0, i;
	int ret = CTL_DONE;

	for (i = 0; i < change->n; i++)
		left += !change_is_met(view, change, i);
	for (i = 0; i < change->n && !ret && left; i++) {
		if (change_is_met(view, change, i))
			continue;
		answer_free(answer);
		ret = action_ask(view, change, i, answer, f);
		/* A task, a refusal, or the last: the rest is asked for the next time. */
		if (ret || answer->status / 100 != 2 || answer->status == 202 || !--left)
			break;
		change->asked = true;
		ret = view_refresh(view, f);
		answer->lost = ret;
	}
	return ret;
}

int way_ask(struct view *view, struct change *change, struct answer *answer, struct fault *f)
{
	switch (view->client->conf->way) {
	case MANAGER_ACTIONS:
		return actions_ask(view, change, answer, f);
	case MANAGER_BLOCKS:
		return blocks_ask(view, change, answer, f);
	case MANAGER_COMPOSE:
		return compose_ask(view, change, answer, f);
	default:
		return zone_ask(view, change, answer, f);
	}
}
