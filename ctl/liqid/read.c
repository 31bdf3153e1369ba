// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: what a Liqid director says
 *
 * Each answer is an envelope with a code, 0 for success, and a list. A GPU is a device of the
 * fabric; that it is in a group, and in a machine of that group, another list says. A
 * machine takes GPUs of its own group alone: what is in no group, or in another one, is
 * not ours to bind.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "liqid/read.h"

#define ERROR_MAX 200

/* A number above 0, also as text; 0 for none. */
static unsigned int liqid_number(struct json_object *from, const char *key)
{
	const char *text = doc_text(from, key);
	struct json_object *found;
	uint64_t value;

	if (text)
		return text_number(text, INT32_MAX, &value) ? (unsigned int)value : 0;
	if (!json_object_is_type(from, json_type_object) ||
	    !json_object_object_get_ex(from, key, &found) ||
	    !json_object_is_type(found, json_type_int))
		return 0;
	return json_object_get_int64(found) > 0 && json_object_get_int64(found) <= INT32_MAX ?
		       (unsigned int)json_object_get_int64(found) :
		       0;
}

char *liqid_complaint(struct json_object *body)
{
	struct json_object *errors = doc_array(doc_object(body, "response"), "errors"), *first;
	const char *text;
	char *said;

	first = errors ? json_object_array_get_idx(errors, 0) : NULL;
	text = doc_text(first, "message");
	said = mem_printf("%.*s", ERROR_MAX, text ? text : "");
	text_tame(said, false);
	return said;
}

struct json_object *liqid_data(struct json_object *body, struct fault *f)
{
	struct json_object *response = doc_object(body, "response"), *code, *data;
	char *said;

	if (!response || !json_object_object_get_ex(response, "code", &code) ||
	    !json_object_is_type(code, json_type_int)) {
		fault_set(f, EINVAL, "the answer has no response with a code");
		return NULL;
	}
	if (json_object_get_int64(code)) {
		said = liqid_complaint(body);
		fault_set(f, EIO, "code %lld%s%s", (long long)json_object_get_int64(code),
			  *said ? ": " : "", said);
		free(said);
		return NULL;
	}
	data = doc_array(response, "data");
	if (!data)
		fault_set(f, EINVAL, "the answer has no data");
	return data;
}

static void seen_replace(struct json_object **at, struct json_object *with)
{
	json_object_put(*at);
	*at = json_object_get(with);
}

int liqid_take_machine(struct liqid_seen *seen, struct json_object *list, const char *host,
		       struct fault *f)
{
	size_t i;

	for (i = 0; i < json_object_array_length(list); i++) {
		struct json_object *one = json_object_array_get_idx(list, i);
		const char *name = doc_text(one, "mach_name");

		if (!name || strcmp(name, host))
			continue;
		seen_replace(&seen->machine, one);
		seen->fabric = liqid_number(one, "fabr_id");
		seen->group_id = liqid_number(one, "grp_id");
		seen->machine_id = liqid_number(one, "mach_id");
		if (seen->fabric && seen->group_id && seen->machine_id)
			return 0;
		return fault_set(f, EINVAL, "machine %s has no fabr_id, grp_id or mach_id", host);
	}
	return fault_set(f, ENOENT, "it has no machine %s", host);
}

int liqid_take_group(struct liqid_seen *seen, struct json_object *list, struct fault *f)
{
	size_t i;

	for (i = 0; i < json_object_array_length(list); i++) {
		struct json_object *one = json_object_array_get_idx(list, i);

		if (liqid_number(one, "grp_id") != seen->group_id)
			continue;
		seen_replace(&seen->group, one);
		return 0;
	}
	return fault_set(f, ENOENT, "it has no group %u, which the machine is in", seen->group_id);
}

void liqid_take_pending(struct liqid_seen *seen, struct json_object *list)
{
	struct json_object *first = json_object_array_get_idx(list, 0);

	free(seen->editor);
	free(seen->since);
	seen->pending = json_object_array_length(list);
	seen->editor = doc_words(first, "credentials");
	seen->since = doc_words(first, "start");
}

