/* SPDX-License-Identifier: GPL-2.0-only */
/* Links between resources of Redfish, and its errors. Pure. */
#ifndef GPUCTL_REDFISH_LINK_H
#define GPUCTL_REDFISH_LINK_H

#include "driver/doc.h"

/* The path in "@odata.id"; NULL where there is none that leads below /redfish/v1. */
const char *link_path(struct json_object *from);
/* The same of the object below @key. */
const char *link_below(struct json_object *from, const char *key);

/* The last part of a path. */
const char *link_last(const char *path);

/* { "@odata.id": path } */
struct json_object *link_reference(const char *path);

/* What the manager says of an error, cut to 200 characters; "" for nothing. The caller frees. */
char *redfish_complaint(struct json_object *body);

#endif /* GPUCTL_REDFISH_LINK_H */
