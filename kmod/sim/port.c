// SPDX-License-Identifier: GPL-2.0-only
/*
 * A port: slot status, power controller, link and interrupt.
 */

/**
 * DOC: port
 *
 * Downstream ports and root ports are the same kind of thing: below one there
 * is a card, below the other a switch.
 *
 * A port behaves as the PCI Express specification says: presence and link
 * changes set bits in Slot Status that software clears by writing ones, an
 * interrupt is raised while an enabled one of them is set, and the link
 * trains some time after power is applied to what is present, unless the link
 * is disabled. Losing any of these takes the link down at once and resets what
 * is below: a link that is lost is a hot reset, however short. So does a
 * secondary bus reset, after which the link trains anew. What is below forgets
 * all that was written to it, and whoever wants it back has to have saved it.
 *
 * When the link is up the card still takes a while until it answers. It can
 * also stop answering with its link up; it keeps its registers then.
 *
 * In mode=pciehp the power controller is the bit in Slot Control. In mode=own
 * there is none that software can see; the slot driver calls sim_port_power().
 * In mode=bare, and at ports without a hot-plug controller in the other modes,
 * disabling the link takes its place.
 *
 * Interrupts are software: irq_work calls the handler in hard interrupt
 * context. The descriptor is allocated without an owner, because the owner of
 * a descriptor is pinned by whoever requests the interrupt: the module could
 * never be unloaded.
 *
 * A fault is armed for the next operation. It becomes active when power is
 * applied and is over when power is removed.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "sim.h"

#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>

#define SLTCAP	(SIM_EXP_CAP + PCI_EXP_SLTCAP)
#define SLTCTL	(SIM_EXP_CAP + PCI_EXP_SLTCTL)
#define SLTSTA	(SIM_EXP_CAP + PCI_EXP_SLTSTA)
#define LNKCTL	(SIM_EXP_CAP + PCI_EXP_LNKCTL)
#define LNKSTA	(SIM_EXP_CAP + PCI_EXP_LNKSTA)

/* Cleared by writing ones. */
#define SLTSTA_EVENTS	(PCI_EXP_SLTSTA_ABP | PCI_EXP_SLTSTA_PFD | \
			 PCI_EXP_SLTSTA_MRLSC | PCI_EXP_SLTSTA_PDC | \
			 PCI_EXP_SLTSTA_DLLSC)

/* Raises the interrupt if an enabled event is pending. */
static void port_interrupt(struct sim_port *port)
{
	u16 control = sim_get16(&port->fn, SLTCTL);
	u16 status = sim_get16(&port->fn, SLTSTA);
	u16 enabled = 0;

	lockdep_assert_held(&port->lock);

	if (!port->irq)
		return;
	if (!(control & PCI_EXP_SLTCTL_HPIE))
		status = 0;
	if (control & PCI_EXP_SLTCTL_ABPE)
		enabled |= PCI_EXP_SLTSTA_ABP;
	if (control & PCI_EXP_SLTCTL_PDCE)
		enabled |= PCI_EXP_SLTSTA_PDC;
	if (control & PCI_EXP_SLTCTL_DLLSCE)
		enabled |= PCI_EXP_SLTSTA_DLLSC;
	if (control & PCI_EXP_SLTCTL_PFDE)
		enabled |= PCI_EXP_SLTSTA_PFD;
	if (status & enabled || sim_dpc_interrupts(&port->fn))
		irq_work_queue(&port->irq_work);
}

static void port_event(struct sim_port *port, u16 event)
{
	lockdep_assert_held(&port->lock);

	sim_set16(&port->fn, SLTSTA, sim_get16(&port->fn, SLTSTA) | event);
	port_interrupt(port);
	if (port->ops->event)
		port->ops->event(port);
	swake_up_one(&port->wait);
}

/* Shows in Slot Status whether something is there. */
static void port_presence(struct sim_port *port)
{
	u16 status = sim_get16(&port->fn, SLTSTA) & ~PCI_EXP_SLTSTA_PDS;

	lockdep_assert_held(&port->lock);

	if (port->present && !port->hidden)
		status |= PCI_EXP_SLTSTA_PDS;
	sim_set16(&port->fn, SLTSTA, status);
}

