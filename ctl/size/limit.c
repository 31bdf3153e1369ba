// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: limits
 *
 * Beside the number of GPUs that a workload takes, what made it that many, found by asking
 * the same search and the same estimate about fewer.
 */
#include <string.h>

#include "base/units.h"
#include "estimate.h"
#include "limit.h"

const char *const size_limit_names[SIZE_LIMITS] = {
	[LIMIT_MEMORY] = "memory",   [LIMIT_HEADS] = "heads", [LIMIT_POWER] = "power-of-two",
	[LIMIT_DEGREES] = "degrees", [LIMIT_COUNT] = "count", [LIMIT_POOL] = "pool",
	[LIMIT_TENANT] = "tenant",
};

static bool by_tensor(const struct size_request *req)
{
	return req->task == SIZE_INFER;
}

static bool has_degrees(const struct size_request *req)
{
	return req->tp || req->pp || req->cp > 1 || req->ep > 1 || (!by_tensor(req) && req->dp);
}

/* What the fullest GPU would need in the best layout on @gpus; UINT64_MAX: there is none. */
static uint64_t bytes_on(const struct size_request *req, unsigned int gpus)
{
	uint64_t best = UINT64_MAX, bytes;
	struct size_layout layout;
	struct layouts layouts;

	layouts_start(&layouts, req, gpus, gpus);
	while (layouts_next(&layouts, &layout)) {
		bytes = size_layout_bytes(req, &layout);
		best = bytes < best ? bytes : best;
	}
	layouts_end(&layouts);
	return best;
}

/* Would fewer do, were powers of two not asked for? */
static bool by_power(const struct size_request *req, struct size_choice *out)
{
	struct size_request any = *req;
	struct size_layout layout;

	any.round = SIZE_ROUND_NONE;
	if (req->round == SIZE_ROUND_NONE ||
	    !layouts_first(&any, out->fit.usable, 1, out->fit.layout.gpus - 1, &layout,
			   &out->fewer_bytes))
		return false;
	out->fewer = layout.gpus;
	return true;
}

/* Would fewer do, could any number of GPUs share every layer? */
static bool by_heads(const struct size_request *req, struct size_choice *out)
{
	unsigned int n;

	if (!by_tensor(req) || !req->model)
		return false;
	for (n = 2; n < out->fit.layout.gpus; n++) {
		const struct size_layout layout = { .gpus = n, .tp = n, .pp = 1 };

		if (size_tp_divides(req->model, n))
			continue;
		out->fewer_bytes = size_layout_bytes(req, &layout);
		if (out->fewer_bytes > out->fit.usable)
			continue;
		out->fewer = n;
		return true;
	}
	return false;
}

/* What decided, and the number below that it decided against. */
static void limit_judge(const struct size_request *req, struct size_choice *out)
{
	if (has_degrees(req)) {
		out->limit = LIMIT_DEGREES;
		return;
	}
	if (by_power(req, out)) {
		out->limit = LIMIT_POWER;
		return;
	}
	if (by_heads(req, out)) {
		out->limit = LIMIT_HEADS;
		return;
	}
	out->limit = LIMIT_MEMORY;
	for (out->fewer = out->fit.layout.gpus - 1; out->fewer; out->fewer--) {
		out->fewer_bytes = bytes_on(req, out->fewer);
		if (out->fewer_bytes != UINT64_MAX)
			break;
	}
}

void size_choose(const struct size_request *any, uint64_t memory, struct size_choice *out)
{
	const struct size_request req = size_request_on(any, memory);

	memset(out, 0, sizeof(*out));
	size_fit_bytes(&req, memory, &out->fit);
	if (out->fit.gpus)
		limit_judge(&req, out);
}

void size_choose_exact(const struct size_request *req, uint64_t memory, unsigned int gpus,
		       struct size_choice *out)
{
	struct size_fit *fit = &out->fit;
	struct size_request any = size_request_on(req, memory);
	unsigned int replicas;

