/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_WALK_H
#define GPUFABRIC_WALK_H

#include <linux/pci.h>
#include <linux/refcount.h>

#include "card.h"

struct gf_slot;

/* Functions that were found. */
struct gf_functions {
	refcount_t refs; /* freed with the last */
	bool chassis; /* there are more behind slots of a chassis, which are left out */
	unsigned int count;
	/* The functions, referenced; each bridge before what is behind it. */
	struct pci_dev *pdev[];
};

struct gf_functions *gf_functions_on(struct pci_bus *bus);
struct gf_functions *gf_functions_in(struct gf_slot *slot, bool vfs);
struct gf_functions *gf_functions_get(struct gf_functions *functions);
void gf_functions_put(struct gf_functions *functions);
struct pci_dev *gf_functions_gpu(const struct gf_functions *functions, unsigned int index);
void gf_walk_switch(struct pci_bus *bus, struct gf_card_switch *sw);
bool gf_is_gpu_class(u32 class);
bool gf_is_on_card(const struct gf_slot *slot, const struct pci_dev *pdev);

#endif /* GPUFABRIC_WALK_H */
