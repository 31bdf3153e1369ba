/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_BACKEND_H
#define GPUFABRIC_BACKEND_H

#include "slot.h"

/*
 * How slots of one sort are driven. None is called with the fabric's lock or the rescan lock
 * held. Each returns 0 or a negative errno; -ENODEV when the port or its driver is gone.
 */
struct gf_backend {
	enum gpufabric_backend id; /* as the protocol names it */
	/* Power the slot and enumerate what is in it; sleeps, up to a minute. */
	int (*attach)(struct gf_slot *slot);
	/*
	 * Remove the functions and power the slot off; sleeps, and may never return when a driver
	 * does not let go.
	 */
	int (*detach)(struct gf_slot *slot);
	/*
	 * Read presence and power; returns -EBUSY rather than wait, and -EOPNOTSUPP when the slot
	 * driver is not to be asked.
	 */
	int (*status)(struct gf_slot *slot, bool *present, bool *power);
	/* Make ready what may be looked at then; NULL when that is nothing. */
	void (*enter)(struct gf_slot *slot);
	/* Leave the port as others want to find it; NULL when that is nothing. */
	void (*leave)(struct gf_slot *slot);
};

extern const struct gf_backend gf_backend_slot;
extern const struct gf_backend gf_backend_rescan;

int gf_backend_slot_pin(struct gf_slot *slot);
bool gf_backend_slot_left(struct gf_slot *slot);
void gf_backend_slot_unpin(struct gf_slot *slot);

#endif /* GPUFABRIC_BACKEND_H */
