// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: building a model
 *
 * Each part of the family is evaluated for each layer that has it: its tensors
 * are counted by group, its cache and state are added. A part whose formulas
 * never look at the number of the layer is evaluated once and multiplied.
 *
 * A model may hold others: the text model of one that sees, and its encoders.
 * They are stacks of their own, with the facts of their part of the file.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"

#define u128 __uint128_t

/* Numbers beyond this are no shape. */
#define SHAPE_MAX (1 << 24)
#define TENSOR_MAX 9e15
#define STATE_MAX 0x1p50
#define NAME_LENGTH 128
#define LAYERS_MAX 4096

enum memo_state {
	MEMO_NONE,
	MEMO_BUSY,
	MEMO_DONE,
	MEMO_GIVEN
};

/**
 * struct memo - a variable that was evaluated
 * @layered: it depends on the number of the layer
 */
struct memo {
	unsigned char state;
	bool layered;
	struct expr_value value;
};

/**
 * struct sums - what was counted so far
 * @in: numbers by group; of text the matrices are in @linear, the rest in @small
 * @experts: matrices of routed experts; @idle: of them those that a token passes by
 * @block: numbers of each layer
 */
struct sums {
	u128 in[TENSOR_GROUPS];
	u128 linear;
	u128 small;
	u128 experts;
	u128 idle;
	double block[LAYERS_MAX];
};

/**
 * struct stack - one family at work on its facts
 * @forced: group of all parts, or TENSOR_GROUPS
 * @prefix: of the names of its tensors
 * @memo: of each line of the family
 */
struct stack {
	const struct model_plan *plan;
	const struct cat_family *family;
	struct expr_facts own;
	const struct expr_facts *facts;
	enum tensor_group forced;
	const char *prefix;
	struct cat_model *model;
	struct sums *sums;
	struct expr_scope scope;
	struct memo *memo;
	struct fault *f;
};

static int variable(void *arg, const char *name, size_t len, struct expr_value *out,
		    struct fault *f)
{
	struct stack *s = arg;
	int line = family_line(s->family, name, len);
	bool outside = s->scope.saw_layer;
	struct memo *memo;
	const char *end;
	int err;

	if (line < 0)
		return -ENOENT;
	memo = &s->memo[line];
	if (memo->state == MEMO_BUSY)
		return fault_set(f, ELOOP, "%.*s depends on itself", (int)len, name);
	if (memo->state == MEMO_NONE) {
		memo->state = MEMO_BUSY;
		s->scope.saw_layer = false;
		err = expr_eval(&s->scope, s->family->line[line].value, "", &end, &memo->value, f);
		if (err)
			return err;
		memo->layered = s->scope.saw_layer;
		memo->state = MEMO_DONE;
	}
	s->scope.saw_layer = outside || memo->layered;
	*out = memo->value;
	return 0;
}

static void set_layer(struct stack *s, unsigned int layer)
{
	size_t i;

	s->scope.layer = layer;
	for (i = 0; i < s->family->n; i++)
		if (s->memo[i].state == MEMO_DONE && s->memo[i].layered)
			s->memo[i].state = MEMO_NONE;
}

static int named(struct stack *s, const char *name, struct expr_value *out)
{
	*out = (struct expr_value){ EXPR_ABSENT, 0, NULL, NULL };
	s->scope.path[0] = '\0';
	s->f->text[0] = '\0';
	return variable(s, name, strlen(name), out, s->f) == -ENOENT || !*s->f->text ? 0 : -EINVAL;
}

/* A property that is a number; @fallback without the line. */
static int property(struct stack *s, const struct family_part *part, enum family_property p,
		    double fallback, double *out)
{
	int line = part->line[p], err;
	struct expr_value value;
	const char *end;

	*out = fallback;
	if (line < 0)
		return 0;
	err = expr_eval(&s->scope, s->family->line[line].value, "", &end, &value, s->f);
	if (err)
		return err;
	if (value.kind == EXPR_ABSENT && p == PART_WHEN)
		*out = 0;
	else if (value.kind != EXPR_NUMBER || value.number < 0 || value.number > TENSOR_MAX)
		return fault_set(s->f, EINVAL,
				 "[%s] %s: the file does not have it, or it is not a number",
				 s->family->id, s->family->line[line].key);
	else
		*out = value.number;
	return 0;
}

/* --- tensors --------------------------------------------------------------------- */

/**
 * struct place - which part of which layer is counted
 * @times: layers that are like this one
 */
