// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: imagined slots
 *
 * A GPU of a fabric manager can come to any empty slot of that manager, so what a request could have
 * is no list of slots. It becomes several such lists: in each of them every empty slot holds
 * one GPU that is free at its manager. The search that chooses among the cards of this host then chooses
 * among these as well, by the same criteria.
 *
 * A list is made for each kind, whose GPUs are placed first, and one for the kinds that the request
 * names. Where a kind has fewer GPUs than there are ports, it matters which ports get them: then
 * a list is made for each switch, whose ports are filled first.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "choose/imagine.h"
#include "choose/score.h"

#define NONE SIZE_MAX
/* Switches whose ports are filled first at one time. */
#define SWITCHES_MAX 16

/**
 * struct filling - one list
 * @what: what there is
 * @at: of each port its GPU, NONE for none
 * @used: of each GPU: it is at a port
 * @order: ports, in the order in which they get GPUs
 */
struct filling {
	const struct imagine *what;
	size_t *at;
	bool *used;
	size_t *order;
};

static struct choose_slot slot_with(const struct imagine_port *port, const struct imagine_gpu *gpu)
{
	struct choose_slot slot = port->place;

	slot.kind = gpu->kind;
	slot.gpu = gpu->gpu;
	slot.vendor = gpu->vendor;
	slot.device = gpu->device;
	slot.memory = gpu->memory;
	slot.gpus = 1;
	slot.doubt = 1;
	slot.brought = true;
	slot.bar = CHOOSE_FREE;
	return slot;
}

static bool gpu_is(const struct imagine_gpu *gpu, const char *kind, const char *word)
{
	const struct choose_slot probe = {
		.kind = gpu->kind, .gpu = gpu->gpu, .vendor = gpu->vendor, .device = gpu->device
	};

	if (kind)
		return !strcmp(gpu->kind, kind);
	return !word || choose_matches(&probe, word);
}

/* At most @most GPUs of a kind, or that answer to a word, to ports that have none. */
static void place(struct filling *f, const char *kind, const char *word, size_t most)
{
	const struct imagine *what = f->what;
	size_t i, j;

	for (i = 0; i < what->n_ports && most; i++) {
		const struct imagine_port *port = &what->ports[f->order[i]];

		if (f->at[f->order[i]] != NONE)
			continue;
		for (j = 0; j < what->n_gpus; j++) {
			if (f->used[j] || what->gpus[j].manager != port->manager ||
			    !gpu_is(&what->gpus[j], kind, word))
				continue;
			f->used[j] = true;
			f->at[f->order[i]] = j;
			most--;
			break;
		}
	}
}

/* What this host has of them counts. */
static void place_wants(struct filling *f)
{
	const struct imagine *what = f->what;
	size_t have, i, w;

	for (w = 0; w < what->n_wants; w++) {
		const struct choose_want *want = &what->wants[w];

		if (!want->word || !want->count)
			continue;
		for (have = 0, i = 0; i < what->n; i++)
			if (what->slots[i].bar == CHOOSE_FREE &&
			    choose_matches(&what->slots[i], want->word))
				have += what->slots[i].gpus;
		if (have < want->count)
			place(f, NULL, want->word, want->count - have);
	}
}

static bool is_full(const struct filling *f)
{
	size_t i;

	for (i = 0; i < f->what->n_ports && f->at[i] != NONE;)
		i++;
	return i == f->what->n_ports;
}

/* @kind: whose GPUs are placed first, NULL: those that the request names; @first: a port of the switch. */
static bool fill_ports(struct filling *f, const char *kind, size_t first)
{
	const struct imagine *what = f->what;
	uint32_t id = what->ports[first].place.switch_id;
	size_t n = 0, i;
	bool full;

	for (i = 0; i < what->n_ports; i++) {
		f->at[i] = NONE;
		if (what->ports[i].place.switch_id == id)
			f->order[n++] = i;
	}
	for (i = 0; i < what->n_ports; i++)
		if (what->ports[i].place.switch_id != id)
			f->order[n++] = i;
	memset(f->used, 0, what->n_gpus * sizeof(*f->used));
	if (kind)
		place(f, kind, NULL, what->n_ports);
	else
		place_wants(f);
	full = is_full(f);
	place(f, NULL, NULL, what->n_ports);
	return full;
}

/**
 * struct merit - how good what was found is
 * @gpus: number of GPUs, where it counts most
 * @score: what the search compares by
 */
struct merit {
	uint64_t gpus;
	uint64_t score[CHOOSE_CRITERIA];
};

