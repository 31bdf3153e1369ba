/* SPDX-License-Identifier: GPL-2.0-only */
/* What managers send as JSON: what is read of it, bounded. Pure. */
#ifndef GPUCTL_DRIVER_DOC_H
#define GPUCTL_DRIVER_DOC_H

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

/* "0x10DE" or "10de" as a number of 16 bits; 0 where it is none. */
unsigned int doc_id16(struct json_object *from, const char *key);

/* Its words from a string, tamed and cut; NULL for none. The caller frees. */
char *doc_words(struct json_object *from, const char *key);

#endif /* GPUCTL_DRIVER_DOC_H */
