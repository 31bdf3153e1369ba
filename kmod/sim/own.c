// SPDX-License-Identifier: GPL-2.0-only
/*
 * mode=own: slots that the simulator registers and drives itself.
 */

/**
 * DOC: own slots
 *
 * Does the work of a slot driver: applies power, waits for the link, scans,
 * assigns resources, adds the devices, and the reverse; and reacts to cards
 * that come and go. The PCI hot-plug core's object of a slot is freed when
 * the slot is deregistered, as slot drivers do it: code that calls an
 * operation without the slot's file open has to prevent that.
 *
 * The guard is for that, like the port's service device of pciehp: a device
 * below the port, whose driver registers the slot when it is bound and
 * deregisters it when it is unbound, both under the lock of that device. A
 * slot that is told to be unguarded is registered without a guard, as many
 * slot drivers do.
 *
 * Order: lock of the guard, &sim_slot.op_mutex, then the rescan lock. The
 * slot's lock and &sim_slot.port_mutex are leaves.
 *
 * Slots are registered and deregistered by the event work, or by a task that
 * binds and unbinds the guard in sysfs; never under op_mutex, because
 * deregistering waits for writers of the slot's files, which want that mutex.
 * Nor in the bus notifier, which runs under the rescan lock that the same
 * writers want. So when a port is removed, the notifier separates the port
 * from the slot and from the guard, and leaves the rest to the work.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "sim.h"

#include <linux/delay.h>
#include <linux/platform_device.h>
#include <linux/slab.h>

/* The name of the driver is that of the module. */
#define GUARD_NAME	KBUILD_MODNAME "_slot"

/* As long as pciehp waits for a link, beyond the time to train one. */
#define LINK_TIMEOUT_MS	1000
#define LINK_TURNS	10
#define ANSWER_TIMEOUT_MS	1000
#define ANSWER_POLL_MS		10

/**
 * struct sim_hotplug - a slot as the PCI hot-plug core knows it
 * @hotplug: what it knows
 * @slot: the slot
 * @port: the port's device, referenced
 */
struct sim_hotplug {
	struct hotplug_slot hotplug;
	struct sim_slot *slot;
	struct pci_dev *port;
};

static struct sim_slot *slot_of(struct hotplug_slot *hotplug)
{
	return container_of(hotplug, struct sim_hotplug, hotplug)->slot;
}

/* The port with a reference, NULL while it is not there. */
static struct pci_dev *port_get(struct sim_slot *slot)
{
	struct pci_dev *port;

	mutex_lock(&slot->port_mutex);
	port = slot->port_dev ? pci_dev_get(slot->port_dev) : NULL;
	mutex_unlock(&slot->port_mutex);
	return port;
}

static void power(struct sim_slot *slot, bool on)
{
	raw_spin_lock_irq(&slot->port.lock);
	sim_port_power(&slot->port, on);
	raw_spin_unlock_irq(&slot->port.lock);
}

static int add_devices(struct pci_dev *port)
{
	struct pci_dev *pdev;
	struct pci_bus *bus;
	int ret = -ENODEV;

	pci_lock_rescan_remove();
	bus = port->subordinate;
	if (bus && pci_scan_slot(bus, PCI_DEVFN(0, 0))) {
		for_each_pci_bridge(pdev, bus)
			pci_hp_add_bridge(pdev);
		pci_assign_unassigned_bridge_resources(port);
		pcie_bus_configure_settings(bus);
		pci_bus_add_devices(bus);
		ret = 0;
	}
	pci_unlock_rescan_remove();
	return ret;
}

static int mark_gone(struct pci_dev *pdev, void *unused)
{
	pdev->error_state = pci_channel_io_perm_failure;
	return 0;
}

/*
 * Virtual functions go with the driver that made them, which can be at it just
 * now: so this does not walk the list of devices.
 */
static void remove_devices(struct pci_dev *port, bool gone)
{
	unsigned int devfn = 8;
	struct pci_dev *pdev;
	struct pci_bus *bus;

	pci_lock_rescan_remove();
	bus = port->subordinate;
	if (bus) {
		if (gone)
			pci_walk_bus(bus, mark_gone, NULL);
		while (devfn--) {
			pdev = pci_get_slot(bus, devfn);
			if (pdev && !pdev->is_virtfn)
				pci_stop_and_remove_bus_device(pdev);
			pci_dev_put(pdev);
		}
	}
	pci_unlock_rescan_remove();
}

