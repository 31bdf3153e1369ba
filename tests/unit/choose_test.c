// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/choose/choose.c ctl/choose/score.c ctl/choose/groups.c ctl/choose/match.c ctl/choose/shrink.c ctl/choose/explain.c ctl/choose/want.c ctl/host/topo.c ctl/base/text.c ctl/catalogue/gpu.c ctl/catalogue/gpu_find.c ctl/base/conf.c ctl/base/fault.c
/*
 * Choosing slots: preferences one by one, refusals with their words, and small
 * random pools against an exhaustive search.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "choose/choose.h"
#include "tap.h"

#define GIB (1ull << 30)
#define MAX 16

static struct cat_gpu h100 = {
	.id = "h100-pcie-80", .name = "H100 PCIe 80GB", .brief = "H100 PCIe", .vendor = "nvidia"
};
static struct cat_gpu l40s = { .id = "l40s", .name = "L40S", .brief = "L40S", .vendor = "nvidia" };
static struct cat_gpu mi300 = {
	.id = "mi300x", .name = "MI300X", .brief = "MI300X", .vendor = "amd"
};

static struct choose_slot slots[MAX];
static char names[MAX][16];
static const char *const switches[] = { "0000:10:00.0", "0000:20:00.0", "0000:30:00.0",
					"0000:40:00.0" };

static struct choose_result result;
static struct fault fault;

static void put(size_t i, const struct cat_gpu *gpu, uint64_t gib, uint32_t switch_id, int numa)
{
	snprintf(names[i], sizeof(names[i]), "%u-%zu", switch_id, i);
	slots[i] = (struct choose_slot){
		.gpus = 1,
		.name = names[i],
		.id = (uint32_t)i + 1,
		.kind = gpu->brief,
		.gpu = gpu,
		.memory = gib * GIB,
		.switch_id = switch_id,
		.switch_name = switches[switch_id],
		.numa = numa,
	};
}

static int ask(size_t n, const struct choose_want *wants, size_t n_wants,
	       struct choose_request request)
{
	choose_result_free(&result);
	fault.text[0] = '\0';
	request.wants = wants;
	request.n_wants = n_wants;
	return choose(slots, n, &request, &result, &fault);
}

static int ask_one(size_t n, const char *word, size_t count, struct choose_request request)
{
	const struct choose_want want = { .word = word, .count = count };

	return ask(n, &want, 1, request);
}

/* Names of what was chosen, joined. */
static const char *picked(void)
{
	static char text[256];
	size_t i, at = 0;

	text[0] = '\0';
	for (i = 0; i < result.n; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", i ? " " : "",
				       slots[result.picked[i]].name);
	return text;
}

static const struct choose_request any = { .numa = -1 };

