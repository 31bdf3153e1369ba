/* SPDX-License-Identifier: GPL-2.0-only */
/* Which parameter of the kernel makes windows of a switch large enough. */
#ifndef GPUCTL_DOCTOR_GROW_H
#define GPUCTL_DOCTOR_GROW_H

#include "doctor/doctor.h"
#include "host/room.h"

/**
 * struct grow - what would help
 * @parameter: for the kernel's command line, owned; NULL when no parameter helps
 * @why: why none does, owned
 * @unknown: nobody knows who has set the windows
 */
struct grow {
	char *parameter;
	char *why;
	bool unknown;
};

/* For cards in some ports of a bus at once; @ports are of the bus. */
void grow_free(struct grow *grow);
void grow_windows(const struct doctor *doctor, const struct room *room, const u32 *ports, size_t n,
		  uint64_t bar, struct grow *grow);

/* "256G": as the kernel reads sizes. */
const char *grow_size(char buf[24], uint64_t bytes);

#endif /* GPUCTL_DOCTOR_GROW_H */
