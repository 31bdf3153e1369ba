// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: nodes of a GPU for its users
 *
 * What hangs below the GPU's functions, without what nodes.d says to skip,
 * with the names that it adds and the nodes that a driver's GPUs share. Sound
 * and USB functions of a card are not part of it.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "host/gpunodes.h"

#define DEV "/dev/"

static struct gpunode *gpunode_add(struct gpunodes *nodes, const char *path, dev_t rdev)
{
	struct gpunode *node;
	size_t i;

	for (i = 0; i < nodes->n; i++)
		if (!strcmp(nodes->items[i].path, path))
			return &nodes->items[i];
	nodes->items = mem_grow(nodes->items, nodes->n + 1, sizeof(*node));
	node = &nodes->items[nodes->n++];
	memset(node, 0, sizeof(*node));
	node->path = mem_strdup(path);
	node->rdev = rdev;
	return node;
}

void gpunodes_free(struct gpunodes *nodes)
{
	size_t i;

	for (i = 0; i < nodes->n; i++)
		free(nodes->items[i].path);
	free(nodes->items);
	memset(nodes, 0, sizeof(*nodes));
}

static bool skipped(const struct vendor *vendor, const char *name)
{
	size_t i;

	for (i = 0; vendor && i < vendor->n[VENDOR_SKIP]; i++)
		if (!fnmatch(vendor->lists[VENDOR_SKIP][i], name, 0))
			return true;
	return false;
}

/* PATTERN:PATH of nodes.d, with the address in place of @. */
static void add_links(struct gpunodes *nodes, const struct vendor *vendor,
		      const struct devnode *node, const char *address)
{
	size_t i;

	for (i = 0; vendor && i < vendor->n[VENDOR_LINKS]; i++) {
		const char *link = vendor->lists[VENDOR_LINKS][i], *to = strchr(link, ':') + 1;
		char *pattern = mem_printf("%.*s", (int)(to - 1 - link), link), *path;
		const char *at = strchr(to, '@');
		struct gpunode *alias;

		path = at ? mem_printf("%.*s%s%s", (int)(at - to), to, address, at + 1) :
			    mem_strdup(to);
		if (!fnmatch(pattern, node->name + strlen(DEV), 0)) {
			alias = gpunode_add(nodes, path, node->rdev);
			alias->block = node->block;
			alias->alias = true;
		}
		free(pattern);
		free(path);
	}
}

/* A driver may not have made them all. */
static void add_shared(struct gpunodes *nodes, const struct vendor *vendor,
		       const struct places *places)
{
	size_t i;

	for (i = 0; vendor && i < vendor->n[VENDOR_SHARED]; i++) {
		const char *name = vendor->lists[VENDOR_SHARED][i];
		char *path = mem_printf("%s%s", places->root, name);
		struct stat st;

		if (!stat(path, &st) && S_ISCHR(st.st_mode))
			gpunode_add(nodes, name, st.st_rdev)->shared = true;
		free(path);
	}
}

static void add_function(struct gpunodes *nodes, const struct places *places,
			 const struct vendors *vendors, const struct gf_function *function)
{
	const struct vendor *vendor = vendors_find(vendors, function->driver);
	struct devnodes own = { 0 };
	size_t i;

	devnodes_add(&own, places->proc, function, 0);
	for (i = 0; i < own.n; i++) {
		const struct devnode *node = &own.items[i];
		struct gpunode *added;

		if (strncmp(node->name, DEV, strlen(DEV)) || strstr(node->name, "/../") ||
		    skipped(vendor, node->name + strlen(DEV)))
			continue;
		added = gpunode_add(nodes, node->name, node->rdev);
		added->block = node->block;
		added->shared = node->shared;
		add_links(nodes, vendor, node, function->address);
	}
	if (own.n)
		add_shared(nodes, vendor, places);
	devnodes_free(&own);
}

void gpunodes_add(struct gpunodes *nodes, const struct places *places,
		  const struct vendors *vendors, const struct gf_slot *slot)
{
	size_t i;

	for (i = 0; i < slot->n_functions; i++) {
		uint32_t base = slot->functions[i].class >> 16;

		if (base == 0x03 || base == 0x12)
			add_function(nodes, places, vendors, &slot->functions[i]);
	}
}
