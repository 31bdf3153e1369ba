/* SPDX-License-Identifier: GPL-2.0-only */
/* How busy GPUs are, by NVIDIA's management library. */
#ifndef GPUCTL_PROBE_NVML_H
#define GPUCTL_PROBE_NVML_H

#include <stddef.h>

#include "base/fault.h"

/*
 * Mean percent of the GPUs at @addresses: "sm", the part of their multiprocessors that works, or
 * "util", the part of the time in which any of them does. The library is closed again before
 * this returns. 0 or a negative errno with the reason.
 */
int nvml_busy(const char *what, char *const *addresses, size_t n, double *percent, struct fault *f);

#endif /* GPUCTL_PROBE_NVML_H */
