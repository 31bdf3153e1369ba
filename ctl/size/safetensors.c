// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: safetensors
 *
 * Eight bytes of length, that many bytes of JSON, then data. The JSON has for
 * each tensor its format, shape and where its bytes are; all three must agree
 * with each other and with the file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scan.h"

/* The format's own limit. */
#define HEADER_MAX 100000000

/* No weights take more than 2^60 bytes. */
#define TOTAL_MAX (1ull << 60)

static const struct {
	const char *name;
	unsigned int bits;
} dtypes[] = {
	{ "F64", 64 },	  { "F32", 32 }, { "F16", 16 },	   { "BF16", 16 },   { "I64", 64 },
	{ "I32", 32 },	  { "I16", 16 }, { "I8", 8 },	   { "U8", 8 },	     { "U16", 16 },
	{ "U32", 32 },	  { "U64", 64 }, { "BOOL", 8 },	   { "F8_E4M3", 8 }, { "F8_E5M2", 8 },
	{ "F8_E8M0", 8 }, { "F4", 4 },	 { "F6_E2M3", 6 }, { "F6_E3M2", 6 },
};

/**
 * struct tensor - one entry of the header
 */
struct tensor {
	char dtype[16];
	uint64_t params;
	uint64_t begin;
	uint64_t end;
	bool shape;
	bool place;
};

/* A model has 100,000 tensors of a few words each, and most of these differ at once. */
static inline bool is_same(const char *a, const char *b)
{
	return *a == *b && !strcmp(a, b);
}

static int broken(const struct scan *s, const char *name, struct fault *f)
{
	return fault_set(f, EINVAL, "header: %s%s%s; copy the file again",
			 s->why ? s->why : "not what safetensors has", *name ? " at tensor " : "",
			 name);
}

static int read_shape(struct scan *s, const char *name, struct tensor *t, struct fault *f)
{
	enum scan_token token;
	uint64_t n;

	if (scan_next(s) != SCAN_OPEN_ARRAY)
		return broken(s, name, f);
	t->params = 1;
	t->shape = true;
	while ((token = scan_next(s)) == SCAN_NUMBER) {
		if (!scan_whole(s, &n) || __builtin_mul_overflow(t->params, n, &t->params))
			return fault_set(f, ERANGE,
					 "tensor %.60s: the product of its shape needs more than 64 bits",
					 name);
	}
	return token == SCAN_CLOSE_ARRAY ? 0 : broken(s, name, f);
}

static int read_place(struct scan *s, const char *name, struct tensor *t, struct fault *f)
{
	t->place = true;
	if (scan_next(s) != SCAN_OPEN_ARRAY || scan_next(s) != SCAN_NUMBER ||
	    !scan_whole(s, &t->begin) || scan_next(s) != SCAN_NUMBER || !scan_whole(s, &t->end) ||
	    scan_next(s) != SCAN_CLOSE_ARRAY)
		return fault_set(f, EINVAL, "tensor %.60s: data_offsets are not two whole numbers",
				 name);
	return 0;
}

static int read_tensor(struct scan *s, const char *name, struct tensor *t, struct fault *f)
{
	enum scan_token token;
	int err = 0;

	if (scan_next(s) != SCAN_OPEN_OBJECT)
		return broken(s, name, f);
	while (!err && (token = scan_next(s)) == SCAN_KEY) {
		if (is_same(s->text, "shape")) {
			err = read_shape(s, name, t, f);
		} else if (is_same(s->text, "data_offsets")) {
			err = read_place(s, name, t, f);
		} else if (is_same(s->text, "dtype")) {
			if (scan_next(s) != SCAN_STRING)
				return broken(s, name, f);
			memcpy(t->dtype, s->text, sizeof(t->dtype));
			t->dtype[sizeof(t->dtype) - 1] = '\0';
		} else if (scan_skip(s, scan_next(s)) == SCAN_ERROR) {
			return broken(s, name, f);
		}
	}
	if (err)
		return err;
	return token == SCAN_CLOSE_OBJECT ? 0 : broken(s, name, f);
}

