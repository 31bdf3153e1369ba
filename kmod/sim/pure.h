/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What params.c and model.c need of their surroundings. Both are pure and are
 * compiled a second time, in user space, by their unit test.
 */
#ifndef GPUFABRIC_SIM_PURE_H
#define GPUFABRIC_SIM_PURE_H

#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/pci_ids.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/types.h>
#else
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define SZ_2M		0x00200000
#define SZ_32M		0x02000000
#define PCI_VENDOR_ID_ATI	0x1002
#define PCI_VENDOR_ID_NVIDIA	0x10de
#define PCI_VENDOR_ID_SAMSUNG	0x144d
#define PCI_VENDOR_ID_MELLANOX	0x15b3
#endif

#endif /* GPUFABRIC_SIM_PURE_H */
