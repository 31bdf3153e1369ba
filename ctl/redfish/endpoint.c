// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: GPUs as a manager has them
 *
 * An endpoint of the fabric says what is there by its connected entities; a resource
 * block by its first processor. What is no GPU is left out: other endpoints, hosts among them,
 * are not ours to bind.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "redfish/link.h"
#include "redfish/view.h"

/* PCI base classes of what computes. */
#define CLASS_DISPLAY 0x03
#define CLASS_ACCELERATOR 0x12

static bool is_word(const char *text, const char *const *words)
{
	for (; text && *words; words++)
		if (!strcmp(text, *words))
			return true;
	return false;
}

/* "0x030200" or "0x0302": the base class; -1 for none. */
static int base_class(struct json_object *ids)
{
	const char *text = doc_text(ids, "ClassCode");
	uint64_t value;

	if (!text || !text_number(text, 0xffffff, &value))
		return -1;
	return (int)(strlen(text) > 6 ? value >> 16 : value >> 8);
}

static bool entity_is_gpu(struct json_object *entity)
{
	static const char *const types[] = { "Processor", "PCIeDevice", "AccelerationFunction",
					     NULL };
	const char *role = doc_text(entity, "EntityRole");
	int class = base_class(doc_object(entity, "EntityPciId"));

	if (role && !strcmp(role, "Initiator"))
		return false;
	return is_word(doc_text(entity, "EntityType"), types) &&
	       (class < 0 || class == CLASS_DISPLAY || class == CLASS_ACCELERATOR);
}

static void entity_read(struct endpoint *e, struct json_object *entity)
{
	struct json_object *ids = doc_object(entity, "EntityPciId"), *names;
	size_t i;

	e->gpu = true;
	e->vendor = doc_id16(ids, "VendorId");
	e->device = doc_id16(ids, "DeviceId");
	e->subsystem_vendor = doc_id16(ids, "SubsystemVendorId");
	e->subsystem_device = doc_id16(ids, "SubsystemId");
	names = doc_array(entity, "Identifiers");
	for (i = 0; names && i < json_object_array_length(names) && !e->serial; i++)
		e->serial = doc_words(json_object_array_get_idx(names, i), "DurableName");
}

/* The first of a list of links. */
static const char *first_link(struct json_object *from, const char *key)
{
	struct json_object *list = doc_array(from, key);

	return list && json_object_array_length(list) ?
		       link_path(json_object_array_get_idx(list, 0)) :
		       NULL;
}

static void state_read(struct endpoint *e, struct json_object *body)
{
	static const char *const bad[] = { "Absent", "Disabled", "UnavailableOffline",
					   "InTest", "Quiesced", NULL };
	static const char *const changing[] = { "Starting", "Updating", "Deferring", NULL };
	struct json_object *status = doc_object(body, "Status");
	const char *state = doc_text(status, "State"), *health = doc_text(status, "Health");

	e->state = e->host ? GPU_BOUND : GPU_FREE;
	/* A manager that has just started has not asked all hosts yet. */
	e->unseen = !e->host && state && !strcmp(state, "UnavailableOffline");
	if (is_word(state, changing)) {
		e->state = GPU_CHANGING;
	} else if (is_word(state, bad) || (health && !strcmp(health, "Critical"))) {
		e->state = GPU_UNUSABLE;
		e->why = doc_words(status, is_word(state, bad) ? "State" : "Health");
	}
}

int endpoint_read(struct view *view, struct endpoint *e, const struct answer *answer,
		  struct fault *f)
{
	struct json_object *entities = doc_array(answer->body, "ConnectedEntities");
	struct json_object *links = doc_object(answer->body, "Links");
	const char *path;
	size_t i;

	(void)view;
	(void)f;
	for (i = 0; entities && i < json_object_array_length(entities) && !e->gpu; i++)
		if (entity_is_gpu(json_object_array_get_idx(entities, i)))
			entity_read(e, json_object_array_get_idx(entities, i));
	if (!e->gpu)
		return CTL_DONE;
	path = first_link(links, "Zones");
	e->host = path ? mem_strdup(link_last(path)) : NULL;
	path = first_link(links, "ConnectedPorts");
	e->port = path ? mem_strdup(path) : NULL;
	state_read(e, answer->body);
	return CTL_DONE;
}

static void block_state(struct endpoint *e, struct json_object *body)
{
	static const char *const changing[] = { "Composing", NULL };
	static const char *const bad[] = { "Failed", "Unavailable", NULL };
	struct json_object *status = doc_object(body, "CompositionStatus");
	const char *state = doc_text(status, "CompositionState");

	state_read(e, body);
	if (is_word(state, changing)) {
		e->state = GPU_CHANGING;
	} else if (is_word(state, bad) && e->state != GPU_UNUSABLE) {
		e->state = GPU_UNUSABLE;
		e->why = doc_words(status, "CompositionState");
	}
}

static void processor_read(struct endpoint *e, struct json_object *body)
{
	struct json_object *ids = doc_object(body, "ProcessorId");
	const char *type = doc_text(body, "ProcessorType");

	e->gpu = type && (!strcmp(type, "GPU") || !strcmp(type, "Accelerator"));
	if (!e->gpu)
		return;
	e->model = doc_words(body, "Model");
	e->serial = doc_words(body, "SerialNumber");
	e->vendor = doc_id16(ids, "VendorId");
}

int block_read(struct view *view, struct endpoint *e, const struct answer *answer, struct fault *f)
{
	const char *processor = first_link(answer->body, "Processors"), *path;
	struct json_object *processors = doc_array(answer->body, "Processors");
	struct answer processor_answer = { 0 };
	int ret = CTL_DONE;

	if (!processor)
		return CTL_DONE;
	/* It may have come with its block. */
	processor_answer.body = json_object_get(json_object_array_get_idx(processors, 0));
	if (!doc_text(processor_answer.body, "ProcessorType")) {
		answer_free(&processor_answer);
		ret = client_get(view->client, processor, NULL, &processor_answer, f);
	}
	if (!ret)
		processor_read(e, processor_answer.body);
	answer_free(&processor_answer);
	if (ret || !e->gpu)
		return ret;
	path = first_link(doc_object(answer->body, "Links"), "ComputerSystems");
	e->host = path ? mem_strdup(link_last(path)) : NULL;
	block_state(e, answer->body);
	return CTL_DONE;
}
