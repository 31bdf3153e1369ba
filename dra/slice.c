// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DOC: slices
 *
 * A device of a node is a slot with a GPU that a claim could have: not one that is empty, foreign,
 * on its way out, or held by another slot driver. A GPU that a claim must not have now, because it
 * is in quarantine or fault, or because somebody else than Kubernetes has it, has a taint.
 *
 * A device of a fabric manager is a GPU there. One that is bound without a claim is somebody
 * else's; one that is bound for a claim is the claim's, and the scheduler does not give it away, with
 * a taint or without.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dra/claim.h"
#include "dra/slice.h"

#define TEXT_MAX 64
#define UNKNOWN "unknown"

static struct json_object *word(const char *text)
{
	return json_object_new_string(text);
}

static struct json_object *pair(const char *key, struct json_object *value)
{
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, key, value);
	return object;
}

/* Attributes have at most 64 letters. */
static void add_text(struct json_object *attributes, const char *name, const char *text)
{
	if (text && *text && strlen(text) <= TEXT_MAX)
		json_object_object_add(attributes, name, pair("string", word(text)));
}

static void add_number(struct json_object *attributes, const char *name, int64_t n)
{
	if (n >= 0)
		json_object_object_add(attributes, name, pair("int", json_object_new_int64(n)));
}

/*
 * As the API server itself writes quantities: it keeps no other form, and what it keeps is compared
 * with what is to be there. What is not known is 0, because a selector that asks for what is not
 * there is an error, and ends the scheduler's search.
 */
static void add_bytes(struct json_object *capacity, const char *name, int64_t bytes)
{
	static const char *const binary[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };
	static const char *const decimal[] = { "", "k", "M", "G", "T", "P", "E" };
	int step = bytes % 1024 ? 1000 : 1024;
	size_t i = 0;
	char text[32];

	for (; bytes > 0 && !(bytes % step); i++)
		bytes /= step;
	snprintf(text, sizeof(text), "%lld%s", (long long)(bytes > 0 ? bytes : 0),
		 step == 1024 ? binary[i] : decimal[i]);
	json_object_object_add(capacity, name, pair("value", word(text)));
}

/* Why a claim must not have it now: the key of a taint, with its value; NULL for no reason. */
static const char *slot_taint(const struct inv_slot *slot, const char **value)
{
	*value = "";
	if (slot->quarantined)
		return DRIVER_NAME "/quarantined";
	if (slot->no_window)
		return DRIVER_NAME "/no-window";
	*value = slot->state;
	if (!strcmp(slot->state, "fault") || !strcmp(slot->state, "lost") ||
	    !strcmp(slot->state, "stuck"))
		return DRIVER_NAME "/unhealthy";
	*value = slot->composition;
	if (slot->composition && strncmp(slot->composition, "claim-", 6))
		return DRIVER_NAME "/foreign";
	return NULL;
}

static const char *gpu_taint(const struct inv_gpu *gpu, const char **value)
{
	*value = gpu->state;
	if (!strcmp(gpu->state, "free"))
		return NULL;
	return !strcmp(gpu->state, "unusable") ? DRIVER_NAME "/unhealthy" : DRIVER_NAME "/foreign";
}

/* A value of a taint is a label's. */
static struct json_object *taint(const char *key, const char *value)
{
	struct json_object *one = pair("key", word(key)), *list = json_object_new_array();
	size_t n = strlen(value);

	if (n && n <= 63 && !strchr("-_.", value[n - 1]))
		json_object_object_add(one, "value", word(value));
	json_object_object_add(one, "effect", word("NoSchedule"));
	json_object_array_add(list, one);
	return list;
}

/* v1beta1 has what a device is one step further down. Takes all but the terms. */
static void add_device(struct json_object *devices, const struct slice_terms *terms,
		       const char *name, struct json_object *attributes,
		       struct json_object *capacity, const char *key, const char *value)
{
	bool nested = !strcmp(terms->version, "v1beta1");
	struct json_object *device = pair("name", word(name));
	struct json_object *body = nested ? json_object_new_object() : device;

	if (key && !terms->taints) {
		json_object_put(attributes);
		json_object_put(capacity);
		json_object_put(device);
		if (nested)
			json_object_put(body);
		return;
	}
	json_object_object_add(body, "attributes", attributes);
	if (json_object_object_length(capacity))
		json_object_object_add(body, "capacity", capacity);
	else
		json_object_put(capacity);
	if (key)
		json_object_object_add(body, "taints", taint(key, value));
	if (nested)
		json_object_object_add(device, "basic", body);
	json_object_array_add(devices, device);
}

