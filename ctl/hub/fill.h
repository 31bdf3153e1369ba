/* SPDX-License-Identifier: GPL-2.0-only */
/* A model's folder, of which nothing is there but what its reader reads. */
#ifndef GPUCTL_HUB_FILL_H
#define GPUCTL_HUB_FILL_H

#include "hub/http.h"
#include "hub/listing.h"

/**
 * struct hub_fill - a folder that is filled
 * @http: who asks
 * @listing: the files
 * @name: the model
 * @ret: enum ctl_exit of what failed, and nothing is brought any more
 * @fault: why
 */
struct hub_fill {
	struct hub_http *http;
	struct hub_listing *listing;
	const struct hub_name *name;
	int ret;
	struct fault fault;
};

/* These return enum ctl_exit, with the reason in @fault. */

/* Ask what there is: @listing is filled. */
int hub_fill_list(struct hub_fill *fill);

/* The files in the folder that is current, with their sizes and without contents. */
int hub_fill_make(struct hub_fill *fill);

/* What size_reader of size/source.h asks: bytes of a file, by a path from that folder. */
int hub_fill_want(void *arg, const char *path, uint64_t offset, size_t n);

#endif /* GPUCTL_HUB_FILL_H */
