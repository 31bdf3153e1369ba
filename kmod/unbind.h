/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_UNBIND_H
#define GPUFABRIC_UNBIND_H

#include <linux/list.h>
#include <linux/pci.h>

#include "slot.h"

void gf_unbind(struct gf_slot *slot, struct list_head *functions);
void gf_unbind_end(struct gf_slot *slot, struct list_head *functions);
bool gf_unbind_holds(struct pci_dev *pdev);

#endif /* GPUFABRIC_UNBIND_H */