static void test_places(void)
{
	/* 2 on switch 0, 3 on switch 1 (both node 0), 4 on switch 2 (node 1). */
	size_t i;

	for (i = 0; i < 9; i++)
		put(i, &h100, 80, i < 2 ? 0 : i < 5 ? 1 : 2, i < 5 ? 0 : 1);
	is_int(ask_one(9, NULL, 2, any), 0, "two of nine");
	is_str(picked(), "0-0 0-1",
	       "the smallest switch that has them, so that larger groups stay whole");
	is_int(ask_one(9, "h100 pcie", 3, any), 0, "three by name");
	is_str(picked(), "1-2 1-3 1-4", "one switch");
	is_int(ask_one(9, "nvidia", 4, any), 0, "four by vendor");
	is_str(picked(), "2-5 2-6 2-7 2-8", "one switch rather than two");
	ok(strstr(result.why, "4 of 9 free H100 PCIe: switch 0000:30:00.0, NUMA 1"), "why: %s",
	   result.why);
	is_int(ask_one(9, NULL, 5, any), 0, "five");
	is_str(picked(), "0-0 0-1 1-2 1-3 1-4", "one NUMA node when no switch has enough");
	ok(strstr(result.why, "no single switch has 5"), "why: %s", result.why);
	is_int(ask_one(9, NULL, 4, (struct choose_request){ .numa = 0 }), 0, "four on node 0");
	ok(!strstr(picked(), "2-"), "none of another node: %s", picked());
	is_int(ask_one(9, NULL, 3, (struct choose_request){ .numa = -1, .spread = true }), 0,
	       "spread");
	is_str(picked(), "0-0 1-2 2-5", "one on each switch");
	is_int(ask_one(9, NULL, 5, (struct choose_request){ .numa = -1, .same_switch = true }),
	       -ENOSPC, "five on one switch");
	ok(strstr(fault.text, "one switch has at most 4 (0000:30:00.0)"),
	   "says what a switch has: %s", fault.text);
	slots[0].ready = slots[1].ready = false;
	slots[3].ready = slots[4].ready = true;
	is_int(ask_one(9, NULL, 2,
		       (struct choose_request){
			       .numa = 0, .home = &(struct choose_home){ 1, 0, NULL }, .n_home = 1 }),
	       0, "more for a composition");
	is_str(picked(), "1-3 1-4", "where it is already, and what is attached already");
	slots[3].ready = slots[4].ready = false;
	is_int(ask_one(9, NULL, 1,
		       (struct choose_request){
			       .numa = -1, .home = &(struct choose_home){ 3, 1, NULL }, .n_home = 1 }),
	       0, "one more for a composition whose switch is full");
	is_str(picked(), "2-5", "on its NUMA node");
	for (i = 0; i < 9; i++)
		slots[i].numa = 0;
	slots[0].path = slots[1].path = "pci0000:00/0000:00:01.0/0000:10:00.0/0000:11:00.0";
	slots[2].path = slots[3].path = slots[4].path =
		"pci0000:00/0000:00:02.0/0000:20:00.0/0000:21:00.0/0000:22:00.0/0000:23:00.0";
	for (i = 5; i < 9; i++)
		slots[i].path = "pci0000:00/0000:00:03.0/0000:30:00.0/0000:31:00.0";
	is_int(ask_one(9, NULL, 1,
		       (struct choose_request){
			       .numa = -1,
			       .home = &(struct choose_home){ 3, 0, "pci0000:00/0000:00:02.0/0000:20:00.0/"
								 "0000:21:01.0/0000:24:00.0/0000:25:00.0" },
			       .n_home = 1 }),
	       0, "one more, and no other node");
	is_str(picked(), "1-2", "below its root port");
}

/* What another tenant has left somewhere matters after where the GPUs are. */
static void test_dirty(void)
{
	size_t i;

	for (i = 0; i < 6; i++) {
		put(i, &h100, 80, i < 3 ? 0 : 1, 0);
		slots[i].ready = slots[i].dirty = i < 3;
	}
	is_int(ask_one(3, NULL, 1, any), 0, "one of three, all of others");
	is_str(picked(), "0-0", "is taken all the same");
	slots[2].dirty = slots[2].ready = false;
	is_int(ask_one(3, NULL, 1, any), 0, "one of three");
	is_str(picked(), "0-2", "the clean one, though others are attached already");
	is_int(ask_one(6, NULL, 3, any), 0, "three on one of two switches");
	is_str(picked(), "1-3 1-4 1-5", "the clean ones");
	is_int(ask_one(4, NULL, 3, any), 0, "three, and two that are clean");
	is_str(picked(), "0-0 0-1 0-2", "one switch rather than clean ones");
	slots[0].bar = slots[1].bar = slots[2].bar = slots[3].bar = CHOOSE_DIRTY;
	is_int(ask_one(4, NULL, 1, any), -ENOSPC, "nothing can be cleaned");
	ok(strstr(fault.text, "not free: 4 that may hold data of another tenant, with neither power control nor reset (--dirty)"),
	   "says so: %s", fault.text);
}