static bool link_settled(struct sim_slot *slot)
{
	return READ_ONCE(slot->port.link_up) ||
	       !READ_ONCE(slot->port.present) ||
	       atomic_read(&slot->sw->closing);
}

/* The link should be up by now: whoever brings it up is late. */
static bool link_is_late(struct sim_slot *slot)
{
	return READ_ONCE(slot->port.training) &&
	       time_after_eq(jiffies, READ_ONCE(slot->port.train_at));
}

/*
 * A host that stood still for a while finds this time over before the link had
 * any. What should be up comes up by itself, so it is given the same time again.
 */
static void await_link(struct sim_slot *slot)
{
	unsigned int limit = LINK_TIMEOUT_MS + READ_ONCE(sim.latency_ms);
	unsigned int turns = LINK_TURNS;

	do {
		swait_event_timeout_exclusive(slot->port.wait, link_settled(slot),
					      msecs_to_jiffies(limit));
	} while (!link_settled(slot) && link_is_late(slot) && --turns);
}

/* Its link is up; it has as long to answer as pciehp gives it. */
static void await_answer(struct sim_slot *slot)
{
	unsigned int turns = ANSWER_TIMEOUT_MS / ANSWER_POLL_MS;

	while (!sim_port_answers(&slot->port) && turns--)
		msleep(ANSWER_POLL_MS);
}

static int slot_on(struct sim_slot *slot, struct pci_dev *port)
{
	bool fault, up;
	int ret = -ENODEV;

	lockdep_assert_held(&slot->op_mutex);

	raw_spin_lock_irq(&slot->port.lock);
	slot->port.inserted = false;
	if (slot->port.present)
		sim_port_power(&slot->port, true);
	fault = slot->port.active == SIM_FAULT_POWER;
	raw_spin_unlock_irq(&slot->port.lock);

	if (!fault)
		await_link(slot);
	raw_spin_lock_irq(&slot->port.lock);
	up = slot->port.link_up;
	if (fault)
		ret = -EIO;
	else if (slot->port.present)
		ret = -ETIMEDOUT;
	raw_spin_unlock_irq(&slot->port.lock);

	if (up) {
		await_answer(slot);
		ret = add_devices(port);
	}
	if (ret)
		power(slot, false);
	return ret;
}

static void slot_off(struct sim_slot *slot, struct pci_dev *port, bool gone)
{
	lockdep_assert_held(&slot->op_mutex);

	remove_devices(port, gone);
	power(slot, false);
}

static int enable_slot(struct hotplug_slot *hotplug)
{
	struct sim_slot *slot = slot_of(hotplug);
	struct pci_dev *port = port_get(slot);
	int ret = -ENODEV;

	if (!port)
		return -ENODEV;
	mutex_lock(&slot->op_mutex);
	if (!READ_ONCE(slot->port.power))
		ret = slot_on(slot, port);
	mutex_unlock(&slot->op_mutex);
	pci_dev_put(port);
	return ret;
}

static int disable_slot(struct hotplug_slot *hotplug)
{
	struct sim_slot *slot = slot_of(hotplug);
	struct pci_dev *port = port_get(slot);
	int ret = -ENODEV;

	if (!port)
		return -ENODEV;
	mutex_lock(&slot->op_mutex);
	if (READ_ONCE(slot->port.power)) {
		slot_off(slot, port, false);
		ret = 0;
	}
	mutex_unlock(&slot->op_mutex);
	pci_dev_put(port);
	return ret;
}

static int get_power_status(struct hotplug_slot *hotplug, u8 *value)
{
	*value = READ_ONCE(slot_of(hotplug)->port.power);
	return 0;
}

static int get_adapter_status(struct hotplug_slot *hotplug, u8 *value)
{
	const struct sim_port *port = &slot_of(hotplug)->port;

	*value = READ_ONCE(port->present) && !READ_ONCE(port->hidden);
	return 0;
}

