// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the fabric as Redfish's composition has it
 *
 * A GPU is a resource block with a processor, a host is one with a system, and a system is made of
 * the blocks that are in the zone of its host. All blocks go with each other, so there is one
 * resource zone. The caller holds the manager's lock.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fm/service.h"

#define COMPOSITION SERVICE_ROOT "/CompositionService"

static const struct fabric *fabric_of(const struct service *s)
{
	return &s->manager->fabric;
}

struct json_object *document_block(const char *name)
{
	return document_link(COMPOSITION "/ResourceBlocks/%s", name);
}

static struct json_object *words_of(const char *const *words)
{
	struct json_object *list = json_object_new_array();

	for (; *words; words++)
		json_object_array_add(list, json_object_new_string(*words));
	return list;
}

struct json_object *blocks_of(const struct service *s, int host)
{
	const struct fabric *fabric = fabric_of(s);
	struct json_object *list = document_list(document_block(fabric->hosts[host].name));
	int i;

	for (i = 0; i < fabric->gpu_count; i++)
		if (fabric->gpus[i].owner == host)
			json_object_array_add(list, document_block(fabric->gpus[i].name));
	return list;
}

static struct json_object *all_blocks(const struct service *s)
{
	const struct fabric *fabric = fabric_of(s);
	struct json_object *list = json_object_new_array();
	int i;

	for (i = 0; i < fabric->host_count; i++)
		json_object_array_add(list, document_block(fabric->hosts[i].name));
	for (i = 0; i < fabric->gpu_count; i++)
		json_object_array_add(list, document_block(fabric->gpus[i].name));
	return list;
}

struct json_object *composition_get(const struct service *s, const struct ask *ask)
{
	static const char *const formats[] = { "Manifest", NULL }, *const types[] = { "Preview",
										      "Apply",
										      NULL };
	struct json_object *document = json_object_new_object(),
			   *actions = json_object_new_object(), *compose = json_object_new_object();

	(void)s;
	document_head(document, ask->path, "#CompositionService.v1_2_0.CompositionService",
		      "CompositionService", "Composition");
	document_status(document, "Enabled", "OK");
	json_object_object_add(document, "ServiceEnabled", json_object_new_boolean(true));
	json_object_object_add(document, "AllowOverprovisioning", json_object_new_boolean(false));
	json_object_object_add(document, "AllowZoneAffinity", json_object_new_boolean(false));
	json_object_object_add(document, "ResourceBlocks",
			       document_link(COMPOSITION "/ResourceBlocks"));
	json_object_object_add(document, "ResourceZones",
			       document_link(COMPOSITION "/ResourceZones"));
	document_text(compose, "target", COMPOSITION "/Actions/CompositionService.Compose");
	json_object_object_add(compose, "RequestFormat@Redfish.AllowableValues", words_of(formats));
	json_object_object_add(compose, "RequestType@Redfish.AllowableValues", words_of(types));
	json_object_object_add(actions, "#CompositionService.Compose", compose);
	json_object_object_add(document, "Actions", actions);
	return document;
}

struct json_object *blocks_get(const struct service *s, const struct ask *ask)
{
	return document_collection(ask->path, "#ResourceBlockCollection.ResourceBlockCollection",
				   "Resource Blocks", all_blocks(s));
}

static void block_state(struct json_object *document, const char *state)
{
	struct json_object *status = json_object_new_object();

	document_text(status, "CompositionState", state);
	json_object_object_add(status, "SharingCapable", json_object_new_boolean(false));
	json_object_object_add(document, "CompositionStatus", status);
}

/* @system: of which the block is a part, NULL for none */
static void block_links(const struct service *s, struct json_object *document, const char *system)
{
	struct json_object *links = json_object_new_object(), *link = NULL;

	if (system)
		link = document_link(SERVICE_ROOT "/Systems/%s", system);
	json_object_object_add(links, "ComputerSystems", document_list(link));
	link = document_link(COMPOSITION "/ResourceZones/%s", s->config->fabric);
	json_object_object_add(links, "Zones", document_list(link));
	json_object_object_add(document, "Links", links);
}

