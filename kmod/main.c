// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: gpufabric
 *
 * Hot-attach, hot-detach and composition of GPUs behind PCIe switches. This file only wires the
 * parts together and takes them apart again.
 *
 * Unloading is refused while an operation or a composition lives: each holds a reference on the
 * module. So when the exit runs nobody is in a slot driver for us, and only workers look.
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

/*
 * In the order of their start. At the end no requests come any more, then there are no looks and
 * slots, then no news: a port may go while its slot does. What is queued uses devices and slots.
 */
static const struct {
	int (*start)(void);
	void (*stop)(void);
} parts[] = {
	{ gf_slot_start, gf_slot_stop }, { gf_device_start, gf_device_stop },
	{ alloc_queues, free_queues }, { gf_notify_start, gf_notify_stop },
	{ gf_inventory_start, gf_inventory_stop }, { gf_sleep_start, gf_sleep_stop },
	/* Who asks finds all slots that there are. */
	{ gf_netlink_start, gf_netlink_stop },
};

static void stop_parts(unsigned int count)
{
	while (count--)
		parts[count].stop();
	gf_history_free();
}

static int __init gpufabric_init(void)
{
	unsigned int i;
	int err;

	gf.instance = get_random_u64();
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		err = parts[i].start();
		if (err) {
			stop_parts(i);
			return err;
		}
	}
	scoped_guard(mutex, &gf.lock)
		pr_info("gpufabric: %u switches, %u slots\n", gf.nr_switches, gf.nr_slots);
	return 0;
}

static void __exit gpufabric_exit(void)
{
	stop_parts(ARRAY_SIZE(parts));
}

module_init(gpufabric_init);
module_exit(gpufabric_exit);

MODULE_AUTHOR("The gpufabric authors");
MODULE_DESCRIPTION("Hot-attach, hot-detach and composition of GPUs behind PCIe switches");
MODULE_LICENSE("GPL");
MODULE_VERSION(GPUFABRIC_VERSION);
MODULE_ALIAS_GENL_FAMILY(GPUFABRIC_FAMILY_NAME);
