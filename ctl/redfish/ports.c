// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: ports of this host
 *
 * Several ports of one switch are read at once, from the collection that they are in.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "redfish/link.h"
#include "redfish/ports.h"

/* "/redfish/v1/.../Ports" of "/redfish/v1/.../Ports/dn0"; the caller frees. */
static char *collection_of(const struct view *view, size_t port)
{
	char *path = view_port_path(view, view->client->conf->ports[port].port);

	*strrchr(path, '/') = '\0';
	return path;
}

static bool is_shared(const struct view *view, size_t port, const char *collection)
{
	size_t i;
	bool same = false;

	for (i = 0; i < view->client->conf->n_ports && !same; i++) {
		char *other = collection_of(view, i);

		same = i != port && !strcmp(other, collection);
		free(other);
	}
	return same;
}

static struct json_object *body_of(const struct members *members, const char *path)
{
	size_t i;

	for (i = 0; i < members->n; i++)
		if (!strcmp(members->path[i], path))
			return members->body[i];
	return NULL;
}

static void port_take(struct job_port *port, struct json_object *body)
{
	port->link = doc_words(body, "LinkStatus");
	if (!port->link)
		port->link = doc_words(body, "LinkState");
	port->host = doc_words(doc_object(doc_object(body, "Oem"), "GPUFabric"), "Host");
}

/* One that came with others may lack anything. */
static bool is_whole(struct json_object *body)
{
	return doc_text(body, "LinkStatus") || doc_text(body, "LinkState");
}

static int port_read(struct view *view, struct job_port *port, const char *path, struct fault *f)
{
	struct answer answer = { 0 };
	int ret = client_get(view->client, path, &port->missing, &answer, f);

	if (!ret && !port->missing)
		port_take(port, answer.body);
	answer_free(&answer);
	return ret;
}

int ports_read(struct view *view, struct job_port *ports, struct fault *f)
{
	const struct manager_conf *conf = view->client->conf;
	struct members members = { 0 };
	char *of = NULL;
	size_t i;
	int ret = CTL_DONE;

	for (i = 0; i < conf->n_ports && !ret; i++) {
		char *path = view_port_path(view, conf->ports[i].port),
		     *collection = collection_of(view, i);
		struct fault ignored = { "" };
		struct json_object *body;

		if ((!of || strcmp(of, collection)) && is_shared(view, i, collection)) {
			members_free(&members);
			free(of);
			of = mem_strdup(collection);
			/* What it does not have is asked for, one by one. */
			members_expand(view->client, &view->expansion, collection, 1, &members,
				       &ignored);
		}
		body = body_of(&members, path);
		if (is_whole(body))
			port_take(&ports[i], body);
		else
			ret = port_read(view, &ports[i], path, f);
		free(collection);
		free(path);
	}
	members_free(&members);
	free(of);
	return ret;
}
