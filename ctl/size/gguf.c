// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: GGUF
 *
 * Magic, version, counts; then metadata, then the tensor table; then data,
 * which is not read. Every count comes from the file, so every one is held
 * against what is left of it before it is believed.
 */
#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "facts.h"
#include "source.h"

#define WINDOW 65536
#define STRING_KEPT 128
#define DIMS_MAX 8
/* Metadata of one architecture, and layers of a list of it. */
#define KEPT_MAX 512
#define ENTRIES_MAX 4096

/**
 * struct gguf - one pass over a file
 * @at: offset of the next byte, @have bytes are in @buf from @loaded
 * @arch: general.architecture
 * @tokens: length of the vocabulary
 * @parts: of how many files a model is, if that is more than one
 * @output: there is an output matrix of its own
 * @facts: metadata of its architecture, @kept of it
 */
struct gguf {
	const struct size_source *source;
	uint64_t at;
	uint64_t loaded;
	size_t have;
	struct fault *f;
	char arch[STRING_KEPT];
	uint64_t tokens;
	uint64_t parts;
	bool output;
	struct json_object *facts;
	unsigned int kept;
	unsigned char buf[WINDOW];
};

enum kind {
	KIND_U8,
	KIND_I8,
	KIND_U16,
	KIND_I16,
	KIND_U32,
	KIND_I32,
	KIND_F32,
	KIND_BOOL,
	KIND_STRING,
	KIND_ARRAY,
	KIND_U64,
	KIND_I64,
	KIND_F64,
	KINDS
};

static const unsigned int kind_size[KINDS] = {
	[KIND_U8] = 1,	[KIND_I8] = 1,	[KIND_U16] = 2, [KIND_I16] = 2,
	[KIND_U32] = 4, [KIND_I32] = 4, [KIND_F32] = 4, [KIND_BOOL] = 1,
	[KIND_U64] = 8, [KIND_I64] = 8, [KIND_F64] = 8,
};

/* Numbers in a block of a tensor, and its bytes; the index is the type's number. */
static const struct {
	const char *name;
	unsigned int numbers;
	unsigned int bytes;
} types[] = {
	[0] = { "F32", 1, 4 },	       [1] = { "F16", 1, 2 },	      [2] = { "Q4_0", 32, 18 },
	[3] = { "Q4_1", 32, 20 },      [6] = { "Q5_0", 32, 22 },      [7] = { "Q5_1", 32, 24 },
	[8] = { "Q8_0", 32, 34 },      [9] = { "Q8_1", 32, 36 },      [10] = { "Q2_K", 256, 84 },
	[11] = { "Q3_K", 256, 110 },   [12] = { "Q4_K", 256, 144 },   [13] = { "Q5_K", 256, 176 },
	[14] = { "Q6_K", 256, 210 },   [15] = { "Q8_K", 256, 292 },   [16] = { "IQ2_XXS", 256, 66 },
	[17] = { "IQ2_XS", 256, 74 },  [18] = { "IQ3_XXS", 256, 98 }, [19] = { "IQ1_S", 256, 50 },
	[20] = { "IQ4_NL", 32, 18 },   [21] = { "IQ3_S", 256, 110 },  [22] = { "IQ2_S", 256, 82 },
	[23] = { "IQ4_XS", 256, 136 }, [24] = { "I8", 1, 1 },	      [25] = { "I16", 1, 2 },
	[26] = { "I32", 1, 4 },	       [27] = { "I64", 1, 8 },	      [28] = { "F64", 1, 8 },
	[29] = { "IQ1_M", 256, 56 },   [30] = { "BF16", 1, 2 },	      [34] = { "TQ1_0", 256, 54 },
	[35] = { "TQ2_0", 256, 66 },   [39] = { "MXFP4", 32, 17 },    [40] = { "NVFP4", 64, 36 },
	[41] = { "Q1_0", 128, 18 },
};

static uint64_t left(const struct gguf *g)
{
	return g->source->size - g->at;
}

