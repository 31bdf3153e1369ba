/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_SIGHT_H
#define GPUFABRIC_SIGHT_H

#include "loss.h"

struct gf_slot;
struct pci_dev;

bool gf_config_open(struct pci_dev *pdev);
int gf_link_is_up(struct pci_dev *port);
void gf_sight_read(struct gf_slot *slot, struct pci_dev *gpu, u64 serial,
		   struct gf_sight *sight);

#endif /* GPUFABRIC_SIGHT_H */
