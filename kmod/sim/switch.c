// SPDX-License-Identifier: GPL-2.0-only
/*
 * A switch: its root port, its upstream port and its slots.
 */

/**
 * DOC: switch
 *
 * A switch is to its root port what a card is to a slot: it can go away and
 * come back, with everything behind it. Then the ports lose the settings of
 * software and the slots lose power; the bridges of a switch that comes are
 * preset again, as firmware in the switch would do it. A switch that stays,
 * and lost its link or was reset, has bridges without bus numbers and
 * windows.
 *
 * The bus numbers and windows of a bridge are those that firmware assigns if
 * there is a card in each slot.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "sim.h"

#include <linux/slab.h>

#define LNKSTA	(SIM_EXP_CAP + PCI_EXP_LNKSTA)

static u64 slot_window(const struct sim_slot *slot)
{
	if (slot->window_mib == SIM_NO_WINDOW)
		return 0;
	return slot->window_mib ? (u64)slot->window_mib << 20 :
				  slot->sw->window;
}

/**
 * sim_switch_window() - the prefetchable window of a switch
 * @sw: the switch
 *
 * Return: its size in bytes.
 */
u64 sim_switch_window(const struct sim_switch *sw)
{
	if (sw->window_mib)
		return (u64)sw->window_mib << 20;
	return sw->nr_slots * sw->window;
}

/* One slot's window after the other, as far as that of the switch goes. */
static void place_windows(struct sim_switch *sw)
{
	u64 at = 0;
	unsigned int i;

	for (i = 0; i < sw->nr_slots; i++) {
		struct sim_slot *slot = sw->slots[i];
		u64 bytes = slot_window(slot);

		slot->window_bytes = 0;
		if (!bytes)
			continue;
		slot->window_at = round_up(at, bytes & -bytes);
		if (slot->window_at + bytes > sim_switch_window(sw))
			continue;
		slot->window_bytes = bytes;
		at = slot->window_at + bytes;
	}
}

/* What a bridge above the slots forwards. */
static void preset_windows(struct sim_switch *sw, struct sim_fn *fn)
{
	sim_config_windows(fn, sw->range[SIM_LOW].start,
			   sw->nr_slots * SIM_LOW_BYTES,
			   sw->range[SIM_HIGH].start, sim_switch_window(sw));
}

static unsigned int upstream_bus(const struct sim_switch *sw)
{
	return sw->range[SIM_BUSES].start;
}

/* Bus numbers of the slots before one. */
static unsigned int buses_before(const struct sim_switch *sw,
				 unsigned int number)
{
	unsigned int i, buses = 0;

	for (i = 0; i < number; i++)
		buses += sw->slots[i]->buses;
	return buses;
}

/**
 * sim_switch_buses() - how many bus numbers a switch is preset with
 * @sw: the switch
 *
 * Return: those of its slots, one for its ports and one for itself.
 */
unsigned int sim_switch_buses(const struct sim_switch *sw)
{
	return 2 + buses_before(sw, sw->nr_slots);
}

static unsigned int last_bus(const struct sim_switch *sw)
{
	return upstream_bus(sw) + sim_switch_buses(sw) - 1;
}

static void preset_upstream(struct sim_switch *sw)
{
	unsigned int bus = upstream_bus(sw);

	if (!sw->firmware || !sw->domain)
		return;
	sim_config_buses(&sw->upstream, bus, bus + 1, last_bus(sw));
	preset_windows(sw, &sw->upstream);
}

static void preset_slot(struct sim_slot *slot)
{
	struct sim_switch *sw = slot->sw;
	unsigned int inner = upstream_bus(sw) + 1;
	unsigned int bus = inner + 1 + buses_before(sw, slot->number);

	if (!sw->firmware || !sw->domain)
		return;
	sim_config_buses(&slot->port.fn, inner, bus, bus + slot->buses - 1);
	sim_config_windows(&slot->port.fn, sw->range[SIM_LOW].start +
			   slot->number * SIM_LOW_BYTES, SIM_LOW_BYTES,
			   sw->range[SIM_HIGH].start + slot->window_at,
			   slot->window_bytes);
}

/* A card that the host finds powered. What its switch needs is left to the kernel. */
static void preset_card(struct sim_slot *slot)
{
	const struct sim_model *model = slot->card.model;
	u64 base = slot->sw->range[SIM_HIGH].start + slot->window_at;

	if (slot->port.link_up && !slot->card.ports && IS_ALIGNED(base, model->bar_bytes) &&
	    sim_config_bytes(slot) <= slot->window_bytes)
		sim_config_bars(slot, base);
}

/**
 * sim_switch_preset() - set up a switch as firmware does
 * @sw: the switch, with its domain; nothing can address it yet
 */
