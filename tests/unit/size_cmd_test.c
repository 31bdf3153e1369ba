// SPDX-License-Identifier: GPL-2.0-only
// sources: $(filter-out ctl/main.c,$(wildcard ctl/*.c ctl/*/*.c ctl/*/*/*.c))
// packages: libnl-3.0 libnl-genl-3.0 json-c libudev libsystemd
/*
 * gpuctl size, gpus and models as a user meets them: exit codes, what is
 * printed, and errors that say what to do.
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "cli/out.h"
#include "tap.h"

extern const struct ctl_command cmd_size_compare, cmd_size_estimate, cmd_size_machines,
	cmd_size_table, cmd_gpus, cmd_models;

#define WORDS_MAX 24

/* Result of the last run. */
static char *text;
static char error[1024];
static struct json_object *json;

static const struct ctl_option *option(const struct ctl_command *command,
				       const char *name)
{
	const struct ctl_option *o;
	size_t g;

	for (g = 0; g < CTL_OPTION_GROUPS; g++)
		for (o = command->options[g]; o && o->name; o++)
			if (!strcmp(o->name, name))
				return o;
	printf("# %s has no option %s\n", command->name, name);
	return NULL;
}

/* Words as on a command line: "--name=value", "--flag" or operands. */
static int run(const struct ctl_command *command, bool as_json, char *line)
{
	struct ctl_given given[WORDS_MAX];
	struct ctl_ctx ctx = {
		.data_dir = "ctl/catalogue",
		.config_dir = "/nonexistent",
		.command = command,
		.given = given,
		.json = as_json,
	};
	char *argv[WORDS_MAX + 1], *word, *value;
	int argc = 0, ret;
	char *buf = NULL;
	size_t size;
	FILE *file;

	while ((word = strsep(&line, " "))) {
		if (strncmp(word, "--", 2)) {
			argv[argc++] = word;
			continue;
		}
		value = strchr(word, '=');
		if (value)
			*value++ = '\0';
		given[ctx.n_given].option = option(command, word + 2);
		given[ctx.n_given++].value = value;
	}
	argv[argc] = NULL;

	file = open_memstream(&buf, &size);
	ctx.out = out_new(file);
	out_set_json(ctx.out, as_json);
	ret = command->run(&ctx, argc, argv);
	out_flush(ctx.out);
	fclose(file);

	free(text);
	text = buf;
	json_object_put(json);
	json = as_json ? json_tokener_parse(text) : NULL;
	snprintf(error, sizeof(error), "%s", ctx.error ? ctx.error : "");
	free(ctx.error);
	free(ctx.more);
	out_free(ctx.out);
	return ret;
}

static void runs(const struct ctl_command *command, const char *line, int want,
		 const char *part)
{
	char *words = strdup(line);
	int ret = run(command, false, words);

	ok(ret == want && strstr(*error ? error : text, part),
	   "%s %s: exit %d, \"%s\"%s%s", command->name, line, ret, part,
	   *error ? " in: " : "", error);
	free(words);
}

static struct json_object *field(struct json_object *object, const char *name)
{
	struct json_object *value = NULL;

	json_object_object_get_ex(object, name, &value);
	return value;
}

static int64_t number(struct json_object *object, const char *name)
{
	return json_object_get_int64(field(object, name));
}

static void as_json(const struct ctl_command *command, const char *line)
{
	char *words = strdup(line);
	int ret = run(command, true, words);

	ok(!ret && json, "%s %s -j is JSON %s", command->name, line, error);
	free(words);
}

