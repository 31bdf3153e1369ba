// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Devices and uevents
 *
 * Each slot is a device of class gpufabric with a child, slotN!gpu, while its GPU is usable, so
 * that udev and systemd see a real add and remove for each GPU. What is to be known of both are
 * the variables of their uevents, which their file uevent has at any time. One ordered worker
 * compares what is registered with the state, because that file takes the fabric's lock. States
 * that come and go faster are folded into one uevent; the netlink events leave none out.
 *
 * Links lead from a slot to its port, "port", and back, "gpufabric": a rule for a GPU finds the
 * slot by the GPU's path. The notifier takes them away before the PCI core removes the port's
 * folder. And a slot has a node, /dev/gpufabric/NAME, which nobody can open. It stands for the
 * place that a GPU can take, filled or not, where a scheduler counts places by device nodes: what
 * it does with the numbers of the node, it does to nobody's device.
 */
#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/slab.h>

#include "compat.h"
#include "op.h"
#include "snapshot.h"

/*
 * Covers linked and unlinked of every slot, and the links. Taken in the notifier, with the rescan
 * lock held, and by workers; nothing but what sysfs takes is taken inside it.
 */
static DEFINE_MUTEX(gf_link_lock);

/* Slots beyond these have no node. */
#define NODES_MAX 4096

/* The numbers of nodes. They have no driver, so whoever opens one gets ENXIO. */
static dev_t nodes;
static DEFINE_IDA(node_minors);

static struct gf_slot *slot_of(const struct device *dev)
{
	/* The child's parent is the slot. */
	if (dev->parent && dev->parent->class == dev->class)
		return dev_to_gf_slot(dev->parent);
	return container_of(dev, struct gf_slot, dev);
}

static const char *const occupancies[] = { "empty", "unknown", "gpu", "other" };
static const char *const powers[] = { "off", "on", "changing", "no-control" };
static const char *const activities[] = { "none", "draining", "attaching", "detaching" };
static const char *const healths[] = { "ok", "fault", "lost", "stuck" };

/* Only of devices with numbers, that is of slots. */
static char *fabric_devnode(gf_class_device *dev, umode_t *mode)
{
	return kasprintf(GFP_KERNEL, "gpufabric/%s", slot_of(dev)->name);
}

/* The GPU's modalias has another name: or rules would load drivers for our device. */
static int add_gpu(const struct gf_function *gpu, struct kobj_uevent_env *env)
{
	return add_uevent_var(env, "GPUFABRIC_ADDRESS=%s", gpu->address) ?:
	       add_uevent_var(env, "GPUFABRIC_MODALIAS=pci:v%08Xd%08Xsv%08Xsd%08Xbc%02Xsc%02Xi%02X",
			      gpu->ids.id[0], gpu->ids.id[1], gpu->ids.id[2], gpu->ids.id[3],
			      gpu->class >> 16, gpu->class >> 8 & 0xff, gpu->class & 0xff);
}

static int fabric_uevent(gf_class_device *dev, struct kobj_uevent_env *env)
{
	const struct gf_slot *slot = slot_of(dev);
	const struct gf_function *gpu;
	struct gf_condition now;

	guard(mutex)(&gf.lock);
	now = gf_slot_condition(slot);
	gpu = gf_snapshot_gpu(slot->snap);
	return add_uevent_var(env, "GPUFABRIC_SLOT=%s", slot->name) ?:
	       add_uevent_var(env, "GPUFABRIC_OCCUPANCY=%s", occupancies[now.occupancy]) ?:
	       add_uevent_var(env, "GPUFABRIC_POWER=%s", powers[now.power]) ?:
	       add_uevent_var(env, "GPUFABRIC_ACTIVITY=%s", activities[now.activity]) ?:
	       add_uevent_var(env, "GPUFABRIC_HEALTH=%s", healths[now.health]) ?:
	       add_uevent_var(env, "GPUFABRIC_PORT=%s", slot->address) ?:
	       (gpu ? add_gpu(gpu, env) : 0) ?:
	       (slot->composition ? add_uevent_var(env, "GPUFABRIC_COMPOSITION=%s",
						   slot->composition->name) : 0);
}

static struct class fabric_class = {
	.name = "gpufabric", .dev_uevent = fabric_uevent, .devnode = fabric_devnode,
};

static void gpu_release(struct device *dev)
{
	kfree(dev);
}

static struct device *gpu_create(struct gf_slot *slot)
{
	struct device *dev = kzalloc(sizeof(*dev), GFP_KERNEL);
	int err;

