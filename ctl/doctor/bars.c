// SPDX-License-Identifier: GPL-2.0-only
/* GPUs that are there: whether all BARs have addresses, and how large they could be. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "doctor/doctor.h"

#define CAP_REBAR 0x15
#define MIB (1ull << 20)

static const char *name_of_gpu(const struct doctor *doctor, size_t gpu)
{
	size_t i;

	for (i = 0; i < doctor->n_slots; i++)
		if (doctor->slots[i].gpu == gpu)
			return doctor->slots[i].name;
	return NULL;
}

static void check_assigned(struct doctor *doctor, size_t index, const char *slot)
{
	const struct pci_device *dev = &doctor->pci.items[index];
	size_t i;

	for (i = 0; i < 6; i++) {
		const struct pci_range *bar = &dev->res[i];
		char size[TEXT_QUANTITY];

		if (!(bar->flags & PCI_RES_MEM) || pci_is_assigned(bar) || !pci_range_size(bar))
			continue;
		doctor_find(doctor, DOCTOR_FAIL, "bars",
			    "slot %s: BAR %zu of %s (%s) has no address\n"
			    "gpuctl detach %s and attach it again; if it stays so, see windows above",
			    slot, i, dev->address, text_bytes(size, pci_range_size(bar)), slot);
	}
}

/* Resizable BAR: each entry has the sizes that can be and the one that is, as powers of two. */
static void check_resizable(struct doctor *doctor, size_t index, const char *slot, size_t *full)
{
	const struct pci_device *dev = &doctor->pci.items[index];
	unsigned int at = pci_extended(dev, CAP_REBAR), n, i;

	if (!at)
		return;
	n = pci_config(dev, at + 8, 4) >> 5 & 7;
	for (i = 0; i < n && i < 6; i++) {
		uint32_t can = pci_config(dev, at + 4 + 8 * i, 4) >> 4;
		uint32_t control = pci_config(dev, at + 8 + 8 * i, 4);
		unsigned int bar = control & 7, is = control >> 8 & 0x3f, most = 0, k;
		char now[TEXT_QUANTITY], could[TEXT_QUANTITY];

		for (k = 0; k < 28; k++)
			if (can >> k & 1)
				most = k;
		if (!can || is >= most) {
			(*full)++;
			continue;
		}
		doctor_find(doctor, DOCTOR_WARN, "resizable-bar",
			    "slot %s: BAR %u of %s is %s and could be %s\n"
			    "turn resizable BAR on in the firmware, or with no driver bound: echo %u > /sys/bus/pci/devices/%s/resource%u_resize",
			    slot, bar, dev->address, text_bytes(now, MIB << is),
			    text_bytes(could, MIB << most), most, dev->address, bar);
	}
}

void doctor_check_bars(struct doctor *doctor)
{
	size_t i, gpus = 0, full = 0, before = doctor->n_findings;

	for (i = 0; i < doctor->pci.n; i++) {
		const char *slot = name_of_gpu(doctor, i);

		if (!slot)
			continue;
		gpus++;
		check_assigned(doctor, i, slot);
		check_resizable(doctor, i, slot, &full);
	}
	if (gpus && doctor->n_findings == before)
		doctor_find(doctor, DOCTOR_OK, "bars", "%zu GPU%s: all BARs have addresses%s", gpus,
			    gpus == 1 ? "" : "s",
			    full ? ", resizable BARs have their largest size" : "");
}
