/* SPDX-License-Identifier: GPL-2.0-only */
/* Who decides what is in a file: only root and who runs us? */
#ifndef GPUCTL_TRUST_H
#define GPUCTL_TRUST_H

#include "base/fault.h"

/*
 * May only root, and who runs us, write what is at this path? Every directory on the way
 * counts. In one with the sticky bit others can make files, but not replace ours. 0, -EPERM with
 * what others may write and how to mend it, or another negative errno.
 */
int trust_path(const char *path, struct fault *f);

/* The same, and may nobody else read it? For files with keys and passwords. */
int trust_secret(const char *path, struct fault *f);

#endif /* GPUCTL_TRUST_H */
