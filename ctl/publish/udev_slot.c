// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: properties for udev
 *
 * udev calls this for each event of a GPU, so it must not wait for the module: libudev reads
 * the properties of the slot from sysfs. A PCI device is in the slot with the nearest port
 * above the device; each port has a link to its slot.
 */
#include <libudev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "publish/udev_slot.h"

#define CLASS "gpufabric"
#define NAME_LEN_MAX 255

static void udev_slot_take_ids(struct gf_slot *slot, const char *value)
{
	struct gf_ids got;

	if (sscanf(value, "pci:v%8xd%8xsv%8xsd%8x", &got.vendor, &got.device, &got.subsystem_vendor,
		   &got.subsystem_device) != 4)
		return;
	slot->vendor = got.vendor;
	slot->device = got.device;
	slot->subsystem_vendor = got.subsystem_vendor;
	slot->subsystem_device = got.subsystem_device;
}

static void take_variable(struct udev_slot *found, const char *name, const char *value)
{
	struct gf_slot *slot = &found->slot;

	if (strlen(value) > NAME_LEN_MAX)
		return;
	if (!strcmp(name, "GPUFABRIC_SLOT") && !slot->name)
		slot->name = mem_strdup(value);
	else if (!strcmp(name, "GPUFABRIC_COMPOSITION") && !slot->composition)
		slot->composition = mem_strdup(value);
	else if (!strcmp(name, "GPUFABRIC_MODALIAS"))
		udev_slot_take_ids(slot, value);
	else if (!strncmp(name, "GPUFABRIC_", 10))
		gf_condition_take(&slot->condition, name + 10, value);
}

/* What the kernel says of a slot or its GPU in the event itself. */
static bool take_properties(struct udev_device *device, struct udev_slot *found)
{
	struct udev_list_entry *entry;

	for (entry = udev_device_get_properties_list_entry(device); entry;
	     entry = udev_list_entry_get_next(entry))
		take_variable(found, udev_list_entry_get_name(entry),
			      udev_list_entry_get_value(entry));
	return found->slot.name;
}

/* The slot with the nearest port above a PCI device, by the link of the port; NULL: none. */
static struct udev_device *slot_above(struct udev *udev, struct udev_device *device)
{
	struct udev_device *above = udev_device_get_parent(device), *slot = NULL;

	for (; above && !slot; above = udev_device_get_parent(above)) {
		char *link = mem_printf("%s/" CLASS, udev_device_get_syspath(above));
		char *path = realpath(link, NULL);

		if (path)
			slot = udev_device_new_from_syspath(udev, path);
		free(path);
		free(link);
	}
	return slot;
}

bool udev_slot_find(const char *devpath, struct udev_slot *found)
{
	char *path = mem_printf("/sys%s", devpath);
	struct udev *udev = udev_new();
	struct udev_device *device = udev_device_new_from_syspath(udev, path), *slot = NULL;
	const char *subsystem = device ? udev_device_get_subsystem(device) : NULL;
	bool is;

	memset(found, 0, sizeof(*found));
	found->own = subsystem && !strcmp(subsystem, CLASS);
	if (device)
		slot = found->own ? udev_device_ref(device) : slot_above(udev, device);
	is = slot && take_properties(slot, found);
	if (!is)
		gf_slot_free(&found->slot);
	udev_device_unref(slot);
	udev_device_unref(device);
	udev_unref(udev);
	free(path);
	return is;
}

static void udev_slot_put(struct text *t, const char *name, const char *value)
{
	char *copy;

	if (!value || !*value)
		return;
	copy = mem_strdup(value);
	/* A line of its own would be another property. */
	text_tame(copy, false);
	text_add(t, "ID_GPUFABRIC_%s=%s\n", name, copy);
	free(copy);
}

char *udev_slot_print(const struct udev_slot *found, const struct knowledge *knowledge)
{
	struct identity identity;
	struct text t = { 0 };
	char memory[24];

	udev_slot_put(&t, "SLOT", found->slot.name);
	if (found->own) {
		udev_slot_put(&t, "STATE", gf_state_name(gf_state_of(&found->slot.condition)));
		udev_slot_put(&t, "COMPOSITION", found->slot.composition);
	}
	if (!found->slot.vendor)
		return t.text ? t.text : mem_strdup("");
	identity_of(knowledge, &found->slot, &identity);
	udev_slot_put(&t, "MODEL", identity.label);
	snprintf(memory, sizeof(memory), "%llu", (unsigned long long)identity.memory);
	if (identity.memory)
		udev_slot_put(&t, "MEMORY", memory);
	return t.text ? t.text : mem_strdup("");
}
