// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Looking at a slot
 *
 * A snapshot is what config space, resources and the slot driver say about a
 * slot at one moment. It is taken by workers alone, because it needs
 * pci_rescan_remove_lock, which has no trylock and can be held for as long as
 * a driver's probe takes, or for ever. Everybody else reads the last one.
 * Whatever is on the bus below the port is in the slot. Below a downstream port
 * there is one device, and which number a slot driver registered its slot for
 * says nothing: kernels differ in how they write "all devices".
 *
 * A function is not read while it sleeps, is reset or recovers from an error:
 * what would be read then says nothing about it, and may disturb. What was seen
 * of it before is kept.
 */
#include <linux/iommu.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include "backend.h"
#include "notify.h"
#include "rescan.h"
#include "sight.h"
#include "snapshot.h"

bool gf_is_gpu_class(u32 class)
{
	u8 base = class >> 16;

	return base == PCI_BASE_CLASS_DISPLAY || base == 0x12;
}

static u32 speed_mts(enum pci_bus_speed speed)
{
	switch (speed) {
	case PCIE_SPEED_2_5GT:
		return 2500;
	case PCIE_SPEED_5_0GT:
		return 5000;
	case PCIE_SPEED_8_0GT:
		return 8000;
	case PCIE_SPEED_16_0GT:
		return 16000;
	case PCIE_SPEED_32_0GT:
		return 32000;
	case PCIE_SPEED_64_0GT:
		return 64000;
	default:
		return 0;
	}
}

/* The Current Link Speed field counts the same speeds from 1. */
static u32 link_status_mts(u16 status)
{
	static const u32 speeds[] = { 0, 2500, 5000, 8000, 16000, 32000, 64000 };
	unsigned int index = status & PCI_EXP_LNKSTA_CLS;

	return index < ARRAY_SIZE(speeds) ? speeds[index] : 0;
}

static u32 width_of(enum pcie_link_width width)
{
	return width == PCIE_LNK_WIDTH_UNKNOWN ? 0 : width;
}

/**
 * gf_link_read() - read the link between a port and what is below it
 * @upper: the port above the link
 * @lower: a function below it, NULL when there is none
 * @link: filled
 *
 * Caller holds pci_rescan_remove_lock.
 */
void gf_link_read(struct pci_dev *upper, struct pci_dev *lower,
		  struct gf_link *link)
{
	u16 status;

	memset(link, 0, sizeof(*link));
	if (pcie_capability_read_word(upper, PCI_EXP_LNKSTA, &status) ||
	    PCI_POSSIBLE_ERROR(status))
		return;
	link->port_speed = speed_mts(pcie_get_speed_cap(upper));
	link->port_width = width_of(pcie_get_width_cap(upper));
	if (!lower)
		return;
	if (pci_is_pcie(lower)) {
		link->device_speed = speed_mts(pcie_get_speed_cap(lower));
		link->device_width = width_of(pcie_get_width_cap(lower));
	}
	link->speed = link_status_mts(status);
	link->width = (status & PCI_EXP_LNKSTA_NLW) >> PCI_EXP_LNKSTA_NLW_SHIFT;
}

/**
 * gf_link_degraded() - whether a link trained below what both ends can do
 * @link: the link
 */
bool gf_link_degraded(const struct gf_link *link)
{
	if (!link->speed || !link->width || !link->port_speed ||
	    !link->port_width || !link->device_speed || !link->device_width)
		return false;
	return link->speed < min(link->port_speed, link->device_speed) ||
	       link->width < min(link->port_width, link->device_width);
}

/**
 * gf_snapshot_bound() - whether every GPU function has a driver
 * @snap: a snapshot
 */
bool gf_snapshot_bound(const struct gf_snapshot *snap)
{
	unsigned int i;

	for (i = 0; i < snap->nr_functions; i++) {
		if (gf_is_gpu_class(snap->functions[i].class) &&
		    !snap->functions[i].driver[0])
			return false;
	}
	return snap->gpu >= 0;
}

/* What only the hardware knows, of the same GPU. */
static void keep_quiet(struct gf_snapshot *snap,
		       const struct gf_snapshot *before)
{
	unsigned int i, bar;

	for (i = 0; i < snap->nr_functions; i++) {
		for (bar = 0; bar < PCI_STD_NUM_BARS; bar++)
			snap->functions[i].bars[bar].flags |=
				before->functions[i].bars[bar].flags &
				GPUFABRIC_BAR_FLAG_RESIZABLE;
	}
	snap->serial = before->serial;
	snap->link = before->link;
	if (!snap->alive) {
		snap->link.speed = 0;
		snap->link.width = 0;
	}
}

