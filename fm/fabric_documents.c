// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the fabric as Redfish has it
 *
 * A host is a ComputerSystem, an endpoint (the initiator) and a zone, all of one name. Its ports
 * are those of a switch of that name, a GPU is an endpoint (a target), which is in the zone
 * of the host that has it, and in none when it is free. The caller holds the manager's lock.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fm/service.h"

static const struct fabric *fabric_of(const struct service *s)
{
	return &s->manager->fabric;
}

/* The only fabric there is. */
static bool is_fabric(const struct service *s, const struct ask *ask)
{
	return !strcmp(ask->argument[0], s->config->fabric);
}

static struct json_object *endpoint_link(const struct service *s, const char *name)
{
	return document_link(SERVICE_ROOT "/Fabrics/%s/Endpoints/%s", s->config->fabric, name);
}

static struct json_object *zone_link(const struct service *s, const char *name)
{
	return document_link(SERVICE_ROOT "/Fabrics/%s/Zones/%s", s->config->fabric, name);
}

static struct json_object *port_link(const struct service *s, int port)
{
	const struct fabric_port *p = &fabric_of(s)->ports[port];

	return document_link(SERVICE_ROOT "/Fabrics/%s/Switches/%s/Ports/%s", s->config->fabric,
			     fabric_of(s)->hosts[p->host].name, p->name);
}

struct json_object *document_list(struct json_object *only)
{
	struct json_object *list = json_object_new_array();

	if (only)
		json_object_array_add(list, only);
	return list;
}

void document_status(struct json_object *document, const char *state, const char *health)
{
	struct json_object *status = json_object_new_object();

	document_text(status, "State", state);
	document_text(status, "Health", health);
	json_object_object_add(document, "Status", status);
}

void document_host_status(struct json_object *document, const struct fabric_host *host)
{
	if (host->state == HOST_UP)
		document_status(document, "Enabled", "OK");
	else if (host->state == HOST_OFF)
		document_status(document, "Disabled", "OK");
	else
		document_status(document, "UnavailableOffline", "Warning");
}

struct json_object *systems_get(const struct service *s, const struct ask *ask)
{
	struct json_object *members = json_object_new_array();
	int i;

	for (i = 0; i < fabric_of(s)->host_count; i++)
		json_object_array_add(members, document_link(SERVICE_ROOT "/Systems/%s",
							     fabric_of(s)->hosts[i].name));
	return document_collection(ask->path, "#ComputerSystemCollection.ComputerSystemCollection",
				   "Hosts", members);
}

static void add_oem_action(struct json_object *oem, const char *path, const char *name)
{
	struct json_object *action = json_object_new_object();
	char *key = mem_printf("#GPUFabric.%s", name),
	     *target = mem_printf("%s/Actions/Oem/GPUFabric.%s", path, name);

	document_text(action, "target", target);
	json_object_object_add(oem, key, action);
	free(key);
	free(target);
}

static struct json_object *system_actions(const struct service *s, const struct ask *ask, int host)
{
	struct json_object *actions = json_object_new_object(), *oem = json_object_new_object();

	add_oem_action(oem, ask->path, "Evict");
	if (s->config->hosts[host].fence == FENCE_LEASE)
		add_oem_action(oem, ask->path, "RenewLease");
	json_object_object_add(actions, "Oem", oem);
	return actions;
}

struct json_object *system_get(const struct service *s, const struct ask *ask)
{
	int host = fabric_find_host(fabric_of(s), ask->argument[0]);
	struct json_object *document, *links;

	if (host == FABRIC_NONE)
		return NULL;
	document = json_object_new_object();
	document_head(document, ask->path, "#ComputerSystem.v1_20_0.ComputerSystem",
		      ask->argument[0], ask->argument[0]);
	document_text(document, "SystemType", "Virtual");
	document_text(document, "HostName", ask->argument[0]);
	document_text(document, "PowerState",
		      fabric_of(s)->hosts[host].state == HOST_OFF ? "Off" : "On");
	document_host_status(document, &fabric_of(s)->hosts[host]);
	links = json_object_new_object();
	json_object_object_add(links, "Endpoints",
			       document_list(endpoint_link(s, ask->argument[0])));
	json_object_object_add(links, "ResourceBlocks", blocks_of(s, host));
	json_object_object_add(document, "Links", links);
	json_object_object_add(document, "Actions", system_actions(s, ask, host));
	return document;
}

