// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: limits
 *
 * A composition takes a power of two of GPUs, as hosts, collectives and the heads of models
 * are made for. Beside the number it says what made it that many, found by asking the same
 * estimate what fewer GPUs would have to hold.
 */
#include <string.h>

#include "estimate.h"
#include "limit.h"
#include "machines.h"
#include "units.h"

const char *const size_limit_names[SIZE_LIMITS] = {
	[LIMIT_MEMORY] = "memory",
	[LIMIT_HEADS] = "heads",
	[LIMIT_POWER] = "power-of-two",
	[LIMIT_DEGREES] = "degrees",
	[LIMIT_COUNT] = "count",
	[LIMIT_POOL] = "pool",
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

static unsigned int at_least_one(unsigned int n)
{
	return n ? n : 1;
}

/* Does the fullest GPU of a layout have room? */
static bool holds(const struct size_request *req, const struct size_layout *layout,
		  struct size_choice *out)
{
	uint64_t bytes = size_layout_bytes(req, layout);

	if (bytes > out->usable)
		return false;
	out->layout = *layout;
	out->per_gpu = bytes;
	return true;
}

/* Stages and tensor parallel on so many GPUs: as wide as the model can be shared. */
static bool infer_on(const struct size_request *req, unsigned int gpus, struct size_choice *out)
{
	const struct cat_model *m = req->model;
	unsigned int tp;

	for (tp = gpus; tp >= 1; tp--) {
		struct size_layout layout = { gpus, tp, gpus / tp, req->cp };

		if (gpus % tp || (req->tp && tp != req->tp) || (req->pp && layout.pp != req->pp))
			continue;
		/* of a bare number of parameters nothing is known that would not divide */
		if (m ? !size_tp_divides(m, tp) || layout.pp > m->layers : tp != gpus && !req->pp)
			continue;
		if (holds(req, &layout, out))
			return true;
	}
	return false;
}

static bool train_on(const struct size_request *req, unsigned int gpus, struct size_choice *out)
{
	unsigned int tp = at_least_one(req->tp), pp = at_least_one(req->pp);
	unsigned int step = tp * pp * at_least_one(req->cp);
	const struct size_layout layout = { gpus, tp, pp, req->cp };

	if (gpus % step || (req->dp && gpus != step * req->dp))
		return false;
	return holds(req, &layout, out);
}

static bool on(const struct size_request *req, unsigned int gpus, struct size_choice *out)
{
	return by_tensor(req) ? infer_on(req, gpus, out) : train_on(req, gpus, out);
}

/* The smallest number below the chosen one that has the memory, whatever it divides. */
static unsigned int enough_memory(const struct size_request *req, const struct size_choice *out)
{
	unsigned int n;

	for (n = 1; n < out->layout.gpus; n++) {
		const struct size_layout layout = { n, by_tensor(req) ? n : 1, 1, req->cp };

		if (size_layout_bytes(req, &layout) <= out->usable)
			break;
	}
	return n;
}

/* What decided, and the number below that it decided against. */
static void judge(const struct size_request *req, struct size_choice *out)
{
	unsigned int chosen = out->layout.gpus, least = enough_memory(req, out);
	bool stages = by_tensor(req) && out->layout.pp > 1;

	out->limit = LIMIT_MEMORY;
	out->fewer = chosen / 2;
	if (least < chosen || stages) {
		bool shared = !by_tensor(req) || !req->model || size_tp_divides(req->model, least);

		out->limit = shared && !stages ? LIMIT_POWER : LIMIT_HEADS;
		out->fewer = least < chosen ? least : 0;
	}
	if (out->fewer) {
		const struct size_layout layout = { out->fewer, by_tensor(req) ? out->fewer : 1, 1,
						    req->cp };

		out->fewer_bytes = size_layout_bytes(req, &layout);
	}
}

static void start(const struct size_request *req, uint64_t memory, struct size_choice *out)
{
	memset(out, 0, sizeof(*out));
	out->usable = size_usable_bytes(req, memory);
	out->replicas = 1;
}

static void finish(const struct size_request *req, struct size_choice *out)
{
	unsigned int step = out->layout.tp * out->layout.pp * at_least_one(req->cp);

	/* each replica of inference is the same set of GPUs again */
	if (by_tensor(req))
		out->gpus = out->layout.gpus * out->replicas;
	else
		out->gpus = out->layout.gpus;
	if (!by_tensor(req))
		out->replicas = out->gpus / step;
}

void size_choose(const struct size_request *req, uint64_t memory, struct size_choice *out)
{
	unsigned int gpus;
	struct size_fit fit;

	start(req, memory, out);
	if (by_tensor(req))
		out->replicas = at_least_one(req->dp);
	if (has_degrees(req)) {
		size_fit_bytes(req, memory, &fit);
		if (!fit.layout.gpus)
			return;
		out->layout = fit.layout;
		/* counted with all replicas there */
		if (by_tensor(req))
			out->layout.gpus /= out->replicas;
		out->per_gpu = fit.per_gpu;
		out->limit = LIMIT_DEGREES;
		finish(req, out);
		return;
	}
	for (gpus = 1; gpus <= SIZE_GPUS_MAX; gpus *= 2) {
		if (!on(req, gpus, out))
			continue;
		judge(req, out);
		finish(req, out);
		return;
	}
}

void size_choose_exact(const struct size_request *req, uint64_t memory, unsigned int gpus,
		       struct size_choice *out)
{
	unsigned int replicas;

	start(req, memory, out);
	out->limit = LIMIT_COUNT;
	/* one wide replica before several that fit */
	for (replicas = 1; replicas <= gpus; replicas++) {
		if (gpus % replicas || (by_tensor(req) && req->dp && req->dp != replicas))
			continue;
		out->replicas = replicas;
		if (on(req, gpus / replicas, out)) {
			finish(req, out);
			return;
		}
		if (!by_tensor(req))
			return;
	}
}

const char *size_undivided(const struct cat_model *m, unsigned int tp, uint64_t *count)
{
	if (size_tp_divides(m, tp))
		return NULL;
	*count = m->heads;
	if (m->heads % tp)
		return "heads";
	*count = m->kv_heads;
	if (!m->kv_lora && m->kv_heads % tp && tp % m->kv_heads)
		return "KV heads";
	*count = m->experts ? m->moe_ffn : m->ffn;
	return "columns of the MLP";
}

void size_choice_say(struct text *text, const struct size_request *req,
		     const struct size_choice *choice)
{
	char need[UNITS_TEXT_MAX], have[UNITS_TEXT_MAX];
	const struct size_layout *l = &choice->layout;

	if (l->tp > 1)
		text_add(text, "tensor parallel %u, ", l->tp);
	if (l->pp > 1)
		text_add(text, "%u stages, ", l->pp);
	if (choice->replicas > 1)
		text_add(text, "%u replicas, ", choice->replicas);
	text_add(text, "%s of %s a GPU%s", units_gib(need, choice->per_gpu),
		 units_gib(have, choice->usable),
		 req->method == &size_method_engine ? " at P95" : "");
}

static void say_heads(struct text *text, const struct size_request *req,
		      const struct size_choice *choice)
{
	uint64_t count = 0;
	const char *what;
	unsigned int n = choice->fewer ? choice->fewer : choice->layout.gpus;

	what = req->model ? size_undivided(req->model, n, &count) : NULL;
	if (choice->fewer)
		text_add(text, "%u would have the memory, ", n);
	if (what)
		text_add(text, "%u do%s not divide the %llu %s", n, n == 1 ? "es" : "",
			 (unsigned long long)count, what);
	else
		text_add(text, "no wider tensor parallel degree has the memory");
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
				 choice->replicas > 1 ? " a replica" : "");
		break;
	case LIMIT_HEADS:
		say_heads(text, req, choice);
		break;
	case LIMIT_POWER:
		text_add(text, "%u would have the memory, but %s no power of two", choice->fewer,
			 choice->fewer == 1 ? "is" : "are");
		break;
	case LIMIT_DEGREES:
		text_add(text, "the parallel degrees that were asked for");
		break;
	default:
		text_add(text, "%u were asked for", choice->gpus);
		break;
	}
}