/**
 * gf_snapshot_keep() - believe that what could not be read is as it was
 * @snap: a snapshot
 * @before: the one before it, or NULL
 */
void gf_snapshot_keep(struct gf_snapshot *snap,
		      const struct gf_snapshot *before)
{
	unsigned int i;

	if (!before || before->nr_functions != snap->nr_functions)
		return;
	if (snap->quiet && before->pdev == snap->pdev)
		keep_quiet(snap, before);
	if (!snap->driver_unread)
		return;
	for (i = 0; i < snap->nr_functions; i++) {
		struct gf_function *now = &snap->functions[i];
		const struct gf_function *then = &before->functions[i];

		if (!now->driver[0] && !strcmp(now->address, then->address))
			strscpy(now->driver, then->driver, sizeof(now->driver));
	}
}

static u32 resource_bar_flags(const struct resource *res)
{
	u32 flags = 0;

	if (res->parent && !(res->flags & IORESOURCE_UNSET))
		flags |= GPUFABRIC_BAR_FLAG_ASSIGNED;
	if (res->flags & IORESOURCE_MEM_64)
		flags |= GPUFABRIC_BAR_FLAG_WIDE;
	if (res->flags & IORESOURCE_PREFETCH)
		flags |= GPUFABRIC_BAR_FLAG_PREFETCHABLE;
	if (res->flags & IORESOURCE_IO)
		flags |= GPUFABRIC_BAR_FLAG_IO;
	return flags;
}

static void read_bars(struct gf_function *function, struct pci_dev *pdev,
		      u32 resizable)
{
	int i;

	for (i = 0; i < PCI_STD_NUM_BARS; i++) {
		struct resource *res = &pdev->resource[i];
		struct gf_bar *bar = &function->bars[i];

		if (!res->flags || !resource_size(res))
			continue;
		bar->size = resource_size(res);
		bar->flags = resource_bar_flags(res);
		if (resizable & BIT(i))
			bar->flags |= GPUFABRIC_BAR_FLAG_RESIZABLE;
		if (bar->flags & GPUFABRIC_BAR_FLAG_ASSIGNED)
			bar->address = pci_bus_address(pdev, i);
	}
}

static u32 resizable_bars(struct pci_dev *pdev)
{
	u32 mask = 0;
	int i;

	for (i = 0; i < PCI_STD_NUM_BARS; i++) {
		if (pci_rebar_get_possible_sizes(pdev, i))
			mask |= BIT(i);
	}
	return mask;
}

/*
 * Never waits for the device's lock, which a probe holds as long as it likes.
 * So does, for a moment, whoever reads some of the device's files, and then no
 * event follows. Returns whether the driver is known.
 */
static bool read_driver(struct gf_function *function, struct pci_dev *pdev)
{
	if (!device_trylock(&pdev->dev))
		return false;
	if (pdev->dev.driver)
		strscpy(function->driver, pdev->dev.driver->name,
			sizeof(function->driver));
	device_unlock(&pdev->dev);
	return true;
}

static void read_function(struct gf_function *function, struct pci_dev *pdev,
			  bool quiet)
{
	struct iommu_group *group;

	strscpy(function->address, pci_name(pdev), sizeof(function->address));
	function->vendor = pdev->vendor;
	function->device = pdev->device;
	function->subsystem_vendor = pdev->subsystem_vendor;
	function->subsystem_device = pdev->subsystem_device;
	function->revision = pdev->revision;
	function->class = pdev->class;
	function->iommu_group = -1;
	group = iommu_group_get(&pdev->dev);
	if (group) {
		function->iommu_group = iommu_group_id(group);
		iommu_group_put(group);
	}
	read_bars(function, pdev, quiet ? 0 : resizable_bars(pdev));
}

static int note_slots(struct pci_dev *pdev, void *data)
{
	struct gf_snapshot *snap = data;

	snap->has_slots |= pdev->is_hotplug_bridge;
	return snap->has_slots;
}

/* A function with more BARs than anything known leaves the need unknown. */
static void add_need(struct gf_slot *slot, struct pci_dev *pdev,
		     struct gf_fit_need *need)
{
	const struct pci_bus *below = pdev->subordinate;

