/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects of resource.k8s.io at the API server, in the newest version that it has. */
#ifndef DRA_OBJECT_H
#define DRA_OBJECT_H

#include "dra/api.h"

#define RESOURCE_GROUP "resource.k8s.io"

/*
 * "v1", "v1beta2" or "v1beta1"; NULL with the reason if the server has none of them or does not
 * answer. The answer is kept, as a server may be upgraded but not go back while we run.
 */
const char *object_version(const struct api *api, struct reason *reason);

/* A ResourceClaim; returns the status as api_request() does. */
int object_claim(const struct api *api, const char *namespace, const char *name,
		 struct json_object **object, struct reason *reason);

#endif /* DRA_OBJECT_H */
