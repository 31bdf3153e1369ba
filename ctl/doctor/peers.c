// SPDX-License-Identifier: GPL-2.0-only
/* What keeps GPUs from each other's memory: access control of ports, and the IOMMU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "doctor/doctor.h"
#include "host/p2p.h"

#define GROUPS "sys/kernel/iommu_groups"
/* So many addresses fit where people read them. */
#define ADDRESSES_MAX 64

/* The same look as gpuctl topo has. */
static void check_acs(struct doctor *doctor)
{
	size_t *slow = mem_zalloc(doctor->n_slots + 1, sizeof(*slow)), n = 0, i;
	struct text ports = { 0 };
	char *names;

	for (i = 0; i < doctor->n_slots; i++) {
		const char *port = doctor->pci.items[doctor->slots[i].port].address;

		if (p2p_redirects(&doctor->tree, port) <= 0)
			continue;
		slow[n++] = i;
		if (n <= ADDRESSES_MAX)
			text_join(&ports, ";", port);
	}
	if (n) {
		names = doctor_slot_names(doctor, slow, n);
		doctor_find_parameter(doctor, DOCTOR_WARN, "acs",
				      mem_printf("pci=disable_acs_redir=%s", ports.text),
				      "%s: access control redirects peer-to-peer through the root complex: slow, and some GPUs hang; turn it off if virtual machines need no isolation from each other",
				      names);
		free(names);
	} else if (doctor->n_slots > 1) {
		doctor_find(doctor, DOCTOR_OK, "acs", "no port of a slot redirects peer-to-peer");
	}
	free(ports.text);
	free(slow);
}

/* A group that translates has a domain of a type DMA, DMA-FQ. */
static bool translates(const struct doctor *doctor, const char *address)
{
	char *group = tree_link(&doctor->tree, "sys/bus/pci/devices/%s/iommu_group", address);
	const char *number = group ? strrchr(group, '/') : NULL;
	char *type = number ? tree_line(&doctor->tree, GROUPS "%s/type", number) : NULL;
	bool does = type && !strncmp(type, "DMA", 3);

	free(type);
	free(group);
	return does;
}

static void check_iommu(struct doctor *doctor)
{
	size_t i, n, translated = 0, gpus = 0;
	char **groups = tree_names(&doctor->tree, &n, GROUPS);

	tree_free_names(groups, n);
	for (i = 0; i < doctor->n_slots; i++) {
		if (doctor->slots[i].gpu == PCI_NOBODY)
			continue;
		gpus++;
		translated += translates(doctor, doctor->pci.items[doctor->slots[i].gpu].address);
	}
	if (translated)
		doctor_find_parameter(doctor, DOCTOR_WARN, "iommu", mem_strdup("iommu=pt"),
				      "the IOMMU translates for %zu of %zu GPUs: peer-to-peer goes through the root complex",
				      translated, gpus);
	else if (n)
		doctor_find(doctor, DOCTOR_OK, "iommu", "%zu IOMMU groups, no GPU is translated",
			    n);
	else
		doctor_find(doctor, DOCTOR_OK, "iommu", "no IOMMU: peer-to-peer is not translated");
}

void doctor_check_peers(struct doctor *doctor)
{
	check_acs(doctor);
	check_iommu(doctor);
}
