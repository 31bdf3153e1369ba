/* SPDX-License-Identifier: GPL-2.0-only */
/* What services tell systemd: the service manager, and the journal. */
#ifndef GPUCTL_BASE_SERVICE_H
#define GPUCTL_BASE_SERVICE_H

#include <sys/uio.h>

/* Tell the service manager, in the words of sd_notify(3); nothing when it did not start us. */
void service_notify(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Write an entry of @n fields, each "NAME=value" without a final newline, to the journal. Returns 0 or a negative
 * errno: -ENOPKG without libsystemd.
 */
int service_log(const struct iovec *fields, int n);

#endif
