// SPDX-License-Identifier: GPL-2.0-only
/* Where checks look: one list for them and for what makes copies. */
#include <stddef.h>

#include "doctor/places.h"

const char *const places_files[] = {
	"proc/cmdline",
	"proc/version",
	"proc/iomem",
	"proc/sys/kernel/osrelease",
	"proc/sys/kernel/tainted",
	PLACE_MODULE "/version",
	PLACE_MODULE "/taint",
	PLACE_ROOT_PORTS,
	PLACE_CARDS,
	PLACE_SIG_ENFORCE,
	PLACE_LOCKDOWN,
	PLACE_SECURE_BOOT,
	NULL,
};

const char *const places_udev[] = { "etc/udev", "run/udev", "usr/lib/udev", "lib/udev", NULL };

const char *const places_hwdb[] = { "etc/udev/hwdb.bin", "usr/lib/udev/hwdb.bin",
				    "lib/udev/hwdb.bin", NULL };

const char *const places_units[] = { "etc/systemd/system", "run/systemd/system",
				     "usr/lib/systemd/system", "lib/systemd/system", NULL };

const char *const places_starters[] = { "gpufabric.target", "gpufabric-changed.service", NULL };

const char *const places_cdi[] = { "etc/cdi", "run/cdi", NULL };