static void size(void)
{
	struct json_object *fits, *first;
	size_t i;

	runs(&cmd_size_estimate, "llama-3.1-70b --batch=16", CTL_DONE,
	     "weights      131.4 GiB  70,553,706,496 x 2 B");
	ok(strstr(text, "H200 NVL") && strstr(text, "more kinds of card"),
	   "a table of cards, and that there are more");
	ok(!strstr(text, "TPU"), "nothing that no slot can take");
	ok(strstr(text, "the rule of thumb says 164.3 GiB"), "the rule of thumb");

	runs(&cmd_size_estimate, "llama-3.1-8b --gpu=h100", CTL_DONE, "H100 SXM5 80GB");
	runs(&cmd_size_estimate, "meta-llama/Llama-3.1-8B --gpu=l40s --task=qlora",
	     CTL_DONE, "nothing was measured for qlora; the estimate is from formulas alone");
	ok(!strstr(text, "from measurements"), "and no remark speaks of measurements");
	runs(&cmd_size_estimate, "llama-3.1-8b --task=train --engine=torchtitan-fsdp", CTL_DONE,
	     "P50 and P95 from measurements");
	runs(&cmd_size_estimate, "--params=70B --method=liqid --gpu=h100-80", CTL_DONE,
	     "163.0 GiB");
	runs(&cmd_size_compare, "--model=llama-3.1-8b", CTL_DONE,
	     "eleutherai");
	runs(&cmd_size_estimate, "--params=1T --gpu=t4", CTL_DONE, "177  ");

	runs(&cmd_size_estimate, "", CTL_USAGE, "no model is called");
	runs(&cmd_size_estimate, "llama-9", CTL_USAGE, "did you mean");
	runs(&cmd_size_estimate, "llama-3.1-8b llama-3.1-70b", CTL_USAGE, "");
	runs(&cmd_size_estimate, "llama-3.1-8b --model=gpt-2", CTL_USAGE, "named twice");
	runs(&cmd_size_estimate, "llama-3.1-8b --params=8B", CTL_USAGE, "not both");
	runs(&cmd_size_estimate, "--params=70", CTL_USAGE, "did you mean 70B");
	runs(&cmd_size_estimate, "llama-3.1-8b --task=sing", CTL_USAGE,
	     "--task: no task");
	runs(&cmd_size_estimate, "llama-3.1-8b --context=0", CTL_USAGE,
	     "--context: \"0\" must be more than zero");
	runs(&cmd_size_estimate, "llama-3.1-8b --batch=-1", CTL_USAGE, "--batch: ");
	runs(&cmd_size_estimate, "llama-3.1-8b --gpu=h999", CTL_USAGE, "--gpu: no GPU");
	runs(&cmd_size_estimate, "llama-3.1-8b --task=train --method=fleet-training",
	     CTL_USAGE, "needs --tokens");
	runs(&cmd_size_estimate, "falcon-180b --task=train --context=64K --tp=8 --gpu=t4",
	     CTL_NO_FIT, "no number of the named GPUs");

	as_json(&cmd_size_estimate, "llama-3.1-70b --batch=16 --gpu=h100-80");
	is_int(number(json, "parameters"), 70553706496ll, "parameters");
	fits = field(json, "fits");
	first = json_object_array_get_idx(fits, 0);
	is_str(json_object_get_string(field(first, "gpu")), "h100-pcie-80",
	       "the kind by its id");
	is_int(number(first, "gpus"), 4, "how many");
	is_int(number(first, "tensor_parallel"), 4, "how they are used");
	is_int(number(first, "usable_bytes"), 81559ll << 20, "bytes");
	ok(number(first, "bytes_per_gpu") <= number(first, "usable_bytes"),
	   "they hold it");
	is_int((intmax_t)json_object_array_length(field(json, "terms")), 6,
	       "terms of the whole");
	ok(number(json, "p95_bytes") > number(json, "total_bytes"), "with an interval");
	is_int((intmax_t)json_object_array_length(field(json, "memory")), 3, "three memories");
	is_int(number(json, "total_bytes"), ({
		int64_t sum = 0;

		for (i = 0; i < 6; i++)
			sum += number(json_object_array_get_idx(
					field(json, "terms"), i), "bytes");
		sum;
	}), "terms add up to the total");
	runs(&cmd_size_estimate, "llama-3.1-8b --engine=hf --method=liqid", CTL_USAGE, "knows no engines");
	runs(&cmd_size_estimate, "llama-3.1-8b --engine=nix", CTL_USAGE, "known are generic");
	runs(&cmd_size_estimate, "llama-3.1-8b --tp=3", CTL_USAGE, "does not divide the 32 heads");
	runs(&cmd_size_estimate, "llama-3.1-8b --zero=4", CTL_USAGE, "--zero: 4 is outside 0 to 3");
	runs(&cmd_size_estimate, "llama-3.1-8b --task=lora --zero=fsdp --gpu=a100-sxm4-40 --context=512", CTL_DONE,
	     "lora");
	runs(&cmd_size_estimate, "llama-3.1-8b --zero=2", CTL_USAGE, "add --task train");
	runs(&cmd_size_estimate, "llama-3.1-8b --lora-target=q,x --task=lora", CTL_USAGE, "is none of");
	runs(&cmd_size_estimate, "llama-3.1-8b --quant=bf16", CTL_USAGE, "not a quantized format");
	runs(&cmd_size_estimate, "llama-3.1-8b --ep=2", CTL_USAGE, "no experts");
	runs(&cmd_size_estimate, "llama-3.1-8b --round=up", CTL_USAGE, "neither none nor pow2");
	runs(&cmd_size_estimate, "llama-3.1-70b --tp=16 --batch=1 --gpu=h100-80", CTL_DONE, "16  16  ");
	runs(&cmd_size_estimate, "qwen2.5-7b --tp=7", CTL_USAGE, "does not divide the 4 KV heads");
	runs(&cmd_size_estimate, "--params=70B --ep=8", CTL_USAGE, "name a model with experts");
	runs(&cmd_size_estimate, "--params=70B --etp=2 --task=train", CTL_USAGE, "--etp: name a model");
	runs(&cmd_size_estimate, "--params=70B --virtual-stages=2 --task=train", CTL_USAGE, "name a model");
	runs(&cmd_size_estimate, "llama-3.1-8b --etp=2", CTL_USAGE, "add --task train");
	runs(&cmd_size_estimate, "llama-3.1-8b --etp=2 --task=train", CTL_USAGE, "no experts");
	runs(&cmd_size_estimate, "mixtral-8x7b --etp=3 --task=train", CTL_USAGE, "does not divide the width");
	runs(&cmd_size_estimate, "llama-3.1-8b --task=train --virtual-stages=2", CTL_USAGE, "add --pp");
	runs(&cmd_size_estimate, "llama-3.1-8b --task=train --pp=4 --virtual-stages=3", CTL_USAGE,
	     "does not divide the 32 layers");
	runs(&cmd_size_estimate, "deepseek-v2 --batch=64 --gpu=h100-nvl", CTL_DONE, "TP  ADP  EP");
	runs(&cmd_size_estimate, "deepseek-v2 --batch=64 --gpu=h100-nvl --round=pow2", CTL_DONE, "  16   8   2  ");
	runs(&cmd_size_machines, "deepseek-v2 --batch=64 --gpu=h100-nvl", CTL_DONE, "TP  PP  ADP  EP  DP");
	runs(&cmd_size_machines, "llama-3.1-70b --gpu=h100-80", CTL_DONE, "ARRANGEMENT");
	runs(&cmd_size_machines, "llama-3.1-8b --task=train --tokens=1T --deadline=30d --price=2.5 --best=cost --all",
	     CTL_DONE, "KG CO2");
	runs(&cmd_size_machines, "llama-3.1-8b --best=cost", CTL_USAGE, "needs --price");
	runs(&cmd_size_machines, "llama-3.1-8b --best=beauty", CTL_USAGE, "none of cost, time");
	runs(&cmd_size_machines, "llama-3.1-8b --task=train --deadline=30d", CTL_USAGE, "needs --tokens");
	runs(&cmd_size_machines, "llama-3.1-405b --task=train --gpus-max=1", CTL_NO_FIT,
	     "no arrangement of at most 1");
	runs(&cmd_size_table, "--context=4K", CTL_DONE, "RULE OF THUMB");
	runs(&cmd_size_estimate, "tests/data/configs/llama-3.1-8b.json", CTL_DONE, "8.03 B parameters");
	runs(&cmd_size_estimate, "tests/data/configs/none.json", CTL_USAGE, "No such file");
	runs(&cmd_size_estimate, "qwen2.5-7b --engine=hf --context=8K", CTL_DONE, "corrected by");
}

