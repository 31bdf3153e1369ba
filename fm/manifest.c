// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: manifests of CompositionService.Compose
 *
 * A stanza composes a system, whose request is a system with the blocks that it is to have, or
 * decomposes it, whose request is a reference to it. All is refused that would not be
 * carried out as it stands there: a constraint that is passed over gives somebody other GPUs than
 * were asked for.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fm/body.h"

#define STANZA_ID_MAX 256

static bool refuse_value(struct answer *answer, const char *parameter, const char *what)
{
	answer_refuse(answer, 400, "ActionParameterNotSupported", NULL, parameter, "%s %s",
		      parameter, what);
	return false;
}

static bool refuse_missing(struct answer *answer, const char *parameter)
{
	answer_refuse(answer, 400, "ActionParameterMissing", NULL, parameter,
		      "the parameter %s is missing", parameter);
	return false;
}

/* Nothing but @names. @pointer is NULL for the parameters of the action. */
static bool has_only(struct json_object *object, const char *pointer, const char *const *names,
		     struct answer *answer)
{
	json_object_object_foreach(object, key, value) {
		const char *const *name = names;

		(void)value;
		while (*name && strcmp(*name, key))
			name++;
		if (*name)
			continue;
		answer_refuse(answer, 400, pointer ? "PropertyUnknown" : "ActionParameterUnknown",
			      pointer, key, "%.200s is not understood%s%s", key,
			      pointer ? " in " : "", pointer ? pointer : "");
		return false;
	}
	return true;
}

static bool read_reference(struct json_object *from, char **uri, struct answer *answer)
{
	if (!body_text(from, "@odata.id", BODY_URI_MAX, uri, answer))
		return false;
	return !*uri || **uri || refuse_value(answer, "@odata.id", "is empty");
}

static bool read_request(struct json_object *request, struct body_stanza *stanza,
			 struct answer *answer)
{
	static const char *const reference[] = { "@odata.id", NULL };
	static const char *const system[] = { "@odata.id", "@odata.type", "@odata.etag", "Id",
					      "Name",	   "Description", "Links",	 NULL };
	static const char *const list[] = { "ResourceBlocks", NULL };
	static const char pointer[] = "/Manifest/Stanzas/Request";
	struct json_object *links;

	if (!has_only(request, pointer, stanza->decompose ? reference : system, answer) ||
	    !read_reference(request, &stanza->system, answer))
		return false;
	if (stanza->decompose)
		return stanza->system || refuse_missing(answer, "@odata.id");
	links = body_member(request, "Links", "/Manifest/Stanzas/Request/Links", answer);
	if (answer->status)
		return false;
	if (!links)
		return refuse_missing(answer, "Links");
	return has_only(links, "/Manifest/Stanzas/Request/Links", list, answer) &&
	       body_text(request, "@odata.etag", 128, &stanza->etag, answer) &&
	       body_blocks(links, &stanza->zone, answer);
}

static bool read_stanza(struct json_object *given, struct body_stanza *stanza,
			struct answer *answer)
{
	static const char *const names[] = { "StanzaType", "StanzaId", "Request", NULL };
	struct json_object *request;
	char *type = NULL;
	bool good = false;

	if (!json_object_is_type(given, json_type_object)) {
		answer_refuse(answer, 400, "PropertyValueTypeError", "/Manifest/Stanzas", NULL,
			      "/Manifest/Stanzas is not an array of objects");
		return false;
	}
	if (!has_only(given, "/Manifest/Stanzas", names, answer) ||
	    !body_text(given, "StanzaType", 64, &type, answer) ||
	    !body_text(given, "StanzaId", STANZA_ID_MAX, &stanza->id, answer))
		goto out;
	request = body_member(given, "Request", "/Manifest/Stanzas/Request", answer);
	if (answer->status)
		goto out;
	stanza->decompose = type && !strcmp(type, "DecomposeSystem");
	if (!type || !request)
		refuse_missing(answer, type ? "Request" : "StanzaType");
	else if (!stanza->decompose && strcmp(type, "ComposeSystem"))
		refuse_value(answer, "StanzaType", "is ComposeSystem or DecomposeSystem here");
	else
		good = read_request(request, stanza, answer);
out:
	free(type);
	return good;
}

static bool read_stanzas(struct json_object *given, struct body_manifest *manifest,
			 struct answer *answer)
{
	static const char *const names[] = { "Description", "Timestamp", "Expand", "Stanzas",
					     NULL };
	struct json_object *list;
	char *expand = NULL;
	size_t i, n;
	bool good = has_only(given, "/Manifest", names, answer) &&
		    body_text(given, "Expand", 64, &expand, answer) &&
		    body_array(given, "Stanzas", "/Manifest/Stanzas", &list, answer);

	if (good && expand && strcmp(expand, "None"))
		good = refuse_value(answer, "Expand", "is None here");
	free(expand);
	if (!good)
		return false;
	n = list ? json_object_array_length(list) : 0;
	if (!n)
		return refuse_missing(answer, "Stanzas");
	if (n > BODY_STANZAS_MAX)
		return refuse_value(answer, "Stanzas", "are at most 64");
	manifest->stanzas = mem_zalloc(n, sizeof(*manifest->stanzas));
	manifest->count = n;
	for (i = 0; i < n && good; i++)
		good = read_stanza(json_object_array_get_idx(list, i), &manifest->stanzas[i],
				   answer);
	return good;
}

static bool read_how(struct json_object *root, struct body_manifest *manifest,
		     struct answer *answer)
{
	char *format = NULL, *type = NULL;
	bool good = body_text(root, "RequestFormat", 64, &format, answer) &&
		    body_text(root, "RequestType", 64, &type, answer);

	if (!good)
		goto out;
	manifest->apply = type && !strcmp(type, "Apply");
	if (!format || !type)
		good = refuse_missing(answer, format ? "RequestType" : "RequestFormat");
	else if (strcmp(format, "Manifest"))
		good = refuse_value(answer, "RequestFormat", "is Manifest here");
	else if (!manifest->apply && strcmp(type, "Preview"))
		good = refuse_value(answer, "RequestType", "is Preview or Apply here");
out:
	free(format);
	free(type);
	return good;
}

bool body_read_manifest(const char *text, size_t len, struct body_manifest *manifest,
			struct answer *answer)
{
	static const char *const names[] = { "RequestFormat", "RequestType", "Manifest", NULL };
	struct json_object *root = body_object(text, len, answer), *given;
	bool good = false;

	*manifest = (struct body_manifest){ 0 };
	if (!root)
		return false;
	if (!has_only(root, NULL, names, answer) || !read_how(root, manifest, answer))
		goto out;
	given = body_member(root, "Manifest", "/Manifest", answer);
	if (!given && !answer->status)
		refuse_missing(answer, "Manifest");
	good = !answer->status && read_stanzas(given, manifest, answer);
	if (good)
		manifest->given = json_object_get(given);
out:
	json_object_put(root);
	return good;
}

void body_free_manifest(struct body_manifest *manifest)
{
	size_t i;

	for (i = 0; i < manifest->count; i++) {
		free(manifest->stanzas[i].id);
		free(manifest->stanzas[i].system);
		free(manifest->stanzas[i].etag);
		body_free_zone(&manifest->stanzas[i].zone);
	}
	free(manifest->stanzas);
	json_object_put(manifest->given);
	*manifest = (struct body_manifest){ 0 };
}
