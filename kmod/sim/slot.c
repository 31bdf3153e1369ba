// SPDX-License-Identifier: GPL-2.0-only
/*
 * A slot and the card in it.
 */

/**
 * DOC: slot
 *
 * A slot is a downstream port that can have a card below it. A card exists
 * while it is in the slot and after it was pulled out, until another one
 * takes its place: so the same card, with the same serial number, can be
 * inserted again.
 *
 * The memory of a card outlives drivers, removals, and links that go down. It
 * is empty after the card had no power, and after a bus reset by its port.
 * Taking down the link of a port without a hot-plug controller is neither.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "sim.h"

#include <linux/slab.h>

/* The lower speed and the lower width, where there is a limit. */
static struct sim_link slot_link(struct sim_port *port)
{
	const struct sim_slot *slot = sim_slot_of(port);
	struct sim_link link = { 0, 0 };

	if (slot->card.model)
		link = slot->card.model->link;
	if (slot->limit.speed == SIM_SPEED_RESERVED)
		link.speed = SIM_SPEED_RESERVED;
	else if (slot->limit.speed)
		link.speed = min(link.speed, slot->limit.speed);
	if (slot->limit.width)
		link.width = min(link.width, slot->limit.width);
	return link;
}

static void slot_reset(struct sim_port *port, bool cold)
{
	struct sim_slot *slot = sim_slot_of(port);

	lockdep_assert_held(&port->lock);

	if (cold) {
		slot->card.bar_bytes = slot->bar_bytes;
		slot->bar_bytes = 0;
	}
	sim_config_card(slot);
}

static void slot_wipe(struct sim_port *port)
{
	struct sim_slot *slot = sim_slot_of(port);

	lockdep_assert_held(&port->lock);

	memset(slot->card.memory, 0, sizeof(slot->card.memory));
}

static void slot_status(struct sim_port *port, u16 status)
{
	lockdep_assert_held(&port->lock);

	sim_config_link(&sim_slot_of(port)->card, status);
}

static void slot_event(struct sim_port *port)
{
	sim_own_event(sim_slot_of(port));
}

const struct sim_port_ops sim_slot_ops = {
	.link = slot_link,
	.reset = slot_reset,
	.wipe = slot_wipe,
	.status = slot_status,
	.event = slot_event,
};

/**
 * sim_slot_fill() - say what card is in a slot, or will be put into it
 * @slot: the slot, empty or without power; the caller holds its port's lock
 * @spec: the card
 *
 * Unless it has a serial number, the card gets one that no other card of this
 * load has, and that the same slot and model get again at the next.
 */
void sim_slot_fill(struct sim_slot *slot, const struct sim_card_spec *spec)
{
	lockdep_assert_held(&slot->port.lock);

	slot->card.model = spec->model;
	slot->card.audio = spec->audio;
	slot->card.bridged = spec->bridge;
	slot->card.ports = spec->ports;
	slot->card.slotted = spec->slotted;
	slot->card.sriov = spec->sriov;
	slot->card.serial = spec->serial ?:
			    (u64)SIM_VENDOR_ID << 48 |
			    (u64)(spec->model->device & 0xff) << 40 |
			    (u64)slot->inserts << 32 |
			    (u64)slot->sw->index << 16 | slot->number;
	slot->inserts++;
	slot_wipe(&slot->port);
	sim_config_card(slot);
}

/**
 * sim_slot_insert() - put a card into an empty slot
 * @slot: the slot; the caller holds its port's lock
 * @spec: the card, NULL for the one that was there last
 *
 * Return: 0, -EBUSY if there is one, -ENODEV if there never was.
 */
int sim_slot_insert(struct sim_slot *slot, const struct sim_card_spec *spec)
{
	lockdep_assert_held(&slot->port.lock);

	if (slot->port.present)
		return -EBUSY;
	if (spec)
		sim_slot_fill(slot, spec);
	else if (!slot->card.model)
		return -ENODEV;
	sim_port_insert(&slot->port);
	return 0;
}

/**
 * sim_slot_of_minor() - the slot that a minor number belongs to
 * @minor: the number, from 0
 *
 * Return: the slot, NULL if it was never made.
 */
