// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: quantization
 *
 * Every quantizer writes a stanza of its own: quantization_config, quantization
 * (MLX), hf_quant_config.json beside (ModelOpt), or one inside text_config. All
 * become the same: a scheme for the matrices of the blocks, rules for modules
 * that differ, and bits of scales and zero points by group.
 *
 * What is not understood is said, and never taken for 16 bits in silence.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "facts.h"
#include "quant.h"
#include "quant_match.h"

#define RULES_MAX 4096

static const struct quant_scheme plain = { 0, 0, 0 };

struct quant_scheme quant_bits(double bits, double group, double scale)
{
	/* no format has others: who says so is not understood */
	if (!(bits >= 1 && bits <= 16) || (group > 0 && group < 8))
		return (struct quant_scheme){ -1, 0, 0 };
	return (struct quant_scheme){ bits, group > 0 && group < 1e6 ? group : 0, scale };
}

/* Scale in 16 bits and a zero point of the same format for each group. */
static struct quant_scheme with_zeros(double bits, double group)
{
	return quant_bits(bits, group, 16 + bits);
}

/* Formats that have a name; blocks of OCP microscaling have a scale of 8 bits. */
static bool named_scheme(const char *word, struct quant_scheme *out)
{
	static const struct {
		const char *part;
		double bits;
		double group;
		double scale;
	} words[] = {
		{ "mixed", 0, 0, 0 },	  { "nvfp4", 4, 16, 8 },   { "mxfp4", 4, 32, 8 },
		{ "mxfp6", 6, 32, 8 },	  { "mxfp8", 8, 32, 8 },   { "fp8_pb", 8, 16384, 32 },
		{ "w4afp8", 4, 128, 16 }, { "float8", 8, 0, 32 },  { "fp8", 8, 0, 32 },
		{ "w4a8", 4, 128, 16 },	  { "w4a16", 4, 128, 16 }, { "int4", 4, 128, 16 },
		{ "uint4", 4, 128, 20 },  { "w8a8", 8, 0, 32 },	   { "w8a16", 8, 0, 32 },
		{ "int8", 8, 0, 32 },	  { "int3", 3, 128, 16 },  { "int2", 2, 128, 16 },
		{ "fp4", 4, 32, 8 },	  { "fp6", 6, 32, 8 },
	};
	size_t i;

	for (i = 0; word && i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasestr(word, words[i].part)) {
			if (words[i].bits > 0)
				*out = quant_bits(words[i].bits, words[i].group, words[i].scale);
			return words[i].bits > 0;
		}
	}
	return false;
}

void quant_call(struct size_quant *q, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	vsnprintf(q->name, sizeof(q->name), fmt, ap);
	va_end(ap);
	for (s = q->name; *s; s++)
		*s = isgraph((unsigned char)*s) ? (char)tolower((unsigned char)*s) : '-';
}

void quant_say(struct size_quant *q, const char *fmt, ...)
{
	va_list ap;
	char *s;

	if (*q->unclear)
		return;
	va_start(ap, fmt);
	vsnprintf(q->unclear, sizeof(q->unclear), fmt, ap);
	va_end(ap);
	for (s = q->unclear; *s; s++)
		if (!isprint((unsigned char)*s))
			*s = '?';
}

int quant_add_rule(struct size_quant *q, const char *pattern, struct quant_scheme s,
		   struct fault *f)
{
	struct quant_rule *more, rule = { .pattern = pattern, .layer = -1, .scheme = s };
	int err;

	if (!pattern || !*pattern)
		return 0;
	if (q->n == RULES_MAX) {
		quant_say(q, "more than %d modules are listed", RULES_MAX);
		return 0;
	}
	if (!(q->n & (q->n - 1))) {
		more = realloc(q->rule, (q->n ? 2 * q->n : 1) * sizeof(*more));
		if (!more)
			return fault_set(f, ENOMEM, "out of memory");
		q->rule = more;
	}
	err = quant_pattern_read(pattern, &rule.globs);
	if (err == -ENOTSUP) {
		quant_say(q, "which modules \"%.60s\" means is not understood", pattern);
		return 0;
	}
	if (err)
		return fault_set(f, ENOMEM, "out of memory");
	if (!rule.globs.regex)
		rule.layer = quant_layer_of(pattern);
	q->rule[q->n++] = rule;
	return 0;
}