static void test_kinds(void)
{
	const struct choose_want both[] = { { "h100-pcie-80", 2, NULL }, { NULL, 2, NULL } };
	const struct choose_want without[] = { { NULL, 3, NULL }, { "l40s", 0, NULL } };
	const struct choose_want overlap[] = { { NULL, 4, NULL }, { "h100-pcie-80", 2, NULL } };
	size_t i;

	for (i = 0; i < 6; i++)
		put(i,
		    i < 2   ? &h100
		    : i < 5 ? &l40s
			    : &mi300,
		    i < 2   ? 80
		    : i < 5 ? 45
			    : 192,
		    i < 3 ? 0 : 1, 0);
	is_int(ask_one(6, NULL, 3, any), 0, "three of any");
	is_str(picked(), "0-2 1-3 1-4", "one kind over two switches rather than two kinds");
	is_int(ask_one(6, NULL, 1, any), 0, "one of any");
	ok(slots[result.picked[0]].gpu == &l40s, "the smallest GPU that does: %s", picked());
	is_int(ask(6, both, 2, any), 0, "wants add up");
	is_int((intmax_t)result.n, 4, "four in all");
	is_int(ask(6, overlap, 2, any), 0, "overlapping wants are untangled");
	is_str(picked(), "0-0 0-1 0-2 1-3 1-4 1-5", "all of them");
	is_int(ask(6, without, 2, any), 0, "a kind is excluded");
	is_str(picked(), "0-0 0-1 1-5", "none of the excluded kind");
	is_int(ask_one(6, "amd:mi300x", 1, any), 0, "vendor and model");
	is_str(picked(), "1-5", "that one");
	is_int(ask_one(6, "nvidia:mi300x", 1, any), -ENOSPC, "a model of another vendor");
	is_int(ask_one(6, "l40s", 4, any), -ENOSPC, "more of a kind than there are");
	ok(strstr(fault.text, "asked 4 l40s, free 6: 3 L40S, 2 H100 PCIe, 1 MI300X"),
	   "says what the pool has: %s", fault.text);
	slots[5].vendor = 0x1002;
	slots[5].device = 0x74a1;
	slots[5].gpu = NULL;
	is_int(ask_one(6, "1002:74a1", 1, any), 0, "by PCI ids, without the catalogue");
	is_str(picked(), "1-5", "that one again");
}

static void test_memory(void)
{
	size_t i;

	for (i = 0; i < 8; i++)
		put(i, i < 5 ? &l40s : &h100, i < 5 ? 45 : 80, i < 5 ? 0 : 1, 0);
	is_int(ask(8, NULL, 0, (struct choose_request){ .numa = -1, .memory = 160 * GIB }), 0,
	       "160 GiB");
	is_str(picked(), "1-5 1-6", "the fewest GPUs");
	is_int(ask(8, NULL, 0, (struct choose_request){ .numa = -1, .memory = 160 * GIB + 1 }), 0,
	       "a byte more");
	is_int((intmax_t)result.n, 3, "takes one more");
	is_int(ask(8, NULL, 0, (struct choose_request){ .numa = -1, .memory = 40 * GIB }), 0,
	       "40 GiB");
	is_str(picked(), "0-0", "the smallest that does");
	is_int(ask(8, NULL, 0, (struct choose_request){ .numa = -1, .memory = 300 * GIB }), 0,
	       "more than any kind has");
	is_int((intmax_t)result.n, 5, "kinds are mixed at last");
	is_int(ask(8, NULL, 0, (struct choose_request){ .numa = -1, .memory = 1000 * GIB }),
	       -ENOSPC, "more than there is");
	ok(strstr(fault.text, "asked 1000 GiB, free 465 GiB on 8: 5 L40S, 3 H100 PCIe"),
	   "says so: %s", fault.text);
	is_int(ask(8, NULL, 0, (struct choose_request){ .numa = -1, .memory = UINT64_MAX }),
	       -ENOSPC, "no overflow");
}

static void test_memory_on_switch(void)
{
	const struct choose_request one = { .numa = -1, .memory = 200 * GIB, .same_switch = true };
	size_t i;

	/* An H100 and three L40S on each switch: 215 GiB. */
	for (i = 0; i < 8; i++)
		put(i, i % 4 ? &l40s : &h100, i % 4 ? 45 : 80, i / 4, 0);
	is_int(ask(8, NULL, 0, one), 0, "200 GiB on one switch, which no kind has there");
	is_str(picked(), "0-0 0-1 0-2 0-3", "kinds are mixed");
	slots[1].bar = CHOOSE_CLAIMED;
	is_int(ask(8, NULL, 0, one), 0, "when that has less");
	is_str(picked(), "1-4 1-5 1-6 1-7", "the other switch");
	slots[5].bar = CHOOSE_CLAIMED;
	is_int(ask(8, NULL, 0, one), -ENOSPC, "when both have");
	ok(strstr(fault.text, "asked 200 GiB, free 340 GiB on 6: 4 L40S, 2 H100 PCIe; "
			      "one switch has at most 170 GiB (0000:10:00.0)"),
	   "what a switch has is said: %s", fault.text);
	put(1, &h100, 80, 0, 0);
	put(5, &mi300, 75, 1, 0);
	put(6, &mi300, 75, 1, 0);
	put(7, &mi300, 75, 1, 0);
	is_int(ask(8, NULL, 0, (struct choose_request){ .numa = -1, .memory = 260 * GIB }), 0,
	       "260 GiB anywhere, which no kind has");
	is_str(picked(), "1-4 1-5 1-6 1-7", "as few GPUs, and one switch that has them");
}