struct sim_slot *sim_slot_of_minor(unsigned int minor)
{
	unsigned int fixed = sim.switches * sim.slots;
	unsigned int index, number;
	struct sim_switch *sw;

	if (minor < fixed) {
		index = minor / sim.slots;
		number = minor % sim.slots;
	} else {
		index = sim.switches + (minor - fixed) / SIM_ADDED_SLOTS;
		number = (minor - fixed) % SIM_ADDED_SLOTS;
	}
	/* Pairs with sim_switch_alloc() and sim_slot_alloc(). */
	sw = smp_load_acquire(&sim.sw[index]);
	if (!sw)
		return NULL;
	/* So does this. */
	return smp_load_acquire(&sw->slots[number]);
}

/**
 * sim_slot_psn() - the physical slot number of a slot
 * @slot: the slot
 *
 * Return: the number.
 */
unsigned int sim_slot_psn(const struct sim_slot *slot)
{
	return slot->sw->psn + slot->number;
}

static void name_slot(struct sim_slot *slot)
{
	if (sim.mode == SIM_MODE_PCIEHP)
		snprintf(slot->name, sizeof(slot->name), "%u",
			 sim_slot_psn(slot));
	else
		snprintf(slot->name, sizeof(slot->name), "sim%u-%u",
			 slot->sw->index, slot->number);
}

/**
 * sim_slot_alloc() - make a slot
 * @sw: its switch, which frees it
 * @number: its place in the switch
 *
 * Return: 0 or an error, with nothing made.
 */
int sim_slot_alloc(struct sim_switch *sw, unsigned int number)
{
	struct sim_slot *slot = kzalloc(sizeof(*slot), GFP_KERNEL);
	int ret;

	if (!slot)
		return -ENOMEM;
	slot->sw = sw;
	slot->number = number;
	name_slot(slot);
	sim_own_init(slot);
	sim_port_init(&slot->port, &sim_slot_ops);
	ret = sim.mode == SIM_MODE_PCIEHP ? sim_port_irq_init(&slot->port) : 0;
	if (ret) {
		kfree(slot);
		return ret;
	}
	/* Whoever finds it finds it complete. */
	smp_store_release(&sw->slots[number], slot);
	return 0;
}

/**
 * sim_slot_reset() - set a slot up anew
 * @slot: the slot; its port is on no bus
 * @spec: what is in it
 *
 * Waits for an operation that somebody began before the port went.
 */
void sim_slot_reset(struct sim_slot *slot, const struct sim_card_spec *spec)
{
	struct sim_port *port = &slot->port;

	mutex_lock(&slot->op_mutex);
	sim_port_stop(port);
	raw_spin_lock_irq(&port->lock);
	sim_port_reset(port);
	port->bare = sim.mode == SIM_MODE_BARE || spec->nohp;
	port->unguarded = false;
	port->controlled = sim.mode == SIM_MODE_PCIEHP && !spec->nohp;
	memset(&slot->card, 0, sizeof(slot->card));
	slot->limit = (struct sim_link){ 0, 0 };
	slot->bar_bytes = 0;
	/* Its bus, two inside a switch of the card, and one for each GPU there. */
	slot->buses = max(sim.buses, spec->ports ? spec->ports + 2 : 1);
	slot->window_mib = spec->window_mib;
	slot->inserts = 0;
	sim_config_port(slot);
	if (spec->model) {
		sim_slot_fill(slot, spec);
		port->present = true;
		port->hidden = spec->off;
	}
	/* Without a controller an empty slot waits for its card with power. */
	sim_port_start(port, !spec->off &&
		       (spec->model || port->bare));
	raw_spin_unlock_irq(&port->lock);
	slot->error = 0;
	mutex_unlock(&slot->op_mutex);
}

/**
 * sim_slot_free() - free a slot
 * @slot: the slot, can be NULL
 */
void sim_slot_free(struct sim_slot *slot)
{
	if (!slot)
		return;
	sim_port_fini(&slot->port);
	kfree(slot);
}
