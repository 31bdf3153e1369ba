/* SPDX-License-Identifier: GPL-2.0-only */
/* What logs of PyTorch, vLLM and llama.cpp say about memory. */
#ifndef GPUCTL_SIZE_LOG_H
#define GPUCTL_SIZE_LOG_H

#include <stddef.h>

/**
 * struct size_log - the last that a log says of each, in bytes; 0: nothing
 * @allocated: peak of tensors
 * @reserved: peak of the allocator
 * @weights: of the model; of all devices, as the next two
 * @kv: of a KV cache that was made for the context, not of all that was left
 * @work: buffers and activations
 * @lines: how many were understood
 */
struct size_log {
	double allocated;
	double reserved;
	double weights;
	double kv;
	double work;
	size_t lines;
};

/* @len bytes of @text; lines that say nothing of memory are passed over. */
void size_log_parse(const char *text, size_t len, struct size_log *log);

#endif
