// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: actions of a system
 *
 * They are gpufabric-fm's own, so they stand among the Oem actions of a system; a manager that has
 * none there knows nothing of them. Each may be asked for again when its answer did not come.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "redfish/action.h"
#include "driver/doc.h"

#define SYSTEM "/redfish/v1/Systems/"

static int action_fault(const struct client *client, int ret, struct fault *f)
{
	fault_prefix(f, "fabric manager %s", client->conf->name);
	return ret;
}

/* The path that the system names for it, NULL where it has no such action; the caller frees. */
static int action_find(struct client *client, const char *host, const char *name, char **path,
		       struct fault *f)
{
	char *system = mem_printf(SYSTEM "%s", host), *key = mem_printf("#GPUFabric.%s", name);
	struct answer answer = { 0 };
	struct json_object *oem;
	const char *target;
	bool missing;
	int ret = client_get(client, system, &missing, &answer, f);

	*path = NULL;
	if (!ret && missing) {
		fault_set(f, ENOENT, "it has no host %s", host);
		ret = action_fault(client, CTL_USAGE, f);
	}
	if (!ret) {
		oem = doc_object(doc_object(answer.body, "Actions"), "Oem");
		target = doc_text(doc_object(oem, key), "target");
		*path = target && manager_is_path(target) ? mem_strdup(target) : NULL;
	}
	answer_free(&answer);
	free(system);
	free(key);
	return ret;
}

static int action_post(struct client *client, const char *path, const char *what,
		       struct json_object *body, struct answer *answer, struct fault *f)
{
	int ret = client_change(client, "POST", path, NULL, body, answer, f);

	if (ret && answer->lost)
		fault_add(f, "; what became of the request is not known");
	if (ret || answer->status / 100 == 2)
		return ret;
	return client_refused(client, what, answer, f);
}

int action_evict(struct client *client, const char *host, struct fault *f)
{
	struct json_object *body = json_object_new_object();
	struct answer answer = { 0 };
	char *path;
	int ret = action_find(client, host, "Evict", &path, f);

	if (!ret && !path) {
		fault_set(f, EOPNOTSUPP, "it has no action that declares a host off");
		ret = action_fault(client, CTL_FAILED, f);
	}
	if (!ret)
		ret = action_post(client, path, host, body, &answer, f);
	answer_free(&answer);
	json_object_put(body);
	free(path);
	return ret;
}

static int lease_read(const struct client *client, const struct answer *answer, uint32_t *lease_ms,
		      struct fault *f)
{
	struct json_object *value;
	int64_t ms = -1;

	if (answer->body && json_object_object_get_ex(answer->body, "Milliseconds", &value) &&
	    json_object_is_type(value, json_type_int))
		ms = json_object_get_int64(value);
	if (ms < 0 || ms > UINT32_MAX) {
		fault_set(f, EINVAL, "it does not say how long the lease is");
		return action_fault(client, CTL_FAILED, f);
	}
	*lease_ms = (uint32_t)ms;
	return CTL_DONE;
}

int action_renew(struct client *client, bool release, uint32_t *lease_ms, struct fault *f)
{
	const char *host = client->conf->host;
	struct json_object *body = json_object_new_object();
	struct answer answer = { 0 };
	char *path;
	int ret = action_find(client, host, "RenewLease", &path, f);

	*lease_ms = 0;
	if (release)
		json_object_object_add(body, "Release", json_object_new_boolean(true));
	if (!ret && path)
		ret = action_post(client, path, "the lease", body, &answer, f);
	if (!ret && path)
		ret = lease_read(client, &answer, lease_ms, f);
	answer_free(&answer);
	json_object_put(body);
	free(path);
	return ret;
}
