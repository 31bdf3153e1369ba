/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_NOTIFY_H
#define GPUFABRIC_NOTIFY_H

#include "slot.h"

/* The most that one function adds to the facts, and itself where it is a bridge. */
#define GF_FACTS (PCI_BRIDGE_RESOURCES + 1)

struct gf_facts;
struct gf_snapshot;

int gf_notify_start(void);
void gf_notify_stop(void);
void gf_notify_add_slot(struct gf_slot *slot);
void gf_notify_remove_slot(struct gf_slot *slot);
bool gf_notify_knows(const struct pci_slot *pci_slot);
bool gf_notify_knows_port(const struct pci_dev *port);
void gf_notify_choose(struct gf_slot *slot, const char *driver);
void gf_notify_reset(struct gf_slot *slot);
void gf_notify_marks(struct gf_slot *slot, struct gf_marks *marks);
bool gf_notify_was_surprise(struct gf_slot *slot);
void gf_notify_facts(struct gf_slot *slot, struct pci_dev *pdev, bool awake,
		     struct gf_facts *facts);
u64 gf_notify_changes(void);
void gf_notify_moving(struct gf_switch *sw);
void gf_notify_missing_bar(struct gf_slot *slot, struct pci_dev *pdev, struct gf_snapshot *snap);

#endif /* GPUFABRIC_NOTIFY_H */