/* A list of modules that have @s. */
static int add_list(struct size_quant *q, struct json_object *list, struct quant_scheme s,
		    struct fault *f)
{
	size_t i,
		n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
	int err = 0;

	for (i = 0; !err && i < n; i++) {
		struct json_object *entry = json_object_array_get_idx(list, i);

		if (json_object_is_type(entry, json_type_string))
			err = quant_add_rule(q, json_object_get_string(entry), s, f);
	}
	return err;
}

/* Modules that are left as they are, under all names of that list. */
static int add_left_out(struct size_quant *q, struct json_object *stanza, struct fault *f)
{
	static const char *const names[] = {
		"modules_to_not_convert",
		"ignore",
		"ignored_layers",
		"exclude_modules",
		"exclude",
		"llm_int8_skip_modules",
		"skip_modules",
		"modules_to_not_quantize",
	};
	size_t i;
	int err = 0;

	for (i = 0; !err && i < sizeof(names) / sizeof(names[0]); i++)
		err = add_list(q, facts_find(stanza, names[i]), plain, f);
	return err;
}

/* --- stanzas --------------------------------------------------------------------- */

static double first_number(struct json_object *stanza, const char *const *names, double fallback)
{
	for (; *names; names++)
		if (facts_find(stanza, *names))
			return facts_number(stanza, *names, fallback);
	return fallback;
}

static double group_of(struct json_object *stanza, double fallback)
{
	static const char *const names[] = { "group_size", "q_group_size", NULL };

	return first_number(stanza, names, fallback);
}

static double bits_of(struct json_object *stanza, double fallback)
{
	static const char *const names[] = { "bits", "w_bit", "nbits", "num_bits", "wbits", NULL };

	return first_number(stanza, names, fallback);
}

/* AutoRound's formats that are no whole numbers: "mx_fp", "nv_fp4", "fp8". */
static bool read_microscaling(struct size_quant *q, struct json_object *stanza, const char *method,
			      double bits, double group)
{
	const char *type = facts_text(stanza, "data_type");
	bool blocks = type && (strstr(type, "mx_") || strstr(type, "nv_"));

	if (!type || !strstr(type, "fp"))
		return false;
	q->all = blocks ? quant_bits(bits, group, 8) : quant_bits(bits, group > 0 ? group : 0, 32);
	quant_call(q, "%.12s-fp%.0f", method, bits);
	return true;
}

/* GPTQ, AWQ, auto-round: some modules may have other bits. */
static int read_grouped(struct size_quant *q, struct json_object *stanza, const char *method,
			struct fault *f)
{
	static const char *const lists[] = { "dynamic", "extra_config" };
	double bits = bits_of(stanza, 4), group = group_of(stanza, 128);
	bool awq = strstr(method, "awq");
	const char *maker = strchr(method, '/');
	size_t i;
	int err = 0;

	q->all = with_zeros(bits, group);
	if (read_microscaling(q, stanza, method, bits, group))
		return 0;
	if (awq && bits == 4 && group == 128)
		quant_call(q, "awq");
	else if (strstr(method, "gptq") && (group == 128 || group <= 0))
		quant_call(q, "gptq-int%.0f", bits);
	else
		quant_call(q, "%.12s-int%.0f-g%.0f", maker ? maker + 1 : method, bits, group);
	/* AWQ has a default of its own, the others none */
	if (!awq && bits_of(stanza, 0) <= 0)
		quant_say(q,
			  "the quantization does not say how many bits a weight has: 4 are assumed");
	if (facts_number(stanza, "lm_head", 0) > 0)
		q->head = q->all;
	for (i = 0; i < 2; i++) {
		struct json_object *list = facts_find(stanza, lists[i]);

		if (!json_object_is_type(list, json_type_object))
			continue;
		json_object_object_foreach(list, name, each) {
			double own = bits_of(each, *name == '-' ? 16 : bits);

			if (!err)
				err = quant_add_rule(q, name,
						     own >= 16 ?
							     plain :
							     with_zeros(own, group_of(each, group)),
						     f);
		}
	}
	return err;
}

