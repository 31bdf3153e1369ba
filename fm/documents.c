// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: documents of the service, and which path is which
 *
 * Schemas are named with the version that has all that is used here. A link always leads to
 * something that is there.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "fm/service.h"

#define LIST_OF(x) (sizeof(x) / sizeof((x)[0]))

void document_text(struct json_object *document, const char *key, const char *value)
{
	json_object_object_add(document, key, json_object_new_string(value));
}

void document_head(struct json_object *document, const char *path, const char *type, const char *id,
		   const char *name)
{
	document_text(document, "@odata.id", path);
	document_text(document, "@odata.type", type);
	document_text(document, "Id", id);
	document_text(document, "Name", name);
}

struct json_object *document_link(const char *fmt, ...)
{
	struct json_object *link = json_object_new_object();
	va_list args;
	char *path;

	va_start(args, fmt);
	path = mem_vprintf(fmt, args);
	va_end(args);
	document_text(link, "@odata.id", path);
	free(path);
	return link;
}

struct json_object *document_collection(const char *path, const char *type, const char *name,
					struct json_object *members)
{
	struct json_object *document = json_object_new_object();

	document_text(document, "@odata.id", path);
	document_text(document, "@odata.type", type);
	document_text(document, "Name", name);
	json_object_object_add(document, "Members@odata.count",
			       json_object_new_int64((int64_t)json_object_array_length(members)));
	json_object_object_add(document, "Members", members);
	return document;
}