static int gguf_take(struct gguf *g, void *to, size_t n)
{
	int err;

	if (n > left(g))
		return fault_set(g->f, EINVAL, "cut off at byte %llu; copy the file again",
				 (unsigned long long)g->at);
	if (g->at < g->loaded || g->at + n > g->loaded + g->have) {
		g->have = left(g) < WINDOW ? (size_t)left(g) : WINDOW;
		g->loaded = g->at;
		err = g->source->read(g->source->arg, g->at, g->buf, g->have);
		if (err) {
			g->have = 0;
			return fault_set(g->f, -err, "byte %llu: %s", (unsigned long long)g->at,
					 strerror(-err));
		}
	}
	memcpy(to, g->buf + (g->at - g->loaded), n);
	g->at += n;
	return 0;
}

/* A little-endian number of @n bytes. */
static int number(struct gguf *g, unsigned int n, uint64_t *out)
{
	unsigned char b[8];
	int err = gguf_take(g, b, n);

	*out = 0;
	while (!err && n)
		*out = *out << 8 | b[--n];
	return err;
}

static int pass(struct gguf *g, uint64_t n)
{
	if (n > left(g))
		return fault_set(g->f, EINVAL, "cut off at byte %llu; copy the file again",
				 (unsigned long long)g->at);
	g->at += n;
	return 0;
}

/* Keeps the beginning of a string; the rest is passed over. */
static int take_string(struct gguf *g, char kept[STRING_KEPT])
{
	uint64_t len;
	size_t n;
	int err = number(g, 8, &len);

	if (err)
		return err;
	if (len > left(g))
		return fault_set(g->f, EINVAL, "a string of %llu bytes is beyond the file",
				 (unsigned long long)len);
	n = len < STRING_KEPT ? (size_t)len : STRING_KEPT - 1;
	err = gguf_take(g, kept, n);
	kept[err ? 0 : n] = '\0';
	return err ? err : pass(g, len - n);
}

/* Passes over a string that is loaded whole: a vocabulary has hundreds of thousands. */
static bool skip_loaded(struct gguf *g)
{
	uint64_t within = g->at - g->loaded, len;

	if (g->at < g->loaded || within + 8 > g->have)
		return false;
	memcpy(&len, g->buf + within, 8);
	len = le64toh(len);
	if (len > g->have - within - 8)
		return false;
	g->at += 8 + len;
	return true;
}

/* --- metadata -------------------------------------------------------------------- */

/* Keeps what families may ask for: "llama.block_count" as "block_count". */
static void keep(struct gguf *g, const char *key, struct json_object *value)
{
	size_t len = strlen(g->arch);

	if (len && !strncmp(key, g->arch, len) && key[len] == '.' && g->kept < KEPT_MAX) {
		json_object_object_add(g->facts, key + len + 1, value);
		g->kept++;
	} else {
		json_object_put(value);
	}
}

/* A number of the file as JSON; NULL for what is none. */
static struct json_object *as_json(enum kind kind, uint64_t raw)
{
	uint32_t low = (uint32_t)raw;
	double wide;
	float narrow;

	switch (kind) {
	case KIND_F32:
		memcpy(&narrow, &low, sizeof(narrow));
		return json_object_new_double(narrow);
	case KIND_F64:
		memcpy(&wide, &raw, sizeof(wide));
		return json_object_new_double(wide);
	case KIND_I8:
		return json_object_new_int64((int8_t)raw);
	case KIND_I16:
		return json_object_new_int64((int16_t)raw);
	case KIND_I32:
		return json_object_new_int64((int32_t)raw);
	case KIND_BOOL:
		return json_object_new_boolean(raw != 0);
	default:
		return json_object_new_int64(raw > INT64_MAX ? INT64_MAX : (int64_t)raw);
	}
}

/* Numbers by layer: heads, widths of the MLP, windows. */
static int gguf_take_numbers(struct gguf *g, const char *key, enum kind kind, uint64_t count)
{
	struct json_object *list;
	uint64_t value, i;
	int err = 0;

	if (count > ENTRIES_MAX || !*g->arch || strncmp(key, g->arch, strlen(g->arch)))
		return pass(g, count * kind_size[kind]);
	list = json_object_new_array();
	for (i = 0; !err && i < count; i++) {
		err = number(g, kind_size[kind], &value);
		if (!err)
			json_object_array_add(list, as_json(kind, value));
	}
	keep(g, key, list);
	return err;
}

