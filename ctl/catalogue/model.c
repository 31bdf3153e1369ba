// SPDX-License-Identifier: GPL-2.0-only
/*
 * Language models as the catalogue files describe them: shapes only. A shape
 * that cannot exist is refused when it is read, so that the formulas need no
 * checks of their own; the ranges also keep every product within 128 bits.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

static const char *const arch_names[MODEL_ARCHS] = {
	[MODEL_LLAMA] = "llama",
	[MODEL_QWEN2] = "qwen2",
	[MODEL_QWEN3] = "qwen3",
	[MODEL_QWEN3_MOE] = "qwen3-moe",
	[MODEL_MIXTRAL] = "mixtral",
	[MODEL_GEMMA2] = "gemma2",
	[MODEL_GEMMA3] = "gemma3",
	[MODEL_DEEPSEEK] = "deepseek",
	[MODEL_GPT2] = "gpt2",
	[MODEL_OPT] = "opt",
	[MODEL_BLOOM] = "bloom",
	[MODEL_GPT_NEOX] = "gpt-neox",
	[MODEL_MPT] = "mpt",
	[MODEL_FALCON] = "falcon",
	[MODEL_PHI] = "phi",
};

/* Numbers of a shape; the index is the bit in @seen. */
static const struct {
	const char *key;
	size_t offset;
	uint64_t min;
	uint64_t max;
} numbers[] = {
#define NUMBER(member, min, max) \
	{ #member, offsetof(struct cat_model, member), min, max }
	NUMBER(hidden, 16, 1 << 20),
	NUMBER(layers, 1, 4096),
	NUMBER(heads, 1, 4096),
	NUMBER(kv_heads, 1, 4096),
	NUMBER(head_dim, 1, 4096),
	NUMBER(ffn, 16, 1 << 22),
	NUMBER(vocab, 16, 1 << 24),
	NUMBER(positions, 1, 1 << 24),
	NUMBER(layer_norms, 1, 8),
	NUMBER(experts, 2, 1 << 14),
	NUMBER(active_experts, 1, 1 << 14),
	NUMBER(moe_ffn, 16, 1 << 22),
	NUMBER(shared_experts, 1, 1 << 10),
	NUMBER(dense_layers, 1, 4096),
	NUMBER(q_lora, 1, 1 << 16),
	NUMBER(kv_lora, 1, 1 << 16),
	NUMBER(rope_dim, 1, 4096),
	NUMBER(nope_dim, 1, 4096),
	NUMBER(value_dim, 1, 4096),
	NUMBER(sliding_window, 1, 1 << 24),
	NUMBER(full_attention_every, 2, 4096),
	NUMBER(published, 1, 1ull << 50),
#undef NUMBER
};

#define N_NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

enum other_key {
	SEEN_NAME = N_NUMBERS,
	SEEN_SOURCE,
	SEEN_ALIASES,
	SEEN_ARCH,
	SEEN_TIED,
};

_Static_assert(SEEN_TIED < 64, "the keys of an entry fit in cat_model.seen");

const char *cat_model_arch_name(enum model_arch arch)
{
	return arch_names[arch];
}

static int key_bit(const char *key)
{
	static const char *const others[] = {
		"name", "source", "aliases", "arch", "tied",
	};
	size_t i;

	for (i = 0; i < N_NUMBERS; i++)
		if (!strcmp(key, numbers[i].key))
			return (int)i;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(key, others[i]))
			return (int)(SEEN_NAME + i);
	return -1;
}

static int replace(char **where, const char *value, struct fault *f)
{
	char *copy = strdup(value);

	if (!copy)
		return fault_set(f, ENOMEM, "out of memory");
	free(*where);
	*where = copy;
	return 0;
}

static int set_arch(struct cat_model *model, const char *value,
		    struct fault *f)
{
	size_t i;

	for (i = 0; i < MODEL_ARCHS; i++) {
		if (!strcmp(value, arch_names[i])) {
			model->arch = (enum model_arch)i;
			model->has_arch = true;
			return 0;
		}
	}
	fault_set(f, EINVAL, "no such family \"%.40s\"; known are", value);
	for (i = 0; i < MODEL_ARCHS; i++)
		fault_add(f, " %s", arch_names[i]);
	return -EINVAL;
}

static int set_key(struct cat_model *model, int bit, const char *value,
		   struct fault *f)
{
	unsigned long long n;
	char **list;
	size_t count;
	int err;

	switch (bit) {
	case SEEN_NAME:
		return replace(&model->name, value, f);
	case SEEN_SOURCE:
		return replace(&model->source, value, f);
	case SEEN_ARCH:
		return set_arch(model, value, f);
	case SEEN_TIED:
		return conf_bool(value, &model->tied, f);
	case SEEN_ALIASES:
		err = conf_list(value, &list, &count, f);
		if (err)
			return err;
		conf_list_free(model->aliases, model->n_aliases);
		model->aliases = list;
		model->n_aliases = count;
		return 0;
	default:
		err = conf_whole(value, numbers[bit].min, numbers[bit].max, &n,
				 f);
		if (!err)
			*(uint64_t *)((char *)model + numbers[bit].offset) = n;
		return err;
	}
}

