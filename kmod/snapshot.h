/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_SNAPSHOT_H
#define GPUFABRIC_SNAPSHOT_H

#include <linux/pci.h>

#include "slot.h"
#include "walk.h"

#define GF_WINDOWS 4
#define GF_UNREAD_MS 50

struct gf_bar {
	u64 size; /* in bytes, 0 where there is none */
	u64 address; /* on the bus; private to privileged readers */
	u32 flags; /* GPUFABRIC_BAR_FLAG_* */
};

/* A function in a slot as it was when looked at. */
struct gf_function {
	char address[16];
	u16 vendor;
	u16 device;
	u16 subsystem_vendor;
	u16 subsystem_device;
	u8 revision;
	u32 class; /* 24 bits */
	int iommu_group; /* -1 when there is none */
	char driver[32]; /* empty when none is bound */
	struct gf_bar bars[PCI_STD_NUM_BARS];
};

/* Speeds in MT/s a lane, and widths; 0 when unknown or down. */
struct gf_link {
	u32 speed; /* trained */
	u32 width;
	u32 port_speed; /* that the upper end can do */
	u32 port_width;
	u32 device_speed; /* that the lower end can do */
	u32 device_width;
};

/* A window of a bridge. */
struct gf_window {
	u32 flags; /* GPUFABRIC_BAR_FLAG_* */
	u64 size; /* in bytes */
	u64 free; /* the largest piece that nothing uses, in bytes */
};

/* What was found in a slot, immutable once made. */
struct gf_snapshot {
	bool present; /* the slot driver detects a card */
	bool power; /* the slot driver says power is on */
	bool status_valid; /* both were read */
	bool closed; /* the port could not be asked, and what only it knows is missing */
	u32 sltcap; /* Slot Capabilities, 0 where the port has none or is @closed */
	bool alive; /* the GPUs answer with their vendor ids, or one could not be asked */
	bool unread; /* one of them could not be asked */
	bool frozen; /* the kernel recovers one from an error, or has given up to do so */
	/* One does not answer or could not be asked: what only hardware knows is missing. */
	bool quiet;
	/*
	 * It is a chassis, with slots of its own. They can be in the middle of being powered, by
	 * their slot driver alone, and pciehp dead-locks when the switch above is removed
	 * meanwhile, with pci_rescan_remove_lock held. Nothing of ours can prevent the one, so we
	 * never do the other.
	 */
	bool has_slots;
	/*
	 * Whether a function has a driver could not be read, so the slot has to be looked at
	 * again after GF_UNREAD_MS, even if nothing is announced.
	 */
	bool driver_unread;
	/* A BAR of a GPU that was seen when it appeared and has no address now, -1 for none. */
	int missing_bar;
	u64 missing_size;
	int gpu; /* index of the first GPU function, -1 when there is none */
	unsigned int gpus;
	struct pci_dev *pdev; /* the first, NULL when there is none */
	struct gf_functions *card; /* referenced */
	u64 serial; /* Device Serial Number of @pdev, 0 when there is none */
	struct gf_link link;
	struct gf_facts *facts; /* NULL without functions, or once the slot has taken it */
	u8 bus_first; /* below the port */
	u8 bus_last;
	unsigned int nr_windows;
	struct gf_window windows[GF_WINDOWS];
	unsigned int nr_functions;
	struct gf_function functions[]; /* each bridge of the card before what is behind it */
};

struct gf_snapshot *gf_snapshot_take(struct gf_slot *slot);
struct gf_snapshot *gf_snapshot_locked(struct gf_slot *slot);
void gf_snapshot_free(struct gf_snapshot *snap);
u32 gf_bar_flags(const struct resource *res);
void gf_link_read(struct pci_dev *upper, struct pci_dev *lower, struct gf_link *link);
bool gf_link_degraded(const struct gf_link *link);
void gf_snapshot_judge(const struct gf_snapshot *snap, struct gf_failure *failure);
bool gf_snapshot_bound(const struct gf_snapshot *snap, const char *driver);
bool gf_snapshot_is_rest(const struct gf_snapshot *snap, const struct gf_snapshot *before);
void gf_snapshot_keep(struct gf_snapshot *snap, const struct gf_snapshot *before);

#endif /* GPUFABRIC_SNAPSHOT_H */
