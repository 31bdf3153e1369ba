// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DOC: claims
 *
 * What the scheduler allocated is in status.allocation.devices: results name devices, config has
 * the parameters of DeviceClass and claim. Anything that is not as the API has it is refused, and
 * so is a parameter that this driver does not know: a word that is overlooked would be a promise.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dra/claim.h"

#define WORD_MAX 253
#define PARAMS_VERSION "gpufabric.io/v1"
#define PARAMS_KIND "GpuParameters"

bool claim_word(const char *word)
{
	size_t i, n = strlen(word);

	for (i = 0; i < n; i++)
		if (!islower((unsigned char)word[i]) && !isdigit((unsigned char)word[i]) &&
		    (!strchr("-.", word[i]) || !i || i + 1 == n))
			return false;
	return n && n <= WORD_MAX && !strstr(word, "..");
}

bool claim_composition(const char *uid, char name[CLAIM_NAME_MAX])
{
	size_t i, n = strlen(uid);

	for (i = 0; i < n; i++)
		if (!isalnum((unsigned char)uid[i]) && uid[i] != '-')
			return false;
	if (!n || n > CLAIM_UID_MAX)
		return false;
	snprintf(name, CLAIM_NAME_MAX, "claim-%s", uid);
	return true;
}

/* "rack/a" is a pool, too. */
static bool is_pool(const char *pool)
{
	char *copy = copy_of(pool), *rest = copy, *part;
	bool good = strlen(pool) <= WORD_MAX;

	while (good && (part = strsep(&rest, "/")))
		good = claim_word(part);
	free(copy);
	return good;
}

/* A request, or a request and one of its alternatives. */
static bool is_request(const char *request)
{
	return is_pool(request) &&
	       (!strchr(request, '/') || strchr(request, '/') == strrchr(request, '/'));
}

static bool read_result(struct json_object *result, struct claim *claim, struct reason *reason)
{
	const char *driver = json_text(result, "driver"), *request = json_text(result, "request");
	const char *pool = json_text(result, "pool"), *device = json_text(result, "device");
	struct json_object *admin = NULL;

	if (!driver || !request || !pool || !device || !is_request(request) || !is_pool(pool) ||
	    !claim_word(device))
		return refuse(reason, "its allocation has an invalid result");
	if (strcmp(driver, DRIVER_NAME))
		return true;
	if (json_object_object_get_ex(result, "adminAccess", &admin) &&
	    json_object_get_boolean(admin))
		return refuse(reason,
			      "request %s wants admin access, which this driver does not have",
			      request);
	claim->devices[claim->n++] =
		(struct claim_device){ copy_of(request), copy_of(pool), copy_of(device), NULL };
	return true;
}

/* A name of tenants and drivers: letters, digits, _ . - */
static bool is_name(const char *name)
{
	size_t n =
		strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");

	return n && n < 64 && !name[n] && *name != '-' && *name != '.';
}

static bool read_param(const char *key, struct json_object *value, bool of_class,
		       struct claim_params *params, struct reason *reason)
{
	bool tenant = !strcmp(key, "tenant");
	char **to = tenant ? &params->tenant : &params->driver;

	if (!strcmp(key, "apiVersion") || !strcmp(key, "kind"))
		return true;
	if (!strcmp(key, "peers")) {
		if (!json_object_is_type(value, json_type_boolean))
			return refuse(reason, "parameter peers is not true or false");
		params->peers = params->peers || json_object_get_boolean(value);
		return true;
	}
	if (!tenant && strcmp(key, "driver"))
		return refuse(reason,
			      "unknown parameter %.64s: the parameters are driver, peers and tenant",
			      key);
	if (tenant && !of_class)
		return refuse(reason, "parameter tenant is for a DeviceClass, not for a claim");
	if (!json_object_is_type(value, json_type_string) ||
	    !is_name(json_object_get_string(value)))
		return refuse(reason, "parameter %s is not a name", key);
	if (*to && strcmp(*to, json_object_get_string(value)))
		return refuse(reason, "parameter %s is given twice with different values", key);
	if (!*to)
		*to = copy_of(json_object_get_string(value));
	return true;
}

