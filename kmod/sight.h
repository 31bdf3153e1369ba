/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_SIGHT_H
#define GPUFABRIC_SIGHT_H

#include "loss.h"

struct gf_functions;
struct gf_slot;
struct pci_dev;

bool gf_config_open(struct pci_dev *pdev);
bool gf_card_is_open(const struct gf_functions *card);
bool gf_card_is_frozen(const struct gf_functions *card);
bool gf_port_hold(struct pci_dev *port);
void gf_port_release(struct pci_dev *port);
int gf_link_is_up(struct pci_dev *port);
void gf_sight_read(struct gf_slot *slot, const struct gf_functions *card,
		   u64 serial, struct gf_sight *sight);

#endif /* GPUFABRIC_SIGHT_H */