struct place {
	const struct family_part *part;
	enum tensor_group group;
	unsigned int layer;
	bool layered;
	double times;
	double copies;
	double active;
};

static void tell(struct stack *s, const struct place *at, const char *name, size_t len,
		 double numbers, double columns, bool kept)
{
	char full[NAME_LENGTH * 2];
	struct model_tensor tensor = {
		.name = full,
		.group = at->group,
		.numbers = (uint64_t)numbers,
		.columns = (uint64_t)columns,
		.copies = (uint64_t)at->copies,
		.kept = kept,
	};

	if (at->layered)
		snprintf(full, sizeof(full), "%slayers.%u.%.*s", s->prefix, at->layer, (int)len,
			 name);
	else
		snprintf(full, sizeof(full), "%.*s", (int)len, name);
	s->plan->tensor(s->plan->arg, &tensor);
}

static void count_tensor(struct stack *s, const struct place *at, double numbers, bool kept,
			 double rows_and_columns, int target)
{
	struct sums *sums = s->sums;
	u128 all = (u128)(numbers * at->copies) * (u128)at->times;

	sums->in[at->group] += all;
	if (at->group == GROUP_TEXT && at->layer < LAYERS_MAX)
		sums->block[at->layer] += numbers * at->copies;
	if (at->group != GROUP_TEXT && at->group != GROUP_FINAL)
		return;
	if (kept) {
		sums->small += all;
		return;
	}
	sums->linear += all;
	if (at->part->line[PART_ACTIVE] >= 0) {
		sums->experts += all;
		sums->idle += (u128)(numbers * (at->copies - at->active)) * (u128)at->times;
	} else if (target >= 0) {
		rows_and_columns =
			rows_and_columns * at->times + (double)s->model->lora_sides[target];
		s->model->lora_sides[target] = (uint64_t)fmin(rows_and_columns, STATE_MAX);
	}
}

/* What LoRA calls it: query, key, value, output, MLP, anything else of a mixer. */
static int target_of(const struct stack *s, const struct place *at, const char *name, size_t len)
{
	static const char *const ends[] = { "q_proj", "k_proj", "v_proj", "o_proj" };
	int i;

	if (at->part->len == 3 && !strncmp(at->part->name, "mlp", 3))
		return LORA_MLP;
	if (!memchr(name, '.', len) || strncmp(name, "self_attn.", 10))
		return -1;
	for (i = 0; i < 4 && !s->model->kv_lora; i++)
		if (len == 16 && !strncmp(name + 10, ends[i], 6))
			return i;
	return LORA_LATENT;
}

/* "name[rows, columns] name[length] ..." */
static int count_list(struct stack *s, const struct place *at, const char *text, bool kept)
{
	struct expr_value value;
	double numbers, first, last;
	const char *name;
	size_t len;
	int err;

	for (;;) {
		text += strspn(text, " \t");
		if (!*text)
			return 0;
		name = text;
		len = strcspn(text, "[");
		if (!text[len] || !len || len > NAME_LENGTH / 2)
			return fault_set(s->f, EINVAL, "[%s] \"%.40s\": write name[rows, columns]",
					 s->family->id, text);
		text += len;
		numbers = 1;
		first = 0;
		last = 1;
		do {
			err = expr_eval(&s->scope, text + 1, ",]", &text, &value, s->f);
			if (err)
				return err;
			if (value.kind != EXPR_NUMBER || value.number < 0 ||
			    value.number != floor(value.number))
				return fault_set(s->f, EINVAL,
						 "[%s] %.*s: the file does not say how large it is",
						 s->family->id, (int)len, name);
			numbers *= value.number;
			first = first ? first : value.number;
			last = value.number;
		} while (*text == ',');
		if (*text != ']' || numbers > TENSOR_MAX)
			return fault_set(s->f, ERANGE,
					 "[%s] %.*s: ] is missing, or it is too large",
					 s->family->id, (int)len, name);
		text++;
		if (!numbers)
			continue;
		count_tensor(s, at, numbers, kept, first + last, target_of(s, at, name, len));
		if (s->plan->tensor)
			tell(s, at, name, len, numbers, first == numbers ? 1 : first, kept);
	}
}

/* --- caches ---------------------------------------------------------------------- */

