// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the form of a request
 *
 * Redfish has six methods, and any other one gets 501; which of the six a resource allows, the
 * resource says later. A client that does not say what its body is has sent JSON.
 */
#include <string.h>

#include "fm/body.h"
#include "fm/form.h"

bool form_reads(const char *method)
{
	return !strcmp(method, "GET") || !strcmp(method, "HEAD");
}

static bool method_is_known(const char *method)
{
	static const char *const changes[] = { "POST", "PUT", "PATCH", "DELETE" };
	size_t i;

	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		if (!strcmp(method, changes[i]))
			return true;
	return form_reads(method);
}

/* Parameters, such as the character set, say nothing: JSON is UTF-8. */
static bool type_is_json(const char *type)
{
	static const char json[] = "application/json";
	const size_t len = strlen(json);

	if (strncasecmp(type, json, len))
		return false;
	type += len;
	type += strspn(type, " \t");
	return !*type || *type == ';';
}

/* A browser sends a change for the page of another site, with the certificate of who looks at it? */
static bool is_foreign(const struct form *form)
{
	return form->origin && !form_reads(form->method) &&
	       (strncmp(form->origin, "https://", 8) || !form->host ||
		strcmp(form->origin + 8, form->host));
}

void form_check(const struct form *form, struct answer *answer)
{
	if (!method_is_known(form->method))
		answer_refuse(answer, 501, "OperationNotAllowed", NULL, NULL,
			      "the service does not implement the method %.20s", form->method);
	else if (form->too_big)
		answer_refuse(answer, 413, "PayloadTooLarge", NULL, NULL,
			      "a body has at most %d bytes", BODY_MAX);
	else if (strlen(form->path) > FORM_PATH_MAX)
		answer_refuse(answer, 414, "StringValueTooLong", NULL, NULL,
			      "a path has at most %d characters", FORM_PATH_MAX);
	else if (form->version && strcmp(form->version, "4.0"))
		answer_refuse(answer, 412, "HeaderInvalid", NULL, "OData-Version",
			      "the service speaks OData-Version 4.0");
	else if (is_foreign(form))
		answer_refuse(answer, 403, "InsufficientPrivilege", NULL, NULL,
			      "a page of another site asks for a change");
	else if (form->has_body && form->type && !form_reads(form->method) &&
		 !type_is_json(form->type))
		answer_refuse(answer, 415, "HeaderInvalid", NULL, "Content-Type",
			      "a body is JSON: send it as application/json");
}
