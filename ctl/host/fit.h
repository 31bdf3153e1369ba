/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUCTL_HOST_FIT_H
#define GPUCTL_HOST_FIT_H

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t u32;
typedef uint64_t u64;

/* Most BARs of one slot, and windows of one bus, that are looked at. */
#define GF_FIT_BARS 64
#define GF_FIT_BUS_WINDOWS 8

/* The owner of a range that is no window of a port. */
#define GF_FIT_NOBODY (~0U)

/* What a window or a BAR is; a port's own windows are counted as below. */
#define GF_FIT_PREFETCH 1U
#define GF_FIT_WIDE 2U
/* Gets room when windows are sized, and nobody minds if there is none. */
#define GF_FIT_OPTIONAL 4U
/* Of virtual functions: tried first, and left out where that does not go. */
#define GF_FIT_VIRTUAL 8U

/**
 * enum gf_fit_verdict - whether a GPU can be given its windows
 * @GF_FIT_UNKNOWN: what it needs, or what there is, is not known
 * @GF_FIT_FITS: it can, and windows stay where they are
 * @GF_FIT_FITS_AFTER_REASSIGNMENT: it can, and its port's windows get other addresses
 * @GF_FIT_CANNOT: it cannot
 */
enum gf_fit_verdict {
	GF_FIT_UNKNOWN,
	GF_FIT_FITS,
	GF_FIT_FITS_AFTER_REASSIGNMENT,
	GF_FIT_CANNOT
};

/**
 * enum gf_fit_rule - how the PCI core sizes a window for what shall be in it
 * @GF_FIT_RULE_HALVES: up to a multiple of half of the largest BAR
 * @GF_FIT_RULE_RELAXED: so, and as a sum where the bridge above has no place for that
 * @GF_FIT_RULE_SUM: as a sum, whatever gaps alignment leaves
 * @GF_FIT_RULE_TAILS: so, and what is larger than a multiple of its alignment begins before
 *	that where this is free
 */
enum gf_fit_rule {
	GF_FIT_RULE_HALVES,
	GF_FIT_RULE_RELAXED,
	GF_FIT_RULE_SUM,
	GF_FIT_RULE_TAILS
};

/**
 * enum gf_fit_which - windows of a port
 * @GF_FIT_MEM: for what is not prefetchable, below 4 GiB
 * @GF_FIT_PREF: for what is prefetchable
 * @GF_FIT_WINDOWS: how many there are
 */
enum gf_fit_which {
	GF_FIT_MEM,
	GF_FIT_PREF,
	GF_FIT_WINDOWS
};

/**
 * struct gf_fit_range - addresses that are taken
 * @start: first one
 * @end: last one; before @start for a window that has none
 * @port: index of the port whose window this is, or GF_FIT_NOBODY
 * @which: which of its windows
 * @live: something behind it has an address
 */
struct gf_fit_range {
	u64 start;
	u64 end;
	u32 port;
	enum gf_fit_which which;
	bool live;
};

/**
 * struct gf_fit_window - a window that addresses can be had from
 * @start: first address
 * @end: last address
 * @flags: GF_FIT_PREFETCH, GF_FIT_WIDE
 */
struct gf_fit_window {
	u64 start;
	u64 end;
	u32 flags;
};

/**
 * struct gf_fit_own - a window of a port
 * @there: the port has such a window
 * @assigned: it has addresses
 * @dead: the bridge above does not forward these, and never will: it has lost
 *	its own window
 * @window: the addresses and what they are for
 * @kept: size that the PCI core gives it at least when it has no addresses
 */
struct gf_fit_own {
	bool there;
	bool assigned;
	bool dead;
	struct gf_fit_window window;
	u64 kept;
};

/**
 * struct gf_fit_port - a port on a bus
 * @own: its windows
 * @bus_first: bus number directly below it
 * @bus_last: last bus number below it
 * @hands_down: a bridge that comes to it gets what its windows have left, as the PCI
 *	core does at a port with a hot-plug controller
 */
struct gf_fit_port {
	struct gf_fit_own own[GF_FIT_WINDOWS];
	u32 bus_first;
	u32 bus_last;
	bool hands_down;
};

/**
 * struct gf_fit_bus - the bus that the ports of a switch are on
 * @root: it is a root bus
 * @rule: how this kernel sizes windows
 * @nr_windows: number of windows
 * @windows: windows of the bridge above, in the order of the PCI core
 * @nr_taken: number of ranges
 * @taken: what is taken in these windows, by address
 * @nr_ports: number of ports
 * @ports: the ports
 */
struct gf_fit_bus {
	bool root;
	enum gf_fit_rule rule;
	u32 nr_windows;
	struct gf_fit_window windows[GF_FIT_BUS_WINDOWS];
	u32 nr_taken;
	struct gf_fit_range *taken;
	u32 nr_ports;
	struct gf_fit_port *ports;
};

