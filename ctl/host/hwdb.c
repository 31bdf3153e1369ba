// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: udev's hardware database
 *
 * It names what the catalogue of GPUs does not have: sound and USB functions, bridges, cards
 * of other kinds. libudev finds the properties by the modalias of a device, so the device
 * need not be there.
 */
#include <libudev.h>
#include <stdlib.h>

#include "base/text.h"
#include "host/hwdb.h"

static const char *hwdb_property(struct udev_list_entry *properties, const char *name)
{
	struct udev_list_entry *entry = udev_list_entry_get_by_name(properties, name);

	return entry ? udev_list_entry_get_value(entry) : NULL;
}

static char *hwdb_name_of(struct udev_list_entry *properties)
{
	const char *vendor = hwdb_property(properties, "ID_VENDOR_FROM_DATABASE");
	const char *model = hwdb_property(properties, "ID_MODEL_FROM_DATABASE");
	const char *name = hwdb_property(properties, "ID_GPUFABRIC_NAME");

	if (name)
		return mem_strdup(name);
	if (!model)
		return NULL;
	return vendor ? mem_printf("%s %s", vendor, model) : mem_strdup(model);
}

char *hwdb_name(const struct gf_function *function)
{
	struct udev *udev = udev_new();
	struct udev_hwdb *hwdb = udev_hwdb_new(udev);
	char *modalias, *name = NULL;

	if (hwdb) {
		modalias = mem_printf("pci:v%08Xd%08Xsv%08Xsd%08Xbc%02Xsc%02Xi%02X",
				      function->vendor, function->device,
				      function->subsystem_vendor, function->subsystem_device,
				      function->class >> 16, function->class >> 8 & 0xff,
				      function->class & 0xff);
		name = hwdb_name_of(udev_hwdb_get_properties_list_entry(hwdb, modalias, 0));
		free(modalias);
	}
	udev_hwdb_unref(hwdb);
	udev_unref(udev);
	return name;
}
