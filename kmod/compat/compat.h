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
#include <linux/mutex.h>
#include <linux/pm_runtime.h>
#include <linux/spinlock.h>
#include <net/genetlink.h>

/* Exported to modules on every kernel, declared in no header of theirs. */
extern struct kset *pci_slots_kset;

#ifndef HAVE_GUARD
#ifndef __cleanup
#define __cleanup(func) __attribute__((__cleanup__(func)))
#endif

#define GF_GUARD(kind, type, hold, unhold)						\
static inline type *gf_hold_##kind(type *lock)						\
{											\
	hold(lock);									\
	return lock;									\
}											\
											\
static inline void gf_unhold_##kind(type **lock)					\
{											\
	unhold(*lock);									\
}

GF_GUARD(mutex, struct mutex, mutex_lock, mutex_unlock)
GF_GUARD(spinlock, spinlock_t, spin_lock, spin_unlock)

/* As later kernels have them, for these; those allow declarations after statements. */
#pragma GCC diagnostic ignored "-Wdeclaration-after-statement"
#define guard(kind) \
	__auto_type gf_held __maybe_unused __cleanup(gf_unhold_##kind) = gf_hold_##kind
#define scoped_guard(kind, lock)							\
	for (struct mutex *gf_held __cleanup(gf_unhold_##kind) = gf_hold_##kind(lock),	\
	     *gf_once = NULL;								\
	     !gf_once; gf_once = gf_held)
#endif

#ifdef __CHECKER__
/* Sparse does not see what is released at the end of a scope, and counts the lock as held. */
#undef guard
#define guard(kind) gf_sparse_##kind

static inline void gf_sparse_mutex(struct mutex *lock)
{
}

static inline void gf_sparse_spinlock(spinlock_t *lock)
{
}
#endif

/* Whether a class's callbacks may change the device. */
#ifdef HAVE_CLASS_CONST
#define gf_class_device const struct device
#else
#define gf_class_device struct device
#endif

/* Bridge windows that do not fit get less alignment; else they do not fit. */
#define GF_RELAXED_WINDOWS __is_defined(HAVE_RELAXED_WINDOWS)

/* 1 with a reference if a device is awake, 0 if not; negative where it always is. */
static inline int gf_runtime_get_if_active(struct device *dev)
{
#ifdef HAVE_RUNTIME_GET_IF_ACTIVE_BOOL
	return pm_runtime_get_if_active(dev, true);
#else
	return pm_runtime_get_if_active(dev);
#endif
}

#ifdef HAVE_GENL_SPLIT_OPS
static inline int gf_register_split(struct genl_family *family, const struct genl_split_ops *ops,
				    unsigned int count)
{
	family->split_ops = ops;
	family->n_split_ops = count;
	return genl_register_family(family);
}
#else
/* As later kernels have it, less what nobody here needs. */
struct genl_split_ops {
	int (*pre_doit)(const struct genl_split_ops *ops, struct sk_buff *skb,
			struct genl_info *info);
	int (*doit)(struct sk_buff *skb, struct genl_info *info);
	int (*dumpit)(struct sk_buff *skb, struct netlink_callback *cb);
	const struct nla_policy *policy;
	unsigned int maxattr;
	u8 cmd;
	u8 flags;
};

int gf_register_split(struct genl_family *family, const struct genl_split_ops *ops,
		      unsigned int count);
#endif

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

#ifdef HAVE_DEVICE_SET_DRIVER_OVERRIDE
#define gpufabric_override_lock(pdev)	spin_lock(&(pdev)->dev.driver_override.lock)
#define gpufabric_override_unlock(pdev)	spin_unlock(&(pdev)->dev.driver_override.lock)
#define gpufabric_override(pdev)	((pdev)->dev.driver_override.name)
#define GPUFABRIC_OVERRIDE_GFP		GFP_ATOMIC
#else
#define gpufabric_override_lock(pdev)	device_lock_assert(&(pdev)->dev)
#define gpufabric_override_unlock(pdev)	((void)(pdev))
#define gpufabric_override(pdev)	((pdev)->driver_override)
#define GPUFABRIC_OVERRIDE_GFP		GFP_KERNEL
#endif

/* A copy of the driver override, NULL where there is none; the device's lock is held. */
static inline int gpufabric_get_driver_override(struct pci_dev *pdev, char **copy)
{
	int err;

	gpufabric_override_lock(pdev);
	*copy = kstrdup(gpufabric_override(pdev), GPUFABRIC_OVERRIDE_GFP);
	err = gpufabric_override(pdev) && !*copy ? -ENOMEM : 0;
	gpufabric_override_unlock(pdev);
	return err;
}

/* Whether the driver override is @name; the device's lock is held. */
static inline bool gpufabric_is_driver_override(struct pci_dev *pdev, const char *name)
{
	bool same;

	gpufabric_override_lock(pdev);
	same = gpufabric_override(pdev) && !strcmp(gpufabric_override(pdev), name);
	gpufabric_override_unlock(pdev);
	return same;
}

/* ---- simulator ---------------------------------------------------------- */

#ifndef PCI_HEADER_TYPE_MFD
#define PCI_HEADER_TYPE_MFD	0x80
#endif

#endif /* GPUFABRIC_COMPAT_H */
