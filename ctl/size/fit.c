// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many GPUs: the first layout in which the fullest GPU has room, so that memory
 * that does not shrink with the count (activations, replicated KV heads) is
 * counted right.
 */
#include <errno.h>
#include <string.h>

#include "base/wide.h"
#include "estimate.h"
#include "layouts.h"

#define MIB (1ull << 20)

void size_need_each(const struct size_request *req, const struct size_layout *layout,
		    struct size_terms *terms)
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

void size_fit_count(const struct size_request *req, struct size_fit *fit)
{
	const struct size_layout *l = &fit->layout;

	if (req->task == SIZE_INFER) {
		/* each replica is the same set of GPUs again */
		fit->replicas = req->dp > 1 ? req->dp : 1;
		fit->gpus = l->gpus * fit->replicas;
	} else {
		fit->replicas = l->gpus / (l->tp * l->pp * (l->cp > 1 ? l->cp : 1));
		fit->gpus = l->gpus;
	}
}

uint64_t size_layout_bytes(const struct size_request *req, const struct size_layout *layout)
{
	struct size_terms terms;

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

struct size_request size_request_on(const struct size_request *req, uint64_t memory)
{
	struct size_request on = *req;

	on.device = memory;
	return on;
}

struct size_request size_request_for(const struct size_request *req, const struct cat_gpu *gpu)
{
	enum gpu_trust trust;
	struct size_request on = size_request_on(req, cat_gpu_memory_mib(gpu, &trust) * MIB);

	if (!cat_gpu_fact(gpu, GPU_CAPABILITY, &on.capability))
		on.capability = 0;
	return on;
}

void size_fit_bytes(const struct size_request *any, uint64_t memory, struct size_fit *fit)
{
	const struct size_request on = size_request_on(any, memory), *req = &on;

	memset(fit, 0, sizeof(*fit));
	fit->usable = size_usable_bytes(req, memory);
	if (!req->method->terms) {
		fit->why = "this method does not look at memory";
		return;
	}
	if (layouts_first(req, fit->usable, 1, SIZE_GPUS_MAX, &fit->layout, &fit->per_gpu))
		size_fit_count(req, fit);
	else
		fit->why = req->round == SIZE_ROUND_POW2 ?
				   "does not fit on a power of two of GPUs" :
				   "does not fit, whatever the count";
}

static unsigned int whole(double n)
{
	unsigned int down = (unsigned int)n;

	return n > down ? down + 1 : down;
}

static int fit_speed(const struct size_request *req, const struct cat_gpu *gpu,
		     struct size_fit *fit, struct fault *f)
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
	while (req->round == SIZE_ROUND_POW2 && fit->layout.gpus & (fit->layout.gpus - 1))
		fit->layout.gpus++;
	fit->gpus = fit->layout.gpus;
	fit->replicas = 1;
	fit->layout.tp = 1;
	fit->layout.pp = 1;
	return 0;
}

int size_fit_gpu(const struct size_request *req, const struct cat_gpu *gpu, struct size_fit *fit,
		 struct fault *f)
{
	const struct size_request on = size_request_for(req, gpu);
	enum gpu_trust trust;
	uint64_t mib;

	if (req->method->gpus)
		return fit_speed(req, gpu, fit, f);
	mib = cat_gpu_memory_mib(gpu, &trust);
	if (!mib)
		return fault_set(f, ENODATA, "the memory of %s is not known", gpu->name);
	size_fit_bytes(&on, mib * MIB, fit);
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
