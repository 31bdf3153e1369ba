/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes as /proc has them. */
#ifndef GPUCTL_PROCESS_H
#define GPUCTL_PROCESS_H

#include <stddef.h>

/*
 * As much of the file @name of the folder @dir as @buf has room for, and a NUL behind it; the number
 * of bytes. What cannot be read is empty.
 */
size_t process_read(int dir, const char *name, char *buf, size_t size);
/*
 * Open the folder with the files and the memory of the process @pid, @proc being that of all: its
 * own, or that of a thread. -1: it is a thread of the kernel, or gone.
 */
int process_open(int proc, const char *pid);

#endif /* GPUCTL_PROCESS_H */
