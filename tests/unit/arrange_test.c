// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/choose/arrange.c ctl/choose/choose.c ctl/choose/score.c ctl/choose/groups.c ctl/choose/match.c ctl/choose/explain.c ctl/choose/want.c ctl/choose/tenant.c ctl/host/topo.c ctl/base/text.c ctl/size/limit.c ctl/size/layouts.c ctl/size/need.c ctl/size/physics.c ctl/size/step.c ctl/size/explain.c ctl/size/speed.c ctl/size/fit.c ctl/size/formula.c ctl/size/rules.c ctl/size/params.c ctl/size/kv.c ctl/size/weights.c ctl/base/units.c ctl/catalogue/catalogue.c ctl/catalogue/engine.c ctl/base/conf.c ctl/base/fault.c ctl/catalogue/gpu.c ctl/catalogue/gpu_find.c ctl/catalogue/model.c ctl/catalogue/model_find.c ctl/catalogue/load.c ctl/base/conf_dir.c ctl/catalogue/build.c ctl/catalogue/expr.c ctl/catalogue/family.c ctl/catalogue/family_check.c
/*
 * From a workload to slots: each limit that can decide is told as such, with what was passed
 * over for it; and over the catalogue nothing is taken that does not hold the workload or splits what
 * cannot be split.
 */
#include <errno.h>
#include <stdlib.h>

#include "catalogue/catalogue.h"
#include "choose/arrange.h"
#include "choose/tenant.h"
#include "size/machines.h"
#include "tap.h"

#define MAX 32

static struct catalogue cat;
static struct choose_slot slots[MAX];
static char names[MAX][16];
static size_t n_slots;

static struct choose_result result;
static struct arrangement arrangement;
static struct fault fault;
static size_t room = ARRANGE_NO_LIMIT;
static bool mixed;

static void put(const char *name, size_t count)
{
	const struct cat_gpu *gpu = NULL;
	enum gpu_trust trust;
	struct fault f = { "" };

	if (cat_gpu_find(cat.gpus, cat.n_gpus, name, &gpu, &f))
		printf("# %s\n", f.text);
	for (; count--; n_slots++) {
		snprintf(names[n_slots], sizeof(names[n_slots]), "s%zu", n_slots);
		slots[n_slots] = (struct choose_slot){
			.gpus = 1,
			.name = names[n_slots],
			.id = (uint32_t)n_slots + 1,
			.kind = gpu->brief,
			.gpu = gpu,
			.memory = cat_gpu_memory_mib(gpu, &trust) << 20,
			.switch_name = "0000:10:00.0",
		};
	}
}

static struct size_request workload(const char *name, enum size_task task)
{
	struct size_request req;
	struct fault f = { "" };

	size_request_init(&req);
	req.task = task;
	if (cat_model_find(cat.models, cat.n_models, name, &req.model, &f))
		printf("# %s\n", f.text);
	req.engine = &engine_generic;
	return req;
}

static int ask(struct size_request req, const struct choose_want *wants, size_t n_wants)
{
	const struct choose_request choose = { .wants = wants, .n_wants = n_wants, .numa = -1 };
	const struct arrange_request request = {
		.size = &req, .choose = &choose, .mixed = mixed, .room = room, .tenant = "ml",
	};
	struct fault f = { "" };

	choose_result_free(&result);
	arrangement_free(&arrangement);
	fault.text[0] = '\0';
	if (!ok(!size_request_check(&req, &f), "a workload %s", f.text))
		return -EINVAL;
	return arrange(slots, n_slots, &request, &result, &arrangement, &fault);
}

static void decided(const char *kind, unsigned int gpus, enum size_limit limit, const char *words)
{
	is_int((intmax_t)result.n, gpus, "so many GPUs");
	is_int(arrangement.choice.fit.gpus, gpus, "as the size says");
	if (result.n)
		is_str(slots[result.picked[0]].kind, kind, "of this kind");
	is_str(size_limit_names[arrangement.limit], size_limit_names[limit], "what decided");
	ok(arrangement.why && strstr(arrangement.why, words), "why: %s",
	   arrangement.why ? arrangement.why : "-");
}

static void by_memory(void)
{
	struct size_request small = workload("llama-3.1-8b", SIZE_INFER);
	struct size_request large = workload("llama-3.1-70b", SIZE_INFER);

	n_slots = 0;
	put("h100-80", 8);
	put("l40s", 8);
	is_int(ask(small, NULL, 0), 0, "8B");
	decided("L40S", 1, LIMIT_MEMORY, "decided by memory: one GPU has it");
	large.batch = 16;
	is_int(ask(large, NULL, 0), 0, "70B");
	decided("H100 PCIe", 4, LIMIT_MEMORY, "decided by memory: on 3 each would have to hold");
	ok(strstr(arrangement.why, "tensor parallel 4, 68.0 GiB of 79.6 GiB a GPU at P95"),
	   "with the figures: %s", arrangement.why);
	n_slots = 0;
	put("a10", 1);
	large.pp = 1;
	large.context = 1 << 20;
	large.batch = 1024;
	is_int(ask(large, NULL, 0), -ENOSPC, "what nothing holds");
	ok(strstr(fault.text, "decided by memory"), "says so: %s", fault.text);
}