/* Shows the link at both of its ends. */
static void link_status(struct sim_port *port)
{
	struct sim_link link = port->ops->link(port);
	u16 status = PCI_EXP_LNKSTA_SLC;

	lockdep_assert_held(&port->lock);

	if (port->link_up)
		status |= link.speed | link.width << PCI_EXP_LNKSTA_NLW_SHIFT;
	port->ops->status(port, status);
	if (port->link_up)
		status |= PCI_EXP_LNKSTA_DLLLA;
	sim_set16(&port->fn, LNKSTA, status);
}

/*
 * A card that never answers is to fail once. pciehp keeps a pending link event
 * when it finds no device, and would try again by itself.
 */
static u16 link_event(const struct sim_port *port)
{
	return port->active == SIM_FAULT_ENUMERATE ? 0 : PCI_EXP_SLTSTA_DLLSC;
}

/* The link trains, or flaps, some time from now. */
static void train_later(struct sim_port *port, unsigned int ms)
{
	unsigned long delay = msecs_to_jiffies(ms);

	lockdep_assert_held(&port->lock);

	port->train_at = jiffies + delay;
	mod_delayed_work(sim.train_wq, &port->train, delay);
}

static void link_up(struct sim_port *port)
{
	lockdep_assert_held(&port->lock);

	port->training = false;
	port->link_up = true;
	if (READ_ONCE(sim.latency_ms))
		port->answers_at = jiffies + msecs_to_jiffies(port->late_ms);
	link_status(port);
	port_event(port, link_event(port));
	if (port->flaps)
		train_later(port, READ_ONCE(sim.latency_ms));
}

static void link_down(struct sim_port *port)
{
	lockdep_assert_held(&port->lock);

	port->training = false;
	if (!port->link_up)
		return;
	port->link_up = false;
	if (!port->resetting)
		port->lost = port->power;
	port->ops->reset(port, false);
	link_status(port);
	port_event(port, link_event(port));
}

static bool link_wanted(const struct sim_port *port)
{
	return port->present && port->power && !port->dark &&
	       port->active != SIM_FAULT_POWER &&
	       port->active != SIM_FAULT_LINK &&
	       !sim_dpc_holds(&port->fn) &&
	       !(sim_get16(&port->fn, PCI_BRIDGE_CONTROL) &
		 PCI_BRIDGE_CTL_BUS_RESET) &&
	       !(sim_get16(&port->fn, LNKCTL) & PCI_EXP_LNKCTL_LD);
}

/* How long the link trains from now on. */
static unsigned int train_ms(const struct sim_port *port)
{
	unsigned int ms = READ_ONCE(sim.latency_ms) + port->slow_ms;
	unsigned int left = 0;

	if (time_after(port->down_until, jiffies))
		left = jiffies_to_msecs(port->down_until - jiffies);
	return max(ms, left);
}

static void stay_down(struct sim_port *port, unsigned int ms)
{
	unsigned long until = jiffies + msecs_to_jiffies(ms);

	lockdep_assert_held(&port->lock);

	if (time_after(until, port->down_until))
		port->down_until = until;
}

/* Starts, stops or completes training after anything has changed. */
static void port_update(struct sim_port *port)
{
	unsigned int ms = train_ms(port);

	lockdep_assert_held(&port->lock);

	if (!link_wanted(port)) {
		link_down(port);
		return;
	}
	if (port->link_up || port->training)
		return;
	if (!ms && port->active != SIM_FAULT_PRESENCE) {
		link_up(port);
		return;
	}
	port->training = true;
	train_later(port, ms);
}

static void flap(struct sim_port *port)
{
	lockdep_assert_held(&port->lock);

	port->flaps--;
	link_down(port);
	port_update(port);
}

