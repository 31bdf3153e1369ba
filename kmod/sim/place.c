// SPDX-License-Identifier: GPL-2.0-only
/*
 * Places for switches that come and go while the simulator runs.
 */

/**
 * DOC: places
 *
 * Besides the switches of the parameters there are places for some more, and
 * the same number of domains. A switch in one of these places has its own
 * domain, so that it needs neither bus numbers nor windows of others, unless
 * it is told to share one. A domain exists as long as one of its switches
 * does.
 *
 * Removing a switch is like pulling it out: first it stops answering, then
 * its slots and devices go. In mode=own the slots are deregistered, in
 * mode=pciehp the kernel's driver is unbound from the ports first; see
 * sim_domain_remove().
 *
 * All of this happens under &sim.lock.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "sim.h"

/* Addresses of each domain; enough for all of its buses and any window. */
#define DOMAIN_BYTES	BIT_ULL(51)

/* Those of the parameters' switches come before. */
static u64 first_address(unsigned int host)
{
	u64 bytes = (u64)sim.window_gib << 30;
	u64 end = SIM_HIGH_BASE + sim.switches * sim.slots * bytes;

	return round_up(end, DOMAIN_BYTES) + host * DOMAIN_BYTES;
}

/* The domain that switches with this number share; it may have none yet. */
static struct sim_domain *domain_at(unsigned int host)
{
	unsigned int index = sim.domains + host;

	lockdep_assert_held(&sim.lock);

	if (!sim.dom[index] && sim_domain_alloc(index))
		return NULL;
	return sim.dom[index];
}

static int prepare(unsigned int place)
{
	unsigned int index = sim.switches + place;

	lockdep_assert_held(&sim.lock);

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
		/* It is made when it is used for the first time. */
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
	pr_err("switch %u: mode=pciehp has fewer slot numbers\n",
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
	struct sim_domain *domain = sw->domain;

	sim_fault_remove(sw);
	sim_switch_close(sw);
	pull(sw);
	sim_own_unregister(sw);
	sim_domain_unplug(sw);
	if (sim_domain_empty(domain))
		sim_domain_remove(domain);
	sw->nr_slots = 0;
	sw->live = false;
}

/* Bus numbers that are preset and others do not go together. */
static bool agree(const struct sim_domain *domain, bool firmware)
{
	unsigned int i;

	for (i = 0; i < SIM_DOMAIN_SWITCHES; i++)
		if (domain->sw[i] && domain->sw[i]->firmware != firmware)
			return false;
	return true;
}

/* Finds room for a switch, in a domain that is made if it has to be. */
static int find_room(struct sim_switch *sw, unsigned int host)
{
	struct sim_domain *domain = domain_at(host);
	int ret;

	if (!domain)
		return -ENOMEM;
	if (!domain->bus) {
		sim_domain_reset(domain, SIM_MAX_SLOTS, first_address(host),
				 DOMAIN_BYTES);
		ret = sim_domain_add(domain);
		if (ret)
			return ret;
	}
	ret = agree(domain, sw->firmware) ? sim_domain_place(domain, sw) :
					    -EXDEV;
	if (ret && sim_domain_empty(domain))
		sim_domain_remove(domain);
	return ret;
}

/**
 * sim_place_enable() - put a switch onto a bus
 * @sw: the switch
 * @plan: what it is like
 * @cards: what is in its slots
 *
 * Return: 0; -ENOSPC if its domain has no room for it, -EXDEV if it does not go
 * together with the switches there; or another error.
 */
int sim_place_enable(struct sim_switch *sw, const struct sim_plan *plan,
		     const struct sim_card_spec *cards)
{
	int ret;

	lockdep_assert_held(&sim.lock);

	if (sw->live)
		return 0;
	sw->firmware = plan->firmware;
	sw->window = (u64)plan->window_gib << 30;
	ret = check_numbers(sw, plan->nr_slots);
	if (!ret)
		ret = sim_switch_reset(sw, cards, plan->nr_slots);
	if (!ret)
		ret = find_room(sw, plan->host);
	if (ret) {
		sw->nr_slots = 0;
		return ret;
	}
	sw->live = true;
	ret = sim_domain_plug(sw);
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
