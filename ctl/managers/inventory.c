// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: inventories
 *
 * The answer of a driver's program as structures. The program is ours, but what it says
 * comes from a manager: every length and every word is judged again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "managers/inventory.h"

#define WORD_MAX 200
#define PATH_MAX_LENGTH 600
#define ERROR_MAX FAULT_TEXT_MAX
#define LEASE_MAX_MS 86400000
#define EXIT_MAX 7

/* A copy of a word that is printed: not long, no control characters; NULL where there is none. */
static int take_text(struct jread *r, struct json_object *from, const char *key, size_t most,
		     char **out)
{
	const char *word = NULL;
	int err = jread_word(r, from, key, &word);

	if (err || !word)
		return err;
	if (strlen(word) > most) {
		jread_key(r, key);
		return jread_refuse(r, "\"%s\" is longer than %zu characters", key, most);
	}
	free(*out);
	*out = mem_strdup(word);
	text_tame(*out, false);
	return 0;
}

/* An index of @words; -EINVAL for another word. */
static int take_choice(struct jread *r, struct json_object *from, const char *key,
		       const char *const *words, unsigned int *choice)
{
	const char *word = NULL;
	unsigned int i;
	int err = jread_word(r, from, key, &word);

	if (err || !word)
		return err;
	for (i = 0; words[i] && strcmp(words[i], word);)
		i++;
	*choice = i;
	if (words[i])
		return 0;
	jread_key(r, key);
	return jread_refuse(r, "\"%.40s\" is not known here", word);
}

static int take_ids(struct jread *r, struct json_object *from, struct pool_gpu *gpu)
{
	int err = jread_whole(r, from, "vendor", 0xffff, &gpu->vendor);

	if (!err)
		err = jread_whole(r, from, "device", 0xffff, &gpu->device);
	if (!err)
		err = jread_whole(r, from, "subsystem_vendor", 0xffff, &gpu->subsystem_vendor);
	return err ? err : jread_whole(r, from, "subsystem_device", 0xffff, &gpu->subsystem_device);
}

static int take_words(struct jread *r, struct json_object *from, struct pool_gpu *gpu)
{
	int err = take_text(r, from, "id", MANAGER_ID_MAX, &gpu->id);

	if (!err && (!gpu->id || !manager_is_id(gpu->id)))
		err = jread_refuse(r, "a GPU without an Id of A-Z a-z 0-9 . _ -");
	if (!err)
		err = take_text(r, from, "model", WORD_MAX, &gpu->model);
	if (!err)
		err = take_text(r, from, "serial", WORD_MAX, &gpu->serial);
	if (!err)
		err = take_text(r, from, "host", WORD_MAX, &gpu->host);
	if (!err)
		err = take_text(r, from, "port", PATH_MAX_LENGTH, &gpu->port);
	return err ? err : take_text(r, from, "why", WORD_MAX, &gpu->why);
}

const char *manager_port_of(const struct manager_conf *conf, const char *slot)
{
	size_t i;

	for (i = 0; i < conf->n_ports; i++)
		if (!strcmp(conf->ports[i].slot, slot))
			return conf->ports[i].port;
	return NULL;
}

const char *manager_slot_of(const struct manager_conf *conf, const char *port)
{
	size_t i;

	for (i = 0; i < conf->n_ports; i++)
		if (!strcmp(conf->ports[i].port, port))
			return conf->ports[i].slot;
	return NULL;
}

static int take_gpu(struct jread *r, struct json_object *from, const struct manager_conf *conf,
		    struct pool_gpu *gpu)
{
	static const char *const keys[] = { "id",
					    "vendor",
					    "device",
					    "subsystem_vendor",
					    "subsystem_device",
					    "model",
					    "serial",
					    "state",
					    "host",
					    "port",
					    "why",
					    NULL };
	/* In the order of enum pool_state; that a GPU is ours follows from its host. */
	static const char *const states[] = { "free", "bound", "", "changing", "unusable", NULL };
	unsigned int state = POOL_FREE;
	int err = jread_object(r, from, keys);

