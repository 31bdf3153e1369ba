/* SPDX-License-Identifier: GPL-2.0-only */
/* What the programs of drivers have in common. */
#ifndef GPUCTL_DRIVER_PROGRAM_H
#define GPUCTL_DRIVER_PROGRAM_H

#include "driver/client.h"
#include "driver/job.h"

/* Does a job and prints its answer; returns enum ctl_exit. */
typedef int (*driver_fn)(const struct job *job, struct client *client, struct fault *f);

/* All of main(), for files of this driver. */
int driver_main(int argc, enum manager_driver driver, const struct client_dialect *dialect,
		driver_fn run);

#endif /* GPUCTL_DRIVER_PROGRAM_H */
