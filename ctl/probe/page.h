/* SPDX-License-Identifier: GPL-2.0-only */
/* A page of a server on this host. */
#ifndef GPUCTL_PROBE_PAGE_H
#define GPUCTL_PROBE_PAGE_H

#include "base/fault.h"

/*
 * The text below http://HOST:PORT/PATH of a loopback address, or unix:SOCKET:/PATH; the caller
 * frees. NULL with the reason.
 */
char *page_read(const char *address, struct fault *f);

#endif /* GPUCTL_PROBE_PAGE_H */
