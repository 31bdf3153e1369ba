// SPDX-License-Identifier: GPL-2.0-only
/*
 * The options that describe a workload, as one table of what is read where.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "cli/given.h"
#include "cmd/size_hub.h"
#include "cmd/size_options.h"
#include "size/estimate.h"
#include "size/physics.h"
#include "size/source.h"
#include "size/spec.h"

const struct ctl_option size_workload_options[] = {
	{ "model", 0, "MODEL",
	  "name in the catalogue (gpuctl models), a file or folder, or hf:OWNER/NAME",
	  "@models @hub @files" },
	{ "params", 0, "COUNT", "parameters instead of a model, such as 70B" },
	{ "task", 0, "TASK", "infer (default), train, lora or qlora", "@tasks" },
	{ "engine", 0, "NAME",
	  "hf, vllm, ... (default: llama.cpp for GGUF, vllm for a folder, else generic)",
	  "@engines" },
	{ "precision", 0, "FORMAT", "format of the weights: bf16 (default) fp32 fp8 int8 int4 ...",
	  "@precisions" },
	{ "quant", 0, "FORMAT",
	  "format of quantized weights: awq gptq-int4 nf4 nf4-dq mxfp4 q4_k_m ...", "@precisions" },
	{ "kv-precision", 0, "FORMAT", "format of the KV cache: bf16 (default) fp8 int8 q8_0 q4_0",
	  "bf16 fp8 int8 q8_0 q4_0" },
	{ "kv-dtype", 0, "FORMAT", "as --kv-precision", "bf16 fp8 int8 q8_0 q4_0" },
	{ "context", 0, "TOKENS",
	  "tokens of a sequence (default 8K, 4K for training, at most the model's)" },
	{ "batch", 0, "COUNT", "sequences at a time; for training on each GPU (default 1)" },
	{ "sequences", 0, "COUNT",
	  "inference: sequences that the engine prepares for: vLLM's --max-num-seqs" },
	{ "chunk", 0, "TOKENS",
	  "inference: number of tokens prefilled at a time, as llama.cpp's --ubatch-size" },
	{ "host-layers", 0, "COUNT",
	  "inference: layers that stay in the host's memory (llama.cpp)" },
	{ "micro-batch", 0, "COUNT", "training: sequences of a micro-batch on each GPU" },
	{ "rank", 0, "COUNT", "rank of LoRA adapters (default 16)" },
	{ "lora-rank", 0, "COUNT", "as --rank" },
	{ "lora-target", 0, "LIST",
	  "modules with adapters: q,k,v,o,mlp or all; modules trained whole: embed,head",
	  "q k v o mlp all embed head" },
	{ "optimizer", 0, "NAME", "adamw (default) adamw-8bit adafactor sgd lion muon",
	  "adamw adamw-8bit adafactor sgd lion muon" },
	{ "states", 0, "KIND", "training: mixed, or 16bit: all in 16 bits (default: the engine's)",
	  "mixed 16bit" },
	{ "zero", 0, "STAGE",
	  "ZeRO stage, 0 to 3, or fsdp: stage 3 by FSDP 1 (default: the engine's)",
	  "0 1 2 3 fsdp" },
	{ "recompute", 0, "KIND",
	  "none, selective, full, or offload: full, kept by the host (default: engine's)",
	  "none selective full offload" },
	{ "loss", 0, "KIND", "eager, chunked, or fused as by Liger (default: the engine's)",
	  "eager chunked fused" },
	{ "flash", 0, "on|off", "flash attention, which stores no matrix of scores (default on)",
	  "on off" },
	{ "compile", 0, "on|off", "compiled model (default off)", "on off" },
	{ "offload", 0, NULL, "keep optimizer states in the host's memory" },
	{ "tp", 0, "COUNT", "GPUs that share every layer (tensor parallel)" },
	{ "sequence-parallel", 0, "on|off",
	  "with --tp, divide all activations (default: the engine's)", "on off" },
	{ "pp", 0, "COUNT", "groups of layers (pipeline parallel)" },
	{ "dp", 0, "COUNT", "replicas (data parallel)" },
	{ "cp", 0, "COUNT", "GPUs that share a sequence (context parallel)" },
	{ "ep", 0, "COUNT", "GPUs that share the experts (expert parallel)" },
	{ "etp", 0, "COUNT",
	  "training: GPUs that share each expert's matrices (default: those of --tp)" },
	{ "virtual-stages", 0, "COUNT",
	  "training with --pp: groups of layers of a GPU that take turns" },
	{ "round", 0, "TO", "round the number of GPUs up: none (default) or pow2", "none pow2" },
	{ "spec", 0, "FILE", "a file with the workload in JSON: these options without dashes" },
	{ "method", 0, "NAME", "engine (default), formula or a rule of thumb (size compare)",
	  "@methods" },
	{ NULL },
};

const struct ctl_option size_fleet_options[] = {
	{ "tokens", 0, "COUNT", "training: tokens to train on, such as 2T" },
	{ "epochs", 0, "NUMBER", "training: number of passes over the tokens (default 1)" },
	{ "hours", 0, "NUMBER", "--method fleet-training: limit of the time in hours" },
	{ "mfu", 0, "NUMBER", "--method fleet-training: fraction of the peak (default 0.4)" },
	{ "output-tokens", 0, "COUNT", "tokens of an answer, which are a part of --context" },
	{ "throughput", 0, "NUMBER", "--method fleet-inference: tokens a second of one GPU" },
	{ "qpm", 0, "NUMBER", "inference: queries a minute" },
	{ NULL },
};

typedef int (*read_fn)(const char *value, struct size_request *req, struct fault *f);

static int read_params(const char *value, struct size_request *req, struct fault *f)
{
	return units_parse_params(value, &req->given_params, f);
}

static int read_task(const char *value, struct size_request *req, struct fault *f)
{
	return size_task_find(value, &req->task, f);
}

static int read_precision(const char *value, struct size_request *req, struct fault *f)
{
	return size_precision_find(value, &req->precision, f);
}

static int read_kv(const char *value, struct size_request *req, struct fault *f)
{
	return size_precision_find(value, &req->kv, f);
}

static int read_context(const char *value, struct size_request *req, struct fault *f)
{
	return units_parse_context(value, &req->context, f);
}

static int read_batch(const char *value, struct size_request *req, struct fault *f)
{
	return units_parse_count(value, &req->batch, f);
}

static int from_one(const char *value, unsigned long long max, unsigned int *out, struct fault *f)
{
	unsigned long long n;
	int err = conf_whole(value, 1, max, &n, f);

	if (!err)
		*out = (unsigned int)n;
	return err;
}

static int read_rank(const char *value, struct size_request *req, struct fault *f)
{
	return from_one(value, 4096, &req->rank, f);
}

static int read_quant(const char *value, struct size_request *req, struct fault *f)
{
	int err = size_precision_find(value, &req->precision, f);

	if (!err && req->precision->plain >= 16 * SIZE_BIT)
		return fault_set(f, EINVAL, "%s is not a quantized format: use --precision %s",
				 value, value);
	return err;
}

static int read_micro_batch(const char *value, struct size_request *req, struct fault *f)
{
	return units_parse_count(value, &req->micro_batch, f);
}

static int read_sequences(const char *value, struct size_request *req, struct fault *f)
{
	return units_parse_count(value, &req->sequences, f);
}

static int read_chunk(const char *value, struct size_request *req, struct fault *f)
{
	return units_parse_count(value, &req->chunk, f);
}

static int read_host_layers(const char *value, struct size_request *req, struct fault *f)
{
	return units_parse_count(value, &req->host_layers, f);
}

static int read_optimizer(const char *value, struct size_request *req, struct fault *f)
{
	return size_optimizer_find(value, &req->optimizer, f);
}

static int read_states(const char *value, struct size_request *req, struct fault *f)
{
	if (strcmp(value, "mixed") && strcmp(value, "16bit"))
		return fault_set(f, EINVAL, "\"%.40s\" is neither mixed nor 16bit", value);
	req->states = !strcmp(value, "16bit");
	return 0;
}

static int read_zero(const char *value, struct size_request *req, struct fault *f)
{
	unsigned long long stage = 3;

	req->flat = !strcmp(value, "fsdp");
	if (!req->flat && conf_whole(value, 0, 3, &stage, f))
		return -EINVAL;
	req->zero = (int)stage;
	return 0;
}

static int read_recompute(const char *value, struct size_request *req, struct fault *f)
{
	static const char *const kinds[] = { "none", "selective", "full", "offload" };

	for (req->recompute = 0; req->recompute < 4; req->recompute++)
		if (!strcmp(value, kinds[req->recompute]))
			return 0;
	return fault_set(f, EINVAL, "\"%.40s\" is none of none, selective, full and offload",
			 value);
}

static int read_loss(const char *value, struct size_request *req, struct fault *f)
{
	static const char *const kinds[SIZE_LOSSES] = { "eager", "chunked", "fused" };

	for (req->loss = 0; req->loss < SIZE_LOSSES; req->loss++)
		if (!strcmp(value, kinds[req->loss]))
			return 0;
	return fault_set(f, EINVAL, "\"%.40s\" is neither eager nor chunked nor fused", value);
}

static int on_off(const char *value, int *out, struct fault *f)
{
	if (strcmp(value, "on") && strcmp(value, "off"))
		return fault_set(f, EINVAL, "\"%.40s\" is neither on nor off", value);
	*out = !strcmp(value, "on");
	return 0;
}

static int read_flash(const char *value, struct size_request *req, struct fault *f)
{
	return on_off(value, &req->flash, f);
}

static int read_compile(const char *value, struct size_request *req, struct fault *f)
{
	return on_off(value, &req->compile, f);
}

static int read_sequence_parallel(const char *value, struct size_request *req, struct fault *f)
{
	return on_off(value, &req->sequence_parallel, f);
}

static int read_tp(const char *value, struct size_request *req, struct fault *f)
{
	return from_one(value, SIZE_GPUS_MAX, &req->tp, f);
}

static int read_pp(const char *value, struct size_request *req, struct fault *f)
{
	return from_one(value, SIZE_GPUS_MAX, &req->pp, f);
}

static int read_dp(const char *value, struct size_request *req, struct fault *f)
{
	return from_one(value, SIZE_GPUS_MAX, &req->dp, f);
}

static int read_cp(const char *value, struct size_request *req, struct fault *f)
{
	return from_one(value, SIZE_GPUS_MAX, &req->cp, f);
}

static int read_ep(const char *value, struct size_request *req, struct fault *f)
{
	return from_one(value, SIZE_GPUS_MAX, &req->ep, f);
}

static int read_etp(const char *value, struct size_request *req, struct fault *f)
{
	return from_one(value, SIZE_GPUS_MAX, &req->etp, f);
}

static int read_virtual(const char *value, struct size_request *req, struct fault *f)
{
	return from_one(value, SIZE_GPUS_MAX, &req->virtual_stages, f);
}

static int read_round(const char *value, struct size_request *req, struct fault *f)
{
	if (strcmp(value, "none") && strcmp(value, "pow2"))
		return fault_set(f, EINVAL, "\"%.40s\" is neither none nor pow2", value);
	req->round = strcmp(value, "none") ? SIZE_ROUND_POW2 : SIZE_ROUND_NONE;
	return 0;
}

/* Names of the projections as checkpoints have them, and short ones. */
static const struct {
	const char *name;
	unsigned int bits;
} target_names[] = {
	{ "q", TARGET_QUERY },
	{ "q_proj", TARGET_QUERY },
	{ "k", TARGET_KEY },
	{ "k_proj", TARGET_KEY },
	{ "v", TARGET_VALUE },
	{ "v_proj", TARGET_VALUE },
	{ "o", TARGET_OUTPUT },
	{ "o_proj", TARGET_OUTPUT },
	{ "attention", TARGET_QUERY | TARGET_KEY | TARGET_VALUE | TARGET_OUTPUT },
	{ "mlp", TARGET_MLP },
	{ "all", TARGET_LINEAR },
	{ "embed", TARGET_EMBEDDING },
	{ "head", TARGET_HEAD },
};

