// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: changes of a zone
 *
 * What a client knows of a zone (its tag) is compared and the request accepted under one hold of
 * the manager's lock, so that of two clients who saw the same zone one is refused.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fm/body.h"
#include "fm/journal.h"
#include "fm/zone.h"

static struct ask ask_for(const struct service *s, const struct ask *ask, const char *name)
{
	struct ask one = *ask;

	one.argument[0] = s->config->fabric;
	one.argument[1] = name;
	return one;
}

bool zone_may_change(const struct ask *ask, const char *zone, struct answer *answer)
{
	if (ask->who.role == ROLE_ADMIN ||
	    (ask->who.role == ROLE_HOST && !strcmp(ask->who.name, zone)))
		return true;
	answer_refuse(answer, 403, "InsufficientPrivilege", NULL, NULL,
		      "%s may not change the zone of %s", ask->who.name, zone);
	return false;
}

void zone_refuse(const struct service *s, const struct fabric_answer *why, struct answer *answer)
{
	struct fault f = { "" };

	fabric_explain(&s->manager->fabric, why, &f);
	switch (why->refusal) {
	case REFUSED_BUSY:
		answer_refuse(answer, 503, "ServiceTemporarilyUnavailable", NULL, "1", "%s",
			      f.text);
		answer->retry_s = 1;
		break;
	case REFUSED_AWAY:
		answer_refuse(answer, 503, "ServiceTemporarilyUnavailable", NULL, "5", "%s",
			      f.text);
		answer->retry_s = 5;
		break;
	case REFUSED_PORT_FOREIGN:
		answer_refuse(answer, 400, "PropertyValueError", "/Oem/GPUFabric/Ports", "Port",
			      "%s", f.text);
		break;
	default:
		answer_refuse(answer, 409, "ResourceInUse", NULL, NULL, "%s", f.text);
	}
}

/* The last part of a URI that begins with @before; NULL for any other. */
static const char *last_part(const char *uri, const char *before)
{
	size_t len = strlen(before);

	if (strncmp(uri, before, len) || !uri[len] || strchr(uri + len, '/'))
		return NULL;
	return uri + len;
}

const struct zone_words zone_words = {
	.list = "/Links/Endpoints",
	.own = "endpoint",
};

const struct zone_words block_words = {
	.list = "/Links/ResourceBlocks",
	.own = "block",
	.blocks = true,
};

int zone_find(const struct service *s, const struct zone_words *words, const char *uri, int *host)
{
	char *before = words->blocks ?
			       mem_strdup(SERVICE_ROOT "/CompositionService/ResourceBlocks/") :
			       mem_printf(SERVICE_ROOT "/Fabrics/%s/Endpoints/", s->config->fabric);
	const char *name = last_part(uri, before);

	*host = name ? fabric_find_host(&s->manager->fabric, name) : FABRIC_NONE;
	free(before);
	return name ? fabric_find_gpu(&s->manager->fabric, name) : FABRIC_NONE;
}

static int find_endpoint(const struct service *s, const char *uri, int *host)
{
	return zone_find(s, &zone_words, uri, host);
}

/* A port by its URI, of whatever host. */
static int find_port(const struct service *s, const char *uri)
{
	const struct fabric *fabric = &s->manager->fabric;
	char *before = mem_printf(SERVICE_ROOT "/Fabrics/%s/Switches/", s->config->fabric);
	const size_t len = strlen(before);
	int host = FABRIC_NONE, port = FABRIC_NONE;
	char *name, *end;

	if (!strncmp(uri, before, len)) {
		name = mem_strdup(uri + len);
		end = strchr(name, '/');
		if (end) {
			*end = '\0';
			host = fabric_find_host(fabric, name);
			uri = last_part(uri + len + (size_t)(end - name), "/Ports/");
		}
		free(name);
	}
	free(before);
	if (host != FABRIC_NONE && uri)
		port = fabric_find_port(fabric, host, uri);
	return port;
}

