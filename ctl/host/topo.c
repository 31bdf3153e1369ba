// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: distances
 *
 * The path of a PCI device in sysfs names every bridge above it, so two paths
 * tell how far apart two devices are without reading any config space.
 */
#include <stdlib.h>
#include <string.h>

#include "host/topo.h"

/* Length of the component at @s, without its slash. */
static size_t component(const char *s)
{
	return strcspn(s, "/");
}

static unsigned int components(const char *s)
{
	unsigned int n = 0;

	while (*s) {
		size_t len = component(s);

		if (len)
			n++;
		s += len;
		s += *s == '/';
	}
	return n;
}

/* Step over what both paths have in common; returns how many components that were. */
static unsigned int skip_common(const char **a, const char **b)
{
	unsigned int common = 0;

	while (**a && **b) {
		size_t la = component(*a), lb = component(*b);

		if (la != lb || strncmp(*a, *b, la))
			break;
		*a += la + ((*a)[la] == '/');
		*b += lb + ((*b)[lb] == '/');
		common++;
	}
	return common;
}

unsigned int topo_hops(const char *a, const char *b)
{
	skip_common(&a, &b);
	return components(a) + components(b);
}

unsigned int topo_depth(const char *path)
{
	unsigned int n = path ? components(path) : 0;

	return n ? n - 1 : 0;
}

/* Components that both paths have in common; the root bus is the first, a root port the second. */
static unsigned int common_components(const char *a, const char *b)
{
	return skip_common(&a, &b);
}

enum topo_relation topo_relation(const struct gf_slot *a, const char *path_a,
				 const struct gf_slot *b, const char *path_b)
{
	bool below_bridge = path_a && path_b && common_components(path_a, path_b) >= 2;

	if (a->id == b->id)
		return TOPO_SELF;
	/* The module counts the root ports of a root bus as one switch, and they are none. */
	if (a->switch_id == b->switch_id && (below_bridge || !path_a || !path_b))
		return TOPO_SWITCH;
	if (below_bridge)
		return TOPO_ROOT_PORT;
	if (a->numa_node == b->numa_node)
		return TOPO_HOST;
	return TOPO_NUMA;
}

const char *topo_relation_name(enum topo_relation relation)
{
	static const char *const names[] = { "self", "switch", "root-port", "host", "numa" };

	return names[relation];
}
