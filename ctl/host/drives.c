// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: who drives a slot
 *
 * The module names the slot drivers that it can hold. Of the others the kernel has links: a
 * PCI slot has one to the module of its driver. A driver that is built in and registered its
 * slots before there were such links has none, and on hosts with ACPI that is acpiphp.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "host/drives.h"

#define SLOTS "sys/bus/pci/slots"

char *drives_linked(const struct tree *tree, const char *slot)
{
	char *link = tree_link(tree, SLOTS "/%s/module", slot);
	const char *slash = link ? strrchr(link, '/') : NULL;
	char *driver = slash ? mem_strdup(slash + 1) : NULL;

	free(link);
	return driver;
}

char *drives_slot(const struct gf_slot *slot)
{
	struct fault fault = { 0 };
	struct tree tree;
	char *driver;

	if (slot->slot_driver)
		return mem_strdup(slot->slot_driver);
	if (!(slot->flags & GPUFABRIC_SLOT_FLAG_UNMANAGED) || tree_open(&tree, NULL, &fault))
		return NULL;
	driver = drives_linked(&tree, slot->name);
	if (!driver && tree_has(&tree, SLOTS "/%s", slot->name) &&
	    tree_has(&tree, "sys/firmware/acpi"))
		driver = mem_strdup("acpiphp");
	tree_close(&tree);
	return driver;
}
