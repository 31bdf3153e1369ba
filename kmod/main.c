// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: gpufabric
 *
 * Hot-attach, hot-detach and composition of GPUs behind PCIe switches. This file only wires the
 * parts together and takes them apart again.
 *
 * Unloading is refused while an operation or a composition lives: each holds a reference on the
 * module. So when the exit runs, nobody is in a slot driver on our behalf, and what is left are
 * workers that look.
 */
#include <linux/module.h>
#include <linux/random.h>

#include "compat.h"
#include "netlink.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* Operations that may be under way at once: they sleep, they do not compute. */
#define GF_WORKERS_MAX 512

struct gf_fabric gf = {
	.lock = __MUTEX_INITIALIZER(gf.lock),
	.slots = XARRAY_INIT(gf.slots, XA_FLAGS_ALLOC1),
	.switches = XARRAY_INIT(gf.switches, XA_FLAGS_ALLOC1),
	.compositions = XARRAY_INIT(gf.compositions, XA_FLAGS_ALLOC1),
};

static void free_queues(void)
{
	if (gf.work_wq)
		destroy_workqueue(gf.work_wq);
	if (gf.scan_wq)
		destroy_workqueue(gf.scan_wq);
	if (gf.uevent_wq)
		destroy_workqueue(gf.uevent_wq);
}

static int alloc_queues(void)
{
	gf.work_wq = alloc_workqueue("gpufabric_work", WQ_UNBOUND, GF_WORKERS_MAX);
	gf.scan_wq = alloc_workqueue("gpufabric_scan", WQ_UNBOUND | WQ_FREEZABLE, 0);
	gf.uevent_wq = alloc_ordered_workqueue("gpufabric_uevent", 0);
	if (gf.work_wq && gf.scan_wq && gf.uevent_wq)
		return 0;
	free_queues();
	return -ENOMEM;
}

static int __init gpufabric_init(void)
{
	int err;

	err = gf_inventory_check() ?: alloc_queues();
	if (err)
		return err;
	err = gf_device_start();
	if (err)
		goto err_queues;
	err = gf_notify_start();
	if (err)
		goto err_device;
	err = gf_sleep_start();
	if (err)
		goto err_notify;
	gf.instance = get_random_u64();
	gf_inventory_start();
	/* Who asks finds all slots that there are. */
	err = gf_netlink_start();
	if (err)
		goto err_inventory;
	scoped_guard(mutex, &gf.lock)
		pr_info("gpufabric: %u switches, %u slots\n", gf.nr_switches, gf.nr_slots);
	return 0;

err_inventory:
	gf_sleep_stop();
	gf_inventory_stop();
err_notify:
	gf_notify_stop();
err_device:
	gf_device_stop();
err_queues:
	free_queues();
	gf_history_free();
	return err;
}

static void __exit gpufabric_exit(void)
{
	/* No requests, then no looks and slots, then no news: a port may go while its slot does. */
	gf_netlink_stop();
	gf_sleep_stop();
	gf_inventory_stop();
	gf_notify_stop();
	free_queues();
	gf_device_stop();
	gf_history_free();
	xa_destroy(&gf.slots);
	xa_destroy(&gf.switches);
	xa_destroy(&gf.compositions);
}

module_init(gpufabric_init);
module_exit(gpufabric_exit);

MODULE_AUTHOR("The gpufabric authors");
MODULE_DESCRIPTION("Hot-attach, hot-detach and composition of GPUs behind PCIe switches");
MODULE_LICENSE("GPL");
MODULE_VERSION(GPUFABRIC_VERSION);
MODULE_ALIAS_GENL_FAMILY(GPUFABRIC_FAMILY_NAME);
