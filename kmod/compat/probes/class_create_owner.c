// SPDX-License-Identifier: GPL-2.0-only
/* class_create() takes the owning module. */
#include <linux/device.h>
#include <linux/module.h>

struct class *probe(void)
{
	return class_create(THIS_MODULE, "probe");
}