static int add_cache(struct stack *s, double heads, double width, double window, double layers)
{
	struct cat_model *m = s->model;
	size_t i;

	if (!heads || !width)
		return 0;
	if (heads > LAYERS_MAX || width > SHAPE_MAX || window > SHAPE_MAX ||
	    heads != floor(heads) || width != floor(width))
		return fault_set(s->f, ERANGE, "[%s] a cache of %g x %g numbers is not possible",
				 s->family->id, heads, width);
	for (i = 0; i < m->n_caches; i++)
		if ((double)m->cache[i].heads == heads && (double)m->cache[i].width == width &&
		    (double)m->cache[i].window == window)
			break;
	if (i == MODEL_CACHES_MAX)
		return fault_set(s->f, E2BIG, "[%s] more than %d kinds of layers", s->family->id,
				 MODEL_CACHES_MAX);
	if (i == m->n_caches) {
		m->cache[i] = (struct model_cache){ .heads = (uint64_t)heads,
						    .width = (uint64_t)width,
						    .window = (uint64_t)window };
		m->n_caches++;
	}
	m->cache[i].layers += (uint64_t)layers;
	return 0;
}

static int count_cache(struct stack *s, const struct place *at)
{
	double heads, width, window, state, index;
	int err = property(s, at->part, PART_KV_HEADS, 0, &heads);

	if (!err)
		err = property(s, at->part, PART_KV_WIDTH, 0, &width);
	if (!err)
		err = property(s, at->part, PART_WINDOW, 0, &window);
	if (!err)
		err = property(s, at->part, PART_STATE, 0, &state);
	if (!err)
		err = property(s, at->part, PART_INDEX, 0, &index);
	/* what only an encoder or a draft keeps is no cache of the text */
	if (err || at->group != GROUP_TEXT)
		return err;
	state = state * at->times + (double)s->model->state_bytes;
	index = index * at->times + (double)s->model->index_bytes;
	if (state > STATE_MAX || index > STATE_MAX)
		return fault_set(s->f, ERANGE,
				 "[%s] a state of more than 2^50 bytes is not possible",
				 s->family->id);
	s->model->state_bytes = (uint64_t)state;
	s->model->index_bytes = (uint64_t)index;
	return add_cache(s, heads, width, floor(window), at->times);
}

/* --- parts ----------------------------------------------------------------------- */

static int count_place(struct stack *s, struct place *at)
{
	const struct family_part *part = at->part;
	int err = property(s, part, PART_COPIES, 1, &at->copies);

	if (!err)
		err = property(s, part, PART_ACTIVE, at->copies, &at->active);
	if (!err && at->active > at->copies)
		err = fault_set(s->f, EINVAL, "more active_experts than experts");
	if (!err && part->line[PART_TENSORS] >= 0)
		err = count_list(s, at, s->family->line[part->line[PART_TENSORS]].value, false);
	if (!err && part->line[PART_KEPT] >= 0)
		err = count_list(s, at, s->family->line[part->line[PART_KEPT]].value, true);
	return err ? err : count_cache(s, at);
}

static enum tensor_group group_of(struct stack *s, const struct family_part *part)
{
	static const char *const names[] = {
		[GROUP_TEXT] = "text",	 [GROUP_EMBEDDING] = "embedding", [GROUP_HEAD] = "head",
		[GROUP_FINAL] = "final", [GROUP_VISION] = "vision",	  [GROUP_MTP] = "mtp",
	};
	int line = part->line[PART_GROUP];
	size_t i;

	for (i = 0; line >= 0 && i < TENSOR_GROUPS; i++)
		if (!strcmp(s->family->line[line].value, names[i]))
			return (enum tensor_group)i;
	return GROUP_TEXT;
}

static int build_part(struct stack *s, const struct family_part *part);

/* The text parts of one layer once more, in another group. */
static int repeat_layer(struct stack *s, unsigned int layer, struct place *at)
{
	size_t i;
	int err = 0;

	set_layer(s, layer);
	for (i = 0; !err && i < s->family->n_parts; i++) {
		const struct family_part *part = &s->family->part[i];
		struct place again = *at;
		double when;

		if (group_of(s, part) != GROUP_TEXT || part->line[PART_LAYERS] >= 0)
			continue;
		err = property(s, part, PART_WHEN, 1, &when);
		again.part = part;
		again.layer = layer;
		again.layered = true;
		if (!err && when)
			err = count_place(s, &again);
	}
	return err;
}

static int build_layer(struct stack *s, const struct family_part *part, struct place *at)
{
	double when, repeats;
	int err = property(s, part, PART_WHEN, 1, &when);

	if (err || !when)
		return err;
	err = count_place(s, at);
	if (err || part->line[PART_REPEATS] < 0)
		return err;
	err = property(s, part, PART_REPEATS, 0, &repeats);
	return err ? err : repeat_layer(s, (unsigned int)repeats, at);
}

