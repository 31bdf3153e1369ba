// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sleep: of single functions, of ports without power, of the whole host.
 */

/**
 * DOC: sleep
 *
 * The PCI core puts functions to sleep and wakes them as on any host, through
 * the power management capability of each function. The platform's part is
 * here, as a PM domain around the bus's own callbacks:
 *
 * A port loses its power when it sleeps (D3cold) if a knob says that its
 * platform can do so. Then the port and everything below it return only ones,
 * and all of them have lost their registers when power is back. A task that
 * wants to reach them has to wake the port first.
 *
 * When the host sleeps deeply all switches lose their power. As firmware
 * does, the host turns it on again and waits for the links before the kernel
 * wakes its devices; the registers then have the values that the kernel
 * saved. In suspend-to-idle only ports and devices in D3cold lose their
 * power.
 *
 * Only the PM core may access the registers of a function between its suspend
 * and its resume. Every other access is counted.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "sim.h"

#include <linux/delay.h>
#include <linux/pm.h>
#include <linux/pm_domain.h>
#include <linux/suspend.h>

/* As long as firmware waits for links. */
#define WAKE_TURNS	200
#define WAKE_POLL_MS	10

/* Callbacks that run now: registers are theirs. */
static atomic_t busy = ATOMIC_INIT(0);

/**
 * sim_power_access() - somebody accesses a register
 * @port: the port that the function is, or is below; the caller holds its lock
 * @fn: the function
 */
void sim_power_access(struct sim_port *port, const struct sim_fn *fn)
{
	lockdep_assert_held(&port->lock);

	if (fn->asleep && !atomic_read(&busy))
		port->disturbed++;
}

static int run(struct device *dev, int (*op)(struct device *dev))
{
	int ret;

	atomic_inc(&busy);
	ret = op ? op(dev) : 0;
	atomic_dec(&busy);
	return ret;
}

static void mark(struct device *dev, bool asleep, bool count)
{
	struct pci_dev *pdev = to_pci_dev(dev);
	struct sim_port *port;
	struct sim_fn *fn;

	if (!sim_bus_find(pdev, &port, &fn))
		return;
	raw_spin_lock_irq(&port->lock);
	fn->asleep = asleep;
	fn->woken += count;
	raw_spin_unlock_irq(&port->lock);
}

static int set_cold(struct pci_dev *pdev, void *unused)
{
	pdev->current_state = PCI_D3cold;
	return 0;
}

/* A port that sleeps in D3hot loses its power, where that can be. */
static void power_cut(struct device *dev)
{
	struct pci_dev *pdev = to_pci_dev(dev);
	struct sim_slot *slot = sim_slot_of_port(pdev);
	bool cold;

	if (!slot || pdev->current_state != PCI_D3hot)
		return;
	raw_spin_lock_irq(&slot->port.lock);
	cold = slot->port.can_be_cold;
	if (cold)
		sim_port_sleep(&slot->port);
	raw_spin_unlock_irq(&slot->port.lock);
	if (!cold)
		return;
	pdev->current_state = PCI_D3cold;
	if (pdev->subordinate)
		pci_walk_bus(pdev->subordinate, set_cold, NULL);
}

static void power_back(struct device *dev)
{
	struct sim_slot *slot = sim_slot_of_port(to_pci_dev(dev));

	if (!slot)
		return;
	raw_spin_lock_irq(&slot->port.lock);
	if (slot->port.cold)
		sim_port_wake(&slot->port);
	raw_spin_unlock_irq(&slot->port.lock);
}

/* What the bus does, and nothing else. */
#define SIM_PM_PLAIN(name, op)					\
static int fn_##name(struct device *dev)			\
{								\
	return run(dev, (op));					\
}

/* From its end on the function sleeps. */
#define SIM_PM_DOWN(name, op)					\
static int fn_##name(struct device *dev)			\
{								\
	int ret = run(dev, (op));				\
								\
	if (!ret)						\
		mark(dev, true, false);				\
	return ret;						\
}

/* From its beginning on the function is awake. */
#define SIM_PM_UP(name, op)					\
static int fn_##name(struct device *dev)			\
{								\
	mark(dev, false, false);				\
	return run(dev, (op));					\
}

SIM_PM_PLAIN(prepare, dev->bus->pm->prepare)
SIM_PM_DOWN(suspend, dev->bus->pm->suspend)
SIM_PM_DOWN(freeze, dev->bus->pm->freeze)
SIM_PM_DOWN(poweroff, dev->bus->pm->poweroff)
SIM_PM_PLAIN(suspend_late, dev->bus->pm->suspend_late)
SIM_PM_PLAIN(freeze_late, dev->bus->pm->freeze_late)
SIM_PM_PLAIN(poweroff_late, dev->bus->pm->poweroff_late)
SIM_PM_PLAIN(freeze_noirq, dev->bus->pm->freeze_noirq)
SIM_PM_PLAIN(poweroff_noirq, dev->bus->pm->poweroff_noirq)
SIM_PM_PLAIN(thaw_noirq, dev->bus->pm->thaw_noirq)
SIM_PM_PLAIN(restore_noirq, dev->bus->pm->restore_noirq)
SIM_PM_PLAIN(resume_early, dev->bus->pm->resume_early)
SIM_PM_PLAIN(thaw_early, dev->bus->pm->thaw_early)
SIM_PM_PLAIN(restore_early, dev->bus->pm->restore_early)
SIM_PM_UP(resume, dev->bus->pm->resume)
SIM_PM_UP(thaw, dev->bus->pm->thaw)
SIM_PM_UP(restore, dev->bus->pm->restore)
SIM_PM_PLAIN(runtime_idle, dev->bus->pm->runtime_idle)