bool zone_not_found(struct answer *answer, const char *property, const char *what, const char *uri)
{
	answer_refuse(answer, 400, "ResourceNotFound", property, uri,
		      "%.300s is not a %s of this resource", uri, what);
	return false;
}

bool zone_read(const struct service *s, const struct body_zone *body,
	       const struct zone_words *words, int host, struct wanted *wanted,
	       struct answer *answer)
{
	bool own = false;
	size_t i, k;
	int gpu, other;

	*wanted = (struct wanted){ 0 };
	for (i = 0; i < body->member_count; i++) {
		gpu = zone_find(s, words, body->members[i], &other);
		if (other == host) {
			own = true;
			continue;
		}
		if (gpu == FABRIC_NONE)
			return zone_not_found(answer, words->list, "GPU", body->members[i]);
		for (k = 0; k < wanted->count; k++) {
			if (wanted->gpus[k] != gpu)
				continue;
			answer_refuse(answer, 400, "PropertyValueConflict", words->list, NULL,
				      "%s is listed twice", s->config->gpus[gpu].name);
			return false;
		}
		wanted->gpus[wanted->count++] = gpu;
	}
	if (!own) {
		answer_refuse(answer, 400, "PropertyValueError", words->list,
			      strrchr(words->list, '/') + 1,
			      "the %s of %s stays in its zone: list it", words->own,
			      s->config->hosts[host].name);
		return false;
	}
	for (i = 0; i < body->wish_count; i++) {
		gpu = find_endpoint(s, body->wish_endpoint[i], &other);
		if (gpu == FABRIC_NONE)
			return zone_not_found(answer, "/Oem/GPUFabric/Ports/Endpoint", "GPU",
					      body->wish_endpoint[i]);
		wanted->wishes[i] = (struct fabric_place){ gpu, find_port(s, body->wish_port[i]) };
		if (wanted->wishes[i].port == FABRIC_NONE)
			return zone_not_found(answer, "/Oem/GPUFabric/Ports/Port", "port",
					      body->wish_port[i]);
		for (k = 0; k < i; k++) {
			if (wanted->wishes[k].gpu != gpu)
				continue;
			answer_refuse(answer, 400, "PropertyValueConflict", "/Oem/GPUFabric/Ports",
				      NULL, "the request names two ports for %s",
				      s->config->gpus[gpu].name);
			return false;
		}
		wanted->wish_count++;
	}
	return true;
}

/* Lock held. */
static void tag_of(const struct service *s,
		   struct json_object *(*get)(const struct service *, const struct ask *),
		   const struct ask *ask, const char *name, char etag[ANSWER_ETAG])
{
	struct ask one = ask_for(s, ask, name);
	char *path = mem_printf(SERVICE_ROOT "/Fabrics/%s/%s/%s", s->config->fabric,
				get == zone_get ? "Zones" : "Endpoints", name);
	struct json_object *document;

	one.path = path;
	document = get(s, &one);
	answer_tag(document, etag);
	json_object_put(document);
	free(path);
}

/* Lock held. */
static bool zone_has_tag(const struct service *s, const struct ask *ask, int host, const char *list,
			 struct answer *answer)
{
	const char *zone = s->config->hosts[host].name;
	char etag[ANSWER_ETAG];

	tag_of(s, zone_get, ask, zone, etag);
	if (answer_tag_matches(list, etag))
		return true;
	answer_refuse(answer, 412, "PreconditionFailed", NULL, NULL,
		      "the zone of %s has changed since you read it", zone);
	return false;
}

void zone_outcome(struct service *s, struct ask *ask, const struct task *task,
		  struct answer *answer)
{
	if (task->state != TASK_FAILED) {
		ask->outcome(s, ask, task, answer);
	} else if (task->away) {
		answer_refuse(answer, 503, "ServiceTemporarilyUnavailable", NULL, "5", "%s",
			      task->text.text);
		answer->retry_s = 5;
	} else {
		answer_refuse(answer, 409, "OperationFailed", NULL, NULL, "%s", task->text.text);
	}
}