	if (!err)
		err = take_words(r, from, gpu);
	if (!err)
		err = take_ids(r, from, gpu);
	if (!err)
		err = take_choice(r, from, "state", states, &state);
	if (err)
		return err;
	gpu->state = (enum pool_state)state;
	if (state == POOL_OURS && (!gpu->host || strcmp(gpu->host, conf->host)))
		gpu->state = POOL_OTHERS;
	if (gpu->port && gpu->host && !strcmp(gpu->host, conf->host))
		gpu->slot = manager_slot_of(conf, gpu->port);
	snprintf(gpu->label, sizeof(gpu->label), "%.63s", gpu->model ? gpu->model : "-");
	return 0;
}

static int take_gpus(struct jread *r, struct json_object *from, const struct manager_conf *conf,
		     struct inventory *inventory)
{
	struct json_object *list;
	size_t n, i, j;
	int err = jread_array(r, from, "gpus", INVENTORY_GPUS_MAX, &list);

	if (err || !list)
		return err;
	n = json_object_array_length(list);
	inventory->gpus = mem_zalloc(n + 1, sizeof(*inventory->gpus));
	jread_key(r, "gpus");
	for (i = 0; i < n; i++) {
		struct pool_gpu *gpu = &inventory->gpus[inventory->n++];

		jread_index(r, i);
		err = take_gpu(r, json_object_array_get_idx(list, i), conf, gpu);
		for (j = 0; j < i && !err; j++)
			if (!strcmp(inventory->gpus[j].id, gpu->id))
				err = jread_refuse(r, "%s is there twice", gpu->id);
		if (err)
			return err;
		jread_up(r);
	}
	jread_up(r);
	return 0;
}

static int take_port(struct jread *r, struct json_object *from, const struct manager_conf *conf,
		     struct inventory *inventory)
{
	static const char *const keys[] = { "port", "host", "link", "missing", NULL };
	const char *name = NULL;
	struct pool_port *port;
	size_t i;
	int err = jread_object(r, from, keys);

	if (!err)
		err = jread_word(r, from, "port", &name);
	for (i = 0; !err && i < conf->n_ports && (!name || strcmp(conf->ports[i].port, name));)
		i++;
	if (!err && i == conf->n_ports)
		err = jread_refuse(r, "a port that the configuration does not have");
	if (err)
		return err;
	port = &inventory->ports[i];
	err = take_text(r, from, "host", WORD_MAX, &port->host);
	if (!err)
		err = take_text(r, from, "link", WORD_MAX, &port->link);
	return err ? err : jread_flag(r, from, "missing", &port->missing);
}

static int take_ports(struct jread *r, struct json_object *from, const struct manager_conf *conf,
		      struct inventory *inventory)
{
	struct json_object *list;
	size_t n, i;
	int err = jread_array(r, from, "ports", MANAGER_PORTS_MAX, &list);

	n = err || !list ? 0 : json_object_array_length(list);
	if (!n)
		return err;
	inventory->ports = mem_zalloc(conf->n_ports + 1, sizeof(*inventory->ports));
	inventory->n_ports = conf->n_ports;
	jread_key(r, "ports");
	for (i = 0; i < n && !err; i++) {
		jread_index(r, i);
		err = take_port(r, json_object_array_get_idx(list, i), conf, inventory);
		if (!err)
			jread_up(r);
	}
	if (!err)
		jread_up(r);
	return err;
}

static int take_inventory(struct jread *r, const struct manager_conf *conf,
			  struct manager_reply *reply)
{
	static const char *const keys[] = { "gpus", "ports", NULL };
	struct json_object *from;
	int err;

	if (!json_object_object_get_ex(r->root, "inventory", &from))
		return 0;
	jread_key(r, "inventory");
	err = jread_object(r, from, keys);
	if (!err)
		err = take_gpus(r, from, conf, &reply->inventory);
	if (!err)
		err = take_ports(r, from, conf, &reply->inventory);
	if (!err)
		jread_up(r);
	return err;
}

