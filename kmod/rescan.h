/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_RESCAN_H
#define GPUFABRIC_RESCAN_H

#include <linux/types.h>

struct pci_dev;

void gf_rescan_note(struct pci_dev *pdev, unsigned long action);
void gf_rescan_describe(char *text, size_t size);
bool gf_rescan_lock(void);
void gf_rescan_unlock(void);
bool gf_port_lock(struct pci_dev *port);

#endif /* GPUFABRIC_RESCAN_H */
