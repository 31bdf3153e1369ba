/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel said about PCI while it booted. */
#ifndef GPUCTL_HOST_KLOG_H
#define GPUCTL_HOST_KLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/pci.h"

/**
 * struct klog_window - a window of a host bridge
 * @domain: its PCI domain
 * @bus: its root bus
 * @range: the window
 */
struct klog_window {
	unsigned int domain, bus;
	struct pci_range range;
};

/**
 * struct klog_dip - a port whose card pciehp took for removed, and found again at once
 * @port: address of the port
 * @slot: as pciehp calls it
 * @count: how often
 * @down: it was said to be gone and not yet to be back
 * @since: when, in seconds since the boot; negative where the log has no times
 */
struct klog_dip {
	char port[24];
	char slot[24];
	size_t count;
	bool down;
	double since;
};

/**
 * struct klog - the kernel's log, what counts of it
 * @complete: it begins with the boot, so that what is not said was not done
 * @windows: of host bridges
 * @n_windows: how many
 * @sized: addresses of bridges whose prefetchable window the kernel placed before they had drivers
 * @n_sized: how many
 * @refused: firmware kept native hot-plug of a host bridge
 * @granted: and gave it for another
 * @os_refused: the line that says so, the last one
 * @dips: ports that pciehp said something of
 * @n_dips: how many
 */
struct klog {
	bool complete;
	struct klog_window *windows;
	size_t n_windows;
	char (*sized)[24];
	size_t n_sized;
	bool refused, granted;
	char *os_refused;
	struct klog_dip *dips;
	size_t n_dips;
};

void klog_parse(struct klog *log, const char *text);
void klog_free(struct klog *log);
bool klog_sized(const struct klog *log, const char *address);
/* That of this host, out of the journal if it has lost its beginning; NULL if none may be read. */
char *klog_read(void);

#endif /* GPUCTL_HOST_KLOG_H */
