// SPDX-License-Identifier: GPL-2.0-only
/* The kernel: its version, and options that hot-plug cannot live with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "doctor/doctor.h"

/**
 * struct option - an option of the kernel that gets in the way
 * @option: as on the command line, or "pci" with
 * @item: one of its items
 * @level: how bad that is
 * @reason: what it does
 */
struct option {
	const char *option;
	const char *item;
	enum doctor_level level;
	const char *reason;
};

static const struct option options[] = {
	{ "pcie_ports", "compat", DOCTOR_FAIL, "port services are off, so pciehp drives no slot" },
	{ "acpi", "off", DOCTOR_FAIL,
	  "the kernel does not ask firmware for control of hot-plug, nor for windows and interrupts of host bridges" },
	{ "pci", "noacpi", DOCTOR_FAIL,
	  "the kernel does not ask firmware for control of hot-plug, nor for windows and interrupts of host bridges" },
	{ "pci", "nobar", DOCTOR_FAIL, "BARs that firmware has not set get no addresses" },
	{ "pci", "nocrs", DOCTOR_WARN,
	  "windows of host bridges are not those of the firmware: addresses may reach no device" },
	{ "pci", "norealloc", DOCTOR_NOTE,
	  "the kernel does not recompute the windows of bridges at boot" },
	{ "pci", "realloc=off", DOCTOR_NOTE,
	  "the kernel does not recompute the windows of bridges at boot" },
	{ "pciehp.pciehp_poll_mode", "1", DOCTOR_WARN,
	  "slots are polled once a second or slower instead of by interrupts" },
	{ "pciehp.pciehp_poll_mode", "Y", DOCTOR_WARN,
	  "slots are polled once a second or slower instead of by interrupts" },
	{ "module_blacklist", "gpufabric", DOCTOR_FAIL, "the module is never loaded" },
	{ "modprobe.blacklist", "gpufabric", DOCTOR_WARN, "the module is not loaded at boot" },
};

static void check_version(struct doctor *doctor)
{
	unsigned int major = 0, minor = 0;

	sscanf(doctor->release, "%u.%u", &major, &minor);
	if (major > 6 || (major == 6 && minor >= 1))
		doctor_find(doctor, DOCTOR_OK, "kernel", "Linux %s", doctor->release);
	else
		doctor_find(doctor, DOCTOR_FAIL, "kernel",
			    "Linux %s: the module needs 6.1 or newer\n"
			    "install a kernel of 6.1 or newer and boot it",
			    doctor->release);
}

void doctor_check_kernel(struct doctor *doctor)
{
	char value[32];
	size_t i;

	check_version(doctor);
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		const struct option *o = &options[i];
		size_t name = strcspn(o->item, "=");
		char *item = mem_printf("%.*s", (int)name, o->item);
		const char *found =
			doctor_option_item(doctor, o->option, item, value, sizeof(value));

		free(item);
		if (!found || strcmp(found, o->item[name] ? o->item + name + 1 : ""))
			continue;
		if (o->level == DOCTOR_NOTE)
			doctor_find(doctor, o->level, "kernel-options", "%s=%s: %s", o->option,
				    o->item, o->reason);
		else
			doctor_find(doctor, o->level, "kernel-options",
				    "%s=%s: %s\nremove %s=%s from the kernel command line, then reboot",
				    o->option, o->item, o->reason, o->option, o->item);
	}
}
