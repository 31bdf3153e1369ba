// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: snapshots
 *
 * Dumps of switches, slots and compositions into one struct gf_fabric. Each
 * object remembers the sequence number of the reply that it came with.
 */
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/netlink_gen.h"
#include "lib/nl.h"
#include "lib/nl_private.h"
#include "lib/text.h"

static uint64_t sequence_of(struct nlattr **attrs)
{
	return attrs[GPUFABRIC_A_SEQUENCE] ? nla_get_u64(attrs[GPUFABRIC_A_SEQUENCE]) : 0;
}

static int take_slot(struct nlattr **attrs, void *arg)
{
	struct gf_fabric *fabric = arg;
	struct gf_slot *slot;

	if (!attrs[GPUFABRIC_A_SLOT])
		return 0;
	fabric->slots = mem_push(fabric->slots, fabric->n_slots, sizeof(*slot));
	slot = &fabric->slots[fabric->n_slots++];
	memset(slot, 0, sizeof(*slot));
	slot->sequence = sequence_of(attrs);
	return gf_parse_slot(attrs[GPUFABRIC_A_SLOT], slot);
}

static int take_switch(struct nlattr **attrs, void *arg)
{
	struct gf_fabric *fabric = arg;
	struct gf_switch *sw;

	if (!attrs[GPUFABRIC_A_SWITCH])
		return 0;
	fabric->switches = mem_grow(fabric->switches, fabric->n_switches + 1, sizeof(*sw));
	sw = &fabric->switches[fabric->n_switches++];
	memset(sw, 0, sizeof(*sw));
	sw->sequence = sequence_of(attrs);
	return gf_parse_switch(attrs[GPUFABRIC_A_SWITCH], sw);
}

static int take_composition(struct nlattr **attrs, void *arg)
{
	struct gf_fabric *fabric = arg;
	struct gf_composition *composition;

	if (!attrs[GPUFABRIC_A_COMPOSITION])
		return 0;
	fabric->compositions =
		mem_grow(fabric->compositions, fabric->n_compositions + 1, sizeof(*composition));
	composition = &fabric->compositions[fabric->n_compositions++];
	memset(composition, 0, sizeof(*composition));
	composition->sequence = sequence_of(attrs);
	return gf_parse_composition(attrs[GPUFABRIC_A_COMPOSITION], composition);
}

static void drop_slots(void *arg)
{
	struct gf_fabric *fabric = arg;
	size_t i;

	for (i = 0; i < fabric->n_slots; i++)
		gf_slot_free(&fabric->slots[i]);
	fabric->n_slots = 0;
}

static void drop_switches(void *arg)
{
	struct gf_fabric *fabric = arg;
	size_t i;

	for (i = 0; i < fabric->n_switches; i++)
		gf_switch_free(&fabric->switches[i]);
	fabric->n_switches = 0;
}

static void drop_compositions(void *arg)
{
	struct gf_fabric *fabric = arg;
	size_t i;

	for (i = 0; i < fabric->n_compositions; i++)
		gf_composition_free(&fabric->compositions[i]);
	fabric->n_compositions = 0;
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

static int take_status(struct nlattr **attrs, void *arg)
{
	struct gf_status *status = arg;

	status->sequence = sequence_of(attrs);
	return attrs[GPUFABRIC_A_STATUS] ? gf_parse_status(attrs[GPUFABRIC_A_STATUS], status) : 0;
}

int gfc_status(struct gfc *client, struct gf_status *status)
{
	memset(status, 0, sizeof(*status));
	return gfc_request(client, gfc_message(client, GPUFABRIC_CMD_STATUS_GET), take_status,
			   status);
}

static int take_histogram(struct nlattr **attrs, void *arg)
{
	struct gf_histograms *histograms = arg;
	struct gf_stats *stats;

	if (!attrs[GPUFABRIC_A_STATS])
		return 0;
	histograms->items = mem_grow(histograms->items, histograms->n + 1, sizeof(*stats));
	stats = &histograms->items[histograms->n++];
	memset(stats, 0, sizeof(*stats));
	return gf_parse_stats(attrs[GPUFABRIC_A_STATS], stats);
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