static void add_time(struct json_object *document, const char *key, uint64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	char text[40];
	struct tm tm;

	if (gmtime_r(&seconds, &tm) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		document_text(document, key, text);
}

static void add_enabled(struct json_object *document)
{
	struct json_object *status = json_object_new_object();

	document_text(status, "State", "Enabled");
	document_text(status, "Health", "OK");
	json_object_object_add(document, "Status", status);
}

static struct json_object *redfish_get(const struct service *s, const struct ask *ask)
{
	struct json_object *document = json_object_new_object();

	(void)s;
	(void)ask;
	document_text(document, "v1", SERVICE_ROOT "/");
	return document;
}

static struct json_object *root_get(const struct service *s, const struct ask *ask)
{
	struct json_object *document = json_object_new_object(), *links = json_object_new_object(),
			   *features, *expand;
	static const char *const parts[] = {
		"Systems",	  "Fabrics",	  "CompositionService", "SessionService",
		"AccountService", "EventService", "Registries",
	};
	size_t i;

	(void)ask;
	document_head(document, SERVICE_ROOT "/", "#ServiceRoot.v1_17_0.ServiceRoot", "RootService",
		      "gpufabric-fm");
	document_text(document, "RedfishVersion", "1.18.0");
	document_text(document, "UUID", s->uuid);
	document_text(document, "Product", "gpufabric-fm " GPUCTL_VERSION);
	for (i = 0; i < LIST_OF(parts); i++)
		json_object_object_add(document, parts[i],
				       document_link(SERVICE_ROOT "/%s", parts[i]));
	json_object_object_add(document, "Tasks", document_link(SERVICE_ROOT "/TaskService"));
	json_object_object_add(links, "Sessions",
			       document_link(SERVICE_ROOT "/SessionService/Sessions"));
	json_object_object_add(document, "Links", links);
	features = json_object_new_object();
	expand = json_object_new_object();
	for (i = 0; i < 4; i++) {
		static const char *const kinds[] = { "Levels", "ExpandAll", "Links", "NoLinks" };

		json_object_object_add(expand, kinds[i], json_object_new_boolean(true));
	}
	json_object_object_add(expand, "MaxLevels", json_object_new_int(QUERY_LEVELS_MAX));
	json_object_object_add(features, "ExpandQuery", expand);
	json_object_object_add(features, "FilterQuery", json_object_new_boolean(false));
	json_object_object_add(features, "SelectQuery", json_object_new_boolean(true));
	json_object_object_add(features, "TopSkipQuery", json_object_new_boolean(true));
	json_object_object_add(features, "OnlyMemberQuery", json_object_new_boolean(false));
	json_object_object_add(features, "ExcerptQuery", json_object_new_boolean(false));
	json_object_object_add(document, "ProtocolFeaturesSupported", features);
	return document;
}

static struct json_object *odata_get(const struct service *s, const struct ask *ask)
{
	static const char *const parts[] = {
		"Systems",	  "Fabrics",	 "CompositionService", "SessionService",
		"AccountService", "TaskService", "EventService",       "Registries"
	};
	struct json_object *document = json_object_new_object(), *values = json_object_new_array(),
			   *value;
	char *url;
	size_t i;

	(void)s;
	(void)ask;
	document_text(document, "@odata.context", SERVICE_ROOT "/$metadata");
	value = json_object_new_object();
	document_text(value, "name", "Service");
	document_text(value, "kind", "Singleton");
	document_text(value, "url", SERVICE_ROOT "/");
	json_object_array_add(values, value);
	for (i = 0; i < LIST_OF(parts); i++) {
		value = json_object_new_object();
		url = mem_printf(SERVICE_ROOT "/%s", parts[i]);
		document_text(value, "name", parts[i]);
		document_text(value, "kind", "Singleton");
		document_text(value, "url", url);
		free(url);
		json_object_array_add(values, value);
	}
	json_object_object_add(document, "value", values);
	return document;
}

static struct json_object *session_service_get(const struct service *s, const struct ask *ask)
{
	struct json_object *document = json_object_new_object();

	document_head(document, ask->path, "#SessionService.v1_1_8.SessionService",
		      "SessionService", "Sessions");
	add_enabled(document);
	json_object_object_add(document, "ServiceEnabled", json_object_new_boolean(true));
	json_object_object_add(document, "SessionTimeout",
			       json_object_new_int64((int64_t)(s->config->session_ms / 1000)));
	json_object_object_add(document, "Sessions",
			       document_link(SERVICE_ROOT "/SessionService/Sessions"));
	return document;
}

static void add_numbered(struct json_object *members, const char *path, uint64_t id)
{
	struct json_object *link = document_link("%s/%llu", path, (unsigned long long)id);

	json_object_array_add(members, link);
}

/* An administrator sees all of them, anybody else their own. */
static bool may_see(const struct ask *ask, const char *name)
{
	return ask->who.role == ROLE_ADMIN || !strcmp(ask->who.name, name);
}

static struct json_object *sessions_get(const struct service *s, const struct ask *ask)
{
	struct access_session sessions[ACCESS_SESSIONS];
	struct json_object *members = json_object_new_array();
	size_t i, n = access_list(s->access, sessions);

	for (i = 0; i < n; i++)
		if (may_see(ask, sessions[i].account.name))
			add_numbered(members, ask->path, sessions[i].id);
	return document_collection(ask->path, "#SessionCollection.SessionCollection", "Sessions",
				   members);
}

static struct json_object *session_get(const struct service *s, const struct ask *ask)
{
	struct access_session sessions[ACCESS_SESSIONS];
	struct json_object *document = NULL;
	size_t i, n = access_list(s->access, sessions);
	uint64_t id;

	if (!service_number(ask->argument[0], &id))
		return NULL;
	for (i = 0; i < n && !document; i++) {
		if (sessions[i].id != id || !may_see(ask, sessions[i].account.name))
			continue;
		document = json_object_new_object();
		document_head(document, ask->path, "#Session.v1_5_0.Session", ask->argument[0],
			      ask->argument[0]);
		document_text(document, "UserName", sessions[i].account.name);
		json_object_object_add(document, "Password", NULL);
		document_text(document, "ClientOriginIPAddress", sessions[i].address);
		document_text(document, "SessionType", "Redfish");
		add_time(document, "CreatedTime", sessions[i].begun_ms);
	}
	explicit_bzero(sessions, sizeof(sessions));
	return document;
}

static struct json_object *account_service_get(const struct service *s, const struct ask *ask)
{
	struct json_object *document = json_object_new_object();

	(void)s;
	document_head(document, ask->path, "#AccountService.v1_12_0.AccountService",
		      "AccountService", "Accounts");
	add_enabled(document);
	json_object_object_add(document, "ServiceEnabled", json_object_new_boolean(true));
	json_object_object_add(document, "MinPasswordLength", json_object_new_int(8));
	json_object_object_add(document, "MaxPasswordLength",
			       json_object_new_int(ACCOUNT_PASSWORD_MAX));
	json_object_object_add(document, "AccountLockoutThreshold",
			       json_object_new_int(LIMIT_FAILURES));
	json_object_object_add(document, "AccountLockoutDuration",
			       json_object_new_int(LIMIT_WINDOW_MS / 1000));
	json_object_object_add(document, "AccountLockoutCounterResetAfter",
			       json_object_new_int(LIMIT_WINDOW_MS / 1000));
	json_object_object_add(document, "Accounts", document_link("%s/Accounts", ask->path));
	json_object_object_add(document, "Roles", document_link("%s/Roles", ask->path));
	return document;
}

static struct json_object *accounts_get(const struct service *s, const struct ask *ask)
{
	struct json_object *members = json_object_new_array();
	struct account *accounts;
	size_t i, n = access_accounts(s->access, &accounts);

	for (i = 0; i < n; i++)
		if (may_see(ask, accounts[i].name))
			json_object_array_add(members,
					      document_link("%s/%s", ask->path, accounts[i].name));
	free(accounts);
	return document_collection(ask->path, "#ManagerAccountCollection.ManagerAccountCollection",
				   "Accounts", members);
}

static struct json_object *account_get(const struct service *s, const struct ask *ask)
{
	struct json_object *document = NULL, *links, *types;
	struct account *accounts;
	size_t i, n = access_accounts(s->access, &accounts);

	for (i = 0; i < n; i++) {
		if (strcmp(accounts[i].name, ask->argument[0]) || !may_see(ask, accounts[i].name))
			continue;
		document = json_object_new_object();
		document_head(document, ask->path, "#ManagerAccount.v1_9_0.ManagerAccount",
			      accounts[i].name, accounts[i].name);
		document_text(document, "UserName", accounts[i].name);
		json_object_object_add(document, "Password", NULL);
		document_text(document, "RoleId", account_role_name(accounts[i].role));
		json_object_object_add(document, "Enabled", json_object_new_boolean(true));
		json_object_object_add(document, "Locked", json_object_new_boolean(false));
		types = json_object_new_array();
		json_object_array_add(types, json_object_new_string("Redfish"));
		json_object_object_add(document, "AccountTypes", types);
		links = json_object_new_object();
		json_object_object_add(links, "Role",
				       document_link(SERVICE_ROOT "/AccountService/Roles/%s",
						     account_role_name(accounts[i].role)));
		json_object_object_add(document, "Links", links);
	}
	free(accounts);
	return document;
}

static struct json_object *roles_get(const struct service *s, const struct ask *ask)
{
	struct json_object *members = json_object_new_array();
	enum account_role role;

	(void)s;
	for (role = ROLE_ADMIN; role <= ROLE_READER; role++)
		json_object_array_add(members,
				      document_link("%s/%s", ask->path, account_role_name(role)));
	return document_collection(ask->path, "#RoleCollection.RoleCollection", "Roles", members);
}

static struct json_object *role_get(const struct service *s, const struct ask *ask)
{
	static const char *const all[] = {
		"Login",	 "ConfigureManager", "ConfigureUsers", "ConfigureComponents",
		"ConfigureSelf",
	};
	enum account_role role = account_role_read(ask->argument[0]);
	struct json_object *document, *list, *own;
	size_t i;

	(void)s;
	if (role == ROLE_NONE)
		return NULL;
	document = json_object_new_object();
	document_head(document, ask->path, "#Role.v1_3_1.Role", ask->argument[0], ask->argument[0]);
	document_text(document, "RoleId", ask->argument[0]);
	json_object_object_add(document, "IsPredefined", json_object_new_boolean(true));
	list = json_object_new_array();
	for (i = 0; i < (role == ROLE_ADMIN ? LIST_OF(all) : 1); i++)
		json_object_array_add(list, json_object_new_string(all[i]));
	json_object_object_add(document, "AssignedPrivileges", list);
	own = json_object_new_array();
	if (role == ROLE_HOST)
		json_object_array_add(own, json_object_new_string("ConfigureOwnZone"));
	json_object_object_add(document, "OemPrivileges", own);
	return document;
}

static struct json_object *task_service_get(const struct service *s, const struct ask *ask)
{
	struct json_object *document = json_object_new_object();

	(void)s;
	document_head(document, ask->path, "#TaskService.v1_2_0.TaskService", "TaskService",
		      "Tasks");
	add_enabled(document);
	json_object_object_add(document, "ServiceEnabled", json_object_new_boolean(true));
	document_text(document, "CompletedTaskOverWritePolicy", "Oldest");
	json_object_object_add(document, "LifeCycleEventOnTaskStateChange",
			       json_object_new_boolean(false));
	json_object_object_add(document, "Tasks", document_link("%s/Tasks", ask->path));
	return document;
}

static struct json_object *tasks_get(const struct service *s, const struct ask *ask)
{
	struct json_object *members = json_object_new_array();
	size_t i;

	for (i = 0; i < MANAGER_TASKS; i++)
		if (s->manager->tasks[i].state != TASK_NONE)
			add_numbered(members, ask->path, s->manager->tasks[i].id);
	return document_collection(ask->path, "#TaskCollection.TaskCollection", "Tasks", members);
}

struct json_object *document_task(const struct service *s, const struct task *task)
{
	static const char *const states[] = {
		[TASK_RUNNING] = "Running",
		[TASK_COMPLETED] = "Completed",
		[TASK_FAILED] = "Exception",
	};
	struct json_object *document = json_object_new_object(),
			   *messages = json_object_new_array();
	char *path =
		mem_printf(SERVICE_ROOT "/TaskService/Tasks/%llu", (unsigned long long)task->id);
	char *name = task->zones > 1 ? mem_printf("Zones of %zu hosts", task->zones) :
				       mem_printf("Zone of %s", s->config->hosts[task->host].name);
	int percent;

	document_head(document, path, "#Task.v1_7_0.Task", strrchr(path, '/') + 1, name);
	document_text(document, "TaskState", states[task->state]);
	document_text(document, "TaskStatus", task->state == TASK_FAILED ? "Critical" : "OK");
	add_time(document, "StartTime", task->begun_ms);
	if (task->state != TASK_RUNNING)
		add_time(document, "EndTime", task->ended_ms);
	percent = task->steps ? (int)(100 * task->done / task->steps) : 100;
	json_object_object_add(document, "PercentComplete", json_object_new_int(percent));
	if (task->state == TASK_FAILED)
		json_object_array_add(messages,
				      answer_message(task->away ? "ServiceTemporarilyUnavailable" :
								  "OperationFailed",
						     NULL, NULL, task->text.text));
	json_object_object_add(document, "Messages", messages);
	free(path);
	free(name);
	return document;
}

static struct json_object *task_get(const struct service *s, const struct ask *ask)
{
	const struct task *task;
	uint64_t id;

	if (!service_number(ask->argument[0], &id))
		return NULL;
	task = manager_task(s->manager, id);
	return task ? document_task(s, task) : NULL;
}

const struct resource resources[] = {
	{ "/redfish", true, redfish_get, NULL, NULL },
	{ "", true, root_get, NULL, NULL },
	{ "odata", true, odata_get, NULL, NULL },
	{ "Systems", false, systems_get, NULL, NULL },
	{ "Systems/*", false, system_get, "PATCH", system_patch },
	{ "Systems/*/Actions/Oem/GPUFabric.Evict", false, NULL, "POST", system_evict },
	{ "Systems/*/Actions/Oem/GPUFabric.RenewLease", false, NULL, "POST", system_renew },
	{ "Fabrics", false, fabrics_get, NULL, NULL },
	{ "Fabrics/*", false, fabric_get, NULL, NULL },
	{ "Fabrics/*/Switches", false, switches_get, NULL, NULL },
	{ "Fabrics/*/Switches/*", false, switch_get, NULL, NULL },
	{ "Fabrics/*/Switches/*/Ports", false, ports_get, NULL, NULL },
	{ "Fabrics/*/Switches/*/Ports/*", false, port_get, NULL, NULL },
	{ "Fabrics/*/Endpoints", false, endpoints_get, NULL, NULL },
	{ "Fabrics/*/Endpoints/*", false, endpoint_get, NULL, NULL },
	{ "Fabrics/*/Zones", false, zones_get, NULL, NULL },
	{ "Fabrics/*/Zones/*", false, zone_get, "PATCH", zone_patch },
	{ "Fabrics/*/Zones/*/Actions/Zone.AddEndpoint", false, NULL, "POST", zone_add },
	{ "Fabrics/*/Zones/*/Actions/Zone.RemoveEndpoint", false, NULL, "POST", zone_remove },
	{ "CompositionService", false, composition_get, NULL, NULL },
	{ "CompositionService/Actions/CompositionService.Compose", false, NULL, "POST", compose },
	{ "CompositionService/ResourceBlocks", false, blocks_get, NULL, NULL },
	{ "CompositionService/ResourceBlocks/*", false, block_get, NULL, NULL },
	{ "CompositionService/ResourceBlocks/*/Processors/*", false, processor_get, NULL, NULL },
	{ "CompositionService/ResourceZones", false, resource_zones_get, NULL, NULL },
	{ "CompositionService/ResourceZones/*", false, resource_zone_get, NULL, NULL },
	{ "SessionService", false, session_service_get, NULL, NULL },
	{ "SessionService/Sessions", false, sessions_get, "POST", session_create },
	{ "SessionService/Sessions/Members", false, NULL, "POST", session_create },
	{ "SessionService/Sessions/*", false, session_get, "DELETE", session_delete },
	{ "AccountService", false, account_service_get, NULL, NULL },
	{ "AccountService/Accounts", false, accounts_get, NULL, NULL },
	{ "AccountService/Accounts/*", false, account_get, NULL, NULL },
	{ "AccountService/Roles", false, roles_get, NULL, NULL },
	{ "AccountService/Roles/*", false, role_get, NULL, NULL },
	{ "EventService", false, event_service_get, NULL, NULL },
	{ "EventService/SSE", false, event_stream_get, NULL, NULL },
	{ "EventService/Subscriptions", false, subscriptions_get, NULL, NULL },
	{ "EventService/Subscriptions/*", false, subscription_get, "DELETE", subscription_delete },
	{ "Registries", false, registries_get, NULL, NULL },
	{ "Registries/*", false, registry_file_get, NULL, NULL },
	{ "Registries/*/Registry", false, registry_get, NULL, NULL },
	{ "TaskService", false, task_service_get, NULL, NULL },
	{ "TaskService/Tasks", false, tasks_get, NULL, NULL },
	{ "TaskService/Tasks/*", false, task_get, NULL, NULL },
};

const size_t resource_count = LIST_OF(resources);
