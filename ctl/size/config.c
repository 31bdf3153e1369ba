// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: config.json
 *
 * Families name the same number differently; one table has all names. What a
 * family leaves out by its own rule is derived by that rule, anything else that
 * is missing is an error: nothing is guessed.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "config.h"

/* Numbers beyond this are no shape; products stay within 128 bits. */
#define SHAPE_MAX (1 << 24)

/**
 * struct word - what a file calls an architecture
 * @word: model_type, or general.architecture of a GGUF file
 * @arch: ours
 * @tied: embeddings are tied unless the file says
 */
static const struct word {
	const char *word;
	enum model_arch arch;
	bool tied;
} words[] = {
	{ "llama", MODEL_LLAMA, false },	{ "mistral", MODEL_LLAMA, false },
	{ "yi", MODEL_LLAMA, false },		{ "phi3", MODEL_LLAMA, false },
	{ "baichuan", MODEL_LLAMA, false },	{ "qwen", MODEL_QWEN2, false },
	{ "qwen2", MODEL_QWEN2, false },	{ "qwen3", MODEL_QWEN3, false },
	{ "qwen3_moe", MODEL_QWEN3_MOE, false }, { "qwen3moe", MODEL_QWEN3_MOE, false },
	{ "mixtral", MODEL_MIXTRAL, false },	{ "gemma2", MODEL_GEMMA2, true },
	{ "gemma3", MODEL_GEMMA3, true },	{ "gemma3_text", MODEL_GEMMA3, true },
	{ "deepseek_v2", MODEL_DEEPSEEK, false }, { "deepseek_v3", MODEL_DEEPSEEK, false },
	{ "deepseek2", MODEL_DEEPSEEK, false },	{ "gpt2", MODEL_GPT2, true },
	{ "opt", MODEL_OPT, true },		{ "bloom", MODEL_BLOOM, true },
	{ "gpt_neox", MODEL_GPT_NEOX, false },	{ "gptneox", MODEL_GPT_NEOX, false },
	{ "mpt", MODEL_MPT, true },		{ "falcon", MODEL_FALCON, true },
	{ "phi", MODEL_PHI, false },
};

/**
 * struct field - a number under its names
 * @keys: as the families call it, separated by |
 * @offset: where it goes in struct cat_model
 * @needed: it cannot be derived
 */
static const struct field {
	const char *keys;
	size_t offset;
	bool needed;
} fields[] = {
#define FIELD(member, keys, needed) { keys, offsetof(struct cat_model, member), needed }
	FIELD(hidden, "hidden_size|n_embd|n_embed|d_model", true),
	FIELD(layers, "num_hidden_layers|n_layer|n_layers", true),
	FIELD(heads, "num_attention_heads|n_head|n_heads", true),
	FIELD(vocab, "vocab_size", true),
	FIELD(kv_heads, "num_key_value_heads|num_kv_heads|n_head_kv", false),
	FIELD(head_dim, "head_dim", false),
	FIELD(ffn, "intermediate_size|n_inner|ffn_dim|ffn_hidden_size", false),
	FIELD(positions, "n_positions|max_position_embeddings", false),
	FIELD(experts, "num_local_experts|num_experts|n_routed_experts", false),
	FIELD(active_experts, "num_experts_per_tok", false),
	FIELD(moe_ffn, "moe_intermediate_size", false),
	FIELD(shared_experts, "n_shared_experts", false),
	FIELD(dense_layers, "first_k_dense_replace", false),
	FIELD(q_lora, "q_lora_rank", false),
	FIELD(kv_lora, "kv_lora_rank", false),
	FIELD(rope_dim, "qk_rope_head_dim", false),
	FIELD(nope_dim, "qk_nope_head_dim", false),
	FIELD(value_dim, "v_head_dim", false),
	FIELD(sliding_window, "sliding_window", false),
	FIELD(full_attention_every, "sliding_window_pattern", false),
};

bool size_config_arch(const char *word, enum model_arch *arch)
{
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(words[i].word, word)) {
			*arch = words[i].arch;
			return true;
		}
	}
	return false;
}

/* A member that is there and not null. */
static struct json_object *member(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? value : NULL;
}

static bool flag(struct json_object *object, const char *key, bool fallback)
{
	struct json_object *value = member(object, key);

	return value && json_object_is_type(value, json_type_boolean)
		? json_object_get_boolean(value) : fallback;
}

