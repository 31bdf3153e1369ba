// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many GPUs: the smallest layout in which the fullest GPU has room. Where
 * the method knows terms, layouts are tried in order of size, so that memory
 * that does not shrink with the count (activations, replicated KV heads) is
 * counted right.
 */
#include <errno.h>
#include <string.h>

#include "estimate.h"
#include "machines.h"
#include "physics.h"
#include "wide.h"

#define MIB (1ull << 20)

void size_need_each(const struct size_request *req,
		    const struct size_layout *layout, struct size_terms *terms)
{
	size_t i;

	memset(terms, 0, sizeof(*terms));
	if (req->method->terms)
		req->method->terms(req, layout, terms);
	if (layout->gpus == 1)
		size_explain(req, layout, terms);
	for (i = 0; layout->gpus > 1 && i < terms->n; i++)
		terms->term[i].formula[0] = '\0';
}

void size_need(const struct size_request *req, struct size_terms *terms)
{
	const struct size_layout one = { .gpus = 1, .tp = 1, .pp = 1 };

	size_need_each(req, &one, terms);
}

uint64_t size_layout_bytes(const struct size_request *req, const struct size_layout *layout)
{
	struct size_terms terms;

	if (!size_has_expert_ranks(req, layout))
		return UINT64_MAX;
	memset(&terms, 0, sizeof(terms));
	req->method->terms(req, layout, &terms);
	/* what is known with an interval is judged by its upper end */
	return terms.p95 ? terms.p95 : terms.total;
}

uint64_t size_usable_bytes(const struct size_request *req, uint64_t memory)
{
	if (req->method != &size_method_engine)
		return memory;
	return (uint64_t)((double)memory * req->engine->number[ENGINE_SHARE]);
}

bool size_tp_divides(const struct cat_model *m, unsigned int tp)
{
	if (m->heads % tp)
		return false;
	/* latent attention keeps one latent, whatever the heads */
	if (!m->kv_lora && m->kv_heads % tp && tp % m->kv_heads)
		return false;
	if (m->experts)
		return m->moe_ffn % tp == 0 || m->experts % tp == 0;
	return m->ffn % tp == 0;
}

static bool power_of_two(unsigned int n)
{
	return !(n & (n - 1));
}

/**
 * struct search - the best layout so far
 * @req: the workload
 * @fit: takes the result; layout.gpus is 0 as long as nothing fits
 * @limit: layouts with more GPUs are not looked at
 */
struct search {
	const struct size_request *req;
	struct size_fit *fit;
	unsigned int limit;
};

static bool try_layout(struct search *s, unsigned int gpus, unsigned int tp,
		       unsigned int pp)
{
	const struct size_layout layout = { .gpus = gpus, .tp = tp, .pp = pp, .cp = s->req->cp };
	uint64_t bytes = size_layout_bytes(s->req, &layout);

	if (bytes > s->fit->usable)
		return false;
	s->fit->layout = layout;
	s->fit->per_gpu = bytes;
	s->limit = gpus - 1;
	return true;
}

/* Tensor parallel alone; @any also takes degrees that are no power of two. */
static bool search_tp(struct search *s, bool any)
{
	const struct cat_model *m = s->req->model;
	unsigned int tp;

	if (s->req->pp > 1)
		return false;
	for (tp = 1; tp <= m->heads && tp <= s->limit; tp++)
		if ((!s->req->tp || s->req->tp == tp) && (any || power_of_two(tp)) &&
		    size_tp_divides(m, tp) &&
		    try_layout(s, tp, tp, 1))
			return true;
	return false;
}

/* Stages of a pipeline, each as wide as the heads allow. */
static bool search_pp(struct search *s)
{
	const struct cat_model *m = s->req->model;
	unsigned int width = 1, tp, pp;

	if (s->req->pp == 1)
		return false;
	for (tp = 2; tp <= m->heads && tp <= s->limit; tp *= 2)
		if (size_tp_divides(m, tp))
			width = tp;
	if (s->req->tp)
		width = s->req->tp;
	for (pp = 2; pp <= m->layers && pp * width <= s->limit; pp++)
		if ((!s->req->pp || s->req->pp == pp) && try_layout(s, pp * width, width, pp))
			return true;
	return false;
}

static unsigned int at_least_one(unsigned int n)
{
	return n ? n : 1;
}

/* Replicas that share the states; each has the degrees that were asked for. */
static void search_any_count(struct search *s)
{
	const struct size_request *req = s->req;
	unsigned int tp = at_least_one(req->tp), pp = at_least_one(req->pp);
	unsigned int cp = at_least_one(req->cp), step = tp * pp * cp, gpus;
	bool split = req->task == SIZE_INFER && !req->tp && !req->pp;

	for (gpus = step; gpus <= s->limit; gpus += step) {
		if (req->task != SIZE_INFER && req->dp && gpus != step * req->dp)
			continue;
		if (try_layout(s, gpus, split ? gpus : tp, pp))
			return;
	}
}

void size_fit_bytes(const struct size_request *req, uint64_t usable,
		    struct size_fit *fit)
{
	struct search s = { .req = req, .fit = fit, .limit = SIZE_GPUS_MAX };

	memset(fit, 0, sizeof(*fit));
	fit->usable = size_usable_bytes(req, usable);
	if (!req->method->terms) {
		fit->why = "this method does not look at memory";
		return;
	}
	if (req->task == SIZE_INFER && req->model) {
		if (!search_tp(&s, false)) {
			search_tp(&s, true);
			search_pp(&s);
		}
	} else {
		search_any_count(&s);
	}
	/* each replica of inference is the same set of GPUs again */
	if (req->task == SIZE_INFER && req->dp > 1)
		fit->layout.gpus *= req->dp;
	if (!fit->layout.gpus)
		fit->why = "does not fit, whatever the count";
}

static unsigned int whole(double n)
{
	unsigned int down = (unsigned int)n;

	return n > down ? down + 1 : down;
}

static int fit_speed(const struct size_request *req,
		     const struct cat_gpu *gpu, struct size_fit *fit,
		     struct fault *f)
{
	double gpus;
	int err;

	memset(fit, 0, sizeof(*fit));
	err = req->method->gpus(req, gpu, &gpus, f);
	if (err)
		return err;
	if (gpus > SIZE_GPUS_MAX) {
		fit->why = "more GPUs than any fabric has";
		return 0;
	}
	fit->layout.gpus = gpus <= 1 ? 1 : whole(gpus);
	fit->layout.tp = 1;
	fit->layout.pp = 1;
	return 0;
}

int size_fit_gpu(const struct size_request *req, const struct cat_gpu *gpu,
		 struct size_fit *fit, struct fault *f)
{
	enum gpu_trust trust;
	uint64_t mib;

	if (req->method->gpus)
		return fit_speed(req, gpu, fit, f);
	mib = cat_gpu_memory_mib(gpu, &trust);
	if (!mib)
		return fault_set(f, ENODATA, "the memory of %s is not known",
				 gpu->name);
	size_fit_bytes(req, mib * MIB, fit);
	fit->trust = trust;
	return 0;
}

unsigned int size_fit_memory(uint64_t bytes, uint64_t usable)
{
	u128 n;

	if (!usable)
		return 0;
	n = wide_div_up(bytes, usable);
	return n > SIZE_GPUS_MAX ? 0 : n ? (unsigned int)n : 1;
}
