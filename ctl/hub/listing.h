/* SPDX-License-Identifier: GPL-2.0-only */
/* What the Hub says of a revision: its commit and its files. Pure. */
#ifndef GPUCTL_HUB_LISTING_H
#define GPUCTL_HUB_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "hub/name.h"

/* An answer is no longer, names no more files of ours, and no file is larger. */
#define HUB_LISTING_MAX (16u << 20)
#define HUB_FILES_MAX 10000
#define HUB_FILE_SIZE_MAX (1ull << 44)

/**
 * struct hub_file - a file that a model may be read from
 * @name: path in the repository
 * @size: bytes; only if @sized
 * @sized: the listing, or an answer, said how large it is
 * @from: first byte that was brought, @to: behind the last one
 * @brought: bytes in all
 */
struct hub_file {
	char *name;
	uint64_t size;
	bool sized;
	uint64_t from;
	uint64_t to;
	uint64_t brought;
};

/**
 * struct hub_listing - a revision
 * @sha: its commit
 * @file: config files, safetensors and GGUF files, @n of them; other files are left out
 */
struct hub_listing {
	char sha[HUB_SHA_LENGTH + 1];
	struct hub_file *file;
	size_t n;
};

/* 0, or -EINVAL with the reason; hub_listing_free() in either case. */
int hub_listing_read(const char *text, size_t len, struct hub_listing *out, struct fault *f);
void hub_listing_free(struct hub_listing *listing);

/* The file of that name, NULL if there is none. */
struct hub_file *hub_listing_find(struct hub_listing *listing, const char *name);

#endif /* GPUCTL_HUB_LISTING_H */