static void by_heads(void)
{
	struct size_request odd = workload("gpt2-xl", SIZE_INFER);

	/* 25 heads: only five GPUs can share a layer, and stages each need all of a prefill. */
	n_slots = 0;
	put("a10", 8);
	odd.context = 1024;
	odd.batch = 64;
	is_int(ask(odd, NULL, 0), 0, "25 heads");
	is_int(arrangement.choice.fit.layout.tp, 1, "no tensor parallel degree");
	decided("A10", 2, LIMIT_MEMORY, "on 1 each would have to hold");
	odd.batch = 256;
	is_int(ask(odd, NULL, 0), 0, "and more sequences");
	decided("A10", 8, LIMIT_HEADS, "7 would have the memory, but do not divide the 25 heads");
}

static void by_power(void)
{
	struct size_request train = workload("mistral-7b", SIZE_TRAIN);
	unsigned int gpus;

	n_slots = 0;
	put("l40s", 16);
	is_int(ask(train, NULL, 0), 0, "training");
	decided("L40S", 7, LIMIT_MEMORY, "decided by memory: on 6 each would have to hold");
	train.round = SIZE_ROUND_POW2;
	is_int(ask(train, NULL, 0), 0, "training");
	gpus = arrangement.choice.fit.gpus;
	ok(gpus && !(gpus & (gpus - 1)), "%u GPUs are a power of two", gpus);
	decided("L40S", 8, LIMIT_POWER, "7 would have the memory, but are no power of two");
}

static void by_pool(void)
{
	struct size_request large = workload("llama-3.1-70b", SIZE_INFER);

	n_slots = 0;
	put("h200", 2);
	put("h100-80", 8);
	large.batch = 16;
	is_int(ask(large, NULL, 0), 0, "both kinds are free");
	decided("H200 NVL", 2, LIMIT_MEMORY, "decided by memory");
	slots[0].bar = CHOOSE_CLAIMED;
	is_int(ask(large, NULL, 0), 0, "one of the better kind is held");
	decided("H100 PCIe", 4, LIMIT_POOL, "decided by pool: 2 x H200 NVL would do, 1 free");
	n_slots = 4;
	is_int(ask(large, NULL, 0), -ENOSPC, "nor are there enough others");
	ok(strstr(fault.text,
		  "decided by pool: the workload needs 2 x H200 NVL, or 4 x H100 PCIe; free: 2 H100 PCIe, 1 H200 NVL"),
	   "says what would do: %s", fault.text);
}

static void by_tenant(void)
{
	struct size_request large = workload("llama-3.1-70b", SIZE_INFER);
	const char *text = "[ml]\nlimit = 3\n[others]\nguarantee = 6\n";
	struct tenants tenants = { 0 };
	struct fault f = { "" };

	n_slots = 0;
	put("h100-80", 8);
	large.batch = 16;
	is_int(tenants_parse(&tenants, "t.conf", text, strlen(text), &f), 0, "two tenants");
	is_int((intmax_t)tenants_room(&tenants, "ml", 8), 2, "a guarantee of others is left");
	is_int((intmax_t)tenants_room(&tenants, "ml", 20), 3, "a limit is not passed");
	is_int((intmax_t)tenants_room(&tenants, "others", 8), 8, "no limit, no guarantee of others");
	room = tenants_room(&tenants, "ml", 8);
	is_int(ask(large, NULL, 0), -EDQUOT, "more than the tenant may have");
	ok(strstr(fault.text,
		  "decided by tenant: ml may have 2 more GPUs, the workload needs 4 x H100 PCIe"),
	   "says who and how many: %s", fault.text);
	room = 4;
	is_int(ask(large, NULL, 0), 0, "just as many");
	decided("H100 PCIe", 4, LIMIT_MEMORY, "decided by memory");
	room = ARRANGE_NO_LIMIT;
	tenants_free(&tenants);
}

