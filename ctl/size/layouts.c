// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: layouts
 *
 * How a workload can be spread over GPUs, from the fewest on. What may be split is decided
 * here alone: a tensor parallel degree divides heads and MLP, and no more stages than layers
 * are made. In inference stages may differ by a layer; in training each has as many.
 *
 * The attention of a mixture of experts may be data parallel: each of @adp groups of @tp GPUs
 * has the whole attention and a share of the sequences, and all of them share the experts,
 * which they must divide. No group is without a sequence.
 *
 * On the same number of GPUs the preference is fixed. In inference layouts without
 * data-parallel attention come before those with it, and of either the widest tensor parallel
 * degree comes first, because it answers fastest; then the fewest stages. In training sharding
 * alone comes first, then the narrowest tensor parallel degree; stages last.
 */
#include <stdlib.h>
#include <string.h>

#include "layouts.h"

const char *size_undivided(const struct cat_model *m, unsigned int tp, uint64_t *count)
{
	*count = m->heads;
	if (m->heads % tp)
		return "heads";
	/* latent attention keeps one latent, whatever the heads */
	*count = m->kv_heads;
	if (!m->kv_lora && m->kv_heads % tp && tp % m->kv_heads)
		return "KV heads";
	*count = m->experts ? m->moe_ffn : m->ffn;
	if (*count % tp && (!m->experts || m->experts % tp))
		return "columns of the MLP";
	return NULL;
}

bool size_tp_divides(const struct cat_model *m, unsigned int tp)
{
	uint64_t count;

	return !size_undivided(m, tp, &count);
}

static unsigned int at_least_one(unsigned int n)
{
	return n ? n : 1;
}

static void layouts_add(struct layouts *l, unsigned int tp, unsigned int pp, unsigned int adp,
			unsigned int most, unsigned int asked)
{
	const struct size_request *req = l->req;
	unsigned int cp = req->task == SIZE_INFER ? 1 : at_least_one(req->cp);
	uint64_t width = (uint64_t)at_least_one(tp) * at_least_one(pp) * adp * cp;
	unsigned int least = asked ? asked : 1, ranks = at_least_one(tp) * cp;
	unsigned int etp = req->etp ? req->etp : at_least_one(tp);

	/* replicas of training share the experts, and with --etp ranks that share tensors do */
	if (req->task != SIZE_INFER && (uint64_t)least * ranks < (uint64_t)req->ep * etp)
		least = (unsigned int)(((uint64_t)req->ep * etp + ranks - 1) / ranks);
	if (asked)
		most = asked;
	if (least > most || width * least > l->max)
		return;
	l->split = mem_push(l->split, l->n, sizeof(*l->split));
	l->split[l->n++] = (struct layout_split){
		.tp = tp,
		.pp = pp,
		.adp = adp,
		.width = (unsigned int)width,
		.least = least,
		.most = most,
	};
}

static bool tp_allowed(const struct size_request *req, unsigned int tp)
{
	return (!req->tp || req->tp == tp) && size_tp_divides(req->model, tp);
}

static bool pp_allowed(const struct size_request *req, unsigned int pp)
{
	return req->pp ? req->pp == pp : req->model->layers % pp == 0;
}

/* Has --ep as many ranks? With data-parallel attention the experts go over all of them. */
static bool ep_allowed(const struct size_request *req, unsigned int tp, unsigned int adp)
{
	if (req->ep <= 1)
		return true;
	return (uint64_t)tp * adp * at_least_one(req->dp) >= req->ep &&
	       (adp == 1 || tp * adp <= req->ep);
}

static void infer_split(struct layouts *l, unsigned int tp, unsigned int adp)
{
	if (tp_allowed(l->req, tp) && ep_allowed(l->req, tp, adp))
		layouts_add(l, tp, 0, adp, (unsigned int)l->req->model->layers, l->req->pp);
}

/* The degree that is left open is the number of stages. */
static void infer_splits(struct layouts *l)
{
	const struct cat_model *m = l->req->model;
	uint64_t most = m->experts < l->req->batch ? m->experts : l->req->batch;
	unsigned int heads = (unsigned int)m->heads, adp, tp;

	for (tp = heads; tp; tp--)
		if (heads % tp == 0)
			infer_split(l, tp, 1);
	for (tp = most > 1 ? heads : 0; tp; tp--)
		for (adp = (unsigned int)most; adp > 1 && heads % tp == 0; adp--)
			if (m->experts % ((uint64_t)tp * adp) == 0)
				infer_split(l, tp, adp);
}

