// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: messages of our own
 *
 * A message never gets another meaning; a new one makes the second number of the version higher.
 * Messages of answers are those of DMTF's registry Base, which is referred to and not kept here.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fm/registry.h"
#include "fm/service.h"

#define REGISTRY_VERSION "1.0.0"
#define REGISTRY_SHORT REGISTRY_PREFIX ".1.0"
#define BASE_SHORT "Base.1.18"
#define BASE_URI "https://redfish.dmtf.org/registries/Base.1.18.0.json"
#define NOTHING "None."

const struct registry_message registry[MESSAGE_COUNT] = {
	[MESSAGE_GPU_ADDED] = { "GPUAdded",
				"OK",
				"%1 is in the zone of %2.",
				NOTHING,
				"A GPU has come into the zone of a host.",
				{ "The GPU", "The host" } },
	[MESSAGE_GPU_REMOVED] = { "GPURemoved",
				  "OK",
				  "%1 has left the zone of %2.",
				  NOTHING,
				  "A GPU has left the zone of a host.",
				  { "The GPU", "The host" } },
	[MESSAGE_GPU_OFF] = { "GPUOff",
			      "OK",
			      "%2 has powered off %1, which stays in its zone.",
			      "Remove the GPU from the zone when the host no longer needs it.",
			      "A host has powered off the slot of a GPU in its zone.",
			      { "The GPU", "The host" } },
	[MESSAGE_GPU_ON] = { "GPUOn",
			     "OK",
			     "%1 is in a port of %2 again.",
			     NOTHING,
			     "A GPU that was powered off or unknown is in its host.",
			     { "The GPU", "The host" } },
	[MESSAGE_GPU_UNKNOWN] = { "GPUUnknown",
				  "Warning",
				  "%1 may be in %2, which does not answer.",
				  "Wait until the host answers, or evict it when it is off.",
				  "A host stopped answering during a bind or unbind.",
				  { "The GPU", "The host" } },
	[MESSAGE_GPU_TWICE] = { "GPUInTwoHosts",
				"Critical",
				"%1 was seen in two hosts.",
				"Remove it from one of them and restart the manager.",
				"A GPU is in two hosts, and no other host gets it.",
				{ "The GPU" } },
	[MESSAGE_HOST_UP] = { "HostAnswers",
			      "OK",
			      "%1 answers.",
			      NOTHING,
			      "A host answers.",
			      { "The host" } },
	[MESSAGE_HOST_LOST] = { "HostSilent",
				"Warning",
				"%1 does not answer, and keeps its GPUs.",
				"Check the host, or evict it if it is off.",
				"A host no longer answers.",
				{ "The host" } },
	[MESSAGE_HOST_OFF] = { "HostOff",
			       "OK",
			       "%1 is off: its GPUs are free.",
			       NOTHING,
			       "A host is known to be off.",
			       { "The host" } },
	[MESSAGE_EVENTS_LOST] = { "EventsLost",
				  "Warning",
				  "The manager no longer has the events after the requested one.",
				  "Read the zones again.",
				  "A listener connected too late for the events that it has missed.",
				  { NULL } },
};

size_t registry_arguments(enum message message)
{
	size_t n = 0;

	while (registry[message].arguments[n])
		n++;
	return n;
}

char *registry_id(enum message message)
{
	return mem_printf(REGISTRY_SHORT ".%s", registry[message].name);
}

char *registry_text(enum message message, const char *const *arguments)
{
	struct text text = { 0 };
	const char *at;

	for (at = registry[message].text; *at; at++) {
		if (*at == '%')
			text_add(&text, "%s", arguments[*++at - '1']);
		else
			text_add(&text, "%c", *at);
	}
	return text.text;
}

struct json_object *registries_get(const struct service *s, const struct ask *ask)
{
	struct json_object *members = json_object_new_array();

	(void)s;
	json_object_array_add(members, document_link("%s/" REGISTRY_SHORT, ask->path));
	json_object_array_add(members, document_link("%s/" BASE_SHORT, ask->path));
	return document_collection(ask->path,
				   "#MessageRegistryFileCollection.MessageRegistryFileCollection",
				   "Registries", members);
}

struct json_object *registry_file_get(const struct service *s, const struct ask *ask)
{
	bool own = !strcmp(ask->argument[0], REGISTRY_SHORT);
	struct json_object *document, *location;
	char *uri;

	(void)s;
	if (!own && strcmp(ask->argument[0], BASE_SHORT) != 0)
		return NULL;
	document = json_object_new_object();
	document_head(document, ask->path, "#MessageRegistryFile.v1_1_0.MessageRegistryFile",
		      ask->argument[0], ask->argument[0]);
	document_text(document, "Registry", ask->argument[0]);
	json_object_object_add(document, "Languages", document_list(json_object_new_string("en")));
	location = json_object_new_object();
	document_text(location, "Language", "en");
	uri = mem_printf("%s/Registry", ask->path);
	document_text(location, own ? "Uri" : "PublicationUri", own ? uri : BASE_URI);
	free(uri);
	json_object_object_add(document, "Location", document_list(location));
	return document;
}

static struct json_object *message_document(enum message number)
{
	const struct registry_message *message = &registry[number];
	struct json_object *document = json_object_new_object(), *types = json_object_new_array(),
			   *words = json_object_new_array();
	size_t i, n = registry_arguments(number);

	document_text(document, "Description", message->description);
	document_text(document, "Message", message->text);
	/* deprecated, and its schema demands it all the same */
	document_text(document, "Severity", message->severity);
	document_text(document, "MessageSeverity", message->severity);
	document_text(document, "Resolution", message->resolution);
	json_object_object_add(document, "NumberOfArgs", json_object_new_int64((int64_t)n));
	for (i = 0; i < n; i++) {
		json_object_array_add(types, json_object_new_string("string"));
		json_object_array_add(words, json_object_new_string(message->arguments[i]));
	}
	json_object_object_add(document, "ParamTypes", types);
	json_object_object_add(document, "ArgDescriptions", words);
	return document;
}

struct json_object *registry_get(const struct service *s, const struct ask *ask)
{
	struct json_object *document, *messages;
	enum message i;

	(void)s;
	if (strcmp(ask->argument[0], REGISTRY_SHORT) != 0)
		return NULL;
	document = json_object_new_object();
	document_text(document, "@odata.type", "#MessageRegistry.v1_4_0.MessageRegistry");
	document_text(document, "Id", REGISTRY_PREFIX "." REGISTRY_VERSION);
	document_text(document, "Name", "Messages of gpufabric-fm");
	document_text(document, "Language", "en");
	document_text(document, "RegistryPrefix", REGISTRY_PREFIX);
	document_text(document, "RegistryVersion", REGISTRY_VERSION);
	document_text(document, "OwningEntity", "gpufabric");
	messages = json_object_new_object();
	for (i = 0; i < MESSAGE_COUNT; i++)
		json_object_object_add(messages, registry[i].name, message_document(i));
	json_object_object_add(document, "Messages", messages);
	return document;
}