static int take_tensor(const struct tensor *t, const char *name, uint64_t room,
		       struct size_stored *out, struct fault *f)
{
	uint64_t bits, i;

	for (i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++)
		if (is_same(dtypes[i].name, t->dtype))
			break;
	if (i == sizeof(dtypes) / sizeof(dtypes[0]))
		return fault_set(f, ENOTSUP, "tensor %.60s: dtype \"%s\" is not known", name,
				 t->dtype);
	if (!t->shape || !t->place)
		return fault_set(f, EINVAL, "tensor %.60s: %s is missing", name,
				 t->shape ? "data_offsets" : "shape");
	if (t->end < t->begin)
		return fault_set(f, EINVAL, "tensor %.60s: data_offsets run backwards", name);
	/* a header alone is enough to size; that the rest lacks is worth a word */
	if (t->end > room && t->end - room > out->missing)
		out->missing = t->end - room;
	if (__builtin_mul_overflow(t->params, dtypes[i].bits, &bits) ||
	    (bits + 7) / 8 != t->end - t->begin)
		return fault_set(f, EINVAL, "tensor %.60s: shape and data_offsets disagree", name);
	return stored_add(out, t->dtype, t->params, t->end - t->begin, f);
}

int stored_add(struct size_stored *out, const char *dtype, uint64_t params, uint64_t bytes,
	       struct fault *f)
{
	size_t i;

	for (i = 0; i < out->n_dtypes && !is_same(out->dtype[i].name, dtype); i++)
		;
	if (i == SIZE_DTYPES_MAX)
		return fault_set(f, E2BIG, "more than %d number formats in one file",
				 SIZE_DTYPES_MAX);
	if (i == out->n_dtypes) {
		snprintf(out->dtype[i].name, sizeof(out->dtype[i].name), "%s", dtype);
		out->n_dtypes++;
	}
	if (__builtin_add_overflow(out->bytes, bytes, &out->bytes) ||
	    __builtin_add_overflow(out->params, params, &out->params))
		return fault_set(f, EOVERFLOW, "tensors of more than 2^64 bytes");
	out->dtype[i].bytes += bytes;
	out->dtype[i].params += params;
	out->tensors++;
	return 0;
}

static int read_header(struct scan *s, uint64_t room, struct size_stored *out, struct fault *f)
{
	enum scan_token token;
	char name[SCAN_STRING_MAX];
	int err = 0;

	if (scan_next(s) != SCAN_OPEN_OBJECT)
		return broken(s, "", f);
	while (!err && (token = scan_next(s)) == SCAN_KEY) {
		struct tensor t = { .dtype = "" };

		memcpy(name, s->text, sizeof(name));
		if (is_same(name, "__metadata__")) {
			if (scan_skip(s, scan_next(s)) == SCAN_ERROR)
				return broken(s, name, f);
			continue;
		}
		err = read_tensor(s, name, &t, f);
		if (!err)
			err = take_tensor(&t, name, room, out, f);
	}
	if (err)
		return err;
	if (token != SCAN_CLOSE_OBJECT || scan_next(s) != SCAN_END)
		return broken(s, "", f);
	return 0;
}

int safetensors_read(const struct size_source *source, struct size_stored *out, struct fault *f)
{
	unsigned char head[8];
	uint64_t length = 0;
	struct scan *s;
	int err, i;

	memset(out, 0, sizeof(*out));
	if (source->size < sizeof(head))
		return fault_set(f, EINVAL, "no safetensors header; copy the file again");
	err = source->read(source->arg, 0, head, sizeof(head));
	if (err)
		return fault_set(f, -err, "header length: %s", strerror(-err));
	for (i = 7; i >= 0; i--)
		length = length << 8 | head[i];
	if (length > source->size - sizeof(head))
		return fault_set(f, EINVAL,
				 "header length %llu is beyond the file of %llu bytes; copy it again",
				 (unsigned long long)length, (unsigned long long)source->size);
	if (length > HEADER_MAX)
		return fault_set(f, EINVAL, "header length %llu is beyond the format's %d",
				 (unsigned long long)length, HEADER_MAX);
	s = malloc(sizeof(*s));
	if (!s)
		return fault_set(f, ENOMEM, "out of memory");
	scan_start(s, source, sizeof(head), length);
	err = read_header(s, source->size - sizeof(head) - length, out, f);
	free(s);
	return err;
}

