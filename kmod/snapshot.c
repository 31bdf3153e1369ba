// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Looking at a slot
 *
 * A snapshot is the state of a slot at one moment, as config space, resources and the slot driver
 * show it. Only workers take one, because it needs pci_rescan_remove_lock, which has no trylock and
 * can be held for as long as a driver's probe takes, or for ever. All others read the last one.
 *
 * A function that must not be read now (sight.c) keeps its values from the last snapshot.
 */
#include <linux/iommu.h>
#include <linux/slab.h>

#include "snapshot.h"

/* The Current Link Speed field counts the PCI core's PCIe speeds from 1. */
static u32 speed_mts(unsigned int field)
{
	static const u32 speeds[] = { 0, 2500, 5000, 8000, 16000, 32000, 64000 };

	return field < ARRAY_SIZE(speeds) ? speeds[field] : 0;
}

static u32 capable_mts(struct pci_dev *pdev)
{
	return speed_mts(pcie_get_speed_cap(pdev) - PCIE_SPEED_2_5GT + 1);
}

static u32 width_of(enum pcie_link_width width)
{
	return width == PCIE_LNK_WIDTH_UNKNOWN ? 0 : width;
}

/* The link from a port to a function below it, or NULL; pci_rescan_remove_lock is held. */
void gf_link_read(struct pci_dev *upper, struct pci_dev *lower, struct gf_link *link)
{
	u16 status;

	memset(link, 0, sizeof(*link));
	if (pcie_capability_read_word(upper, PCI_EXP_LNKSTA, &status) || PCI_POSSIBLE_ERROR(status))
		return;
	link->port_speed = capable_mts(upper);
	link->port_width = width_of(pcie_get_width_cap(upper));
	if (!lower)
		return;
	if (pci_is_pcie(lower)) {
		link->device_speed = capable_mts(lower);
		link->device_width = width_of(pcie_get_width_cap(lower));
	}
	link->speed = speed_mts(status & PCI_EXP_LNKSTA_CLS);
	link->width = (status & PCI_EXP_LNKSTA_NLW) >> PCI_EXP_LNKSTA_NLW_SHIFT;
}

bool gf_link_degraded(const struct gf_link *link)
{
	if (!link->speed || !link->width || !link->port_speed ||
	    !link->port_width || !link->device_speed || !link->device_width)
		return false;
	return link->speed < min(link->port_speed, link->device_speed) ||
	       link->width < min(link->port_width, link->device_width);
}

/* Whether a GPU can be used: sets cause, error and the BAR when it cannot. */
void gf_snapshot_judge(const struct gf_snapshot *snap, struct gf_failure *failure)
{
	if (snap->frozen) {
		failure->cause = GPUFABRIC_CAUSE_ERROR;
		failure->error = -EIO;
	} else if (!snap->alive) {
		failure->cause = snap->contained ? GPUFABRIC_CAUSE_CONTAINMENT :
						   GPUFABRIC_CAUSE_ENUMERATE;
		failure->error = -EIO;
	} else if (snap->missing_bar >= 0) {
		failure->cause = GPUFABRIC_CAUSE_RESOURCES;
		failure->error = -ENOSPC;
		failure->bar = snap->missing_bar;
		failure->size = snap->missing_size;
	}
}

/* Whether every GPU function has this driver, empty for any. */
bool gf_snapshot_bound(const struct gf_snapshot *snap, const char *driver)
{
	unsigned int i;

	for (i = 0; i < snap->nr_functions; i++) {
		const struct gf_function *function = &snap->functions[i];

		if (gf_is_gpu_class(function->class) &&
		    (!function->driver[0] ||
		     (driver[0] && strcmp(function->driver, driver))))
			return false;
	}
	return snap->gpu >= 0;
}

