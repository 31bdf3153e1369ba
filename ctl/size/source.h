/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of models: what their headers say, without reading a tensor. The
 * parsers take any source of bytes, so that tests feed them memory.
 */
#ifndef GPUCTL_SIZE_SOURCE_H
#define GPUCTL_SIZE_SOURCE_H

#include "catalogue/family.h"
#include "catalogue/model.h"
#include "quant.h"

/**
 * struct size_source - bytes to read
 * @read: copies @n bytes at @offset, which are there; returns 0 or -errno
 * @arg: for it
 * @size: of the whole
 */
struct size_source {
	int (*read)(void *arg, uint64_t offset, void *buf, size_t n);
	void *arg;
	uint64_t size;
};

#define SIZE_DTYPES_MAX 48

/**
 * struct size_stored - what a file holds
 * @bytes: of all tensors
 * @params: numbers in all tensors; packed formats count their words
 * @tensors: how many
 * @dtype: bytes by number format, the first @n_dtypes
 * @model: shape, where the file tells one: id is NULL otherwise
 * @quant: format of most bytes in our words, "" if plain or unknown
 * @precision: bits of the weights as they are stored; name NULL: not known
 * @computed: bytes of all tensors by formula, with those of further tokens' layers
 * @draft: of them, those of further tokens' layers, which engines do not load
 * @table: bytes of the input table, 0 if the file does not tell
 * @gguf: it is a GGUF file, whose engines are those of ggml
 * @kv: format of the KV cache that the file asks for, "" if none
 * @unclear: why the bits are a guess, "" if they are none
 * @shards: files of an index, or parts of a GGUF model that were read
 * @unknown: what the file calls its architecture, if no family is called so
 * @why: there is no shape
 * @called: what it is called, where there is no shape that has a name
 * @bare: the path has no directory before the name, so that it could be a name alone
 * @served: servers such as vLLM read the format; ExLlama's and MLX's are for those alone
 * @missing: bytes that the table has and the file lacks: not copied whole
 */
struct size_stored {
	uint64_t bytes;
	uint64_t params;
	uint64_t tensors;
	struct {
		char name[16];
		uint64_t bytes;
		uint64_t params;
	} dtype[SIZE_DTYPES_MAX];
	size_t n_dtypes;
	struct cat_model model;
	char quant[QUANT_NAME_MAX];
	struct size_precision precision;
	uint64_t computed;
	uint64_t draft;
	uint64_t table;
	bool gguf;
	char kv[8];
	char unclear[160];
	uint64_t shards;
	uint64_t missing;
	char unknown[64];
	char why[256];
	char called[128];
	bool bare;
	bool served;
};

/* A .safetensors file: its header alone. */
int safetensors_read(const struct size_source *source, struct size_stored *out, struct fault *f);

/* A .safetensors.index.json: total_size (0 if it does not say), total_parameters and shards. */
int safetensors_index(const struct size_source *source, struct size_stored *out, struct fault *f);

/* The @n files of a GGUF model, the first part first: metadata and tensor tables. */
int gguf_read(const struct size_source *const *part, size_t n, const struct cat_families *families,
	      struct size_stored *out, struct fault *f);

/* Adds a tensor to the sums; -EOVERFLOW when they overflow. */
int stored_add(struct size_stored *out, const char *dtype, uint64_t params, uint64_t bytes,
	       struct fault *f);

void stored_free(struct size_stored *stored);

/*
 * A folder, a config.json, an index, a safetensors or a GGUF file, by what it
 * is. The only I/O of these parsers. Of a folder without a shape (an unknown
 * config.json, a pipeline of several models) the bytes are taken, and @why says
 * what is missing; -EINVAL where there are neither. @out holds pointers into
 * itself: it stays where it is.
 */
int stored_open(const char *path, const struct cat_families *families, struct size_stored *out,
		struct fault *f);

/**
 * struct size_reader - who reads a model's files
 * @families: of the catalogue
 * @want: called before @n bytes at @offset of a file are read, and with @n = 0 before it is
 *   opened: brings them where they are not there yet, 0 or -errno; NULL: they are
 * @arg: for it
 */
struct size_reader {
	const struct cat_families *families;
	int (*want)(void *arg, const char *path, uint64_t offset, size_t n);
	void *arg;
};

/* stored_open() of files that need not be there yet. */
int stored_read(const char *path, const struct size_reader *reader, struct size_stored *out,
		struct fault *f);

/* Is it a path and no name of the catalogue? */
bool stored_is_path(const char *word);

#endif