/* More kinds than there could be sets of. */
static void test_many_kinds(void)
{
	static struct cat_gpu kinds[MAX];
	static char ids[MAX][8];
	size_t i;

	for (i = 0; i < MAX; i++) {
		snprintf(ids[i], sizeof(ids[i]), "kind%zu", i);
		kinds[i] = (struct cat_gpu){ .id = ids[i], .name = ids[i], .brief = ids[i], .vendor = "nvidia" };
		put(i, &kinds[i < 14 ? i : i - 9], 80, i < 14 ? 0 : 1, 0);
	}
	is_int(ask_one(MAX, NULL, 2, any), 0, "two of fourteen kinds");
	is_str(picked(), "0-5 1-14", "are of one kind, wherever they are");
	is_int(ask_one(MAX, NULL, 4, any), 0, "four");
	is_str(picked(), "0-5 0-6 1-14 1-15", "of two kinds");
	is_int(ask_one(MAX, NULL, MAX, any), 0, "all that there are");
	is_int((intmax_t)result.n, MAX, "are had as well");
	is_int(ask_one(MAX, NULL, 9, (struct choose_request){ .numa = -1, .same_switch = true }), 0,
	       "where every set is of many kinds");
	is_int((intmax_t)result.n, 9, "there are some, too");
}

static void test_bars(void)
{
	enum choose_bar bar;
	size_t i;

	for (i = 0; i < 10; i++)
		put(i, &h100, 80, 0, 0);
	for (bar = CHOOSE_FREE; bar < CHOOSE_BARS; bar++)
		slots[bar].bar = bar;
	is_int(ask_one(10, NULL, 3, any), -ENOSPC, "only free slots count");
	ok(strstr(fault.text, "free 2") && strstr(fault.text, "1 in compositions") &&
	   strstr(fault.text, "1 unknown (gpuctl scan)") && strstr(fault.text, "gpuctl show SLOT"),
	   "every reason is told: %s", fault.text);
	is_int(ask_one(10, NULL, 2, any), 0, "those that are free");
	is_str(picked(), "0-0 0-9", "are chosen");
	is_int(ask_one(0, NULL, 1, any), -ENOSPC, "an empty pool");
	ok(strstr(fault.text, "none"), "says none: %s", fault.text);
	is_int(ask(10, NULL, 0, any), -EINVAL, "nothing asked for");
	is_int(ask_one(10, NULL, 1, (struct choose_request){ .numa = -1, .memory = GIB }), -EINVAL,
	       "count and memory");
	is_int(ask_one(10, NULL, 1,
		       (struct choose_request){ .numa = -1, .same_switch = true, .spread = true }),
	       -EINVAL, "same switch and spread");
	slots[0].doubt = 2;
	is_int(ask_one(10, NULL, 1, any), 0, "a doubtful and a certain identity");
	is_str(picked(), "0-9", "certain first");
	ok(strstr(result.why, "identity live"), "and says so: %s", result.why);
	slots[9].moves = true;
	is_int(ask_one(10, NULL, 1, any), 0, "one whose windows have to move first");
	is_str(picked(), "0-0", "comes after those that fit as they are");
}

static void test_wants(void)
{
	static const char *const bad[] = { "",	     ":",	":4", "h100", "h100:",
					   "h100:x", "h100:-1", "4x", "0",    "h100:1000000",
					   "h100:4 " };
	size_t count, i;
	char *word;

	is_int(choose_parse_want("4", &word, &count, &fault), 0, "a count alone");
	ok(!word && count == 4, "four of any");
	is_int(choose_parse_want("nvidia:h100:2", &word, &count, &fault), 0,
	       "vendor, model and count");
	is_str(word, "nvidia:h100", "the word");
	free(word);
	is_int(choose_parse_want("l40s:0", &word, &count, &fault), 0, "a count of 0 excludes");
	free(word);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		fault.text[0] = '\0';
		is_int(choose_parse_want(bad[i], &word, &count, &fault), -EINVAL, "refused");
		ok(*fault.text, "\"%s\": %s", bad[i], fault.text);
	}
}

