// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: A driver that makes virtual functions by itself
 *
 * Binds to the NVMe controllers that QEMU emulates. Writing a number to the
 * parameter "vfs" makes as many virtual functions of the one it is bound to, 0
 * takes them away: in the context of the writer and without
 * pci_rescan_remove_lock, as vendors' drivers do from probe, devlink or files of
 * their own. sriov_numvfs does it the PCI core's way. Only for tests; see
 * tests/vm/cases/sriov-qemu.sh.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>

/* Protects the device against its end; taken under its lock, or without that. */
static DEFINE_MUTEX(device_mutex);
static struct pci_dev *device;

static int change(int count)
{
	int err = -ENODEV;

	mutex_lock(&device_mutex);
	if (device && count) {
		err = pci_enable_sriov(device, count);
	} else if (device) {
		pci_disable_sriov(device);
		err = 0;
	}
	mutex_unlock(&device_mutex);
	return err;
}

static int set_vfs(const char *text, const struct kernel_param *param)
{
	unsigned int count;
	int err = kstrtouint(text, 10, &count);

	return err ?: change(count);
}

static const struct kernel_param_ops vfs_ops = {
	.set = set_vfs,
};

module_param_cb(vfs, &vfs_ops, NULL, 0200);
MODULE_PARM_DESC(vfs, "how many virtual functions there are");

static int gf_vfs_configure(struct pci_dev *pdev, int count)
{
	return change(count) ?: count;
}

static int gf_vfs_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	int err = -EBUSY;

	if (pdev->is_virtfn)
		return -ENODEV;
	mutex_lock(&device_mutex);
	if (!device)
		err = pci_enable_device(pdev);
	if (!err)
		device = pdev;
	mutex_unlock(&device_mutex);
	return err;
}

static void gf_vfs_remove(struct pci_dev *pdev)
{
	mutex_lock(&device_mutex);
	pci_disable_sriov(pdev);
	device = NULL;
	mutex_unlock(&device_mutex);
	pci_disable_device(pdev);
}

static const struct pci_device_id gf_vfs_ids[] = {
	{ PCI_DEVICE(PCI_VENDOR_ID_REDHAT, 0x0010) },
	{ }
};

static struct pci_driver gf_vfs_driver = {
	.name = "gf_vfs",
	.id_table = gf_vfs_ids,
	.probe = gf_vfs_probe,
	.remove = gf_vfs_remove,
	.sriov_configure = gf_vfs_configure,
};
module_pci_driver(gf_vfs_driver);

MODULE_DESCRIPTION("Make virtual functions of an emulated NVMe controller, for tests");
MODULE_LICENSE("GPL");