static int take_reply(struct jread *r, const struct manager_conf *conf, struct manager_reply *reply)
{
	static const char *const keys[] = { "exit",  "error",	  "outcome", "taken",
					    "taker", "inventory", "lease",   NULL };
	static const char *const outcomes[] = { "none", "done", "partly", "unknown", NULL };
	unsigned int outcome = MANAGER_UNCHANGED;
	uint32_t end = EXIT_MAX + 1;
	int err = jread_object(r, r->root, keys);

	if (!err)
		err = jread_whole(r, r->root, "exit", EXIT_MAX, &end);
	if (!err && end > EXIT_MAX)
		err = jread_refuse(r, "exit is missing");
	if (!err)
		err = take_text(r, r->root, "error", ERROR_MAX, &reply->error);
	if (!err && !end != !reply->error)
		err = jread_refuse(r, "error goes with an exit other than 0");
	if (!err)
		err = take_choice(r, r->root, "outcome", outcomes, &outcome);
	if (!err)
		err = take_text(r, r->root, "taken", MANAGER_ID_MAX, &reply->taken);
	if (!err)
		err = take_text(r, r->root, "taker", WORD_MAX, &reply->taker);
	if (!err)
		err = jread_whole(r, r->root, "lease", LEASE_MAX_MS, &reply->lease_ms);
	reply->exit = end;
	reply->outcome = (enum manager_outcome)outcome;
	return err ? err : take_inventory(r, conf, reply);
}

int manager_reply_read(const char *text, size_t len, const struct manager_conf *conf,
		       struct manager_reply *reply, struct fault *f)
{
	struct jread r;
	int err;

	memset(reply, 0, sizeof(*reply));
	err = jread_open(&r, "answer", text, len, f);
	if (!err)
		err = take_reply(&r, conf, reply);
	jread_close(&r);
	return err;
}

void inventory_free(struct inventory *inventory)
{
	while (inventory->n) {
		struct pool_gpu *gpu = &inventory->gpus[--inventory->n];

		free(gpu->id);
		free(gpu->model);
		free(gpu->serial);
		free(gpu->host);
		free(gpu->port);
		free(gpu->why);
	}
	free(inventory->gpus);
	inventory->gpus = NULL;
	while (inventory->n_ports) {
		struct pool_port *port = &inventory->ports[--inventory->n_ports];

		free(port->host);
		free(port->link);
	}
	free(inventory->ports);
	inventory->ports = NULL;
}

void manager_reply_free(struct manager_reply *reply)
{
	inventory_free(&reply->inventory);
	free(reply->error);
	free(reply->taken);
	free(reply->taker);
	memset(reply, 0, sizeof(*reply));
}

/* By a name that the catalogue may have; NULL if it does not, or has several. */
static const struct cat_gpu *by_name(const struct catalogue *catalogue, const char *name)
{
	const struct cat_gpu *gpu = NULL;
	struct fault ignored = { "" };

	if (!name || cat_gpu_find(catalogue->gpus, catalogue->n_gpus, name, &gpu, &ignored))
		return NULL;
	return gpu;
}

static void gpu_identify(struct pool_gpu *gpu, const struct manager_conf *conf,
			 const struct catalogue *catalogue)
{
	struct gpu_identity id = { 0 };
	size_t i;

	for (i = 0; i < conf->n_kinds && !id.gpu; i++)
		if (conf->kinds[i].vendor == gpu->vendor && conf->kinds[i].device == gpu->device)
			id.gpu = by_name(catalogue, conf->kinds[i].kind);
	if (!id.gpu && gpu->vendor)
		id = cat_gpu_by_pci(catalogue->gpus, catalogue->n_gpus, (uint16_t)gpu->vendor,
				    (uint16_t)gpu->device, (uint16_t)gpu->subsystem_vendor,
				    (uint16_t)gpu->subsystem_device);
	if (!id.gpu)
		id.gpu = by_name(catalogue, gpu->model);
	gpu->gpu = id.gpu;
	if (id.gpu || (gpu->vendor && gpu->device))
		cat_gpu_label(&id, (uint16_t)gpu->vendor, (uint16_t)gpu->device,
			      (uint16_t)gpu->subsystem_vendor, (uint16_t)gpu->subsystem_device,
			      gpu->label, sizeof(gpu->label));
}