/* Two groups behind switch 0, one behind switch 1; ports with redirects are groups of one. */
static void test_peers(void)
{
	static const unsigned int groups[] = { 1, 2, 1, 2, 2, 3, 3, 4 };
	const struct choose_request near = { .numa = -1, .p2p = true };
	size_t i;

	for (i = 0; i < 8; i++) {
		put(i, &h100, 80, i < 5 ? 0 : 1, 0);
		slots[i].peers = groups[i];
	}
	is_int(ask_one(8, NULL, 3, near), 0, "three near peers");
	is_str(picked(), "0-1 0-3 0-4", "the group that has three");
	ok(strstr(result.why, ", near peers"), "why: %s", result.why);
	is_int(ask_one(8, NULL, 2, near), 0, "two near peers");
	is_str(picked(), "1-5 1-6", "of the switch that has the fewest left over");
	is_int(ask_one(8, NULL, 4, near), -ENOSPC, "four near peers");
	ok(strstr(fault.text, "near peers are at most 3 "), "says how many there are: %s",
	   fault.text);
	is_int(ask_one(8, NULL, 1, near), 0, "a GPU is near itself");
	is_int(ask_one(8, NULL, 3, any), 0, "three when nothing is required");
	is_str(picked(), "0-1 0-3 0-4", "near peers all the same");
	is_int(ask_one(8, NULL, 5, any), 0, "five when nothing is required");
	is_str(picked(), "0-0 0-1 0-2 0-3 0-4", "one switch before near peers");
	is_int(ask_one(8, NULL, 2, (struct choose_request){ .numa = -1, .p2p = true,
							    .home_peers = 1 }),
	       0, "two more near those that are there");
	is_str(picked(), "0-0 0-2", "of their group");
	is_int(ask_one(8, NULL, 2, (struct choose_request){ .numa = -1, .p2p = true,
							    .spread = true }),
	       -EINVAL, "spread and near contradict each other");
}

static void test_links(void)
{
	size_t i;

	for (i = 0; i < 4; i++) {
		put(i, &h100, 80, 0, 0);
		slots[i].bandwidth = i == 1 ? 8000 * 4 : 32000 * 16;
	}
	is_int(ask_one(4, NULL, 2, any), 0, "two, one link is degraded");
	is_str(picked(), "0-0 0-2", "not that one");
	slots[2].shares = true;
	is_int(ask_one(4, NULL, 2, any), 0, "and one is in another's IOMMU group");
	is_str(picked(), "0-0 0-3", "nor that one");
	slots[0].bandwidth = 0;
	is_int(ask_one(4, NULL, 2, any), 0, "a link of which nothing is known");
	is_str(picked(), "0-0 0-3", "is none that is known to be slow");
}

static void test_shrink(void)
{
	size_t members[] = { 0, 1, 2, 3, 4 }, i;

	for (i = 0; i < 5; i++)
		put(i, &h100, 80, i == 3 ? 1 : 0, 0);
	is_int((intmax_t)choose_shrink(slots, members, 5, 1), 1, "one GPU is one slot");
	is_int((intmax_t)members[0], 3, "the one on another switch goes first");
	is_int((intmax_t)choose_shrink(slots, members, 5, 3), 3, "three are three");
	ok(members[0] == 3 && members[1] == 4 && members[2] == 2, "then the last ones: %zu %zu %zu",
	   members[0], members[1], members[2]);
}

/* Cards with several GPUs: @gpus of each slot, all of one kind on one switch. */
static void put_cards(const char *gpus)
{
	size_t i;

	for (i = 0; gpus[i]; i++) {
		put(i, &h100, 80, 0, 0);
		slots[i].gpus = (unsigned int)(gpus[i] - '0');
	}
}

static const struct {
	const char *gpus;
	size_t count;
	const char *picked;	/* NULL: cannot be had */
	const char *why;
} cards[] = {
	{ "211", 1, "0-1", "one GPU is not taken of a card with two" },
	{ "211", 2, "0-1 0-2", "two are had without waste" },
	{ "21", 2, "0-0", "as is one card for two" },
	{ "211", 3, "0-0 0-1", "three are a card with two and one more" },
	{ "211", 4, "0-0 0-1 0-2", "all of them count" },
	{ "211", 5, NULL, "more than there are cannot be had" },
	{ "22", 3, "0-0 0-1", "where nothing fits exactly some are left over" },
	{ "24", 1, "0-0", "then as few as can be" },
	{ "4211", 4, "0-1 0-2 0-3", "the smallest cards that add up" },
	{ "442", 6, "0-0 0-2", "what is not needed is left" },
	{ "4", 1, "0-0", "one card is better than nothing" },
};