static void by_request(void)
{
	const struct choose_want four = { .count = 4 }, three = { .count = 3 };
	const struct choose_want one = { .count = 1 }, amd = { .word = "amd", .count = 1 };
	const struct choose_want both[] = { { "h100-80", 2, NULL }, { "l40s", 2, NULL } };
	const struct choose_want without = { "h100-80", 0, NULL };
	struct size_request large = workload("llama-3.1-70b", SIZE_INFER);
	struct size_request small = workload("llama-3.1-8b", SIZE_INFER);

	n_slots = 0;
	put("l40s", 8);
	put("h100-80", 8);
	large.batch = 16;
	is_int(ask(large, &four, 1), 0, "four GPUs");
	decided("H100 PCIe", 4, LIMIT_COUNT, "decided by count: the request is for 4");
	large.batch = 1;
	is_int(ask(large, &three, 1), 0, "three GPUs");
	is_int(arrangement.choice.fit.layout.pp, 3, "have a third of the layers each");
	large.pp = 1;
	is_int(ask(large, &three, 1), -ENOSPC, "three GPUs that share every layer");
	ok(strstr(fault.text, "decided by count: 3 GPUs do not hold this workload, and 3 do not divide its 64 heads"),
	   "says what is in the way: %s", fault.text);
	is_int(ask(large, &one, 1), -ENOSPC, "one GPU");
	ok(strstr(fault.text, "1 GPU does not hold"), "says so: %s", fault.text);
	is_int(ask(small, &amd, 1), -ENOSPC, "of a vendor that is not there");
	is_int(ask(small, &three, 1), 0, "three GPUs for what one holds");
	is_int(arrangement.choice.fit.replicas * arrangement.choice.fit.layout.gpus, 3, "all are used");
	is_int(ask(small, &without, 1), 0, "a kind is left out");
	decided("L40S", 1, LIMIT_MEMORY, "one GPU has it");
	is_int(ask(small, both, 2), 0, "two kinds by name");
	ok(strstr(arrangement.why, "of the smallest, L40S"), "the smallest counts: %s",
	   arrangement.why);
	large.pp = 0;
	large.tp = 8;
	is_int(ask(large, NULL, 0), 0, "--tp 8");
	decided("L40S", 8, LIMIT_DEGREES, "decided by degrees");
	small.dp = 3;
	is_int(ask(small, NULL, 0), 0, "three replicas");
	is_int(arrangement.choice.fit.replicas, 3, "are three");
	is_int((intmax_t)result.n, 3, "on a GPU each");
}

static void several_kinds(void)
{
	struct size_request large = workload("llama-3.1-70b", SIZE_INFER);
	size_t i;

	n_slots = 0;
	put("h100-80", 2);
	put("a100-80", 2);
	put("l40s", 1);
	large.batch = 16;
	is_int(ask(large, NULL, 0), -ENOSPC, "kinds are not mixed unasked");
	mixed = true;
	is_int(ask(large, NULL, 0), 0, "when asked they are");
	is_int((intmax_t)result.n, 4, "four");
	for (i = 0; i < result.n; i++)
		ok(strcmp(slots[result.picked[i]].kind, "L40S"), "none that is too small");
	is_str(size_limit_names[arrangement.limit], "pool", "what decided");
	n_slots = 2;
	put("mi300x", 2);
	is_int(ask(large, NULL, 0), 0, "two GPUs of one vendor are enough");
	is_int((intmax_t)result.n, 2, "two");
	is_str(slots[result.picked[0]].kind, slots[result.picked[1]].kind, "of one kind");
	mixed = false;
}

/* Whatever the catalogue has: what is chosen holds the workload and can be split. */
static void all_models(void)
{
	size_t i, k, chosen = 0, bad = 0;
	int task;

	for (i = 0; i < cat.n_models; i++) {
		for (k = 0; k < cat.n_gpus; k++) {
			enum gpu_trust trust;
			uint64_t memory = cat_gpu_memory_mib(&cat.gpus[k], &trust) << 20;

			for (task = 0; memory && task < SIZE_TASKS; task++) {
				struct size_request req = workload(cat.models[i].id, task);
				struct size_choice c;
				struct fault f = { "" };

				if (size_request_check(&req, &f))
					continue;
				size_choose(&req, memory, &c);
				if (!c.fit.gpus)
					continue;
				chosen++;
				bad += c.fit.per_gpu > c.fit.usable ||
				       !size_tp_divides(req.model, c.fit.layout.tp) ||
				       (task == SIZE_INFER &&
					c.fit.layout.tp * c.fit.layout.pp != c.fit.layout.gpus) ||
				       (c.fewer && c.limit == LIMIT_MEMORY &&
					c.fewer_bytes <= c.fit.usable);
			}
		}
	}
	ok(chosen > 1000, "%zu arrangements", chosen);
	is_int((intmax_t)bad, 0, "none of them is wrong");
}

/* Libraries take less on an A100 than on newer GPUs: compose counts as size does. */
static void by_capability(void)
{
	struct size_request train = workload("mistral-7b", SIZE_TRAIN);
	struct fault f = { "" };
	struct size_fit fit;

	ok(!engine_find(cat.engines, cat.n_engines, "megatron", &train.engine, &f), "megatron %s", f.text);
	n_slots = 0;
	put("a100-80", 8);
	is_int(ask(train, NULL, 0), 0, "training on A100s");
	ok(!size_request_check(&train, &f) && !size_fit_gpu(&train, slots[0].gpu, &fit, &f), "size %s", f.text);
	is_int((intmax_t)arrangement.choice.fit.per_gpu, (intmax_t)fit.per_gpu, "as many bytes on each as size says");
}

int main(void)
{
	struct fault f = { "" };

	if (!ok(!catalogue_load(&cat, "ctl/catalogue", NULL, &f), "the catalogue can be read %s",
		f.text))
		return tap_done();
	by_memory();
	by_heads();
	by_power();
	by_pool();
	by_tenant();
	by_request();
	several_kinds();
	by_capability();
	all_models();
	choose_result_free(&result);
	arrangement_free(&arrangement);
	catalogue_free(&cat);
	return tap_done();
}