static void port_train(struct work_struct *work)
{
	struct sim_port *port = container_of(to_delayed_work(work),
					     struct sim_port, train);

	raw_spin_lock_irq(&port->lock);
	/* Stopped, or started anew while this waited for the lock. */
	if (!time_after_eq(jiffies, port->train_at))
		;
	else if (port->training && port->active == SIM_FAULT_PRESENCE)
		sim_port_remove(port);
	else if (port->training)
		link_up(port);
	else if (port->link_up && port->flaps)
		flap(port);
	raw_spin_unlock_irq(&port->lock);
}

static enum sim_fault take_fault(struct sim_port *port)
{
	enum sim_fault fault = port->armed;

	if (port->armed_skip) {
		port->armed_skip--;
		return SIM_FAULT_NONE;
	}
	if (port->armed_count)
		port->armed_count--;
	if (!port->armed_count)
		port->armed = SIM_FAULT_NONE;
	return fault;
}

static void wipe(struct sim_port *port)
{
	lockdep_assert_held(&port->lock);

	if (port->ops->wipe)
		port->ops->wipe(port);
}

static void power_on(struct sim_port *port)
{
	lockdep_assert_held(&port->lock);

	port->power = true;
	port->lost = false;
	port->silent = false;
	port->active = take_fault(port);
	if (port->active == SIM_FAULT_POWER)
		port_event(port, PCI_EXP_SLTSTA_PFD);
	if (port->present)
		port->ops->reset(port, true);
	/* A bare port has its link alone, and no power to take away. */
	if (!port->bare)
		wipe(port);
}

static void power_off(struct sim_port *port)
{
	lockdep_assert_held(&port->lock);

	port->power = false;
	port->lost = false;
	link_down(port);
	port->active = SIM_FAULT_NONE;
	if (port->armed == SIM_FAULT_PRESENCE && port->present &&
	    take_fault(port))
		sim_port_remove(port);
}

/**
 * sim_port_power() - work the power controller
 * @port: the port; the caller holds its lock
 * @on: apply or remove power
 */
void sim_port_power(struct sim_port *port, bool on)
{
	u16 control = sim_get16(&port->fn, SLTCTL) & ~PCI_EXP_SLTCTL_PCC;

	lockdep_assert_held(&port->lock);

	if (port->controlled)
		sim_set16(&port->fn, SLTCTL, control |
			  (on ? PCI_EXP_SLTCTL_PWR_ON :
				PCI_EXP_SLTCTL_PWR_OFF));
	if (on == port->power)
		return;
	if (on)
		power_on(port);
	else
		power_off(port);
	port_update(port);
}

/**
 * sim_port_reset() - a port as new, with nothing below it
 * @port: the port, stopped; the caller holds its lock
 */
void sim_port_reset(struct sim_port *port)
{
	lockdep_assert_held(&port->lock);

	port->present = false;
	port->hidden = false;
	port->power = false;
	port->link_up = false;
	port->training = false;
	port->armed = SIM_FAULT_NONE;
	port->armed_skip = 0;
	port->armed_count = 0;
	port->active = SIM_FAULT_NONE;
	port->slow_ms = 0;
	port->flaps = 0;
	port->down_until = jiffies;
	port->late_ms = SIM_LATE_MS;
	port->answers_at = jiffies;
	port->silent = false;
	port->resetting = false;
	port->lost = false;
	port->inserted = false;
	port->pressed = false;
	port->can_be_cold = false;
	port->cold = false;
	port->dark = false;
	port->disturbed = 0;
}

/**
 * sim_port_start() - put a port into the state that the host finds
 * @port: the port; the caller holds its lock
 * @on: it is powered, and its link trained long ago
 */
void sim_port_start(struct sim_port *port, bool on)
{
	lockdep_assert_held(&port->lock);

	port_presence(port);
	if (!on && port->bare)
		sim_set16(&port->fn, LNKCTL, PCI_EXP_LNKCTL_LD);
	if (!on)
		return;
	sim_port_power(port, true);
	cancel_delayed_work(&port->train);
	if (port->training)
		link_up(port);
	port->answers_at = jiffies;
	/* Not news to anybody. */
	sim_set16(&port->fn, SLTSTA,
		  sim_get16(&port->fn, SLTSTA) & ~SLTSTA_EVENTS);
}

