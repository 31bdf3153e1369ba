// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: --driver
 *
 * The module has the driver bind that a request names. That it is loaded, and can do
 * its work on this host, is found out here before any slot gets power: a driver that is
 * not there would leave the GPU to be awaited in vain.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "choose/driver.h"
#include "host/iommu.h"

#define SYS "/sys"

/* Those that hand a GPU to a guest: vfio-pci, and the variants of vendors. */
static bool is_for_guests(const char *driver)
{
	return strstr(driver, "vfio");
}

static bool is_loaded(const char *driver)
{
	char *path = mem_printf(SYS "/bus/pci/drivers/%s", driver);
	bool loaded = driver[0] != '.' && !strchr(driver, '/') && !access(path, F_OK);

	free(path);
	return loaded;
}

/* Admins can have vfio do without, who then know what they do. */
static bool does_without_iommu(void)
{
	FILE *f = fopen(SYS "/module/vfio/parameters/enable_unsafe_noiommu_mode", "re");
	bool does = f && fgetc(f) == 'Y';

	if (f)
		fclose(f);
	return does;
}

int driver_check(struct ctl_ctx *ctx, const char *driver)
{
	if (!driver)
		return CTL_DONE;
	if (!*driver || strlen(driver) > GPUFABRIC_DRIVER_MAX)
		return ctl_fail(ctx, CTL_USAGE, "--driver: a name of at most %d bytes",
				GPUFABRIC_DRIVER_MAX);
	if (!is_loaded(driver))
		return ctl_fail(ctx, CTL_FAILED,
				"driver %s is not loaded, nothing was attached: modprobe %s, then try again",
				driver, driver);
	if (is_for_guests(driver) && !iommu_is_on(SYS) && !does_without_iommu())
		return ctl_fail(ctx, CTL_FAILED,
				"driver %s needs the IOMMU, which is off, nothing was attached: switch it on in the firmware (VT-d, AMD-Vi), and on Intel boot with intel_iommu=on",
				driver);
	return CTL_DONE;
}

bool driver_suits(const char *driver, const struct gf_slot *slot)
{
	const struct gf_function *gpu = NULL;

	while ((gpu = gf_gpu_next(slot, gpu))) {
		if (driver && (!gpu->driver || strcmp(gpu->driver, driver)))
			return false;
		if (!driver && gpu->driver && is_for_guests(gpu->driver))
			return false;
	}
	return true;
}

void driver_warn(const struct session *session, const char *driver, const struct gf_slot *slot)
{
	char *others;

	if (!slot || !driver || !is_for_guests(driver))
		return;
	others = iommu_others(SYS, slot);
	if (others)
		ctl_warn(session->ctx,
			 "%s is not isolated: its IOMMU group also holds %s, and a guest gets both or neither",
			 slot->name, others);
	free(others);
}