static void test_cards(void)
{
	const struct choose_request memory = { .numa = -1, .memory = 300 * GIB };
	size_t members[] = { 0, 1, 2, 3 }, i;

	for (i = 0; i < sizeof(cards) / sizeof(cards[0]); i++) {
		bool can;

		put_cards(cards[i].gpus);
		can = !ask_one(strlen(cards[i].gpus), NULL, cards[i].count, any);
		ok(can == !!cards[i].picked && (!can || !strcmp(picked(), cards[i].picked)), "%zu of %s: %s: %s",
		   cards[i].count, cards[i].gpus, cards[i].why, can ? picked() : "-");
	}
	put_cards("211");
	is_int(ask(3, NULL, 0, memory), 0, "memory of all GPUs of a card counts");
	is_str(picked(), "0-0 0-1 0-2", "four GPUs have it");
	ok(strstr(result.why, "4 of 4 free H100 PCIe"), "which is said: %s", result.why);
	is_int(ask_one(3, NULL, 5, any), -ENOSPC, "five there are not");
	ok(strstr(fault.text, "asked 5, free 4: 4 H100 PCIe"), "and GPUs are counted: %s", fault.text);

	put_cards("2114");
	is_int((intmax_t)choose_shrink(slots, members, 4, 2), 2, "two GPUs are given back");
	ok(members[0] == 2 && members[1] == 1, "by the last slots that add up: %zu %zu", members[0], members[1]);
	put_cards("2242");
	for (i = 0; i < 4; i++)
		members[i] = i;
	is_int((intmax_t)choose_shrink(slots, members, 4, 6), 2, "six are two slots");
	ok(members[0] == 3 && members[1] == 2, "%zu and %zu", members[0], members[1]);
	is_int((intmax_t)choose_shrink(slots, members, 4, 3), 0, "three cannot be given back: cards go whole");
}

/* Number of different values among the chosen. */
static unsigned int kinds_of(unsigned int set, size_t n, int what)
{
	unsigned int count = 0;
	size_t i, j;

	for (i = 0; i < n; i++) {
		if (!(set & 1u << i))
			continue;
		for (j = 0; j < i; j++)
			if ((set & 1u << j) &&
			    (what == 'k'   ? slots[i].gpu == slots[j].gpu
			     : what == 'n' ? slots[i].numa == slots[j].numa
					   : slots[i].switch_id == slots[j].switch_id))
				break;
		count += j == i;
	}
	return count;
}

/*
 * Groups: a letter a slot, '-' for none, upper case for one that somebody has; @on is the
 * switch of each.
 */
static const struct {
	const char *groups;
	const char *on;
	size_t count;
	const char *picked;
	const char *why;
} whole[] = {
	{ "aaaabb", "000000", 2, "0-4 0-5", "two are the pair, and the four stay whole" },
	{ "aaaabb", "000000", 4, "0-0 0-1 0-2 0-3", "four are the four" },
	{ "aaaabb", "000000", 6, "0-0 0-1 0-2 0-3 0-4 0-5", "six are both" },
	{ "aabb-", "00000", 1, "0-4", "one is the slot without a group" },
	{ "aabb-", "00000", 3, "0-0 0-1 0-4", "three are a pair and that" },
	{ "aaBbaa", "000000", 1, "0-3", "one is what is left of a group" },
	{ "aabbcc", "001122", 4, "0-0 0-1 1-2 1-3", "two pairs of one NUMA node" },
	{ "-aa-", "0011", 2, "0-1 1-2", "a whole group rather than one switch" },
	{ "aabbaa", "000000", 3, "0-0 0-1 0-4", "three are of one group" },
	{ "aaa-b", "00000", 2, "0-3 0-4", "no group is broken where two stand alone" },
	{ "aaabb", "00000", 5, "0-0 0-1 0-2 0-3 0-4", "whole groups add up" },
	{ "aaabbccc", "00000000", 5, "0-0 0-1 0-2 0-3 0-4", "not two halves" },
};

static void put_groups(const char *groups, const char *on)
{
	static const char *const names_of[] = { "nvl-a", "nvl-b", "nvl-c", "nvl-d" };
	size_t i;

	for (i = 0; groups[i]; i++) {
		bool held = groups[i] >= 'A' && groups[i] <= 'Z';

		put(i, &h100, 80, (uint32_t)(on[i] - '0'), on[i] > '1');
		slots[i].group = groups[i] == '-' ? NULL :
						    names_of[groups[i] - (held ? 'A' : 'a')];
		slots[i].bar = held ? CHOOSE_CLAIMED : CHOOSE_FREE;
	}
}

