/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_GUARD_H
#define GPUFABRIC_GUARD_H

#include <linux/types.h>

struct gf_slot;

/**
 * struct gf_fact - a BAR that a card was seen with, or a bridge on it
 * @size: in bytes, before addresses were assigned; 0 for a bridge
 * @align: what it is aligned to
 * @sizes: that it can be set to; bit N stands for 2^N MiB
 * @flags: GPUFABRIC_BAR_FLAG_*
 * @depth: bridges of the card above it
 * @pref: the bridge above has a prefetchable window that it goes into
 */
struct gf_fact {
	u64 size;
	u64 align;
	u32 sizes;
	u16 flags;
	u8 depth;
	bool pref;
};

/**
 * struct gf_facts - what a card had when it was last seen
 * @count: number of @fact
 * @fact: each bridge before what is behind it
 */
struct gf_facts {
	unsigned int count;
	struct gf_fact fact[];
};

/**
 * enum gf_room - what becomes of windows when a slot is powered on
 * @GF_ROOM_OWN: those of its port take the card
 * @GF_ROOM_MOVES: one of its port is placed anew, or may be: nothing is known of
 *	the card
 * @GF_ROOM_NONE: there is no place for that, and trying takes others' away
 */
enum gf_room {
	GF_ROOM_OWN,
	GF_ROOM_MOVES,
	GF_ROOM_NONE
};

int gf_guard(struct gf_slot *slot, u64 *need);

#endif /* GPUFABRIC_GUARD_H */
