// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Looking whether a GPU is still there
 *
 * A few registers tell whether a GPU answers, whether it is the same, and whether it was reset;
 * what follows from that is decided in loss.c.
 *
 * A function is not read while it sleeps, is reset or recovers from an error: what would be read
 * says nothing about it then, and may disturb. A reset blocks access to config space while it
 * lasts. Nobody is kept from resetting here, so what was read counts only when access is not
 * blocked afterwards either.
 */
#include <linux/pci.h>
#include <linux/pm_runtime.h>

#include "compat.h"
#include "rescan.h"
#include "sight.h"
#include "slot.h"
#include "walk.h"

static bool is_asleep(struct pci_dev *pdev)
{
	return !pm_runtime_active(&pdev->dev) ||
	       pm_runtime_status_suspended(&pdev->dev) ||
	       pdev->dev.power.is_suspended ||
	       (pdev->current_state != PCI_D0 &&
		pdev->current_state != PCI_UNKNOWN);
}

static bool is_cut_off(struct pci_dev *pdev)
{
	return READ_ONCE(pdev->error_state) == pci_channel_io_frozen || pdev->block_cfg_access;
}

/*
 * Whether the config space of a function may be read now. To be asked again after reading: a
 * reset may have begun meanwhile.
 */
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

/* Let a port sleep again. */
void gf_port_release(struct pci_dev *port)
{
	pm_runtime_put(&port->dev);
}

/**
 * gf_link_is_up() - whether the link below a port is up
 * @port: the port; caller has it by gf_port_lock()
 *
 * A port that does not report its link's state still reports its width.
 *
 * Return: 1 or 0, -EIO when the port does not answer.
 */
int gf_link_is_up(struct pci_dev *port)
{
	u32 caps;
	u16 status;

	if (pcie_capability_read_word(port, PCI_EXP_LNKSTA, &status) ||
	    PCI_POSSIBLE_ERROR(status) ||
	    pcie_capability_read_dword(port, PCI_EXP_LNKCAP, &caps) ||
	    PCI_POSSIBLE_ERROR(caps))
		return -EIO;
	return !!(status & (caps & PCI_EXP_LNKCAP_DLLLARC ?
			    PCI_EXP_LNKSTA_DLLLA : PCI_EXP_LNKSTA_NLW));
}

/* An empty slot reads as ones, a device that wants more time may as 0001. */
static bool is_answer(u32 id)
{
	u16 vendor = id & 0xffff;

	return vendor && vendor != 0xffff && vendor != 0x0001;
}

static bool holds_address(struct pci_dev *pdev, int bar)
{
	const struct resource *res = &pdev->resource[bar];
	u32 mask = res->flags & IORESOURCE_IO ?
		   (u32)PCI_BASE_ADDRESS_IO_MASK :
		   (u32)PCI_BASE_ADDRESS_MEM_MASK;
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
	sight->answers = is_answer(id);
	if (!sight->answers)
		return;
	pci_read_config_dword(gpu, PCI_SUBSYSTEM_VENDOR_ID, &subsystem);
	sight->same = id == (gpu->vendor | (u32)gpu->device << 16) &&
		      subsystem == (gpu->subsystem_vendor |
				    (u32)gpu->subsystem_device << 16) &&
		      (!serial || pci_get_dsn(gpu) == serial);
	pci_read_config_word(gpu, PCI_COMMAND, &sight->command);
	sight->bars = true;
	for (bar = 0; bar < PCI_STD_NUM_BARS; bar++)
		sight->bars &= holds_address(gpu, bar);
}

/* None may be cut off; then those that are awake may be read. */
static bool is_open(const struct gf_functions *card, bool all)
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

/**
 * gf_card_is_open() - whether all GPUs of a card are there and may be read
 * @card: functions of the card, referenced
 */
bool gf_card_is_open(const struct gf_functions *card)
{
	return is_open(card, true);
}

/**
 * gf_card_is_frozen() - whether a GPU of a card is being recovered from an error
 * @card: functions of the card, referenced
 *
 * Or was to be, and could not.
 */
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

/*
 * Whether the bridges of the card lead to a GPU. One that was reset has lost its bus numbers; it
 * answers, and nothing behind it does.
 */
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

/*
 * All GPUs of a card are one thing: what one of them has lost, it has lost. Those that sleep say
 * nothing.
 */
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
	return gf_config_open(slot->port) && is_open(card, false);
}

/**
 * gf_sight_read() - look whether the GPUs of a card are still what they were
 * @slot: slot that it is in
 * @card: its functions, referenced
 * @serial: serial number of the first GPU, 0 when that is not known
 * @sight: filled
 *
 * For workers: waits for the rescan lock, and reads a few registers under it.
 */
void gf_sight_read(struct gf_slot *slot, const struct gf_functions *card,
		   u64 serial, struct gf_sight *sight)
{
	memset(sight, 0, sizeof(*sight));
	if (!gf_port_lock(slot->port))
		return;
	sight->frozen = gf_card_is_frozen(card);
	if (may_be_read(slot, card)) {
		sight->partial = !gf_card_is_open(card);
		sight->link = gf_link_is_up(slot->port);
		/* Where nothing can answer nothing is asked: on some hosts that is fatal. */
		if (sight->link > 0)
			sight_card(slot, card, serial, sight);
		else
			sight->known = true;
		sight->known &= may_be_read(slot, card);
		sight->busy = sight->answers && !(sight->same && sight->bars) && is_worked_on(card);
	}
	gf_rescan_unlock();
}