/* Is it a GPU that a claim could have, now or when somebody else has ended? */
static bool slot_counts(const struct inventory *inventory, const struct inv_slot *slot)
{
	static const char *const out[] = { "empty", "other", "draining", "detaching" };
	size_t i;

	if (slot->unmanaged || !slot->label || !slot->gpus)
		return false;
	for (i = 0; i < sizeof(out) / sizeof(*out); i++)
		if (!strcmp(slot->state, out[i]))
			return false;
	/* Its GPU is in the pool of its fabric manager. */
	for (i = 0; i < inventory->n_gpus; i++)
		if (inventory->gpus[i].slot && !strcmp(inventory->gpus[i].slot, slot->name))
			return false;
	return true;
}

static void add_slots(struct json_object *devices, const struct inventory *inventory,
		      const struct slice_terms *terms)
{
	size_t i;

	for (i = 0; i < inventory->n_slots; i++) {
		const struct inv_slot *slot = &inventory->slots[i];
		struct json_object *attributes, *capacity;
		const char *key, *value;

		if (!slot_counts(inventory, slot))
			continue;
		attributes = json_object_new_object();
		capacity = json_object_new_object();
		add_text(attributes, "kind", slot->kind ? slot->kind : UNKNOWN);
		add_text(attributes, "model", slot->label);
		add_text(attributes, "slot", slot->name);
		add_number(attributes, "switch", slot->switch_id);
		add_number(attributes, "numaNode", slot->numa);
		add_number(attributes, "gpus", slot->gpus);
		if (slot->speed && slot->width) {
			add_number(attributes, "linkSpeed", slot->speed);
			add_number(attributes, "linkWidth", slot->width);
		}
		add_bytes(capacity, "memory", slot->memory);
		add_bytes(capacity, "bar", slot->bar);
		key = slot_taint(slot, &value);
		add_device(devices, terms, slot->device, attributes, capacity, key, value);
	}
}

static void add_gpus(struct json_object *devices, const struct inventory *inventory,
		     const struct slice_terms *terms)
{
	size_t i;

	for (i = 0; i < inventory->n_gpus; i++) {
		const struct inv_gpu *gpu = &inventory->gpus[i];
		struct json_object *attributes, *capacity;
		const char *key, *value;

		if (strcmp(gpu->manager, terms->manager) || !gpu->kind)
			continue;
		attributes = json_object_new_object();
		capacity = json_object_new_object();
		add_text(attributes, "kind", gpu->kind);
		add_text(attributes, "gpu", gpu->id);
		add_bytes(capacity, "memory", gpu->memory);
		add_bytes(capacity, "bar", gpu->bar);
		key = gpu_taint(gpu, &value);
		add_device(devices, terms, gpu->device, attributes, capacity, key, value);
	}
}

/* Nodes of a fabric have its label, with the number of their ports as its value. */
static struct json_object *node_selector(const struct slice_terms *terms)
{
	char *key = format(DRIVER_NAME "/" POOL_LABEL "%s", terms->pool);
	struct json_object *expression = pair("key", word(key));
	struct json_object *list = json_object_new_array(), *all = json_object_new_array();

	json_object_object_add(expression, "operator", word("Exists"));
	json_object_array_add(list, expression);
	json_object_array_add(all, pair("matchExpressions", list));
	free(key);
	return pair("nodeSelectorTerms", all);
}

struct json_object *slice_specs(const struct inventory *inventory, const struct slice_terms *terms)
{
	struct json_object *devices = json_object_new_array(), *specs = json_object_new_array();
	size_t n, count, i, j;

	if (terms->node)
		add_slots(devices, inventory, terms);
	else
		add_gpus(devices, inventory, terms);
	n = json_object_array_length(devices);
	count = n ? (n + SLICE_DEVICES_MAX - 1) / SLICE_DEVICES_MAX : 1;
	for (i = 0; i < count; i++) {
		struct json_object *spec = pair("driver", word(DRIVER_NAME));
		struct json_object *pool = pair("name", word(terms->pool));
		struct json_object *part = json_object_new_array();

		json_object_object_add(pool, "resourceSliceCount",
				       json_object_new_int64((int64_t)count));
		json_object_object_add(spec, "pool", pool);
		if (terms->node)
			json_object_object_add(spec, "nodeName", word(terms->node));
		else
			json_object_object_add(spec, "nodeSelector", node_selector(terms));
		for (j = i * SLICE_DEVICES_MAX; j < n && j < (i + 1) * SLICE_DEVICES_MAX; j++) {
			struct json_object *device = json_object_array_get_idx(devices, j);

			json_object_array_add(part, json_object_get(device));
		}
		json_object_object_add(spec, "devices", part);
		json_object_array_add(specs, spec);
	}
	json_object_put(devices);
	return specs;
}

