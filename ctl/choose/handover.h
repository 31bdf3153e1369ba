/* SPDX-License-Identifier: GPL-2.0-only */
/* A slot that goes from one tenant to another: what has to be done to its GPU before. */
#ifndef GPUCTL_HANDOVER_H
#define GPUCTL_HANDOVER_H

#include "base/tree.h"
#include "module/model.h"

enum handover {
	HANDOVER_AS_IS, /* nothing of others is in its memory */
	HANDOVER_POWER_CYCLE, /* it is attached, and can be powered off */
	HANDOVER_RESET, /* it is attached, and can be reset alone */
	HANDOVER_ATTACH, /* what can be done shows when it is attached */
	HANDOVER_NEVER, /* neither can be */
	HANDOVERS
};

/**
 * struct handover_to - who is to have the slot
 * @tenant: NULL for nobody's, which is a tenant of its own
 * @stranger: it is not known who: no slot is its own
 * @adopts: a GPU of which nobody knows who had it is its own
 */
struct handover_to {
	const char *tenant;
	bool stranger;
	bool adopts;
};

/* What has to be done to a slot that is off or ready. */
enum handover handover_of(const struct tree *tree, const struct gf_slot *slot,
			  const struct handover_to *to);

/* Whose data the GPU may hold, in words, as far as this reader may know; caller frees. */
char *handover_former(const struct gf_slot *slot);

/* The tenant in the former annotation; NULL when there is none or it is not known. Owned. */
char *handover_former_tenant(const struct gf_slot *slot);

#endif /* GPUCTL_HANDOVER_H */
