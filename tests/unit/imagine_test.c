// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/choose/imagine.c ctl/choose/choose.c ctl/choose/score.c ctl/choose/groups.c ctl/choose/match.c ctl/choose/shrink.c ctl/choose/explain.c ctl/choose/want.c ctl/host/topo.c ctl/base/text.c ctl/catalogue/gpu.c ctl/catalogue/gpu_find.c ctl/base/conf.c ctl/base/fault.c
/*
 * GPUs of fabric managers as if they were in this host's empty slots: which of them a request gets; and
 * small random hosts against every way to fill the slots.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "choose/imagine.h"
#include "tap.h"

#define GIB (1ull << 30)
#define MAX 16
#define NONE SIZE_MAX

static struct cat_gpu h100 = {
	.id = "h100-pcie-80", .name = "H100 PCIe 80GB", .brief = "H100 PCIe", .vendor = "nvidia"
};
static struct cat_gpu l40s = { .id = "l40s", .name = "L40S", .brief = "L40S", .vendor = "nvidia" };

static struct choose_slot slots[MAX];
static struct imagine_port ports[MAX];
static struct imagine_gpu gpus[MAX];
static size_t n_slots, n_ports, n_gpus;
static struct imagined best;
static struct fault fault;

static uint64_t memory_of(const struct cat_gpu *gpu)
{
	return (gpu == &h100 ? 80 : 48) * GIB;
}

static struct choose_slot at(uint32_t switch_id)
{
	return (struct choose_slot){
		.name = "slot", .switch_id = switch_id, .switch_name = "0000:10:00.0", .numa = 0
	};
}

static void put_slot(const struct cat_gpu *gpu, uint32_t switch_id)
{
	struct choose_slot *slot = &slots[n_slots++];

	*slot = at(switch_id);
	slot->id = (uint32_t)n_slots;
	slot->kind = gpu->brief;
	slot->gpu = gpu;
	slot->gpus = 1;
	slot->memory = memory_of(gpu);
}

static void put_port(uint32_t switch_id, size_t manager)
{
	ports[n_ports++] = (struct imagine_port){ at(switch_id), manager };
}

static void put_gpus(const struct cat_gpu *gpu, size_t n, size_t manager)
{
	while (n--)
		gpus[n_gpus++] = (struct imagine_gpu){
			.kind = gpu->brief,
			.gpu = gpu,
			.memory = memory_of(gpu),
			.manager = manager,
		};
}

static void start(void)
{
	imagined_free(&best);
	n_slots = 0;
	n_ports = 0;
	n_gpus = 0;
}

static int search(void *arg, struct choose_slot *all, size_t n, struct choose_result *result)
{
	fault.text[0] = '\0';
	return choose(all, n, arg, result, &fault);
}

static int ask(struct choose_request *request)
{
	const struct imagine what = {
		.slots = slots,
		.n = n_slots,
		.ports = ports,
		.n_ports = n_ports,
		.gpus = gpus,
		.n_gpus = n_gpus,
		.wants = request->wants,
		.n_wants = request->n_wants,
	};

	imagined_free(&best);
	return imagine(&what, search, request, &best);
}

static int ask_count(const char *word, size_t count, bool same_switch)
{
	const struct choose_want want = { .word = word, .count = count };
	struct choose_request request = {
		.wants = &want, .n_wants = 1, .numa = -1, .same_switch = same_switch
	};

	return ask(&request);
}

static int ask_memory(uint64_t gib)
{
	struct choose_request request = { .memory = gib * GIB, .numa = -1 };

	return ask(&request);
}

static bool all_are(const struct cat_gpu *gpu)
{
	size_t i;

	for (i = 0; i < best.n && gpus[best.gpus[i]].gpu == gpu;)
		i++;
	return i == best.n;
}

static void one_kind(void)
{
	start();
	put_slot(&h100, 0);
	put_port(0, 0);
	put_port(0, 0);
	put_port(0, 0);
	put_gpus(&l40s, 2, 0);
	put_gpus(&h100, 3, 0);
	ok(!ask_count(NULL, 3, false) && best.n == 2 && best.n_here == 1 && all_are(&h100),
	   "any three: that of this host, and two of its kind");
	ok(!ask_count("l40s", 2, false) && best.n == 2 && !best.n_here && all_are(&l40s),
	   "two of a kind that this host lacks");
	ok(ask_count("l40s", 3, false) == -ENOSPC, "three are not there");
	ok(!ask_memory(200) && best.n == 2 && best.n_here == 1 && all_are(&h100),
	   "200 GiB: three of 80");
	ok(!ask_memory(80) && !best.n && best.n_here == 1, "what is here is taken alone");
	ok(!ask_memory(320) && best.n == 3, "as much as all slots hold");
	ok(ask_memory(321) == -ENOSPC, "and no more");
	ok(ask_count(NULL, 5, false) == -ENOSPC, "there are four slots");
}

static void two_kinds(void)
{
	const struct choose_want wants[] = { { .word = "h100-pcie-80", .count = 2 },
					     { .word = "l40s", .count = 1 } };
	struct choose_request request = { .wants = wants, .n_wants = 2, .numa = -1 };

	start();
	put_slot(&h100, 0);
	put_port(0, 0);
	put_port(0, 0);
	put_gpus(&h100, 4, 0);
	put_gpus(&l40s, 4, 0);
	ok(!ask(&request) && best.n == 2 && best.n_here == 1, "two kinds by name share the slots");
}

static void places(void)
{
	size_t i;

	start();
	put_slot(&h100, 1);
	put_slot(&h100, 1);
	for (i = 0; i < 4; i++)
		put_port(0, 0);
	put_gpus(&h100, 4, 0);
	ok(!ask_count(NULL, 4, false) && best.n == 2 && best.n_here == 2,
	   "GPUs of this host come first, also where one switch had room for all");
	ok(!ask_count(NULL, 4, true) && best.n == 4, "unless they are to be behind one switch");
	put_port(1, 0);
	n_gpus = 1;
	ok(!ask_count(NULL, 3, true) && best.n == 1 && best.ports[0] == 4,
	   "the only one comes to the switch of the others");
	ok(!ask_count(NULL, 3, false) && best.ports[0] == 4, "also where that is only better");
}

static void managers(void)
{
	start();
	put_port(0, 0);
	put_port(0, 1);
	put_gpus(&h100, 2, 1);
	ok(!ask_count(NULL, 1, false) && best.ports[0] == 1,
	   "a GPU comes to a port of its manager");
	ok(ask_count(NULL, 2, false) == -ENOSPC, "and to no other");
	n_gpus = 0;
	ok(ask_count(NULL, 1, false) == -ENOSPC, "without GPUs there is nothing");
	n_ports = 0;
	ok(ask_count(NULL, 1, false) == -ENOSPC, "nor without ports");
}

/* The least number of kinds, GPUs, and GPUs that are brought, over all ways to fill the ports. */
struct least {
	struct choose_request *request;
	size_t at[MAX];
	size_t by[3];
	bool found;
};