struct json_object *fabrics_get(const struct service *s, const struct ask *ask)
{
	struct json_object *only = document_link(SERVICE_ROOT "/Fabrics/%s", s->config->fabric);

	return document_collection(ask->path, "#FabricCollection.FabricCollection", "Fabrics",
				   document_list(only));
}

struct json_object *fabric_get(const struct service *s, const struct ask *ask)
{
	static const char *const parts[] = { "Switches", "Endpoints", "Zones" };
	struct json_object *document;
	size_t i;

	if (!is_fabric(s, ask))
		return NULL;
	document = json_object_new_object();
	document_head(document, ask->path, "#Fabric.v1_3_0.Fabric", s->config->fabric,
		      s->config->fabric);
	document_text(document, "FabricType", "PCIe");
	json_object_object_add(document, "MaxZones", json_object_new_int(fabric_of(s)->host_count));
	document_status(document, "Enabled", "OK");
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		json_object_object_add(document, parts[i],
				       document_link("%s/%s", ask->path, parts[i]));
	return document;
}

struct json_object *switches_get(const struct service *s, const struct ask *ask)
{
	struct json_object *members;
	int i;

	if (!is_fabric(s, ask))
		return NULL;
	members = json_object_new_array();
	for (i = 0; i < fabric_of(s)->host_count; i++)
		json_object_array_add(members, document_link("%s/%s", ask->path,
							     fabric_of(s)->hosts[i].name));
	return document_collection(ask->path, "#SwitchCollection.SwitchCollection", "Switches",
				   members);
}

struct json_object *switch_get(const struct service *s, const struct ask *ask)
{
	int host = is_fabric(s, ask) ? fabric_find_host(fabric_of(s), ask->argument[1]) :
				       FABRIC_NONE;
	struct json_object *document;

	if (host == FABRIC_NONE)
		return NULL;
	document = json_object_new_object();
	document_head(document, ask->path, "#Switch.v1_9_0.Switch", ask->argument[1],
		      ask->argument[1]);
	document_text(document, "SwitchType", "PCIe");
	json_object_object_add(document, "SupportedProtocols",
			       document_list(json_object_new_string("PCIe")));
	json_object_object_add(document, "Ports", document_link("%s/Ports", ask->path));
	document_host_status(document, &fabric_of(s)->hosts[host]);
	return document;
}

struct json_object *ports_get(const struct service *s, const struct ask *ask)
{
	int i, host = is_fabric(s, ask) ? fabric_find_host(fabric_of(s), ask->argument[1]) :
					  FABRIC_NONE;
	struct json_object *members;

	if (host == FABRIC_NONE)
		return NULL;
	members = json_object_new_array();
	for (i = 0; i < fabric_of(s)->port_count; i++)
		if (fabric_of(s)->ports[i].host == host)
			json_object_array_add(members, port_link(s, i));
	return document_collection(ask->path, "#PortCollection.PortCollection", "Ports", members);
}

struct json_object *port_get(const struct service *s, const struct ask *ask)
{
	const struct fabric *fabric = fabric_of(s);
	int host = is_fabric(s, ask) ? fabric_find_host(fabric, ask->argument[1]) : FABRIC_NONE;
	int port = host == FABRIC_NONE ? FABRIC_NONE :
					 fabric_find_port(fabric, host, ask->argument[2]);
	struct json_object *document, *links, *oem, *own;
	const struct fabric_port *p;

