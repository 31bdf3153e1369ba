// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: who listens, as Redfish has it
 *
 * A subscription is a connection that is open: it is made by listening, and ends with the
 * connection, or is deleted. The manager sends events to nobody who has not come for them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fm/service.h"

struct json_object *event_service_get(const struct service *s, const struct ask *ask)
{
	static const char *const filters[] = { "EventFormatType", "MessageId",
					       "OriginResource",  "RegistryPrefix",
					       "ResourceType",	  "MetricReportDefinition" };
	struct json_object *document = json_object_new_object(),
			   *supported = json_object_new_object();
	size_t i;

	(void)s;
	document_head(document, ask->path, "#EventService.v1_7_0.EventService", "EventService",
		      "Events");
	document_status(document, "Enabled", "OK");
	json_object_object_add(document, "ServiceEnabled", json_object_new_boolean(true));
	json_object_object_add(document, "EventFormatTypes",
			       document_list(json_object_new_string("Event")));
	json_object_object_add(document, "RegistryPrefixes",
			       document_list(json_object_new_string(REGISTRY_PREFIX)));
	json_object_object_add(document, "ResourceTypes",
			       document_list(json_object_new_string("Zone")));
	json_object_object_add(document, "IncludeOriginOfConditionSupported",
			       json_object_new_boolean(false));
	for (i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
		json_object_object_add(supported, filters[i], json_object_new_boolean(false));
	json_object_object_add(document, "SSEFilterPropertiesSupported", supported);
	document_text(document, "ServerSentEventUri", SERVICE_ROOT "/EventService/SSE");
	json_object_object_add(document, "Subscriptions",
			       document_link("%s/Subscriptions", ask->path));
	return document;
}

/* The transport answers instead. */
struct json_object *event_stream_get(const struct service *s, const struct ask *ask)
{
	(void)s;
	(void)ask;
	return NULL;
}

static bool may_see(const struct ask *ask, const struct listener_info *who)
{
	return ask->who.role == ROLE_ADMIN || !strcmp(ask->who.name, who->who.name);
}

struct json_object *subscriptions_get(const struct service *s, const struct ask *ask)
{
	struct json_object *members = json_object_new_array();
	struct listener_info list[EVENTS_LISTENERS];
	size_t i, n = events_list(s->events, list);

	for (i = 0; i < n; i++)
		if (may_see(ask, &list[i]))
			json_object_array_add(members,
					      document_link("%s/%llu", ask->path,
							    (unsigned long long)list[i].id));
	return document_collection(ask->path,
				   "#EventDestinationCollection.EventDestinationCollection",
				   "Listeners", members);
}

struct json_object *subscription_get(const struct service *s, const struct ask *ask)
{
	struct listener_info list[EVENTS_LISTENERS];
	struct json_object *document = NULL;
	size_t i, n = events_list(s->events, list);
	char *name;
	uint64_t id;

	if (!service_number(ask->argument[0], &id))
		return NULL;
	for (i = 0; i < n && !document; i++) {
		if (list[i].id != id || !may_see(ask, &list[i]))
			continue;
		name = mem_printf("%s from %s", list[i].who.name, list[i].address);
		document = json_object_new_object();
		document_head(document, ask->path, "#EventDestination.v1_8_0.EventDestination",
			      ask->argument[0], name);
		json_object_object_add(document, "Context", NULL);
		document_text(document, "Protocol", "Redfish");
		document_text(document, "SubscriptionType", "SSE");
		document_text(document, "EventFormatType", "Event");
		document_status(document, "Enabled", "OK");
		free(name);
	}
	return document;
}

enum service_end subscription_delete(struct service *s, struct ask *ask, struct answer *answer)
{
	uint64_t id;

	/* one's own or an administrator's: others are not even there, see its document */
	if (service_number(ask->argument[0], &id) && events_drop(s->events, id))
		answer->status = 204;
	else
		answer_refuse(answer, 404, "ResourceMissingAtURI", NULL, ask->path,
			      "this listener does not exist");
	return SERVICE_DONE;
}

static bool is_host(const struct config *config, const char *name)
{
	size_t i;

	for (i = 0; i < config->host_count; i++)
		if (!strcmp(config->hosts[i].name, name))
			return true;
	return false;
}

bool service_may_listen(void *service, const struct listener_info *who)
{
	const struct service *s = service;

	if (who->session || who->who.version)
		return access_holds(s->access, &who->who, who->session);
	return is_host(s->config, who->who.name);
}
