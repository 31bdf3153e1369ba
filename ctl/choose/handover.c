// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: handover
 *
 * The module says of each slot which composition has left something in the memory of its GPU.
 * What was composed without a tenant is nobody's, and so is a GPU that was on before the
 * module came: it may have been anybody's. Nobody's GPUs go to nobody as they are, so that a
 * host without tenants never waits for a power-cycle, and to a tenant clean; those of a tenant
 * go to nobody clean, because whoever composes without a tenant would read that one's data.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "choose/handover.h"
#include "host/reset.h"
#include "module/annotation.h"

/* False when it is there and this gpuctl does not know what it says. */
static bool read_former(const struct gf_slot *slot, struct annotation *note)
{
	return annotation_read(slot->former_annotation, slot->n_former_annotation, note);
}

static bool is_own(const struct gf_slot *slot, const struct handover_to *to)
{
	struct annotation note;

	switch (slot->contents) {
	case GPUFABRIC_CONTENTS_POWER_CYCLED:
	case GPUFABRIC_CONTENTS_RESET:
		return true;
	case GPUFABRIC_CONTENTS_FORMER:
		return read_former(slot, &note) && !to->stranger &&
		       !strcmp(note.tenant, to->tenant ? to->tenant : "");
	default:
		return to->adopts || (!to->tenant && !to->stranger);
	}
}

enum handover handover_of(const struct tree *tree, const struct gf_slot *slot,
			  const struct handover_to *to)
{
	if (is_own(slot, to))
		return HANDOVER_AS_IS;
	if (slot->state == GF_STATE_OFF)
		return HANDOVER_ATTACH;
	/* What is neither off nor ready the module refuses. */
	if (slot->state != GF_STATE_READY)
		return HANDOVER_AS_IS;
	/* And not "no-control". */
	if (slot->condition.power == GPUFABRIC_POWER_ON)
		return HANDOVER_POWER_CYCLE;
	return reset_is_offered(tree, slot) ? HANDOVER_RESET : HANDOVER_NEVER;
}

char *handover_former_tenant(const struct gf_slot *slot)
{
	struct annotation note;

	return read_former(slot, &note) && *note.tenant ? mem_strdup(note.tenant) : NULL;
}

char *handover_former(const struct gf_slot *slot)
{
	char *tenant, *words;

	if (slot->contents != GPUFABRIC_CONTENTS_FORMER)
		return mem_strdup("an owner from before the module was loaded");
	tenant = handover_former_tenant(slot);
	words = tenant ? mem_printf("tenant %s (%s)", tenant, slot->former) :
			 mem_printf("composition %s", slot->former);
	free(tenant);
	return words;
}
