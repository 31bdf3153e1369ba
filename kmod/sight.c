// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Watching a GPU
 *
 * A few registers tell whether a GPU answers, is the same, and was reset; loss.c decides what that
 * means. Functions that do not answer stay: only who took the link down knows for how long.
 *
 * A function that sleeps, is reset or recovers from an error is not read: that says nothing, and
 * may disturb. A reset blocks access to config space while it lasts, and nobody is kept from
 * resetting here, so what was read counts only when access is not blocked afterwards either.
 */
#include <linux/pm_runtime.h>

#include "compat.h"
#include "netlink.h"
#include "snapshot.h"

static unsigned int lost_ms = 3000;
module_param(lost_ms, uint, 0644);
MODULE_PARM_DESC(lost_ms, "Time in milliseconds after which a GPU that does not answer is lost; a shorter absence is a flap (default 3000). A GPU that the kernel recovers from an error has 20 times as long");

static bool is_asleep(struct pci_dev *pdev)
{
	return !pm_runtime_active(&pdev->dev) || pm_runtime_status_suspended(&pdev->dev) ||
	       pdev->dev.power.is_suspended ||
	       (pdev->current_state != PCI_D0 && pdev->current_state != PCI_UNKNOWN);
}

static bool is_cut_off(struct pci_dev *pdev)
{
	return READ_ONCE(pdev->error_state) == pci_channel_io_frozen || pdev->block_cfg_access;
}

/* Whether config space may be read. To be asked again afterwards: a reset may have begun. */
bool gf_config_open(struct pci_dev *pdev)
{
	return !is_cut_off(pdev) && !is_asleep(pdev);
}

/*
 * Keep a port awake, unless it sleeps. For polls: a port that sleeps is not woken for them, and
 * so that it does not fall asleep before they are over they hold it. Waking one is not harmless
 * either: pciehp powers a slot that is off when it finds a card in it then. Returns whether it is
 * awake, until gf_port_release().
 */
bool gf_port_hold(struct pci_dev *port)
{
	int active = gf_runtime_get_if_active(&port->dev);

	if (active >= 0)
		return active;
	/* Without runtime power management it sleeps when the system does. */
	if (is_asleep(port))
		return false;
	pm_runtime_get_noresume(&port->dev);
	return true;
}

void gf_port_release(struct pci_dev *port)
{
	pm_runtime_put(&port->dev);
}

/*
 * Whether the link below a port that the caller has by gf_port_lock() is up: 1 or 0, -EIO when the
 * port does not answer. A port that does not report its link's state still reports its width.
 */
int gf_link_is_up(struct pci_dev *port)
{
	u32 caps;
	u16 status;

	if (pcie_capability_read_word(port, PCI_EXP_LNKSTA, &status) ||
	    PCI_POSSIBLE_ERROR(status) ||
	    pcie_capability_read_dword(port, PCI_EXP_LNKCAP, &caps) || PCI_POSSIBLE_ERROR(caps))
		return -EIO;
	return !!(status & (caps & PCI_EXP_LNKCAP_DLLLARC ?
			    PCI_EXP_LNKSTA_DLLLA : PCI_EXP_LNKSTA_NLW));
}

/*
 * Whether a port that the caller has by gf_port_lock() contains an error: then its link stays down
 * until software, the kernel's or the firmware's, has cleared that, and on some hosts nobody does.
 * A port that does not answer is not searched: its registers are ones, each read can take long, and
 * the list of capabilities would have no end.
 */
bool gf_port_contains(struct pci_dev *port)
{
	u16 status = 0;
	int dpc;

	if (gf_link_is_up(port))
		return false;
	dpc = pci_find_ext_capability(port, PCI_EXT_CAP_ID_DPC);
	return dpc && !pci_read_config_word(port, dpc + PCI_EXP_DPC_STATUS, &status) &&
	       !PCI_POSSIBLE_ERROR(status) && status & PCI_EXP_DPC_STATUS_TRIGGER;
}

static bool holds_address(struct pci_dev *pdev, int bar)
{
	const struct resource *res = &pdev->resource[bar];
	u32 mask = res->flags & IORESOURCE_IO ?
		   (u32)PCI_BASE_ADDRESS_IO_MASK : (u32)PCI_BASE_ADDRESS_MEM_MASK;
	int where = PCI_BASE_ADDRESS_0 + 4 * bar;
	u64 address;
	u32 value = 0;

	/* One of a fixed address is told by another register. */
	if (!res->parent || res->flags & (IORESOURCE_UNSET | IORESOURCE_PCI_FIXED))
		return true;
	address = pci_bus_address(pdev, bar);
	pci_read_config_dword(pdev, where, &value);
	if ((value & mask) != (lower_32_bits(address) & mask))
		return false;
	if (!(res->flags & IORESOURCE_MEM_64))
		return true;
	pci_read_config_dword(pdev, where + 4, &value);
	return value == upper_32_bits(address);
}

