/* SPDX-License-Identifier: GPL-2.0-only */
/* What tells a vendor's runtime which GPUs a process may see. */
#ifndef GPUCTL_VISIBLE_H
#define GPUCTL_VISIBLE_H

#include "base/text.h"
#include "module/model.h"

/**
 * struct visible - the value of one variable
 * @name: of the variable, static
 * @value: owned
 */
struct visible {
	const char *name;
	char *value;
};

#define VISIBLE_MAX 4

/*
 * Variables for the GPUs in @slots, at most VISIBLE_MAX; returns how many. A GPU is named
 * by what stays the same when others come and go: its UUID for CUDA, its unique id
 * for ROCr. Level Zero knows only numbers, which are made to follow the PCI addresses.
 * A vendor whose driver does not tell gets no variable. @proc and @sys are where
 * these file systems are.
 */
size_t visible_devices(const char *proc, const char *sys, const struct gf_slot *const *slots,
		       size_t n, struct visible variables[VISIBLE_MAX]);
void visible_free(struct visible *variables, size_t n);

#endif /* GPUCTL_VISIBLE_H */