static int read_bitsandbytes(struct size_quant *q, struct json_object *stanza)
{
	bool twice = facts_number(stanza, "bnb_4bit_use_double_quant", 0) > 0;

	if (facts_number(stanza, "load_in_4bit", 0) > 0 ||
	    facts_number(stanza, "_load_in_4bit", 0) > 0) {
		/* blocks of 64; their scales in 8 bits, 256 of which share one of 32 */
		q->all = quant_bits(4, 64, twice ? 8.125 : 32);
		quant_call(q, "%s", twice ? "nf4-dq" : "nf4");
	} else if (facts_number(stanza, "load_in_8bit", 0) > 0 ||
		   facts_number(stanza, "_load_in_8bit", 0) > 0) {
		q->all = quant_bits(8, 0, 32);
		quant_call(q, "bnb-int8");
	}
	return 0;
}

static void read_fp8(struct size_quant *q, struct json_object *stanza, bool rows)
{
	double height = facts_number(stanza, "weight_block_size.0", 0);
	double width = facts_number(stanza, "weight_block_size.1", 0);

	/* one scale a tensor is nothing that counts */
	q->all = quant_bits(8, height > 0 && width > 0 ? height * width : rows ? 0 : 1e5, 32);
	quant_call(q, "fp8");
}

/* "weights" of compressed-tensors, of ModelOpt's groups and of Quark: of several the last is stored. */
static struct quant_scheme weights_of(struct json_object *given)
{
	struct json_object *w =
		json_object_is_type(given, json_type_array) && json_object_array_length(given) ?
			json_object_array_get_idx(given, json_object_array_length(given) - 1) :
			given;
	const char *type = facts_text(w, "type"), *dtype = facts_text(w, "dtype");
	const char *strategy = facts_text(w, "strategy");
	double bits = bits_of(w, 0), group = group_of(w, 0), zero;
	struct quant_scheme s;

	if (dtype && !bits && named_scheme(dtype, &s)) {
		if (group > 0)
			s.group = group;
		if (facts_text(w, "qscheme") && strstr(facts_text(w, "qscheme"), "tensor"))
			s.group = 1e5;
		return s;
	}
	zero = facts_find(w, "symmetric") && !(facts_number(w, "symmetric", 1) > 0) ? bits : 0;
	if (type && !strcmp(type, "float") && bits == 4)
		return quant_bits(4, group > 0 ? group : 16, 8);
	if (facts_find(w, "block_structure.0"))
		return quant_bits(bits,
				  facts_number(w, "block_structure.0", 128) *
					  facts_number(w, "block_structure.1", 128),
				  32);
	if (strategy && !strcmp(strategy, "tensor"))
		group = 1e5;
	return quant_bits(bits, group, 16 + zero);
}

/* "nvfp4", "mxfp4", "fp8", "int4": what people call such weights. */
static void name_of_bits(struct size_quant *q, const struct quant_scheme *s, const char *type)
{
	if (s->bits == 4 && s->scale == 8)
		quant_call(q, "%s", s->group == 16 ? "nvfp4" : "mxfp4");
	else
		quant_call(q, "%s%.0f",
			   type && (strcasestr(type, "fp") || strcasestr(type, "float")) ? "fp" :
											   "int",
			   s->bits);
}

static bool is_class(const char *target)
{
	return !strcmp(target, "Linear") || !strcmp(target, "MoEGMM") ||
	       !strcmp(target, "FusedMoE");
}

/* Groups of modules, each with its weights. */
static int read_groups(struct size_quant *q, struct json_object *groups, struct fault *f)
{
	int err = 0;

	json_object_object_foreach(groups, name, group) {
		struct json_object *weights = facts_find(group, "weights"), *targets;
		const char *first = facts_text(group, "targets.0");
		struct quant_scheme s;

		targets = facts_find(group, "targets");
		if (json_object_is_type(group, json_type_array) && named_scheme(name, &s)) {
			/* "W4A16": ["Linear"] */
			first = facts_text(group, "0");
			targets = group;
		} else if (weights) {
			s = weights_of(weights);
		} else {
			continue;
		}
		if (err)
			continue;
		if (!first || is_class(first))
			q->all = s;
		else if (!strcmp(first, "Embedding"))
			q->table = s;
		else
			err = add_list(q, targets, s, f);
		if (!*q->name || s.bits < 5)
			name_of_bits(q, &s, weights ? facts_text(weights, "type") : name);
	}
	return err;
}