void zone_show(struct ask *ask, struct json_object *document, struct answer *answer)
{
	answer->status = 200;
	answer->body = document;
	answer_tag(answer->body, answer->etag);
	if (ask->remarks) {
		json_object_object_foreach(ask->remarks, key, value) {
			json_object_object_add(answer->body, key, json_object_get(value));
		}
	}
}

static void zone_patched(struct service *s, struct ask *ask, const struct task *task,
			 struct answer *answer)
{
	struct ask one = ask_for(s, ask, s->config->hosts[task->host].name);

	zone_show(ask, zone_get(s, &one), answer);
}

static void zone_acted(struct service *s, struct ask *ask, const struct task *task,
		       struct answer *answer)
{
	(void)s;
	(void)ask;
	(void)task;
	answer->status = 204;
}

struct manager_zone zone_of(int host, const struct wanted *wanted)
{
	return (struct manager_zone){ host, wanted->gpus, wanted->count, wanted->wishes,
				      wanted->wish_count };
}

enum service_end zone_request(struct service *s, struct ask *ask, const struct manager_zone *zones,
			      size_t count, struct answer *answer)
{
	struct fabric_answer why;
	char *who = mem_printf("%s (%s) from %s", ask->who.name, account_role_name(ask->who.role),
			       ask->address);
	struct task *task = manager_request(s->manager, zones, count, who, &why);

	if (!task) {
		zone_refuse(s, &why, answer);
	} else if (task->state == TASK_RUNNING) {
		task->waiter = ask->waiter;
		ask->task = task->id;
		ask->park(ask->waiter);
	} else {
		zone_outcome(s, ask, task, answer);
	}
	free(who);
	return answer->status ? SERVICE_DONE : SERVICE_WAIT;
}

enum service_end zone_change(struct service *s, struct ask *ask,
			     const struct zone_resource *resource, struct answer *answer)
{
	const char *name = ask->argument[resource->argument];
	enum service_end end = SERVICE_DONE;
	struct body_zone body = { 0 };
	struct wanted *wanted = mem_zalloc(1, sizeof(*wanted));
	int host;

	if (!zone_may_change(ask, name, answer))
		goto out;
	if (!ask->match) {
		answer_refuse(answer, 428, "PreconditionRequired", NULL, NULL,
			      "If-Match with the ETag of the %s is needed", resource->noun);
		goto out;
	}
	if (!resource->read(ask->body, ask->length, &body, answer))
		goto out;
	pthread_mutex_lock(&s->manager->lock);
	host = fabric_find_host(&s->manager->fabric, name);
	if (resource->has_tag(s, ask, host, ask->match, answer) &&
	    zone_read(s, &body, resource->words, host, wanted, answer)) {
		const struct manager_zone one = zone_of(host, wanted);

		ask->remarks = json_object_get(body.remarks);
		ask->outcome = resource->changed;
		end = zone_request(s, ask, &one, 1, answer);
	}
	pthread_mutex_unlock(&s->manager->lock);
out:
	body_free_zone(&body);
	free(wanted);
	return end;
}

enum service_end zone_patch(struct service *s, struct ask *ask, struct answer *answer)
{
	static const struct zone_resource zone = {
		"zone", 1, &zone_words, body_read_zone, zone_has_tag, zone_patched,
	};

	return zone_change(s, ask, &zone, answer);
}

/* Lock held. The zone as it is, as numbers; false when there are more than a request can name. */
static bool wanted_now(const struct fabric *fabric, int host, struct wanted *wanted)
{
	int i;

	*wanted = (struct wanted){ 0 };
	for (i = 0; i < fabric->gpu_count; i++) {
		if (fabric->gpus[i].owner != host)
			continue;
		if (wanted->count == BODY_LINKS_MAX)
			return false;
		wanted->gpus[wanted->count++] = i;
	}
	return true;
}

