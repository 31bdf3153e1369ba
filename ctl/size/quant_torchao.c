// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: TorchAO
 *
 * Its stanza has the configuration that quantized the weights: a type with data,
 * an older word with arguments, or one such for each of some modules. What counts
 * is what is stored: numbers of less than 8 bits are in 8 unless a layout packs
 * them, and each group has a scale and mostly a zero point.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "facts.h"
#include "quant.h"

#define WORD_MAX 64
/* A configuration of another one, such as AWQ's. */
#define NESTED_MAX 4

/**
 * struct torchao_kind - what a type of configuration stores
 * @word: part of its name in lower case, without underscores; the first that fits counts
 * @bits: of a number, 0: as its dtype says
 * @group: numbers that share a scale, 0: a column does
 * @scale: bits of it, 0: as its dtype says
 * @zero: bits of the zero point
 * @packed: numbers of less than 8 bits take no more than these
 */
struct torchao_kind {
	const char *word;
	double bits;
	double group;
	double scale;
	double zero;
	bool packed;
};

static const struct torchao_kind kinds[] = {
	{ "nvfp4", 4, 16, 8, 0, true },
	{ "mxfp", 0, 32, 8, 0, true },
	{ "mxdynamic", 0, 32, 8, 0, true },
	{ "mxweight", 0, 32, 8, 0, true },
	{ "gemlite", 0, 128, 16, 16, true },
	{ "uintx", 0, 64, 16, 16, true },
	{ "int8dynamicactivationintx", 0, 32, 0, 8, false },
	{ "intx", 0, 0, 0, 8, false },
	{ "int8dynamicactivationint4", 4, 32, 16, 16, false },
	{ "int4", 4, 128, 16, 16, true },
	{ "float8", 8, 0, 32, 0, true },
	{ "fp8", 8, 0, 32, 0, true },
	{ "int8", 8, 0, 32, 0, true },
};

static const struct torchao_kind *kind_of(const char *word)
{
	char plain[WORD_MAX];
	size_t n = 0, i;

	for (; word && *word && n + 1 < sizeof(plain); word++)
		if (*word != '_')
			plain[n++] = (char)tolower((unsigned char)*word);
	plain[n] = '\0';
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strstr(plain, kinds[i].word))
			return &kinds[i];
	return NULL;
}

/* "int4", "uint3", "float8_e4m3fn", "torch.bfloat16": bits of a dtype, 0 if it is none. */
static double dtype_bits(struct json_object *data, const char *key)
{
	struct json_object *dtype = facts_find(data, key);
	const char *word = facts_text(dtype, "_data");

	if (json_object_is_type(dtype, json_type_string))
		word = json_object_get_string(dtype);
	word = word ? word + strcspn(word, "0123456789") : "";
	return strtod(word, NULL);
}

/* Of one granularity, or of those of activations and weights the last. */
static struct json_object *granularity_of(struct json_object *data)
{
	struct json_object *given = facts_find(data, "weight_granularity");

	given = given ? given : facts_find(data, "granularity");
	if (json_object_is_type(given, json_type_array) && json_object_array_length(given))
		given = json_object_array_get_idx(given, json_object_array_length(given) - 1);
	return given;
}

static double group_of(struct json_object *data, double fallback)
{
	struct json_object *granularity = granularity_of(data);
	const char *type = facts_text(granularity, "_type");

	if (!type) {
		fallback = facts_number(data, "block_size", fallback);
		return facts_number(data, "group_size", fallback);
	}
	if (!strcmp(type, "PerTensor"))
		return 1e5;
	if (!strcmp(type, "PerBlock"))
		return facts_number(granularity, "_data.block_size.0", 128) *
		       facts_number(granularity, "_data.block_size.1", 128);
	return facts_number(granularity, "_data.group_size", 0);
}

