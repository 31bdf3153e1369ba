/* SPDX-License-Identifier: GPL-2.0-only */
/* Where checks look, and so what a copy of a host has. Lists end with NULL. */
#ifndef GPUCTL_DOCTOR_PLACES_H
#define GPUCTL_DOCTOR_PLACES_H

#define PLACE_MODULE "sys/module/gpufabric"
#define PLACE_ROOT_PORTS PLACE_MODULE "/parameters/root_ports"
#define PLACE_CARDS PLACE_MODULE "/parameters/cards"
#define PLACE_SIG_ENFORCE "sys/module/module/parameters/sig_enforce"
#define PLACE_LOCKDOWN "sys/kernel/security/lockdown"
#define PLACE_SECURE_BOOT "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

/* Files that are copied as they are. */
extern const char *const places_files[];
/* Of udev's rules and hardware database, the one that counts first. */
extern const char *const places_udev[];
/* The hardware database as it is compiled, likewise. */
extern const char *const places_hwdb[];
/* Of units, likewise. */
extern const char *const places_units[];
/* Units that start others which somebody has to enable. */
extern const char *const places_starters[];
extern const char *const places_cdi[];

#endif /* GPUCTL_DOCTOR_PLACES_H */