static void wanted_remove(struct wanted *wanted, int gpu)
{
	size_t i, n = 0;

	for (i = 0; i < wanted->count; i++)
		if (wanted->gpus[i] != gpu)
			wanted->gpus[n++] = wanted->gpus[i];
	wanted->count = n;
}

/* Lock held. */
static bool tags_are_good(struct service *s, const struct ask *ask, const char *zone,
			  const char *gpu, const struct body_action *action, struct answer *answer)
{
	char etag[ANSWER_ETAG];
	const char *what = NULL;

	if (ask->match &&
	    !zone_has_tag(s, ask, fabric_find_host(&s->manager->fabric, zone), ask->match, answer))
		return false;
	tag_of(s, zone_get, ask, zone, etag);
	if (action->zone_etag && !answer_tag_matches(action->zone_etag, etag))
		what = zone;
	tag_of(s, endpoint_get, ask, gpu, etag);
	if (action->endpoint_etag && !answer_tag_matches(action->endpoint_etag, etag))
		what = gpu;
	if (what)
		answer_refuse(answer, 428, "PreconditionRequired", NULL, NULL,
			      "%s has changed since you read it", what);
	return !what;
}

/* Lock held. */
static enum service_end act(struct service *s, struct ask *ask, bool add,
			    const struct body_action *action, struct answer *answer)
{
	const struct fabric *fabric = &s->manager->fabric;
	int other, host = fabric_find_host(fabric, ask->argument[1]);
	int gpu = find_endpoint(s, action->endpoint, &other);
	struct manager_zone one;
	struct wanted wanted;

	if (gpu == FABRIC_NONE) {
		zone_not_found(answer, "/Endpoint", "GPU", action->endpoint);
		return SERVICE_DONE;
	}
	if (!tags_are_good(s, ask, ask->argument[1], s->config->gpus[gpu].name, action, answer))
		return SERVICE_DONE;
	if (!wanted_now(fabric, host, &wanted)) {
		answer_refuse(answer, 409, "ResourceInUse", NULL, NULL,
			      "the zone of %s has more than %d GPUs: change it by a list of those it keeps",
			      ask->argument[1], BODY_LINKS_MAX);
		return SERVICE_DONE;
	}
	if (!add && fabric->gpus[gpu].owner != host) {
		answer_refuse(answer, 400, "ResourceNotFound", "/Endpoint", action->endpoint,
			      "%s is not in the zone of %s", s->config->gpus[gpu].name,
			      ask->argument[1]);
		return SERVICE_DONE;
	}
	wanted_remove(&wanted, gpu);
	if (add)
		wanted.gpus[wanted.count++] = gpu;
	if (action->port) {
		wanted.wishes[0] = (struct fabric_place){ gpu, find_port(s, action->port) };
		wanted.wish_count = 1;
		if (wanted.wishes[0].port == FABRIC_NONE) {
			zone_not_found(answer, "/Oem/GPUFabric/Port", "port", action->port);
			return SERVICE_DONE;
		}
	}
	one = zone_of(host, &wanted);
	ask->outcome = zone_acted;
	return zone_request(s, ask, &one, 1, answer);
}

static enum service_end zone_act(struct service *s, struct ask *ask, bool add,
				 struct answer *answer)
{
	enum service_end end = SERVICE_DONE;
	struct body_action action = { 0 };

	if (zone_may_change(ask, ask->argument[1], answer) &&
	    body_read_action(ask->body, ask->length, add, &action, answer)) {
		pthread_mutex_lock(&s->manager->lock);
		end = act(s, ask, add, &action, answer);
		pthread_mutex_unlock(&s->manager->lock);
	}
	body_free_action(&action);
	return end;
}

enum service_end zone_add(struct service *s, struct ask *ask, struct answer *answer)
{
	return zone_act(s, ask, true, answer);
}

enum service_end zone_remove(struct service *s, struct ask *ask, struct answer *answer)
{
	return zone_act(s, ask, false, answer);
}
