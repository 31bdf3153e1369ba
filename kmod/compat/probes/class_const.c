// SPDX-License-Identifier: GPL-2.0-only
#include <linux/device.h>

static int uevent(const struct device *dev, struct kobj_uevent_env *env)
{
	return 0;
}

static char *devnode(const struct device *dev, umode_t *mode)
{
	return NULL;
}

const struct class class = { .dev_uevent = uevent, .devnode = devnode };