static void block_host(const struct service *s, struct json_object *document, int host)
{
	static const char *const types[] = { "ComputerSystem", NULL };
	const struct fabric_host *h = &fabric_of(s)->hosts[host];

	json_object_object_add(document, "ResourceBlockType", words_of(types));
	json_object_object_add(document, "ComputerSystems",
			       document_list(document_link(SERVICE_ROOT "/Systems/%s", h->name)));
	document_host_status(document, h);
	block_state(document, "Composed");
	block_links(s, document, h->name);
}

static const char *gpu_composition(const struct fabric_gpu *gpu)
{
	switch (gpu->state) {
	case GPU_FREE:
		return "Unused";
	case GPU_BOUND:
	case GPU_GONE:
		return "Composed";
	case GPU_BINDING:
	case GPU_UNBINDING:
		return "Composing";
	case GPU_TWICE:
		return "Failed";
	default:
		return "Unavailable";
	}
}

static void block_gpu(const struct service *s, struct json_object *document, int gpu)
{
	static const char *const types[] = { "Processor", NULL };
	const struct fabric_gpu *g = &fabric_of(s)->gpus[gpu];

	json_object_object_add(document, "ResourceBlockType", words_of(types));
	json_object_object_add(document, "Processors",
			       document_list(document_link(COMPOSITION
							   "/ResourceBlocks/%s/Processors/%s",
							   g->name, g->name)));
	document_gpu_status(s, document, g);
	block_state(document, gpu_composition(g));
	block_links(s, document,
		    g->owner == FABRIC_NONE ? NULL : fabric_of(s)->hosts[g->owner].name);
}

struct json_object *block_get(const struct service *s, const struct ask *ask)
{
	int host = fabric_find_host(fabric_of(s), ask->argument[0]);
	int gpu = fabric_find_gpu(fabric_of(s), ask->argument[0]);
	struct json_object *document;

	if (host == FABRIC_NONE && gpu == FABRIC_NONE)
		return NULL;
	document = json_object_new_object();
	document_head(document, ask->path, "#ResourceBlock.v1_3_0.ResourceBlock", ask->argument[0],
		      ask->argument[0]);
	if (host != FABRIC_NONE)
		block_host(s, document, host);
	else
		block_gpu(s, document, gpu);
	return document;
}

struct json_object *processor_get(const struct service *s, const struct ask *ask)
{
	int gpu = fabric_find_gpu(fabric_of(s), ask->argument[0]);
	struct json_object *document, *id = json_object_new_object();
	const struct config_gpu *config;

	if (gpu == FABRIC_NONE || strcmp(ask->argument[0], ask->argument[1])) {
		json_object_put(id);
		return NULL;
	}
	config = &s->config->gpus[gpu];
	document = json_object_new_object();
	document_head(document, ask->path, "#Processor.v1_13_0.Processor", ask->argument[1],
		      ask->argument[1]);
	document_text(document, "ProcessorType", "GPU");
	if (config->model)
		document_text(document, "Model", config->model);
	if (config->serial)
		document_text(document, "SerialNumber", config->serial);
	document_hex(id, "VendorId", config->pci[0], 4);
	if (json_object_object_length(id))
		json_object_object_add(document, "ProcessorId", id);
	else
		json_object_put(id);
	document_gpu_status(s, document, &fabric_of(s)->gpus[gpu]);
	return document;
}

struct json_object *resource_zones_get(const struct service *s, const struct ask *ask)
{
	struct json_object *only =
		document_link(COMPOSITION "/ResourceZones/%s", s->config->fabric);

	return document_collection(ask->path, "#ZoneCollection.ZoneCollection", "Resource Zones",
				   document_list(only));
}

struct json_object *resource_zone_get(const struct service *s, const struct ask *ask)
{
	struct json_object *document, *links;

	if (strcmp(ask->argument[0], s->config->fabric))
		return NULL;
	document = json_object_new_object();
	document_head(document, ask->path, "#Zone.v1_6_1.Zone", s->config->fabric,
		      s->config->fabric);
	document_text(document, "ZoneType", "ZoneOfResourceBlocks");
	document_status(document, "Enabled", "OK");
	links = json_object_new_object();
	json_object_object_add(links, "ResourceBlocks", all_blocks(s));
	json_object_object_add(document, "Links", links);
	return document;
}