static void fn_complete(struct device *dev)
{
	atomic_inc(&busy);
	if (dev->bus->pm->complete)
		dev->bus->pm->complete(dev);
	atomic_dec(&busy);
}

static int fn_suspend_noirq(struct device *dev)
{
	int ret = run(dev, dev->bus->pm->suspend_noirq);

	if (!ret)
		power_cut(dev);
	return ret;
}

static int fn_resume_noirq(struct device *dev)
{
	power_back(dev);
	return run(dev, dev->bus->pm->resume_noirq);
}

static int fn_runtime_suspend(struct device *dev)
{
	int ret = run(dev, dev->bus->pm->runtime_suspend);

	if (ret)
		return ret;
	mark(dev, true, false);
	power_cut(dev);
	return 0;
}

static int fn_runtime_resume(struct device *dev)
{
	power_back(dev);
	mark(dev, false, true);
	return run(dev, dev->bus->pm->runtime_resume);
}

static struct dev_pm_domain function_domain = {
	.ops = {
		.prepare = fn_prepare,
		.complete = fn_complete,
		.suspend = fn_suspend,
		.suspend_late = fn_suspend_late,
		.suspend_noirq = fn_suspend_noirq,
		.resume_noirq = fn_resume_noirq,
		.resume_early = fn_resume_early,
		.resume = fn_resume,
		.freeze = fn_freeze,
		.freeze_late = fn_freeze_late,
		.freeze_noirq = fn_freeze_noirq,
		.thaw_noirq = fn_thaw_noirq,
		.thaw_early = fn_thaw_early,
		.thaw = fn_thaw,
		.poweroff = fn_poweroff,
		.poweroff_late = fn_poweroff_late,
		.poweroff_noirq = fn_poweroff_noirq,
		.restore_noirq = fn_restore_noirq,
		.restore_early = fn_restore_early,
		.restore = fn_restore,
		.runtime_suspend = fn_runtime_suspend,
		.runtime_resume = fn_runtime_resume,
		.runtime_idle = fn_runtime_idle,
	},
};

/**
 * sim_power_add() - look after a function that has just appeared
 * @pdev: the function, without a driver
 */
void sim_power_add(struct pci_dev *pdev)
{
	mark(&pdev->dev, false, false);
	if (pdev->dev.bus->pm)
		dev_pm_domain_set(&pdev->dev, &function_domain);
}

/* All switches that are on a bus. */
static struct sim_switch *next_switch(unsigned int *i)
{
	while (*i < sim.switches + SIM_ADDED_SWITCHES) {
		struct sim_switch *sw = READ_ONCE(sim.sw[(*i)++]);

		if (sw && sw->domain)
			return sw;
	}
	return NULL;
}

static bool all_are_up(struct sim_switch *sw)
{
	struct sim_slot *slot;
	unsigned int i;

	if (!sim_port_answers(&sw->root))
		return false;
	for (i = 0; (slot = sim_slot_at(sw, i)); i++)
		if (READ_ONCE(slot->port.training) ||
		    (READ_ONCE(slot->port.link_up) &&
		     !sim_port_answers(&slot->port)))
			return false;
	return true;
}

/* The devices of the PCI buses sleep already. */
static int host_suspend_noirq(struct device *dev)
{
	struct sim_switch *sw;
	unsigned int i = 0;

	if (pm_suspend_target_state != PM_SUSPEND_MEM)
		return 0;
	while ((sw = next_switch(&i)))
		sim_switch_sleep(sw);
	return 0;
}

static int host_resume_noirq(struct device *dev)
{
	unsigned int i = 0, turns = WAKE_TURNS;
	struct sim_switch *sw;

	while ((sw = next_switch(&i)))
		sim_switch_wake(sw);
	i = 0;
	while ((sw = next_switch(&i)))
		while (!all_are_up(sw) && turns--)
			msleep(WAKE_POLL_MS);
	return 0;
}

static struct dev_pm_domain host_domain = {
	.ops = {
		.suspend_noirq = host_suspend_noirq,
		.resume_noirq = host_resume_noirq,
	},
};

/**
 * sim_power_init() - look after the host
 * @host: what is above all host bridges
 */
void sim_power_init(struct device *host)
{
	dev_pm_domain_set(host, &host_domain);
}