static int build_part(struct stack *s, const struct family_part *part)
{
	enum tensor_group group = group_of(s, part);
	struct place at = { .part = part, .group = group, .times = 1 };
	double layers;
	unsigned int i;
	int err;

	set_layer(s, 0);
	err = property(s, part, PART_LAYERS,
		       group == GROUP_TEXT ? (double)s->model->stack_layers : 1, &layers);
	if (err)
		return err;
	if (layers > LAYERS_MAX)
		return fault_set(s->f, ERANGE, "[%s] %g layers", s->family->id, layers);
	at.layered = group == GROUP_TEXT || part->line[PART_LAYERS] >= 0;
	if (s->forced != TENSOR_GROUPS)
		at.group = s->forced;
	for (i = 0; i < (unsigned int)layers; i++) {
		set_layer(s, i);
		at.layer = i;
		s->scope.saw_layer = false;
		/* names differ by layer: who wants them wants all */
		at.times = 1;
		err = build_layer(s, part, &at);
		if (err)
			return err;
		if (s->scope.saw_layer || s->plan->tensor || part->line[PART_REPEATS] >= 0)
			continue;
		at.times = layers - 1;
		if (at.times > 0) {
			double *block = s->sums->block, first = block[0];
			struct sums *sums = s->sums;
			unsigned int k;

			err = build_layer(s, part, &at);
			if (err)
				return err;
			/* the second call added one layer's numbers to the first once more */
			first = (block[0] - first);
			block[0] -= first;
			for (k = 1; group == GROUP_TEXT && k < (unsigned int)layers; k++)
				sums->block[k] += first;
		}
		break;
	}
	return 0;
}

/* --- numbers of the shape -------------------------------------------------------- */

static int check_number(struct stack *s, const char *name, const struct expr_value *value)
{
	char path[EXPR_PATH_MAX];

	if (value->kind == EXPR_ABSENT)
		return 0;
	family_fact(s->family, name, path);
	if (*s->scope.path)
		memcpy(path, s->scope.path, sizeof(path));
	if (!strcmp(name, "head_dim") && value->kind == EXPR_NUMBER &&
	    value->number != floor(value->number)) {
		if (!s->facts)
			return fault_set(s->f, EINVAL,
					 "needs the key head_dim: hidden is not a multiple of heads");
		return fault_set(s->f, EINVAL,
				 "num_attention_heads does not divide hidden_size, and there is no head_dim");
	}
	if (value->kind != EXPR_NUMBER || value->number != floor(value->number))
		return fault_set(s->f, EINVAL, "%s: not a whole number; copy the file again", path);
	if (value->number < 0 || value->number > SHAPE_MAX)
		return fault_set(s->f, ERANGE, "%s: %.0f is outside 0 to %d", path, value->number,
				 SHAPE_MAX);
	return 0;
}

/* Numbers that the model was given are what their variables say. */
static void give_numbers(struct stack *s)
{
	const struct model_number *n;
	int line;

	for (n = model_numbers; n->key; n++) {
		uint64_t value = *(const uint64_t *)((const char *)s->model + n->offset);

		line = value ? family_line(s->family, n->key, strlen(n->key)) : -1;
		if (line < 0)
			continue;
		s->memo[line].state = MEMO_GIVEN;
		s->memo[line].value = (struct expr_value){ EXPR_NUMBER, (double)value, NULL, NULL };
	}
	line = family_line(s->family, "tied", 4);
	if (line >= 0 && s->model->tied_given) {
		s->memo[line].state = MEMO_GIVEN;
		s->memo[line].value.kind = EXPR_NUMBER;
		s->memo[line].value.number = s->model->tied;
	}
}

static int take_numbers(struct stack *s)
{
	const struct model_number *n;
	struct expr_value value;
	int err;

	for (n = model_numbers; n->key; n++) {
		if (family_line(s->family, n->key, strlen(n->key)) < 0)
			continue;
		err = named(s, n->key, &value);
		if (!err)
			err = check_number(s, n->key, &value);
		if (err)
			return err;
		if (value.kind == EXPR_NUMBER)
			*(uint64_t *)((char *)s->model + n->offset) = (uint64_t)value.number;
	}
	err = named(s, "tied", &value);
	s->model->tied = value.number > 0;
	if (!err)
		err = named(s, "gated", &value);
	s->model->gated = value.number > 0;
	s->model->moe_ffn_guessed = !named(s, "expert_ffn_guessed", &value) && value.number > 0;
	return err;
}