static void seen_drop_gpus(struct liqid_seen *seen)
{
	while (seen->n) {
		struct liqid_gpu *gpu = &seen->gpus[--seen->n];

		free(gpu->id);
		free(gpu->host);
		free(gpu->why);
		json_object_put(gpu->status);
	}
	free(seen->gpus);
	seen->gpus = NULL;
}

static bool is_gpu(struct json_object *status)
{
	const char *type = doc_text(status, "type"), *kind = doc_text(status, "device_type");

	return (type && !strcmp(type, "GpuDeviceStatus")) || (kind && !strcmp(kind, "gpu"));
}

int liqid_take_devices(struct liqid_seen *seen, struct json_object *list, struct fault *f)
{
	size_t i;

	seen_drop_gpus(seen);
	for (i = 0; i < json_object_array_length(list); i++) {
		struct json_object *one = json_object_array_get_idx(list, i);
		const char *id = doc_text(one, "name");

		if (!is_gpu(one))
			continue;
		if (!id || !manager_is_id(id) || liqid_find(seen, id))
			return fault_set(f, EINVAL,
					 "device %zu has a name that is there twice, or is not of A-Z a-z 0-9 . _ -",
					 i);
		if (seen->n == LIQID_GPUS_MAX)
			return fault_set(f, EINVAL, "more than %d GPUs", LIQID_GPUS_MAX);
		seen->gpus = mem_push(seen->gpus, seen->n, sizeof(*seen->gpus));
		seen->gpus[seen->n++] = (struct liqid_gpu){
			.id = mem_strdup(id),
			.vendor = doc_id16(one, "vid"),
			.device = doc_id16(one, "did"),
			.state = GPU_UNUSABLE,
			.why = mem_strdup("in no group"),
			.status = json_object_get(one),
		};
	}
	return 0;
}

/* Where one GPU is: in a group, and perhaps in a machine. */
static void take_member(struct liqid_seen *seen, struct liqid_gpu *gpu, struct json_object *one,
			const char *host)
{
	unsigned int machine = liqid_number(one, "mach_id"), group = liqid_number(one, "grp_id");
	char *name = doc_words(one, machine ? "mname" : "gname");

	free(gpu->why);
	free(gpu->host);
	gpu->why = NULL;
	gpu->host = NULL;
	/* It may have been listed before. */
	gpu->state = GPU_UNUSABLE;
	gpu->mine = machine && machine == seen->machine_id;
	if (machine) {
		gpu->host = gpu->mine ? mem_strdup(host) :
			    name      ? mem_strdup(name) :
					mem_printf("machine-%u", machine);
		gpu->state = gpu->mine && seen->pending ? GPU_CHANGING : GPU_BOUND;
	} else if (group && group == seen->group_id) {
		gpu->state = GPU_FREE;
	} else if (group) {
		gpu->why = name ? mem_printf("in group %s", name) : mem_strdup("in another group");
	} else {
		gpu->why = mem_strdup("in no group");
	}
	free(name);
}

void liqid_take_members(struct liqid_seen *seen, struct json_object *list, const char *host)
{
	size_t i;

	for (i = 0; i < json_object_array_length(list); i++) {
		struct json_object *one = json_object_array_get_idx(list, i);
		const char *id = doc_text(one, "name");
		struct liqid_gpu *gpu = id ? liqid_find(seen, id) : NULL;

		if (gpu)
			take_member(seen, gpu, one, host);
	}
}

void liqid_seen_clear(struct liqid_seen *seen)
{
	seen_drop_gpus(seen);
	free(seen->editor);
	free(seen->since);
	json_object_put(seen->machine);
	json_object_put(seen->group);
	memset(seen, 0, sizeof(*seen));
}

struct liqid_gpu *liqid_find(const struct liqid_seen *seen, const char *id)
{
	size_t i;

	for (i = 0; i < seen->n; i++)
		if (!strcmp(seen->gpus[i].id, id))
			return &seen->gpus[i];
	return NULL;
}
