// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: snapshots
 *
 * Dumps of switches, slots and compositions into one struct gf_fabric. Each
 * object remembers the sequence number of the reply that it came with.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/nl.h"
#include "lib/nl_private.h"
#include "lib/text.h"

static void take_slot(struct gf_message *message, void *arg)
{
	struct gf_fabric *fabric = arg;

	if (message->has.slot)
		fabric->slots = object_push(&gf_slot_object, fabric->slots, &fabric->n_slots,
					    &message->slot);
}

static void take_switch(struct gf_message *message, void *arg)
{
	struct gf_fabric *fabric = arg;

	if (message->has.sw)
		fabric->switches = object_push(&gf_switch_object, fabric->switches,
					       &fabric->n_switches, &message->sw);
}

static void take_composition(struct gf_message *message, void *arg)
{
	struct gf_fabric *fabric = arg;

	if (message->has.composition)
		fabric->compositions = object_push(&gf_composition_object, fabric->compositions,
						   &fabric->n_compositions, &message->composition);
}

static void drop_slots(void *arg)
{
	struct gf_fabric *fabric = arg;

	object_drop(&gf_slot_object, fabric->slots, &fabric->n_slots);
}

static void drop_switches(void *arg)
{
	struct gf_fabric *fabric = arg;

	object_drop(&gf_switch_object, fabric->switches, &fabric->n_switches);
}

static void drop_compositions(void *arg)
{
	struct gf_fabric *fabric = arg;

	object_drop(&gf_composition_object, fabric->compositions, &fabric->n_compositions);
}

int gfc_slots(struct gfc *client, struct gf_fabric *fabric)
{
	size_t i;
	int ret;

	ret = gfc_dump(client, gfc_message(client, GPUFABRIC_CMD_SLOT_GET), take_slot, drop_slots,
		       fabric);
	for (i = 0; i < fabric->n_slots; i++)
		gfc_remember_name(client, &fabric->slots[i]);
	gf_fabric_sort(fabric);
	return ret;
}

int gfc_fabric(struct gfc *client, struct gf_fabric *fabric)
{
	int ret;

	memset(fabric, 0, sizeof(*fabric));
	ret = gfc_dump(client, gfc_message(client, GPUFABRIC_CMD_SWITCH_GET), take_switch,
		       drop_switches, fabric);
	if (!ret)
		ret = gfc_dump(client, gfc_message(client, GPUFABRIC_CMD_COMPOSITION_GET),
			       take_composition, drop_compositions, fabric);
	if (!ret)
		ret = gfc_slots(client, fabric);
	if (ret)
		gf_fabric_free(fabric);
	return ret;
}

static void take_status(struct gf_message *message, void *arg)
{
	struct gf_status *status = arg;

	gf_status_free(status);
	*status = message->status;
	memset(&message->status, 0, sizeof(message->status));
}

int gfc_status(struct gfc *client, struct gf_status *status)
{
	memset(status, 0, sizeof(*status));
	return gfc_request(client, gfc_message(client, GPUFABRIC_CMD_STATUS_GET), take_status,
			   status);
}

static void take_histogram(struct gf_message *message, void *arg)
{
	struct gf_histograms *histograms = arg;

	if (message->has.stats)
		histograms->items = object_push(&gf_stats_object, histograms->items, &histograms->n,
						&message->stats);
}

static void drop_histograms(void *arg)
{
	gf_histograms_free(arg);
}

int gfc_histograms(struct gfc *client, struct gf_histograms *histograms)
{
	memset(histograms, 0, sizeof(*histograms));
	return gfc_dump(client, gfc_message(client, GPUFABRIC_CMD_STATS_GET), take_histogram,
			drop_histograms, histograms);
}
