/* SPDX-License-Identifier: GPL-2.0-only */
/* How much of a GPU's memory is used: its driver's file, NVML, or nvidia-smi's output. */
#ifndef GPUCTL_USED_H
#define GPUCTL_USED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bytes used by the GPU at PCI address "0000:01:00.0"; @smi is the output of
 * nvidia-smi --query-gpu=pci.bus_id,memory.used --format=csv,noheader,nounits, or
 * NULL to ask the host. @source says who answered. False if nobody does.
 */
bool used_memory(const char *address, const char *smi, uint64_t *bytes, const char **source);

/* A line "00000000:01:00.0, 71234" of that output; MiB, with or without the word. */
bool used_from_smi(const char *text, const char *address, uint64_t *bytes);

#endif
