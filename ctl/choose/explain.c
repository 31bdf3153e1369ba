// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: explaining a choice
 *
 * A choice that surprises must be able to say its reasons, and a refusal must
 * say what could be had instead.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "choose/explain.h"

static size_t count_kind(const struct choose_slot *slots, size_t n, const char *kind)
{
	size_t count = 0, i;

	for (i = 0; i < n; i++)
		if (slots[i].bar == CHOOSE_FREE && !strcmp(slots[i].kind, kind))
			count += slots[i].gpus;
	return count;
}

static void say_kinds(struct text *text, const struct choose_slot *slots, size_t n,
		      const size_t *picked, size_t n_picked)
{
	size_t i, j, count;

	for (i = 0; i < n_picked; i++) {
		const char *kind = slots[picked[i]].kind;

		for (j = 0; j < i && strcmp(slots[picked[j]].kind, kind);)
			j++;
		if (j < i)
			continue;
		for (count = 0; j < n_picked; j++)
			if (!strcmp(slots[picked[j]].kind, kind))
				count += slots[picked[j]].gpus;
		text_add(text, "%s%zu of %zu free %s", text->len ? " and " : "", count,
			 count_kind(slots, n, kind), kind);
	}
}

static size_t say_switches(struct text *text, const struct choose_slot *slots, const size_t *picked,
			   size_t n)
{
	struct text list = { 0 };
	size_t switches = 0, i, j, count;

	for (i = 0; i < n; i++) {
		const struct choose_slot *slot = &slots[picked[i]];

		for (j = 0; j < i && slots[picked[j]].switch_id != slot->switch_id;)
			j++;
		if (j < i)
			continue;
		for (count = 0; j < n; j++)
			if (slots[picked[j]].switch_id == slot->switch_id)
				count += slots[picked[j]].gpus;
		text_add(&list, "%s%zu on %s", switches ? ", " : "", count, slot->switch_name);
		switches++;
	}
	if (switches == 1)
		text_add(text, ": switch %s", slots[picked[0]].switch_name);
	else
		text_add(text, ": %zu switches (%s)", switches, list.text);
	free(list.text);
	return switches;
}

static void say_nodes(struct text *text, const struct choose_slot *slots, const size_t *picked,
		      size_t n)
{
	struct text list = { 0 };
	size_t i, j;

	for (i = 0; i < n; i++) {
		int numa = slots[picked[i]].numa;

		for (j = 0; j < i && slots[picked[j]].numa != numa;)
			j++;
		if (j == i && numa >= 0)
			text_add(&list, "%s%d", list.len ? "+" : "", numa);
	}
	if (list.text)
		text_add(text, ", NUMA %s", list.text);
	free(list.text);
}

static void say_identity(struct text *text, const struct choose_slot *slots, const size_t *picked,
			 size_t n)
{
	static const char *const words[] = { "live", "last seen", "declared" };
	size_t counts[3] = { 0 }, i;
	bool first = true;

	for (i = 0; i < n; i++)
		counts[slots[picked[i]].doubt > 2 ? 2 : slots[picked[i]].doubt]++;
	text_add(text, "; identity ");
	for (i = 0; i < 3; i++) {
		if (!counts[i])
			continue;
		if (counts[i] == n)
			text_add(text, "%s", words[i]);
		else
			text_add(text, "%s%zu %s", first ? "" : ", ", counts[i], words[i]);
		first = false;
	}
}

/* "; whole group nvl0; 2 of 4 of group nvl1" */
static void say_groups(struct text *text, const struct groups *groups, const size_t *picked,
		       size_t n)
{
	size_t g, i, count;

	for (g = 0; g < groups->n; g++) {
		for (count = 0, i = 0; i < n; i++)
			count += groups->of[picked[i]] == g + 1;
		if (!count)
			continue;
		if (count == groups->items[g].slots)
			text_add(text, "; whole group %s", groups->items[g].name);
		else
			text_add(text, "; %zu of %zu of group %s", count, groups->items[g].slots,
				 groups->items[g].name);
	}
}

