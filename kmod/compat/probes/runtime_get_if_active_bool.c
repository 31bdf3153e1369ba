// SPDX-License-Identifier: GPL-2.0-only
/* Whether a device that nobody uses is active is asked by an argument. */
#include <linux/pm_runtime.h>

int probe(struct device *dev)
{
	return pm_runtime_get_if_active(dev, true);
}
