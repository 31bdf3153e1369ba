// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DOC: leases
 *
 * Clocks of nodes differ. So a lease of another is over when it has not changed for its whole
 * time by our clock, and not by what is written in it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dra/lease.h"

#define LEASES "/apis/coordination.k8s.io/v1/namespaces"

static struct json_object *lease_time(void)
{
	char text[64];
	struct timespec now;
	struct tm tm;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + n, sizeof(text) - n, ".%06ldZ", now.tv_nsec / 1000);
	return json_object_new_string(text);
}

/* Write it: @old is what is replaced, NULL if there is none. */
static bool lease_write(const struct api *api, const struct lease *lease, struct json_object *old,
			bool new_holder, struct reason *reason)
{
	struct json_object *object = json_object_new_object(), *metadata = json_object_new_object();
	struct json_object *spec = json_object_new_object();
	struct json_object *before = json_member(old, "spec", json_type_object), *value;
	const char *version =
		json_text(json_member(old, "metadata", json_type_object), "resourceVersion");
	int64_t transitions = 0;
	char *path;
	int status;

	value = json_member(before, "leaseTransitions", json_type_int);
	if (value)
		transitions = json_object_get_int64(value);
	json_object_object_add(object, "apiVersion",
			       json_object_new_string("coordination.k8s.io/v1"));
	json_object_object_add(object, "kind", json_object_new_string("Lease"));
	json_object_object_add(metadata, "name", json_object_new_string(lease->name));
	json_object_object_add(metadata, "namespace", json_object_new_string(lease->namespace));
	if (version)
		json_object_object_add(metadata, "resourceVersion",
				       json_object_new_string(version));
	json_object_object_add(object, "metadata", metadata);
	json_object_object_add(spec, "holderIdentity", json_object_new_string(lease->holder));
	json_object_object_add(spec, "leaseDurationSeconds",
			       json_object_new_int64((int64_t)lease->ms / 1000));
	json_object_object_add(spec, "renewTime", lease_time());
	value = json_member(before, "acquireTime", json_type_string);
	json_object_object_add(spec, "acquireTime",
			       new_holder || !value ? lease_time() : json_object_get(value));
	json_object_object_add(spec, "leaseTransitions",
			       json_object_new_int64(transitions + (old && new_holder)));
	json_object_object_add(object, "spec", spec);
	path = old ? format(LEASES "/%s/leases/%s", lease->namespace, lease->name) :
		     format(LEASES "/%s/leases", lease->namespace);
	status = api_request(api, old ? "PUT" : "POST", path, object, NULL, reason);
	/* Another was faster, which is no mistake. */
	if (status == API_CONFLICT)
		*reason->text = '\0';
	json_object_put(object);
	free(path);
	return status == API_OK || status == API_CREATED;
}

bool lease_hold(const struct api *api, struct lease *lease, struct reason *reason)
{
	char *path = format(LEASES "/%s/leases/%s", lease->namespace, lease->name);
	struct json_object *old = NULL, *spec;
	int status = api_request(api, NULL, path, NULL, &old, reason);
	const char *holder, *version;
	bool good = false;
	uint64_t seen;

	free(path);
	if (status == API_NOT_FOUND) {
		*reason->text = '\0';
		return lease_write(api, lease, NULL, true, reason);
	}
	if (status != API_OK)
		return false;
	spec = json_member(old, "spec", json_type_object);
	holder = json_text(spec, "holderIdentity");
	version = json_text(json_member(old, "metadata", json_type_object), "resourceVersion");
	seen = version ? strtoull(version, NULL, 10) : 0;
	if (!lease->since || seen != lease->seen) {
		lease->seen = seen;
		lease->since = clock_ms();
	}
	if (holder && !strcmp(holder, lease->holder))
		good = lease_write(api, lease, old, false, reason);
	else if (!holder || !*holder || clock_ms() - lease->since >= lease->ms)
		good = lease_write(api, lease, old, true, reason);
	json_object_put(old);
	return good;
}
