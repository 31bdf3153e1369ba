// SPDX-License-Identifier: GPL-2.0-only
/*
 * What weights take. Checkpoints in GPTQ, AWQ, bitsandbytes and FP8 shrink the
 * matrices of the blocks only: embedding and output matrix stay at 16 bits,
 * which is a good part of a small model. The bits of a weight include the
 * scales and zero points of its group.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/units.h"
#include "base/wide.h"
#include "weights.h"

#define PLAIN(bits) (10000 * (bits))

const struct size_precision size_precisions[] = {
	{ "fp32", 320000, 320000, PLAIN(32), true, "32-bit floating point" },
	{ "bf16", 160000, 160000, PLAIN(16), true, "16-bit brain float" },
	{ "fp16", 160000, 160000, PLAIN(16), true, "16-bit floating point" },
	{ "fp8", 80001, 160000, PLAIN(8), true, "8-bit floating point, one scale a tensor" },
	{ "int8", 81900, 160000, PLAIN(8), true, "8-bit integer, groups of 128" },
	{ "int4", 41560, 160000, PLAIN(4), false, "GPTQ or AWQ, groups of 128" },
	{ "gptq-int8", 81900, 160000, PLAIN(8), false, "GPTQ, groups of 128" },
	{ "gptq-int4", 41560, 160000, PLAIN(4), false, "GPTQ, groups of 128" },
	{ "gptq-int3", 31560, 160000, PLAIN(3), false, "GPTQ, groups of 128" },
	{ "awq", 41560, 160000, PLAIN(4), false, "AWQ, groups of 128" },
	{ "int4-g32", 46250, 160000, PLAIN(4), false, "GPTQ or AWQ, groups of 32" },
	{ "nf4", 45000, 160000, PLAIN(4), false, "bitsandbytes NormalFloat" },
	{ "nf4-dq", 41270, 160000, PLAIN(4), false, "bitsandbytes NormalFloat, quantized scales" },
	{ "mxfp8", 82500, 160000, PLAIN(8), false, "OCP microscaling, blocks of 32" },
	{ "mxfp4", 42500, 160000, PLAIN(4), false, "OCP microscaling, blocks of 32" },
	{ "nvfp4", 45000, 160000, PLAIN(4), false, "blocks of 16" },
	{ "q8_0", 85000, 85000, PLAIN(8), true, "GGUF" },
	{ "q6_k", 65600, 65600, PLAIN(6), false, "GGUF, average over a 7B model" },
	{ "q5_k_m", 56800, 56800, PLAIN(5), false, "GGUF, average over a 7B model" },
	{ "q5_k_s", 55200, 55200, PLAIN(5), false, "GGUF, average over a 7B model" },
	{ "q4_k_m", 48400, 48400, PLAIN(4), false, "GGUF, average over a 7B model" },
	{ "q4_k_s", 45800, 45800, PLAIN(4), false, "GGUF, average over a 7B model" },
	{ "q4_0", 45000, 45000, PLAIN(4), true, "GGUF" },
	{ "iq4_xs", 42500, 42500, PLAIN(4), false, "GGUF, average over a 7B model" },
	{ "q3_k_l", 42700, 42700, PLAIN(3), false, "GGUF, average over a 7B model" },
	{ "q3_k_m", 39100, 39100, PLAIN(3), false, "GGUF, average over a 7B model" },
	{ "q3_k_s", 35000, 35000, PLAIN(3), false, "GGUF, average over a 7B model" },
	{ "iq3_xxs", 30600, 30600, PLAIN(3), false, "GGUF, average over a 7B model" },
	{ "q2_k", 33500, 33500, PLAIN(2), false, "GGUF, average over a 7B model" },
	{ "q4_1", 50000, 50000, PLAIN(5), false, "GGUF" },
	{ "q5_0", 55000, 55000, PLAIN(5), false, "GGUF" },
	{ "q5_1", 60000, 60000, PLAIN(6), false, "GGUF" },
	{ "iq4_nl", 45000, 45000, PLAIN(4), false, "GGUF" },
	{ "iq3_s", 34400, 34400, PLAIN(3), false, "GGUF, average over a 7B model" },
	{ "iq3_xs", 33000, 33000, PLAIN(3), false, "GGUF, average over a 7B model" },
	{ "iq2_s", 25000, 25000, PLAIN(2), false, "GGUF, average over a 7B model" },
	{ "iq2_xs", 23100, 23100, PLAIN(2), false, "GGUF, average over a 7B model" },
	{ "iq2_xxs", 20600, 20600, PLAIN(2), false, "GGUF, average over a 7B model" },
	{ NULL, 0, 0, 0, false, NULL },
};

const struct size_precision *size_precision_get(const char *name)
{
	const struct size_precision *p = size_precisions;

	while (p->name && strcmp(p->name, name))
		p++;
	return p->name ? p : NULL;
}

int size_precision_find(const char *name, const struct size_precision **out, struct fault *f)
{
	const struct size_precision *p;

	for (p = size_precisions; p->name; p++) {
		if (!strcasecmp(p->name, name)) {
			*out = p;
			return 0;
		}
	}
	fault_set(f, ENOENT, "no precision is called \"%.40s\"; known are", name);
	for (p = size_precisions; p->name; p++)
		fault_add(f, " %s", p->name);
	return -ENOENT;
}

uint64_t size_bytes_of(uint64_t n, uint64_t bits)
{
	return wide_saturate(wide_div_up((u128)n * bits, SIZE_BYTE));
}

uint64_t size_weight_bytes(const struct model_params *p, const struct size_precision *precision)
{
	return add_saturate(size_bytes_of(p->linear, precision->linear),
			    size_bytes_of(p->total - p->linear, precision->rest));
}

void size_weight_formula(const struct model_params *p, const struct size_precision *precision,
			 char *buf, size_t size)
{
	char linear[UNITS_TEXT_MAX], rest[UNITS_TEXT_MAX];

	if (precision->linear == precision->rest) {
		units_grouped(linear, p->total);
		if (precision->linear % SIZE_BYTE)
			snprintf(buf, size, "%s x %.4g bits", linear,
				 (double)precision->linear / (double)SIZE_BIT);
		else
			snprintf(buf, size, "%s x %llu B", linear, precision->linear / SIZE_BYTE);
		return;
	}
	snprintf(buf, size, "%s x %.4g bits + %s x %.4g bits", units_grouped(linear, p->linear),
		 (double)precision->linear / (double)SIZE_BIT,
		 units_grouped(rest, p->total - p->linear),
		 (double)precision->rest / (double)SIZE_BIT);
}

const struct size_precision *size_precision_of_name(const char *name)
{
	static const char *const words[][2] = {
		{ "-awq", "awq" },
		{ "gptq-int8", "gptq-int8" },
		{ "gptq-8bit", "gptq-int8" },
		{ "-gptq", "gptq-int4" },
		{ "nvfp4", "nvfp4" },
		{ "-fp4", "nvfp4" },
		{ "mxfp4", "mxfp4" },
		{ "bnb-4bit", "nf4-dq" },
		{ "bnb-8bit", "int8" },
		{ "-fp8", "fp8" },
		{ "w8a8", "int8" },
		{ "w4a16", "int4" },
		{ "-int4", "int4" },
		{ "-int8", "int8" },
		{ "-4bit", "int4" },
		{ "-8bit", "int8" },
		{ "q4_k_m", "q4_k_m" },
		{ "q8_0", "q8_0" },
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasestr(name, words[i][0]))
			return size_precision_get(words[i][1]);
	return NULL;
}