static int64_t gpus_for(const char *option, int64_t n)
{
	char *line = mem_printf("llama-3.1-8b --gpu=l40s --%s=%lld", option, (long long)n);
	int64_t gpus = 0;

	if (!run(&cmd_size_estimate, true, line))
		gpus = number(json_object_array_get_idx(field(json, "fits"), 0), "gpus");
	free(line);
	return gpus;
}

/* What fits is held, and one more is not. */
static void most_of(const char *option)
{
	char *line = mem_printf("llama-3.1-8b --gpu=l40s:1 --fit=%s", option);
	int64_t most = 0;

	if (!run(&cmd_size_estimate, true, line))
		most = number(json_object_array_get_idx(field(json, "most"), 0), option);
	free(line);
	ok(most > 1, "%s: %lld fit", option, (long long)most);
	is_int(gpus_for(option, most), 1, "on one GPU");
	is_int(gpus_for(option, most + 1), 2, "and one more does not");
}

static void most(void)
{
	most_of("batch");
	most_of("context");
	runs(&cmd_size_estimate, "llama-2-7b --gpu=h200-nvl --fit=context", CTL_DONE, "the model's maximum");
	runs(&cmd_size_estimate, "llama-3.1-70b --gpu=h200-nvl:2 --fit=batch", CTL_DONE,
	     "sequences of 8192 tokens, engine generic; P95 decides what fits");
	runs(&cmd_size_estimate, "llama-2-7b --gpu=h200-nvl --context=64K --fit=batch", CTL_DONE,
	     "longer than the 4,096 that the model was made for");
	runs(&cmd_size_estimate, "llama-3.1-70b --gpu=l4:1 --fit=batch", CTL_NO_FIT, "not even one sequence");
	runs(&cmd_size_estimate, "llama-3.1-70b --gpu=l4:0 --fit=batch", CTL_USAGE, "--gpu l4:0");
	runs(&cmd_size_estimate, "llama-3.1-70b --gpu=warp:2 --fit=batch", CTL_USAGE, "no GPU");
	runs(&cmd_size_estimate, "llama-3.1-70b --gpu=l4 --fit=gpus", CTL_USAGE, "batch, context or layers");
	runs(&cmd_size_estimate, "llama-3.1-70b --fit=batch", CTL_USAGE, "such as --gpu h100:2");
	runs(&cmd_size_estimate, "llama-3.1-70b --gpu=l4 --batch=4 --fit=batch", CTL_USAGE, "leave one of them out");
	runs(&cmd_size_estimate, "llama-3.1-70b --gpu=h100-80 --fit=layers", CTL_USAGE, "--engine llama.cpp");
	runs(&cmd_size_estimate, "llama-3.1-70b --gpu=rtx-4090 --engine=llama.cpp --quant=q4_k_m --fit=layers",
	     CTL_DONE, "of 80 layers: --n-gpu-layers 37");
	runs(&cmd_size_estimate, "llama-3.1-8b --gpu=rtx-4090 --engine=llama.cpp --quant=q4_k_m --fit=layers",
	     CTL_DONE, "all of them");
	runs(&cmd_size_estimate, "llama-3.1-8b --engine=llama.cpp --host-layers=33", CTL_USAGE, "32 layers");
	runs(&cmd_size_machines, "llama-3.1-8b --engine=llama.cpp --host-layers=3", CTL_USAGE,
	     "leave --host-layers out");
	/* what is printed for each GPU is what was judged */
	as_json(&cmd_size_estimate, "llama-3.1-70b --engine=vllm --gpu=h100-pcie-80");
	is_int(number(json_object_array_get_idx(field(json, "terms_per_gpu"), 1), "bytes"),
	       (int64_t)(38.9 * 1024 * 128256), "activations of a large GPU");
	runs(&cmd_size_estimate, "llama-3.1-8b --engine=vllm --host-layers=3", CTL_USAGE, "llama.cpp");
	runs(&cmd_size_estimate, "--params=70B --gpu=l4 --fit=batch", CTL_USAGE, "shape of a model");
	runs(&cmd_size_estimate, "llama-3.1-8b --context=200000", CTL_DONE,
	     "longer than the 131,072 that the model was made for");
	runs(&cmd_size_estimate, "qwen3-0.6b", CTL_DONE, "FITS ON");
	ok(strstr(text, "L4 ") && !strstr(text, "K80"), "cards with matrix units come first");
	ok(!strstr(text, "V100") && !strstr(text, "from the label"),
	   "of today, and those whose memory is known");
	runs(&cmd_size_estimate, "llama-3.1-405b --task=train --engine=megatron --tp=2 --pp=1 --dp=1", CTL_DONE,
	     "does not fit");
	ok(strstr(text, "H200 NVL") && !strstr(text, "K80"), "where none does the largest come first");
	runs(&cmd_size_machines, "llama-3.1-8b --engine=vllm", CTL_DONE, "ARRANGEMENT");
	ok(!strstr(text, "MI50") && strstr(text, "L40S"), "and so of arrangements");
}