void sim_switch_preset(struct sim_switch *sw)
{
	unsigned int i;

	if (!sw->firmware)
		return;
	sim_config_buses(&sw->root.fn, 0, upstream_bus(sw), last_bus(sw));
	place_windows(sw);
	preset_windows(sw, &sw->root.fn);
	preset_upstream(sw);
	for (i = 0; i < sw->nr_slots; i++) {
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
	struct sim_slot *slot;
	unsigned int i;
	bool preset;

	lockdep_assert_held(&port->lock);

	/* Another one, or the same again, when it is there at all. */
	preset = cold || !port->present;
	sim_config_upstream(&sw->upstream);
	if (preset)
		preset_upstream(sw);
	for (i = 0; (slot = sim_slot_at(sw, i)); i++) {
		raw_spin_lock_nested(&slot->port.lock, SINGLE_DEPTH_NESTING);
		sim_config_port(slot);
		if (preset)
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

static void place_numbers(struct sim_switch *sw)
{
	bool added = sw->index >= sim.switches;
	unsigned int before = added ? sw->index - sim.switches : sw->index;

	sw->max_slots = added ? SIM_ADDED_SLOTS : sim.slots;
	sw->minor = before * sw->max_slots;
	if (added)
		sw->minor += sim.switches * sim.slots;
	/* In hundreds for each switch if that is possible. */
	sw->psn = sim.slots <= 100 ? (sw->index + 1) * 100 : sw->minor + 1;
}

/**
 * sim_switch_alloc() - make a switch without slots
 * @index: its number
 *
 * Return: 0 or an error.
 */
int sim_switch_alloc(unsigned int index)
{
	struct sim_switch *sw = kzalloc(sizeof(*sw), GFP_KERNEL);

	if (!sw)
		return -ENOMEM;
	sw->index = index;
	sw->firmware = sim.firmware;
	sw->window = (u64)sim.window_gib << 30;
	place_numbers(sw);
	sim_port_init(&sw->root, &switch_port_ops);
	sw->root.controlled = sim.uplink;
	sw->root.bare = sim.mode == SIM_MODE_BARE;
	sw->slots = kcalloc(sw->max_slots, sizeof(*sw->slots), GFP_KERNEL);
	if (!sw->slots) {
		kfree(sw);
		return -ENOMEM;
	}
	/* Whoever finds it finds it complete. */
	smp_store_release(&sim.sw[index], sw);
	return 0;
}

static void reset_root(struct sim_switch *sw)
{
	struct sim_port *root = &sw->root;

	sim_port_stop(root);
	raw_spin_lock_irq(&root->lock);
	sim_port_reset(root);
	sim_config_root(sw);
	root->present = true;
	sim_port_start(root, true);
	raw_spin_unlock_irq(&root->lock);
}

/**
 * sim_switch_reset() - set a switch up anew, with what is in its slots
 * @sw: the switch; it is on no bus
 * @specs: what is in its slots
 * @nr_slots: how many it is to have
 *
 * Return: 0 or an error.
 */
int sim_switch_reset(struct sim_switch *sw, const struct sim_card_spec *specs,
		     unsigned int nr_slots)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < nr_slots && !ret; i++)
		if (!sw->slots[i])
			ret = sim_slot_alloc(sw, i);
	if (!ret && sim.uplink && !sw->root.irq)
		ret = sim_port_irq_init(&sw->root);
	if (ret)
		return ret;
	sw->nr_slots = nr_slots;
	reset_root(sw);
	for (i = 0; i < nr_slots; i++)
		sim_slot_reset(sw->slots[i], &specs[i]);
	atomic_set(&sw->closing, 0);
	return 0;
}

/**
 * sim_switch_close() - let go of what waits in a switch that will be removed
 * @sw: the switch; its files in debugfs are gone
 *
 * Operations that wait for a link give up, removals that are held go on, and
 * what happens to its slots from now on is no event.
 */
void sim_switch_close(struct sim_switch *sw)
{
	struct sim_slot *slot;
	unsigned int i;

	atomic_set(&sw->closing, 1);
	for (i = 0; (slot = sim_slot_at(sw, i)); i++)
		swake_up_one(&slot->port.wait);
	sim_driver_forget(sw);
}

/**
 * sim_switch_sleep() - a switch, its root port and its cards lose their power
 * @sw: the switch, on a bus
 *
 * Its slots remember who had some.
 */
void sim_switch_sleep(struct sim_switch *sw)
{
	struct sim_slot *slot;
	unsigned int i;

	raw_spin_lock_irq(&sw->root.lock);
	for (i = 0; (slot = sim_slot_at(sw, i)); i++)
		if (!slot->port.cold)
			slot->port.was_on = slot->port.power;
	sim_config_root(sw);
	sim_port_dark(&sw->root, true);
	raw_spin_unlock_irq(&sw->root.lock);
}

/**
 * sim_switch_wake() - they have it again, and their links train
 * @sw: the switch
 */
void sim_switch_wake(struct sim_switch *sw)
{
	struct sim_slot *slot;
	unsigned int i;

	if (!READ_ONCE(sw->root.dark))
		return;
	raw_spin_lock_irq(&sw->root.lock);
	sim_port_dark(&sw->root, false);
	raw_spin_unlock_irq(&sw->root.lock);
	for (i = 0; (slot = sim_slot_at(sw, i)); i++) {
		raw_spin_lock_irq(&slot->port.lock);
		if (slot->port.was_on && !slot->port.cold)
			sim_port_power(&slot->port, true);
		raw_spin_unlock_irq(&slot->port.lock);
	}
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
	for (i = 0; i < sw->max_slots; i++)
		sim_slot_free(sw->slots[i]);
	kfree(sw->slots);
	kfree(sw);
}
