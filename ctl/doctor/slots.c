// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: slots of a tree
 *
 * The same ports as the module takes: downstream ports of switches, and root ports if it
 * was told to. Their names come from the module where it is loaded, else from the slot
 * driver; a port that has neither is called by its address, as the module would. Ports
 * inside a card are none (kmod/card.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "doctor/doctor.h"
#include "doctor/places.h"
#include "host/drives.h"
#include "kmod/card.h"
#include "module/model.h"

#define CLASS "sys/class/gpufabric"
#define SLOTS "sys/bus/pci/slots"

static bool takes_root_ports(const struct doctor *doctor)
{
	char *line = tree_line(&doctor->tree, PLACE_ROOT_PORTS);
	bool takes = line && *line == 'Y';

	free(line);
	return takes;
}

/* The GPU below a port, its own first function before those of a bridge on its card. */
static size_t gpu_below(const struct pci_list *pci, size_t port)
{
	size_t i, at;

	for (i = 0; i < pci->n; i++) {
		if (!pci_is_gpu(&pci->items[i]))
			continue;
		for (at = pci->items[i].parent; at != PCI_NOBODY; at = pci->items[at].parent)
			if (at == port)
				return i;
	}
	return PCI_NOBODY;
}

static void slots_add_slot(struct doctor *doctor, size_t port)
{
	struct doctor_slot *slot;

	doctor->slots = mem_grow(doctor->slots, doctor->n_slots + 1, sizeof(*doctor->slots));
	slot = &doctor->slots[doctor->n_slots++];
	*slot = (struct doctor_slot){ .port = port, .gpu = gpu_below(&doctor->pci, port) };
}

static struct doctor_slot *slot_at(struct doctor *doctor, const char *port)
{
	size_t i;

	for (i = 0; i < doctor->n_slots; i++)
		if (!strcmp(doctor->pci.items[doctor->slots[i].port].address, port))
			return &doctor->slots[i];
	return NULL;
}

/* The variable of a uevent file, newly allocated. */
static char *slots_variable(const char *text, const char *name)
{
	size_t len = strlen(name);
	const char *line = text;

	while (line && *line) {
		if (!strncmp(line, name, len) && line[len] == '=')
			return mem_printf("%.*s", (int)strcspn(line + len + 1, "\n"),
					  line + len + 1);
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return NULL;
}

static const char *state_of(const char *events)
{
	static const char *const parts[] = { "OCCUPANCY", "POWER", "ACTIVITY", "HEALTH" };
	struct gf_condition condition = { 0 };
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		char *name = mem_printf("GPUFABRIC_%s", parts[i]);
		char *word = slots_variable(events, name);

		if (word)
			gf_condition_take(&condition, parts[i], word);
		free(word);
		free(name);
	}
	return gf_state_name(gf_state_of(&condition));
}

/* The device of a GPU, a child of its slot's, has a name with a '!'. */
static void name_by_module(struct doctor *doctor)
{
	size_t n, i;
	char **names = tree_names(&doctor->tree, &n, CLASS);

	for (i = 0; i < n; i++) {
		char *events = tree_read(&doctor->tree, NULL, CLASS "/%s/uevent", names[i]);
		char *port = slots_variable(events, "GPUFABRIC_PORT");
		struct doctor_slot *slot = port && !strchr(names[i], '!') ? slot_at(doctor, port) :
									    NULL;

		if (slot && !slot->state) {
			free(slot->name);
			slot->name = slots_variable(events, "GPUFABRIC_SLOT");
			slot->state = state_of(events);
			slot->composition = slots_variable(events, "GPUFABRIC_COMPOSITION");
		}
		free(events);
		free(port);
	}
	tree_free_names(names, n);
}

/* A PCI slot's address is that of the device in it: "0000:03:00". */
static void name_by_driver(struct doctor *doctor)
{
	size_t n, i, k;
	char **names = tree_names(&doctor->tree, &n, SLOTS);

	for (i = 0; i < n; i++) {
		char *address = tree_line(&doctor->tree, SLOTS "/%s/address", names[i]);
		unsigned int domain, bus;

		for (k = 0; address && k < doctor->n_slots; k++) {
			const struct pci_device *port = &doctor->pci.items[doctor->slots[k].port];

			if (sscanf(address, "%8x:%2x:", &domain, &bus) == 2 &&
			    domain == strtoul(port->address, NULL, 16) && bus == port->bus_first &&
			    !doctor->slots[k].name) {
				doctor->slots[k].name = mem_strdup(names[i]);
				doctor->slots[k].driven =
					tree_has(&doctor->tree, SLOTS "/%s/power", names[i]);
				doctor->slots[k].driver = drives_linked(&doctor->tree, names[i]);
			}
		}
		free(address);
	}
	tree_free_names(names, n);
}

static int slots_compare_slots(const void *left, const void *right)
{
	const struct doctor_slot *a = left, *b = right;

	return gf_name_compare(a->name, b->name);
}

static bool can_be_slot(const struct pci_device *dev, bool roots)
{
	return dev->port == PCI_PORT_DOWNSTREAM || (roots && dev->port == PCI_PORT_ROOT);
}

/* What the admin has told the module: a list of addresses. */
static bool slots_is_chosen(const struct doctor *doctor, const char *address)
{
	char *list = tree_line(&doctor->tree, PLACE_CARDS);
	bool chosen = list && strstr(list, address);

	free(list);
	return chosen;
}

static void count_ports(const struct pci_list *pci, size_t upstream, struct gf_card_switch *sw)
{
	size_t i;

	memset(sw, 0, sizeof(*sw));
	for (i = 0; i < pci->n; i++) {
		if (pci->items[i].parent != upstream || pci->items[i].port != PCI_PORT_DOWNSTREAM)
			continue;
		sw->ports++;
		sw->slotted += pci->items[i].slotted;
	}
}

/* Whether a port is one of a switch on the card in the slot above. */
static bool is_in_card(const struct doctor *doctor, size_t port, bool roots)
{
	const struct pci_list *pci = &doctor->pci;
	size_t upstream = pci->items[port].parent, above;
	struct gf_card_switch sw;

	if (upstream == PCI_NOBODY || pci->items[upstream].port != PCI_PORT_UPSTREAM)
		return false;
	above = pci->items[upstream].parent;
	if (above == PCI_NOBODY || !can_be_slot(&pci->items[above], roots))
		return false;
	count_ports(pci, upstream, &sw);
	return gf_card_has(&sw, slots_is_chosen(doctor, pci->items[above].address));
}

void doctor_read_slots(struct doctor *doctor)
{
	bool roots = takes_root_ports(doctor);
	size_t i;

	for (i = 0; i < doctor->pci.n; i++)
		if (can_be_slot(&doctor->pci.items[i], roots) && !is_in_card(doctor, i, roots))
			slots_add_slot(doctor, i);
	name_by_driver(doctor);
	name_by_module(doctor);
	for (i = 0; i < doctor->n_slots; i++)
		if (!doctor->slots[i].name)
			doctor->slots[i].name =
				mem_strdup(doctor->pci.items[doctor->slots[i].port].address);
	if (doctor->n_slots)
		qsort(doctor->slots, doctor->n_slots, sizeof(*doctor->slots), slots_compare_slots);
}