/**
 * enum gf_fit_size - which sizes of resizable BARs are meant
 * @GF_FIT_SIZE_NOW: as after power-on
 * @GF_FIT_SIZE_MIN: the smallest
 * @GF_FIT_SIZE_MAX: the largest
 * @GF_FIT_SIZES: how many there are
 */
enum gf_fit_size {
	GF_FIT_SIZE_NOW,
	GF_FIT_SIZE_MIN,
	GF_FIT_SIZE_MAX,
	GF_FIT_SIZES
};

/**
 * struct gf_fit_measure - more of a window of a bridge on a card; zeros for a BAR
 * @align: what it is aligned to
 * @extent: bytes that it has to have for what is in it, with the gaps between
 * @asked: bytes that the PCI core tries first, with what nobody minds
 */
struct gf_fit_measure {
	u64 align;
	u64 extent;
	u64 asked;
};

/**
 * struct gf_fit_bar - a BAR that a GPU comes with, or a window of a bridge on its
 *	card
 * @size: in bytes, as it is after power-on
 * @align: what a BAR is aligned to where that is not its size, as for those of virtual
 *	functions; else 0
 * @min: smallest size that it can be set to, @size where it cannot
 * @max: largest one
 * @flags: GF_FIT_*
 * @measures: of each of these sizes
 */
struct gf_fit_bar {
	u64 size;
	u64 align;
	u64 min;
	u64 max;
	u32 flags;
	struct gf_fit_measure measures[GF_FIT_SIZES];
};

/**
 * struct gf_fit_need - what a GPU needs
 * @nr_bars: number of BARs, 0 when nothing is known
 * @bars: the BARs of all its functions on one bus, and windows for what is behind
 *	bridges there, in the order of the PCI core
 * @buses: bus numbers beyond the one that it is on
 * @bridges: how many of these there are
 * @stuck: the PCI core makes a window too small that nothing can be handed down to, for
 *	each size
 */
struct gf_fit_need {
	u32 nr_bars;
	struct gf_fit_bar bars[GF_FIT_BARS];
	u32 buses;
	u32 bridges;
	bool stuck[GF_FIT_SIZES];
};

/**
 * struct gf_fit_result - whether a GPU can be given its windows
 * @verdict: the answer
 * @buses: it is bus numbers that are short, not memory
 * @prefetch: what is short is prefetchable memory
 * @gaps: what is short is a window of a bridge on the card, whatever the port has
 * @own: it is the port's own window, and a larger one would not help
 * @harm: trying takes the addresses of neighbours away
 * @moves: a window of the port gets addresses that it has not now, so the order
 *	in which GPUs come to this bus matters
 * @need: bytes, or bus numbers, that the port's window has to have
 * @free: the most that can be had for it; with @gaps what the PCI core makes it
 */
struct gf_fit_result {
	enum gf_fit_verdict verdict;
	bool buses;
	bool prefetch;
	bool gaps;
	bool own;
	bool harm;
	bool moves;
	u64 need;
	u64 free;
};

/**
 * struct gf_fit_trial - GPUs of one request, judged one after the other
 * @bus: the bus that they come to
 * @moved: windows that have other addresses now than @bus says, room for two
 *	for each GPU
 * @nr_moved: how many
 * @cleared: the windows of the ports of this kind were given up
 * @lost: so was that of the bridge above, for good
 */
struct gf_fit_trial {
	const struct gf_fit_bus *bus;
	struct gf_fit_range *moved;
	u32 nr_moved;
	bool cleared[GF_FIT_WINDOWS];
	bool lost[GF_FIT_WINDOWS];
};

/* How the kernel of that release, as uname(2) has it, sizes windows. Pure. */
enum gf_fit_rule gf_fit_rule_of(const char *release);

/*
 * Add to @outer what a bridge asks of its bus for what is behind it, @inner. @pref
 * says what its prefetchable window can hold: GF_FIT_PREFETCH, GF_FIT_WIDE, 0 for
 * none, @rule how the kernel sizes windows. Bus numbers are the caller's business. Pure.
 */
void gf_fit_wrap(const struct gf_fit_need *inner, u32 pref, enum gf_fit_rule rule,
		 struct gf_fit_need *outer);

/*
 * Judge one GPU more. Pure. Where the verdict is not that it cannot be, what
 * it takes is taken for those that follow.
 */
void gf_fit_judge(struct gf_fit_trial *trial, u32 port, const struct gf_fit_need *need,
		  enum gf_fit_size size, struct gf_fit_result *result);

#endif /* GPUCTL_HOST_FIT_H */