/* "experts.7." of the number that came first, or no expert at all. */
static bool is_first_expert(const char *name, long *first)
{
	const char *at = strstr(name, "experts.");
	char *end;
	long n;

	if (!at || !isdigit((unsigned char)at[8]))
		return true;
	n = strtol(at + 8, &end, 10);
	if (*first < 0)
		*first = n;
	return n == *first;
}

/* ModelOpt: one algorithm, or one for each layer. */
static int read_modelopt(struct size_quant *q, struct json_object *stanza, struct fault *f)
{
	const char *algo = facts_text(stanza, "quant_algo");
	struct json_object *layers = facts_find(stanza, "quantized_layers");
	double group = group_of(stanza, 0);
	struct quant_scheme s;
	long expert = -1;
	int err = 0;

	if (json_object_is_type(layers, json_type_object)) {
		quant_call(q, "mixed");
		json_object_object_foreach(layers, name, each) {
			if (err)
				break;
			/* a rule for one expert is one for all */
			if (!is_first_expert(name, &expert))
				continue;
			if (!named_scheme(facts_text(each, "quant_algo"), &s)) {
				quant_say(q, "the quant_algo of %.60s is not known", name);
				continue;
			}
			err = quant_add_rule(q, name, s, f);
			if (s.bits < 5)
				quant_call(q, s.group == 16 ? "nvfp4" : "int4");
		}
		return err;
	}
	if (!named_scheme(algo, &s)) {
		quant_say(q, "quant_algo \"%.40s\" is not known: sized as %s", algo ? algo : "",
			  q->dtype);
		return 0;
	}
	if (group > 0 && s.bits < 8)
		s.group = group;
	q->all = s;
	quant_call(q, "%s",
		   s.bits == 4 && s.group == 16 && s.scale == 8 ? "nvfp4" :
		   strcasestr(algo, "fp8")			? "fp8" :
		   s.bits == 4					? "int4" :
								  "int8");
	return 0;
}

/* MLX quantizes tables as well; modules may differ, or be left out. */
static int read_mlx(struct size_quant *q, struct json_object *stanza, struct fault *f)
{
	const char *mode = facts_text(stanza, "mode");
	int err = 0;

	if (!mode || !strcmp(mode, "affine") || !named_scheme(mode, &q->all))
		q->all = quant_bits(bits_of(stanza, 4), group_of(stanza, 64), 32);
	quant_call(q, "mlx-%.0fbit", q->all.bits);
	q->head = q->all;
	q->table = q->all;
	json_object_object_foreach(stanza, name, each) {
		if (err)
			break;
		if (json_object_is_type(each, json_type_object))
			err = quant_add_rule(q, name,
					     quant_bits(bits_of(each, q->all.bits),
							group_of(each, q->all.group), 32),
					     f);
		else if (json_object_is_type(each, json_type_boolean) && strchr(name, '.') &&
			 !json_object_get_boolean(each))
			err = quant_add_rule(q, name, plain, f);
	}
	return err;
}

static int read_quark(struct size_quant *q, struct json_object *stanza, struct fault *f)
{
	struct json_object *weights = facts_find(stanza, "global_quant_config.weight");
	struct json_object *layers = facts_find(stanza, "layer_quant_config");
	int err = 0;

	if (!weights) {
		quant_say(q, "quark without global_quant_config");
		return 0;
	}
	q->all = weights_of(weights);
	name_of_bits(q, &q->all, facts_text(weights, "dtype"));
	if (json_object_is_type(layers, json_type_object)) {
		json_object_object_foreach(layers, name, each) {
			struct json_object *own = facts_find(each, "weight");

			if (!err && own)
				err = quant_add_rule(q, name, weights_of(own), f);
		}
	}
	return err;
}

