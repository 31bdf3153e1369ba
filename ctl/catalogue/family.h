/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Families of models as data: which numbers of a file mean what, and which
 * tensors, caches and states a layer has. gpuctl-catalogue(5) has the format.
 */
#ifndef GPUCTL_CATALOGUE_FAMILY_H
#define GPUCTL_CATALOGUE_FAMILY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/conf.h"
#include "base/fault.h"
#include "expr.h"

/* What every family is like unless it says. */
#define FAMILY_ROOT "transformer"

#define FAMILY_PARTS_MAX 48

/* Of a part of a layer, or of the model. */
enum family_property {
	PART_WHEN, /* has layer i this part? default yes */
	PART_LAYERS, /* how often it is there: default all layers */
	PART_GROUP, /* text (default), embedding, head, final, vision, audio, mtp */
	PART_COPIES, /* experts: how many, */
	PART_ACTIVE, /* and how many a token visits */
	PART_TENSORS, /* matrices, which quantization shrinks */
	PART_KEPT, /* norms, biases, routers, which it does not */
	PART_KV_HEADS, /* what tensor parallelism divides */
	PART_KV_WIDTH, /* numbers that one of them keeps for a token */
	PART_WINDOW, /* tokens that are kept, 0: all */
	PART_STATE, /* bytes of a sequence, whatever its length */
	PART_INDEX, /* bytes of a token beside keys and values */
	PART_REPEATS, /* as well all text parts of this layer */
	PART_PROPERTIES
};

/**
 * struct family_line - one line of a family
 */
struct family_line {
	char *key;
	char *value;
};

/**
 * struct family_part - lines of one part, as numbers of lines; -1: not given
 * @name: borrowed from its first line
 * @len: of the name
 */
struct family_part {
	const char *name;
	size_t len;
	int line[PART_PROPERTIES];
};

/**
 * struct cat_family - a family
 * @id: name of its section
 * @own: lines of its section
 * @layer: the directory that said them
 * @line: its own and those that it takes from what it is like, by key; made by
 *	families_link()
 * @part: parts that the lines describe
 */
struct cat_family {
	char *id;
	struct family_line *own;
	size_t n_own;
	unsigned int layer;
	struct family_line *line;
	size_t n;
	struct family_part part[FAMILY_PARTS_MAX];
	size_t n_parts;
};

/**
 * struct cat_families - all that are described
 */
struct cat_families {
	struct cat_family *item;
	size_t n;
};

/* Takes one item of family @id; @layer counts directories, a later one may override. */
int family_item(struct cat_families *families, unsigned int layer, const char *id,
		const struct conf_item *item, struct fault *f);

/* Resolves what families take from each other; -EINVAL names the family. */
int families_link(struct cat_families *families, struct fault *f);

void families_free(struct cat_families *families);

/* By id; NULL if there is none. */
const struct cat_family *family_get(const struct cat_families *families, const char *id);

/* By a file's word, as "model_types" or "gguf" (@key) list it; NULL if none does. */
const struct cat_family *family_of_word(const struct cat_families *families, const char *key,
					const char *word);

/* Of a word that nobody knows: the family whose "guess" keys are there, or what all are like. */
const struct cat_family *family_guess(const struct cat_families *families,
				      const struct expr_facts *facts);

/* The first fact that a variable is taken from, for people who look for it in the file. */
void family_fact(const struct cat_family *family, const char *name, char out[64]);

/* Of "PATH|PATH FAMILY": @path gets the first that the facts have, or the last. */
void family_inner(const struct expr_facts *facts, const char *text, char path[64],
		  struct expr_value *out);

/* Number of the line with this key, or -1. */
int family_line(const struct cat_family *family, const char *key, size_t len);

/* A line of its own section alone, NULL if there is none. */
const char *family_own_text(const struct cat_family *family, const char *key);

/* Its value, NULL if there is none. */
const char *family_text(const struct cat_family *family, const char *key);

#endif