static void test_groups(void)
{
	size_t i;

	for (i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		size_t n = strlen(whole[i].groups);

		put_groups(whole[i].groups, whole[i].on);
		ok(!ask_one(n, NULL, whole[i].count, any), "%zu of %s", whole[i].count,
		   whole[i].groups);
		is_str(picked(), whole[i].picked, whole[i].why);
	}
	put_groups("aaaabb", "000000");
	ask_one(6, NULL, 4, any);
	ok(strstr(result.why, "; whole group nvl-a;"), "why: %s", result.why);
	ask_one(6, NULL, 5, any);
	ok(strstr(result.why, "; whole group nvl-a; 1 of 2 of group nvl-b;"), "why: %s", result.why);
	is_int(ask_one(6, NULL, 4, (struct choose_request){ .numa = -1, .spread = true }), 0,
	       "spread");
	is_int((intmax_t)result.n, 4, "takes no notice of groups");
	put_groups("-aa--bb", "0000111");
	is_int(ask_one(7, NULL, 4, any), 0, "two whole groups");
	is_str(picked(), "0-1 0-2 1-5 1-6", "are on two switches");
	is_int(ask_one(7, NULL, 4, (struct choose_request){ .numa = -1, .same_switch = true }), 0,
	       "the same switch");
	is_str(picked(), "0-0 0-1 0-2 0-3", "comes before groups");
}

/*
 * More for a composition that has the GPUs of capital letters from A to C: what others have is of D. Switches are
 * as in put_groups().
 */
static const struct {
	const char *groups, *on;
	size_t count;
	const char *picked, *why;
} grown[] = {
	{ "A-a", "000", 1, "0-2", "one of its group" },
	{ "Aa-", "010", 1, "1-1", "on whatever switch" },
	{ "Adda-D", "000000", 1, "0-3", "its group before one that is broken" },
	{ "Abbaa", "00000", 2, "0-3 0-4", "what is left of its group is nearer than a whole one" },
	{ "Abba-", "00110", 3, "0-1 1-2 1-3", "a whole group beside it" },
	{ "AaBb--", "001100", 2, "0-1 1-3", "each of its groups" },
	{ "-A--", "0000", 2, "0-0 0-2", "whose group has no more gets others" },
};

static void test_grown(void)
{
	static const char *const home[] = { "nvl-a", "nvl-b", "nvl-c" };
	size_t i, j;

	for (i = 0; i < sizeof(grown) / sizeof(grown[0]); i++) {
		struct choose_request more = { .numa = -1, .n_home = 1 };
		const char *of[3];

		put_groups(grown[i].groups, grown[i].on);
		for (j = 0; j < 3; j++)
			if (strchr(grown[i].groups, (int)('A' + j)))
				of[more.n_home_groups++] = home[j];
		more.home_groups = of;
		more.home = &(struct choose_home){ 0, 0, NULL };
		ok(!ask_one(strlen(grown[i].groups), NULL, grown[i].count, more), "%zu more of %s", grown[i].count,
		   grown[i].groups);
		is_str(picked(), grown[i].picked, grown[i].why);
	}
}

static void test_shrunk(void)
{
	size_t members[] = { 0, 1, 2, 3, 4 };

	put_groups("baaba", "00000");
	is_int((intmax_t)choose_shrink(slots, members, 5, 2), 2, "two GPUs of two groups are given back");
	ok(members[0] == 3 && members[1] == 0, "those of the smaller group: %zu %zu", members[0], members[1]);
	put_groups("a-aaa", "00011");
	is_int((intmax_t)choose_shrink(slots, members, 5, 1), 1, "one of a group and one that stands alone");
	is_int((intmax_t)members[0], 1, "this one goes, wherever the others are");
}

/* Groups that are free but for a part of them, which @set takes. */
static unsigned int broken_by(unsigned int set, size_t n)
{
	unsigned int broken = 0;
	size_t i, j;

	for (i = 0; i < n; i++) {
		bool all = true, none = true, free_all = true, first = true;

		for (j = 0; j < n && slots[i].group; j++) {
			if (slots[j].group != slots[i].group)
				continue;
			first &= j >= i;
			free_all &= slots[j].bar == CHOOSE_FREE;
			all &= !!(set & 1u << j);
			none &= !(set & 1u << j);
		}
		broken += slots[i].group && first && free_all && !all && !none;
	}
	return broken;
}

