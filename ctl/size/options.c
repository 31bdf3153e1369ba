// SPDX-License-Identifier: GPL-2.0-only
/*
 * The options that describe a workload, as one table of what is read where.
 */
#include <string.h>

#include "options.h"

#include "estimate.h"
#include "units.h"

const struct ctl_option size_workload_options[] = {
	{ "model", 0, "MODEL", "model of the catalogue (gpuctl models)" },
	{ "params", 0, "COUNT", "parameters instead of a model, such as 70B" },
	{ "task", 0, "TASK", "infer (default), train, lora or qlora" },
	{ "precision", 0, "FORMAT", "of the weights: bf16 (default) fp32 fp8 int8 int4 ..." },
	{ "kv-precision", 0, "FORMAT", "of the KV cache: bf16 (default) fp8 int8 q8_0 q4_0" },
	{ "context", 0, "TOKENS", "tokens of a sequence (default 8K, 4K for training)" },
	{ "batch", 0, "COUNT", "sequences at a time; for training on each GPU (default 1)" },
	{ "rank", 0, "COUNT", "rank of LoRA adapters (default 16)" },
	{ "method", 0, "NAME", "formula (default) or a rule of thumb (size --compare)" },
	{ NULL },
};

const struct ctl_option size_fleet_options[] = {
	{ "tokens", 0, "COUNT", "fleet-training: tokens to train on, such as 2T" },
	{ "epochs", 0, "NUMBER", "fleet-training: times over the tokens (default 1)" },
	{ "hours", 0, "NUMBER", "fleet-training: hours that it may take" },
	{ "mfu", 0, "NUMBER", "fleet-training: part of the peak that is reached (default 0.4)" },
	{ "output-tokens", 0, "COUNT", "fleet-inference: tokens of an answer" },
	{ "throughput", 0, "NUMBER", "fleet-inference: tokens a second of one GPU" },
	{ "qpm", 0, "NUMBER", "fleet-inference: queries a minute" },
	{ NULL },
};

typedef int (*read_fn)(const char *value, struct size_request *req,
		       struct fault *f);

static int read_params(const char *value, struct size_request *req,
		       struct fault *f)
{
	return units_parse_params(value, &req->given_params, f);
}

static int read_task(const char *value, struct size_request *req,
		     struct fault *f)
{
	return size_task_find(value, &req->task, f);
}

static int read_precision(const char *value, struct size_request *req,
			  struct fault *f)
{
	return size_precision_find(value, &req->precision, f);
}

static int read_kv(const char *value, struct size_request *req,
		   struct fault *f)
{
	return size_precision_find(value, &req->kv, f);
}

static int read_context(const char *value, struct size_request *req,
			struct fault *f)
{
	return units_parse_context(value, &req->context, f);
}

static int read_batch(const char *value, struct size_request *req,
		      struct fault *f)
{
	return units_parse_count(value, &req->batch, f);
}

static int read_rank(const char *value, struct size_request *req,
		     struct fault *f)
{
	unsigned long long rank;
	int err = conf_whole(value, 1, 4096, &rank, f);

	if (!err)
		req->rank = (unsigned int)rank;
	return err;
}

static int read_method(const char *value, struct size_request *req,
		       struct fault *f)
{
	return size_method_find(value, &req->method, f);
}

static int read_tokens(const char *value, struct size_request *req,
		       struct fault *f)
{
	return units_parse_count(value, &req->tokens, f);
}

static int read_epochs(const char *value, struct size_request *req,
		       struct fault *f)
{
	return conf_decimal(value, 0.001, 1e6, &req->epochs, f);
}

static int read_hours(const char *value, struct size_request *req,
		      struct fault *f)
{
	return conf_decimal(value, 0.001, 1e6, &req->hours, f);
}

static int read_mfu(const char *value, struct size_request *req,
		    struct fault *f)
{
	return conf_decimal(value, 0.001, 1, &req->mfu, f);
}

