/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_HOLDER_H
#define GPUFABRIC_HOLDER_H

#include <linux/pci.h>

void gf_holder_event(struct pci_dev *pdev, unsigned long action);
void gf_holder_describe(char *text, size_t size);

#endif /* GPUFABRIC_HOLDER_H */
