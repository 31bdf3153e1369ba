/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_RESCAN_H
#define GPUFABRIC_RESCAN_H

#include <linux/workqueue.h>

/**
 * struct gf_rescan - one holder of pci_rescan_remove_lock, on its stack
 * @stall: fires when the lock is not had for a moment, and for a long time
 * @stalls: it fired for the first time
 * @pinned: the module is held since
 */
struct gf_rescan {
	struct delayed_work stall;
	bool stalls;
	bool pinned;
};

void gf_rescan_lock(struct gf_rescan *rescan);
void gf_rescan_unlock(struct gf_rescan *rescan);

#endif /* GPUFABRIC_RESCAN_H */
