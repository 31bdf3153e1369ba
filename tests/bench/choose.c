// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/choose/choose.c ctl/choose/score.c ctl/choose/groups.c ctl/choose/match.c ctl/choose/shrink.c ctl/choose/explain.c ctl/choose/want.c ctl/host/topo.c ctl/base/text.c ctl/catalogue/gpu.c ctl/catalogue/gpu_find.c ctl/base/conf.c ctl/base/fault.c
/*
 * How long a choice takes: so many GPUs of 64 to 4,096 slots with every preference in play: 16
 * slots to a switch, three kinds, two nodes, some ports that redirect, some links
 * degraded, a third taken. Prints one JSON object.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/text.h"
#include "choose/choose.h"

#define PER_SWITCH 16
#define ROUNDS 21

static unsigned int next_random(unsigned int *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 16 & 0x7fff;
}

static struct choose_slot *fabric(size_t n)
{
	static struct cat_gpu gpus[] = {
		{ .id = "h100-pcie-80", .name = "H100 PCIe 80GB", .brief = "H100 PCIe" },
		{ .id = "l40s", .name = "L40S", .brief = "L40S" },
		{ .id = "mi300x", .name = "MI300X", .brief = "MI300X" },
	};
	static const uint64_t memory[] = { 80ull << 30, 48ull << 30, 192ull << 30 };
	struct choose_slot *slots = mem_zalloc(n, sizeof(*slots));
	unsigned int seed = 1, group = 0, groups = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		uint32_t sw = (uint32_t)(i / PER_SWITCH);
		unsigned int kind = next_random(&seed) % 3;

		slots[i] = (struct choose_slot){
			.gpus = 1,
			.name = mem_printf("%u-%zu", sw, i % PER_SWITCH),
			.id = (uint32_t)i + 1,
			.kind = gpus[kind].brief,
			.gpu = &gpus[kind],
			.memory = memory[kind],
			.switch_id = sw,
			.switch_name = mem_printf("%04x:10:00.0", sw),
			.numa = (int)(sw % 2),
			.path = mem_printf("pci%04x:00/%04x:00:01.0/%04x:01:00.0/%04x:02:%02zx.0",
					   sw, sw, sw, sw, i % PER_SWITCH),
			.bandwidth = next_random(&seed) % 50 ? 32000 * 16 : 16000 * 8,
			.doubt = next_random(&seed) % 2,
			.ready = next_random(&seed) % 4 == 0,
			.bar = next_random(&seed) % 3 ? CHOOSE_FREE : CHOOSE_CLAIMED,
		};
		if (i % PER_SWITCH == 0)
			group = ++groups;
		slots[i].peers = next_random(&seed) % 20 ? group : ++groups;
	}
	return slots;
}

static double milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
	double da = *(const double *)a, db = *(const double *)b;

	return (da > db) - (da < db);
}

static double median(const struct choose_slot *slots, size_t n, struct choose_request request)
{
	const struct choose_want want = { .count = 16 };
	double took[ROUNDS];
	size_t i;

	request.wants = &want;
	request.n_wants = 1;
	for (i = 0; i < ROUNDS; i++) {
		struct choose_result result;
		struct fault fault = { "" };
		double began = milliseconds();

		choose(slots, n, &request, &result, &fault);
		took[i] = milliseconds() - began;
		choose_result_free(&result);
	}
	qsort(took, ROUNDS, sizeof(*took), compare);
	return took[ROUNDS / 2];
}

int main(void)
{
	static const size_t sizes[] = { 64, 256, 1024, 4096 };
	size_t i, j;

	printf("{\"gpus\": 16, \"unit\": \"ms\", \"choices\": [");
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t n = sizes[i];
		struct choose_slot *slots = fabric(n);

		printf("%s\n  {\"slots\": %zu, \"any\": %.2f, \"numa\": %.2f, \"spread\": %.2f, \"p2p\": %.2f}",
		       i ? "," : "", n, median(slots, n, (struct choose_request){ .numa = -1 }),
		       median(slots, n, (struct choose_request){ .numa = 1 }),
		       median(slots, n, (struct choose_request){ .numa = -1, .spread = true }),
		       median(slots, n, (struct choose_request){ .numa = -1, .p2p = true }));
		for (j = 0; j < n; j++) {
			free((char *)slots[j].name);
			free((char *)slots[j].switch_name);
			free((char *)slots[j].path);
		}
		free(slots);
	}
	printf("\n]}\n");
	return 0;
}