/*
 * The caller holds the locks of the devices in the slot, for which removals wait
 * that hold op_mutex.
 */
static int reset_slot(struct hotplug_slot *hotplug, bool probe)
{
	struct sim_slot *slot = slot_of(hotplug);
	struct pci_dev *port = port_get(slot);
	int ret = 0;

	if (!port)
		return -ENODEV;
	if (!probe) {
		raw_spin_lock_irq(&slot->port.lock);
		sim_port_driver_reset(&slot->port, true);
		raw_spin_unlock_irq(&slot->port.lock);
		ret = pci_bridge_secondary_bus_reset(port);
		raw_spin_lock_irq(&slot->port.lock);
		sim_port_driver_reset(&slot->port, false);
		raw_spin_unlock_irq(&slot->port.lock);
	}
	pci_dev_put(port);
	return ret;
}

static const struct hotplug_slot_ops own_slot_ops = {
	.enable_slot = enable_slot,
	.disable_slot = disable_slot,
	.get_power_status = get_power_status,
	.get_adapter_status = get_adapter_status,
	.reset_slot = reset_slot,
};

static void own_deregister(void *data)
{
	struct sim_slot *slot = data;
	struct sim_hotplug *hotplug = slot->hotplug;

	if (!hotplug)
		return;
	WRITE_ONCE(slot->hotplug, NULL);
	pci_hp_deregister(&hotplug->hotplug);
	pci_dev_put(hotplug->port);
	kfree(hotplug);
}

static int own_register(struct sim_slot *slot, struct pci_dev *port)
{
	struct sim_hotplug *hotplug;
	struct pci_bus *bus;
	int ret;

	/* A port that is being scanned has its bus when this lock is free. */
	pci_lock_rescan_remove();
	bus = port->subordinate;
	if (bus)
		get_device(&bus->dev);
	pci_unlock_rescan_remove();
	if (!bus)
		return -ENODEV;

	hotplug = kzalloc(sizeof(*hotplug), GFP_KERNEL);
	ret = -ENOMEM;
	if (!hotplug)
		goto put_bus;
	hotplug->hotplug.ops = &own_slot_ops;
	hotplug->slot = slot;
	hotplug->port = pci_dev_get(port);
	ret = pci_hp_register(&hotplug->hotplug, bus, sim.slot_number,
			      slot->name);
	if (ret) {
		pr_err("slot %s cannot be registered: error %d\n", slot->name,
		       ret);
		pci_dev_put(port);
		kfree(hotplug);
	} else {
		WRITE_ONCE(slot->hotplug, hotplug);
	}
put_bus:
	put_device(&bus->dev);
	return ret;
}

static struct sim_slot *slot_of_guard(struct platform_device *guard)
{
	return *(struct sim_slot **)dev_get_platdata(&guard->dev);
}

static int guard_probe(struct platform_device *guard)
{
	struct sim_slot *slot = slot_of_guard(guard);
	int ret = -ENODEV;

	if (READ_ONCE(slot->claimed))
		ret = own_register(slot, slot->guard_port);
	if (!ret)
		ret = devm_add_action_or_reset(&guard->dev, own_deregister,
					       slot);
	slot->probe_error = ret;
	return ret;
}

static const struct platform_device_id guard_ids[] = {
	{ GUARD_NAME },
	{ }
};

static struct platform_driver guard_driver = {
	.probe = guard_probe,
	.id_table = guard_ids,
	.driver = {
		.name = KBUILD_MODNAME,
	},
};

/* It gets its driver later, which wants the rescan lock. */
static int guard_add(struct sim_slot *slot, struct pci_dev *port)
{
	struct platform_device *guard =
		platform_device_alloc(GUARD_NAME, sim_slot_minor(slot));
	int ret;

	if (!guard)
		return -ENOMEM;
	guard->dev.parent = &port->dev;
	/* Nobody waits for news of it, and there can be thousands. */
	dev_set_uevent_suppress(&guard->dev, true);
	device_set_pm_not_required(&guard->dev);
	ret = platform_device_add_data(guard, &slot, sizeof(slot));
	pci_lock_rescan_remove();
	if (!ret)
		ret = slot->port_dev == port ? platform_device_add(guard) :
					       -ENODEV;
	if (!ret) {
		slot->guard_port = pci_dev_get(port);
		slot->guard = guard;
	}
	pci_unlock_rescan_remove();
	if (ret)
		platform_device_put(guard);
	return ret;
}