char *choose_why(const struct choose_slot *slots, size_t n, const struct choose_request *request,
		 const struct groups *groups, const size_t *picked, size_t n_picked)
{
	char have[TEXT_QUANTITY], want[TEXT_QUANTITY];
	struct text text = { 0 };
	uint64_t memory = 0;
	size_t i, switches;

	say_kinds(&text, slots, n, picked, n_picked);
	for (i = 0; i < n_picked; i++)
		memory += slots[picked[i]].memory * slots[picked[i]].gpus;
	if (request->memory)
		text_add(&text, " with %s for %s", text_bytes(have, memory),
			 text_bytes(want, request->memory));
	switches = say_switches(&text, slots, picked, n_picked);
	say_nodes(&text, slots, picked, n_picked);
	if (request->p2p && n_picked > 1)
		text_add(&text, ", near peers");
	if (switches > 1 && !request->spread && !request->n_home)
		text_add(&text, "; no single switch has %zu", choose_gpus(slots, picked, n_picked));
	say_groups(&text, groups, picked, n_picked);
	say_identity(&text, slots, picked, n_picked);
	return text.text;
}

size_t choose_gpus(const struct choose_slot *slots, const size_t *picked, size_t n)
{
	size_t gpus = 0, i;

	for (i = 0; i < n; i++)
		gpus += slots[picked[i]].gpus;
	return gpus;
}

void choose_result_free(struct choose_result *result)
{
	free(result->picked);
	free(result->why);
	memset(result, 0, sizeof(*result));
}

size_t choose_count_wants(const struct choose_want *wants, size_t n)
{
	size_t total = 0, w;

	for (w = 0; w < n; w++)
		total += wants[w].count;
	return total;
}

int choose_check(const struct choose_request *request, struct fault *fault)
{
	size_t total = choose_count_wants(request->wants, request->n_wants);

	if (!total && !request->memory)
		return fault_set(fault, EINVAL,
				 "the request names no GPUs: give --gpus, --gpu, --memory or --model");
	if (total && request->memory)
		return fault_set(fault, EINVAL,
				 "the request gives both a count and a memory: give one of them");
	if (request->p2p && request->spread)
		return fault_set(fault, EINVAL, "--p2p required and --spread exclude each other");
	if (request->same_switch && request->spread)
		return fault_set(fault, EINVAL, "--same-switch and --spread exclude each other");
	return 0;
}

static void say_bars(struct text *text, const struct choose_slot *slots, size_t n)
{
	static const char *const words[CHOOSE_BARS] = {
		[CHOOSE_CLAIMED] = "in compositions",
		[CHOOSE_BUSY] = "busy with an operation",
		[CHOOSE_FAULT] = "in fault or quarantine (gpuctl list)",
		[CHOOSE_NO_ROOM] = "without address space (gpuctl show SLOT)",
		[CHOOSE_UNKNOWN] = "unknown (gpuctl scan)",
		[CHOOSE_DRIVER] = "attached with another driver (gpuctl detach SLOT)",
		[CHOOSE_EXCLUDED] = "excluded",
		[CHOOSE_DIRTY] =
			"that may hold data of another tenant, with neither power control nor reset (--dirty)",
	};
	bool first = true;
	int bar;

	for (bar = CHOOSE_FREE + 1; bar < CHOOSE_BARS; bar++) {
		size_t count = 0, i;

		for (i = 0; i < n; i++)
			count += slots[i].bar == (enum choose_bar)bar ? slots[i].gpus : 0;
		if (!count)
			continue;
		text_add(text, "%s%zu %s", first ? "; not free: " : ", ", count, words[bar]);
		first = false;
	}
}

static bool explain_takes(const struct choose_want *want, const struct choose_slot *slot)
{
	if (want->kind)
		return !strcmp(want->kind, slot->kind);
	return !want->word || choose_matches(slot, want->word);
}

static size_t count_want(const struct choose_slot *slots, size_t n,
			 const struct choose_request *request, const struct choose_want *want,
			 uint32_t switch_id, bool one_switch)
{
	size_t count = 0, i;

	for (i = 0; i < n; i++)
		if (slots[i].bar == CHOOSE_FREE && explain_takes(want, &slots[i]) &&
		    (request->numa < 0 || slots[i].numa == request->numa) &&
		    (!one_switch || slots[i].switch_id == switch_id))
			count += slots[i].gpus;
	return count;
}

