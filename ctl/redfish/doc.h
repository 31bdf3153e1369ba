/* SPDX-License-Identifier: GPL-2.0-only */
/* Resources of Redfish as JSON: what is read of them, bounded. Pure. */
#ifndef GPUCTL_REDFISH_DOC_H
#define GPUCTL_REDFISH_DOC_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"

/* An answer is no longer, and nothing in it deeper. */
#define DOC_MAX (4u << 20)
#define DOC_DEPTH 32

/* An object; NULL with a reason. json_object_put() frees it. */
struct json_object *doc_parse(const char *text, size_t len, struct fault *f);

/* What stands below a key, NULL where there is nothing of that type; borrowed. */
struct json_object *doc_object(struct json_object *from, const char *key);
struct json_object *doc_array(struct json_object *from, const char *key);
const char *doc_text(struct json_object *from, const char *key);

/* The path in "@odata.id"; NULL where there is none that leads below /redfish/v1. */
const char *doc_path(struct json_object *from);
/* The same of the object below @key. */
const char *doc_link(struct json_object *from, const char *key);

/* The last part of a path. */
const char *doc_last(const char *path);

/* "0x10DE" or "10de" as a number of 16 bits; 0 where it is none. */
unsigned int doc_id16(struct json_object *from, const char *key);

/* What the manager says of an error, cut to 200 characters; "" for nothing. The caller frees. */
char *doc_error(struct json_object *body);

/* { "@odata.id": path } */
struct json_object *doc_reference(const char *path);

#endif /* GPUCTL_REDFISH_DOC_H */
