// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DOC: compositions for claims
 *
 * The scheduler chose devices. A device of this node's own pool is a slot, and the composition
 * gets exactly these slots: all others are excluded. A device of a fabric manager's pool stands
 * for a GPU of its kind, because GPUs of a kind are alike until one is bound to a port: the
 * composition gets as many of the kind, from the manager alone.
 *
 * A composition may be there already, whole or on its way, because this program was killed
 * meanwhile: then its end is awaited.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dra/fabric.h"

#define WORDS_MAX 1024

/**
 * struct words - a command line
 * @owned: those of @word that are freed with it
 */
struct words {
	const char *word[WORDS_MAX + 1];
	char *owned[2 * CLAIM_DEVICES_MAX];
	size_t n, n_owned;
};

static void words_add(struct words *words, const char *word)
{
	if (words->n < WORDS_MAX)
		words->word[words->n] = word;
	words->n++;
}

static void words_own(struct words *words, char *word)
{
	words->owned[words->n_owned++] = word;
	words_add(words, word);
}

static void words_free(struct words *words)
{
	while (words->n_owned)
		free(words->owned[--words->n_owned]);
}

bool fabric_inventory(const struct fabric *fabric, bool managers, struct inventory *inventory,
		      struct reason *reason)
{
	static const char *const with[] = { "-j", "list", "--pool", NULL };
	static const char *const without[] = { "-j", "list", NULL };
	struct json_object *root = NULL;

	memset(inventory, 0, sizeof(*inventory));
	return !gpuctl_run(&fabric->gpuctl, managers ? with : without, &root, reason) &&
	       inventory_read(root, inventory, reason);
}

static bool is_chosen(const struct fabric *fabric, const struct claim *claim,
		      const struct inv_slot *slot)
{
	size_t i;

	for (i = 0; i < claim->n; i++)
		if (!strcmp(claim->devices[i].pool, fabric->node) &&
		    !strcmp(claim->devices[i].device, slot->device))
			return true;
	return false;
}

static const struct inv_gpu *find_gpu(const struct inventory *inventory,
				      const struct claim_device *device)
{
	size_t i;

	for (i = 0; i < inventory->n_gpus; i++) {
		char manager[DEVICE_NAME_MAX];

		device_name(inventory->gpus[i].manager, manager);
		if (!strcmp(manager, device->pool) &&
		    !strcmp(inventory->gpus[i].device, device->device))
			return &inventory->gpus[i];
	}
	return NULL;
}

static bool find_slot(const struct inventory *inventory, const char *device)
{
	size_t i;

	for (i = 0; i < inventory->n_slots; i++)
		if (!strcmp(inventory->slots[i].device, device))
			return true;
	return false;
}

/* Slots by their names: exclude all that were not chosen. */
static bool ask_slots(const struct fabric *fabric, const struct claim *claim,
		      const struct inventory *inventory, struct words *words, struct reason *reason)
{
	int64_t gpus = 0;
	size_t i;

	for (i = 0; i < claim->n; i++)
		if (!find_slot(inventory, claim->devices[i].device))
			return refuse(reason, "node %s has no slot for device %s any more",
				      fabric->node, claim->devices[i].device);
	for (i = 0; i < inventory->n_slots; i++) {
		const struct inv_slot *slot = &inventory->slots[i];

		if (is_chosen(fabric, claim, slot)) {
			gpus += slot->gpus;
		} else if (!slot->unmanaged) {
			words_add(words, "--exclude");
			words_add(words, slot->name);
		}
	}
	words_add(words, "--gpus");
	words_own(words, format("%lld", (long long)gpus));
	return true;
}

/* GPUs of a fabric manager by kinds: what this host has of its own is left out. */
static bool ask_kinds(const struct claim *claim, const struct inventory *inventory,
		      struct words *words, struct reason *reason)
{
	const struct inv_gpu *gpu[CLAIM_DEVICES_MAX];
	size_t i, j, n;

