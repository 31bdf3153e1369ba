/* SPDX-License-Identifier: GPL-2.0-only */
/* The windows on the bus of a switch, and what room they have for GPUs. */
#ifndef GPUCTL_HOST_ROOM_H
#define GPUCTL_HOST_ROOM_H

#include "base/tree.h"
#include "host/fit.h"
#include "host/klog.h"
#include "host/pci.h"

/**
 * struct host - the host that is looked at, or as much of it as was read
 * @tree: its files
 * @pci: its PCI devices
 * @log: its kernel's log, NULL when that was not read
 * @release: of its kernel
 */
struct host {
	const struct tree *tree;
	const struct pci_list *pci;
	const struct klog *log;
	const char *release;
};

/**
 * struct room - the windows of a bus as sysfs shows them
 * @bus: the copy
 * @above: index of the bridge above, PCI_NOBODY for a root bus
 * @ports: index of the port for each port of @bus
 * @moved: memory for trials
 */
struct room {
	struct gf_fit_bus bus;
	size_t above;
	size_t *ports;
	struct gf_fit_range *moved;
};

/* The bus that a port is on. */
void room_read(const struct host *host, size_t port, struct room *room);
void room_free(struct room *room);

/* Which port of the bus that is, GF_FIT_NOBODY when it is not on it. */
u32 room_port(const struct room *room, size_t port);

/* Nobody lives behind a port any more: its GPU is taken out in thought. */
void room_vacate(struct room *room, u32 port);

/* What a card with such a large BAR needs, as is believed of one that is only declared. */
void room_need(uint64_t bar, struct gf_fit_need *need);

/* One card alone, or one more of several. */
void room_judge_alone(const struct room *room, u32 port, const struct gf_fit_need *need,
		      struct gf_fit_result *result);
void room_trial(struct room *room, struct gf_fit_trial *trial);

/* Windows of the root bus that a device is on; from the log, else from what is taken of it. */
size_t room_root_windows(const struct host *host, const struct pci_device *dev,
			 struct gf_fit_window *windows, size_t max);

#endif /* GPUCTL_HOST_ROOM_H */
