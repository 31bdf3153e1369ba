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

#include "conf.h"
#include "fault.h"

/* Families that differ in what tensors they have; size/params.c knows how. */
enum model_arch {
	MODEL_LLAMA,		/* also mistral, yi, baichuan, phi-3, phi-4 */
	MODEL_QWEN2,		/* llama with biases on q, k, v */
	MODEL_QWEN3,		/* llama with norms on q, k */
	MODEL_QWEN3_MOE,
	MODEL_MIXTRAL,
	MODEL_GEMMA2,
	MODEL_GEMMA3,
	MODEL_DEEPSEEK,		/* multi-head latent attention, experts */
	MODEL_GPT2,		/* also opt, gpt-3: learned positions */
	MODEL_OPT,
	MODEL_BLOOM,
	MODEL_GPT_NEOX,
	MODEL_MPT,		/* no biases, ALiBi */
	MODEL_FALCON,
	MODEL_PHI,		/* 1.5 and 2 */
	MODEL_ARCHS
};

/**
 * struct cat_model - one model
 * @id: name of its section, unique
 * @name: as published
 * @source: where the shape was seen
 * @aliases: other names
 * @arch: family
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
 * @published: published count of parameters, 0 if none was seen; for tests
 *
 * The remaining members belong to model.c.
 */
struct cat_model {
	char *id;
	char *name;
	char *source;
	char **aliases;
	size_t n_aliases;
	enum model_arch arch;
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
	uint64_t published;

	uint64_t seen;
	unsigned int layer;
	bool has_arch;
};

/* Takes one item; @layer counts directories, a later one may override. */
int cat_model_item(struct cat_model **models, size_t *n, unsigned int layer,
		   const struct conf_item *item, struct fault *f);

/* Fills what can be derived and checks that the shape makes sense. */
int cat_model_complete(struct cat_model *model, struct fault *f);

void cat_model_free(struct cat_model *models, size_t n);

const char *cat_model_arch_name(enum model_arch arch);

/*
 * Finds a model by name: without regard to case and separators, with or
 * without "organisation/" before it and -instruct, -chat, -hf, ... behind it.
 * -ENOENT with similar names in the text.
 */
int cat_model_find(const struct cat_model *models, size_t n, const char *name,
		   const struct cat_model **out, struct fault *f);

#endif
