// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DOC: compositions for claims
 *
 * The scheduler chose devices, and the composition gets exactly these. A device of this node's own
 * pool is a slot. A device of a fabric manager's pool is a GPU that is bound to an empty slot first.
 * All other slots are excluded.
 *
 * A composition may be there already, whole or on its way, because this program was killed
 * meanwhile: then its end is awaited. GPUs may be bound already, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dra/fabric.h"
#include "dra/log.h"

#define WORDS_MAX 1024
#define EMPTY_TIME "15s"
/* For the history of slots. */
#define REASON "a claim of Kubernetes"

/**
 * struct words - a command line
 * @owned: those of @word that are freed with it
 */
struct words {
	const char *word[WORDS_MAX + 1];
	char *owned[CLAIM_DEVICES_MAX];
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
	struct reason said = { "" };
	bool good;

	memset(inventory, 0, sizeof(*inventory));
	good = !gpuctl_run(&fabric->gpuctl, managers ? with : without, &root, &said);
	if (!good)
		return refuse(reason, "%s", said.text);
	good = inventory_read(root, inventory, reason);
	/* A manager that does not answer, or a file of fabric.d that cannot be used. */
	inventory->partial = managers && strstr(said.text, "fabric");
	return good;
}

static const struct inv_gpu *find_gpu(const struct inventory *inventory,
				      const struct claim_device *device)
{
	size_t i;

	for (i = 0; i < inventory->n_gpus; i++) {
		char manager[DEVICE_NAME_MAX];

		pool_name(inventory->gpus[i].manager, manager);
		if (!strcmp(manager, device->pool) &&
		    !strcmp(inventory->gpus[i].device, device->device))
			return &inventory->gpus[i];
	}
	return NULL;
}

static const struct inv_slot *find_slot(const struct inventory *inventory, const char *name)
{
	size_t i;

	for (i = 0; name && i < inventory->n_slots; i++)
		if (!strcmp(inventory->slots[i].name, name))
			return &inventory->slots[i];
	return NULL;
}

static bool is_own(const struct fabric *fabric, const struct claim_device *device)
{
	return !strcmp(device->pool, fabric->node);
}

/* Do managers have to say in which slots the devices of the claim are? */
static bool needs_managers(const struct fabric *fabric, const struct claim *claim)
{
	size_t i;

	for (i = 0; i < claim->n; i++)
		if (!claim->devices[i].slot && !is_own(fabric, &claim->devices[i]))
			return true;
	return false;
}

/* The slot that a device is or is in; NULL with the reason. */
static const struct inv_slot *slot_of(const struct fabric *fabric,
				      const struct inventory *inventory,
				      const struct claim_device *device, struct reason *reason)
{
	const struct inv_slot *slot;
	const struct inv_gpu *gpu;
	size_t i;

	if (device->slot) {
		slot = find_slot(inventory, device->slot);
		if (!slot)
			refuse(reason, "node %s has no slot %s any more", fabric->node,
			       device->slot);
		return slot;
	}
	if (is_own(fabric, device)) {
		for (i = 0; i < inventory->n_slots; i++)
			if (!strcmp(inventory->slots[i].device, device->device))
				return &inventory->slots[i];
		refuse(reason, "node %s has no slot for device %s any more", fabric->node,
		       device->device);
		return NULL;
	}
	gpu = find_gpu(inventory, device);
	slot = gpu ? find_slot(inventory, gpu->slot) : NULL;
	if (!gpu)
		refuse(reason, "fabric manager %s has no GPU for device %s any more", device->pool,
		       device->device);
	else if (!slot)
		refuse(reason, "GPU %s of fabric manager %s is %s, and in no slot of node %s",
		       gpu->id, gpu->manager, gpu->state, fabric->node);
	return slot;
}

/* Bind GPUs of a fabric manager that are in no slot of this host, and read the inventory again. */
static bool bind(const struct fabric *fabric, const struct claim *claim,
		 struct inventory *inventory, struct reason *reason)
{
	struct words words = { .n = 0 };
	struct reason other = { "" };
	const char *manager = NULL;
	bool good;
	size_t i;

	words_add(&words, "fabric");
	words_add(&words, "bind");
	words_add(&words, "--reason");
	words_add(&words, REASON);
	for (i = 0; i < claim->n; i++) {
		const struct inv_gpu *gpu = find_gpu(inventory, &claim->devices[i]);

		if (!gpu || gpu->slot || is_own(fabric, &claim->devices[i]))
			continue;
		manager = gpu->manager;
		words_add(&words, gpu->id);
	}
	if (!manager)
		return true;
	words_add(&words, "--manager");
	words_add(&words, manager);
	words_add(&words, NULL);
	good = !gpuctl_run(&fabric->gpuctl, words.word, NULL, reason);
	inventory_free(inventory);
	/* Its own reason is the one that counts. */
	return fabric_inventory(fabric, true, inventory, good ? reason : &other) && good;
}

