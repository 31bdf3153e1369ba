/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one place where differences between kernels are handled. What a kernel offers is found by
 * the compile probes in probes/, never by its version.
 */
#ifndef GPUFABRIC_COMPAT_H
#define GPUFABRIC_COMPAT_H

#include "compat-probes.h"

/* ---- module ------------------------------------------------------------- */

#include <linux/device.h>
#include <linux/pm_runtime.h>
#include <net/genetlink.h>

/* Exported to modules on every kernel, declared in no header of theirs. */
extern struct kset *pci_slots_kset;

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

#ifndef HAVE_NLA_PUT_UINT
static inline int nla_put_uint(struct sk_buff *skb, int type, u64 value)
{
	return value > U32_MAX ? nla_put(skb, type, sizeof(value), &value) :
				 nla_put_u32(skb, type, value);
}
#endif

/* 1 with a reference if a device is awake, 0 if not; negative where it always is. */
static inline int gf_runtime_get_if_active(struct device *dev)
{
#ifdef HAVE_RUNTIME_GET_IF_ACTIVE_BOOL
	return pm_runtime_get_if_active(dev, true);
#else
	return pm_runtime_get_if_active(dev);
#endif
}

/* ---- both --------------------------------------------------------------- */

#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/string.h>

/* Exported to modules, as slot drivers can be; declared for the PCI core. */
int pci_hp_add_bridge(struct pci_dev *dev);

/*
 * Where the driver override lives moved from the PCI device, where the device's lock protects it,
 * to the generic one, where a lock of its own does.
 */
static inline int gpufabric_set_driver_override(struct pci_dev *pdev, const char *name)
{
#ifdef HAVE_DEVICE_SET_DRIVER_OVERRIDE
	return device_set_driver_override(&pdev->dev, name);
#else
	return driver_set_override(&pdev->dev, &pdev->driver_override, name, strlen(name));
#endif
}

/* A copy of the driver override, NULL where there is none. */
static inline int gpufabric_get_driver_override(struct pci_dev *pdev, char **copy)
{
	const char *name;
	int err;

#ifdef HAVE_DEVICE_SET_DRIVER_OVERRIDE
	spin_lock(&pdev->dev.driver_override.lock);
	name = pdev->dev.driver_override.name;
	*copy = kstrdup(name, GFP_ATOMIC);
	err = name && !*copy ? -ENOMEM : 0;
	spin_unlock(&pdev->dev.driver_override.lock);
#else
	device_lock(&pdev->dev);
	name = pdev->driver_override;
	*copy = kstrdup(name, GFP_KERNEL);
	err = name && !*copy ? -ENOMEM : 0;
	device_unlock(&pdev->dev);
#endif
	return err;
}

/* Whether the driver override is @name; the device's lock is held. */
static inline bool gpufabric_is_driver_override(struct pci_dev *pdev, const char *name)
{
	const char *is;
	bool same;

#ifdef HAVE_DEVICE_SET_DRIVER_OVERRIDE
	spin_lock(&pdev->dev.driver_override.lock);
	is = pdev->dev.driver_override.name;
	same = is && !strcmp(is, name);
	spin_unlock(&pdev->dev.driver_override.lock);
#else
	is = pdev->driver_override;
	same = is && !strcmp(is, name);
#endif
	return same;
}

/* ---- simulator ---------------------------------------------------------- */

#ifndef PCI_HEADER_TYPE_MFD
#define PCI_HEADER_TYPE_MFD	0x80
#endif

#ifdef HAVE_CLASS_CREATE_OWNER
#define gpufabric_class_create(name)	class_create(THIS_MODULE, name)
#else
#define gpufabric_class_create(name)	class_create(name)
#endif

#endif /* GPUFABRIC_COMPAT_H */
