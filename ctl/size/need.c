// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests: defaults, and refusal of what makes no sense, so that methods can
 * compute without checks.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/wide.h"
#include "estimate.h"
#include "layouts.h"

#define PARAMS_MAX (1ull << 50)
#define RANK_MAX 4096

static const char *const task_names[SIZE_TASKS] = {
	[SIZE_INFER] = "infer",
	[SIZE_TRAIN] = "train",
	[SIZE_LORA] = "lora",
	[SIZE_QLORA] = "qlora",
};

const char *size_task_name(enum size_task task)
{
	return task_names[task];
}

int size_task_find(const char *name, enum size_task *task, struct fault *f)
{
	int i;

	for (i = 0; i < SIZE_TASKS; i++) {
		if (!strcasecmp(name, task_names[i])) {
			*task = (enum size_task)i;
			return 0;
		}
	}
	return fault_set(f, ENOENT,
			 "no task is called \"%.40s\"; known are infer, train, lora and qlora",
			 name);
}

void size_request_init(struct size_request *req)
{
	memset(req, 0, sizeof(*req));
	req->batch = 1;
	req->rank = 16;
	req->epochs = 1;
	req->mfu = 0.4;
	req->targets = TARGET_LINEAR;
	req->recompute = SIZE_UNSET;
	req->loss = SIZE_UNSET;
	req->sequence_parallel = SIZE_UNSET;
	req->states = SIZE_UNSET;
	req->zero = SIZE_UNSET;
	req->flash = SIZE_UNSET;
	req->compile = SIZE_UNSET;
}

/* A model of which nothing but its size is known. */
static void params_only(struct size_request *req)
{
	memset(&req->params, 0, sizeof(req->params));
	req->params.total = req->given_params;
	req->params.active = req->given_params;
	req->params.linear = req->given_params;
}

static void fill_defaults(struct size_request *req)
{
	if (!req->method)
		req->method = req->engine ? &size_method_engine : &size_method_formula;
	if (!req->engine)
		req->engine = &engine_generic;
	if (!req->precision || (req->task == SIZE_QLORA && req->precision->plain >= 16 * SIZE_BIT))
		req->precision = size_precision_get(req->task == SIZE_QLORA ? "nf4-dq" : "bf16");
	if (req->precision == size_precision_get("nf4") &&
	    req->engine->number[ENGINE_DOUBLE_QUANTIZED] > 0)
		req->precision = size_precision_get("nf4-dq");
	req->pure16 = req->states == SIZE_UNSET ?
			      req->task == SIZE_TRAIN && req->engine->number[ENGINE_PURE16] > 0 :
			      req->states > 0;
	if (req->micro_batch && req->task != SIZE_INFER)
		req->batch = req->micro_batch;
	if (req->task == SIZE_INFER && req->dp > 1 && !req->params.total)
		req->batch = (req->batch + req->dp - 1) / req->dp;
	if (!req->compute)
		req->compute = size_precision_get(req->precision->plain == 32 * SIZE_BIT ? "fp32" :
											   "bf16");
	if (!req->kv)
		req->kv = size_precision_get(req->precision->plain == 32 * SIZE_BIT ? "fp32" :
										      "bf16");
	if (!req->context) {
		req->context = req->task == SIZE_INFER ? 8192 : 4096;
		if (req->model && req->model->max_context && req->context > req->model->max_context)
			req->context = req->model->max_context;
	}
}

static int check_numbers(const struct size_request *req, struct fault *f)
{
	if (req->context > SIZE_CONTEXT_MAX)
		return fault_set(f, EINVAL,
				 "a context of %llu tokens is beyond any model; at most %llu",
				 (unsigned long long)req->context, SIZE_CONTEXT_MAX);
	if (!req->batch || req->batch > SIZE_BATCH_MAX)
		return fault_set(f, EINVAL, "a batch has 1 to %llu sequences", SIZE_BATCH_MAX);
	if (!req->rank || req->rank > RANK_MAX)
		return fault_set(f, EINVAL, "a LoRA rank is 1 to %u", RANK_MAX);
	if (!(req->mfu > 0 && req->mfu <= 1))
		return fault_set(f, EINVAL, "the MFU is a part of the peak: above 0, at most 1");
	return 0;
}

static int check_precision(const struct size_request *req, struct fault *f)
{
	unsigned int bits = req->precision->plain / SIZE_BIT;

	if ((req->task == SIZE_TRAIN && bits < 8) ||
	    (req->task == SIZE_TRAIN && !strcmp(req->precision->name, "int8")))
		return fault_set(f, EINVAL,
				 "%s weights cannot be trained; use --precision bf16, fp8 or fp32, or the tasks lora and qlora",
				 req->precision->name);
	if (!req->kv->kv)
		return fault_set(f, EINVAL,
				 "a KV cache cannot be kept in %s; use bf16, fp8, int8, q8_0 or q4_0",
				 req->kv->name);
	return 0;
}

static int check_host_layers(const struct size_request *req, struct fault *f)
{
	const struct cat_model *m = req->model;

	if (!req->host_layers)
		return 0;
	if (!m)
		return fault_set(f, EINVAL, "--host-layers: name a model in place of --params");
	if (req->host_layers > m->layers)
		return fault_set(f, EINVAL, "--host-layers %llu is more than the %llu layers",
				 (unsigned long long)req->host_layers,
				 (unsigned long long)m->layers);
	if (!(req->engine->number[ENGINE_HOST_EMBEDDING] > 0))
		return fault_set(f, EINVAL,
				 "--host-layers: engine %s keeps all layers on GPUs: use --engine llama.cpp",
				 req->engine->id);
	return 0;
}

