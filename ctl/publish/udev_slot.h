/* SPDX-License-Identifier: GPL-2.0-only */
/* The slot that a device of an event belongs to, from sysfs alone. */
#ifndef GPUCTL_UDEV_SLOT_H
#define GPUCTL_UDEV_SLOT_H

#include <stdbool.h>

#include "module/model.h"
#include "session/identity.h"

/**
 * struct udev_slot - what the kernel says of it
 * @slot: name, condition, ids and composition; free with gf_slot_free()
 * @own: the device is the slot's or its GPU's, not one of PCI: events tell
 *	when the state changes
 */
struct udev_slot {
	struct gf_slot slot;
	bool own;
};

/* False when @devpath ("/devices/...") is in no slot. */
bool udev_slot_find(const char *devpath, struct udev_slot *found);

/* Lines of NAME=value for IMPORT{program}; the caller frees. */
char *udev_slot_print(const struct udev_slot *found, const struct knowledge *knowledge);

#endif /* GPUCTL_UDEV_SLOT_H */