	if (!dev)
		return NULL;
	device_initialize(dev);
	device_set_pm_not_required(dev);
	dev->class = &fabric_class;
	dev->parent = &slot->dev;
	dev->release = gpu_release;
	err = dev_set_name(dev, "%s!gpu", dev_name(&slot->dev)) ?: device_add(dev);
	if (!err)
		return dev;
	dev_warn(&slot->dev, "cannot register the device of the GPU: error %d\n", err);
	put_device(dev);
	return NULL;
}

static void publish_gpu(struct gf_slot *slot, bool wanted, u32 incarnation)
{
	if (slot->gpu_dev && (!wanted || slot->gpu_incarnation != incarnation)) {
		device_unregister(slot->gpu_dev);
		slot->gpu_dev = NULL;
	}
	if (wanted && !slot->gpu_dev) {
		slot->gpu_dev = gpu_create(slot);
		slot->gpu_incarnation = incarnation;
	}
}

static void link_port(struct gf_slot *slot)
{
	struct kobject *port = &slot->port->dev.kobj;

	guard(mutex)(&gf_link_lock);
	if (slot->unlinked)
		return;
	/* Slots of other drivers may share a bridge, which has the link of the first. */
	slot->linked = !sysfs_create_link_nowarn(port, &slot->dev.kobj, "gpufabric");
	if (sysfs_create_link(&slot->dev.kobj, port, "port"))
		dev_warn(&slot->dev, "cannot make the sysfs link from slot %s to its port\n",
			 slot->name);
}

/* For ever; that from the slot to its port goes with the slot's device. */
void gf_device_unlink(struct gf_slot *slot)
{
	guard(mutex)(&gf_link_lock);
	if (slot->linked)
		sysfs_remove_link(&slot->port->dev.kobj, "gpufabric");
	slot->linked = false;
	slot->unlinked = true;
}

/* Bring devices and uevents in line with a slot's state; the work holds a reference on the slot. */
void gf_device_publish(struct work_struct *work)
{
	struct gf_slot *slot = container_of(work, struct gf_slot, publish);
	bool retired, usable;
	u32 incarnation;

	scoped_guard(mutex, &gf.lock) {
		retired = slot->retired || !slot->id; /* not taken in yet, it has no name */
		usable = slot->state == GF_STATE_READY || slot->state == GF_STATE_DRAINING;
		incarnation = slot->incarnation;
	}
	/* Nobody follows the PCI slot of one that is dying, and its name may be wanted. */
	if (READ_ONCE(slot->dying) && !slot->nameless) {
		pci_destroy_slot(slot->pci_slot);
		WRITE_ONCE(slot->nameless, true);
		wake_up_all(&slot->changed);
	}

	/* Once: a device that could not be added cannot be added again. */
	if (!slot->added && !retired) {
		slot->added = true;
		if (device_add(&slot->dev))
			dev_warn(&slot->dev, "cannot register the device of slot %s\n", slot->name);
		else
			link_port(slot);
	} else if (device_is_registered(&slot->dev) && !retired) {
		kobject_uevent(&slot->dev.kobj, KOBJ_CHANGE);
	}
	publish_gpu(slot, usable && !retired && device_is_registered(&slot->dev), incarnation);
	if (device_is_registered(&slot->dev) && retired)
		device_del(&slot->dev);
	gf_slot_put(slot);
}

/* Name the device of a slot that has its id, and number it; the next publish registers it. */
void gf_device_init(struct gf_slot *slot)
{
	int minor = ida_alloc_max(&node_minors, NODES_MAX - 1, GFP_KERNEL);

	slot->dev.class = &fabric_class;
	if (minor >= 0)
		slot->dev.devt = nodes + minor;
	dev_set_name(&slot->dev, "slot%u", slot->id);
}

/* The device of a slot is gone, so its numbers can be another slot's. */
void gf_device_exit(struct gf_slot *slot)
{
	if (slot->dev.devt)
		ida_free(&node_minors, slot->dev.devt - nodes);
}

int gf_device_start(void)
{
	int err = alloc_chrdev_region(&nodes, 0, NODES_MAX, "gpufabric");

	if (err)
		return err;
	err = class_register(&fabric_class);
	if (err)
		unregister_chrdev_region(nodes, NODES_MAX);
	return err;
}

void gf_device_stop(void)
{
	class_unregister(&fabric_class);
	unregister_chrdev_region(nodes, NODES_MAX);
}
