// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: cables
 *
 * GPUs outside the case hang on cables: OCuLink on root ports, which the module takes when
 * it is told to; Thunderbolt on ports that show nothing before somebody authorizes what is
 * plugged in. And a power supply that dips makes pciehp believe that the card was pulled.
 */
#include <linux/pci_regs.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "doctor/doctor.h"
#include "doctor/places.h"

#define THUNDERBOLT "sys/bus/thunderbolt/devices"
/* A card that somebody took out and put back is no dip. */
#define DIPS_MIN 2

static bool has_gpu_below(const struct doctor *doctor, size_t port)
{
	const struct pci_list *pci = &doctor->pci;
	size_t i;

	for (i = 0; i < pci->n; i++)
		if (pci_is_gpu(&pci->items[i]) && pci->items[i].parent == port)
			return true;
	return false;
}

/* A cable to a switch is no slot for a GPU. */
static bool has_switch_below(const struct doctor *doctor, size_t port)
{
	const struct pci_list *pci = &doctor->pci;
	size_t i;

	for (i = 0; i < pci->n; i++)
		if (pci->items[i].port == PCI_PORT_UPSTREAM && pci->items[i].parent == port)
			return true;
	return false;
}

/* Root ports with a slot: with a hot-plug controller, or without and with a GPU right below. */
static char *root_ports(const struct doctor *doctor, bool hotplug)
{
	struct text list = { 0 };
	size_t i;

	for (i = 0; i < doctor->pci.n; i++) {
		const struct pci_device *dev = &doctor->pci.items[i];

		if (dev->port == PCI_PORT_ROOT && dev->slotted && dev->hotplug == hotplug &&
		    (hotplug ? !has_switch_below(doctor, i) : has_gpu_below(doctor, i)))
			text_join(&list, ", ", dev->address);
	}
	return list.text;
}

static void check_root_ports(struct doctor *doctor)
{
	char *line = tree_line(&doctor->tree, PLACE_ROOT_PORTS), *names;

	names = root_ports(doctor, true);
	if (names && !(line && *line == 'Y'))
		doctor_find(doctor, DOCTOR_NOTE, "root-ports",
			    "root ports %s have hot-plug slots, as OCuLink has, and gpufabric ignores root ports by default\n"
			    "for GPUs there: echo options gpufabric root_ports=1 > /etc/modprobe.d/gpufabric-root-ports.conf; rmmod gpufabric; modprobe gpufabric",
			    names);
	free(names);
	names = root_ports(doctor, false);
	if (names)
		doctor_find(doctor, DOCTOR_NOTE, "root-ports",
			    "root ports %s have a GPU and no hot-plug controller: one on a cable there (OCuLink) can neither come nor go\n"
			    "allow hot-plug for these ports in the firmware's settings",
			    names);
	free(names);
	free(line);
}

static void check_thunderbolt(struct doctor *doctor)
{
	size_t n, i;
	char **names = tree_names(&doctor->tree, &n, THUNDERBOLT);

	for (i = 0; i < n; i++) {
		char *authorized = tree_line(&doctor->tree, THUNDERBOLT "/%s/authorized", names[i]);
		char *device = tree_line(&doctor->tree, THUNDERBOLT "/%s/device_name", names[i]);

		if (authorized && !strcmp(authorized, "0"))
			doctor_find(doctor, DOCTOR_WARN, "thunderbolt",
				    "%s (Thunderbolt %s) is not authorized: its GPU is not on the PCI bus\n"
				    "boltctl enroll it, or echo 1 > /" THUNDERBOLT "/%s/authorized",
				    device ? device : "a device", names[i], names[i]);
		free(authorized);
		free(device);
	}
	tree_free_names(names, n);
}

static void check_dips(struct doctor *doctor)
{
	size_t i;

	for (i = 0; i < doctor->log.n_dips; i++) {
		const struct klog_dip *dip = &doctor->log.dips[i];
		const struct pci_device *port = pci_find(&doctor->pci, dip->port);

		if (dip->count < DIPS_MIN)
			continue;
		if (!port || !port->native) {
			doctor_find(doctor, DOCTOR_NOTE, "power-dips",
				    "slot %s (port %s): pciehp removed its card by mistake %zu times since the boot and found it again at once; it no longer drives the port",
				    dip->slot, dip->port, dip->count);
			continue;
		}
		doctor_find(doctor, DOCTOR_WARN, "power-dips",
			    "slot %s (port %s): pciehp removed its card by mistake %zu times since the boot and found it again at once, as after a short loss of power or link\n"
			    "repair power supply, riser or cable; if the card is never hot-plugged: echo %s:pcie%x04 > /sys/bus/pci_express/drivers/pciehp/unbind, which also takes the slot from gpufabric",
			    dip->slot, dip->port, dip->count, dip->port,
			    (unsigned int)port->port - PCI_PORT_ROOT);
	}
}

static bool contains_error(const struct pci_device *port)
{
	unsigned int dpc = pci_extended(port, PCI_EXT_CAP_ID_DPC);

	return dpc && pci_config(port, dpc + PCI_EXP_DPC_STATUS, 2) & PCI_EXP_DPC_STATUS_TRIGGER;
}

/* While the kernel recovers one it does so, too; it has cleared it before anybody reads this. */
static void check_containment(struct doctor *doctor)
{
	size_t i;

	for (i = 0; i < doctor->n_slots; i++) {
		const struct doctor_slot *slot = &doctor->slots[i];
		const struct pci_device *port = &doctor->pci.items[slot->port];

		if (!contains_error(port))
			continue;
		doctor_find(doctor, DOCTOR_WARN, "containment",
			    "slot %s: port %s contains an error of its card (Downstream Port Containment) and keeps the link down, and neither kernel nor firmware has cleared that\n"
			    "setpci -s %s ECAP_DPC+8.w=1, then do what gpuctl list says; where the firmware leaves that to the kernel, boot with pcie_ports=dpc-native",
			    slot->name, port->address, port->address);
	}
}

void doctor_check_ports(struct doctor *doctor)
{
	check_containment(doctor);
	check_root_ports(doctor);
	check_thunderbolt(doctor);
	check_dips(doctor);
}
