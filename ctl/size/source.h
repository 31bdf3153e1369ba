/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of models: what their headers say, without reading a tensor. The
 * parsers take any source of bytes, so that tests feed them memory.
 */
#ifndef GPUCTL_SIZE_SOURCE_H
#define GPUCTL_SIZE_SOURCE_H

#include "catalogue/model.h"

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
 * @shards: files of an index
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
	char quant[16];
	uint64_t shards;
	uint64_t missing;
};

/* A .safetensors file: its header alone. */
int safetensors_read(const struct size_source *source, struct size_stored *out, struct fault *f);

/* A .safetensors.index.json: total_size and how many shards. */
int safetensors_index(const struct size_source *source, struct size_stored *out, struct fault *f);

/* A GGUF file: metadata and tensor table. */
int gguf_read(const struct size_source *source, struct size_stored *out, struct fault *f);

/* Adds a tensor to the sums; -EOVERFLOW when they overflow. */
int stored_add(struct size_stored *out, const char *dtype, uint64_t params, uint64_t bytes,
	       struct fault *f);

void stored_free(struct size_stored *stored);

/*
 * A folder, a config.json, an index, a safetensors or a GGUF file, by what it
 * is. The only I/O of these parsers.
 */
int stored_open(const char *path, struct size_stored *out, struct fault *f);

/* Is it a path and no name of the catalogue? */
bool stored_is_path(const char *word);

#endif
