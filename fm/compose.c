// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: changes of systems
 *
 * A system is what the zone of its host makes it, so that a change of its blocks is a change of the
 * zone, and a manifest is a request for the zones of all systems in it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fm/zone.h"

/**
 * struct plan - a manifest as numbers
 */
struct plan {
	struct body_manifest body;
	struct manager_zone *zones;
	struct wanted *wanted;
};

static const char *host_name(const struct service *s, int host)
{
	return s->config->hosts[host].name;
}

/* Lock held. */
static struct json_object *system_now(const struct service *s, const struct ask *ask, int host)
{
	char *path = mem_printf(SERVICE_ROOT "/Systems/%s", host_name(s, host));
	struct json_object *document;
	struct ask one = *ask;

	one.path = path;
	one.argument[0] = host_name(s, host);
	document = system_get(s, &one);
	free(path);
	return document;
}

/* Lock held. */
static bool has_tag(const struct service *s, const struct ask *ask, int host, const char *list,
		    struct answer *answer)
{
	struct json_object *document = system_now(s, ask, host);
	char etag[ANSWER_ETAG];

	answer_tag(document, etag);
	json_object_put(document);
	if (answer_tag_matches(list, etag))
		return true;
	answer_refuse(answer, 412, "PreconditionFailed", NULL, NULL,
		      "the system of %s has changed since you read it", host_name(s, host));
	return false;
}

static void system_patched(struct service *s, struct ask *ask, const struct task *task,
			   struct answer *answer)
{
	zone_show(ask, system_now(s, ask, task->host), answer);
}

enum service_end system_patch(struct service *s, struct ask *ask, struct answer *answer)
{
	static const struct zone_resource system = {
		"system", 0, &block_words, body_read_system, has_tag, system_patched,
	};

	return zone_change(s, ask, &system, answer);
}

/* Lock held. The system of a stanza: it is named, or its block is listed. */
static int stanza_host(const struct service *s, const struct body_stanza *stanza,
		       struct answer *answer)
{
	static const char before[] = SERVICE_ROOT "/Systems/";
	const struct fabric *fabric = &s->manager->fabric;
	int host = FABRIC_NONE, other;
	size_t i;

	if (stanza->system) {
		if (!strncmp(stanza->system, before, sizeof(before) - 1))
			host = fabric_find_host(fabric, stanza->system + sizeof(before) - 1);
		if (host == FABRIC_NONE)
			zone_not_found(answer, "/Manifest/Stanzas/Request", "system",
				       stanza->system);
		return host;
	}
	for (i = 0; i < stanza->zone.member_count && host == FABRIC_NONE; i++) {
		zone_find(s, &block_words, stanza->zone.members[i], &other);
		host = other;
	}
	if (host == FABRIC_NONE)
		answer_refuse(answer, 400, "PropertyValueError", "/Manifest/Stanzas/Request",
			      "Request", "a stanza needs a system or the block of a host");
	return host;
}

/* Lock held. */
static bool plan_stanza(const struct service *s, const struct ask *ask, struct plan *plan, size_t i,
			struct answer *answer)
{
	const struct body_stanza *stanza = &plan->body.stanzas[i];
	int host = stanza_host(s, stanza, answer);
	size_t k;

	if (host == FABRIC_NONE || !zone_may_change(ask, host_name(s, host), answer))
		return false;
	for (k = 0; k < i; k++) {
		if (plan->zones[k].host != host)
			continue;
		answer_refuse(answer, 400, "PropertyValueConflict", "/Manifest/Stanzas", NULL,
			      "two stanzas are for %s", host_name(s, host));
		return false;
	}
	if (stanza->etag && !has_tag(s, ask, host, stanza->etag, answer))
		return false;
	if (!stanza->decompose &&
	    !zone_read(s, &stanza->zone, &block_words, host, &plan->wanted[i], answer))
		return false;
	plan->zones[i] = zone_of(host, &plan->wanted[i]);
	return true;
}

