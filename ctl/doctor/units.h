/* SPDX-License-Identifier: GPL-2.0-only */
/* What systemctl says of our units. */
#ifndef GPUCTL_DOCTOR_UNITS_H
#define GPUCTL_DOCTOR_UNITS_H

#include <stdbool.h>

/**
 * struct unit - a unit as systemctl show has it
 * @id: its name
 * @load: loaded, masked, error, ...
 * @active: active, failed, ...
 * @file: enabled, static, ...; "" when it has no file
 */
struct unit {
	char id[256];
	char load[32];
	char active[32];
	char file[32];
};

/* The next block of "Property=value" lines; false after the last. */
bool units_next(const char **text, struct unit *unit);
/* Of this host, NULL without systemd. */
char *units_read(void);

#endif /* GPUCTL_DOCTOR_UNITS_H */
