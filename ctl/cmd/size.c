// SPDX-License-Identifier: GPL-2.0-only
/* gpuctl size: memory and GPUs of a model and a workload. */
#include <errno.h>

#include "cli/given.h"
#include "cmd/cmd.h"
#include "cmd/size.h"

const struct ctl_option size_kind_options[] = {
	{ "gpu", 'g', "GPU", "only kinds of this name, such as h100 (may be repeated)" },
	{ "all", 'a', NULL, "all kinds of the catalogue, also those that no slot can take" },
	{ NULL },
};

bool size_kind_asked(const struct ctl_ctx *ctx, const struct cat_gpu *gpu)
{
	const char *name;
	size_t pos = 0;

	if (!ctl_flag(ctx, "gpu"))
		return ctl_flag(ctx, "all") || gpu->form == GPU_FORM_CARD;
	while ((name = ctl_opt_next(ctx, "gpu", &pos)))
		if (cat_gpu_answers(gpu, name))
			return true;
	return false;
}

int size_check_kinds(struct ctl_ctx *ctx, const struct catalogue *cat)
{
	const struct cat_gpu *gpu;
	struct fault f = { "" };
	const char *name;
	size_t pos = 0;

	while ((name = ctl_opt_next(ctx, "gpu", &pos)))
		if (cat_gpu_find(cat->gpus, cat->n_gpus, name, &gpu, &f) == -ENOENT)
			return ctl_fail(ctx, CTL_USAGE, "--gpu: %s", f.text);
	return CTL_DONE;
}

int size_verb_run(struct ctl_ctx *ctx, const char *word, const char *model,
		  enum size_reading reading, size_verb_fn verb)
{
	struct size_request req;
	struct catalogue cat;
	struct fault f = { "" };
	int ret;

	if (catalogue_load_gpus(&cat, ctx->data_dir, ctx->config_dir, &f) ||
	    catalogue_load_models(&cat, ctx->data_dir, ctx->config_dir, &f))
		return ctl_fail(ctx, CTL_FAILED, "%s", f.text);
	ret = size_options_read(ctx, &cat, model, reading, &req);
	if (!ret)
		ret = verb(ctx, &cat, &req, word);
	catalogue_free(&cat);
	return ret;
}

static const struct ctl_command *const verbs[] = {
	&cmd_size_estimate,
	&cmd_size_machines,
	&cmd_size_compare,
	&cmd_size_table,
	&cmd_size_check,
	&cmd_size_learn,
	NULL,
};

const struct ctl_command cmd_size = {
	.name = "size",
	.group = CTL_SIZING,
	.args = "[VERB] [MODEL]",
	.summary = "memory and GPUs of a model and a workload",
	.help = "MODEL is a name of the catalogue, a Hugging Face folder, a config.json, a safetensors file or index, or a\n"
		"GGUF file; gpuctl reads headers and no weights. hf:OWNER/NAME, with @REVISION or /FILE, is a model of\n"
		"the Hugging Face Hub. Without a verb the command is size estimate.\n"
		"The output shows each term of the memory with its formula, and then how many GPUs of each kind hold the\n"
		"workload. P50 is the expected value; one run in twenty exceeds P95. A kind of GPU fits if P95 is at most\n"
		"the memory that its driver reports. --engine names the program that runs the model: profiles\n"
		"(gpuctl-catalogue(5)) were fitted to published measurements, and the remarks give their number.\n"
		"The answer is the smallest number of GPUs that holds the workload, and compose takes the same number.\n"
		"A tensor parallel degree (TP) divides the heads and the MLP of the model; there are at most as many\n"
		"stages (PP) as layers. The attention of a mixture of experts may be data parallel: each of ADP groups\n"
		"has a copy of it and a share of the sequences, and EP GPUs share the experts. Among layouts with the\n"
		"same number of GPUs, those without ADP come first, and among these the one with the widest TP. Training\n"
		"shards its states over all GPUs (ZeRO-3, FSDP) and recomputes activations; there, TP and PP only reduce\n"
		"the number of GPUs. With --round pow2 the number of GPUs is a power of two.",
	.flags = CTL_FIRST_VERB,
	.verbs = verbs,
};