/* Lock held. The answer, where the systems still are as they were. */
static struct json_object *reply_of(const struct service *s, const struct ask *ask,
				    const struct plan *plan)
{
	struct json_object *reply = json_object_new_object(), *stanzas;
	size_t i;

	document_text(reply, "RequestFormat", "Manifest");
	document_text(reply, "RequestType", plan->body.apply ? "Apply" : "Preview");
	json_object_object_add(reply, "Manifest", json_object_get(plan->body.given));
	json_object_object_get_ex(plan->body.given, "Stanzas", &stanzas);
	for (i = 0; i < plan->body.count; i++)
		json_object_object_add(json_object_array_get_idx(stanzas, i), "Response",
				       system_now(s, ask, plan->zones[i].host));
	return reply;
}

/* Lock held. As the systems are in the end. */
static void composed(struct service *s, struct ask *ask, const struct task *task,
		     struct answer *answer)
{
	struct json_object *manifest, *stanzas, *stanza, *response, *id;
	size_t i;
	int host;

	(void)task;
	json_object_object_get_ex(ask->reply, "Manifest", &manifest);
	json_object_object_get_ex(manifest, "Stanzas", &stanzas);
	for (i = 0; i < json_object_array_length(stanzas); i++) {
		stanza = json_object_array_get_idx(stanzas, i);
		json_object_object_get_ex(stanza, "Response", &response);
		json_object_object_get_ex(response, "Id", &id);
		host = fabric_find_host(&s->manager->fabric, json_object_get_string(id));
		/* it has left fm.conf meanwhile */
		if (host == FABRIC_NONE)
			continue;
		json_object_object_add(stanza, "Response", system_now(s, ask, host));
	}
	answer->status = 200;
	answer->body = json_object_get(ask->reply);
}

/* Lock held. As the systems would be. */
static void previewed(const struct service *s, struct ask *ask, const struct plan *plan,
		      struct answer *answer)
{
	struct json_object *stanzas, *response, *links, *list;
	size_t i, k;

	json_object_object_get_ex(plan->body.given, "Stanzas", &stanzas);
	for (i = 0; i < plan->body.count; i++) {
		json_object_object_get_ex(json_object_array_get_idx(stanzas, i), "Response",
					  &response);
		json_object_object_get_ex(response, "Links", &links);
		list = document_list(document_block(host_name(s, plan->zones[i].host)));
		for (k = 0; k < plan->wanted[i].count; k++) {
			int gpu = plan->wanted[i].gpus[k];

			json_object_array_add(list, document_block(s->config->gpus[gpu].name));
		}
		json_object_object_add(links, "ResourceBlocks", list);
	}
	answer->status = 200;
	answer->body = json_object_get(ask->reply);
}

/* Lock held. */
static enum service_end plan_do(struct service *s, struct ask *ask, struct plan *plan,
				struct answer *answer)
{
	struct fabric_answer why;
	size_t i;

	for (i = 0; i < plan->body.count; i++)
		if (!plan_stanza(s, ask, plan, i, answer))
			return SERVICE_DONE;
	ask->reply = reply_of(s, ask, plan);
	ask->outcome = composed;
	if (plan->body.apply)
		return zone_request(s, ask, plan->zones, plan->body.count, answer);
	if (manager_preview(s->manager, plan->zones, plan->body.count, &why))
		previewed(s, ask, plan, answer);
	else
		zone_refuse(s, &why, answer);
	return SERVICE_DONE;
}

enum service_end compose(struct service *s, struct ask *ask, struct answer *answer)
{
	enum service_end end = SERVICE_DONE;
	struct plan plan = { 0 };

	if (body_read_manifest(ask->body, ask->length, &plan.body, answer)) {
		plan.zones = mem_zalloc(plan.body.count, sizeof(*plan.zones));
		plan.wanted = mem_zalloc(plan.body.count, sizeof(*plan.wanted));
		pthread_mutex_lock(&s->manager->lock);
		end = plan_do(s, ask, &plan, answer);
		pthread_mutex_unlock(&s->manager->lock);
	}
	body_free_manifest(&plan.body);
	free(plan.zones);
	free(plan.wanted);
	return end;
}