/* HQQ: all modules have the same, or the kinds that are named have each its own and others none. */
static int read_hqq(struct size_quant *q, struct json_object *stanza, struct fault *f)
{
	struct json_object *kinds = facts_find(stanza, "quant_config");
	struct json_object *all = facts_find(kinds, "weight_quant_params"), *own;
	struct quant_scheme s;
	int err = 0;

	all = all ? all : facts_find(stanza, "weight_quant_params");
	kinds = kinds ? kinds : facts_find(stanza, "dynamic_config");
	if (all || !json_object_is_type(kinds, json_type_object)) {
		all = all ? all : stanza;
		q->all = quant_bits(bits_of(all, 4), group_of(all, 64), 32);
		quant_call(q, "hqq-int%.0f", q->all.bits);
		return 0;
	}
	json_object_object_foreach(kinds, name, each) {
		if (!json_object_is_type(each, json_type_object))
			continue;
		own = facts_find(each, "weight_quant_params");
		own = own ? own : each;
		s = quant_bits(bits_of(own, 0), group_of(own, 64), 32);
		if (!err)
			err = quant_add_rule(q, name, s, f);
		quant_call(q, "hqq-int%.0f", s.bits);
	}
	return err;
}

static void read_rest(struct size_quant *q, struct json_object *stanza, const char *method)
{
	const char *weights = facts_text(stanza, "weights");

	/* FP-Quant */
	weights = weights ? weights : facts_text(stanza, "forward_dtype");
	if (!strcmp(method, "exl2") || !strcmp(method, "exl3")) {
		q->all = quant_bits(bits_of(stanza, 4), 0, 0);
		q->head = quant_bits(facts_number(stanza, "head_bits", 6), 0, 0);
		quant_call(q, "%s-%g", method, q->all.bits);
	} else if (!strcmp(method, "aqlm")) {
		q->all = quant_bits(facts_number(stanza, "nbits_per_codebook", 16) *
					    facts_number(stanza, "num_codebooks", 1) /
					    facts_number(stanza, "in_group_size", 8),
				    0, 16);
		quant_call(q, "aqlm-%g", q->all.bits);
	} else if (!strcmp(method, "bitnet")) {
		q->all = quant_bits(2, 0, 0);
		quant_call(q, "bitnet");
	} else if (weights && named_scheme(weights, &q->all)) {
		quant_call(q, "%.12s-%.12s", method, weights);
	} else if (named_scheme(method, &q->all)) {
		quant_call(q, "%.20s", method);
		q->experts_only = strcasestr(method, "experts") || !strcmp(method, "mxfp4");
	} else if (bits_of(stanza, 0) > 0) {
		q->all = with_zeros(bits_of(stanza, 4), group_of(stanza, 128));
		quant_call(q, "%.20s", method);
		quant_say(q, "quantization \"%.40s\" is not known: %g bits are what it says",
			  method, q->all.bits);
	} else if (*method) {
		quant_call(q, "%.20s", method);
		quant_say(q, "quantization \"%.40s\" is not known: sized as %s", method, q->dtype);
	} else {
		quant_say(q, "the quantization has no quant_method: sized as %s", q->dtype);
	}
}

/* quant_method in lower case, or what the keys mean that a stanza without one has. */
static void read_method(struct json_object *stanza, char method[64])
{
	const char *word = facts_text(stanza, "quant_method");
	char *s;

	if (!word && (facts_find(stanza, "load_in_4bit") || facts_find(stanza, "load_in_8bit")))
		word = "bitsandbytes";
	snprintf(method, 64, "%.60s", word ? word : "");
	for (s = method; *s; s++)
		*s = (char)tolower((unsigned char)*s);
}

/* What has the keys of GPTQ, under names of engines. */
static bool is_grouped(const char *method)
{
	static const char *const words[] = { "auto-round", "auto_round", "intel/auto-round",
					     "inc",	   "moe_wna16",	 "marlin" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(method, words[i]))
			return true;
	return strstr(method, "gptq") || strstr(method, "awq");
}

