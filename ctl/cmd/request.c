// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: what compose, resize and run are asked for
 *
 * Words that are about kinds of GPUs stay words: whether there is such a kind is known once
 * the slots were looked at.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "cli/given.h"
#include "cmd/request.h"
#include "cmd/size_options.h"

#define NUMA_MAX 1023

const struct ctl_option pool_options[] = {
	{ "gpus", 0, "COUNT", "number of GPUs, of one kind if possible" },
	{ "gpu", 'g', "[[VENDOR:]MODEL:]COUNT",
	  "GPUs of a kind (repeatable); 0: none; no count: only this, for --model", "@kinds" },
	{ "memory", 'm', "SIZE", "GPUs with this total memory, such as 160G" },
	{ "same-switch", 's', NULL, "all behind one switch, or fail" },
	{ "spread", 0, NULL, "over as many switches as possible" },
	{ "numa", 0, "NODE", "all on one NUMA node" },
	{ "p2p", 0, "required", "all near peers: no ACS redirect, no root complex between them",
	  "required" },
	{ "exclude", 'x', "SLOT", "never this slot (may be repeated)" },
	{ NULL },
};

const struct ctl_option compose_options[] = {
	{ "tenant", 0, "NAME", "tenant that the composition counts for", "@tenants" },
	{ "label", 0, "NAME", "label, free to choose" },
	{ "job", 0, "NAME", "job of a scheduler that the composition is for" },
	{ "for", 0, "TIME", "lease, such as 8h; after it gpuctl reap ends the composition" },
	{ "mixed", 0, NULL,
	  "for --model: allow several kinds of one vendor; the smallest memory counts" },
	DRIVER_OPTION,
	DIRTY_OPTION,
	{ "no-fit-check", 0, NULL, "try even if the bridge windows have no room for a GPU" },
	{ NULL },
};

/* Beside the options of the pool: --gpus can be relative, and slots can be named to go. */
const struct ctl_option resize_options[] = {
	{ "remove", 0, "SLOT", "give this slot back (may be repeated)" },
	{ "for", 0, "TIME", "new lease from now, such as 8h" },
	DRIVER_OPTION,
	DIRTY_OPTION,
	{ "no-fit-check", 0, NULL, "try even if the bridge windows have no room for a GPU" },
	{ NULL },
};

static int request_read_number(struct ctl_ctx *ctx, const char *option, uint64_t min, uint64_t max,
			       uint64_t *value)
{
	const char *text = ctl_opt(ctx, option);

	if (!text)
		return CTL_DONE;
	if (!text_number(text, max, value) || *value < min)
		return ctl_fail(ctx, CTL_USAGE, "--%s %s: write a number from %llu to %llu", option,
				text, (unsigned long long)min, (unsigned long long)max);
	return CTL_DONE;
}

/* All values of an option that may be repeated; newly allocated. */
static const char **read_words(const struct ctl_ctx *ctx, const char *option, size_t *n)
{
	const char **words = NULL, *word;
	size_t pos = 0;

	*n = 0;
	while ((word = ctl_opt_next(ctx, option, &pos))) {
		words = mem_grow(words, *n + 1, sizeof(*words));
		words[(*n)++] = word;
	}
	return words;
}

/* pool_options but --gpus, which is relative for some. */
static int request_read_pool(struct ctl_ctx *ctx, struct gpu_request *gpus)
{
	const char *memory = ctl_opt(ctx, "memory"), *p2p = ctl_opt(ctx, "p2p");
	struct fault fault = { "" };
	uint64_t numa = 0;
	int ret;

	gpus->same_switch = ctl_flag(ctx, "same-switch");
	gpus->spread = ctl_flag(ctx, "spread");
	gpus->p2p = p2p;
	gpus->numa = -1;
	gpus->kinds = read_words(ctx, "gpu", &gpus->n_kinds);
	gpus->exclude = read_words(ctx, "exclude", &gpus->n_exclude);
	ret = request_read_number(ctx, "numa", 0, NUMA_MAX, &numa);
	if (!ret && ctl_opt(ctx, "numa"))
		gpus->numa = (int)numa;
	if (!ret && p2p && strcmp(p2p, "required"))
		ret = ctl_fail(ctx, CTL_USAGE, "--p2p %s: write --p2p required", p2p);
	if (!ret && memory && units_parse_bytes(memory, &gpus->memory, &fault))
		ret = ctl_fail(ctx, CTL_USAGE, "--memory: %s", fault.text);
	return ret;
}