static void catalogues(void)
{
	struct json_object *gpu;

	runs(&cmd_gpus, "h200", CTL_DONE, "H200 SXM 141GB");
	ok(strstr(text, "~262144 MiB (assumed)"), "what is assumed is marked");
	runs(&cmd_gpus, "h999", CTL_USAGE, "no GPU is called");
	runs(&cmd_models, "llama-3.1", CTL_DONE, "llama-3.1-405b");
	runs(&cmd_models, "no-such-model", CTL_USAGE, "gpuctl models");

	as_json(&cmd_gpus, "--cards");
	ok(json_object_array_length(field(json, "gpus")) > 25, "all cards");
	as_json(&cmd_gpus, "l40");
	gpu = json_object_array_get_idx(field(json, "gpus"), 0);
	is_int(number(gpu, "memory_mib"), 46068, "memory of an L40");
	is_str(json_object_get_string(field(gpu, "memory_source")), "assumed",
	       "is assumed");
	as_json(&cmd_models, "deepseek-r1");
	is_int(number(json_object_array_get_idx(field(json, "models"), 0),
		      "active_parameters"), 37552282624ll,
	       "active parameters of DeepSeek R1");
}

/* What is said of a config.json. */
static void says_of(const char *options, const char *config, const char *want)
{
	char name[] = "/tmp/gpuctl-said-XXXXXX.json";
	int fd = mkstemps(name, 5);
	char *line;

	if (!ok(fd >= 0 && write(fd, config, strlen(config)) > 0, "a file can be written"))
		return;
	line = mem_printf("%s %s", name, options);
	runs(&cmd_size_estimate, *options ? line : name, CTL_DONE, want);
	free(line);
	close(fd);
	unlink(name);
}

