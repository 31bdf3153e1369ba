/* SPDX-License-Identifier: GPL-2.0-only */
/* Which virtual machine a process is. */
#ifndef GPUCTL_VM_H
#define GPUCTL_VM_H

#include <stddef.h>

/*
 * Name of the virtual machine of a process, by the -name of its command line (@size bytes,
 * a NUL behind each argument) or by the machine scope among its control groups; NULL when
 * neither tells of one. The caller frees it.
 */
char *vm_name(const char *cmdline, size_t size, const char *cgroup);

#endif /* GPUCTL_VM_H */