/* Degrees that are asked for must divide what they split. */
static int check_degrees(const struct size_request *req, struct fault *f)
{
	const struct cat_model *m = req->model;
	const char *what;
	uint64_t count;

	if (req->task != SIZE_INFER && req->engine->number[ENGINE_TRAINS] <= 0)
		return fault_set(f, EINVAL,
				 "engine %s serves models and cannot do the task %s: name another, such as hf",
				 req->engine->id, size_task_name(req->task));
	if (req->task == SIZE_INFER && req->cp > 1)
		return fault_set(f, EINVAL, "--cp is for training: use --tp or --pp");
	if (!m && (req->ep > 1 || req->etp))
		return fault_set(f, EINVAL, "--%s: name a model with experts in place of --params",
				 req->etp ? "etp" : "ep");
	if (!m && req->virtual_stages > 1)
		return fault_set(f, EINVAL, "--virtual-stages: name a model in place of --params");
	if (!m)
		return 0;
	what = req->tp ? size_undivided(m, req->tp, &count) : NULL;
	if (what)
		return fault_set(f, EINVAL, "--tp %u does not divide the %llu %s of %s", req->tp,
				 (unsigned long long)count, what, m->name ? m->name : "the model");
	if (req->pp > m->layers)
		return fault_set(f, EINVAL, "--pp %u is more than the %llu layers", req->pp,
				 (unsigned long long)m->layers);
	if (req->ep > 1 && !m->experts)
		return fault_set(f, EINVAL, "--ep: this model has no experts");
	if (req->ep > 1 && m->experts % req->ep)
		return fault_set(f, EINVAL, "--ep %u does not divide the %llu experts", req->ep,
				 (unsigned long long)m->experts);
	if (req->etp && !m->experts)
		return fault_set(f, EINVAL, "--etp: this model has no experts");
	if (req->etp && m->moe_ffn % req->etp)
		return fault_set(f, EINVAL, "--etp %u does not divide the width of an expert, %llu",
				 req->etp, (unsigned long long)m->moe_ffn);
	if (req->virtual_stages > 1 && req->pp < 2)
		return fault_set(f, EINVAL, "--virtual-stages divides a GPU's stage: add --pp");
	if (req->virtual_stages > 1 && m->layers % (req->pp * req->virtual_stages))
		return fault_set(f, EINVAL,
				 "--pp %u with --virtual-stages %u does not divide the %llu layers",
				 req->pp, req->virtual_stages, (unsigned long long)m->layers);
	if (req->cp > 1 && req->context % req->cp)
		return fault_set(f, EINVAL, "--cp %u does not divide the context of %llu tokens",
				 req->cp, (unsigned long long)req->context);
	if (req->method == &size_method_engine && req->generated >= req->context)
		return fault_set(f, EINVAL,
				 "--output-tokens %llu leaves no prompt in a context of %llu tokens",
				 (unsigned long long)req->generated,
				 (unsigned long long)req->context);
	return 0;
}

static int check_method(const struct size_request *req, struct fault *f)
{
	const struct size_method *method = req->method;

	if (!(method->tasks & SIZE_TASK(req->task)))
		return fault_set(f, EINVAL, "method %s says nothing about %s", method->name,
				 size_task_name(req->task));
	if (method->needs_model && !req->model)
		return fault_set(f, EINVAL,
				 "method %s needs the shape of a model; name one instead of --params",
				 method->name);
	return method->check ? method->check(req, f) : 0;
}

int size_request_check(struct size_request *req, struct fault *f)
{
	int err;

	if (!req->model && !req->given_params)
		return fault_set(f, EINVAL, "name a model, or give --params 70B");
	if (!req->model && req->given_params > PARAMS_MAX)
		return fault_set(f, EINVAL, "more parameters than any model: at most %llu",
				 PARAMS_MAX);
	fill_defaults(req);
	if (req->model)
		model_params(req->model, &req->params);
	else
		params_only(req);
	err = check_numbers(req, f);
	if (!err)
		err = check_precision(req, f);
	if (!err)
		err = check_host_layers(req, f);
	if (!err)
		err = check_degrees(req, f);
	if (!err)
		err = check_method(req, f);
	return err;
}

void size_term_add(struct size_terms *terms, const char *name, uint64_t bytes, const char *fmt, ...)
{
	struct size_term *term = &terms->term[terms->n++];
	va_list ap;

	term->name = name;
	term->bytes = bytes;
	va_start(ap, fmt);
	vsnprintf(term->formula, sizeof(term->formula), fmt, ap);
	va_end(ap);
	terms->total = add_saturate(terms->total, bytes);
}

const struct size_method *const size_methods[] = {
	&size_method_engine, &size_method_formula, &size_rules[0], &size_rules[1],
	&size_rules[2],	     &size_rules[3],	   &size_rules[4], &size_rules[5],
	&size_rules[6],	     &size_rules[7],	   &size_rules[8], NULL,
};

int size_method_find(const char *name, const struct size_method **out, struct fault *f)
{
	const struct size_method *const *m;

	for (m = size_methods; *m; m++) {
		if (!strcasecmp(name, (*m)->name)) {
			*out = *m;
			return 0;
		}
	}
	fault_set(f, ENOENT, "no method is called \"%.40s\"; known are", name);
	for (m = size_methods; *m; m++)
		fault_add(f, " %s", (*m)->name);
	return -ENOENT;
}