static int read_targets(const char *value, struct size_request *req, struct fault *f)
{
	const size_t n = sizeof(target_names) / sizeof(target_names[0]);
	const char *s = value;
	size_t len, i;

	req->targets = 0;
	for (;;) {
		len = strcspn(s, ",");
		for (i = 0; i < n; i++)
			if (strlen(target_names[i].name) == len &&
			    !strncmp(target_names[i].name, s, len))
				break;
		if (i == n)
			return fault_set(f, EINVAL,
					 "\"%.*s\" is none of q k v o attention mlp all embed head",
					 (int)(len > 40 ? 40 : len), s);
		req->targets |= target_names[i].bits;
		if (!s[len])
			return 0;
		s += len + 1;
	}
}

static int read_method(const char *value, struct size_request *req, struct fault *f)
{
	return size_method_find(value, &req->method, f);
}

static int read_tokens(const char *value, struct size_request *req, struct fault *f)
{
	return units_parse_count(value, &req->tokens, f);
}

static int read_epochs(const char *value, struct size_request *req, struct fault *f)
{
	return conf_decimal(value, 0.001, 1e6, &req->epochs, f);
}

static int read_hours(const char *value, struct size_request *req, struct fault *f)
{
	return conf_decimal(value, 0.001, 1e6, &req->hours, f);
}