/* Whether a list has a request: REQUEST, or one of the alternatives REQUEST/ALTERNATIVE of it. */
static bool lists_request(struct json_object *list, const char *request)
{
	size_t i, n = json_object_array_length(list);

	for (i = 0; i < n; i++) {
		const char *name = json_object_get_string(json_object_array_get_idx(list, i));
		size_t length = name ? strlen(name) : 0;

		if (name && !strncmp(name, request, length) &&
		    (!request[length] || request[length] == '/'))
			return true;
	}
	return false;
}

/* The parameters of one device: without a list of requests a configuration is for all. */
static bool read_config(struct json_object *config, const struct claim_device *device,
			struct claim_params *to, struct reason *reason)
{
	struct json_object *requests = json_member(config, "requests", json_type_array);
	struct json_object *opaque = json_member(config, "opaque", json_type_object), *params;
	const char *driver = json_text(opaque, "driver"), *source = json_text(config, "source");
	const char *version, *kind;

	if (!driver || strcmp(driver, DRIVER_NAME))
		return true;
	if (requests && json_object_array_length(requests) &&
	    !lists_request(requests, device->request))
		return true;
	params = json_member(opaque, "parameters", json_type_object);
	version = json_text(params, "apiVersion");
	kind = json_text(params, "kind");
	if (!version || !kind || strcmp(version, PARAMS_VERSION) || strcmp(kind, PARAMS_KIND))
		return refuse(reason,
			      "its parameters are not of " PARAMS_VERSION ", kind " PARAMS_KIND);
	json_object_object_foreach(params, key, value) {
		if (!read_param(key, value, source && !strcmp(source, "FromClass"), to, reason))
			return false;
	}
	return true;
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static void params_free(struct claim_params *params)
{
	free(params->driver);
	free(params->tenant);
	*params = (struct claim_params){ 0 };
}

/* All devices are one composition, which has one driver, tenant and wish for peers. */
static bool read_params(struct json_object *config, struct claim *claim, struct reason *reason)
{
	const size_t n = config ? json_object_array_length(config) : 0;
	size_t i, k;

	for (i = 0; i < claim->n; i++) {
		struct claim_params params = { 0 };
		bool good = true;

		for (k = 0; k < n && good; k++)
			good = read_config(json_object_array_get_idx(config, k), &claim->devices[i],
					   &params, reason);
		if (good && i &&
		    !(is_same(params.driver, claim->params.driver) &&
		      is_same(params.tenant, claim->params.tenant) &&
		      params.peers == claim->params.peers))
			good = refuse(reason,
				      "its requests have different parameters: make one claim for each");
		if (good && !i)
			claim->params = params;
		else
			params_free(&params);
		if (!good)
			return false;
	}
	return true;
}

bool claim_read(struct json_object *object, struct claim *claim, struct reason *reason)
{
	struct json_object *metadata = json_member(object, "metadata", json_type_object);
	struct json_object *status = json_member(object, "status", json_type_object);
	struct json_object *allocation = json_member(status, "allocation", json_type_object);
	struct json_object *devices = json_member(allocation, "devices", json_type_object);
	struct json_object *results = json_member(devices, "results", json_type_array);
	struct json_object *config = json_member(devices, "config", json_type_array);
	const char *uid = json_text(metadata, "uid");
	char name[CLAIM_NAME_MAX];
	size_t i;

	memset(claim, 0, sizeof(*claim));
	if (!uid || !claim_composition(uid, name))
		return refuse(reason, "the API server has no uid for it");
	claim->uid = copy_of(uid);
	if (!results || !json_object_array_length(results))
		return refuse(reason, "nothing is allocated to it");
	if (json_object_array_length(results) > CLAIM_DEVICES_MAX ||
	    (config && json_object_array_length(config) > 2 * CLAIM_DEVICES_MAX))
		return refuse(reason, "it has more devices than a claim can have");
	for (i = 0; i < json_object_array_length(results); i++)
		if (!read_result(json_object_array_get_idx(results, i), claim, reason))
			return false;
	if (!read_params(config, claim, reason))
		return false;
	return claim->n || refuse(reason, "no device of " DRIVER_NAME " is allocated to it");
}

void claim_free(struct claim *claim)
{
	size_t i;

	for (i = 0; i < claim->n; i++) {
		free(claim->devices[i].request);
		free(claim->devices[i].pool);
		free(claim->devices[i].device);
		free(claim->devices[i].slot);
	}
	free(claim->uid);
	params_free(&claim->params);
	memset(claim, 0, sizeof(*claim));
}