/* Believe that what could not be read is as it was before; @before may be NULL. */
void gf_snapshot_keep(struct gf_snapshot *snap, const struct gf_snapshot *before)
{
	unsigned int i;

	if (!before || before->nr_functions != snap->nr_functions)
		return;
	/* What only the hardware knows, of the same GPU. */
	if (snap->quiet && before->pdev == snap->pdev) {
		snap->serial = before->serial;
		snap->link = before->link;
		if (!snap->alive) {
			snap->link.speed = 0;
			snap->link.width = 0;
		}
	}
	if (!snap->driver_unread)
		return;
	for (i = 0; i < snap->nr_functions; i++) {
		struct gf_function *now = &snap->functions[i];
		const struct gf_function *then = &before->functions[i];

		if (!now->driver[0] && !strcmp(now->address, then->address))
			strscpy(now->driver, then->driver, sizeof(now->driver));
	}
}

/*
 * Returns whether the driver is known. Never waits for the device's lock, which a probe holds as
 * long as it likes, and whoever reads some of its files for a moment, which no event follows.
 */
static bool read_driver(struct gf_function *function, struct pci_dev *pdev)
{
	if (!device_trylock(&pdev->dev))
		return false;
	if (pdev->dev.driver)
		strscpy(function->driver, pdev->dev.driver->name, sizeof(function->driver));
	device_unlock(&pdev->dev);
	return true;
}

static void read_function(struct gf_function *function, struct pci_dev *pdev)
{
	struct iommu_group *group;

	strscpy(function->address, pci_name(pdev), sizeof(function->address));
	function->ids = (struct gf_ids){ {
		pdev->vendor, pdev->device, pdev->subsystem_vendor, pdev->subsystem_device,
	} };
	function->revision = pdev->revision;
	function->class = pdev->class;
	function->iommu_group = -1;
	group = iommu_group_get(&pdev->dev);
	if (group) {
		function->iommu_group = iommu_group_id(group);
		iommu_group_put(group);
	}
}

/* Each function of a card sleeps by itself, and so do the bridges that lead to it. */
static bool is_reachable(const struct gf_slot *slot, struct pci_dev *pdev)
{
	for (; pdev && pdev != slot->port; pdev = pci_upstream_bridge(pdev)) {
		if (!gf_config_open(pdev))
			return false;
	}
	return gf_config_open(slot->port);
}

static bool all_answer(const struct gf_functions *functions)
{
	struct pci_dev *gpu;
	unsigned int i;
	u32 id;

	for (i = 0; (gpu = gf_functions_gpu(functions, i)); i++) {
		if (pci_read_config_dword(gpu, PCI_VENDOR_ID, &id) || (u16)id != gpu->vendor)
			return false;
	}
	return true;
}

static struct gf_snapshot *snapshot_alloc(unsigned int functions)
{
	struct gf_snapshot *snap = kzalloc(struct_size(snap, functions, functions), GFP_KERNEL);

	if (!snap)
		return NULL;
	snap->gpu = -1;
	snap->missing_bar = -1;
	if (!functions)
		return snap;
	snap->facts = kzalloc(struct_size(snap->facts, fact, functions * GF_FACTS), GFP_KERNEL);
	if (!snap->facts) {
		kfree(snap);
		return NULL;
	}
	return snap;
}

static void add_function(struct gf_snapshot *snap, struct gf_slot *slot, struct pci_dev *pdev)
{
	unsigned int index = snap->nr_functions++;
	struct gf_function *function = &snap->functions[index];

	read_function(function, pdev);
	if (!read_driver(function, pdev))
		snap->driver_unread = true;
	if (snap->has_slots || !gf_is_gpu_class(pdev->class))
		return;
	snap->gpus++;
	if (pdev == snap->pdev)
		snap->gpu = index;
	if (snap->missing_bar < 0)
		gf_notify_missing_bar(slot, pdev, snap);
}

/* What has to be asked for; the link's other end is the card's first function. */
static void read_quiet(struct gf_snapshot *snap, struct gf_slot *slot)
{
	const struct gf_functions *functions = snap->card;
	unsigned int i;

	snap->serial = snap->pdev ? pci_get_dsn(snap->pdev) : 0;
	gf_link_read(slot->port, snap->pdev ? functions->pdev[0] : NULL, &snap->link);
	for (i = 0; i < functions->count; i++)
		gf_notify_facts(slot, functions->pdev[i], is_reachable(slot, functions->pdev[i]),
				snap->facts);
}