char *slice_name(const struct slice_terms *terms, size_t index)
{
	return format("gpufabric-%s-%s-%zu", terms->node ? "node" : "fabric", terms->pool, index);
}

/* Slices of a node go with its Node; those of a fabric manager belong to several. */
static struct json_object *slice_owners(const struct slice_terms *terms)
{
	struct json_object *owner = pair("apiVersion", word("v1")), *list;

	json_object_object_add(owner, "kind", word("Node"));
	json_object_object_add(owner, "name", word(terms->node));
	json_object_object_add(owner, "uid", word(terms->uid));
	json_object_object_add(owner, "controller", json_object_new_boolean(true));
	list = json_object_new_array();
	json_object_array_add(list, owner);
	return list;
}

struct json_object *slice_object(const struct slice_terms *terms, size_t index,
				 struct json_object *spec, int64_t generation)
{
	char *version = format("resource.k8s.io/%s", terms->version);
	char *name = slice_name(terms, index);
	struct json_object *object = pair("apiVersion", word(version));
	struct json_object *metadata = pair("name", word(name));

	if (terms->node)
		json_object_object_add(metadata, "ownerReferences", slice_owners(terms));
	json_object_object_add(json_member(spec, "pool", json_type_object), "generation",
			       json_object_new_int64(generation));
	json_object_object_add(object, "kind", word("ResourceSlice"));
	json_object_object_add(object, "metadata", metadata);
	json_object_object_add(object, "spec", json_object_get(spec));
	free(version);
	free(name);
	return object;
}

/* What the API server adds by itself is of no interest: all that @sent has is in @kept. */
static bool contains(struct json_object *kept, struct json_object *sent)
{
	size_t i;

	if (json_object_get_type(kept) != json_object_get_type(sent))
		return false;
	if (json_object_is_type(sent, json_type_object)) {
		json_object_object_foreach(sent, key, value) {
			struct json_object *other;

			if (strcmp(key, "generation") &&
			    (!json_object_object_get_ex(kept, key, &other) ||
			     !contains(other, value)))
				return false;
		}
		return true;
	}
	if (!json_object_is_type(sent, json_type_array))
		return json_object_equal(kept, sent);
	if (json_object_array_length(kept) != json_object_array_length(sent))
		return false;
	for (i = 0; i < json_object_array_length(sent); i++)
		if (!contains(json_object_array_get_idx(kept, i),
			      json_object_array_get_idx(sent, i)))
			return false;
	return true;
}

static struct json_object *device_body(struct json_object *spec, size_t i)
{
	struct json_object *device =
		json_object_array_get_idx(json_member(spec, "devices", json_type_array), i);
	struct json_object *nested = json_member(device, "basic", json_type_object);

	return nested ? nested : device;
}

/* A taint that is gone has to be taken away, and so has a device. */
static bool same_taints(struct json_object *kept, struct json_object *sent)
{
	struct json_object *devices = json_member(sent, "devices", json_type_array);
	size_t i;

	for (i = 0; devices && i < json_object_array_length(devices); i++)
		if (!json_member(device_body(kept, i), "taints", json_type_array) !=
		    !json_member(device_body(sent, i), "taints", json_type_array))
			return false;
	return true;
}

static bool same_owners(struct json_object *kept, const struct slice_terms *terms)
{
	struct json_object *metadata = json_member(kept, "metadata", json_type_object);
	struct json_object *owners = json_member(metadata, "ownerReferences", json_type_array);
	struct json_object *ours;
	bool same;

	if (!terms->node)
		return !owners;
	ours = slice_owners(terms);
	same = contains(owners, ours);
	json_object_put(ours);
	return same;
}

bool slice_same(struct json_object *kept, struct json_object *spec, const struct slice_terms *terms)
{
	struct json_object *before = json_member(kept, "spec", json_type_object);

	return contains(before, spec) && same_taints(before, spec) && same_owners(kept, terms);
}

bool slice_lost_taints(struct json_object *sent, struct json_object *kept)
{
	struct json_object *devices = json_member(sent, "devices", json_type_array);
	size_t i;

	for (i = 0; devices && i < json_object_array_length(devices); i++)
		if (json_member(device_body(sent, i), "taints", json_type_array) &&
		    !json_member(device_body(kept, i), "taints", json_type_array))
			return true;
	return false;
}
