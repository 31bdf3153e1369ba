// SPDX-License-Identifier: GPL-2.0-only
/*
 * A switch: its root port, its upstream port and its slots.
 */

/**
 * DOC: switch
 *
 * To its root port a switch is what a card is to a slot: it can go away and
 * come back, with everything behind it. When it does, the ports forget what
 * software had set and the slots lose power; the bridges are preset anew, as
 * firmware in the switch would do it.
 *
 * The bus numbers and windows of a bridge are those that firmware gives it if
 * there is a card in each slot.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "sim.h"

#include <linux/slab.h>

#define LNKSTA	(SIM_EXP_CAP + PCI_EXP_LNKSTA)

static u64 high_bytes(void)
{
	return (u64)sim.window_gib << 30;
}

/* The part of some slots' windows that a bridge forwards. */
static void preset_windows(struct sim_fn *fn, const struct sim_domain *domain,
			   unsigned int first, unsigned int count)
{
	sim_config_windows(fn, domain->low.start + first * SIM_LOW_BYTES,
			   count * SIM_LOW_BYTES,
			   domain->high.start + first * high_bytes(),
			   count * high_bytes());
}

static unsigned int upstream_bus(const struct sim_switch *sw)
{
	return 1 + sw->place * (sim.slots + 2);
}

static unsigned int last_bus(const struct sim_switch *sw)
{
	return upstream_bus(sw) + 1 + sim.slots;
}

static void preset_upstream(struct sim_switch *sw)
{
	unsigned int bus = upstream_bus(sw);

	if (!sim.firmware || !sw->domain)
		return;
	sim_config_buses(&sw->upstream, bus, bus + 1, last_bus(sw));
	preset_windows(&sw->upstream, sw->domain, sw->place * sim.slots,
		       sim.slots);
}

static void preset_slot(struct sim_slot *slot)
{
	struct sim_switch *sw = slot->sw;
	unsigned int inner = upstream_bus(sw) + 1;
	unsigned int bus = inner + 1 + slot->number;

	if (!sim.firmware || !sw->domain)
		return;
	sim_config_buses(&slot->port.fn, inner, bus, bus);
	preset_windows(&slot->port.fn, sw->domain,
		       sw->place * sim.slots + slot->number, 1);
}

/* A card that the host finds powered. */
static void preset_card(struct sim_slot *slot)
{
	const struct sim_model *model = slot->card.model;
	struct sim_switch *sw = slot->sw;
	unsigned int place = sw->place * sim.slots + slot->number;

	if (slot->port.link_up &&
	    model->bar_bytes + model->aux_bytes <= high_bytes())
		sim_config_bars(slot, sw->domain->high.start +
				place * high_bytes());
}

/**
 * sim_switch_preset() - set up a switch as firmware does
 * @sw: the switch, with its domain; nothing can address it yet
 */
void sim_switch_preset(struct sim_switch *sw)
{
	unsigned int i;

	if (!sim.firmware)
		return;
	sim_config_buses(&sw->root.fn, 0, upstream_bus(sw), last_bus(sw));
	preset_windows(&sw->root.fn, sw->domain, sw->place * sim.slots,
		       sim.slots);
	preset_upstream(sw);
	for (i = 0; i < sim.slots; i++) {
		preset_slot(sw->slots[i]);
		preset_card(sw->slots[i]);
	}
}

static struct sim_link switch_link(struct sim_port *port)
{
	return (struct sim_link){ 5, 16 };
}

static void switch_reset(struct sim_port *port, bool cold)
{
	struct sim_switch *sw = sim_switch_of(port);
	unsigned int i;

	lockdep_assert_held(&port->lock);

	sim_config_upstream(&sw->upstream);
	preset_upstream(sw);
	for (i = 0; sw->slots && i < sim.slots; i++) {
		struct sim_slot *slot = sw->slots[i];

		if (!slot)
			continue;
		raw_spin_lock_nested(&slot->port.lock, SINGLE_DEPTH_NESTING);
		sim_config_port(slot);
		preset_slot(slot);
		sim_port_cut(&slot->port);
		raw_spin_unlock(&slot->port.lock);
	}
}

static void switch_status(struct sim_port *port, u16 status)
{
	lockdep_assert_held(&port->lock);

	sim_set16(&sim_switch_of(port)->upstream, LNKSTA, status);
}

static const struct sim_port_ops switch_port_ops = {
	.link = switch_link,
	.reset = switch_reset,
	.status = switch_status,
};

static int alloc_slots(struct sim_switch *sw, const struct sim_card_spec *specs)
{
	unsigned int i;
	int ret = 0;

	sw->slots = kcalloc(sim.slots, sizeof(*sw->slots), GFP_KERNEL);
	if (!sw->slots)
		return -ENOMEM;
	for (i = 0; i < sim.slots && !ret; i++)
		ret = sim_slot_alloc(sw, i, &specs[i]);
	return ret;
}

/**
 * sim_switch_alloc() - make a switch with its slots
 * @index: its number
 * @specs: what is in its slots
 *
 * After an error, sim_switch_free() frees what there is.
 *
 * Return: 0 or an error.
 */
int sim_switch_alloc(unsigned int index, const struct sim_card_spec *specs)
{
	struct sim_switch *sw = kzalloc(sizeof(*sw), GFP_KERNEL);
	struct sim_port *root;
	int ret;

	if (!sw)
		return -ENOMEM;
	sim.sw[index] = sw;
	sw->index = index;
	root = &sw->root;
	sim_port_init(root, &switch_port_ops);
	root->controlled = sim.uplink;

	/* The slots come later: this one reset must not reach them. */
	raw_spin_lock_irq(&root->lock);
	sim_config_root(sw);
	root->present = true;
	sim_port_start(root, true);
	raw_spin_unlock_irq(&root->lock);

	ret = alloc_slots(sw, specs);
	if (!ret && sim.uplink)
		ret = sim_port_irq_init(root);
	return ret;
}

/**
 * sim_switch_free() - free a switch with its slots
 * @sw: the switch, can be NULL
 */
void sim_switch_free(struct sim_switch *sw)
{
	unsigned int i;

	if (!sw)
		return;
	sim_port_fini(&sw->root);
	for (i = 0; sw->slots && i < sim.slots; i++)
		sim_slot_free(sw->slots[i]);
	kfree(sw->slots);
	kfree(sw);
}