/* The link is down while the bit is set, and trains when it is not. */
static void bus_reset(struct sim_port *port, bool on)
{
	lockdep_assert_held(&port->lock);

	if (on)
		wipe(port);
	else
		stay_down(port, SIM_RETRAIN_MS);
	port_update(port);
}

/**
 * sim_port_write() - software writes registers of a port
 * @port: the port; the caller holds its lock
 * @where: first register
 * @size: 1, 2 or 4 bytes
 * @value: what is written
 */
void sim_port_write(struct sim_port *port, int where, int size, u32 value)
{
	struct sim_fn *fn = &port->fn;
	u16 before = sim_get16(fn, PCI_BRIDGE_CONTROL);
	u16 after;

	lockdep_assert_held(&port->lock);

	sim_fn_write(fn, where, size, value);

	if (sim_reg_written(where, size, SLTSTA)) {
		sim_reg_clear(fn, SLTSTA, SLTSTA_EVENTS, where, value);
		/* The fault stays latched until power is removed. */
		if (port->active == SIM_FAULT_POWER)
			sim_set16(fn, SLTSTA, sim_get16(fn, SLTSTA) |
				  PCI_EXP_SLTSTA_PFD);
	}
	if (sim_reg_written(where, size, SLTCTL) && port->controlled)
		sim_port_power(port, !(sim_get16(fn, SLTCTL) &
				       PCI_EXP_SLTCTL_PCC));
	if (sim_reg_written(where, size, LNKCTL)) {
		if (port->bare)
			sim_port_power(port, !(sim_get16(fn, LNKCTL) &
					       PCI_EXP_LNKCTL_LD));
		port_update(port);
	}
	if (sim_dpc_write(fn, where, size, value))
		port_update(port);
	after = sim_get16(fn, PCI_BRIDGE_CONTROL);
	if ((before ^ after) & PCI_BRIDGE_CTL_BUS_RESET)
		bus_reset(port, after & PCI_BRIDGE_CTL_BUS_RESET);
	port_interrupt(port);
}

/**
 * sim_port_insert() - something is put where there is nothing
 * @port: the port; the caller holds its lock
 */
void sim_port_insert(struct sim_port *port)
{
	lockdep_assert_held(&port->lock);

	port->present = true;
	port->hidden = false;
	port->silent = false;
	port->inserted = true;
	wipe(port);
	port_presence(port);
	port_event(port, PCI_EXP_SLTSTA_PDC);
	port_update(port);
}

/**
 * sim_port_remove() - what is there is pulled out, whatever is going on
 * @port: the port; the caller holds its lock
 */
void sim_port_remove(struct sim_port *port)
{
	lockdep_assert_held(&port->lock);

	port->present = false;
	port->flaps = 0;
	link_down(port);
	port_presence(port);
	port_event(port, PCI_EXP_SLTSTA_PDC);
}

/**
 * sim_port_flap() - the link goes down and comes back
 * @port: the port, with its link up; the caller holds its lock
 * @times: how often, at least 1
 *
 * Each time it is up for as long as a link takes to train. Whoever drives the
 * port may take longer, and turn it off and on meanwhile.
 */
void sim_port_flap(struct sim_port *port, unsigned int times)
{
	lockdep_assert_held(&port->lock);

	port->flaps = times;
	flap(port);
}

/**
 * sim_port_blink() - the link goes down for a while
 * @port: the port, with its link up; the caller holds its lock
 * @ms: how long, never shorter than the link takes to train
 *
 * Nothing brings it up earlier, not even a cycle of power.
 */
void sim_port_blink(struct sim_port *port, unsigned int ms)
{
	lockdep_assert_held(&port->lock);

	stay_down(port, ms);
	link_down(port);
	port_update(port);
}

/**
 * sim_port_contain() - the card says that it has met a fatal error
 * @port: the port of a slot, with its link up; the caller holds its lock
 *
 * Return: 0, or -EOPNOTSUPP if nobody has enabled the containment of that.
 */
int sim_port_contain(struct sim_port *port)
{
	int ret;

	lockdep_assert_held(&port->lock);

	ret = sim_dpc_trigger(&port->fn);
	if (ret)
		return ret;
	port_interrupt(port);
	port_update(port);
	return 0;
}

