// SPDX-License-Identifier: GPL-2.0-only
/* DOC: the schemas, where DMTF publishes them; a version here is the one in the documents. */
#include <stddef.h>

#include "base/text.h"
#include "fm/metadata.h"

static const struct {
	const char *name, *version;
} schemas[] = {
	{ "ServiceRoot", "v1_17_0" },
	{ "ComputerSystemCollection", NULL },
	{ "ComputerSystem", "v1_20_0" },
	{ "FabricCollection", NULL },
	{ "Fabric", "v1_3_0" },
	{ "SwitchCollection", NULL },
	{ "Switch", "v1_9_0" },
	{ "PortCollection", NULL },
	{ "Port", "v1_9_0" },
	{ "EndpointCollection", NULL },
	{ "Endpoint", "v1_8_0" },
	{ "ZoneCollection", NULL },
	{ "Zone", "v1_6_1" },
	{ "CompositionService", "v1_2_0" },
	{ "ResourceBlockCollection", NULL },
	{ "ResourceBlock", "v1_3_0" },
	{ "Processor", "v1_13_0" },
	{ "SessionService", "v1_1_8" },
	{ "SessionCollection", NULL },
	{ "Session", "v1_5_0" },
	{ "AccountService", "v1_12_0" },
	{ "ManagerAccountCollection", NULL },
	{ "ManagerAccount", "v1_9_0" },
	{ "RoleCollection", NULL },
	{ "Role", "v1_3_1" },
	{ "EventService", "v1_7_0" },
	{ "EventDestinationCollection", NULL },
	{ "EventDestination", "v1_8_0" },
	{ "Event", "v1_7_0" },
	{ "MessageRegistryFileCollection", NULL },
	{ "MessageRegistryFile", "v1_1_0" },
	{ "MessageRegistry", "v1_4_0" },
	{ "TaskService", "v1_2_0" },
	{ "TaskCollection", NULL },
	{ "Task", "v1_7_0" },
	{ "Message", "v1_2_0" },
	{ "Resource", "v1_17_0" },
};

static void add_schema(struct text *t, const char *name, const char *version)
{
	text_add(t, "<edmx:Reference Uri=\"http://redfish.dmtf.org/schemas/v1/%s_v1.xml\">", name);
	text_add(t, "<edmx:Include Namespace=\"%s\"/>", name);
	if (version)
		text_add(t, "<edmx:Include Namespace=\"%s.%s\"/>", name, version);
	text_add(t, "</edmx:Reference>");
}

char *metadata_make(void)
{
	struct text t = { 0 };
	size_t i;

	text_add(&t, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
	text_add(&t,
		 "<edmx:Edmx xmlns:edmx=\"http://docs.oasis-open.org/odata/ns/edmx\" Version=\"4.0\">");
	for (i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++)
		add_schema(&t, schemas[i].name, schemas[i].version);
	text_add(&t,
		 "<edmx:Reference Uri=\"http://redfish.dmtf.org/schemas/v1/RedfishExtensions_v1.xml\">");
	text_add(&t, "<edmx:Include Namespace=\"RedfishExtensions.v1_0_0\" Alias=\"Redfish\"/>");
	text_add(&t, "</edmx:Reference><edmx:DataServices>");
	text_add(&t,
		 "<Schema xmlns=\"http://docs.oasis-open.org/odata/ns/edm\" Namespace=\"Service\">");
	text_add(&t, "<EntityContainer Name=\"Service\" Extends=\"%s.ServiceContainer\"/>",
		 "ServiceRoot.v1_17_0");
	text_add(&t, "</Schema></edmx:DataServices></edmx:Edmx>\n");
	return t.text;
}