void inventory_identify(struct inventory *inventory, const struct manager_conf *conf,
			const struct catalogue *catalogue)
{
	size_t i;

	for (i = 0; i < inventory->n; i++)
		gpu_identify(&inventory->gpus[i], conf, catalogue);
}

bool pool_gpu_is(const struct pool_gpu *gpu, const char *kind)
{
	return !kind || !strcmp(kind, "any") || (gpu->gpu && cat_gpu_answers(gpu->gpu, kind)) ||
	       !strcmp(gpu->label, kind);
}

struct pool_gpu *inventory_find(const struct inventory *inventory, const char *id)
{
	size_t i;

	for (i = 0; i < inventory->n; i++)
		if (!strcmp(inventory->gpus[i].id, id))
			return &inventory->gpus[i];
	return NULL;
}

struct pool_gpu *inventory_at(const struct inventory *inventory, const char *port)
{
	size_t i;

	for (i = 0; i < inventory->n; i++)
		if (inventory->gpus[i].port && !strcmp(inventory->gpus[i].port, port))
			return &inventory->gpus[i];
	return NULL;
}

bool pool_gpu_is_unseen(const struct pool_gpu *gpu)
{
	return gpu->state == POOL_UNUSABLE && !gpu->host && gpu->why &&
	       !strcmp(gpu->why, "UnavailableOffline");
}

const char *pool_state_text(const struct pool_gpu *gpu)
{
	switch (gpu->state) {
	case POOL_FREE:
		return "free";
	case POOL_OURS:
		return "bound";
	case POOL_OTHERS:
		return "elsewhere";
	case POOL_CHANGING:
		return "changing";
	default:
		return "unusable";
	}
}

/* Number of GPUs of a kind that a host has; those of @host NULL are counted by state. */
static size_t inventory_count(const struct inventory *inventory, const char *kind, const char *host,
			      enum pool_state state)
{
	size_t n = 0, i;

	for (i = 0; i < inventory->n; i++) {
		const struct pool_gpu *gpu = &inventory->gpus[i];

		if (!pool_gpu_is(gpu, kind) || gpu->state != state)
			continue;
		n += !host || (gpu->host && !strcmp(gpu->host, host));
	}
	return n;
}

char *inventory_who_has(const struct inventory *inventory, const char *kind)
{
	struct text text = { 0 };
	size_t i, j, n;

	for (i = 0; i < inventory->n; i++) {
		const struct pool_gpu *gpu = &inventory->gpus[i];

		if (gpu->state != POOL_OTHERS || !gpu->host || !pool_gpu_is(gpu, kind))
			continue;
		for (j = 0; j < i; j++)
			if (inventory->gpus[j].state == POOL_OTHERS && inventory->gpus[j].host &&
			    pool_gpu_is(&inventory->gpus[j], kind) &&
			    !strcmp(inventory->gpus[j].host, gpu->host))
				break;
		if (j == i)
			text_add(&text, "%s%zu with %s", text.len ? ", " : "",
				 inventory_count(inventory, kind, gpu->host, POOL_OTHERS),
				 gpu->host);
	}
	n = inventory_count(inventory, kind, NULL, POOL_OURS);
	if (n)
		text_add(&text, "%s%zu with this host", text.len ? ", " : "", n);
	n = inventory_count(inventory, kind, NULL, POOL_CHANGING);
	if (n)
		text_add(&text, "%s%zu on the way", text.len ? ", " : "", n);
	n = inventory_count(inventory, kind, NULL, POOL_UNUSABLE);
	if (n)
		text_add(&text, "%s%zu unusable", text.len ? ", " : "", n);
	return text.text ? text.text : mem_strdup("there is none");
}