static struct merit merit_of(const struct imagine *what, const struct choose_slot *slots,
			     const struct choose_result *result)
{
	struct merit merit = { 0 };

	if (what->fewest)
		merit.gpus = choose_gpus(slots, result->picked, result->n);
	memcpy(merit.score, result->score, sizeof(merit.score));
	return merit;
}

static bool is_better(const struct merit *merit, const struct merit *than)
{
	if (merit->gpus != than->gpus)
		return merit->gpus < than->gpus;
	return score_is_better(merit->score, than->score);
}

static void imagined_take(const struct filling *f, const size_t *port_of,
			  const struct choose_result *result, struct imagined *best)
{
	size_t i;

	imagined_free(best);
	best->ports = mem_zalloc(result->n + 1, sizeof(*best->ports));
	best->gpus = mem_zalloc(result->n + 1, sizeof(*best->gpus));
	best->here = mem_zalloc(result->n + 1, sizeof(*best->here));
	for (i = 0; i < result->n; i++) {
		size_t slot = result->picked[i];

		if (slot < f->what->n) {
			best->here[best->n_here++] = slot;
			continue;
		}
		best->ports[best->n] = port_of[slot - f->what->n];
		best->gpus[best->n] = f->at[best->ports[best->n]];
		best->n++;
	}
	best->why = mem_strdup(result->why ? result->why : "");
}

/* Search one list; @merit is that of @best. */
static int imagine_one(const struct filling *f, imagine_fn search, void *arg, struct imagined *best,
		       struct merit *merit)
{
	const struct imagine *what = f->what;
	struct choose_slot *slots = mem_zalloc(what->n + what->n_ports + 1, sizeof(*slots));
	size_t *port_of = mem_zalloc(what->n_ports + 1, sizeof(*port_of));
	struct choose_result result = { 0 };
	struct merit found;
	size_t n = what->n, i;
	int err;

	if (n)
		memcpy(slots, what->slots, n * sizeof(*slots));
	for (i = 0; i < what->n_ports; i++) {
		if (f->at[i] == NONE)
			continue;
		port_of[n - what->n] = i;
		slots[n++] = slot_with(&what->ports[i], &what->gpus[f->at[i]]);
	}
	err = search(arg, slots, n, &result);
	if (!err) {
		found = merit_of(what, slots, &result);
		if (!best->why || is_better(&found, merit)) {
			imagined_take(f, port_of, &result, best);
			*merit = found;
		}
	}
	choose_result_free(&result);
	free(port_of);
	free(slots);
	return err;
}

/* A list for each switch, or one where that does not matter. */
static int imagine_kind(struct filling *f, const char *kind, imagine_fn search, void *arg,
			struct imagined *best, struct merit *merit)
{
	const struct imagine *what = f->what;
	size_t lists = 0, i, j;
	int err = 0;
	bool full = false;

	for (i = 0; i < what->n_ports && !full && lists < SWITCHES_MAX; i++) {
		for (j = 0; what->ports[j].place.switch_id != what->ports[i].place.switch_id;)
			j++;
		if (j < i)
			continue;
		full = fill_ports(f, kind, i);
		err = imagine_one(f, search, arg, best, merit);
		lists++;
	}
	return err;
}

int imagine(const struct imagine *what, imagine_fn search, void *arg, struct imagined *best)
{
	struct filling f = {
		.what = what,
		.at = mem_zalloc(what->n_ports + 1, sizeof(*f.at)),
		.used = mem_zalloc(what->n_gpus + 1, sizeof(*f.used)),
		.order = mem_zalloc(what->n_ports + 1, sizeof(*f.order)),
	};
	struct merit merit = { 0 };
	size_t i, j;
	int err;

	memset(best, 0, sizeof(*best));
	if (what->n_ports)
		err = imagine_kind(&f, NULL, search, arg, best, &merit);
	else
		err = imagine_one(&f, search, arg, best, &merit);
	for (i = 0; i < what->n_gpus; i++) {
		for (j = 0; strcmp(what->gpus[j].kind, what->gpus[i].kind);)
			j++;
		if (j == i && what->n_ports)
			err = imagine_kind(&f, what->gpus[i].kind, search, arg, best, &merit);
	}
	free(f.at);
	free(f.used);
	free(f.order);
	return best->why ? 0 : err;
}

void imagined_free(struct imagined *imagined)
{
	free(imagined->ports);
	free(imagined->gpus);
	free(imagined->here);
	free(imagined->why);
	memset(imagined, 0, sizeof(*imagined));
}