static int read_mfu(const char *value, struct size_request *req, struct fault *f)
{
	return conf_decimal(value, 0.001, 1, &req->mfu, f);
}

static int read_output_tokens(const char *value, struct size_request *req, struct fault *f)
{
	int err = units_parse_count(value, &req->output_tokens, f);

	req->generated = req->output_tokens;
	return err;
}

static int read_throughput(const char *value, struct size_request *req, struct fault *f)
{
	return conf_decimal(value, 0.001, 1e9, &req->throughput, f);
}

static int read_qpm(const char *value, struct size_request *req, struct fault *f)
{
	return conf_decimal(value, 0.001, 1e9, &req->qpm, f);
}

/* One command line has one workload: what its files say is kept here. */
static struct size_spec spec;
static struct size_stored stored;

/* The value of an option, on the command line or in the file of --spec. */
static const char *given(const struct ctl_ctx *ctx, const char *name)
{
	const char *value = ctl_opt(ctx, name);

	if (!value && ctl_flag(ctx, name))
		return "yes";
	return value ? value : spec_get(&spec, name);
}

static const struct ctl_option *find_option(const struct ctl_option *o, const char *name)
{
	for (; o->name; o++)
		if (!strcmp(o->name, name))
			return o;
	return NULL;
}

/* A flag that is false is not given; "on" and "off" may be booleans. False: a flag is neither. */
static bool spec_settle(struct size_spec *from, size_t i, const struct ctl_option *option)
{
	char *value = from->item[i].value;
	bool on = !strcmp(value, "true"), off = !strcmp(value, "false");

	if (!option->arg && off)
		*from->item[i].key = '\0';
	else if (option->arg && !strcmp(option->arg, "on|off") && (on || off))
		strcpy(value, on ? "on" : "off");
	return option->arg || on || off;
}

