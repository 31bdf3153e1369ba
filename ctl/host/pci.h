/* SPDX-License-Identifier: GPL-2.0-only */
/* The PCI devices of a tree, as sysfs shows them. */
#ifndef GPUCTL_HOST_PCI_H
#define GPUCTL_HOST_PCI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tree.h"

#define PCI_RESOURCES 17
#define PCI_NOBODY ((size_t)-1)

/* Flags of the kernel's resources that count here. */
#define PCI_RES_MEM 0x00000200u
#define PCI_RES_PREFETCH 0x00002000u
#define PCI_RES_WIDE 0x00100000u
#define PCI_RES_UNSET 0x20000000u

/* Port types of the PCI Express capability. */
enum pci_port {
	PCI_PORT_NONE = -1, /* no PCI Express capability */
	PCI_PORT_ENDPOINT = 0,
	PCI_PORT_ROOT = 4,
	PCI_PORT_UPSTREAM = 5,
	PCI_PORT_DOWNSTREAM = 6,
};

/**
 * struct pci_range - a BAR or a window
 * @start: first address
 * @end: last one
 * @flags: as in the kernel; 0 for what is not there
 */
struct pci_range {
	uint64_t start, end;
	uint64_t flags;
};

/**
 * struct pci_device - a PCI device
 * @address: "0000:01:00.0"
 * @path: below sys/devices: "pci0000:00/0000:00:01.0/0000:01:00.0"
 * @parent: index of the bridge above it, PCI_NOBODY on a root bus
 * @vendor: PCI vendor id
 * @device: PCI device id
 * @class: all three bytes of it
 * @config: configuration space as far as it could be read
 * @config_len: that far
 * @res: BARs and expansion ROM in the first seven; of a bridge also
 * @window: its memory window and its prefetchable one, flags 0 where there is none
 * @port: enum pci_port
 * @bus_first: bus number below a bridge
 * @bus_last: last one below it
 * @driver: name of its driver, NULL when none is bound
 * @slotted: the port implements a slot
 * @hotplug: and has a hot-plug controller
 * @native: and pciehp drives it
 */
struct pci_device {
	char *address;
	char *path;
	size_t parent;
	uint16_t vendor, device;
	uint32_t class;
	uint8_t *config;
	size_t config_len;
	struct pci_range res[7];
	struct pci_range window[2];
	enum pci_port port;
	bool bridge;
	unsigned int bus_first, bus_last;
	char *driver;
	bool slotted, hotplug, native;
};

struct pci_list {
	struct pci_device *items;
	size_t n;
};

void pci_read(const struct tree *tree, struct pci_list *list);
/*
 * Only the bus that a port is on: the bridge above, what is on it and directly behind that.
 * Nobody is woken for it; addresses alone are known then, and no bus numbers.
 */
void pci_read_bus(const struct tree *tree, const char *port, struct pci_list *list);
void pci_free(struct pci_list *list);

/*
 * BARs and windows of one device as the kernel remembers them; nobody is woken for it. Sets
 * dev->res, dev->window, dev->class and dev->bridge, which are 0 where the device is gone.
 */
void pci_read_ranges(const struct tree *tree, const char *address, struct pci_device *dev);
struct pci_device *pci_find(const struct pci_list *list, const char *address);
/* Where in config space extended capabilities begin; only root can read that far. */
#define PCI_EXTENDED_BASE 0x100
/* Configuration space alone, for pci_config() and pci_extended(); the caller frees dev->config. */
void pci_read_config(const struct tree *tree, const char *address, struct pci_device *dev);
/*
 * Path of a device below sys/devices ("pci0000:00/0000:00:01.0/0000:01:00.0"), newly
 * allocated; NULL when the device is gone.
 */
char *pci_path(const struct tree *tree, const char *address);
/* Offset of an extended capability in config space, 0 when it has none (or was not readable). */
unsigned int pci_extended(const struct pci_device *dev, unsigned int capability);
/* What of a little-endian register could be read, else 0. */
uint32_t pci_config(const struct pci_device *dev, unsigned int at, unsigned int bytes);
bool pci_is_gpu(const struct pci_device *dev);
/* Its registers can be read without waking anybody. */
bool pci_is_awake(const struct tree *tree, const char *address);
/*
 * Slot Capabilities and Slot Status of a port that is awake; only root can read them.
 * 0, -EAGAIN where the port sleeps, -ENODATA where there is no slot or nothing to read.
 */
int pci_read_slot(const struct tree *tree, const char *address, uint32_t *capabilities,
		  uint16_t *status);
/* It has an address, and so is taken. */
bool pci_is_assigned(const struct pci_range *range);
/* In bytes; 0 where there is none. */
uint64_t pci_range_size(const struct pci_range *range);
/* Resource file of sysfs; for tests and fuzzing on its own. Returns how many lines were good. */
size_t pci_parse_resources(const char *text, struct pci_range *res, size_t max);

#endif /* GPUCTL_HOST_PCI_H */
