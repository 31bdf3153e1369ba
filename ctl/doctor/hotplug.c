// SPDX-License-Identifier: GPL-2.0-only
/* Which ports can take a GPU while the host runs, and who drives their slots. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "doctor/doctor.h"

/* The simulator's own slot driver gives the module what pciehp gives it. */
static bool is_simulated(const struct doctor_slot *slot)
{
	return slot->driver && !strcmp(slot->driver, "gpufabric_sim");
}

static const char *driver_name(const struct doctor_slot *slot)
{
	return slot->driver ? slot->driver : "another slot driver";
}

/* Another slot driver, ACPI's mostly, may have them, but the module only lists those. */
static char *names_and_driver(const struct doctor *doctor, const size_t *slots, size_t n)
{
	const struct doctor_slot *first = &doctor->slots[slots[0]];
	char *names = doctor_slot_names(doctor, slots, n), *text;

	if (!first->driven)
		return names;
	text = mem_printf("%s, which %s drives and gpufabric only lists", names,
			  driver_name(first));
	free(names);
	return text;
}

/* Why pciehp has left a port with a hot-plug controller alone, and what to do. */
static void find_not_native(struct doctor *doctor, const size_t *slots, size_t n)
{
	char *names = names_and_driver(doctor, slots, n);
	char value[32];

	if (doctor_option_item(doctor, "pcie_ports", "compat", value, sizeof(value)))
		doctor_find(doctor, DOCTOR_FAIL, "hotplug",
			    "%s: pciehp does not drive them, by pcie_ports=compat\n"
			    "remove pcie_ports=compat from the kernel command line, then reboot",
			    names);
	else if (doctor->log.refused && !doctor->log.granted)
		doctor_find_parameter(doctor, DOCTOR_FAIL, "hotplug",
				      mem_strdup("pcie_ports=native"),
				      "%s: firmware keeps control of native hot-plug (%s); give it to the kernel in the firmware's settings (for a QEMU guest with -global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off), or let the kernel take it regardless of firmware",
				      names, doctor->log.os_refused);
	else if (doctor->has_log && doctor->log.complete)
		doctor_find(doctor, DOCTOR_FAIL, "hotplug",
			    "%s: pciehp does not drive them, for no known reason\n"
			    "see dmesg | grep pciehp; CONFIG_HOTPLUG_PCI_PCIE has to be y in /boot/config",
			    names);
	else
		doctor_find_parameter(doctor, DOCTOR_FAIL, "hotplug",
				      mem_strdup("pcie_ports=native"),
				      "%s: pciehp does not drive them, and the kernel's log no longer says why; give hot-plug to the kernel regardless of firmware",
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
			    "the kind of the ports cannot be read without privileges\n"
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
	size_t *others = mem_zalloc(doctor->n_slots + 1, sizeof(*others)), n_others = 0;
	size_t i, native = 0, simulated = 0;
	char *names;

	for (i = 0; i < doctor->n_slots; i++) {
		const struct pci_device *port = &doctor->pci.items[doctor->slots[i].port];

		if (port->hotplug && port->native)
			native++;
		else if (is_simulated(&doctor->slots[i]))
			simulated++;
		else if (!port->hotplug && doctor->slots[i].driven)
			others[n_others++] = i;
		else if (!port->hotplug)
			bare[n_bare++] = i;
		else
			refused[n_refused++] = i;
	}
	if (!doctor->n_slots)
		find_no_slots(doctor);
	if (native)
		doctor_find(doctor, DOCTOR_OK, "hotplug", "pciehp drives %zu of %zu slots%s",
			    native, doctor->n_slots,
			    doctor->log.granted ? ", granted by firmware" : "");
	if (simulated)
		doctor_find(doctor, DOCTOR_OK, "hotplug", "the simulator drives %zu of %zu slots",
			    simulated, doctor->n_slots);
	if (n_others) {
		names = names_and_driver(doctor, others, n_others);
		doctor_find(doctor, DOCTOR_WARN, "hotplug",
			    "%s: no hot-plug controller that pciehp could drive\n"
			    "use ports with a hot-plug controller; a QEMU guest's have one with -global ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off",
			    names);
		free(names);
	}
	if (n_refused)
		find_not_native(doctor, refused, n_refused);
	if (n_bare) {
		names = doctor_slot_names(doctor, bare, n_bare);
		doctor_find(doctor, DOCTOR_NOTE, "hotplug",
			    "%s: no hot-plug controller; they are slots only if bare_ports= of the module names them",
			    names);
		free(names);
	}
	free(others);
	free(refused);
	free(bare);
}
