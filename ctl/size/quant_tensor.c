// SPDX-License-Identifier: GPL-2.0-only
/* Bits of tensors by what the stanza said, and rules of it that no tensor met. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quant.h"

/* Characters that are compared to match all rules with all tensors: a tenth of a second. */
#define STEPS_MAX 50000000

static const struct quant_scheme plain = { 0, 0, 0 };

static double bits_with(const struct quant_scheme *s, const struct model_tensor *t, double dtype)
{
	double group = s->group > 0 ? s->group : (double)(t->columns > 1 ? t->columns : 1);

	return s->bits > 0 ? s->bits + s->scale / group : dtype;
}

/* The first rule about a tensor, or NULL; all that are about it are marked. */
static const struct quant_rule *rule_of(struct size_quant *q, const char *name)
{
	const struct quant_rule *first = NULL;
	int layer = quant_layer_of(name);
	size_t i;

	q->last = layer > q->last ? layer : q->last;
	for (i = 0; i < q->n; i++) {
		struct quant_rule *rule = &q->rule[i];

		if (rule->layer >= 0 && rule->layer != layer)
			continue;
		if (first && rule->used)
			continue;
		if (q->steps > STEPS_MAX)
			break;
		if (!quant_pattern_means(&rule->globs, name, &q->steps))
			continue;
		rule->used = true;
		first = first ? first : rule;
	}
	return first;
}

static double bits_of_tensor(struct size_quant *q, const struct model_tensor *t)
{
	const struct quant_rule *rule = rule_of(q, t->name);
	const struct quant_scheme *s = &q->all;

	if (t->kept || t->group == GROUP_VISION)
		return q->dtype_bits;
	if (rule)
		s = &rule->scheme;
	else if (t->group == GROUP_EMBEDDING)
		s = &q->table;
	else if (t->group == GROUP_HEAD)
		s = &q->head;
	else if (strstr(t->name, "embed_tokens") || strstr(t->name, "shared_head"))
		s = &plain;
	else if (t->copies > 1 && q->experts.bits > 0)
		s = &q->experts;
	else if (t->copies <= 1 && q->experts_only)
		s = &plain;
	return bits_with(s, t, q->dtype_bits);
}

/* Modules that are no matrices of ours: norms, routers, encoders, what is tied or left out. */
static bool is_harmless(const struct quant_rule *rule)
{
	static const char *const words[] = {
		"vis",	   "image",   "img",	   "audio",	"speech",  "sound",
		"embed",   "head",    "norm",	   "router",	"gate",	   "conv",
		"bias",	   "proj_in", "projector", "connector", "merger",  "mm_",
		"mtp",	   "nextn",   "eh_proj",   "score",	"classif", "pool",
		"A_log",   "dt_",     "indexer",   "patch",	"tower",   "resampler",
		"aligner", "rotary",  "wte",	   "wpe",	"draft",   "mlp1",
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(rule->pattern, words[i]))
			return true;
	return false;
}

/* "layers.61*": of a layer behind the last one, which predicts further tokens. */
static bool is_behind(const struct quant_rule *rule, int last)
{
	const char *at = strstr(rule->pattern, "layers.");

	return at && isdigit((unsigned char)at[7]) && strtol(at + 7, NULL, 10) > last;
}

void quant_check_rules(struct size_quant *q)
{
	const struct quant_rule *first = NULL;
	size_t i, n = 0;

	if (q->steps > STEPS_MAX) {
		quant_say(q, "%zu patterns of modules are too many to match", q->n);
		return;
	}
	for (i = 0; i < q->n; i++) {
		if (q->rule[i].used || is_behind(&q->rule[i], q->last) || is_harmless(&q->rule[i]))
			continue;
		n++;
		first = first ? first : &q->rule[i];
	}
	if (first)
		quant_say(q, "%zu patterns of modules mean no tensor, such as \"%.60s\"", n,
			  first->pattern);
}

void quant_tensor(void *arg, const struct model_tensor *t)
{
	struct quant_sum *sum = arg;
	double numbers = (double)t->numbers * (double)t->copies;
	int where = t->group == GROUP_MTP					    ? 2 :
		    !t->kept && (t->group == GROUP_TEXT || t->group == GROUP_FINAL) ? 0 :
										      1;

	sum->numbers[where] += numbers;
	sum->bits[where] += numbers * bits_of_tensor(sum->quant, t);
}

void quant_precision(const struct quant_sum *sum, const char *name, struct size_precision *out)
{
	double linear = sum->numbers[0] > 0 ? sum->bits[0] / sum->numbers[0] : 16;
	double rest = sum->numbers[1] > 0 ? sum->bits[1] / sum->numbers[1] : 16;

	linear = fmin(fmax(linear, 0), 64);
	rest = fmin(fmax(rest, 0), 64);

	out->name = name;
	out->linear = (uint32_t)(linear * (double)SIZE_BIT + 0.5);
	out->rest = (uint32_t)(rest * (double)SIZE_BIT + 0.5);
	out->plain = (uint32_t)(linear + 0.3) * (uint32_t)SIZE_BIT;
	out->kv = false;
	out->text = "as the checkpoint says";
}