static int take_array(struct gguf *g, const char *key)
{
	uint64_t kind, count, i;
	char text[STRING_KEPT];
	int err = number(g, 4, &kind);

	if (!err)
		err = number(g, 8, &count);
	if (err)
		return err;
	if (kind >= KINDS || kind == KIND_ARRAY)
		return fault_set(g->f, EINVAL, "%.60s: an array of type %llu is not known", key,
				 (unsigned long long)kind);
	if (count > left(g))
		return fault_set(g->f, EINVAL, "%.60s: %llu entries are beyond the file", key,
				 (unsigned long long)count);
	if (!strcmp(key, "tokenizer.ggml.tokens"))
		g->tokens = count;
	if (kind != KIND_STRING)
		return gguf_take_numbers(g, key, (enum kind)kind, count);
	for (i = 0; !err && i < count; i++)
		if (!skip_loaded(g))
			err = take_string(g, text);
	return err;
}

static int metadata(struct gguf *g)
{
	char key[STRING_KEPT], text[STRING_KEPT];
	uint64_t kind, value;
	int err = take_string(g, key);

	if (!err)
		err = number(g, 4, &kind);
	if (err)
		return err;
	if (kind >= KINDS)
		return fault_set(g->f, EINVAL, "%.60s: type %llu is not known", key,
				 (unsigned long long)kind);
	if (kind == KIND_ARRAY)
		return take_array(g, key);
	if (kind == KIND_STRING) {
		err = take_string(g, text);
		if (!err && !strcmp(key, "general.architecture"))
			memcpy(g->arch, text, sizeof(text));
		else if (!err)
			keep(g, key, json_object_new_string(text));
		return err;
	}
	err = number(g, kind_size[kind], &value);
	if (!err && !strcmp(key, "split.count"))
		g->parts = value;
	if (!err)
		keep(g, key, as_json((enum kind)kind, value));
	return err;
}

/* --- tensors --------------------------------------------------------------------- */

static int gguf_take_tensor(struct gguf *g, struct size_stored *out)
{
	uint64_t dims, dim, type, offset, params = 1, bytes, i;
	char name[STRING_KEPT];
	int err = take_string(g, name);

	if (!err)
		err = number(g, 4, &dims);
	if (err)
		return err;
	if (!dims || dims > DIMS_MAX)
		return fault_set(g->f, EINVAL, "tensor %.60s: %llu dimensions", name,
				 (unsigned long long)dims);
	for (i = 0; !err && i < dims; i++) {
		err = number(g, 8, &dim);
		if (!err && __builtin_mul_overflow(params, dim, &params))
			return fault_set(g->f, ERANGE,
					 "tensor %.60s: the product of its shape needs more than 64 bits",
					 name);
	}
	if (!err)
		err = number(g, 4, &type);
	if (!err)
		err = number(g, 8, &offset);
	if (err)
		return err;
	if (type >= sizeof(types) / sizeof(types[0]) || !types[type].numbers)
		return fault_set(g->f, ENOTSUP, "tensor %.60s: type %llu is not known", name,
				 (unsigned long long)type);
	if (params % types[type].numbers)
		return fault_set(g->f, EINVAL,
				 "tensor %.60s: %llu numbers are not whole blocks of %u", name,
				 (unsigned long long)params, types[type].numbers);
	if (__builtin_mul_overflow(params / types[type].numbers, types[type].bytes, &bytes))
		return fault_set(g->f, ERANGE, "tensor %.60s: more than 2^64 bytes", name);
	g->output |= !strcmp(name, "output.weight");
	if (!strcmp(name, "token_embd.weight"))
		out->table = bytes;
	return stored_add(out, types[type].name, params, bytes, g->f);
}