	if (below)
		need->buses += below->busn_res.end - below->busn_res.start + 1;
	else
		gf_notify_need(slot, pdev, need);
}

/**
 * struct collecting - functions of a bus as they are found
 * @bus: the bus
 * @functions: where they go
 * @room: how many it has room for
 * @found: how many there are
 */
struct collecting {
	const struct pci_bus *bus;
	struct gf_functions *functions;
	unsigned int room;
	unsigned int found;
};

/* Runs under pci_bus_sem, so it does nothing but take references. */
static int collect(struct pci_dev *pdev, void *data)
{
	struct collecting *to = data;

	if (pdev->bus != to->bus || pdev->is_virtfn)
		return 0;
	if (to->found++ < to->room)
		to->functions->pdev[to->functions->count++] = pci_dev_get(pdev);
	return 0;
}

/**
 * gf_functions_get() - the functions on a bus, without virtual ones
 * @bus: the bus; caller holds pci_rescan_remove_lock
 *
 * The only way to walk a bus: its list of devices changes under that lock, too,
 * because drivers make virtual functions come and go without it. They are part of
 * the function that they come from, and never what is looked for.
 *
 * Return: the functions for gf_functions_put(), or NULL without memory.
 */
struct gf_functions *gf_functions_get(struct pci_bus *bus)
{
	struct collecting to = { .bus = bus, .found = GF_FUNCTIONS_USUAL };

	do {
		gf_functions_put(to.functions);
		to.room = to.found;
		to.found = 0;
		to.functions = kzalloc(struct_size(to.functions, pdev, to.room),
				       GFP_KERNEL);
		if (!to.functions)
			return NULL;
		pci_walk_bus(bus, collect, &to);
	} while (to.found > to.room);
	return to.functions;
}

/**
 * gf_functions_put() - give the functions on a bus back
 * @functions: the functions, or NULL
 */
void gf_functions_put(struct gf_functions *functions)
{
	unsigned int i;

	for (i = 0; functions && i < functions->count; i++)
		pci_dev_put(functions->pdev[i]);
	kfree(functions);
}

static struct pci_dev *first_gpu(const struct gf_functions *functions)
{
	unsigned int i;

	for (i = 0; i < functions->count; i++) {
		if (gf_is_gpu_class(functions->pdev[i]->class))
			return functions->pdev[i];
	}
	return NULL;
}

/*
 * The first resource of a window that ends behind an address. The tree of resources is
 * not walked: drivers change it under a lock that is the kernel's own. Resources of
 * functions that are referenced stay.
 */
static const struct resource *next_taken(const struct resource *window,
					 const struct gf_functions *functions,
					 u64 start)
{
	const struct resource *next = NULL;
	unsigned int i, bar;

	for (i = 0; i < functions->count; i++) {
		for (bar = 0; bar < PCI_NUM_RESOURCES; bar++) {
			const struct resource *res =
				&functions->pdev[i]->resource[bar];

			if (READ_ONCE(res->parent) == window &&
			    res->end >= start &&
			    (!next || res->start < next->start))
				next = res;
		}
	}
	return next;
}

static u64 largest_gap(const struct resource *window,
		       const struct gf_functions *functions)
{
	u64 start = window->start, largest = 0;
	const struct resource *next;

	while ((next = next_taken(window, functions, start))) {
		if (next->start > start)
			largest = max_t(u64, largest, next->start - start);
		start = max_t(u64, start, next->end) + 1;
	}
	if (start <= window->end)
		largest = max_t(u64, largest, window->end - start + 1);
	return largest;
}

static void read_windows(struct gf_snapshot *snap, struct pci_bus *bus,
			 const struct gf_functions *functions)
{
	struct resource *res;
	int i;

	snap->bus_first = bus->busn_res.start;
	snap->bus_last = bus->busn_res.end;
	pci_bus_for_each_resource(bus, res, i) {
		struct gf_window *window;

		if (!res || !res->flags || !resource_size(res) ||
		    snap->nr_windows == GF_WINDOWS)
			continue;
		window = &snap->windows[snap->nr_windows++];
		window->flags = resource_bar_flags(res);
		window->size = resource_size(res);
		window->free = largest_gap(res, functions);
	}
}

static bool answers(struct pci_dev *pdev)
{
	u32 id = ~0;

	return !pci_read_config_dword(pdev, PCI_VENDOR_ID, &id) &&
	       (id & 0xffff) == pdev->vendor;
}

