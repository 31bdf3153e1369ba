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

#include "base/text.h"
#include "build.h"
#include "family.h"
#include "model.h"

/* Numbers of a shape; the index is the bit in @seen. */
const struct model_number model_numbers[] = {
#define NUMBER(member, min, max)                                                                   \
	{                                                                                          \
#member, offsetof(struct cat_model, member), min, max                              \
	}
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
	NUMBER(max_context, 1, 1 << 30),
	NUMBER(published, 1, 1ull << 50),
#undef NUMBER
	{ NULL, 0, 0, 0 },
};

#define N_NUMBERS (sizeof(model_numbers) / sizeof(model_numbers[0]) - 1)

enum other_key {
	SEEN_NAME = N_NUMBERS,
	SEEN_SOURCE,
	SEEN_ALIASES,
	SEEN_ARCH,
	SEEN_TIED,
	SEEN_STORED,
};

_Static_assert(SEEN_STORED < 64, "the keys of an entry fit in cat_model.seen");

static int key_bit(const char *key)
{
	static const char *const others[] = {
		"name", "source", "aliases", "arch", "tied", "stored",
	};
	size_t i;

	for (i = 0; i < N_NUMBERS; i++)
		if (!strcmp(key, model_numbers[i].key))
			return (int)i;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(key, others[i]))
			return (int)(SEEN_NAME + i);
	return -1;
}

static int model_replace(char **where, const char *value, struct fault *f)
{
	char *copy = strdup(value);

	if (!copy)
		return fault_set(f, ENOMEM, "out of memory");
	free(*where);
	*where = copy;
	return 0;
}

static int model_set_key(struct cat_model *model, int bit, const char *value, struct fault *f)
{
	unsigned long long n;
	char **list;
	size_t count;
	int err;

	switch (bit) {
	case SEEN_NAME:
		return model_replace(&model->name, value, f);
	case SEEN_SOURCE:
		return model_replace(&model->source, value, f);
	case SEEN_STORED:
		return model_replace(&model->stored, value, f);
	case SEEN_ARCH:
		return model_replace(&model->arch, value, f);
	case SEEN_TIED:
		model->tied_given = true;
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
		err = conf_whole(value, model_numbers[bit].min, model_numbers[bit].max, &n, f);
		if (!err)
			*(uint64_t *)((char *)model + model_numbers[bit].offset) = n;
		return err;
	}
}

static int model_open_section(struct cat_model **models, size_t *n, unsigned int layer,
			      const char *id, struct fault *f)
{
	struct cat_model *more;
	size_t i;

	for (i = 0; i < *n; i++) {
		if (strcmp((*models)[i].id, id))
			continue;
		if ((*models)[i].layer == layer)
			return fault_set(f, EEXIST, "[%s] is already described in this directory",
					 id);
		(*models)[i].layer = layer;
		(*models)[i].seen = 0;
		return 0;
	}
	more = mem_push(*models, *n, sizeof(*more));
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
		return model_open_section(models, n, layer, item->section, f);

	for (i = 0; i < *n && strcmp((*models)[i].id, item->section); i++)
		;
	model = &(*models)[i];
	bit = key_bit(item->key);
	if (bit < 0)
		return fault_set(f, EINVAL, "no such key: %s", item->key);
	if (model->seen & (1ull << bit))
		return fault_set(f, EINVAL, "%s is given twice", item->key);
	err = model_set_key(model, bit, item->value, f);
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
	if (!m->arch)
		return "arch";
	return m->source ? NULL : "source";
}

int cat_model_leave_out(struct cat_model *m, const char *part, size_t len)
{
	size_t n = strlen(m->left_out);

	snprintf(m->left_out + n, sizeof(m->left_out) - n, "%s%.*s", n ? ", " : "",
		 (int)(len < 40 ? len : 40), part);
	return 0;
}

void cat_model_clear_counts(struct cat_model *m)
{
	memset(&m->params, 0, sizeof(m->params));
	memset(m->lora_sides, 0, sizeof(m->lora_sides));
	m->left_out[0] = '\0';
	m->short_list[0] = '\0';
	m->unknown_text[0] = '\0';
	m->n_caches = 0;
	m->state_bytes = 0;
	m->index_bytes = 0;
}

const char *cat_model_nonsense(const struct cat_model *m)
{
	if (m->kv_heads && m->heads % m->kv_heads)
		return "heads must be a multiple of kv_heads";
	if (m->experts && (!m->active_experts || !m->moe_ffn))
		return "experts need active_experts and moe_ffn";
	if (m->active_experts > m->experts)
		return "more active_experts than experts";
	if (m->dense_layers > m->layers)
		return "more dense_layers than layers";
	if (m->full_attention_every && !m->sliding_window)
		return "full_attention_every needs a sliding_window";
	return NULL;
}

static int no_family(const struct cat_model *m, const struct cat_families *families,
		     struct fault *f)
{
	size_t i;

	fault_set(f, EINVAL, "[%s] no such family \"%.40s\"; known are", m->id, m->arch);
	for (i = 0; i < families->n; i++)
		fault_add(f, " %s", families->item[i].id);
	return -EINVAL;
}

int cat_model_complete(struct cat_model *m, const struct cat_families *families, struct fault *f)
{
	const char *text = missing_key(m);
	struct model_plan plan = { .families = families };
	int err;

	plan.family = m->arch ? family_get(families, m->arch) : NULL;
	if (m->arch && !plan.family)
		return no_family(m, families, f);
	if (text)
		return fault_set(f, EINVAL, "[%s] needs the key %s", m->id, text);
	m->tied_given = true;
	err = cat_model_build(&plan, m, f);
	if (err) {
		fault_prefix(f, "[%s]", m->id);
		return err;
	}
	text = cat_model_nonsense(m);
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
		free(models[i].arch);
		free(models[i].stored);
		conf_list_free(models[i].aliases, models[i].n_aliases);
	}
	free(models);
}