/* The port is had by gf_port_lock(). */
static struct gf_snapshot *snapshot_locked(struct gf_slot *slot)
{
	struct pci_bus *bus = slot->port->subordinate;
	struct gf_functions *functions;
	struct gf_snapshot *snap;
	unsigned int i;

	functions = gf_functions_in(slot, false);
	snap = functions ? snapshot_alloc(functions->count) : NULL;
	if (!snap) {
		gf_functions_put(functions);
		return ERR_PTR(-ENOMEM);
	}
	snap->card = functions;
	snap->has_slots = functions->chassis;
	snap->bus_first = bus->busn_res.start;
	snap->bus_last = bus->busn_res.end;
	snap->closed = !gf_config_open(slot->port);
	if (!snap->closed &&
	    (pcie_capability_read_dword(slot->port, PCI_EXP_SLTCAP, &snap->sltcap) ||
	     PCI_POSSIBLE_ERROR(snap->sltcap)))
		snap->sltcap = 0;
	snap->pdev = gf_functions_gpu(functions, 0);
	snap->unread = snap->pdev && (snap->closed || !gf_card_is_open(functions, true));
	snap->frozen = gf_card_is_frozen(functions);
	snap->alive = snap->pdev && (snap->unread || all_answer(functions));
	snap->contained = !snap->closed && !snap->alive && gf_port_contains(slot->port);
	snap->quiet = snap->closed || (snap->pdev && (snap->unread || !snap->alive));
	for (i = 0; i < functions->count; i++)
		add_function(snap, slot, functions->pdev[i]);
	if (!snap->quiet)
		read_quiet(snap, slot);
	/* A reset that began meanwhile has made nonsense of it. */
	if (!gf_card_is_open(functions, true)) {
		snap->unread = true;
		snap->alive = true;
		snap->quiet = true;
	}
	return snap;
}

void gf_snapshot_free(struct gf_snapshot *snap)
{
	if (!snap)
		return;
	gf_functions_put(snap->card);
	kfree(snap->facts);
	kfree(snap);
}

/*
 * Look at a slot. Sleeps for the rescan lock, so only workers may call it. Asks the slot driver
 * first: its answer needs no rescan lock. A port that sleeps is asked for the first time only,
 * and not where that would give it power. Returns a snapshot for gf_snapshot_free(), or an error
 * pointer; -ENODEV when the port itself is gone.
 */
struct gf_snapshot *gf_snapshot_take(struct gf_slot *slot)
{
	bool present = false, power = false;
	struct gf_snapshot *snap;
	int status = -EBUSY;
	bool held = gf_port_hold(slot->port);
	bool cold = !held && slot->port->current_state == PCI_D3cold;

	if (held || (!slot->id && !cold))
		status = slot->backend->status(slot, &present, &power);
	if (gf_port_lock(slot->port)) {
		snap = snapshot_locked(slot);
		gf_rescan_unlock();
	} else {
		snap = ERR_PTR(-ENODEV);
	}
	if (held)
		gf_port_release(slot->port);
	/* Nobody has looked yet: there may be a card, until somebody does. */
	if (!IS_ERR(snap) && !slot->id && cold) {
		present = true;
		power = snap->nr_functions;
		status = 0;
	}
	/* Where nobody may be asked, what is there is what can be seen. */
	if (!IS_ERR(snap) && status == -EOPNOTSUPP) {
		present = snap->nr_functions;
		power = present;
		status = 0;
	}
	/* Down while the GPU is reset says nothing, and up while it sleeps does. */
	if (!IS_ERR(snap) && !status && (!snap->unread || (present && power))) {
		snap->present = present;
		snap->power = power;
		snap->status_valid = true;
	}
	return snap;
}