static void says(const char *config, const char *want)
{
	says_of("", config, want);
}

/* What stands in a row is what its formula says. */
static void formulas(void)
{
	runs(&cmd_size_estimate, "llama-3.1-8b --task=qlora --engine=hf-peft", CTL_DONE,
	     "qlora nf4-dq, 1 x 4096");
	ok(strstr(text, "x 4.127 bits + 1,050,939,392 x 32 bits + adapters"), "tables of QLoRA are in fp32");
	ok(strstr(text, "4,096 tokens x 128256 entries x 10 B"), "logits of all tokens");
	ok(strstr(text, "a layer: 16 x 4096 + 4 x 4096 + 4 x 1024 + 8 x 14336 B"), "a layer");
	ok(strstr(text, "x 8 B, states of adamw"), "no copy where there is none");
	runs(&cmd_size_estimate, "llama-3.1-8b --task=train --compile=on", CTL_DONE,
	     "a layer: 10 x 4096 + 2 x 4096 + 4 x 1024 + 6 x 14336 B");
	ok(strstr(text, "x 16 B, fp32 copy and gradients, states of adamw") && !strstr(text, "ZeRO-0"),
	   "what is kept, and nothing that is not");
	runs(&cmd_size_estimate, "llama-3.1-8b --task=train --precision=fp8", CTL_DONE,
	     "training in fp8 multiplies in 8 bits");
	runs(&cmd_size_estimate, "mixtral-8x7b --task=lora", CTL_DONE, "adapters are on attention only");
	runs(&cmd_size_estimate, "mixtral-8x7b --task=lora --lora-target=q,v", CTL_DONE, "FITS ON");
	ok(!strstr(text, "on attention only"), "as was asked for");
	runs(&cmd_size_estimate, "llama-3.1-8b --engine=vllm", CTL_DONE,
	     "vllm prepares for 1,024 sequences, and");
	ok(!strstr(text, "dequantized"), "plain weights are not quantized");
	runs(&cmd_size_estimate, "llama-3.1-8b --engine=vllm --sequences=64", CTL_DONE, "sampler: 64 sequences");
	ok(!strstr(text, "sequences there"), "as many as were asked for");
	runs(&cmd_size_estimate, "llama-3.1-8b --engine=vllm --kv-dtype=fp8", CTL_DONE, "x 1 B x 8,192 tokens");
	runs(&cmd_size_estimate, "llama-3.1-70b --gpu=l40s", CTL_DONE, "; P95 ");
}