	for (i = 0; i < claim->n; i++) {
		gpu[i] = find_gpu(inventory, &claim->devices[i]);
		if (!gpu[i] || !gpu[i]->kind)
			return refuse(reason, "fabric manager %s has no GPU %s of a known kind",
				      claim->devices[i].pool, claim->devices[i].device);
	}
	for (i = 0; i < claim->n; i++) {
		for (j = 0; j < i && strcmp(gpu[j]->kind, gpu[i]->kind); j++)
			;
		if (j < i)
			continue;
		for (n = 1; ++j < claim->n;)
			n += !strcmp(gpu[j]->kind, gpu[i]->kind);
		words_add(words, "--gpu");
		words_own(words, format("%s:%zu", gpu[i]->kind, n));
	}
	for (i = 0; i < inventory->n_slots; i++) {
		const struct inv_slot *slot = &inventory->slots[i];

		for (j = 0; j < inventory->n_gpus; j++)
			if (inventory->gpus[j].slot && !strcmp(inventory->gpus[j].slot, slot->name))
				break;
		if (j == inventory->n_gpus && strcmp(slot->state, "empty") && !slot->unmanaged) {
			words_add(words, "--exclude");
			words_add(words, slot->name);
		}
	}
	return true;
}

static bool ask(const struct fabric *fabric, const struct claim *claim,
		const struct inventory *inventory, const char *name, struct words *words,
		struct reason *reason)
{
	size_t i, own = 0;
	bool good;

	words_add(words, "compose");
	words_add(words, name);
	words_add(words, "--reason");
	words_add(words, "a claim of Kubernetes");
	for (i = 0; i < claim->n; i++)
		own += !strcmp(claim->devices[i].pool, fabric->node);
	if (own && own < claim->n)
		return refuse(reason, "its GPUs are of several pools, and a claim has them of one");
	good = own ? ask_slots(fabric, claim, inventory, words, reason) :
		     ask_kinds(claim, inventory, words, reason);
	if (claim->params.driver) {
		words_add(words, "--driver");
		words_add(words, claim->params.driver);
	}
	if (claim->params.tenant) {
		words_add(words, "--tenant");
		words_add(words, claim->params.tenant);
	}
	if (claim->params.peers) {
		words_add(words, "--p2p");
		words_add(words, "required");
	}
	if (good && words->n > WORDS_MAX)
		return refuse(reason, "node %s has too many slots", fabric->node);
	words_add(words, NULL);
	return good;
}

/* Whether the composition is there: "" if not, else its state. */
static bool state_of(const struct fabric *fabric, const char *name, char state[32],
		     struct reason *reason)
{
	const struct inv_composition *composition;
	struct inventory inventory;
	bool good = fabric_inventory(fabric, false, &inventory, reason);

	composition = good ? inventory_composition(&inventory, name) : NULL;
	snprintf(state, 32, "%s", composition ? composition->state : "");
	inventory_free(&inventory);
	return good;
}

/* It is there already: wait until it is whole. */
static bool await(const struct fabric *fabric, const char *name, struct reason *reason)
{
	char *limit = format("%llums", (unsigned long long)fabric->gpuctl.timeout_ms);
	const char *const words[] = { "watch", "until", name, "active", "--timeout", limit, NULL };
	struct gpuctl patient = fabric->gpuctl;
	char state[32];
	bool good;

	patient.timeout_ms += 10000;
	good = !gpuctl_run(&patient, words, NULL, reason);
	free(limit);
	if (!good && state_of(fabric, name, state, reason) && *state)
		return refuse(reason, "composition %s is %s: gpuctl show %s says why", name, state,
			      name);
	return good;
}

static bool describe(const struct fabric *fabric, const char *remove, struct reason *reason)
{
	const char *words[6] = { "cdi" };
	size_t n = 1;

	if (fabric->cdi) {
		words[n++] = "--output";
		words[n++] = fabric->cdi;
	}
	if (remove) {
		words[n++] = "--remove";
		words[n++] = remove;
	}
	return !gpuctl_run(&fabric->gpuctl, words, NULL, reason);
}

