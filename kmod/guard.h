/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_GUARD_H
#define GPUFABRIC_GUARD_H

#include <linux/types.h>

struct gf_slot;

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

/* What becomes of windows when a slot is powered on. */
enum gf_room {
	GF_ROOM_OWN, /* those of its port take the card */
	/* One of its port is placed anew, or may be: nothing is known of the card. */
	GF_ROOM_MOVES,
	GF_ROOM_NONE /* there is no place for that, and trying takes others' away */
};

int gf_guard(struct gf_slot *slot, u64 *need);

#endif /* GPUFABRIC_GUARD_H */