static int no_number(struct stack *s, const char *name, const char *key)
{
	if (!s->facts)
		return fault_set(s->f, EINVAL, "needs the key %s", name);
	return fault_set(s->f, EINVAL, "%s is missing: gpuctl cannot size the model without it",
			 key);
}

/* Without these there is no shape. */
static int check_needs(struct stack *s)
{
	const char *list = family_text(s->family, "needs");
	struct expr_value value;
	char name[64], key[64];
	size_t len;
	int err;

	for (; list && *list; list += len) {
		list += strspn(list, " \t");
		len = strcspn(list, " \t");
		if (!len || len >= sizeof(name))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)len, list);
		err = named(s, name, &value);
		if (!err)
			err = check_number(s, name, &value);
		if (err)
			return err;
		family_fact(s->family, name, key);
		if (value.kind == EXPR_ABSENT)
			return no_number(s, name, key);
		if (value.kind == EXPR_NUMBER && !value.number && s->facts && *s->scope.path)
			return fault_set(s->f, EINVAL, "%s: must be more than zero", s->scope.path);
		if (value.kind == EXPR_NUMBER && !value.number)
			return fault_set(s->f, EINVAL, "this family needs %s", name);
	}
	return 0;
}

/* --- stacks ---------------------------------------------------------------------- */

static int build_parts(struct stack *s)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < s->family->n_parts; i++)
		err = build_part(s, &s->family->part[i]);
	return err;
}

static int open_stack(struct stack *s, const struct model_plan *plan)
{
	s->plan = plan;
	s->memo = calloc(s->family->n + 1, sizeof(*s->memo));
	if (!s->memo)
		return fault_set(s->f, ENOMEM, "out of memory");
	s->scope.variable = variable;
	s->scope.arg = s;
	s->scope.facts = s->facts;
	return 0;
}

/*
 * Of a text part with a word that nobody knows: the family whose keys it has, before the one
 * that its surroundings mostly have.
 */
static const struct cat_family *unknown_text(struct stack *s, const char *word,
					     const struct expr_facts *facts)
{
	const struct cat_family *family = family_guess(s->plan->families, facts);

	snprintf(s->model->unknown_text, sizeof(s->model->unknown_text), "%.60s", word);
	return family && strcmp(family->id, FAMILY_ROOT) ? family : NULL;
}

/* "PATH FAMILY": the part of the file, and what it is if it does not say. */
static const struct cat_family *inner_family(struct stack *s, const char *text, struct stack *inner)
{
	const struct cat_family *family = NULL;
	struct expr_value value;
	char path[64];
	size_t len = strcspn(text, " ");

	family_inner(s->facts, text, path, &value);
	if (value.kind == EXPR_OBJECT) {
		inner->own.get = s->facts->get;
		inner->own.node = value.node;
		inner->own.outer = s->facts;
		inner->facts = &inner->own;
		expr_fact(inner->facts, "model_type", &value);
		if (value.kind == EXPR_TEXT)
			family = family_of_word(s->plan->families, "model_types", value.text);
		if (value.kind == EXPR_TEXT && !family && inner->forced != GROUP_VISION)
			family = unknown_text(s, value.text, inner->facts);
		/* an outer word within is of no use: it would look for itself */
		if (family && family_text(family, "text.model"))
			family = NULL;
	} else {
		inner->facts = s->facts;
	}
	text += len + strspn(text + len, " ");
	family = family ? family : family_get(s->plan->families, text);
	/* only a part of a file is published without what its class has by default */
	if (family && inner->facts == &inner->own)
		inner->own.defaults = family_own_text(family, "defaults");
	return family;
}

/* An encoder: its shape is its own, and all of it counts as vision. */
static int build_encoder(struct stack *s, const char *text)
{
	struct cat_model shape = { 0 };
	struct stack inner = { .f = s->f,
			       .sums = s->sums,
			       .model = &shape,
			       .forced = GROUP_VISION,
			       .prefix = "vision_tower." };
	u128 before = s->sums->in[GROUP_VISION];
	struct expr_value value;
	char part[64];
	int err;

	inner.family = inner_family(s, text, &inner);
	if (!inner.family)
		return fault_set(s->f, ENOENT, "[%s] %s: no such family", s->family->id, text);
	/* a model that was published without its encoder has none to count */
	if (inner.facts == s->facts)
		return 0;
	err = open_stack(&inner, s->plan);
	if (!err)
		err = named(&inner, "layers", &value);
	if (!err && value.kind == EXPR_NUMBER && value.number >= 0 && value.number <= LAYERS_MAX)
		shape.stack_layers = (uint64_t)value.number;
	if (!err && value.kind != EXPR_ABSENT)
		err = build_parts(&inner);
	free(inner.memo);
	if (err == -ENOMEM || (!err && value.kind != EXPR_ABSENT))
		return err;
	/* the text model can be sized without: what is not counted is named */
	s->sums->in[GROUP_VISION] = before;
	s->f->text[0] = '\0';
	family_inner(s->facts, text, part, &value);
	return cat_model_leave_out(s->model, part, strlen(part));
}