/* --- the index ------------------------------------------------------------------ */

/* Shards are listed in order, or nearly: a change of name is a shard. */
static int read_map(struct scan *s, struct size_stored *out, struct fault *f)
{
	enum scan_token token;
	char last[SCAN_STRING_MAX] = "";

	if (scan_next(s) != SCAN_OPEN_OBJECT)
		return fault_set(f, EINVAL, "weight_map is not an object: this is not an index");
	while ((token = scan_next(s)) == SCAN_KEY) {
		if (scan_next(s) != SCAN_STRING)
			return fault_set(f, EINVAL, "weight_map: a file name is missing");
		out->tensors++;
		out->shards += strcmp(last, s->text) != 0;
		memcpy(last, s->text, sizeof(last));
	}
	return token == SCAN_CLOSE_OBJECT ? 0 : broken(s, "", f);
}

static int read_metadata(struct scan *s, struct size_stored *out, struct fault *f)
{
	enum scan_token token;

	if (scan_next(s) != SCAN_OPEN_OBJECT)
		return fault_set(f, EINVAL, "metadata is not an object: this is not an index");
	while ((token = scan_next(s)) == SCAN_KEY) {
		bool total = !strcmp(s->text, "total_size");
		bool count = !strcmp(s->text, "total_parameters");

		token = scan_skip(s, scan_next(s));
		if (token == SCAN_ERROR)
			break;
		if (count && token == SCAN_NUMBER && !scan_whole(s, &out->params))
			out->params = 0;
		if (!total)
			continue;
		/* some writers print a float */
		if (strlen(s->text) > 2 && !strcmp(s->text + strlen(s->text) - 2, ".0"))
			s->text[strlen(s->text) - 2] = '\0';
		if (token != SCAN_NUMBER || !scan_whole(s, &out->bytes) || out->bytes > TOTAL_MAX)
			return fault_set(f, EINVAL,
					 "metadata.total_size \"%.40s\" is not a number of bytes",
					 s->text);
	}
	return token == SCAN_CLOSE_OBJECT ? 0 : broken(s, "", f);
}

static int read_index(struct scan *s, struct size_stored *out, struct fault *f)
{
	enum scan_token token;
	int err = 0;

	if (scan_next(s) != SCAN_OPEN_OBJECT)
		return broken(s, "", f);
	while (!err && (token = scan_next(s)) == SCAN_KEY) {
		if (!strcmp(s->text, "metadata"))
			err = read_metadata(s, out, f);
		else if (!strcmp(s->text, "weight_map"))
			err = read_map(s, out, f);
		else if (scan_skip(s, scan_next(s)) == SCAN_ERROR)
			return broken(s, "", f);
	}
	if (err)
		return err;
	if (token != SCAN_CLOSE_OBJECT || scan_next(s) != SCAN_END)
		return broken(s, "", f);
	return 0;
}

int safetensors_index(const struct size_source *source, struct size_stored *out, struct fault *f)
{
	struct scan *s = malloc(sizeof(*s));
	int err;

	memset(out, 0, sizeof(*out));
	if (!s)
		return fault_set(f, ENOMEM, "out of memory");
	scan_start(s, source, 0, source->size);
	err = read_index(s, out, f);
	free(s);
	return err;
}

void stored_free(struct size_stored *stored)
{
	free(stored->model.id);
	free(stored->model.name);
	free(stored->model.source);
	memset(stored, 0, sizeof(*stored));
}
