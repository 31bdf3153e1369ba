/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Language models: the shapes of published configurations, and finding one by
 * the name people use. Counts of parameters are computed (size/params.h).
 */
#ifndef GPUCTL_CATALOGUE_MODEL_H
#define GPUCTL_CATALOGUE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/conf.h"
#include "base/fault.h"

#define MODEL_CACHES_MAX 32

/**
 * struct model_params - parameters, by what is done with them
 * @total: all that is loaded to use the model
 * @active: those that one token visits; @total for a dense model
 * @linear: matrices of the blocks, which quantization shrinks
 * @small: norms, biases and routers, which it does not
 * @embedding: input table, with learned positions
 * @head: output matrix where it is a tensor of its own
 * @vision: encoders of images and sound, and what joins them to the text
 * @experts: of @linear, those of routed experts
 * @block: all tensors of the largest block
 * @mtp: layers that predict further tokens: stored, not in @total
 *
 * @total is @linear + @small + @embedding + @head + @vision.
 */
struct model_params {
	uint64_t total;
	uint64_t active;
	uint64_t linear;
	uint64_t small;
	uint64_t embedding;
	uint64_t head;
	uint64_t vision;
	uint64_t experts;
	uint64_t block;
	uint64_t mtp;
};

/**
 * struct model_cache - layers that keep the same of a token
 * @layers: number of them
 * @heads: what tensor parallelism divides; 1 of a latent, which it does not
 * @width: numbers of one head
 * @window: tokens that are kept, 0: all
 */
struct model_cache {
	uint64_t layers;
	uint64_t heads;
	uint64_t width;
	uint64_t window;
};

/* What LoRA adapts. */
enum lora_target {
	LORA_QUERY,
	LORA_KEY,
	LORA_VALUE,
	LORA_OUTPUT,
	LORA_MLP,
	LORA_LATENT, /* other matrices of an attention, adapted with any of it */
	LORA_TARGETS
};

struct cat_families;
struct cat_family;

/**
 * struct cat_model - one model
 * @id: name of its section, unique
 * @name: as published
 * @source: where the shape was seen
 * @aliases: other names
 * @arch: id of its family
 * @stored: format that its weights are published in, NULL: 16 bits
 * @tied: input and output embedding are one tensor
 * @hidden: width of the residual stream
 * @layers: transformer blocks
 * @heads: query heads
 * @kv_heads: key and value heads; @heads if the file does not say
 * @head_dim: width of a head; @hidden / @heads if the file does not say
 * @ffn: inner width of the dense MLP
 * @vocab: rows of the embedding, with its padding
 * @positions: rows of a learned position table, 0 without one
 * @layer_norms: norms in a block, where products of the family differ
 * @experts: routed experts in a block, 0 for a dense model
 * @active_experts: of them, how many a token visits
 * @moe_ffn: inner width of an expert
 * @shared_experts: experts that every token visits
 * @dense_layers: first blocks that have a dense MLP all the same
 * @q_lora: rank of the query compression (DeepSeek), 0 without
 * @kv_lora: rank of the key and value compression, 0 without
 * @rope_dim: rotary part of a head (DeepSeek)
 * @nope_dim: the part without positions
 * @value_dim: width of a value head (DeepSeek)
 * @sliding_window: tokens that a windowed block attends to, 0 without
 * @full_attention_every: every so many-th block has no window; 0: none has not
 * @max_context: tokens that it was made for, 0 if the file does not say
 * @published: published count of parameters, 0 if none was seen; for tests
 *
 * Filled by cat_model_build(): @params; @cache, @n_caches of them; @state_bytes of a
 * sequence, whatever its length; @index_bytes of a token beside keys and values;
 * @lora_sides: rows and columns of all matrices of a target; @gated: the MLP
 * multiplies two branches; @text_family: of the part that reads and writes;
 * @left_out: parts of the file that are not counted, "" if there are none;
 * @unknown_text: what the text part calls itself, if no family is called so, or "";
 * @short_list: a list that has no entry for some layers, "" if there is none;
 * @moe_ffn_guessed: the file does not say how wide an expert is.
 *
 * The remaining members belong to model.c and build.c.
 */
struct cat_model {
	char *id;
	char *name;
	char *source;
	char **aliases;
	size_t n_aliases;
	char *arch;
	char *stored;
	bool tied;
	uint64_t hidden;
	uint64_t layers;
	uint64_t heads;
	uint64_t kv_heads;
	uint64_t head_dim;
	uint64_t ffn;
	uint64_t vocab;
	uint64_t positions;
	uint64_t layer_norms;
	uint64_t experts;
	uint64_t active_experts;
	uint64_t moe_ffn;
	uint64_t shared_experts;
	uint64_t dense_layers;
	uint64_t q_lora;
	uint64_t kv_lora;
	uint64_t rope_dim;
	uint64_t nope_dim;
	uint64_t value_dim;
	uint64_t sliding_window;
	uint64_t full_attention_every;
	uint64_t max_context;
	uint64_t published;

	struct model_params params;
	struct model_cache cache[MODEL_CACHES_MAX];
	size_t n_caches;
	uint64_t state_bytes;
	uint64_t index_bytes;
	uint64_t lora_sides[LORA_TARGETS];
	bool gated;
	const struct cat_family *text_family;
	char left_out[96];
	char short_list[128];
	char unknown_text[64];
	bool moe_ffn_guessed;

	bool whole;
	bool tied_given;
	uint64_t stack_layers;
	uint64_t seen;
	unsigned int layer;
};

/**
 * struct model_number - a number of a shape
 * @key: in a catalogue file, and of the variable in a family
 * @offset: where it is in struct cat_model
 */
struct model_number {
	const char *key;
	size_t offset;
	uint64_t min;
	uint64_t max;
};

/* What cat_model_build() counts, from nothing. */
void cat_model_clear_counts(struct cat_model *model);

/* Adds @part, @len long, to @left_out. Returns 0. */
int cat_model_leave_out(struct cat_model *model, const char *part, size_t len);

/* Ends with a NULL key. */
extern const struct model_number model_numbers[];

/* Takes one item; @layer counts directories, a later one may override. */
int cat_model_item(struct cat_model **models, size_t *n, unsigned int layer,
		   const struct conf_item *item, struct fault *f);

/* Builds a model of the catalogue and checks that its shape makes sense. */
int cat_model_complete(struct cat_model *model, const struct cat_families *families,
		       struct fault *f);

/* What no shape can be, of a model that was built; NULL if it is one. */
const char *cat_model_nonsense(const struct cat_model *model);

void cat_model_free(struct cat_model *models, size_t n);

/*
 * Finds a model by name: without regard to case and separators, with or
 * without "organisation/" before it and -instruct, -chat, -hf, ... behind it.
 * -ENOENT with similar names in the text.
 */
int cat_model_find(const struct cat_model *models, size_t n, const char *name,
		   const struct cat_model **out, struct fault *f);

#endif