static int read_output_tokens(const char *value, struct size_request *req,
			      struct fault *f)
{
	return units_parse_count(value, &req->output_tokens, f);
}

static int read_throughput(const char *value, struct size_request *req,
			   struct fault *f)
{
	return conf_decimal(value, 0.001, 1e9, &req->throughput, f);
}

static int read_qpm(const char *value, struct size_request *req,
		    struct fault *f)
{
	return conf_decimal(value, 0.001, 1e9, &req->qpm, f);
}

/**
 * struct reader - who understands an option
 */
struct reader {
	const char *option;
	read_fn read;
};

static const struct reader workload_readers[] = {
	{ "params", read_params },
	{ "task", read_task },
	{ "precision", read_precision },
	{ "kv-precision", read_kv },
	{ "context", read_context },
	{ "batch", read_batch },
	{ "rank", read_rank },
	{ "method", read_method },
	{ NULL, NULL },
};

static const struct reader fleet_readers[] = {
	{ "tokens", read_tokens },
	{ "epochs", read_epochs },
	{ "hours", read_hours },
	{ "mfu", read_mfu },
	{ "output-tokens", read_output_tokens },
	{ "throughput", read_throughput },
	{ "qpm", read_qpm },
	{ NULL, NULL },
};

static int read_with(struct ctl_ctx *ctx, const struct reader *r,
		     struct size_request *req)
{
	struct fault f = { "" };

	for (; r->option; r++) {
		const char *value = ctl_opt(ctx, r->option);

		if (value && r->read(value, req, &f))
			return ctl_fail(ctx, CTL_USAGE, "--%s: %s", r->option,
					f.text);
	}
	return CTL_DONE;
}

bool size_options_given(const struct ctl_ctx *ctx)
{
	return ctl_opt(ctx, "model") || ctl_opt(ctx, "params");
}

static int read_model(struct ctl_ctx *ctx, const struct catalogue *cat,
		      const char *operand, struct size_request *req)
{
	const char *name = operand ? operand : ctl_opt(ctx, "model");
	struct fault f = { "" };

	if (operand && ctl_opt(ctx, "model"))
		return ctl_fail(ctx, CTL_USAGE,
				"the model is named twice: %s and --model %s",
				operand, ctl_opt(ctx, "model"));
	if (name && req->given_params)
		return ctl_fail(ctx, CTL_USAGE,
				"either a model or --params, not both: the parameters of %s are known",
				name);
	if (name && cat_model_find(cat->models, cat->n_models, name,
				   &req->model, &f))
		return ctl_fail(ctx, CTL_USAGE, "%s", f.text);
	return CTL_DONE;
}

static int read_and_check(struct ctl_ctx *ctx, const struct catalogue *cat,
			  const char *model, bool fleet,
			  struct size_request *req)
{
	struct fault f = { "" };
	int ret;

	size_request_init(req);
	ret = read_with(ctx, workload_readers, req);
	if (!ret && fleet)
		ret = read_with(ctx, fleet_readers, req);
	if (!ret && !fleet && req->method && !req->method->terms)
		ret = ctl_fail(ctx, CTL_USAGE,
			       "--method: %s does not look at memory; ask gpuctl size for a count and say --gpus",
			       req->method->name);
	if (!ret)
		ret = read_model(ctx, cat, model, req);
	if (!ret && size_request_check(req, &f))
		ret = ctl_fail(ctx, CTL_USAGE, "%s", f.text);
	return ret;
}

int size_options_read(struct ctl_ctx *ctx, const struct catalogue *cat,
		      const char *model, struct size_request *req)
{
	return read_and_check(ctx, cat, model, false, req);
}

int size_options_read_all(struct ctl_ctx *ctx, const struct catalogue *cat,
			  const char *model, struct size_request *req)
{
	return read_and_check(ctx, cat, model, true, req);
}