/* Layouts of kernels have two numbers of 4 bits in a byte. */
static bool is_packed(struct json_object *data)
{
	const char *layout = facts_text(data, "layout._type");
	const char *format = facts_text(data, "intx_packing_format._data");

	format = format ? format : facts_text(data, "packing_format._data");
	return (layout && (strstr(layout, "Packed") || strstr(layout, "Marlin"))) ||
	       (format && strcasestr(format, "opaque"));
}

/* The scheme of one configuration; false if its type is not known. */
static bool scheme_of(const struct size_quant *q, const char *type, struct json_object *data,
		      struct quant_scheme *out)
{
	const struct torchao_kind *kind;
	double bits, scale;
	int depth;

	for (depth = 0; depth < NESTED_MAX && facts_find(data, "base_config"); depth++) {
		type = facts_text(data, "base_config._type");
		data = facts_find(data, "base_config._data");
	}
	kind = kind_of(type);
	if (!kind)
		return false;
	bits = kind->bits > 0 ? kind->bits : dtype_bits(data, "weight_dtype");
	bits = bits > 0 ? bits : dtype_bits(data, "dtype");
	bits = bits > 0 ? bits : facts_number(data, "bit_width", 8);
	if (bits < 8 && !kind->packed && !is_packed(data))
		bits = 8;
	scale = kind->scale > 0 ? kind->scale : dtype_bits(data, "weight_scale_dtype");
	scale = scale > 0 ? scale : dtype_bits(data, "scale_dtype");
	scale = scale > 0 ? scale : q->dtype_bits;
	*out = quant_bits(bits, group_of(data, kind->group), scale + kind->zero);
	return true;
}

/* What people call it, by what is stored. */
static void call(struct size_quant *q, const char *type, const struct quant_scheme *s)
{
	bool real = type && (strcasestr(type, "float8") || strcasestr(type, "fp8"));

	if (s->scale == 8)
		quant_call(q, "%s%.0f", s->group == 16 ? "nvfp" : "mxfp", s->bits);
	else if (real && s->bits == 8)
		quant_call(q, "fp8");
	else
		quant_call(q, "torchao-int%.0f", s->bits);
}

/* Modules by name, "_default" of all that are not listed; null leaves one as it is. */
static int read_modules(struct size_quant *q, struct json_object *modules, struct fault *f)
{
	int err = 0;

	json_object_object_foreach(modules, name, each) {
		const char *type = facts_text(each, "_type");
		struct quant_scheme s = { 0, 0, 0 };

		if (err)
			break;
		if (each && !scheme_of(q, type, facts_find(each, "_data"), &s)) {
			quant_say(q, "the type of torchao for %.60s is not known", name);
			continue;
		}
		if (!strcmp(name, "_default"))
			q->all = s;
		else
			err = quant_add_rule(q, name, s, f);
		if (s.bits > 0 && (!*q->name || !strcmp(name, "_default")))
			call(q, type, &s);
	}
	return err;
}

int quant_read_torchao(struct size_quant *q, struct json_object *stanza, struct fault *f)
{
	bool tables = facts_number(stanza, "include_input_output_embeddings", 0) > 0;
	struct json_object *config = facts_find(stanza, "quant_type.default"), *data, *modules;
	const char *type = facts_text(config, "_type");
	int err = 0;

	data = facts_find(config, "_data");
	if (!type) {
		type = facts_text(stanza, "quant_type");
		data = facts_find(stanza, "quant_type_kwargs");
	}
	modules = facts_find(data, "module_fqn_to_config");
	modules = modules ? modules : facts_find(data, "fqn_to_config");
	if (json_object_is_type(modules, json_type_object)) {
		err = read_modules(q, modules, f);
	} else if (scheme_of(q, type, data, &q->all)) {
		call(q, type, &q->all);
		q->table = tables ? q->all : q->table;
	} else {
		quant_say(q, "torchao's \"%.60s\" is not known: sized as %s", type ? type : "",
			  q->dtype);
	}
	/* the output matrix is one like others, the table of tokens is not */
	if (tables)
		q->head = q->all;
	return err;
}
