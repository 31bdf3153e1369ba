/* SPDX-License-Identifier: GPL-2.0-only */
/* Room for GPUs on the bus of a switch, judged by the module's own code. */
#ifndef GPUCTL_DOCTOR_ROOM_H
#define GPUCTL_DOCTOR_ROOM_H

#include "doctor/doctor.h"
#include "kmod/fit.h"

/**
 * struct room - the windows of a bus as the module would copy them
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
void room_read(const struct doctor *doctor, size_t port, struct room *room);
void room_free(struct room *room);

/* Which port of the bus that is, GF_FIT_NOBODY when it is not on it. */
u32 room_port(const struct room *room, size_t port);

/* Nobody lives behind a port any more: its GPU is taken out in thought. */
void room_vacate(struct room *room, u32 port);

/* What a card with such a large BAR needs, as the module believes of one that is declared. */
void room_need(uint64_t bar, struct gf_fit_need *need);

/* One card alone, or one more of several. */
void room_judge_alone(const struct room *room, u32 port, const struct gf_fit_need *need,
		      struct gf_fit_result *result);
void room_trial(struct room *room, struct gf_fit_trial *trial);

/* Windows of the root bus that a device is on; from the log, else from what is taken of it. */
size_t room_root_windows(const struct doctor *doctor, const struct pci_device *dev,
			 struct gf_fit_window *windows, size_t max);

#endif /* GPUCTL_DOCTOR_ROOM_H */