	memset(out, 0, sizeof(*out));
	fit->usable = size_usable_bytes(req, memory);
	out->limit = LIMIT_COUNT;
	any.round = SIZE_ROUND_NONE;
	/* one wide replica before several that fit */
	for (replicas = 1; replicas <= (by_tensor(req) ? gpus : 1); replicas++) {
		if (gpus % replicas || (by_tensor(req) && req->dp && req->dp != replicas) ||
		    !layouts_first(&any, fit->usable, gpus / replicas, gpus / replicas,
				   &fit->layout, &fit->per_gpu))
			continue;
		size_fit_count(req, fit);
		fit->gpus = gpus;
		if (by_tensor(req))
			fit->replicas = replicas;
		return;
	}
}

static bool most_holds(const struct size_request *req, uint64_t memory, unsigned int gpus,
		       enum size_most_of what, uint64_t n, struct size_choice *at)
{
	struct size_request with = *req;

	if (what == MOST_BATCH)
		with.batch = n;
	else if (what == MOST_CONTEXT)
		with.context = n;
	else
		with.host_layers = req->model->layers - n;
	size_choose_exact(&with, memory, gpus, at);
	return at->fit.gpus > 0;
}

static uint64_t most_ever(const struct size_request *req, enum size_most_of what)
{
	if (what == MOST_BATCH)
		return SIZE_BATCH_MAX;
	if (what == MOST_LAYERS)
		return req->model->layers;
	return req->model->max_context ? req->model->max_context : SIZE_CONTEXT_MAX;
}

uint64_t size_most(const struct size_request *req, uint64_t memory, unsigned int gpus,
		   enum size_most_of what, struct size_choice *at)
{
	uint64_t last = most_ever(req, what), next;
	/* a prompt needs a token beside those that are generated */
	uint64_t holds = what == MOST_CONTEXT ? req->generated : 0;

	if (last <= holds || !most_holds(req, memory, gpus, what, holds + 1, at))
		return 0;
	holds++;
	/* more never takes less: halve what is left */
	while (holds < last) {
		next = holds + (last - holds + 1) / 2;
		if (most_holds(req, memory, gpus, what, next, at))
			holds = next;
		else
			last = next - 1;
	}
	most_holds(req, memory, gpus, what, holds, at);
	return holds;
}

void size_choice_say(struct text *text, const struct size_request *req,
		     const struct size_choice *choice)
{
	char need[UNITS_TEXT_MAX], have[UNITS_TEXT_MAX];
	const struct size_fit *fit = &choice->fit;

	size_layout_say(text, &fit->layout);
	if (fit->replicas > 1)
		text_add(text, "%s%u replicas", text->len ? ", " : "", fit->replicas);
	text_add(text, "%s%s of %s a GPU%s", text->len ? ", " : "", units_gib(need, fit->per_gpu),
		 units_gib(have, fit->usable), req->method == &size_method_engine ? " at P95" : "");
}

static void say_heads(struct text *text, const struct size_request *req,
		      const struct size_choice *choice)
{
	unsigned int n = choice->fewer;
	uint64_t count = 0;
	const char *what = size_undivided(req->model, n, &count);

	text_add(text, "%u would have the memory, but do not divide the %llu %s", n,
		 (unsigned long long)count, what);
}

void size_limit_say(struct text *text, const struct size_request *req,
		    const struct size_choice *choice)
{
	char need[UNITS_TEXT_MAX];

	text_add(text, "%s: ", size_limit_names[choice->limit]);
	switch (choice->limit) {
	case LIMIT_MEMORY:
		if (choice->fewer)
			text_add(text, "on %u each would have to hold %s", choice->fewer,
				 units_gib(need, choice->fewer_bytes));
		else
			text_add(text, "one GPU%s has it",
				 choice->fit.replicas > 1 ? " a replica" : "");
		break;
	case LIMIT_HEADS:
		say_heads(text, req, choice);
		break;
	case LIMIT_POWER:
		text_add(text, "%u would have the memory, but %s no power of two", choice->fewer,
			 choice->fewer == 1 ? "is" : "are");
		break;
	case LIMIT_DEGREES:
		text_add(text, "the requested parallel degrees");
		break;
	default:
		text_add(text, "the request is for %u", choice->fit.gpus);
		break;
	}
}
