// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/choose/want.c ctl/choose/choose.c ctl/choose/score.c ctl/choose/groups.c ctl/choose/match.c ctl/choose/shrink.c ctl/choose/explain.c ctl/base/text.c ctl/host/topo.c ctl/module/model.c ctl/module/state.c ctl/module/object.c ctl/module/netlink_gen.c ctl/catalogue/catalogue.c ctl/catalogue/engine.c ctl/base/conf.c ctl/base/fault.c ctl/catalogue/gpu.c ctl/catalogue/gpu_find.c ctl/catalogue/model.c ctl/catalogue/model_find.c ctl/catalogue/load.c ctl/base/conf_dir.c ctl/catalogue/build.c ctl/catalogue/expr.c ctl/catalogue/family.c ctl/catalogue/family_check.c
/*
 * Requests for GPUs: words as "nvidia:h100:4", and the choice from a fabric of
 * which the first part of the input says what each slot is.
 */
#include <errno.h>

#include "catalogue/catalogue.h"
#include "choose/choose.h"
#include "fuzz.h"

#define SLOTS_MAX 24
#define WANTS_MAX 4

static struct catalogue catalogue;

static void make_slots(struct choose_slot *slots, size_t n, const uint8_t *data)
{
	static const char *const names[] = { "0-0", "0-1", "1-0", "sim0-3", "101", "102" };
	static const char *const paths[] = { NULL, "/sys/a", "/sys/a/b", "/sys/c/d/e" };
	size_t i;

	for (i = 0; i < n; i++) {
		const struct cat_gpu *gpu = &catalogue.gpus[data[i] % catalogue.n_gpus];

		memset(&slots[i], 0, sizeof(slots[i]));
		slots[i].name = names[i % 6];
		slots[i].id = (uint32_t)i + 1;
		slots[i].kind = data[i] & 1 ? gpu->brief : "10de:2331";
		slots[i].gpu = data[i] & 1 ? gpu : NULL;
		slots[i].vendor = data[i] & 2 ? 0x10de : 0x1002;
		slots[i].device = (uint16_t)(0x2300 + data[i]);
		slots[i].gpus = data[i] % 11 == 10 ? 1 + data[i] % 4 : 1;
		slots[i].memory = (uint64_t)(data[i] & 0x70) << 30;
		slots[i].switch_id = data[i] >> 6;
		slots[i].switch_name = "0000:00:01.0";
		slots[i].numa = (int)(data[i] >> 5 & 1) - (data[i] % 5 == 0);
		slots[i].path = paths[data[i] >> 3 & 3];
		slots[i].doubt = data[i] % 3;
		slots[i].ready = data[i] & 4;
		slots[i].bar = data[i] % 7 == 6 ? (enum choose_bar)(data[i] % CHOOSE_BARS) : CHOOSE_FREE;
	}
}

/* What was chosen is free, chosen once, and has as many GPUs as were wanted; each slot is needed. */
static void check_result(const struct choose_slot *slots, size_t n, const struct choose_request *request,
			 const struct choose_result *result)
{
	size_t wanted = 0, gpus = choose_gpus(slots, result->picked, result->n), i;

	must(result->n > 0 && result->n <= n);
	must(result->why && fuzz_is_line(result->why));
	for (i = 0; i < result->n; i++) {
		must(result->picked[i] < n);
		must(slots[result->picked[i]].bar == CHOOSE_FREE);
		must(!i || result->picked[i] > result->picked[i - 1]);
	}
	for (i = 0; i < request->n_wants; i++)
		wanted += request->wants[i].count;
	must(!wanted || request->memory || gpus >= wanted);
	for (i = 0; request->n_wants == 1 && !request->memory && i < result->n; i++)
		must(gpus - slots[result->picked[i]].gpus < wanted);
	for (i = 1; request->same_switch && i < result->n; i++)
		must(slots[result->picked[i]].switch_id == slots[result->picked[0]].switch_id);
}

static void run(const struct choose_slot *slots, size_t n, const struct choose_request *request)
{
	struct choose_result result = { 0 };
	struct fault fault = { "" };
	int err = choose(slots, n, request, &result, &fault);

	must(!err || err == -ENOSPC || err == -EINVAL);
	if (err) {
		must(fuzz_is_line(fault.text));
		return;
	}
	check_result(slots, n, request, &result);
	choose_result_free(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct choose_slot slots[SLOTS_MAX];
	struct choose_want wants[WANTS_MAX];
	struct choose_request request = { .wants = wants, .numa = -1 };
	struct fuzz_parts parts = { data, size };
	size_t n, how, i;
	const uint8_t *fabric = fuzz_part(&parts, &n), *flags = fuzz_part(&parts, &how);
	struct fault fault = { "" };
	char *words[WANTS_MAX] = { NULL };

	if (!catalogue.n_gpus)
		must(!catalogue_load(&catalogue, "ctl/catalogue", NULL, &fault));
	n = n < SLOTS_MAX ? n : SLOTS_MAX;
	make_slots(slots, n, fabric);
	for (i = 0; i < WANTS_MAX && parts.size; i++) {
		char *text = fuzz_part_text(&parts);
		size_t count;

		if (choose_parse_want(text, &words[i], &count, &fault)) {
			must(fuzz_is_line(fault.text));
			must(!words[i]);
		} else {
			must(count <= 512);
			wants[request.n_wants++] = (struct choose_want){ .word = words[i], .count = count };
		}
		free(text);
	}
	if (how) {
		request.memory = flags[0] & 0x0f ? (uint64_t)flags[0] << 32 : 0;
		request.same_switch = flags[0] & 0x10;
		request.spread = flags[0] & 0x20;
		request.numa = flags[0] & 0x40 ? 1 : -1;
	}
	if (n && (request.n_wants || request.memory))
		run(slots, n, &request);
	free(choose_pool(slots, n));
	for (i = 0; i < WANTS_MAX; i++)
		free(words[i]);
	return 0;
}
