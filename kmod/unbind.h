/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_UNBIND_H
#define GPUFABRIC_UNBIND_H

#include <linux/pci.h>

#include "slot.h"

struct gf_unbound *gf_unbind(struct gf_slot *slot);
void gf_unbind_end(struct gf_slot *slot, struct gf_unbound *unbound);
void gf_unbind_unchoose(struct gf_slot *slot, const char *driver);
bool gf_unbind_holds(struct pci_dev *pdev);

#endif /* GPUFABRIC_UNBIND_H */
