/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one place where differences between kernels are handled. What a kernel
 * offers is found by the compile probes in probes/, never by its version.
 */
#ifndef GPUFABRIC_COMPAT_H
#define GPUFABRIC_COMPAT_H

#include "compat-probes.h"

/* ---- module ------------------------------------------------------------- */

#include <linux/device.h>
#include <net/genetlink.h>

/* Exported to modules on every kernel, declared in no header of theirs. */
extern struct kset *pci_slots_kset;

/* What the family's hooks are told about a command. */
#ifdef HAVE_PRE_DOIT_SPLIT_OPS
#define gf_genl_op struct genl_split_ops
#else
#define gf_genl_op struct genl_ops
#endif

/* Whether a class's uevent callback may change the device. */
#ifdef HAVE_CLASS_UEVENT_CONST
#define gf_uevent_device const struct device
#else
#define gf_uevent_device struct device
#endif

/* Bridge windows that do not fit get less alignment; else they do not fit. */
#ifdef HAVE_RELAXED_WINDOWS
#define GF_RELAXED_WINDOWS true
#else
#define GF_RELAXED_WINDOWS false
#endif

/* The attributes that a dump was asked with. */
static inline struct nlattr **gf_dump_attrs(const struct genl_dumpit_info *info)
{
#ifdef HAVE_DUMPIT_INFO_INFO
	return info->info.attrs;
#else
	return info->attrs;
#endif
}

/* ---- simulator ---------------------------------------------------------- */

#include <linux/pci.h>
#include <linux/slab.h>

/* Exported to modules, as slot drivers can be; declared for the PCI core. */
int pci_hp_add_bridge(struct pci_dev *dev);

#ifndef PCI_HEADER_TYPE_MFD
#define PCI_HEADER_TYPE_MFD	0x80
#endif

#ifdef HAVE_CLASS_CREATE_OWNER
#define gpufabric_class_create(name)	class_create(THIS_MODULE, name)
#else
#define gpufabric_class_create(name)	class_create(name)
#endif

/*
 * Where the driver override lives moved from the PCI device to the generic
 * one. In the old home the PCI core frees the string with kfree().
 */
static inline int gpufabric_set_driver_override(struct pci_dev *pdev,
						const char *name)
{
#ifdef HAVE_DEVICE_SET_DRIVER_OVERRIDE
	return device_set_driver_override(&pdev->dev, name);
#else
	char *copy = kstrdup(name, GFP_KERNEL);

	if (!copy)
		return -ENOMEM;
	kfree(pdev->driver_override);
	pdev->driver_override = copy;
	return 0;
#endif
}

#endif /* GPUFABRIC_COMPAT_H */