/* The degree that is left open is the number of replicas. */
static void train_splits(struct layouts *l)
{
	const struct cat_model *m = l->req->model;
	unsigned int tp, pp;

	for (pp = 1; pp <= m->layers; pp++)
		for (tp = 1; pp_allowed(l->req, pp) && tp <= m->heads; tp++)
			if (tp_allowed(l->req, tp))
				layouts_add(l, tp, pp, 1, l->max, l->req->dp);
}

/* Of a bare number of parameters nothing is known that would not divide. */
static void bare_splits(struct layouts *l)
{
	const struct size_request *req = l->req;

	if (req->task == SIZE_INFER)
		layouts_add(l, 0, at_least_one(req->pp), 1, l->max, req->tp);
	else
		layouts_add(l, at_least_one(req->tp), at_least_one(req->pp), 1, l->max, req->dp);
}

static bool rounds(const struct layouts *l)
{
	return l->req->round == SIZE_ROUND_POW2;
}

/* Numbers above the largest that a split can make are not looked at. */
static unsigned int last_count(const struct layouts *l)
{
	uint64_t last = 0, most;
	size_t i;

	for (i = 0; i < l->n; i++) {
		most = (uint64_t)l->split[i].width * l->split[i].most;
		last = most > last ? most : last;
	}
	return last < l->max ? (unsigned int)last : l->max;
}

void layouts_start(struct layouts *l, const struct size_request *req, unsigned int from,
		   unsigned int to)
{
	memset(l, 0, sizeof(*l));
	l->req = req;
	l->max = to;
	if (!req->model)
		bare_splits(l);
	else if (req->task == SIZE_INFER)
		infer_splits(l);
	else
		train_splits(l);
	l->max = last_count(l);
	l->gpus = from;
	if (rounds(l))
		for (l->gpus = 1; l->gpus < from;)
			l->gpus *= 2;
}

static bool split_on(const struct layouts *l, const struct layout_split *s, unsigned int gpus,
		     struct size_layout *out)
{
	unsigned int many = gpus / s->width;

	if (gpus % s->width || many < s->least || many > s->most)
		return false;
	*out = (struct size_layout){
		.gpus = gpus,
		.tp = s->tp ? s->tp : many,
		.pp = s->pp ? s->pp : many,
		.cp = l->req->cp,
		.adp = s->adp,
	};
	return true;
}

bool layouts_next(struct layouts *l, struct size_layout *out)
{
	while (l->gpus <= l->max && l->n) {
		while (l->at < l->n)
			if (split_on(l, &l->split[l->at++], l->gpus, out))
				return true;
		l->at = 0;
		l->gpus = rounds(l) ? 2 * l->gpus : l->gpus + 1;
	}
	return false;
}

void layouts_leave(struct layouts *l)
{
	l->at--;
	l->n--;
	memmove(&l->split[l->at], &l->split[l->at + 1], (l->n - l->at) * sizeof(*l->split));
}

static bool holds_on(const struct layouts *l, const struct layout_split *s, unsigned int many,
		     uint64_t usable)
{
	struct size_layout layout;

	return split_on(l, s, s->width * many, &layout) &&
	       size_layout_bytes(l->req, &layout) <= usable;
}

/*
 * The more of the open degree, the less each GPU holds, but for the step from one to two: that
 * one brings collectives, and copies of what is sharded.
 */
void layouts_leave_hopeless(struct layouts *l, uint64_t usable)
{
	for (l->at = 0; l->at < l->n;) {
		const struct layout_split *s = &l->split[l->at++];
		unsigned int most = l->max / s->width < s->most ? l->max / s->width : s->most;

		if (!holds_on(l, s, most, usable) && !holds_on(l, s, s->least, usable))
			layouts_leave(l);
	}
	l->at = 0;
}

void layouts_end(struct layouts *l)
{
	free(l->split);
	memset(l, 0, sizeof(*l));
}

bool layouts_first(const struct size_request *req, uint64_t usable, unsigned int from,
		   unsigned int to, struct size_layout *out, uint64_t *bytes)
{
	struct layouts layouts;
	bool found = false;

	layouts_start(&layouts, req, from, to);
	layouts_leave_hopeless(&layouts, usable);
	while (!found && layouts_next(&layouts, out)) {
		*bytes = size_layout_bytes(req, out);
		found = *bytes <= usable;
	}
	layouts_end(&layouts);
	return found;
}

void size_layout_say(struct text *text, const struct size_layout *l)
{
	if (l->tp > 1)
		text_add(text, "%stensor parallel %u", text->len ? ", " : "", l->tp);
	if (l->pp > 1)
		text_add(text, "%s%u stages", text->len ? ", " : "", l->pp);
	if (l->adp > 1)
		text_add(text, "%sattention data parallel %u, experts over %u",
			 text->len ? ", " : "", l->adp, l->tp * l->adp);
}