static void try_one(struct least *least)
{
	struct choose_slot all[2 * MAX];
	struct choose_result result;
	size_t n = n_slots, i, j, by[3] = { 0 };

	memcpy(all, slots, sizeof(slots));
	for (i = 0; i < n_ports; i++) {
		if (least->at[i] == NONE)
			continue;
		all[n] = ports[i].place;
		all[n].kind = gpus[least->at[i]].kind;
		all[n].gpu = gpus[least->at[i]].gpu;
		all[n].memory = gpus[least->at[i]].memory;
		all[n].gpus = 1;
		all[n++].brought = true;
	}
	if (choose(all, n, least->request, &result, &fault))
		return;
	by[1] = result.n;
	for (i = 0; i < result.n; i++) {
		for (j = 0; all[result.picked[j]].gpu != all[result.picked[i]].gpu;)
			j++;
		by[0] += i == j;
		by[2] += all[result.picked[i]].brought;
	}
	for (i = 0; i < 3 && by[i] == least->by[i];)
		i++;
	if (!least->found || (i < 3 && by[i] < least->by[i]))
		memcpy(least->by, by, sizeof(by));
	least->found = true;
	choose_result_free(&result);
}

static void try_all(struct least *least, size_t port)
{
	size_t i, j;

	if (port == n_ports) {
		try_one(least);
		return;
	}
	least->at[port] = NONE;
	try_all(least, port + 1);
	for (i = 0; i < n_gpus; i++) {
		for (j = 0; j < port && least->at[j] != i;)
			j++;
		if (j < port || gpus[i].manager != ports[port].manager)
			continue;
		least->at[port] = i;
		try_all(least, port + 1);
	}
	least->at[port] = NONE;
}

static uint32_t random_below(uint32_t *state, uint32_t n)
{
	*state = *state * 1664525u + 1013904223u;
	return (*state >> 8) % n;
}

static bool compare_one(uint32_t *state)
{
	const struct choose_want want = { .word = random_below(state, 2) ? "l40s" : NULL,
					  .count = 1 + random_below(state, 5) };
	struct choose_request request = { .numa = -1 };
	struct least least = { .request = &request };
	size_t i, n;
	int err;

	start();
	for (i = 0, n = random_below(state, 4); i < n; i++)
		put_slot(random_below(state, 2) ? &h100 : &l40s, random_below(state, 2));
	for (i = 0, n = random_below(state, 4); i < n; i++)
		put_port(random_below(state, 2), random_below(state, 3) / 2);
	for (i = 0, n = random_below(state, 5); i < n; i++)
		put_gpus(random_below(state, 2) ? &h100 : &l40s, 1, random_below(state, 3) / 2);
	if (random_below(state, 3)) {
		request.wants = &want;
		request.n_wants = 1;
		request.same_switch = !random_below(state, 4);
	} else {
		request.memory = (1 + random_below(state, 8)) * 40 * GIB;
	}
	try_all(&least, 0);
	err = ask(&request);
	if (!err != least.found)
		return false;
	return err || (best.n + best.n_here == least.by[1] && best.n == least.by[2]);
}

static void random_hosts(void)
{
	uint32_t state = 1, i, bad = 0;

	for (i = 0; i < 3000; i++) {
		uint32_t before = state;

		if (compare_one(&state))
			continue;
		if (!bad++)
			printf("# the first that differs has seed %u\n", before);
	}
	ok(!bad,
	   "3,000 random hosts: as many GPUs, and as few of them brought, as in the best of all ways");
}

int main(void)
{
	one_kind();
	two_kinds();
	places();
	managers();
	random_hosts();
	imagined_free(&best);
	return tap_done();
}