static int take_whole(struct json_object *value, const char *key, uint64_t *out, struct fault *f)
{
	int64_t n;

	if (!json_object_is_type(value, json_type_int))
		return fault_set(f, EINVAL, "%s: not a whole number; copy the file again", key);
	n = json_object_get_int64(value);
	if (n < 0 || n > SHAPE_MAX)
		return fault_set(f, ERANGE, "%s: %lld is outside 0 to %d", key, (long long)n,
				 SHAPE_MAX);
	*out = (uint64_t)n;
	return 0;
}

static int read_field(struct json_object *config, const struct field *field,
		      struct cat_model *model, struct fault *f)
{
	const char *s = field->keys;
	struct json_object *value;
	uint64_t *out = (uint64_t *)((char *)model + field->offset);
	char key[64];
	int err;

	while (*s) {
		size_t len = strcspn(s, "|");

		snprintf(key, sizeof(key), "%.*s", (int)len, s);
		s += len + (s[len] == '|');
		value = member(config, key);
		if (!value)
			continue;
		err = take_whole(value, key, out, f);
		if (!err && field->needed && !*out)
			return fault_set(f, EINVAL, "%s: must be more than zero", key);
		return err;
	}
	if (!field->needed)
		return 0;
	s = field->keys;
	return fault_set(f, EINVAL, "%.*s is missing: this is no whole config.json",
			 (int)strcspn(s, "|"), s);
}

/* --- what families leave to a rule -------------------------------------------- */

static int derive_ffn(struct json_object *config, const char *type, struct cat_model *m,
		      struct fault *f)
{
	struct json_object *ratio = member(config, "expansion_ratio");
	uint64_t times = 4;
	int err;

	if (m->arch == MODEL_MPT && ratio) {
		err = take_whole(ratio, "expansion_ratio", &times, f);
		if (err || !times || times > 64)
			return err ? err : fault_set(f, ERANGE,
						     "expansion_ratio: outside 1 to 64");
	}
	if (!strcmp(type, "qwen"))
		m->ffn /= 2;
	if (m->ffn)
		return 0;
	switch (m->arch) {
	case MODEL_GPT2:
	case MODEL_BLOOM:
	case MODEL_MPT:
	case MODEL_FALCON:
		m->ffn = times * m->hidden;
		return 0;
	default:
		return fault_set(f, EINVAL,
				 "intermediate_size is missing: this is no whole config.json");
	}
}

static void derive_falcon(struct json_object *config, struct cat_model *m)
{
	bool decoder = flag(config, "new_decoder_architecture", false);

	m->layer_norms = decoder || !flag(config, "parallel_attn", true) ? 2 : 1;
	if (!decoder)
		m->kv_heads = flag(config, "multi_query", true) ? 1 : m->heads;
}

static void derive_window(struct json_object *config, const char *type, struct cat_model *m)
{
	bool windowed = m->arch == MODEL_GEMMA2 || m->arch == MODEL_GEMMA3 ||
			!strcmp(type, "mistral") || !strcmp(type, "phi3") ||
			(!strncmp(type, "qwen", 4) && flag(config, "use_sliding_window", false));

	if (!windowed)
		m->sliding_window = 0;
	if (m->arch == MODEL_GEMMA2)
		m->full_attention_every = 2;
	else if (m->arch == MODEL_GEMMA3 && !m->full_attention_every)
		m->full_attention_every = 6;
	else if (m->arch != MODEL_GEMMA3)
		m->full_attention_every = 0;
	if (!m->sliding_window)
		m->full_attention_every = 0;
}

static int derive_experts(struct cat_model *m, struct fault *f)
{
	if (m->arch == MODEL_MIXTRAL)
		m->moe_ffn = m->ffn;
	if (m->arch != MODEL_MIXTRAL && m->arch != MODEL_QWEN3_MOE && m->arch != MODEL_DEEPSEEK) {
		m->experts = 0;
		m->active_experts = 0;
		m->moe_ffn = 0;
		m->shared_experts = 0;
		m->dense_layers = 0;
	} else if (!m->experts) {
		return fault_set(f, EINVAL, "num_experts is missing: this family has experts");
	}
	if (m->arch != MODEL_DEEPSEEK)
		m->kv_lora = 0;
	return 0;
}

