/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a GPU of the pool is in the database of a PAX: which device it is, and what it is
 * bound to. Pure.
 */
#ifndef FM_SITE_H
#define FM_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fm/config.h"
#include "fm/gfms.h"

#define SITE_NONE (-1)

/**
 * struct site - a GPU in the database
 * @device: the number of its device there, or SITE_NONE
 * @several: fm.conf names a port with more than one device: it cannot be bound
 * @first: its function of the lowest number, which says what it is; NULL without a device
 * @pdfids: of all functions that are bound together; @count is more than the array has when
 *	they are too many for one bind
 */
struct site {
	int device;
	bool several;
	const struct gfms_function *first;
	uint16_t pdfids[GFMS_FUNCTIONS_MAX];
	size_t count;
};

struct gfms_port site_port(const int pair[2]);

void site_find(const struct gfms *gfms, const struct config_gpu *gpu, struct site *site);
/* The function of this id is one of the GPU, also when its device has gone. */
bool site_has(const struct gfms *gfms, const struct config_gpu *gpu, const struct site *site,
	      uint16_t pdfid);
/* Something of the GPU is bound to @host, or to any host where that is NULL: @place. */
bool site_bound(const struct gfms *gfms, const struct config_gpu *gpu, const struct site *site,
		const struct gfms_port *host, struct gfms_binding *place);
/* All of the GPU is bound to this port. */
bool site_is_whole(const struct gfms *gfms, const struct site *site, struct gfms_port host,
		   uint8_t log);
/* Anything is. */
bool site_port_taken(const struct gfms *gfms, struct gfms_port host, uint8_t log);
/* fm.conf says nothing else of the ids of the GPU than the device does. */
bool site_matches(const struct config_gpu *gpu, const struct site *site);

#endif /* FM_SITE_H */