#define SHAPE "\"hidden_size\":64,\"num_hidden_layers\":2,\"intermediate_size\":128," \
	"\"vocab_size\":100,\"num_attention_heads\":4"

static void remarks(void)
{
	says("{" SHAPE "}", "the file does not say its architecture: read as a plain transformer");
	says("{\"model_type\":\"k9\"," SHAPE ",\"kv_lora_rank\":32,\"qk_rope_head_dim\":8,"
	     "\"qk_nope_head_dim\":16,\"v_head_dim\":16}",
	     "architecture \"k9\" is not known: read like deepseek");
	says("{\"model_type\":\"mistral3\",\"text_config\":{\"model_type\":\"mistral9\"," SHAPE
	     ",\"kv_lora_rank\":32,\"qk_rope_head_dim\":8,\"qk_nope_head_dim\":16,\"v_head_dim\":16}}",
	     "architecture \"mistral9\" is not known: read like deepseek, whose keys it has");
	says("{\"model_type\":\"mistral3\",\"text_config\":{\"model_type\":\"mistral9\",\"num_key_value_heads\":4," SHAPE "}}",
	     "architecture \"mistral9\" is not known: read like mistral, the");
	says("{\"model_type\":\"deepseek_vl_v2\",\"vision_config\":{\"width\":{\"odd\":1}},"
	     "\"language_config\":{\"model_type\":\"llama\",\"num_key_value_heads\":4," SHAPE "}}",
	     "joint, vision_config of the file is not counted");
	says("{\"model_type\":\"llama\"," SHAPE ",\"talker_config\":{\"hidden_size\":64}}",
	     "talker_config of the file is not counted");
	says("{\"model_type\":\"llama\"," SHAPE ",\"quantization_config\":{\"a\":1}}",
	     "the quantization has no quant_method");
	says("{\"model_type\":\"llama\"," SHAPE ",\"max_position_embeddings\":512}", "1 x 512 tokens");
	ok(!strstr(text, "beyond the"), "a context that nobody asked for is no mistake");
	ok(!strstr(text, "is a path and also"), "nor is a path that is one");
	says("{\"model_type\":\"llama\"," SHAPE ",\"quantization_config\":{\"quant_method\":\"exl3\",\"bits\":4}}",
	     "exl3-4 is a format of ExLlama alone");
	says("{\"model_type\":\"llama\"," SHAPE ",\"quantization_config\":{\"quant_method\":\"gptq\",\"bits\":4,"
	     "\"group_size\":128,\"lm_head\":true}}", "x 10.22 bits");
	says("{\"model_type\":\"llama\"," SHAPE ",\"quantization_config\":{\"quant_method\":\"nvfp4\"}}",
	     "infer nvfp4");
	says_of("--task=qlora", "{\"model_type\":\"llama\"," SHAPE ",\"quantization_config\":{\"quant_method\":\"fp8\"}}",
		"QLoRA quantizes weights in 16 bits to nf4-dq");
	says("{\"model_type\":\"gemma4_text\"," SHAPE ",\"layer_types\":[\"sliding_attention\",\"full_attention\"],"
	     "\"sliding_window\":512,\"head_dim\":16,\"global_head_dim\":32,\"num_key_value_heads\":2,"
	     "\"num_global_key_value_heads\":1}", "(1 layers x 2 x 2 heads x 16 x 512 tokens + 1 layers");
	says("{\"model_type\":\"bert\"," SHAPE ",\"max_position_embeddings\":512}", "512 prompt tokens at a time");
	ok(!strstr(text, "sampler"), "an encoder has no sampler");
}

int main(void)
{
	size();
	formulas();
	remarks();
	most();
	catalogues();
	free(text);
	json_object_put(json);
	return tap_done();
}