/* The most that one switch has of a want. */
static size_t most_on_switch(const struct choose_slot *slots, size_t n,
			     const struct choose_request *request, const struct choose_want *want,
			     const char **where)
{
	size_t most = 0, i;

	*where = "none";
	for (i = 0; i < n; i++) {
		size_t count = count_want(slots, n, request, want, slots[i].switch_id, true);

		if (count > most) {
			most = count;
			*where = slots[i].switch_name;
		}
	}
	return most;
}

static void say_wants(struct text *text, const struct choose_request *request)
{
	bool first = true;
	size_t i;

	text_add(text, "asked ");
	for (i = 0; i < request->n_wants; i++) {
		const struct choose_want *want = &request->wants[i];
		const char *word = want->kind ? want->kind : want->word;

		if (!want->count)
			continue;
		text_add(text, "%s%zu%s%s", first ? "" : " and ", want->count, word ? " " : "",
			 word ? word : "");
		first = false;
	}
}

/* The most that are near peers of each other. */
static void say_peers(struct text *text, const struct choose_slot *slots, size_t n,
		      const struct choose_request *request)
{
	size_t most = 0, i, j;

	for (i = 0; i < n; i++) {
		size_t count = 0;

		if (request->home_peers && slots[i].peers != request->home_peers)
			continue;
		for (j = 0; j < n; j++)
			if (slots[j].bar == CHOOSE_FREE && slots[i].peers &&
			    slots[j].peers == slots[i].peers)
				count += slots[j].gpus;
		most = count > most ? count : most;
	}
	text_add(text, "; near peers are at most %zu (gpuctl topo --pairs)", most);
}

/* What the switch with the most memory has. */
static void say_switch_memory(struct text *text, const struct choose_slot *slots, size_t n,
			      const struct choose_request *request)
{
	const char *where = "none";
	char buf[TEXT_QUANTITY];
	uint64_t most = 0;
	size_t i, j;

	for (i = 0; i < n; i++) {
		uint64_t memory = 0;

		for (j = 0; j < n; j++)
			if (slots[j].bar == CHOOSE_FREE &&
			    slots[j].switch_id == slots[i].switch_id &&
			    (request->numa < 0 || slots[j].numa == request->numa))
				memory += slots[j].memory * slots[j].gpus;
		if (memory > most) {
			most = memory;
			where = slots[i].switch_name;
		}
	}
	if (most < request->memory)
		text_add(text, "; one switch has at most %s (%s)", text_bytes(buf, most), where);
}

int choose_lack(const struct choose_slot *slots, size_t n, const struct choose_request *request,
		struct fault *fault)
{
	char buf[TEXT_QUANTITY], have[TEXT_QUANTITY];
	struct text text = { 0 };
	uint64_t memory = 0;
	size_t free_gpus = 0, i;
	char *pool;

	for (i = 0; i < n; i++) {
		if (slots[i].bar != CHOOSE_FREE)
			continue;
		free_gpus += slots[i].gpus;
		memory += slots[i].memory * slots[i].gpus;
	}
	pool = choose_pool(slots, n);
	if (request->memory)
		text_add(&text, "asked %s, free %s on %zu: %s", text_bytes(buf, request->memory),
			 text_bytes(have, memory), free_gpus, pool);
	else
		say_wants(&text, request);
	if (!request->memory)
		text_add(&text, ", free %zu: %s", free_gpus, pool);
	if (request->numa >= 0)
		text_add(&text, "; on NUMA node %d only", request->numa);
	for (i = 0; i < request->n_wants && request->same_switch; i++) {
		const struct choose_want *want = &request->wants[i];
		const char *where;
		size_t most;

		most = most_on_switch(slots, n, request, want, &where);
		if (most < want->count)
			text_add(&text, "; one switch has at most %zu (%s)", most, where);
	}
	if (request->memory && request->same_switch)
		say_switch_memory(&text, slots, n, request);
	if (request->p2p)
		say_peers(&text, slots, n, request);
	say_bars(&text, slots, n);
	free(pool);
	fault_set(fault, ENOSPC, "%s", text.text);
	free(text.text);
	return -ENOSPC;
}