/* Attach or detach slots. */
static bool move(const struct fabric *fabric, const struct claim *claim, const char *verb,
		 const struct words *slots, struct reason *reason)
{
	struct words words = { .n = 0 };
	size_t i;

	words_add(&words, verb);
	words_add(&words, "--reason");
	words_add(&words, REASON);
	if (!strcmp(verb, "attach") && claim->params.driver) {
		words_add(&words, "--driver");
		words_add(&words, claim->params.driver);
	}
	for (i = 0; i < slots->n; i++)
		words_add(&words, slots->word[i]);
	words_add(&words, NULL);
	return !slots->n || !gpuctl_run(&fabric->gpuctl, words.word, NULL, reason);
}

/*
 * Have GPUs of a fabric manager in slots of this host, and on: what has never been on is unknown to
 * the module, and cannot be composed. @brought are their slots, which take_away() gives back; the
 * caller frees them. They are the claim's, also those that an earlier attempt has bound.
 */
static bool bring(const struct fabric *fabric, const struct claim *claim,
		  struct inventory *inventory, struct words *brought, struct reason *reason)
{
	struct words off = { .n = 0 };
	const struct inv_slot *slot;
	size_t i;

	if (!bind(fabric, claim, inventory, reason))
		return false;
	for (i = 0; i < claim->n; i++) {
		if (is_own(fabric, &claim->devices[i]))
			continue;
		slot = slot_of(fabric, inventory, &claim->devices[i], reason);
		if (!slot)
			return false;
		if (slot->composition)
			continue;
		words_own(brought, copy_of(slot->name));
		if (!strcmp(slot->state, "off"))
			words_add(&off, slot->name);
	}
	return move(fabric, claim, "attach", &off, reason);
}

/*
 * The module takes some seconds to believe that a card is gone. Nothing is said to be given back
 * before, as the next claim may need the ports.
 */
static void await_empty(const struct fabric *fabric, const struct words *slots)
{
	struct reason other = { "" };
	size_t i;

	for (i = 0; i < slots->n; i++) {
		const char *const words[] = { "watch", "until",	    slots->word[i],
					      "empty", "--timeout", EMPTY_TIME,
					      NULL };

		gpuctl_run(&fabric->gpuctl, words, NULL, &other);
	}
}

/* A detach gives back what a manager has bound, also if the slot is off. */
static void take_away(const struct fabric *fabric, const struct claim *claim,
		      const struct words *brought)
{
	struct reason other = { "" };

	if (!move(fabric, claim, "detach", brought, &other))
		say("the GPUs bound for claim %s are not given back: %s", claim->uid, other.text);
	else
		await_empty(fabric, brought);
}