	if (port == FABRIC_NONE)
		return NULL;
	p = &fabric->ports[port];
	document = json_object_new_object();
	document_head(document, ask->path, "#Port.v1_9_0.Port", p->name, p->name);
	document_text(document, "PortType", "DownstreamPort");
	document_text(document, "PortProtocol", "PCIe");
	document_text(document, "LinkState", "Enabled");
	document_text(document, "LinkStatus",
		      p->gpu != FABRIC_NONE || p->taken ? "LinkUp" : "NoLink");
	document_host_status(document, &fabric->hosts[host]);
	links = json_object_new_object();
	json_object_object_add(links, "AssociatedEndpoints",
			       document_list(p->gpu == FABRIC_NONE ?
						     NULL :
						     endpoint_link(s, fabric->gpus[p->gpu].name)));
	json_object_object_add(document, "Links", links);
	own = json_object_new_object();
	document_text(own, "@odata.type", "#GPUFabricPort.v1_0_0.Port");
	document_text(own, "Host", fabric->hosts[host].name);
	oem = json_object_new_object();
	json_object_object_add(oem, "GPUFabric", own);
	json_object_object_add(document, "Oem", oem);
	return document;
}

struct json_object *endpoints_get(const struct service *s, const struct ask *ask)
{
	struct json_object *members;
	int i;

	if (!is_fabric(s, ask))
		return NULL;
	members = json_object_new_array();
	for (i = 0; i < fabric_of(s)->host_count; i++)
		json_object_array_add(members, endpoint_link(s, fabric_of(s)->hosts[i].name));
	for (i = 0; i < fabric_of(s)->gpu_count; i++)
		json_object_array_add(members, endpoint_link(s, fabric_of(s)->gpus[i].name));
	return document_collection(ask->path, "#EndpointCollection.EndpointCollection", "Endpoints",
				   members);
}

static void endpoint_host(const struct service *s, struct json_object *document, int host)
{
	const struct fabric_host *h = &fabric_of(s)->hosts[host];
	struct json_object *entity = json_object_new_object(), *links = json_object_new_object();

	document_text(entity, "EntityRole", "Initiator");
	document_text(entity, "EntityType", "RootComplex");
	json_object_object_add(entity, "EntityLink",
			       document_link(SERVICE_ROOT "/Systems/%s", h->name));
	json_object_object_add(document, "ConnectedEntities", document_list(entity));
	document_host_status(document, h);
	json_object_object_add(links, "Zones", document_list(zone_link(s, h->name)));
	json_object_object_add(links, "ConnectedPorts", json_object_new_array());
	json_object_object_add(document, "Links", links);
}

void document_hex(struct json_object *to, const char *key, int value, int digits)
{
	char *text;

	if (value < 0)
		return;
	text = mem_printf("0x%0*X", digits, (unsigned int)value);
	document_text(to, key, text);
	free(text);
}

static struct json_object *gpu_entity(const struct config_gpu *gpu,
				      const struct fabric_identity *is)
{
	struct json_object *entity = json_object_new_object(), *id = json_object_new_object(),
			   *serial;

	document_text(entity, "EntityRole", "Target");
	document_text(entity, "EntityType", "Processor");
	document_hex(id, "VendorId", is->pci[0], 4);
	document_hex(id, "DeviceId", is->pci[1], 4);
	document_hex(id, "SubsystemVendorId", is->pci[2], 4);
	document_hex(id, "SubsystemId", is->pci[3], 4);
	document_hex(id, "ClassCode", is->class_code, 6);
	if (json_object_object_length(id))
		json_object_object_add(entity, "EntityPciId", id);
	else
		json_object_put(id);
	if (gpu->serial) {
		serial = json_object_new_object();
		document_text(serial, "DurableName", gpu->serial);
		json_object_object_add(entity, "Identifiers", document_list(serial));
	}
	return entity;
}

void document_gpu_status(const struct service *s, struct json_object *document,
			 const struct fabric_gpu *gpu)
{
	switch (gpu->state) {
	case GPU_FREE:
	case GPU_GONE:
		document_status(document, "StandbyOffline", "OK");
		break;
	case GPU_BINDING:
	case GPU_UNBINDING:
		document_status(document, "Starting", "OK");
		break;
	case GPU_TWICE:
		document_status(document, "Disabled", "Critical");
		break;
	case GPU_BOUND:
		if (fabric_of(s)->hosts[gpu->owner].state == HOST_UP) {
			document_status(document, "Enabled", "OK");
			break;
		}
		/* fall through */
	default:
		document_status(document, "UnavailableOffline", "Warning");
	}
}

