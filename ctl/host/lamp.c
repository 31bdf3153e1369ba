// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: lamp, latch and power fault of a slot
 *
 * The PCI core has files for what a slot driver can do with the indicator and the latch.
 * pciehp clears a power fault when it has seen it, but a power controller keeps it latched
 * until power is removed: so Slot Status is read. pciehp wakes the port for the first file,
 * so that it is read of ports that are awake unless somebody wants to find the slot.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "host/lamp.h"
#include "host/pci.h"

#define SLOTS "sys/bus/pci/slots"
#define SLOT_CAP_POWER_CONTROLLER 0x2u
#define SLOT_STATUS_POWER_FAULT 0x2u

int lamp_read(const struct tree *tree, const char *slot)
{
	char *line;
	int lamp;

	line = tree_line(tree, SLOTS "/%s/attention", slot);
	if (!line)
		return tree_has(tree, SLOTS "/%s/attention", slot) ? -EIO : -ENOENT;
	lamp = atoi(line);
	free(line);
	return lamp < LAMP_OFF || lamp > LAMP_BLINK ? LAMP_OTHER : lamp;
}

int lamp_set(const struct tree *tree, const char *slot, enum lamp lamp)
{
	char text[2] = { (char)('0' + lamp) };

	return tree_write(tree, text, SLOTS "/%s/attention", slot);
}

static int latch_read(const struct tree *tree, const char *slot)
{
	char *line = tree_line(tree, SLOTS "/%s/latch", slot);
	int latch = line ? !!atoi(line) : -ENOENT;

	free(line);
	return latch;
}

static int power_fault_read(const struct tree *tree, const char *port)
{
	uint32_t capabilities;
	uint16_t status;
	int ret = pci_read_slot(tree, port, &capabilities, &status);

	if (ret)
		return ret;
	if (!(capabilities & SLOT_CAP_POWER_CONTROLLER) || status == UINT16_MAX)
		return -ENOENT;
	return !!(status & SLOT_STATUS_POWER_FAULT);
}

void lamp_look(const struct tree *tree, const char *slot, const char *port,
	       struct lamp_panel *panel)
{
	*panel = (struct lamp_panel){ -EAGAIN, -EAGAIN, -EAGAIN };
	if (!pci_is_awake(tree, port))
		return;
	panel->lamp = lamp_read(tree, slot);
	panel->latch = latch_read(tree, slot);
	panel->power_fault = power_fault_read(tree, port);
}

const char *lamp_name(int lamp)
{
	static const char *const names[] = { "off", "on", "blink", "other" };

	return names[lamp];
}