static void sight_gpu(struct pci_dev *gpu, u64 serial, struct gf_sight *sight)
{
	u32 id = ~0, subsystem = ~0;
	int bar;

	pci_read_config_dword(gpu, PCI_VENDOR_ID, &id);
	/* An empty slot reads as ones, a device that wants more time may as 0001. */
	sight->answers = (u16)id > 1 && (u16)id != 0xffff;
	if (!sight->answers)
		return;
	pci_read_config_dword(gpu, PCI_SUBSYSTEM_VENDOR_ID, &subsystem);
	sight->same = id == (gpu->vendor | (u32)gpu->device << 16) &&
		      subsystem == (gpu->subsystem_vendor | (u32)gpu->subsystem_device << 16) &&
		      (!serial || pci_get_dsn(gpu) == serial);
	pci_read_config_word(gpu, PCI_COMMAND, &sight->command);
	sight->bars = true;
	for (bar = 0; bar < PCI_STD_NUM_BARS; bar++)
		sight->bars &= holds_address(gpu, bar);
}

/* Whether the GPUs of a card may be read, @all or those that are awake; none may be cut off. */
bool gf_card_is_open(const struct gf_functions *card, bool all)
{
	unsigned int i, awake = 0;
	struct pci_dev *gpu;

	for (i = 0; (gpu = gf_functions_gpu(card, i)); i++) {
		if (!device_is_registered(&gpu->dev) || is_cut_off(gpu))
			return false;
		awake += !is_asleep(gpu);
	}
	return all ? awake == i : awake;
}

/* Whether a GPU of a card is being recovered from an error, or was to be and could not. */
bool gf_card_is_frozen(const struct gf_functions *card)
{
	struct pci_dev *gpu;
	unsigned int i;

	for (i = 0; (gpu = gf_functions_gpu(card, i)); i++) {
		if (READ_ONCE(gpu->error_state) == pci_channel_io_frozen)
			return true;
	}
	return false;
}

/*
 * Some kernels end the freeze of a function before its driver has restored it, and call the
 * driver under its lock for that, as they do when they bind or reset it.
 */
static bool is_worked_on(const struct gf_functions *card)
{
	struct pci_dev *gpu;
	unsigned int i;

	for (i = 0; (gpu = gf_functions_gpu(card, i)); i++) {
		if (!device_trylock(&gpu->dev))
			return true;
		device_unlock(&gpu->dev);
	}
	return false;
}

/* Whether bridges lead to a GPU. One that was reset answers, but has lost its bus numbers. */
static bool is_reached(struct gf_slot *slot, struct pci_dev *gpu, struct gf_sight *sight)
{
	struct pci_dev *bridge = pci_upstream_bridge(gpu);
	u32 buses = ~0;

	if (!bridge || bridge == slot->port)
		return true;
	/* From the slot on: what is behind a wiped bridge is not to be asked. */
	if (!is_reached(slot, bridge, sight))
		return false;
	pci_read_config_dword(bridge, PCI_PRIMARY_BUS, &buses);
	if ((buses >> 8 & 0xff) == gpu->bus->number)
		return true;
	sight->answers = buses != ~0U;
	sight->same = sight->answers;
	return false;
}

/* What one GPU of a card has lost, the card has lost. Those that sleep say nothing. */
static void sight_card(struct gf_slot *slot, const struct gf_functions *card,
		       u64 serial, struct gf_sight *sight)
{
	struct pci_dev *gpu;
	unsigned int i;

	sight->answers = true;
	sight->same = true;
	sight->bars = true;
	sight->command = ~0;
	for (i = 0; (gpu = gf_functions_gpu(card, i)); i++) {
		bool asleep = is_asleep(gpu);
		struct gf_sight one = {};

		if (!asleep && is_reached(slot, gpu, &one))
			sight_gpu(gpu, i ? 0 : serial, &one);
		/* It may have fallen asleep meanwhile. */
		if (asleep || is_asleep(gpu)) {
			sight->partial = true;
			continue;
		}
		sight->known = true;
		sight->answers &= one.answers;
		sight->same &= one.same;
		sight->bars &= one.bars;
		sight->command &= one.command;
	}
}

static bool may_be_read(struct gf_slot *slot, const struct gf_functions *card)
{
	return gf_config_open(slot->port) && gf_card_is_open(card, false);
}

/*
 * Look whether the GPUs of a card, by its functions, are still what they were; @serial: of the
 * first, 0 when that is not known. For workers: reads a few registers under the rescan lock.
 */