/* The rescan lock is held: a port that goes takes nothing of it along. */
static void guard_leave_port(struct sim_slot *slot)
{
	if (slot->guard && slot->guard->dev.parent == &slot->guard_port->dev)
		device_move(&slot->guard->dev, sim.parent, DPM_ORDER_NONE);
}

static void guard_remove(struct sim_slot *slot)
{
	struct platform_device *guard = slot->guard;

	slot->claimed = false;
	if (!guard)
		return;
	device_release_driver(&guard->dev);
	pci_lock_rescan_remove();
	guard_leave_port(slot);
	slot->guard = NULL;
	pci_unlock_rescan_remove();
	platform_device_unregister(guard);
	pci_dev_put(slot->guard_port);
	slot->guard_port = NULL;
}

/* The driver comes to the guard, which is made when it comes for the first time. */
static int guard_claim(struct sim_slot *slot, struct pci_dev *port)
{
	int ret = slot->guard ? 0 : guard_add(slot, port);

	if (ret || slot->claimed)
		return ret;
	WRITE_ONCE(slot->claimed, true);
	ret = device_attach(&slot->guard->dev);
	if (ret > 0)
		return 0;
	/* The driver core keeps the error of a probe to itself. */
	WRITE_ONCE(slot->claimed, false);
	return ret ?: slot->probe_error;
}

static void guard_release(struct sim_slot *slot)
{
	if (!slot->claimed)
		return;
	WRITE_ONCE(slot->claimed, false);
	device_release_driver(&slot->guard->dev);
}

/* Answers what happened to the card by itself. */
static void follow_card(struct sim_slot *slot, struct pci_dev *port)
{
	bool lost, inserted, pressed, present;

	mutex_lock(&slot->op_mutex);
	raw_spin_lock_irq(&slot->port.lock);
	present = slot->port.present;
	lost = slot->port.lost || (slot->port.power && !present);
	inserted = slot->port.inserted && !slot->port.power;
	pressed = slot->port.pressed;
	slot->port.lost = false;
	slot->port.pressed = false;
	raw_spin_unlock_irq(&slot->port.lock);

	if (lost) {
		pr_info("slot %s: link down, card %s\n", slot->name,
			present ? "present" : "not present");
		slot_off(slot, port, true);
		inserted = present;
	}
	/* A button does what the slot's power file does. */
	if (pressed && !lost && READ_ONCE(slot->port.power))
		slot_off(slot, port, false);
	else if (pressed && !lost)
		inserted = true;
	if (inserted && present && slot_on(slot, port))
		pr_info("slot %s: card cannot be used\n", slot->name);
	mutex_unlock(&slot->op_mutex);
}

static int own_follow_claim(struct sim_slot *slot, struct pci_dev *port)
{
	bool claimed = port && !READ_ONCE(slot->port.bare);
	bool unguarded = claimed && READ_ONCE(slot->port.unguarded);
	int ret = 0;

	if (slot->guard && slot->guard_port != port)
		guard_remove(slot);
	if (!claimed || unguarded)
		guard_release(slot);
	if (slot->loose && (!unguarded || slot->hotplug->port != port)) {
		own_deregister(slot);
		slot->loose = false;
	}
	if (unguarded && !slot->loose) {
		ret = own_register(slot, port);
		slot->loose = !ret;
	} else if (claimed && !unguarded) {
		ret = guard_claim(slot, port);
	}
	return ret;
}

static void own_event(struct work_struct *work)
{
	struct sim_slot *slot = container_of(work, struct sim_slot, event);
	struct pci_dev *port = port_get(slot);
	int ret = own_follow_claim(slot, port);

	/* A port that goes just now, or has no bus, has no slot either. */
	if (ret != -ENODEV)
		slot->error = ret;
	if (port && READ_ONCE(slot->hotplug))
		follow_card(slot, port);
	pci_dev_put(port);
}

