/* SPDX-License-Identifier: GPL-2.0-only */
/* How a checkpoint stores its weights: the stanzas of all quantizers as bits of each tensor. */
#ifndef GPUCTL_SIZE_QUANT_H
#define GPUCTL_SIZE_QUANT_H

#include <json-c/json.h>

#include "catalogue/build.h"
#include "quant_match.h"
#include "weights.h"

#define QUANT_NAME_MAX 32

/**
 * struct quant_scheme - a number format with its scales
 * @bits: of a number; 0: as the checkpoint's dtype; less: what the file says is none
 * @group: numbers that share @scale bits; 0: a column does
 */
struct quant_scheme {
	double bits;
	double group;
	double scale;
};

/**
 * struct quant_rule - modules that have a scheme of their own
 * @pattern: name, glob or "re:" regular expression; borrowed from the stanza
 * @globs: the same, read
 * @layer: the only layer that it can be about, -1: any
 * @used: a tensor was met that it means
 */
struct quant_rule {
	const char *pattern;
	struct quant_pattern globs;
	int layer;
	bool used;
	struct quant_scheme scheme;
};

/**
 * struct size_quant - what the stanzas say
 * @name: the format as --quant has it, or a word like it; "" for plain weights
 * @dtype: word of the dtype, "bf16" if the file does not say; @dtype_bits
 * @kv: word of the KV cache's format, "" if it is not quantized
 * @unclear: why the bits are a guess, "" if they are not
 * @all: of the matrices of the blocks; @experts, @head and @table, where they differ
 * @rule: @n of them; the first that matches is taken
 * @experts_only: other matrices than those of experts are plain
 * @plain: it says that weights are plain
 * @last: number of the last layer that a tensor was met of
 * @steps: characters that were compared to match rules
 */
struct size_quant {
	char name[QUANT_NAME_MAX];
	char dtype[8];
	double dtype_bits;
	char kv[8];
	char unclear[160];
	struct quant_scheme all;
	struct quant_scheme experts;
	struct quant_scheme head;
	struct quant_scheme table;
	bool experts_only;
	bool plain;
	int last;
	uint64_t steps;
	struct quant_rule *rule;
	size_t n;
};

/*
 * Reads the stanza of @config, and @beside (hf_quant_config.json) or NULL. Both must live as
 * long as the result; quant_drop() frees that.
 */
int quant_read(struct json_object *config, struct json_object *beside, struct size_quant *out,
	       struct fault *f);

void quant_drop(struct size_quant *quant);

/* A scheme of @bits, or the one of what no format has: its bits are less than 0. */
struct quant_scheme quant_bits(double bits, double group, double scale);

/* The format's name, in lower case. */
void quant_call(struct size_quant *q, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Modules that @pattern means have @s; it must live as long as @q. */
int quant_add_rule(struct size_quant *q, const char *pattern, struct quant_scheme s,
		   struct fault *f);

/* The stanza of TorchAO. */
int quant_read_torchao(struct size_quant *q, struct json_object *stanza, struct fault *f);

/* Why the bits are a guess: the first reason is enough. */
void quant_say(struct size_quant *q, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/**
 * struct quant_sum - bits of all tensors, by tensor_fn
 * @bits: of the matrices of the blocks, of all else that is loaded, of further tokens' layers
 * @numbers: of the same
 */
struct quant_sum {
	struct size_quant *quant;
	double bits[3];
	double numbers[3];
};

/* What of the rules came to nothing goes to @unclear: call it behind the last tensor. */
void quant_check_rules(struct size_quant *quant);

/* A tensor_fn; its argument is a struct quant_sum. */
void quant_tensor(void *arg, const struct model_tensor *tensor);

/* The sums as a format: bits on average; @name must live as long as @out. */
void quant_precision(const struct quant_sum *sum, const char *name, struct size_precision *out);

#endif
