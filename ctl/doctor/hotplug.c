// SPDX-License-Identifier: GPL-2.0-only
/* Which ports can take a GPU while the host runs, and who drives their slots. */
#include <stdlib.h>
#include <string.h>

#include "doctor/doctor.h"
#include "lib/text.h"

/* Why pciehp has left a port with a hot-plug controller alone, and what to do. */
static void find_not_native(struct doctor *doctor, const size_t *slots, size_t n)
{
	/* Another slot driver, ACPI's mostly, may do what it can. */
	enum doctor_level level = doctor->slots[slots[0]].driven ? DOCTOR_WARN : DOCTOR_FAIL;
	char *names = doctor_slot_names(doctor, slots, n);
	char value[32];

	if (doctor_option_item(doctor, "pcie_ports", "compat", value, sizeof(value)))
		doctor_find(doctor, level, "hotplug",
			    "%s: pciehp does not drive them, by pcie_ports=compat\n"
			    "take pcie_ports=compat off the kernel command line, then reboot",
			    names);
	else if (doctor->log.refused && !doctor->log.granted)
		doctor_find_parameter(doctor, level, "hotplug",
				      mem_strdup("pcie_ports=native"),
				      "%s: firmware keeps native hot-plug to itself (%s); let it go in the firmware's settings, or take it regardless",
				      names, doctor->log.os_refused);
	else if (doctor->has_log && doctor->log.complete)
		doctor_find(doctor, level, "hotplug",
			    "%s: pciehp does not drive them although nothing keeps it from doing so\n"
			    "see dmesg | grep pciehp; CONFIG_HOTPLUG_PCI_PCIE has to be y in /boot/config",
			    names);
	else
		doctor_find_parameter(doctor, level, "hotplug",
				      mem_strdup("pcie_ports=native"),
				      "%s: pciehp does not drive them, and the kernel's log does not tell why any more; take hot-plug regardless of firmware",
				      names);
	free(names);
}

/* Configuration space ends early for who has no privileges. */
static bool is_blind(const struct doctor *doctor)
{
	size_t i;

	for (i = 0; i < doctor->pci.n; i++)
		if (doctor->pci.items[i].bridge && doctor->pci.items[i].config_len <= 64)
			return true;
	return false;
}

static void find_no_slots(struct doctor *doctor)
{
	if (is_blind(doctor))
		doctor_find(doctor, DOCTOR_FAIL, "hotplug",
			    "what kind of ports there are cannot be read without privileges\n"
			    "run gpuctl doctor as root");
	else
		doctor_find(doctor, DOCTOR_FAIL, "hotplug",
			    "no downstream port of a switch: no slot for a GPU\n"
			    "check that the switch is cabled, powered before the host, and that its host port is enabled");
}

void doctor_check_hotplug(struct doctor *doctor)
{
	size_t *refused = mem_zalloc(doctor->n_slots + 1, sizeof(*refused)), n_refused = 0;
	size_t *bare = mem_zalloc(doctor->n_slots + 1, sizeof(*bare)), n_bare = 0;
	size_t i, native = 0, others = 0;
	char *names;

	for (i = 0; i < doctor->n_slots; i++) {
		const struct pci_device *port = &doctor->pci.items[doctor->slots[i].port];

		if (port->hotplug && port->native)
			native++;
		else if (!port->hotplug && doctor->slots[i].driven)
			others++;
		else if (!port->hotplug)
			bare[n_bare++] = i;
		else
			refused[n_refused++] = i;
	}
	if (!doctor->n_slots)
		find_no_slots(doctor);
	if (native)
		doctor_find(doctor, DOCTOR_OK, "hotplug",
			    "pciehp drives %zu of %zu slots%s",
			    native, doctor->n_slots,
			    doctor->log.granted ? ", granted by firmware" : "");
	if (others)
		doctor_find(doctor, DOCTOR_OK, "hotplug",
			    "another slot driver drives %zu of %zu slots",
			    others, doctor->n_slots);
	if (n_refused)
		find_not_native(doctor, refused, n_refused);
	if (n_bare) {
		names = doctor_slot_names(doctor, bare, n_bare);
		doctor_find(doctor, DOCTOR_NOTE, "hotplug",
			    "%s: no hot-plug controller; the module works those by their links that its parameter "
			    "bare_ports= names, cards are not announced",
			    names);
		free(names);
	}
	free(refused);
	free(bare);
}
