/* SPDX-License-Identifier: GPL-2.0-only */
/* A JSON object as the facts that formulas of families look at. */
#ifndef GPUCTL_SIZE_FACTS_H
#define GPUCTL_SIZE_FACTS_H

#include <json-c/json.h>

#include "catalogue/expr.h"

/* Facts of @object, which must live as long as they do. */
struct expr_facts facts_of(struct json_object *object);

/* The member at "a.b.3"; keys may have dots themselves. NULL if there is none, or it is null. */
struct json_object *facts_find(struct json_object *object, const char *path);

/* Its text; NULL if it is no string. */
const char *facts_text(struct json_object *object, const char *path);

/* Its number, also of true and false; @fallback if it is none. */
double facts_number(struct json_object *object, const char *path, double fallback);

#endif
