// SPDX-License-Identifier: GPL-2.0-only
/* DOC: actions of a system: an admin says that a host is off, and a host renews its lease. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fm/body.h"
#include "fm/fence.h"
#include "fm/service.h"

static void refuse_fault(int err, const struct fault *f, struct answer *answer)
{
	if (err == -ENOENT)
		answer_refuse(answer, 404, "ResourceMissingAtURI", NULL, NULL, "%s", f->text);
	else
		answer_refuse(answer, 409, "OperationFailed", NULL, NULL, "%s", f->text);
}

enum service_end system_evict(struct service *s, struct ask *ask, struct answer *answer)
{
	struct fault f = { "" };
	char *who;
	int err;

	if (ask->who.role != ROLE_ADMIN) {
		answer_refuse(answer, 403, "InsufficientPrivilege", NULL, NULL,
			      "%s may not say that a host is off: only an administrator may",
			      ask->who.name);
		return SERVICE_DONE;
	}
	if (!body_read_nothing(ask->body, ask->length, answer))
		return SERVICE_DONE;
	who = mem_printf("%s (%s) from %s", ask->who.name, account_role_name(ask->who.role),
			 ask->address);
	err = fence_evict(s->manager, ask->argument[0], who, &f);
	if (err)
		refuse_fault(err, &f, answer);
	else
		answer->status = 204;
	free(who);
	return SERVICE_DONE;
}

static bool renew_may(const struct service *s, const struct ask *ask,
		      const struct config_host **config, struct answer *answer)
{
	size_t i;

	*config = NULL;
	for (i = 0; i < s->config->host_count; i++)
		if (!strcmp(s->config->hosts[i].name, ask->argument[0]))
			*config = &s->config->hosts[i];
	if (ask->who.role != ROLE_HOST || strcmp(ask->who.name, ask->argument[0]))
		answer_refuse(answer, 403, "InsufficientPrivilege", NULL, NULL,
			      "%s may not renew the lease of %.200s", ask->who.name,
			      ask->argument[0]);
	else if (!*config || (*config)->fence != FENCE_LEASE)
		answer_refuse(answer, 404, "ResourceMissingAtURI", NULL, ask->path,
			      "%.200s has no fence = lease", ask->argument[0]);
	return !answer->status;
}

static bool is_off(const struct service *s, const char *name)
{
	struct manager *m = s->manager;
	bool off;
	int host;

	pthread_mutex_lock(&m->lock);
	host = fabric_find_host(&m->fabric, name);
	off = host != FABRIC_NONE && m->fabric.hosts[host].state == HOST_OFF;
	pthread_mutex_unlock(&m->lock);
	return off;
}

/* Its GPUs are given away already, or may be meanwhile: what it has is known when it was looked at. */
static int renew(const struct service *s, const struct config_host *config, struct fault *f)
{
	struct leases *leases = s->manager->leases;
	struct fault more = { "" };
	int err;

	if (is_off(s, config->name))
		return fault_set(f, EBUSY, "%s is off, or is not looked at yet", config->name);
	err = leases_renew(leases, config->name, config->lease_ms, f);
	if (err || !is_off(s, config->name))
		return err;
	leases_end(leases, config->name, &more);
	return fault_set(f, EBUSY, "%s is off", config->name);
}

enum service_end system_renew(struct service *s, struct ask *ask, struct answer *answer)
{
	struct leases *leases = s->manager->leases;
	const struct config_host *config;
	struct fault f = { "" };
	bool release;
	int err;

	if (!renew_may(s, ask, &config, answer) ||
	    !body_read_renewal(ask->body, ask->length, &release, answer))
		return SERVICE_DONE;
	err = release ? leases_end(leases, config->name, &f) : renew(s, config, &f);
	if (err == -EBUSY) {
		answer_refuse(answer, 503, "ServiceTemporarilyUnavailable", NULL, "1", "%s",
			      f.text);
		answer->retry_s = 1;
		return SERVICE_DONE;
	}
	if (err) {
		answer_refuse(answer, 500, "InternalError", NULL, NULL, "%s", f.text);
		return SERVICE_DONE;
	}
	answer->status = 200;
	answer->body = json_object_new_object();
	json_object_object_add(answer->body, "Milliseconds",
			       json_object_new_int64(release ? 0 : (int64_t)config->lease_ms));
	return SERVICE_DONE;
}