void gf_sight_read(struct gf_slot *slot, const struct gf_functions *card,
		   u64 serial, struct gf_sight *sight)
{
	memset(sight, 0, sizeof(*sight));
	if (!gf_port_lock(slot->port))
		return;
	sight->frozen = gf_card_is_frozen(card);
	if (may_be_read(slot, card)) {
		sight->partial = !gf_card_is_open(card, true);
		sight->link = gf_link_is_up(slot->port);
		/* Where nothing can answer nothing is asked: on some hosts that is fatal. */
		if (sight->link > 0)
			sight_card(slot, card, serial, sight);
		else
			sight->known = true;
		sight->contained = !sight->link && gf_port_contains(slot->port);
		sight->known &= may_be_read(slot, card);
		sight->busy = sight->answers && !(sight->same && sight->bars) && is_worked_on(card);
	}
	gf_rescan_unlock();
}

static void lose(struct gf_slot *slot, const struct gf_sight *sight)
{
	struct gf_failure failure = {
		.cause = sight->frozen ? GPUFABRIC_CAUSE_ERROR :
			 sight->contained ? GPUFABRIC_CAUSE_CONTAINMENT :
			 sight->link < 0 ? GPUFABRIC_CAUSE_PORT :
			 sight->link ? GPUFABRIC_CAUSE_ENUMERATE : GPUFABRIC_CAUSE_LINK,
	};

	slot->was = slot->state;
	strscpy(failure.address, gf_snapshot_gpu(slot->snap)->address, sizeof(failure.address));
	gf_slot_fail(slot, GF_SURPRISE, &failure);
	gf_history_state(slot);
}

static void come_back(struct gf_slot *slot)
{
	slot->flaps++;
	if (gf_slot_trigger(slot, GF_ANSWERED))
		return;
	/* An operation that is to remove it goes on: nobody is told that it is ready. */
	if (slot->was == GF_STATE_DRAINING && slot->op)
		gf_slot_trigger(slot, GF_DRAIN);
	else if (slot->was != GF_STATE_ATTACHED)
		gf_slot_trigger(slot, GF_BOUND);
	gf_history_state(slot);
}

static void judge(struct gf_slot *slot, const struct gf_sight *sight)
{
	unsigned int wait_ms = READ_ONCE(lost_ms);
	enum gf_loss_verdict verdict;

	gf_assert_locked();
	verdict = gf_loss_judge(&slot->loss, sight, ktime_to_ms(ktime_get()), wait_ms);
	switch (verdict) {
	case GF_LOSS_NONE:
		/* Whether or not anybody polls. */
		if ((slot->loss.gone && !slot->loss.lost) || slot->loss.wiped || sight->busy)
			gf_slot_refresh(slot, wait_ms + 1);
		else if (slot->loss.frozen && !slot->loss.lost)
			gf_slot_refresh(slot, wait_ms * GF_RECOVERY_TIMES + 1);
		return;
	case GF_LOSS_FLAP:
		slot->flaps++;
		gf_event_slot(slot, GPUFABRIC_EVENT_KIND_SLOT_CHANGED);
		break;
	case GF_LOSS_LOST:
		lose(slot, sight);
		break;
	case GF_LOSS_BACK:
		come_back(slot);
		break;
	case GF_LOSS_RESET:
		gf_slot_befalls(slot, GF_FAIL, sight->same ? GPUFABRIC_CAUSE_RESET :
							     GPUFABRIC_CAUSE_REPLACED);
		gf_history_state(slot);
		break;
	}
	/* The link, too, is another one than it was. */
	gf_slot_refresh(slot, 0);
}

/* The function to look at, NULL for none; the fabric's lock is held. */
static struct pci_dev *watched(const struct gf_slot *slot)
{
	gf_assert_locked();
	/* What is in a slot of another's is that one's business. */
	if (gf.sleeping || slot->retired || slot->step || !slot->snap ||
	    slot->flags & GPUFABRIC_SLOT_FLAG_UNMANAGED ||
	    (!gf_state_has_gpu(slot->state) && slot->state != GF_STATE_LOST))
		return NULL;
	return slot->snap->pdev;
}

/* For workers that have looked at the slot, or do so at a slow pace; called without locks. */
void gf_slot_watch(struct gf_slot *slot)
{
	struct gf_functions *card = NULL;
	struct gf_sight sight;
	struct pci_dev *gpu;
	u64 serial;

	scoped_guard(mutex, &gf.lock) {
		gpu = watched(slot);
		if (gpu)
			card = gf_functions_get(slot->snap->card);
		serial = slot->identity.serial;
	}
	if (!gpu)
		return;
	if (!gf_port_hold(slot->port))
		goto out;
	gf_sight_read(slot, card, serial, &sight);
	gf_port_release(slot->port);
	scoped_guard(mutex, &gf.lock) {
		if (watched(slot) != gpu)
			break;
		judge(slot, &sight);
		/* The last look came at a bad time. */
		if (sight.known && !sight.partial && slot->snap->unread)
			gf_slot_refresh(slot, 0);
	}
out:
	gf_functions_put(card);
}
