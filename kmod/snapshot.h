/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_SNAPSHOT_H
#define GPUFABRIC_SNAPSHOT_H

#include <linux/refcount.h>

#include "card.h"
#include "slot.h"

#define GF_UNREAD_MS 50

/* Functions that were found. */
struct gf_functions {
	refcount_t refs; /* freed with the last */
	bool chassis; /* there are more behind slots of a chassis, which are left out */
	unsigned int count;
	struct pci_dev *pdev[]; /* referenced; each bridge before what is behind it */
};

/* A function in a slot as it was when looked at. */
struct gf_function {
	char address[16];
	struct gf_ids ids;
	u8 revision;
	u32 class; /* 24 bits */
	int iommu_group; /* -1 when there is none */
	char driver[32]; /* empty when none is bound */
};

/* A BAR that a card was seen with, or a bridge on it. */
struct gf_fact {
	u64 size; /* in bytes, before addresses were assigned; 0 for a bridge */
	u64 align;
	u32 sizes; /* that it can be set to; bit N stands for 2^N MiB */
	u16 flags; /* GPUFABRIC_BAR_FLAG_* */
	u8 depth; /* bridges of the card above it */
	bool pref; /* the bridge above has a prefetchable window that it goes into */
};

/* What a card had when it was last seen, each bridge before what is behind it. */
struct gf_facts {
	unsigned int count;
	struct gf_fact fact[];
};

/* The most that one function adds to the facts, and itself where it is a bridge. */
#define GF_FACTS (PCI_BRIDGE_RESOURCES + 1)

/* What was found in a slot, immutable once made. */
struct gf_snapshot {
	bool present; /* the slot driver detects a card */
	bool power; /* the slot driver says power is on */
	bool status_valid; /* both were read */
	bool contained; /* nothing answers because the port contains an error */
	bool closed; /* the port could not be asked, and what only it knows is missing */
	u32 sltcap; /* Slot Capabilities, 0 where the port has none or is @closed */
	bool alive; /* the GPUs answer with their vendor ids, or one could not be asked */
	bool unread; /* one of them could not be asked */
	bool frozen; /* the kernel recovers one from an error, or has given up to do so */
	/* One does not answer or could not be asked: what only hardware knows is missing. */
	bool quiet;
	/*
	 * It is a chassis, with slots of its own. They can be in the middle of being powered, by
	 * their slot driver alone, and pciehp dead-locks when the switch above is removed then,
	 * with pci_rescan_remove_lock held. We cannot prevent the one, so we never do the other.
	 */
	bool has_slots;
	bool driver_unread; /* of a function, perhaps: look again after GF_UNREAD_MS */
	int missing_bar; /* of a GPU, seen when that appeared and without an address, or -1 */
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
	unsigned int nr_functions;
	struct gf_function functions[]; /* each bridge of the card before what is behind it */
};

/* The first GPU function, NULL when there is none; @snap may be NULL. */
static inline const struct gf_function *gf_snapshot_gpu(const struct gf_snapshot *snap)
{
	return snap && snap->gpu >= 0 ? &snap->functions[snap->gpu] : NULL;
}

struct gf_snapshot *gf_snapshot_take(struct gf_slot *slot);
void gf_snapshot_free(struct gf_snapshot *snap);
void gf_link_read(struct pci_dev *upper, struct pci_dev *lower, struct gf_link *link);
bool gf_link_degraded(const struct gf_link *link);
void gf_snapshot_judge(const struct gf_snapshot *snap, struct gf_failure *failure);
bool gf_snapshot_bound(const struct gf_snapshot *snap, const char *driver);
void gf_snapshot_keep(struct gf_snapshot *snap, const struct gf_snapshot *before);

struct gf_functions *gf_functions_on(struct pci_bus *bus);
struct gf_functions *gf_functions_in(struct gf_slot *slot, bool vfs);
struct gf_functions *gf_functions_get(struct gf_functions *functions);
void gf_functions_put(struct gf_functions *functions);
struct pci_dev *gf_functions_gpu(const struct gf_functions *functions, unsigned int index);
bool gf_functions_bring(const struct gf_functions *functions, const struct gf_functions *known,
			bool gpus);
void gf_walk_switch(struct pci_bus *bus, struct gf_card_switch *sw);
bool gf_is_gpu_class(u32 class);
bool gf_is_on_card(const struct gf_slot *slot, const struct pci_dev *pdev);

bool gf_config_open(struct pci_dev *pdev);
bool gf_card_is_open(const struct gf_functions *card, bool all);
bool gf_card_is_frozen(const struct gf_functions *card);
bool gf_port_hold(struct pci_dev *port);
void gf_port_release(struct pci_dev *port);
int gf_link_is_up(struct pci_dev *port);
bool gf_port_contains(struct pci_dev *port);
void gf_sight_read(struct gf_slot *slot, const struct gf_functions *card,
		   u64 serial, struct gf_sight *sight);

/* What becomes of windows when a slot is powered on. */
enum gf_room {
	GF_ROOM_OWN, /* those of its port take the card */
	GF_ROOM_MOVES, /* one of its port is placed anew, or may be: the card is not known */
	GF_ROOM_NONE /* there is no place for that, and trying takes others' away */
};

int gf_guard(struct gf_slot *slot, u64 *need);

#endif /* GPUFABRIC_SNAPSHOT_H */