/* The shape as far as the metadata tells it; without one the bytes are enough. */
static void shape(struct gguf *g, const struct cat_families *families, struct size_stored *out)
{
	struct expr_facts facts = facts_of(g->facts);
	struct model_plan plan = { .families = families, .facts = &facts };
	struct cat_model *m = &out->model;
	struct fault why = { "" };

	plan.family = family_of_word(families, "gguf", g->arch);
	if (!plan.family) {
		snprintf(out->unknown, sizeof(out->unknown), "%.60s", g->arch);
		plan.family = family_get(families, FAMILY_ROOT);
	}
	if (!facts_find(g->facts, "vocab_size"))
		json_object_object_add(g->facts, "vocab_size",
				       json_object_new_int64((int64_t)g->tokens));
	m->tied_given = true;
	m->tied = !g->output;
	if (!plan.family || cat_model_build(&plan, m, &why) || size_model_finish(m, "gguf", &why)) {
		size_model_drop(m);
		snprintf(out->why, sizeof(out->why), "%.200s", why.text);
	}
}

/* The format that holds most bytes, in lower case as --quant has it. */
static void main_format(struct size_stored *out)
{
	size_t best = 0, i;

	for (i = 1; i < out->n_dtypes; i++)
		if (out->dtype[i].bytes > out->dtype[best].bytes)
			best = i;
	for (i = 0; out->n_dtypes && i < sizeof(out->dtype[best].name); i++)
		out->quant[i] = (char)tolower((unsigned char)out->dtype[best].name[i]);
	if (strlen(out->quant) == 4 && !strcmp(out->quant + 2, "_k") && *out->quant == 'q' &&
	    strchr("345", out->quant[1]))
		strcat(out->quant, "_m");
}

/* One file: metadata is in the first of several, tensors are in all of them. */
static int one_part(struct gguf *g, const struct size_source *source, struct size_stored *out)
{
	uint64_t magic, version, tensors, pairs, i;
	int err;

	g->source = source;
	g->at = 0;
	g->loaded = 0;
	g->have = 0;
	err = number(g, 4, &magic);

	if (!err && magic != 0x46554747)
		return fault_set(g->f, EINVAL, "not a GGUF file: it does not begin with GGUF");
	if (!err)
		err = number(g, 4, &version);
	if (!err && (version < 2 || version > 3))
		return fault_set(g->f, ENOTSUP, "GGUF version %llu: 2 and 3 are known",
				 (unsigned long long)version);
	if (!err)
		err = number(g, 8, &tensors);
	if (!err)
		err = number(g, 8, &pairs);
	if (err)
		return err;
	/* each takes a dozen bytes at least: absurd counts end here */
	if (pairs > left(g) / 12 || tensors > left(g) / 24)
		return fault_set(g->f, EINVAL,
				 "%llu tensors and %llu metadata entries are beyond the file of %llu bytes",
				 (unsigned long long)tensors, (unsigned long long)pairs,
				 (unsigned long long)g->source->size);
	for (i = 0; !err && i < pairs; i++)
		err = metadata(g);
	for (i = 0; !err && i < tensors; i++)
		err = gguf_take_tensor(g, out);
	return err;
}

static int all(struct gguf *g, const struct size_source *const *part, size_t n,
	       struct size_stored *out)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < n; i++)
		err = one_part(g, part[i], out);
	if (!err && !out->bytes && g->parts > n)
		return fault_set(g->f, EINVAL,
				 "one of %llu parts, and it has no tensors: put the others beside it",
				 (unsigned long long)g->parts);
	if (!err && !out->bytes)
		return fault_set(g->f, EINVAL, "the file has no tensors");
	out->shards = n;
	return err;
}

int gguf_read(const struct size_source *const *part, size_t n, const struct cat_families *families,
	      struct size_stored *out, struct fault *f)
{
	struct gguf *g = calloc(1, sizeof(*g));
	int err;

	memset(out, 0, sizeof(*out));
	if (!g)
		return fault_set(f, ENOMEM, "out of memory");
	out->gguf = true;
	g->facts = json_object_new_object();
	g->f = f;
	err = all(g, part, n, out);
	if (!err) {
		shape(g, families, out);
		main_format(out);
		if (g->parts > n)
			snprintf(out->unclear, sizeof(out->unclear),
				 "%zu of %llu parts are here: the weights of the others are not counted",
				 n, (unsigned long long)g->parts);
	}
	json_object_put(g->facts);
	free(g);
	return err;
}