/**
 * sim_port_calm() - the link trains as usual, and no longer goes down by itself
 * @port: the port; the caller holds its lock
 */
void sim_port_calm(struct sim_port *port)
{
	lockdep_assert_held(&port->lock);

	port->slow_ms = 0;
	port->late_ms = SIM_LATE_MS;
	port->flaps = 0;
	port->down_until = jiffies;
	port->training = false;
	port_update(port);
}

/**
 * sim_port_silence() - what is below a port stops answering, or begins again
 * @port: the port, with its link up; the caller holds its lock
 * @silent: it stops
 *
 * It keeps its registers. Another card and a cycle of power end it as well.
 */
void sim_port_silence(struct sim_port *port, bool silent)
{
	lockdep_assert_held(&port->lock);

	port->silent = silent;
	if (!silent)
		port->answers_at = jiffies;
}

/**
 * sim_port_answers() - whether what is below a port answers
 * @port: the port; the caller holds its lock, or wants no more than a guess
 *
 * Return: whether it does.
 */
bool sim_port_answers(const struct sim_port *port)
{
	return READ_ONCE(port->link_up) && !READ_ONCE(port->silent) &&
	       time_after_eq(jiffies, READ_ONCE(port->answers_at));
}

/**
 * sim_port_driver_reset() - a slot driver's own reset begins or ends
 * @port: the port; the caller holds its lock
 * @on: it begins
 *
 * Meanwhile a link that goes down is no loss.
 */
void sim_port_driver_reset(struct sim_port *port, bool on)
{
	lockdep_assert_held(&port->lock);

	port->resetting = on;
	if (on || port->link_up)
		return;
	port->lost = port->power;
	if (port->ops->event)
		port->ops->event(port);
}

/**
 * sim_port_press() - somebody presses the attention button
 * @port: the port; the caller holds its lock
 *
 * Return: 0, or -EOPNOTSUPP if it has none.
 */
int sim_port_press(struct sim_port *port)
{
	lockdep_assert_held(&port->lock);

	if (sim.mode == SIM_MODE_OWN && port->ops->event && !port->bare)
		port->pressed = true;
	else if (!(sim_get16(&port->fn, SLTCAP) & PCI_EXP_SLTCAP_ABP))
		return -EOPNOTSUPP;
	port_event(port, PCI_EXP_SLTSTA_ABP);
	return 0;
}

/**
 * sim_port_cut_power() - the power controller fails, until power is cycled
 * @port: the port; the caller holds its lock
 *
 * Return: 0, or -ENODEV if there is no power.
 */
int sim_port_cut_power(struct sim_port *port)
{
	lockdep_assert_held(&port->lock);

	if (!port->power)
		return -ENODEV;
	port->active = SIM_FAULT_POWER;
	port_event(port, PCI_EXP_SLTSTA_PFD);
	port_update(port);
	return 0;
}

/**
 * sim_port_latch() - somebody opens or closes the retention latch
 * @port: the port; the caller holds its lock
 * @open: opens it
 *
 * Return: 0, or -EOPNOTSUPP if it has no sensor.
 */
int sim_port_latch(struct sim_port *port, bool open)
{
	u16 status = sim_get16(&port->fn, SLTSTA) & ~PCI_EXP_SLTSTA_MRLSS;

	lockdep_assert_held(&port->lock);

	if (!(sim_get16(&port->fn, SLTCAP) & PCI_EXP_SLTCAP_MRLSP))
		return -EOPNOTSUPP;
	sim_set16(&port->fn, SLTSTA,
		  status | (open ? PCI_EXP_SLTSTA_MRLSS : 0));
	port_event(port, PCI_EXP_SLTSTA_MRLSC);
	return 0;
}

/**
 * sim_port_hide() - presence detection loses the card, or finds it again
 * @port: the port; the caller holds its lock
 * @hide: loses it
 *
 * A pin that makes no contact, or presence that is detected in-band while the
 * link does not train: the card has power and keeps all that it knows.
 *
 * Return: 0, or -ENODEV if there is no card.
 */
