/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_SNAPSHOT_H
#define GPUFABRIC_SNAPSHOT_H

#include <linux/pci.h>

#include "slot.h"
#include "walk.h"

#define GF_WINDOWS 4
#define GF_UNREAD_MS 50

/**
 * struct gf_bar - a base address register of a function
 * @size: in bytes
 * @address: bus address, private to privileged readers
 * @flags: GPUFABRIC_BAR_FLAG_*
 */
struct gf_bar {
	u64 size;
	u64 address;
	u32 flags;
};

/**
 * struct gf_function - a function in a slot as it was when looked at
 * @address: PCI address
 * @vendor: vendor id
 * @device: device id
 * @subsystem_vendor: subsystem vendor id
 * @subsystem_device: subsystem id
 * @revision: revision id
 * @class: 24-bit class code
 * @iommu_group: group id, -1 when there is none
 * @driver: bound driver, empty when none
 * @bars: by index, size 0 where there is none
 */
struct gf_function {
	char address[16];
	u16 vendor;
	u16 device;
	u16 subsystem_vendor;
	u16 subsystem_device;
	u8 revision;
	u32 class;
	int iommu_group;
	char driver[32];
	struct gf_bar bars[PCI_STD_NUM_BARS];
};

/**
 * struct gf_link - a link, speeds in MT/s per lane, 0 when unknown or down
 * @speed: trained speed
 * @width: trained width
 * @port_speed: fastest speed of the upper end
 * @port_width: widest width of the upper end
 * @device_speed: fastest speed of the lower end
 * @device_width: widest width of the lower end
 */
struct gf_link {
	u32 speed;
	u32 width;
	u32 port_speed;
	u32 port_width;
	u32 device_speed;
	u32 device_width;
};

/**
 * struct gf_window - a window of a bridge
 * @flags: GPUFABRIC_BAR_FLAG_*
 * @size: in bytes
 * @free: largest piece that nothing uses, in bytes
 */
struct gf_window {
	u32 flags;
	u64 size;
	u64 free;
};

/**
 * struct gf_snapshot - what was found in a slot, immutable once made
 * @present: the slot driver detects a card
 * @power: the slot driver says power is on
 * @status_valid: @present and @power were read
 * @closed: the port could not be asked, and what only it knows is missing
 * @sltcap: Slot Capabilities of the port, 0 where it has none or is @closed
 * @alive: the GPUs answer with their vendor ids, or one could not be asked
 * @unread: one of them could not be asked
 * @frozen: the kernel recovers one of them from an error, or has given up to do so
 * @quiet: one does not answer, or could not be asked: what only the hardware knows
 *	is missing
 * @has_slots: it is a chassis, with slots of its own. They can be in the middle of
 *	being powered, by their slot driver alone, and pciehp dead-locks when the
 *	switch above is removed meanwhile, with pci_rescan_remove_lock held. Nothing
 *	of ours can prevent the one, so we never do the other
 * @driver_unread: whether a function has a driver could not be read, so the slot
 *	has to be looked at again after GF_UNREAD_MS, even if nothing is announced
 * @missing_bar: index of a BAR of a GPU function that was seen when it
 *	appeared and has no address now, -1 when all have one
 * @missing_size: size of that BAR
 * @gpu: index of the first GPU function, -1 when there is none
 * @gpus: how many there are
 * @pdev: the first, NULL when there is none
 * @card: the functions, referenced
 * @serial: Device Serial Number of that function, 0 when there is none
 * @link: the slot's link
 * @facts: BARs of the functions as they appeared; NULL without functions, or once
 *	the slot has taken it
 * @bus_first: first bus number below the port
 * @bus_last: last bus number below the port
 * @nr_windows: number of windows
 * @windows: windows of the port
 * @nr_functions: number of functions
 * @functions: the functions, each bridge of the card before what is behind it
 */
struct gf_snapshot {
	bool present;
	bool power;
	bool status_valid;
	bool closed;
	u32 sltcap;
	bool alive;
	bool unread;
	bool frozen;
	bool quiet;
	bool has_slots;
	bool driver_unread;
	int missing_bar;
	u64 missing_size;
	int gpu;
	unsigned int gpus;
	struct pci_dev *pdev;
	struct gf_functions *card;
	u64 serial;
	struct gf_link link;
	struct gf_facts *facts;
	u8 bus_first;
	u8 bus_last;
	unsigned int nr_windows;
	struct gf_window windows[GF_WINDOWS];
	unsigned int nr_functions;
	struct gf_function functions[];
};

struct gf_snapshot *gf_snapshot_take(struct gf_slot *slot);
struct gf_snapshot *gf_snapshot_locked(struct gf_slot *slot);
void gf_snapshot_free(struct gf_snapshot *snap);
u32 gf_bar_flags(const struct resource *res);
void gf_link_read(struct pci_dev *upper, struct pci_dev *lower,
		  struct gf_link *link);
bool gf_link_degraded(const struct gf_link *link);
bool gf_snapshot_bound(const struct gf_snapshot *snap, const char *driver);
bool gf_snapshot_is_rest(const struct gf_snapshot *snap,
			 const struct gf_snapshot *before);
void gf_snapshot_keep(struct gf_snapshot *snap,
		      const struct gf_snapshot *before);

#endif /* GPUFABRIC_SNAPSHOT_H */