static unsigned int parts_of(unsigned int set, size_t n)
{
	unsigned int parts = 0;
	size_t i, j;

	for (i = 0; i < n; i++) {
		for (j = 0; j < i && !(set & 1u << j && slots[i].group &&
				       slots[j].group == slots[i].group);)
			j++;
		parts += (set & 1u << i) && j == i;
	}
	return parts;
}

static unsigned int score(unsigned int set, size_t n)
{
	return kinds_of(set, n, 'k') << 16 | kinds_of(set, n, 'n') << 8 | kinds_of(set, n, 's');
}

static unsigned int next_random(unsigned int *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 16 & 0x7fff;
}

static void test_against_search(void)
{
	const struct cat_gpu *const gpus[] = { &h100, &l40s, &mi300 };
	unsigned int seed = 42, round, wrong = 0, missed = 0;

	for (round = 0; round < 2000; round++) {
		size_t n = 2 + next_random(&seed) % 9, count = 1 + next_random(&seed) % 5, i;
		unsigned int best = UINT32_MAX, set, chosen = 0;
		int err;

		for (i = 0; i < n; i++) {
			uint32_t sw = next_random(&seed) % 4;

			put(i, gpus[next_random(&seed) % 3], 80, sw, sw < 2 ? 0 : 1);
			slots[i].bar = next_random(&seed) % 5 ? CHOOSE_FREE : CHOOSE_CLAIMED;
		}
		for (set = 1; set < 1u << n; set++) {
			bool free_all = (size_t)__builtin_popcount(set) == count;

			for (i = 0; i < n && free_all; i++)
				free_all = !(set & 1u << i) || slots[i].bar == CHOOSE_FREE;
			if (free_all && score(set, n) < best)
				best = score(set, n);
		}
		err = ask_one(n, NULL, count, any);
		for (i = 0; i < result.n; i++)
			chosen |= 1u << result.picked[i];
		missed += (err == 0) != (best != UINT32_MAX);
		if (err || best == UINT32_MAX)
			continue;
		wrong += (size_t)__builtin_popcount(chosen) != count || score(chosen, n) != best;
	}
	tap_counted("choose.fabrics", round);
	is_int(missed, 0, "2,000 random pools: a set is found when there is one");
	is_int(wrong, 0,
	       "2,000 random pools: kinds, nodes and switches as few as an exhaustive search finds");
}

static void test_groups_against_search(void)
{
	unsigned int seed = 7, round, broken = 0, parted = 0;

	for (round = 0; round < 2000; round++) {
		size_t n = 2 + next_random(&seed) % 9, count = 1 + next_random(&seed) % 6, i;
		unsigned int best = UINT32_MAX, set, chosen = 0, worth;
		char groups[MAX] = "", on[MAX] = "";

		for (i = 0; i < n; i++) {
			groups[i] = "aabbccdd-A"[next_random(&seed) % 10];
			on[i] = (char)('0' + next_random(&seed) % 3);
		}
		put_groups(groups, on);
		for (set = 1; set < 1u << n; set++) {
			bool can = (size_t)__builtin_popcount(set) == count;

			for (i = 0; i < n && can; i++)
				can = !(set & 1u << i) || slots[i].bar == CHOOSE_FREE;
			worth = broken_by(set, n) << 8 | parts_of(set, n);
			if (can && worth < best)
				best = worth;
		}
		if (ask_one(n, NULL, count, any))
			continue;
		for (i = 0; i < result.n; i++)
			chosen |= 1u << result.picked[i];
		broken += broken_by(chosen, n) != best >> 8;
		parted += broken_by(chosen, n) == best >> 8 && parts_of(chosen, n) != (best & 255);
	}
	tap_counted("choose.groups", round);
	is_int(broken, 0, "2,000 random pools with groups: as few are broken as an exhaustive search finds");
	is_int(parted, 0, "and the GPUs are in as few parts");
}

int main(void)
{
	test_places();
	test_dirty();
	test_kinds();
	test_memory();
	test_memory_on_switch();
	test_many_kinds();
	test_bars();
	test_wants();
	test_shrink();
	test_cards();
	test_peers();
	test_links();
	test_groups();
	test_grown();
	test_shrunk();
	test_against_search();
	test_groups_against_search();
	choose_result_free(&result);
	return tap_done();
}