static int open_section(struct cat_model **models, size_t *n,
			unsigned int layer, const char *id, struct fault *f)
{
	struct cat_model *more;
	size_t i;

	for (i = 0; i < *n; i++) {
		if (strcmp((*models)[i].id, id))
			continue;
		if ((*models)[i].layer == layer)
			return fault_set(f, EEXIST,
					 "[%s] is already described in this directory",
					 id);
		(*models)[i].layer = layer;
		(*models)[i].seen = 0;
		return 0;
	}
	more = realloc(*models, (*n + 1) * sizeof(*more));
	if (!more)
		return fault_set(f, ENOMEM, "out of memory");
	*models = more;
	memset(&more[*n], 0, sizeof(*more));
	more[*n].layer = layer;
	more[*n].id = strdup(id);
	if (!more[*n].id)
		return fault_set(f, ENOMEM, "out of memory");
	(*n)++;
	return 0;
}

int cat_model_item(struct cat_model **models, size_t *n, unsigned int layer,
		   const struct conf_item *item, struct fault *f)
{
	struct cat_model *model;
	size_t i;
	int bit, err;

	if (!item->key)
		return open_section(models, n, layer, item->section, f);

	for (i = 0; i < *n && strcmp((*models)[i].id, item->section); i++)
		;
	model = &(*models)[i];
	bit = key_bit(item->key);
	if (bit < 0)
		return fault_set(f, EINVAL, "no such key: %s", item->key);
	if (model->seen & (1ull << bit))
		return fault_set(f, EINVAL, "%s is given twice", item->key);
	err = set_key(model, bit, item->value, f);
	if (err) {
		fault_prefix(f, "%s", item->key);
		return err;
	}
	if (!item->inherited)
		model->seen |= 1ull << bit;
	return 0;
}

static const char *missing_key(const struct cat_model *m)
{
	if (!m->name)
		return "name";
	if (!m->has_arch)
		return "arch";
	if (!m->source)
		return "source";
	if (!m->hidden)
		return "hidden";
	if (!m->layers)
		return "layers";
	if (!m->heads)
		return "heads";
	if (!m->ffn)
		return "ffn";
	if (!m->vocab)
		return "vocab";
	if ((m->arch == MODEL_GPT2 || m->arch == MODEL_OPT) && !m->positions)
		return "positions";
	if (m->arch == MODEL_FALCON && !m->layer_norms)
		return "layer_norms";
	return NULL;
}

static bool wants_experts(enum model_arch arch)
{
	return arch == MODEL_MIXTRAL || arch == MODEL_QWEN3_MOE ||
	       arch == MODEL_DEEPSEEK;
}

static const char *nonsense(const struct cat_model *m)
{
	if (m->heads % m->kv_heads)
		return "heads must be a multiple of kv_heads";
	if (wants_experts(m->arch) != !!m->experts)
		return m->experts ? "this family has no experts"
				  : "this family needs experts";
	if (m->experts && (!m->active_experts || !m->moe_ffn))
		return "experts need active_experts and moe_ffn";
	if (m->active_experts > m->experts)
		return "more active_experts than experts";
	if (m->dense_layers > m->layers)
		return "more dense_layers than layers";
	if (m->arch == MODEL_DEEPSEEK &&
	    (!m->kv_lora || !m->rope_dim || !m->nope_dim || !m->value_dim))
		return "this family needs kv_lora, rope_dim, nope_dim and value_dim";
	if (m->full_attention_every && !m->sliding_window)
		return "full_attention_every needs a sliding_window";
	return NULL;
}

int cat_model_complete(struct cat_model *m, struct fault *f)
{
	const char *text = missing_key(m);

	if (text)
		return fault_set(f, EINVAL, "[%s] needs the key %s", m->id,
				 text);
	if (!m->kv_heads)
		m->kv_heads = m->heads;
	if (!m->head_dim && m->arch != MODEL_DEEPSEEK) {
		if (m->hidden % m->heads)
			return fault_set(f, EINVAL,
					 "[%s] needs the key head_dim: hidden is no multiple of heads",
					 m->id);
		m->head_dim = m->hidden / m->heads;
	}
	text = nonsense(m);
	if (text)
		return fault_set(f, EINVAL, "[%s] %s", m->id, text);
	return 0;
}

void cat_model_free(struct cat_model *models, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		free(models[i].id);
		free(models[i].name);
		free(models[i].source);
		conf_list_free(models[i].aliases, models[i].n_aliases);
	}
	free(models);
}