static int read_spec(struct ctl_ctx *ctx, enum size_reading reading)
{
	const char *path = ctl_opt(ctx, "spec"), *key;
	const struct ctl_option *option;
	struct fault f = { "" };
	size_t i;

	spec.n = 0;
	if (path && spec_read(path, &spec, &f))
		return ctl_fail(ctx, CTL_USAGE, "--spec: %s", f.text);
	for (i = 0; i < spec.n; i++) {
		key = spec.item[i].key;
		option = find_option(size_workload_options, key);
		if (!option && reading != SIZE_READ_MEMORY)
			option = find_option(size_fleet_options, key);
		if (!option || !strcmp(key, "spec"))
			return ctl_fail(ctx, CTL_USAGE,
					"--spec: %s has no option %s: see gpuctl help %s",
					ctx->command->name, key, ctx->command->name);
		if (ctl_flag(ctx, key))
			return ctl_fail(ctx, CTL_USAGE,
					"--%s is also in the file of --spec: give it once", key);
		if (!spec_settle(&spec, i, option))
			return ctl_fail(ctx, CTL_USAGE, "--spec: %s must be true or false", key);
	}
	return CTL_DONE;
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
	{ "quant", read_quant },
	{ "kv-precision", read_kv },
	{ "kv-dtype", read_kv },
	{ "context", read_context },
	{ "batch", read_batch },
	{ "micro-batch", read_micro_batch },
	{ "sequences", read_sequences },
	{ "chunk", read_chunk },
	{ "host-layers", read_host_layers },
	{ "rank", read_rank },
	{ "lora-rank", read_rank },
	{ "lora-target", read_targets },
	{ "optimizer", read_optimizer },
	{ "states", read_states },
	{ "zero", read_zero },
	{ "recompute", read_recompute },
	{ "loss", read_loss },
	{ "flash", read_flash },
	{ "compile", read_compile },
	{ "tp", read_tp },
	{ "sequence-parallel", read_sequence_parallel },
	{ "pp", read_pp },
	{ "dp", read_dp },
	{ "cp", read_cp },
	{ "ep", read_ep },
	{ "etp", read_etp },
	{ "virtual-stages", read_virtual },
	{ "round", read_round },
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

static int read_with(struct ctl_ctx *ctx, const struct reader *r, struct size_request *req)
{
	struct fault f = { "" };

	for (; r->option; r++) {
		const char *value = given(ctx, r->option);

		if (value && r->read(value, req, &f))
			return ctl_fail(ctx, CTL_USAGE, "--%s: %s", r->option, f.text);
	}
	return CTL_DONE;
}

bool size_options_given(const struct ctl_ctx *ctx)
{
	return ctl_opt(ctx, "model") || ctl_opt(ctx, "params") || ctl_opt(ctx, "spec");
}

/* What people call a path: its folder, where the file's name is everybody's. */
static char *name_of_path(const char *path)
{
	static const char *const common[] = {
		"config.json",
		"model.safetensors",
		"model.safetensors.index.json",
	};
	size_t end = strlen(path), start, i;

	for (;;) {
		while (end > 1 && path[end - 1] == '/')
			end--;
		for (start = end; start && path[start - 1] != '/'; start--)
			;
		for (i = 0; i < 3; i++)
			if (strlen(common[i]) == end - start &&
			    !strncmp(path + start, common[i], end - start))
				break;
		if (i == 3 || start < 2)
			return mem_printf("%.*s", (int)(end - start), path + start);
		end = start;
	}
}

/* The file's own format, unless the workload says another. */
static void take_format(struct ctl_ctx *ctx, struct size_request *req)
{
	const struct size_precision *known = size_precision_get(stored.quant);
	struct fault f = { "" };

	if (*stored.kv && !given(ctx, "kv-precision") && !given(ctx, "kv-dtype"))
		req->kv = size_precision_get(stored.kv);
	if (given(ctx, "precision") || given(ctx, "quant") ||
	    (req->task == SIZE_QLORA && !strcmp(stored.quant, "fp8")))
		return; /* another format than the file's: by formula */
	req->exact_bytes = stored.bytes;
	req->table_bytes = stored.table;
	/* of a checkpoint that has them, layers for further tokens stay where they are */
	if (stored.draft && stored.bytes > stored.computed - stored.computed / 50)
		req->exact_bytes -= stored.draft;
	if (!stored.precision.name)
		size_precision_find(stored.quant, &req->precision, &f);
	else if (known && known->linear / 10 == stored.precision.linear / 10 &&
		 known->rest == stored.precision.rest)
		req->precision = known;
	else
		req->precision = &stored.precision;
}

/*
 * Who runs a file, when the workload does not say: GGUF files are llama.cpp's, folders are
 * what servers such as vLLM read, but for formats of other engines. Who trains it is not known.
 */
static void take_engine(struct ctl_ctx *ctx, const struct catalogue *cat, struct size_request *req)
{
	const char *name = stored.gguf ? "llama.cpp" : "vllm";
	struct fault f = { "" };

	if (!stored.served || given(ctx, "engine") || req->task != SIZE_INFER ||
	    (req->method && req->method != &size_method_engine))
		return;
	engine_find(cat->engines, cat->n_engines, name, &req->engine, &f);
}

/* A file in place of a name, called @name: exact bytes, and its shape where it has one. */
static int read_file(struct ctl_ctx *ctx, const struct catalogue *cat, const char *path,
		     const char *name, struct size_request *req)
{
	struct fault f = { "" };

	stored_free(&stored);
	if (stored_open(path, &cat->families, &stored, &f))
		return ctl_fail(ctx, CTL_USAGE, "%s", f.text);
	stored.served = strncmp(stored.quant, "exl", 3) && strncmp(stored.quant, "mlx", 3);
	stored.bare = !strchr(path, '/');
	if (stored.model.id) {
		free(stored.model.name);
		free(stored.model.id);
		stored.model.name = mem_strdup(name);
		stored.model.id = mem_strdup(stored.model.name);
		req->model = &stored.model;
	} else {
		snprintf(stored.called, sizeof(stored.called), "%s", name);
		/* of bytes alone the numbers are a guess: those of 16 bits */
		req->given_params = stored.params ? stored.params : (stored.bytes + 1) / 2;
	}
	if (*stored.unknown || *stored.unclear || *stored.model.left_out ||
	    *stored.model.short_list)
		req->doubt = SIZE_DOUBT;
	if (stored.model.moe_ffn_guessed && req->model)
		req->doubt = stored.bytes ? SIZE_DOUBT : SIZE_DOUBT_EXPERTS;
	take_format(ctx, req);
	take_engine(ctx, cat, req);
	return CTL_DONE;
}

static int read_path(struct ctl_ctx *ctx, const struct catalogue *cat, const char *path,
		     struct size_request *req)
{
	char *name = name_of_path(path);
	int ret = read_file(ctx, cat, path, name, req);

	free(name);
	return ret;
}

/* A model of the Hub: its folder in the cache. */
static int read_hub(struct ctl_ctx *ctx, const struct catalogue *cat, const char *name,
		    struct size_request *req)
{
	char *path;
	int ret = size_hub_fetch(ctx, name, &path);

	if (!ret)
		ret = read_file(ctx, cat, path, name, req);
	free(path);
	return ret;
}

/* A name of the catalogue: the format that it says, or that the weights are published in. */
static void take_named_format(struct ctl_ctx *ctx, const char *name, struct size_request *req)
{
	const char *published = req->model->stored;

	if (given(ctx, "precision") || given(ctx, "quant"))
		return;
	req->precision = size_precision_of_name(name);
	if (!req->precision && published && req->task == SIZE_INFER)
		req->precision = size_precision_get(published);
}

const struct size_stored *size_options_stored(const struct size_request *req)
{
	return req->model == &stored.model || (!req->model && stored.bytes) ? &stored : NULL;
}

static int read_model(struct ctl_ctx *ctx, struct catalogue *cat, const char *operand,
		      struct size_request *req)
{
	const char *name = operand ? operand : given(ctx, "model");
	struct fault f = { "" };

	if (operand && given(ctx, "model"))
		return ctl_fail(ctx, CTL_USAGE, "the model is named twice: %s and --model %s",
				operand, given(ctx, "model"));
	if (name && req->given_params)
		return ctl_fail(ctx, CTL_USAGE,
				"either a model or --params, not both: the parameters of %s are known",
				name);
	if (name && size_hub_is_name(name))
		return read_hub(ctx, cat, name, req);
	if (name && stored_is_path(name))
		return read_path(ctx, cat, name, req);
	if (name && catalogue_model(cat, name, &req->model, &f))
		return ctl_fail(ctx, CTL_USAGE, "%s", f.text);
	if (name)
		take_named_format(ctx, name, req);
	return CTL_DONE;
}

/* Options of which one says what the other does. */
static int check_pairs(struct ctl_ctx *ctx, const struct size_request *req)
{
	static const char *const twins[][2] = {
		{ "kv-precision", "kv-dtype" },
		{ "rank", "lora-rank" },
		{ "batch", "micro-batch" },
	};
	static const char *const training[] = {
		"micro-batch", "optimizer",	    "states", "zero",		"recompute", "loss",
		"offload",     "sequence-parallel", "etp",    "virtual-stages",
	};
	static const char *const serving[] = { "sequences", "chunk", "host-layers" };
	static const char *const adapting[] = { "rank", "lora-rank", "lora-target" };
	size_t i;

	for (i = 0; i < sizeof(training) / sizeof(training[0]); i++)
		if (req->task == SIZE_INFER && given(ctx, training[i]))
			return ctl_fail(ctx, CTL_USAGE, "--%s is for training: add --task train",
					training[i]);
	for (i = 0; i < sizeof(serving) / sizeof(serving[0]); i++)
		if (req->task != SIZE_INFER && given(ctx, serving[i]))
			return ctl_fail(ctx, CTL_USAGE, "--%s is for inference: leave --task out",
					serving[i]);
	for (i = 0; i < sizeof(adapting) / sizeof(adapting[0]); i++)
		if ((req->task == SIZE_TRAIN || req->task == SIZE_INFER) && given(ctx, adapting[i]))
			return ctl_fail(ctx, CTL_USAGE, "--%s is for adapters: add --task lora",
					adapting[i]);
	for (i = 0; i < sizeof(twins) / sizeof(twins[0]); i++)
		if (given(ctx, twins[i][0]) && given(ctx, twins[i][1]))
			return ctl_fail(ctx, CTL_USAGE,
					"--%s and --%s mean the same: give one of them",
					twins[i][0], twins[i][1]);
	return CTL_DONE;
}

static int read_engine(struct ctl_ctx *ctx, const struct catalogue *cat, struct size_request *req)
{
	const char *name = given(ctx, "engine");
	struct fault f = { "" };

	req->engine = &engine_generic;
	if (name && engine_find(cat->engines, cat->n_engines, name, &req->engine, &f))
		return ctl_fail(ctx, CTL_USAGE, "--engine: %s", f.text);
	if (name && req->method && req->method != &size_method_engine)
		return ctl_fail(ctx, CTL_USAGE,
				"--method %s knows no engines: leave --engine out, or --method",
				req->method->name);
	return CTL_DONE;
}

/* With --quant the word of --precision is that of activations. */
static int read_compute(struct ctl_ctx *ctx, struct size_request *req)
{
	const char *name = given(ctx, "precision");
	struct fault f = { "" };

	req->offload = given(ctx, "offload");
	if (!name || !given(ctx, "quant"))
		return CTL_DONE;
	if (size_precision_find(name, &req->compute, &f))
		return ctl_fail(ctx, CTL_USAGE, "--precision: %s", f.text);
	if (req->compute->plain < 16 * SIZE_BIT)
		return ctl_fail(ctx, CTL_USAGE,
				"--precision %s with --quant: activations are bf16, fp16 or fp32",
				name);
	return CTL_DONE;
}

/* What only a rule of thumb reads must not be dropped in silence. */
static int check_fleet(struct ctl_ctx *ctx, const struct size_request *req,
		       enum size_reading reading)
{
	static const char *const words[][2] = {
		{ "hours", "fleet-training" },
		{ "mfu", "fleet-training" },
		{ "throughput", "fleet-inference" },
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (given(ctx, words[i][0]) && req->method->terms && reading != SIZE_READ_EVERY)
			return ctl_fail(ctx, CTL_USAGE,
					"--%s is for --method %s: add it, or leave --%s out",
					words[i][0], words[i][1], words[i][0]);
	if (given(ctx, "epochs") && !given(ctx, "tokens"))
		return ctl_fail(ctx, CTL_USAGE,
				"--epochs needs --tokens, the number of tokens in an epoch");
	if (given(ctx, "qpm") && !given(ctx, "output-tokens"))
		return ctl_fail(ctx, CTL_USAGE,
				"--qpm needs --output-tokens, the length of an answer");
	return CTL_DONE;
}

int size_options_read(struct ctl_ctx *ctx, struct catalogue *cat, const char *model,
		      enum size_reading reading, struct size_request *req)
{
	bool memory = reading == SIZE_READ_MEMORY;
	struct fault f = { "" };
	int ret;

	size_request_init(req);
	ret = read_spec(ctx, reading);
	if (!ret)
		ret = read_with(ctx, workload_readers, req);
	if (!ret)
		ret = read_compute(ctx, req);
	if (!ret)
		ret = read_engine(ctx, cat, req);
	if (!ret)
		ret = check_pairs(ctx, req);
	if (!ret && !memory)
		ret = read_with(ctx, fleet_readers, req);
	if (!ret && memory && req->method && !req->method->terms)
		ret = ctl_fail(ctx, CTL_USAGE,
			       "--method: %s does not compute memory: take the count that gpuctl size prints, and give --gpus",
			       req->method->name);
	if (!ret)
		ret = read_model(ctx, cat, model, req);
	if (!ret && size_request_check(req, &f))
		ret = ctl_fail(ctx, CTL_USAGE, "%s", f.text);
	if (!ret && !memory)
		ret = check_fleet(ctx, req, reading);
	return ret;
}