static int build_encoders(struct stack *s)
{
	static const char end[] = ".model";
	size_t i;
	int err = 0;

	for (i = 0; !err && i < s->family->n; i++) {
		const char *dot = strchr(s->family->line[i].key, '.');

		if (s->facts && dot && !strcmp(dot, end) &&
		    strcmp(s->family->line[i].key, "text.model"))
			err = build_encoder(s, s->family->line[i].value);
	}
	return err;
}

/* What joins encoders and text: the text model can be sized without, too. */
static int build_joints(struct stack *s)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < s->family->n_parts; i++) {
		const struct family_part *part = &s->family->part[i];
		u128 before = s->sums->in[GROUP_VISION];

		err = build_part(s, part);
		if (!err || err == -ENOMEM || group_of(s, part) != GROUP_VISION)
			continue;
		s->sums->in[GROUP_VISION] = before;
		s->f->text[0] = '\0';
		err = cat_model_leave_out(s->model, part->name, part->len);
	}
	return err;
}

static int build_text(struct stack *s)
{
	int err;

	give_numbers(s);
	err = check_needs(s);
	if (!err)
		err = take_numbers(s);
	s->model->stack_layers = s->model->layers;
	return err ? err : build_parts(s);
}

static uint64_t saturate(u128 n)
{
	return n > UINT64_MAX ? UINT64_MAX : (uint64_t)n;
}

static void take_sums(const struct sums *sums, struct model_params *p)
{
	u128 all = sums->linear + sums->small + sums->in[GROUP_EMBEDDING] + sums->in[GROUP_HEAD] +
		   sums->in[GROUP_VISION];
	double block = 0;
	size_t i;

	for (i = 0; i < LAYERS_MAX; i++)
		block = fmax(block, sums->block[i]);
	p->linear = saturate(sums->linear);
	p->small = saturate(sums->small);
	p->embedding = saturate(sums->in[GROUP_EMBEDDING]);
	p->head = saturate(sums->in[GROUP_HEAD]);
	p->vision = saturate(sums->in[GROUP_VISION]);
	p->mtp = saturate(sums->in[GROUP_MTP]);
	p->experts = saturate(sums->experts);
	p->block = (uint64_t)block;
	p->total = saturate(all);
	p->active = saturate(all - sums->idle);
}

int cat_model_build(const struct model_plan *plan, struct cat_model *m, struct fault *f)
{
	const char *text = family_text(plan->family, "text.model");
	struct stack outer = { .plan = plan,
			       .family = plan->family,
			       .facts = plan->facts,
			       .model = m,
			       .f = f,
			       .forced = TENSOR_GROUPS,
			       .prefix = "model." };
	struct stack inner = outer;
	struct sums *sums = calloc(1, sizeof(*sums));
	int err;

	if (!sums)
		return fault_set(f, ENOMEM, "out of memory");
	outer.sums = sums;
	inner.sums = sums;
	cat_model_clear_counts(m);
	if (text)
		inner.family = inner_family(&outer, text, &inner);
	/* what is read within is a model that holds no other */
	if (text && inner.family && family_text(inner.family, "text.model"))
		inner.family = NULL;
	if (!inner.family) {
		free(sums);
		return fault_set(f, ENOENT, "[%s] text.model: no such family", plan->family->id);
	}
	err = open_stack(&inner, plan);
	if (!err)
		err = build_text(&inner);
	if (!err && text)
		err = open_stack(&outer, plan);
	if (!err && text)
		err = build_joints(&outer);
	if (!err)
		err = build_encoders(text ? &outer : &inner);
	if (!err)
		take_sums(sums, &m->params);
	m->text_family = inner.family;
	memcpy(m->short_list, inner.scope.short_list, sizeof(m->short_list));
	free(inner.memo);
	free(outer.memo);
	free(sums);
	return err;
}