/* A request for the slots of the claim's devices, and no others. */
static bool ask(const struct fabric *fabric, struct claim *claim, const struct inventory *inventory,
		const char *name, struct words *words, struct reason *reason)
{
	const struct inv_slot *chosen[CLAIM_DEVICES_MAX];
	int64_t gpus = 0;
	size_t i, j;

	words_add(words, "compose");
	words_add(words, name);
	words_add(words, "--reason");
	words_add(words, REASON);
	for (i = 0; i < claim->n; i++) {
		chosen[i] = slot_of(fabric, inventory, &claim->devices[i], reason);
		if (!chosen[i])
			return false;
		free(claim->devices[i].slot);
		claim->devices[i].slot = copy_of(chosen[i]->name);
		gpus += chosen[i]->gpus;
	}
	for (i = 0; i < inventory->n_slots; i++) {
		for (j = 0; j < claim->n && chosen[j] != &inventory->slots[i]; j++)
			;
		if (j == claim->n && !inventory->slots[i].unmanaged) {
			words_add(words, "--exclude");
			words_add(words, inventory->slots[i].name);
		}
	}
	words_add(words, "--gpus");
	words_own(words, format("%lld", (long long)gpus));
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
	if (words->n > WORDS_MAX)
		return refuse(reason, "node %s has too many slots", fabric->node);
	words_add(words, NULL);
	return true;
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

/* @option is NULL for all that there is, or says what to do with the composition. */
static bool describe(const struct fabric *fabric, const char *option, const char *name,
		     struct reason *reason)
{
	const char *words[6] = { "cdi" };
	size_t n = 1;

	if (fabric->cdi) {
		words[n++] = "--output";
		words[n++] = fabric->cdi;
	}
	if (option) {
		words[n++] = option;
		words[n++] = name;
	}
	return !gpuctl_run(&fabric->gpuctl, words, NULL, reason);
}

static bool one_pool(const struct claim *claim, struct reason *reason)
{
	size_t i;

	for (i = 1; i < claim->n; i++)
		if (strcmp(claim->devices[i].pool, claim->devices[0].pool))
			return refuse(reason,
				      "its GPUs are from several pools, and a claim has GPUs of one");
	return true;
}

/* @inventory has been read with what needs_managers() says. */
static bool compose_anew(const struct fabric *fabric, struct claim *claim, const char *name,
			 struct inventory *inventory, struct reason *reason)
{
	struct words words = { .n = 0 }, brought = { .n = 0 };
	struct reason other = { "" };
	char state[32];
	bool good = one_pool(claim, reason);

	if (good) {
		good = bring(fabric, claim, inventory, &brought, reason) &&
		       ask(fabric, claim, inventory, name, &words, reason) &&
		       !gpuctl_run(&fabric->gpuctl, words.word, NULL, reason);
		/* A gpuctl that outlived us may have been faster. */
		if (!good && state_of(fabric, name, state, &other) && *state)
			good = await(fabric, name, reason);
		else if (!good)
			take_away(fabric, claim, &brought);
	}
	words_free(&words);
	words_free(&brought);
	return good;
}

bool fabric_compose(const struct fabric *fabric, struct claim *claim, struct inventory *inventory,
		    struct reason *reason)
{
	const struct inv_composition *there;
	char name[CLAIM_NAME_MAX];
	bool good;

	memset(inventory, 0, sizeof(*inventory));
	if (!claim_composition(claim->uid, name))
		return refuse(reason, "its uid is none");
	if (!fabric_inventory(fabric, needs_managers(fabric, claim), inventory, reason))
		return false;
	there = inventory_composition(inventory, name);
	if (!there || strcmp(there->state, "active")) {
		good = there ? await(fabric, name, reason) :
			       compose_anew(fabric, claim, name, inventory, reason);
		inventory_free(inventory);
		good = good &&
		       fabric_inventory(fabric, needs_managers(fabric, claim), inventory, reason);
		if (!good)
			return false;
	}
	/* A container would start without GPUs that have no device nodes. */
	return describe(fabric, "--require", name, reason);
}

/* Slots of the composition that a fabric manager has bound; the caller frees. */
static void bound_slots(const struct inventory *inventory, const char *name, struct words *slots)
{
	size_t i;

	for (i = 0; i < inventory->n_gpus && slots->n < CLAIM_DEVICES_MAX; i++) {
		const struct inv_slot *slot = find_slot(inventory, inventory->gpus[i].slot);

		if (slot && slot->composition && !strcmp(slot->composition, name))
			words_own(slots, copy_of(slot->name));
	}
}

bool fabric_release(const struct fabric *fabric, const char *uid, struct reason *reason)
{
	char name[CLAIM_NAME_MAX], state[32];
	const char *const words[] = { "release", name, "--reason", REASON, NULL };
	struct words slots = { .n = 0 };
	struct reason other = { "" };
	struct inventory inventory;
	bool good, there;

	if (!claim_composition(uid, name))
		return refuse(reason, "its uid is none");
	good = fabric_inventory(fabric, true, &inventory, reason);
	there = good && inventory_composition(&inventory, name);
	if (there)
		bound_slots(&inventory, name, &slots);
	inventory_free(&inventory);
	good = good && describe(fabric, "--remove", name, reason);
	if (good && there) {
		good = !gpuctl_run(&fabric->gpuctl, words, NULL, reason) ||
		       /* It may have ended meanwhile. */
		       (state_of(fabric, name, state, &other) && !*state);
		if (good)
			await_empty(fabric, &slots);
		/*
		 * If it did not end, it is a device again; if it did, another claim may have been
		 * described meanwhile, and it with that one.
		 */
		good = describe(fabric, NULL, NULL, good ? reason : &other) && good;
	}
	words_free(&slots);
	return good;
}

bool fabric_members(const struct fabric *fabric, const struct claim *claim,
		    const struct inventory *inventory, char **cdi, struct reason *reason)
{
	char name[CLAIM_NAME_MAX];
	bool good = claim_composition(claim->uid, name);
	size_t i;

	for (i = 0; good && i < claim->n; i++) {
		const struct inv_slot *slot =
			slot_of(fabric, inventory, &claim->devices[i], reason);

		good = slot;
		if (good && (!slot->composition || strcmp(slot->composition, name)))
			good = refuse(reason, "composition %s does not have slot %s", name,
				      slot->name);
		if (good)
			cdi[i] = format(CDI_KIND "=%s", slot->name);
	}
	for (i = 0; !good && i < claim->n; i++) {
		free(cdi[i]);
		cdi[i] = NULL;
	}
	return good;
}
