/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_ROOM_H
#define GPUFABRIC_ROOM_H

#include <linux/ktime.h>
#include <linux/pci.h>

#include "fit.h"

struct genl_info;
struct gf_expect;
struct gf_picks;
struct gf_slot;
struct gf_switch;

/**
 * struct gf_room - the windows on the bus of a switch, as they were once
 * @time: when that was
 * @changes: &gf_switch.changes then
 * @bridge: PCI address of the bridge above, or of the root bus
 * @bus: the windows, and what is taken of them
 * @ports: the ports of @bus; compared, never followed
 *
 * Immutable once made; the arrays are part of it.
 */
struct gf_room {
	ktime_t time;
	int changes;
	char bridge[16];
	struct gf_fit_bus bus;
	const struct pci_dev **ports;
};

/**
 * struct gf_room_verdict - what is known of a slot's room
 * @age_ms: how old that is
 * @bridge: whose windows it is about
 * @now: for the BARs as they are after power-on
 * @resizable: there are BARs that can be larger
 * @largest: for these at their largest
 * @text: why not, and what helps; empty unless @now says that it cannot be
 */
struct gf_room_verdict {
	u64 age_ms;
	const char *bridge;
	struct gf_fit_result now;
	bool resizable;
	struct gf_fit_result largest;
	char text[184];
};

void gf_room_free(struct gf_room *room);
void gf_room_queue(struct gf_switch *sw);
bool gf_room_is_current(const struct gf_slot *slot);
void gf_room_run(struct work_struct *work);
void gf_room_refresh(struct gf_slot *slot);
bool gf_room_judge(const struct gf_slot *slot, const struct gf_expect *expect,
		   struct gf_room_verdict *verdict);
int gf_room_judge_picks(struct genl_info *info, struct gf_picks *picks);

#endif /* GPUFABRIC_ROOM_H */
