/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_RESCAN_H
#define GPUFABRIC_RESCAN_H

#include <linux/sched.h>
#include <linux/types.h>

struct pci_dev;

/* A task that is binding or unbinding a driver. */
struct gf_binding {
	const struct pci_dev *pdev; /* the device, NULL for none; compared, never followed */
	bool unbinds; /* it unbinds */
	bool ours; /* for us */
	pid_t pid; /* its number in the initial namespace; 0 where it is not a kernel thread */
	char comm[TASK_COMM_LEN]; /* its name, likewise empty: everybody may read it */
	u64 since; /* when it began, as gf_clock_ms() */
	char address[16]; /* of the device */
};

void gf_rescan_note(struct pci_dev *pdev, unsigned long action);
void gf_rescan_oldest(struct gf_binding *found);
bool gf_rescan_lock(void);
void gf_rescan_unlock(void);
bool gf_port_lock(struct pci_dev *port);

#endif /* GPUFABRIC_RESCAN_H */
