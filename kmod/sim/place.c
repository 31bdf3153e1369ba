// SPDX-License-Identifier: GPL-2.0-only
/*
 * Places for switches that come and go while the simulator runs.
 */

/**
 * DOC: places
 *
 * Beside the switches of the parameters there are places for some more. A
 * switch in one of them has a PCI domain of its own, so that it needs neither
 * bus numbers nor windows of anybody else.
 *
 * A switch is taken away as if it were pulled out: first it does not answer
 * any more, then its slots and devices go. In mode=own the slots are
 * deregistered, in mode=pciehp the kernel's driver is unbound from the ports
 * first; see sim_domain_remove().
 *
 * All of this happens under &sim.lock.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "sim.h"

static struct sim_domain *domain_at(const struct sim_switch *sw)
{
	return sim.dom[sim.domains + sw->index - sim.switches];
}

/* Makes what a place needs when it is used for the first time. */
static int prepare(unsigned int place)
{
	unsigned int index = sim.switches + place;
	unsigned int domain = sim.domains + place;

	lockdep_assert_held(&sim.lock);

	if (!sim.dom[domain]) {
		int ret = sim_domain_alloc(domain);

		if (ret)
			return ret;
	}
	return sim.sw[index] ? 0 : sim_switch_alloc(index);
}

/**
 * sim_place_take() - take a free place
 *
 * Return: the switch in it, on no bus and without slots; -ENOSPC if all places
 * are taken, or another error.
 */
struct sim_switch *sim_place_take(void)
{
	unsigned int i;

	lockdep_assert_held(&sim.lock);

	for (i = 0; i < SIM_ADDED_SWITCHES; i++) {
		struct sim_switch *sw = sim.sw[sim.switches + i];
		int ret;

		if (sw && sw->taken)
			continue;
		ret = prepare(i);
		if (ret)
			return ERR_PTR(ret);
		sw = sim.sw[sim.switches + i];
		sw->taken = true;
		return sw;
	}
	return ERR_PTR(-ENOSPC);
}

/**
 * sim_place_put() - give a place back
 * @sw: the switch in it; taken away if it is on a bus
 */
void sim_place_put(struct sim_switch *sw)
{
	lockdep_assert_held(&sim.lock);

	sim_place_disable(sw);
	sw->taken = false;
	sw->window_mib = 0;
}

/* The numbers of slots are a field of 13 bits in a register of their ports. */
static int check_numbers(const struct sim_switch *sw, unsigned int nr_slots)
{
	unsigned int limit = sim.uplink ? SIM_UPLINK_PSN - 1 : SIM_MAX_PSN;

	if (sim.mode != SIM_MODE_PCIEHP ||
	    (sw->psn + nr_slots - 1 <= limit &&
	     (!sim.uplink || SIM_UPLINK_PSN + sw->index <= SIM_MAX_PSN)))
		return 0;
	pr_err("switch %u: mode=pciehp has not so many slot numbers\n",
	       sw->index);
	return -ENOSPC;
}

/* The switch stops answering, with everything behind it. */
static void pull(struct sim_switch *sw)
{
	raw_spin_lock_irq(&sw->root.lock);
	if (sw->root.present)
		sim_port_remove(&sw->root);
	raw_spin_unlock_irq(&sw->root.lock);
}

static void take_away(struct sim_switch *sw)
{
	sim_fault_remove(sw);
	sim_switch_close(sw);
	pull(sw);
	sim_own_unregister(sw);
	sim_domain_remove(domain_at(sw));
	sw->domain = NULL;
	sw->nr_slots = 0;
	sw->live = false;
}

/**
 * sim_place_enable() - put a switch onto a bus
 * @sw: the switch
 * @specs: what is in its slots
 * @nr_slots: how many it has
 *
 * Return: 0 or an error.
 */
int sim_place_enable(struct sim_switch *sw, const struct sim_card_spec *specs,
		     unsigned int nr_slots)
{
	int ret;

	lockdep_assert_held(&sim.lock);

	if (sw->live)
		return 0;
	ret = check_numbers(sw, nr_slots);
	if (!ret)
		ret = sim_switch_reset(sw, specs, nr_slots);
	if (ret)
		return ret;
	sim_domain_reset(domain_at(sw), sw->index, 1);
	sw->live = true;
	ret = sim_domain_add(domain_at(sw));
	if (!ret && sim.mode == SIM_MODE_OWN)
		ret = sim_own_register(sw);
	if (ret) {
		take_away(sw);
		return ret;
	}
	sim_fault_add(sw);
	return 0;
}

/**
 * sim_place_disable() - take a switch away, whatever goes on in it
 * @sw: the switch
 */
void sim_place_disable(struct sim_switch *sw)
{
	lockdep_assert_held(&sim.lock);

	if (sw->live)
		take_away(sw);
}