static int derive(struct json_object *config, const char *type, struct cat_model *m,
		  struct fault *f)
{
	int err = derive_ffn(config, type, m, f);

	if (!err)
		err = derive_experts(m, f);
	if (err)
		return err;
	if (m->arch == MODEL_FALCON)
		derive_falcon(config, m);
	if (m->arch == MODEL_OPT)
		m->positions += 2;	/* its position table starts at 2 */
	else if (m->arch != MODEL_GPT2)
		m->positions = 0;
	derive_window(config, type, m);
	if (!m->head_dim && m->arch != MODEL_DEEPSEEK && m->hidden % m->heads)
		return fault_set(f, EINVAL,
				 "num_attention_heads %llu does not divide hidden_size %llu, and there is no head_dim",
				 (unsigned long long)m->heads, (unsigned long long)m->hidden);
	return 0;
}

static void read_quant(struct json_object *config, char quant[16])
{
	struct json_object *q = member(config, "quantization_config");
	struct json_object *method = q ? member(q, "quant_method") : NULL;
	struct json_object *bits = q ? member(q, "bits") : NULL;
	const char *name = method ? json_object_get_string(method) : "";

	if (!strcmp(name, "gptq"))
		snprintf(quant, 16, "gptq-int%d", bits ? json_object_get_int(bits) : 4);
	else if (!strcmp(name, "awq") || !strcmp(name, "fp8") || !strcmp(name, "mxfp4"))
		snprintf(quant, 16, "%s", name);
	else if (!strcmp(name, "bitsandbytes") && flag(q, "load_in_4bit", false))
		snprintf(quant, 16, "%s", flag(q, "bnb_4bit_use_double_quant", false) ? "nf4-dq"
										     : "nf4");
}

static int read_config(struct json_object *config, struct cat_model *model, char quant[16],
		       struct fault *f)
{
	struct json_object *type = member(config, "model_type");
	struct json_object *text = member(config, "text_config");
	const char *word = type ? json_object_get_string(type) : "";
	size_t i;
	int err;

	if (!type || !json_object_is_type(type, json_type_string))
		return fault_set(f, EINVAL, "model_type is missing: this is no whole config.json");
	read_quant(config, quant);
	/* of a model that also sees, the part that reads and writes */
	if (text && json_object_is_type(text, json_type_object) && member(text, "hidden_size"))
		config = text;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i].word, word))
			break;
	if (i == sizeof(words) / sizeof(words[0]))
		return fault_set(f, ENOTSUP,
				 "model_type \"%.40s\" is not known: say its size with --params 7B instead",
				 word);
	model->arch = words[i].arch;
	model->has_arch = true;
	model->tied = flag(config, "tie_word_embeddings", words[i].tied);
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		err = read_field(config, &fields[i], model, f);
		if (err)
			return err;
	}
	return derive(config, word, model, f);
}

int size_model_finish(struct cat_model *model, const char *name, struct fault *f)
{
	static const char source[] = "the file that was named";

	model->has_arch = true;
	free(model->id);
	free(model->name);
	free(model->source);
	model->id = strdup(name);
	model->name = strdup(name);
	model->source = strdup(source);
	if (!model->id || !model->name || !model->source)
		return fault_set(f, ENOMEM, "out of memory");
	return cat_model_complete(model, f);
}

void size_model_drop(struct cat_model *model)
{
	free(model->id);
	free(model->name);
	free(model->source);
	memset(model, 0, sizeof(*model));
}

int size_config_parse(const char *text, size_t len, struct cat_model *model, char quant[16],
		      struct fault *f)
{
	struct json_tokener *tok = json_tokener_new();
	struct json_object *config;
	int err;

	memset(model, 0, sizeof(*model));
	*quant = '\0';
	if (!tok)
		return fault_set(f, ENOMEM, "out of memory");
	config = json_tokener_parse_ex(tok, text, len > INT32_MAX ? INT32_MAX : (int)len);
	if (!config || !json_object_is_type(config, json_type_object))
		err = fault_set(f, EINVAL, "not a JSON object (%s); copy the file again",
				json_why_no_object(tok));
	else
		err = read_config(config, model, quant, f);
	if (!err)
		err = size_model_finish(model, "config.json", f);
	if (err)
		size_model_drop(model);
	json_object_put(config);
	json_tokener_free(tok);
	return err;
}