static void endpoint_gpu(const struct service *s, struct json_object *document, int gpu)
{
	const struct fabric_gpu *g = &fabric_of(s)->gpus[gpu];
	const struct config_gpu *config = &s->config->gpus[gpu];
	struct json_object *links = json_object_new_object(), *link = NULL;

	json_object_object_add(document, "ConnectedEntities",
			       document_list(gpu_entity(config, &g->identity)));
	if (config->model)
		document_text(document, "Description", config->model);
	document_gpu_status(s, document, g);
	if (g->owner != FABRIC_NONE)
		link = zone_link(s, fabric_of(s)->hosts[g->owner].name);
	json_object_object_add(links, "Zones", document_list(link));
	json_object_object_add(links, "ConnectedPorts",
			       document_list(g->home == FABRIC_NONE ? NULL :
								      port_link(s, g->home)));
	json_object_object_add(document, "Links", links);
}

struct json_object *endpoint_get(const struct service *s, const struct ask *ask)
{
	int host = fabric_find_host(fabric_of(s), ask->argument[1]);
	int gpu = fabric_find_gpu(fabric_of(s), ask->argument[1]);
	struct json_object *document;

	if (!is_fabric(s, ask) || (host == FABRIC_NONE && gpu == FABRIC_NONE))
		return NULL;
	document = json_object_new_object();
	document_head(document, ask->path, "#Endpoint.v1_8_0.Endpoint", ask->argument[1],
		      ask->argument[1]);
	document_text(document, "EndpointProtocol", "PCIe");
	if (host != FABRIC_NONE)
		endpoint_host(s, document, host);
	else
		endpoint_gpu(s, document, gpu);
	return document;
}

struct json_object *zones_get(const struct service *s, const struct ask *ask)
{
	struct json_object *members;
	int i;

	if (!is_fabric(s, ask))
		return NULL;
	members = json_object_new_array();
	for (i = 0; i < fabric_of(s)->host_count; i++)
		json_object_array_add(members, zone_link(s, fabric_of(s)->hosts[i].name));
	return document_collection(ask->path, "#ZoneCollection.ZoneCollection", "Zones", members);
}

static void zone_add_action(struct json_object *actions, const char *path, const char *name)
{
	struct json_object *action = json_object_new_object();
	char *key = mem_printf("#Zone.%s", name),
	     *target = mem_printf("%s/Actions/Zone.%s", path, name);

	document_text(action, "target", target);
	json_object_object_add(actions, key, action);
	free(key);
	free(target);
}

struct json_object *zone_get(const struct service *s, const struct ask *ask)
{
	int i, host = is_fabric(s, ask) ? fabric_find_host(fabric_of(s), ask->argument[1]) :
					  FABRIC_NONE;
	struct json_object *document, *links, *endpoints, *actions;
	char *path;

	if (host == FABRIC_NONE)
		return NULL;
	path = mem_printf(SERVICE_ROOT "/Fabrics/%s/Zones/%s", s->config->fabric, ask->argument[1]);
	document = json_object_new_object();
	document_head(document, path, "#Zone.v1_6_1.Zone", ask->argument[1], ask->argument[1]);
	document_text(document, "ZoneType", "ZoneOfEndpoints");
	document_host_status(document, &fabric_of(s)->hosts[host]);
	endpoints = document_list(endpoint_link(s, ask->argument[1]));
	for (i = 0; i < fabric_of(s)->gpu_count; i++)
		if (fabric_of(s)->gpus[i].owner == host)
			json_object_array_add(endpoints,
					      endpoint_link(s, fabric_of(s)->gpus[i].name));
	links = json_object_new_object();
	json_object_object_add(links, "Endpoints", endpoints);
	json_object_object_add(document, "Links", links);
	actions = json_object_new_object();
	zone_add_action(actions, path, "AddEndpoint");
	zone_add_action(actions, path, "RemoveEndpoint");
	json_object_object_add(document, "Actions", actions);
	free(path);
	return document;
}
