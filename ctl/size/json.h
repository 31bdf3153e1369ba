/* SPDX-License-Identifier: GPL-2.0-only */
/* Words for JSON that is not an object. */
#ifndef GPUCTL_SIZE_JSON_H
#define GPUCTL_SIZE_JSON_H

#include <json-c/json.h>

static inline const char *json_why_no_object(struct json_tokener *tok)
{
	enum json_tokener_error error = json_tokener_get_error(tok);

	if (error == json_tokener_continue)
		return "cut off before its end";
	if (error == json_tokener_success)
		return "it is another value";
	return json_tokener_error_desc(error);
}

#endif
