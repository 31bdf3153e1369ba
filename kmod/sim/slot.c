// SPDX-License-Identifier: GPL-2.0-only
/*
 * A slot and the card in it.
 */

/**
 * DOC: slot
 *
 * A slot is a downstream port below which a card can be. A card exists while
 * it is in the slot and after it was pulled out, until another one takes its
 * place: so the same card, with the same serial number, can be put back.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "sim.h"

#include <linux/slab.h>

#define LNKSTA	(SIM_EXP_CAP + PCI_EXP_LNKSTA)

/* The lower speed and the lower width, where there is a limit. */
static struct sim_link slot_link(struct sim_port *port)
{
	const struct sim_slot *slot = sim_slot_of(port);
	struct sim_link link = { 0, 0 };

	if (slot->card.model)
		link = slot->card.model->link;
	if (slot->limit.speed)
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

static void slot_status(struct sim_port *port, u16 status)
{
	struct sim_card *card = &sim_slot_of(port)->card;
	int i;

	lockdep_assert_held(&port->lock);

	for (i = 0; i < SIM_FUNCTIONS; i++)
		sim_set16(&card->fn[i], LNKSTA, status);
}

static void slot_event(struct sim_port *port)
{
	sim_own_event(sim_slot_of(port));
}

const struct sim_port_ops sim_slot_ops = {
	.link = slot_link,
	.reset = slot_reset,
	.status = slot_status,
	.event = slot_event,
};

/**
 * sim_slot_fill() - say what card is in a slot, or will be put into it
 * @slot: the slot, empty or without power; the caller holds its port's lock
 * @model: the GPU
 * @audio: it has an audio function
 *
 * The card gets a serial number that no other card of this load has, and that
 * the same slot and model get again at the next.
 */
void sim_slot_fill(struct sim_slot *slot, const struct sim_model *model,
		   bool audio)
{
	lockdep_assert_held(&slot->port.lock);

	slot->card.model = model;
	slot->card.audio = audio;
	slot->card.serial = (u64)SIM_VENDOR_ID << 48 |
			    (u64)(model->device & 0xff) << 40 |
			    (u64)slot->inserts << 32 |
			    (u64)slot->sw->index << 16 | slot->number;
	slot->inserts++;
	sim_config_card(slot);
}

/**
 * sim_slot_psn() - the physical slot number of a slot
 * @slot: the slot
 *
 * Return: the number, counting in hundreds for each switch if it can.
 */
unsigned int sim_slot_psn(const struct sim_slot *slot)
{
	if (sim.slots <= 100)
		return (slot->sw->index + 1) * 100 + slot->number;
	return slot->sw->index * sim.slots + slot->number + 1;
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
 * @sw: its switch, which frees it also after an error
 * @number: its place in the switch
 * @spec: what is in it
 *
 * Return: 0 or an error.
 */
int sim_slot_alloc(struct sim_switch *sw, unsigned int number,
		   const struct sim_card_spec *spec)
{
	struct sim_slot *slot = kzalloc(sizeof(*slot), GFP_KERNEL);
	struct sim_port *port;

	if (!slot)
		return -ENOMEM;
	slot->sw = sw;
	slot->number = number;
	name_slot(slot);
	sim_own_init(slot);
	port = &slot->port;
	sim_port_init(port, &sim_slot_ops);
	port->controlled = sim.mode == SIM_MODE_PCIEHP;
	sw->slots[number] = slot;

	raw_spin_lock_irq(&port->lock);
	sim_config_port(slot);
	if (spec->model) {
		sim_slot_fill(slot, spec->model, spec->audio);
		port->present = true;
		port->hidden = spec->off;
	}
	/* Without a controller an empty slot waits for its card with power. */
	sim_port_start(port, !spec->off &&
		       (spec->model || sim.mode == SIM_MODE_BARE));
	raw_spin_unlock_irq(&port->lock);

	return sim.mode == SIM_MODE_PCIEHP ? sim_port_irq_init(port) : 0;
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