static int request_read_workload(struct ctl_ctx *ctx, struct catalogue *cat, struct asked *asked)
{
	struct gpu_request *gpus = &asked->gpus;
	struct fault fault = { "" };
	int ret;

	gpus->mixed = ctl_flag(ctx, "mixed");
	if (!size_options_given(ctx) && gpus->mixed)
		return ctl_fail(ctx, CTL_USAGE,
				"--mixed needs a workload: add --model, or name the kinds with --gpu");
	if (!size_options_given(ctx))
		return CTL_DONE;
	if (gpus->memory)
		return ctl_fail(ctx, CTL_USAGE,
				"--memory and --model exclude each other: give one of them");
	if (catalogue_load_models(cat, ctx->data_dir, ctx->config_dir, &fault))
		return ctl_fail(ctx, CTL_FAILED, "%s", fault.text);
	ret = size_options_read(ctx, cat, NULL, SIZE_READ_MEMORY, &asked->size);
	gpus->size = &asked->size;
	return ret;
}

int compose_read(struct ctl_ctx *ctx, struct catalogue *cat, const char *name, struct asked *asked,
		 struct compose_request *request)
{
	uint64_t count = 0;
	int ret;

	memset(asked, 0, sizeof(*asked));
	memset(request, 0, sizeof(*request));
	request->name = name;
	request->gpus = &asked->gpus;
	ret = note_read(ctx, true, &request->note);
	if (!ret)
		ret = lease_read(ctx, &request->lease_ms);
	if (!ret)
		ret = request_read_pool(ctx, &asked->gpus);
	if (!ret)
		ret = request_read_number(ctx, "gpus", 1, GPUFABRIC_MEMBERS_MAX, &count);
	asked->gpus.gpus = count;
	return ret ? ret : request_read_workload(ctx, cat, asked);
}

/* --gpus +2, -1 or 4 */
static int request_read_gpus(struct ctl_ctx *ctx, struct resize_request *request)
{
	const char *text = ctl_opt(ctx, "gpus");
	uint64_t number;

	if (!text)
		return CTL_DONE;
	request->relative = *text == '+' || *text == '-';
	if (!text_number(text + request->relative, GPUFABRIC_MEMBERS_MAX, &number) || !number)
		return ctl_fail(ctx, CTL_USAGE,
				"--gpus %s: write +2 to add, -1 to give back, or the new size",
				text);
	request->number = *text == '-' ? -(long)number : (long)number;
	return CTL_DONE;
}

int resize_read(struct ctl_ctx *ctx, const char *name, struct asked *asked,
		struct resize_request *request)
{
	int ret;

	memset(asked, 0, sizeof(*asked));
	memset(request, 0, sizeof(*request));
	request->name = name;
	request->gpus = &asked->gpus;
	request->remove = read_words(ctx, "remove", &request->n_remove);
	ret = lease_read(ctx, &request->lease_ms);
	if (!ret)
		ret = request_read_pool(ctx, &asked->gpus);
	return ret ? ret : request_read_gpus(ctx, request);
}

void resize_request_free(struct resize_request *request)
{
	free(request->remove);
	memset(request, 0, sizeof(*request));
}

void asked_free(struct asked *asked)
{
	free(asked->gpus.kinds);
	free(asked->gpus.exclude);
	memset(asked, 0, sizeof(*asked));
}