static struct gf_snapshot *snapshot_alloc(unsigned int functions)
{
	struct gf_snapshot *snap = kzalloc(struct_size(snap, functions,
						       functions), GFP_KERNEL);

	if (!snap)
		return NULL;
	snap->gpu = -1;
	snap->missing_bar = -1;
	if (!functions)
		return snap;
	snap->need = kzalloc(sizeof(*snap->need), GFP_KERNEL);
	if (!snap->need) {
		kfree(snap);
		return NULL;
	}
	return snap;
}

static void add_function(struct gf_snapshot *snap, struct gf_slot *slot,
			 struct pci_dev *pdev)
{
	unsigned int index = snap->nr_functions++;
	struct gf_function *function = &snap->functions[index];

	read_function(function, pdev, snap->quiet);
	if (!read_driver(function, pdev))
		snap->driver_unread = true;
	if (!snap->quiet)
		add_need(slot, pdev, snap->need);
	if (pdev->subordinate)
		pci_walk_bus(pdev->subordinate, note_slots, snap);
	if (!gf_is_gpu_class(pdev->class))
		return;
	if (pdev == snap->pdev)
		snap->gpu = index;
	if (snap->missing_bar < 0)
		gf_notify_missing_bar(slot, pdev, snap);
}

/**
 * gf_snapshot_locked() - look at a slot under the rescan lock
 * @slot: slot to look at; caller has its port by gf_port_lock()
 *
 * Return: a snapshot for gf_snapshot_free(), or an error pointer.
 */
struct gf_snapshot *gf_snapshot_locked(struct gf_slot *slot)
{
	struct pci_bus *bus = slot->port->subordinate;
	struct gf_functions *functions;
	struct gf_snapshot *snap;
	struct pci_dev *gpu;
	unsigned int i;

	functions = gf_functions_get(bus);
	snap = functions ? snapshot_alloc(functions->count) : NULL;
	if (!snap) {
		gf_functions_put(functions);
		return ERR_PTR(-ENOMEM);
	}
	gpu = first_gpu(functions);
	if (gpu) {
		snap->pdev = pci_dev_get(gpu);
		snap->unread = !gf_config_open(gpu);
		snap->alive = snap->unread || answers(gpu);
		snap->quiet = snap->unread || !snap->alive;
	}
	for (i = 0; i < functions->count; i++)
		add_function(snap, slot, functions->pdev[i]);
	if (!snap->quiet) {
		snap->serial = gpu ? pci_get_dsn(gpu) : 0;
		gf_link_read(slot->port, gpu, &snap->link);
	}
	/* A reset that began meanwhile has made nonsense of it. */
	if (gpu && !gf_config_open(gpu)) {
		snap->unread = true;
		snap->alive = true;
		snap->quiet = true;
	}
	read_windows(snap, bus, functions);
	gf_functions_put(functions);
	return snap;
}

/**
 * gf_snapshot_free() - forget a snapshot
 * @snap: the snapshot, or NULL
 */
void gf_snapshot_free(struct gf_snapshot *snap)
{
	if (!snap)
		return;
	pci_dev_put(snap->pdev);
	kfree(snap->need);
	kfree(snap);
}

/**
 * gf_snapshot_take() - look at a slot
 * @slot: slot to look at
 *
 * Sleeps for the rescan lock, so only workers may call it. Asks the slot
 * driver first: its answer needs no rescan lock.
 *
 * Return: a snapshot for gf_snapshot_free(), or an error pointer; -ENODEV when
 * the port itself is gone.
 */
struct gf_snapshot *gf_snapshot_take(struct gf_slot *slot)
{
	bool present = false, power = false;
	struct gf_snapshot *snap;
	int status;

	status = slot->backend->status(slot, &present, &power);
	if (!gf_port_lock(slot->port))
		return ERR_PTR(-ENODEV);
	snap = gf_snapshot_locked(slot);
	gf_rescan_unlock();
	/* Where nobody may be asked, what is there is what can be seen. */
	if (!IS_ERR(snap) && status == -EOPNOTSUPP) {
		present = snap->nr_functions;
		power = present;
		status = 0;
	}
	/*
	 * A link that is down while the GPU is reset says nothing; one that is
	 * up while it sleeps does.
	 */
	if (!IS_ERR(snap) && !status &&
	    (!snap->unread || (present && power))) {
		snap->present = present;
		snap->power = power;
		snap->status_valid = true;
	}
	return snap;
}
