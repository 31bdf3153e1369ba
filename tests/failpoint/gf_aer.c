// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: A driver that recovers from errors of its link
 *
 * Binds to the display controllers that QEMU emulates. As drivers of GPUs do it asks
 * for a reset when it is told of an error, and restores what the kernel saved
 * when that is over; while the parameter "hold" is set it does not come to its
 * end. Only for tests; see tests/vm/cases/aer-qemu.sh.
 */
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/wait.h>

static bool hold;
static unsigned int held;
static DECLARE_WAIT_QUEUE_HEAD(hold_wait);

static int set_hold(const char *text, const struct kernel_param *param)
{
	int err = param_set_bool(text, param);

	wake_up_all(&hold_wait);
	return err;
}

static const struct kernel_param_ops hold_ops = {
	.set = set_hold,
	.get = param_get_bool,
};

module_param_cb(hold, &hold_ops, &hold, 0600);
MODULE_PARM_DESC(hold, "a recovery waits until this is no longer set");
module_param(held, uint, 0400);
MODULE_PARM_DESC(held, "how many recoveries have waited");

static pci_ers_result_t gf_aer_detected(struct pci_dev *pdev,
					pci_channel_state_t state)
{
	return state == pci_channel_io_frozen ? PCI_ERS_RESULT_NEED_RESET :
						PCI_ERS_RESULT_CAN_RECOVER;
}

static pci_ers_result_t gf_aer_reset(struct pci_dev *pdev)
{
	if (READ_ONCE(hold)) {
		held++;
		wait_event(hold_wait, !READ_ONCE(hold));
	}
	pci_restore_state(pdev);
	pci_save_state(pdev);
	return PCI_ERS_RESULT_RECOVERED;
}

static const struct pci_error_handlers gf_aer_handlers = {
	.error_detected = gf_aer_detected,
	.slot_reset = gf_aer_reset,
};

static int gf_aer_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	int err = pci_enable_device(pdev);

	if (!err)
		pci_save_state(pdev);
	return err;
}

static void gf_aer_remove(struct pci_dev *pdev)
{
	pci_disable_device(pdev);
}

static const struct pci_device_id gf_aer_ids[] = {
	{ PCI_DEVICE(0x1234, 0x1111) },
	{ }
};

static struct pci_driver gf_aer_driver = {
	.name = "gf_aer",
	.id_table = gf_aer_ids,
	.probe = gf_aer_probe,
	.remove = gf_aer_remove,
	.err_handler = &gf_aer_handlers,
};
module_pci_driver(gf_aer_driver);

MODULE_DESCRIPTION("Recover an emulated display controller from errors, for tests");
MODULE_LICENSE("GPL");
