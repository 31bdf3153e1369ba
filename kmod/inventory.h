/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_INVENTORY_H
#define GPUFABRIC_INVENTORY_H

#include <linux/types.h>

struct pci_dev;

int gf_inventory_check(void);
bool gf_inventory_is_card(struct pci_dev *port);
void gf_inventory_start(void);
void gf_inventory_stop(void);
void gf_inventory_queue(void);

#endif /* GPUFABRIC_INVENTORY_H */
