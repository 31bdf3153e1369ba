// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: resets
 *
 * The PCI core knows which resets a function has, quirks included, and lists them in
 * reset_method. Few drivers survive a reset that they were not told of: so the driver goes
 * first, and comes again afterwards.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/reset.h"

#define FUNCTION "sys/bus/pci/devices/%s"
#define DRIVER "sys/bus/pci/drivers/%s"

bool reset_is_offered(const struct tree *tree, const struct gf_slot *slot)
{
	const struct gf_function *gpu = NULL;
	bool offered = false;

	while ((gpu = gf_gpu_next(slot, gpu))) {
		char *methods = tree_line(tree, FUNCTION "/reset_method", gpu->address);

		offered = methods && *methods;
		free(methods);
		if (!offered)
			break;
	}
	return offered;
}

static int reset_function(const struct tree *tree, const struct gf_function *gpu,
			  struct fault *fault)
{
	int err = 0, again = 0;

	if (gpu->driver)
		err = tree_write(tree, gpu->address, DRIVER "/unbind", gpu->driver);
	if (err)
		return fault_set(fault, -err, "driver %s does not let go of %s: %s", gpu->driver,
				 gpu->address, strerror(-err));
	err = tree_write(tree, "1", FUNCTION "/reset", gpu->address);
	if (gpu->driver)
		again = tree_write(tree, gpu->address, DRIVER "/bind", gpu->driver);
	if (err)
		return fault_set(fault, -err, "the reset of %s failed: %s", gpu->address,
				 strerror(-err));
	if (again)
		return fault_set(fault, -again, "driver %s does not bind to %s again: %s",
				 gpu->driver, gpu->address, strerror(-again));
	return 0;
}

int reset_gpus(const struct tree *tree, const struct gf_slot *slot, struct fault *fault)
{
	const struct gf_function *gpu = NULL;
	int err = 0;

	while (!err && (gpu = gf_gpu_next(slot, gpu)))
		err = reset_function(tree, gpu, fault);
	return err;
}