static int quant_read_method(struct size_quant *q, struct json_object *stanza, struct fault *f)
{
	struct json_object *groups = facts_find(stanza, "config_groups");
	char method[64];
	int err;

	read_method(stanza, method);
	if (json_object_is_type(groups, json_type_object)) {
		/* a cache of its own, or sparsity, and nothing else */
		q->plain = !json_object_object_length(groups) &&
			   (facts_find(stanza, "kv_cache_scheme") ||
			    facts_find(stanza, "sparsity_config"));
		err = read_groups(q, groups, f);
		if (facts_find(stanza, "sparsity_config.format") && !err &&
		    strcmp(facts_text(stanza, "sparsity_config.format") ?
				   facts_text(stanza, "sparsity_config.format") :
				   "dense",
			   "dense"))
			quant_say(q, "weights are sparse: less than this is stored");
		return err;
	}
	if (facts_find(stanza, "quant_algo") || facts_find(stanza, "quantized_layers"))
		return read_modelopt(q, stanza, f);
	/* ModelOpt with a cache of its own alone */
	if (json_object_object_get_ex(stanza, "quant_algo", NULL)) {
		q->plain = true;
		return 0;
	}
	if (!*method && bits_of(stanza, 0) > 0)
		return read_mlx(q, stanza, f);
	if (is_grouped(method))
		return read_grouped(q, stanza, method, f);
	if (!strcmp(method, "bitsandbytes"))
		return read_bitsandbytes(q, stanza);
	if (!strcmp(method, "quark"))
		return read_quark(q, stanza, f);
	if (!strcmp(method, "hqq"))
		return read_hqq(q, stanza, f);
	if (!strcmp(method, "torchao"))
		return quant_read_torchao(q, stanza, f);
	if (!strcmp(method, "fp8") || !strcmp(method, "fbgemm_fp8") ||
	    !strcmp(method, "finegrained_fp8"))
		read_fp8(q, stanza, *method == 'f' && method[1] == 'b');
	else
		read_rest(q, stanza, method);
	return 0;
}

static void quant_read_kv(struct size_quant *q, struct json_object *stanza)
{
	/* older files of ModelOpt have a word where newer ones have an object */
	const char *word = facts_text(stanza, "kv_cache_scheme");
	const char *algo = facts_text(stanza, "kv_cache_quant_algo");
	struct json_object *kv = word ? NULL : facts_find(stanza, "kv_cache_scheme");
	const char *type = facts_text(kv, "type");
	double bits = facts_number(kv, "num_bits", 0);
	bool whole = type && !strcmp(type, "int");

	algo = algo ? algo : word;
	if (algo && strcasestr(algo, "nvfp4"))
		strcpy(q->kv, "nvfp4");
	else if (algo && strcasestr(algo, "fp8"))
		strcpy(q->kv, "fp8");
	else if (algo && strcasestr(algo, "int8"))
		strcpy(q->kv, "int8");
	else if (algo && *algo && strcasecmp(algo, "none"))
		quant_say(q, "the KV cache's \"%.40s\" is not known", algo);
	else if (bits == 8)
		strcpy(q->kv, whole ? "int8" : "fp8");
	else if (bits == 4)
		strcpy(q->kv, whole ? "int4" : "nvfp4");
	else if (kv && bits != 16)
		quant_say(q, "the format of the KV cache is not understood");
}

/* What no format has is nothing that was read. */
static bool drop_odd(struct quant_scheme *s)
{
	bool odd = s->bits < 0;

	if (odd)
		*s = plain;
	return odd;
}

/* A stanza that is there while weights are plain all the same is not understood. */
static void check_schemes(struct size_quant *q)
{
	bool odd = false, any;
	size_t i;

	if (drop_odd(&q->all)) {
		*q->name = '\0';
		odd = true;
	}
	odd |= drop_odd(&q->experts);
	odd |= drop_odd(&q->head);
	odd |= drop_odd(&q->table);
	any = q->all.bits > 0 || q->experts.bits > 0;
	for (i = 0; i < q->n; i++) {
		odd |= drop_odd(&q->rule[i].scheme);
		any |= q->rule[i].scheme.bits > 0;
	}
	if (odd)
		quant_say(q, "the quantization has bits or groups that no format has: sized as %s",
			  *q->name ? q->name : q->dtype);
	if (any || q->plain)
		return;
	*q->name = '\0';
	quant_say(q, "the quantization does not say how many bits a weight has: sized as %s",
		  q->dtype);
}

