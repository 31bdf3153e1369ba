// SPDX-License-Identifier: GPL-2.0-or-later
/* Versions of resource.k8s.io: a claim is read in the same way in each of them. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "dra/claim.h"
#include "dra/object.h"

static const char *const versions[] = { "v1", "v1beta2", "v1beta1" };
#define VERSIONS (sizeof(versions) / sizeof(*versions))

static bool has_version(struct json_object *group, const char *version)
{
	struct json_object *list = json_member(group, "versions", json_type_array);
	size_t i;

	for (i = 0; list && i < json_object_array_length(list); i++) {
		const char *one = json_text(json_object_array_get_idx(list, i), "version");

		if (one && !strcmp(one, version))
			return true;
	}
	return false;
}

const char *object_version(const struct api *api, struct reason *reason)
{
	static const char *_Atomic known;
	struct json_object *group = NULL;
	const char *version = atomic_load(&known);
	size_t i;

	if (version)
		return version;
	if (api_request(api, NULL, "/apis/" RESOURCE_GROUP, NULL, &group, reason) != API_OK)
		return NULL;
	for (i = 0; i < VERSIONS && !version; i++)
		if (has_version(group, versions[i]))
			version = versions[i];
	json_object_put(group);
	if (!version)
		refuse(reason, "the API server has no version of " RESOURCE_GROUP
			       " that this driver knows");
	atomic_store(&known, version);
	return version;
}

int object_claim(const struct api *api, const char *namespace, const char *name,
		 struct json_object **object, struct reason *reason)
{
	const char *version;
	char *path;
	int status;

	*object = NULL;
	if (!claim_word(namespace) || !claim_word(name)) {
		refuse(reason, "the kubelet names an invalid claim");
		return API_AWAY;
	}
	version = object_version(api, reason);
	if (!version)
		return API_AWAY;
	path = format("/apis/" RESOURCE_GROUP "/%s/namespaces/%s/resourceclaims/%s", version,
		      namespace, name);
	status = api_request(api, NULL, path, NULL, object, reason);
	free(path);
	return status;
}