static bool compose_anew(const struct fabric *fabric, const struct claim *claim, const char *name,
			 struct reason *reason)
{
	struct words words = { .n = 0 };
	struct reason other = { "" };
	struct inventory inventory;
	char state[32];
	bool good = fabric_inventory(fabric, true, &inventory, reason) &&
		    ask(fabric, claim, &inventory, name, &words, reason);

	if (good && gpuctl_run(&fabric->gpuctl, words.word, NULL, reason)) {
		/* A gpuctl that outlived us may have been faster. */
		good = state_of(fabric, name, state, &other) && *state &&
		       await(fabric, name, reason);
	}
	words_free(&words);
	inventory_free(&inventory);
	return good;
}

bool fabric_compose(const struct fabric *fabric, const struct claim *claim, struct reason *reason)
{
	char name[CLAIM_NAME_MAX], state[32];
	bool good;

	if (!claim_composition(claim->uid, name))
		return refuse(reason, "its uid is none");
	if (!state_of(fabric, name, state, reason))
		return false;
	if (!*state)
		good = compose_anew(fabric, claim, name, reason);
	else
		good = !strcmp(state, "active") || await(fabric, name, reason);
	return good && describe(fabric, NULL, reason);
}

bool fabric_release(const struct fabric *fabric, const char *uid, struct reason *reason)
{
	char name[CLAIM_NAME_MAX], state[32];
	const char *const words[] = { "release", name, "--reason", "a claim of Kubernetes", NULL };
	struct reason other = { "" };
	bool good;

	if (!claim_composition(uid, name))
		return refuse(reason, "its uid is none");
	if (!state_of(fabric, name, state, reason))
		return false;
	if (!describe(fabric, name, reason))
		return false;
	if (!*state)
		return true;
	good = !gpuctl_run(&fabric->gpuctl, words, NULL, reason) ||
	       /* It may have ended meanwhile. */
	       (state_of(fabric, name, state, &other) && !*state);
	/*
	 * If it did not end, it is a device again; if it did, another claim may have been
	 * described meanwhile, and it with that one.
	 */
	return describe(fabric, NULL, good ? reason : &other) && good;
}

/* The slot of a device: its own, or one of the composition with a GPU of its kind. */
static const struct inv_slot *member_of(const struct fabric *fabric,
					const struct inventory *inventory, const char *name,
					const struct claim_device *device, const bool *taken)
{
	bool own = !strcmp(device->pool, fabric->node);
	const struct inv_gpu *gpu = own ? NULL : find_gpu(inventory, device);
	size_t i;

	for (i = 0; i < inventory->n_slots; i++) {
		const struct inv_slot *slot = &inventory->slots[i];

		if (taken[i] || !slot->composition || strcmp(slot->composition, name))
			continue;
		if (own ? !strcmp(slot->device, device->device) :
			  gpu && gpu->kind && slot->kind && !strcmp(slot->kind, gpu->kind))
			return slot;
	}
	return NULL;
}

bool fabric_members(const struct fabric *fabric, const struct claim *claim, const char *name,
		    char **cdi, struct reason *reason)
{
	struct inventory inventory;
	bool good = fabric_inventory(fabric, true, &inventory, reason);
	bool *taken = zalloc(inventory.n_slots, sizeof(*taken));
	size_t i;

	for (i = 0; good && i < claim->n; i++) {
		const struct inv_slot *slot =
			member_of(fabric, &inventory, name, &claim->devices[i], taken);

		if (slot) {
			taken[slot - inventory.slots] = true;
			cdi[i] = format(CDI_KIND "=%s", slot->name);
		} else {
			good = refuse(reason, "composition %s has no GPU for device %s", name,
				      claim->devices[i].device);
		}
	}
	while (!good && i)
		free(cdi[--i]);
	free(taken);
	inventory_free(&inventory);
	return good;
}