static int read_stanza(struct size_quant *q, struct json_object *stanza, struct fault *f)
{
	int err = add_left_out(q, stanza, f);

	if (!err)
		err = quant_read_method(q, stanza, f);
	if (!err && facts_number(stanza, "_load_in_8bit", 0) <= 0)
		quant_read_kv(q, stanza);
	if (!err)
		check_schemes(q);
	return err;
}

/* --- the file's dtype -------------------------------------------------------------- */

static void read_dtype(struct size_quant *q, struct json_object *config)
{
	static const char *const names[] = {
		"dtype",
		"torch_dtype",
		"text_config.dtype",
		"text_config.torch_dtype",
		"language_config.torch_dtype",
		"llm_config.torch_dtype",
		"thinker_config.text_config.dtype",
		"thinker_config.torch_dtype",
	};
	const char *word = NULL;
	size_t i;

	for (i = 0; !word && i < sizeof(names) / sizeof(names[0]); i++)
		word = facts_text(config, names[i]);
	strcpy(q->dtype, "bf16");
	q->dtype_bits = 16;
	if (word && strstr(word, "float32")) {
		strcpy(q->dtype, "fp32");
		q->dtype_bits = 32;
	} else if (word && strstr(word, "float16") && !strstr(word, "bfloat16")) {
		strcpy(q->dtype, "fp16");
	} else if (word && strstr(word, "float8")) {
		strcpy(q->dtype, "fp8");
		q->dtype_bits = 8;
	}
}

static struct json_object *stanza_of(struct json_object *config)
{
	static const char *const names[] = {
		"quantization_config",
		"quantization",
		"text_config.quantization_config",
		"language_config.quantization_config",
		"llm_config.quantization_config",
		"thinker_config.quantization_config",
		"compression_config",
	};
	struct json_object *stanza = NULL, *first = NULL;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		stanza = facts_find(config, names[i]);
		if (json_object_is_type(stanza, json_type_object) &&
		    json_object_object_length(stanza)) {
			/* ModelOpt's file as a whole */
			first = facts_find(stanza, "quantization");
			return json_object_is_type(first, json_type_object) ? first : stanza;
		}
		first = first ? first : stanza;
	}
	return first;
}

/* What stands beside is more exact than its summary in config.json. */
static struct json_object *stanza_beside(struct json_object *beside, struct json_object *own,
					 struct size_quant *q)
{
	struct json_object *stanza = facts_find(beside, "quantization");

	if (json_object_is_type(stanza, json_type_object))
		return stanza;
	if (beside && json_object_object_get_ex(beside, "quant_algo", NULL))
		return beside;
	if (beside)
		quant_say(q, "hf_quant_config.json has no quantization");
	return own;
}

int quant_read(struct json_object *config, struct json_object *beside, struct size_quant *out,
	       struct fault *f)
{
	const char *experts = facts_text(config, "expert_dtype");
	struct json_object *stanza;
	int err = 0;

	memset(out, 0, sizeof(*out));
	read_dtype(out, config);
	stanza = stanza_beside(beside, stanza_of(config), out);
	if (json_object_is_type(stanza, json_type_object))
		err = read_stanza(out, stanza, f);
	else if (stanza)
		quant_say(out, "the quantization is no object: sized as %s", out->dtype);
	else if (named_scheme(facts_text(config, "quantize"), &out->all))
		/* ModelSlim has a word alone */
		quant_call(out, "%.20s", facts_text(config, "quantize"));
	if (!err && experts)
		named_scheme(experts, &out->experts);
	if (err)
		quant_drop(out);
	return err;
}

void quant_drop(struct size_quant *quant)
{
	size_t i;

	for (i = 0; i < quant->n; i++)
		quant_pattern_drop(&quant->rule[i].globs);
	free(quant->rule);
	memset(quant, 0, sizeof(*quant));
}