/**
 * sim_own_event() - something happened to the card or the link of a slot
 * @slot: the slot; its lock may be held
 */
void sim_own_event(struct sim_slot *slot)
{
	if (sim.mode == SIM_MODE_OWN && !slot->port.bare &&
	    !atomic_read(&slot->sw->closing))
		queue_work(sim.event_wq, &slot->event);
}

/**
 * sim_own_claim() - the slot driver comes to a port, or leaves it
 * @slot: the slot; its lock is held
 * @claim: whether it comes
 * @guarded: whether it comes by a device below the port
 *
 * The card stays as it is.
 *
 * Return: 0, -EOPNOTSUPP where the simulator is no slot driver.
 */
int sim_own_claim(struct sim_slot *slot, bool claim, bool guarded)
{
	if (sim.mode != SIM_MODE_OWN)
		return -EOPNOTSUPP;
	WRITE_ONCE(slot->port.unguarded, !guarded);
	WRITE_ONCE(slot->port.bare, !claim);
	if (!atomic_read(&slot->sw->closing))
		queue_work(sim.event_wq, &slot->event);
	return 0;
}

/**
 * sim_own_port_added() - the port of a slot has appeared
 * @slot: the slot
 * @port: the port; the rescan lock is held, and its bus is not there yet
 */
void sim_own_port_added(struct sim_slot *slot, struct pci_dev *port)
{
	mutex_lock(&slot->port_mutex);
	if (!slot->port_dev)
		slot->port_dev = pci_dev_get(port);
	mutex_unlock(&slot->port_mutex);
	sim_own_event(slot);
}

/**
 * sim_own_port_removed() - the port of a slot is going
 * @slot: the slot
 * @port: the port; the rescan lock is held
 */
void sim_own_port_removed(struct sim_slot *slot, struct pci_dev *port)
{
	bool ours;

	mutex_lock(&slot->port_mutex);
	ours = slot->port_dev == port;
	if (ours)
		slot->port_dev = NULL;
	mutex_unlock(&slot->port_mutex);
	if (slot->guard_port == port)
		guard_leave_port(slot);
	if (ours) {
		pci_dev_put(port);
		sim_own_event(slot);
	}
}

/**
 * sim_own_init() - set up what mode=own needs of a slot
 * @slot: the slot
 */
void sim_own_init(struct sim_slot *slot)
{
	mutex_init(&slot->op_mutex);
	mutex_init(&slot->port_mutex);
	INIT_WORK(&slot->event, own_event);
}

/**
 * sim_own_register() - register the slots of a switch whose ports are there
 * @sw: the switch
 *
 * Return: 0 or the error of a slot that could not be registered.
 */
int sim_own_register(struct sim_switch *sw)
{
	struct sim_slot *slot;
	unsigned int i;

	for (i = 0; (slot = sim_slot_at(sw, i)); i++)
		if (!slot->port.bare)
			queue_work(sim.event_wq, &slot->event);
	for (i = 0; (slot = sim_slot_at(sw, i)); i++)
		flush_work(&slot->event);

	for (i = 0; (slot = sim_slot_at(sw, i)); i++)
		if (slot->error)
			return slot->error;
	return 0;
}

/**
 * sim_own_unregister() - deregister the slots of a switch
 * @sw: the switch; it is closed, so that nothing queues new events
 *
 * Waits for operations that are under way.
 */
void sim_own_unregister(struct sim_switch *sw)
{
	struct sim_slot *slot;
	unsigned int i;

	for (i = 0; (slot = sim_slot_at(sw, i)); i++) {
		cancel_work_sync(&slot->event);
		guard_remove(slot);
		own_deregister(slot);
		slot->loose = false;
	}
}

/**
 * sim_own_driver_register() - make the driver of the guards ready to bind
 *
 * Return: 0 or an error.
 */
int sim_own_driver_register(void)
{
	return platform_driver_register(&guard_driver);
}

/**
 * sim_own_driver_unregister() - the opposite; no guard is left
 */
void sim_own_driver_unregister(void)
{
	platform_driver_unregister(&guard_driver);
}