int sim_port_hide(struct sim_port *port, bool hide)
{
	lockdep_assert_held(&port->lock);

	if (!port->present)
		return -ENODEV;
	port->hidden = hide;
	port_presence(port);
	port_event(port, PCI_EXP_SLTSTA_PDC);
	return 0;
}

/**
 * sim_port_cut() - the port itself loses its state
 * @port: the port, with its registers as new; the caller holds its lock
 */
void sim_port_cut(struct sim_port *port)
{
	lockdep_assert_held(&port->lock);

	sim_port_power(port, false);
	/* Without a controller power is always there, and links are enabled. */
	if (port->bare)
		sim_port_power(port, true);
	port_presence(port);
}

/**
 * sim_port_sleep() - a slot's port, and all below it, loses its power
 * @port: the port; the caller holds its lock
 *
 * Nobody has done it to the slot, so nobody is told.
 */
void sim_port_sleep(struct sim_port *port)
{
	lockdep_assert_held(&port->lock);

	port->was_on = port->power;
	port->cold = true;
	port->dark = true;
	sim_config_port(sim_slot_of(port));
	sim_port_cut(port);
}

/**
 * sim_port_wake() - it has its power again
 * @port: the port, without power; the caller holds its lock
 *
 * The slot has it, too, if it had it before. The link trains.
 */
void sim_port_wake(struct sim_port *port)
{
	lockdep_assert_held(&port->lock);

	port->cold = false;
	port->dark = false;
	if (port->was_on)
		sim_port_power(port, true);
	port_update(port);
}

/**
 * sim_port_dark() - what is below a port loses its power, or has it again
 * @port: the port; the caller holds its lock
 * @dark: it loses it
 */
void sim_port_dark(struct sim_port *port, bool dark)
{
	lockdep_assert_held(&port->lock);

	port->dark = dark;
	port_update(port);
}

/**
 * sim_port_reveal() - let the presence of a card show
 * @port: the port
 *
 * pciehp powers any occupied slot when it binds to the port. A slot that is
 * to be found occupied and off therefore shows its card only afterwards, and
 * without an event: as if somebody had turned the slot off.
 */
void sim_port_reveal(struct sim_port *port)
{
	raw_spin_lock_irq(&port->lock);
	port->hidden = false;
	port_presence(port);
	raw_spin_unlock_irq(&port->lock);
}

static void port_irq_work(struct irq_work *work)
{
	struct sim_port *port = container_of(work, struct sim_port, irq_work);

	generic_handle_irq_safe(port->irq);
}

/**
 * sim_port_init() - set up a port with nothing below it
 * @port: the port
 * @ops: what is special about it
 */
void sim_port_init(struct sim_port *port, const struct sim_port_ops *ops)
{
	port->ops = ops;
	raw_spin_lock_init(&port->lock);
	init_swait_queue_head(&port->wait);
	init_irq_work(&port->irq_work, port_irq_work);
	INIT_DELAYED_WORK(&port->train, port_train);
}

/**
 * sim_port_irq_init() - give a port an interrupt
 * @port: the port
 *
 * Return: 0 or an error.
 */
int sim_port_irq_init(struct sim_port *port)
{
	int irq = __irq_alloc_descs(-1, 1, 1, NUMA_NO_NODE, NULL, NULL);

	if (irq < 0)
		return irq;
	irq_set_chip_and_handler(irq, &dummy_irq_chip, handle_simple_irq);
	port->irq = irq;
	return 0;
}

/**
 * sim_port_stop() - stop everything that a port does by itself
 * @port: the port; nothing can address it any more
 */
void sim_port_stop(struct sim_port *port)
{
	cancel_delayed_work_sync(&port->train);
	irq_work_sync(&port->irq_work);
}

/**
 * sim_port_fini() - free what a port has
 * @port: the port; nothing can address it any more
 */
void sim_port_fini(struct sim_port *port)
{
	sim_port_stop(port);
	if (port->irq)
		irq_free_descs(port->irq, 1);
	port->irq = 0;
}
