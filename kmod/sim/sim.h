/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_SIM_H
#define GPUFABRIC_SIM_H

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/pci_hotplug.h>
#include <linux/spinlock.h>
#include <linux/swait.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "params.h"

/* "gf"; no driver in the kernel knows it. */
#define SIM_VENDOR_ID		0x6767
#define SIM_DEVICE_ROOT		0x0100
#define SIM_DEVICE_UPSTREAM	0x0101
#define SIM_DEVICE_DOWNSTREAM	0x0102
#define SIM_DEVICE_BRIDGE	0x0103
#define SIM_DEVICE_INNER	0x0104
#define SIM_DEVICE_AUDIO	0x0200
#define SIM_DEVICE_VF		0x0300

#define SIM_DRIVER_NAME		"gpufabric-sim-gpu"
/* No driver has this name: a function with this override stays unbound. */
#define SIM_NO_DRIVER		"gpufabric-sim-none"

#define SIM_CFG_BYTES		512
#define SIM_EXP_CAP		0x40
#define SIM_PM_CAP		0x7c
#define SIM_MSI_CAP		0x84
#define SIM_EXT_CAP		0x100
#define SIM_DPC_CAP		0x110
#define SIM_IOV_CAP		0x180
#define SIM_FUNCTIONS		2
/* Of the memory of a GPU, what there is to tell its users apart. */
#define SIM_MEMORY_BYTES	64
/* Virtual functions of a card that can have some, and the BAR of each. */
#define SIM_VFS			31
#define SIM_VF_FIRST		SIM_FUNCTIONS
#define SIM_VF_BYTES		SZ_256M
#define SIM_MAX_SLOTS		253
/* A link that was reset takes at least so long to train. */
#define SIM_RETRAIN_MS		30
/* A card answers so long after its link has come up, unless told otherwise. */
#define SIM_LATE_MS		20
/* Switches that can be added at run time, and slots of each. */
#define SIM_ADDED_SWITCHES	16
#define SIM_ADDED_SLOTS		100
/* Root ports of a domain, a switch below each. */
#define SIM_DOMAIN_SWITCHES	32
/* Window of each slot below 4 GiB, and where those of a domain begin. */
#define SIM_LOW_BYTES		SZ_2M
#define SIM_LOW_BASE		0xc0000000U
/* Where the first domain's prefetchable windows begin. */
#define SIM_HIGH_BASE		BIT_ULL(44)
#define SIM_MAX_WINDOW_GIB	8192
/* Slot number of the first switch, where switches can be hot-plugged. */
#define SIM_UPLINK_PSN		8000
#define SIM_MAX_PSN		8191

enum sim_mode {
	SIM_MODE_PCIEHP,	/* the kernel's pciehp drives the ports */
	SIM_MODE_OWN,		/* slots registered by the simulator */
	SIM_MODE_BARE,		/* no port has a hot-plug controller */
};

/* What a switch needs of its domain. */
enum sim_space {
	SIM_BUSES,
	SIM_LOW,		/* addresses below 4 GiB */
	SIM_HIGH,		/* prefetchable ones */
	SIM_SPACES
};

/**
 * struct sim_range - part of a space that a switch has
 * @start: the first number
 * @count: how many; 0 for none
 */
struct sim_range {
	u64 start;
	u64 count;
};

enum sim_fault {
	SIM_FAULT_NONE,
	SIM_FAULT_POWER,	/* the power controller reports a fault */
	SIM_FAULT_LINK,		/* the link never trains */
	SIM_FAULT_PRESENCE,	/* the card goes away half-way */
	SIM_FAULT_ENUMERATE,	/* the card never answers */
	SIM_FAULT_BAR,		/* the large BAR is one that no window can take */
	SIM_FAULT_BAR0,		/* ... or the one that this register is part of */
	SIM_FAULT_BAR5 = SIM_FAULT_BAR0 + 5,
	SIM_FAULT_COUNT
};

/**
 * struct sim_plan - what a switch is to be like when it is put onto a bus
 * @nr_slots: how many slots it has
 * @host: switches with the same number share a domain
 * @window_gib: prefetchable window of each slot, where @firmware
 * @firmware: bus numbers and windows are preset
 */
struct sim_plan {
	unsigned int nr_slots;
	unsigned int host;
	unsigned int window_gib;
	unsigned int firmware;
};

struct sim_port;
struct sim_slot;
struct sim_switch;
struct sim_domain;
struct sim_gpu;
struct sim_hotplug;
struct platform_device;

/**
 * struct sim_fn - configuration space of one function
 * @cfg: the registers, little endian
 * @wmask: which bits of @cfg can be written
 * @bar_mask: which bits of each BAR can be written; the others are its size
 * @asleep: it was suspended and not resumed yet
 * @woken: how often it was resumed while the host was awake
 *
 * Protected by the lock of the port that it is part of, or that is above it.
 */
struct sim_fn {
	u8 cfg[SIM_CFG_BYTES];
	const u8 *wmask;
	u32 bar_mask[PCI_STD_NUM_BARS];
	bool asleep;
	unsigned int woken;
};

/**
 * struct sim_port_ops - what differs between the ports
 * @link: the best link that can train with what is below the port
 * @reset: what is below the port loses its state, because it was just powered
 *	(cold) or for another reason
 * @wipe: nothing is left in the memory of what is below the port; can be NULL
 * @status: what is below the port sees this in its own Link Status
 * @event: something happened; can be NULL
 *
 * All are called with the port's lock held.
 */
struct sim_port_ops {
	struct sim_link (*link)(struct sim_port *port);
	void (*reset)(struct sim_port *port, bool cold);
	void (*wipe)(struct sim_port *port);
	void (*status)(struct sim_port *port, u16 status);
	void (*event)(struct sim_port *port);
};

/**
 * struct sim_port - a port with something below it that can come and go
 * @ops: what differs between the ports
 * @lock: protects everything up to @disturbed, and the configuration space of
 *	what is below the port. Taken in hard interrupt context by the
 *	accessors of the configuration space, so nothing sleeps under it. The
 *	locks of a switch's slots nest inside that of its root port
 * @fn: configuration space of the port
 * @controlled: software works the power controller, by Slot Control
 * @bare: nobody drives the port; disabling the link takes power away
 * @unguarded: who drives the slot has no device below the port; only in mode=own
 * @present: there is something
 * @hidden: @present does not show yet in Slot Status
 * @power: the power controller is on
 * @link_up: the data link is active
 * @training: the link will be up at @train_at
 * @train_at: in jiffies
 * @armed: fault of an operation to come
 * @armed_skip: how many operations go well before
 * @armed_count: how many fail then
 * @active: fault of the running operation
 * @slow_ms: how much longer than usual the link takes to train
 * @flaps: how often the link goes down again after it came up
 * @down_until: the link does not come up before, in jiffies
 * @late_ms: how long what is below does not answer after the link came up
 * @answers_at: when it does, in jiffies
 * @silent: it does not answer, and its link is up all the same
 * @resetting: the slot driver resets what is below; only in mode=own
 * @lost: the link went down under power, and nobody has answered it
 * @inserted: something was put in, and nobody has answered it
 * @pressed: the attention button was pressed, and nobody has answered it;
 *	only in mode=own
 * @can_be_cold: it loses its power when it sleeps
 * @cold: it has no power itself
 * @dark: what is below has no power, whatever the power controller says
 * @was_on: @power before it, or all that is above it, lost its own
 * @disturbed: how often it, or what is below it, was accessed in its sleep
 * @irq_work: raises @irq from any context
 * @irq: interrupt of the port, 0 if it has none
 * @train: brings the link up, and down again where it flaps
 * @wait: woken at each change of the link or of presence; for one waiter
 */
struct sim_port {
	const struct sim_port_ops *ops;
	raw_spinlock_t lock;
	struct sim_fn fn;
	bool controlled;
	bool bare;
	bool unguarded;
	bool present;
	bool hidden;
	bool power;
	bool link_up;
	bool training;
	unsigned long train_at;
	enum sim_fault armed;
	unsigned int armed_skip;
	unsigned int armed_count;
	enum sim_fault active;
	unsigned int slow_ms;
	unsigned int flaps;
	unsigned long down_until;
	unsigned int late_ms;
	unsigned long answers_at;
	bool silent;
	bool resetting;
	bool lost;
	bool inserted;
	bool pressed;
	bool can_be_cold;
	bool cold;
	bool dark;
	bool was_on;
	unsigned int disturbed;

	struct irq_work irq_work;
	int irq;
	struct delayed_work train;
	struct swait_queue_head wait;
};

/**
 * struct sim_card - what sits in a slot
 * @model: the imitated GPU, NULL if the slot was never filled
 * @serial: device serial number, kept when the card is put back
 * @audio: functions beside the GPU, all alike
 * @bridged: the GPU is behind a bridge that finds no bus number
 * @ports: downstream ports of its switch, a GPU behind each; 0 for none
 * @slotted: they say that they implement slots
 * @sriov: the first GPU can have virtual functions
 * @bar_bytes: size of the large BAR, 0 for the model's
 * @memory: what users of each GPU have left in its memory
 * @fn: configuration spaces of the GPUs, powered or not
 * @bridge: configuration space of the bridge, or of the switch's upstream port
 * @inner: configuration spaces of the switch's downstream ports
 * @vf: configuration space of a virtual function; all are alike, and whether
 *	there are any is a matter of the first of @fn
 *
 * Protected by the lock of the slot's port.
 */
struct sim_card {
	const struct sim_model *model;
	u64 serial;
	unsigned int audio;
	bool bridged;
	unsigned int ports;
	bool slotted;
	bool sriov;
	u64 bar_bytes;
	char memory[SIM_CARD_GPUS][SIM_MEMORY_BYTES];
	struct sim_fn fn[SIM_CARD_GPUS][SIM_FUNCTIONS];
	struct sim_fn bridge;
	struct sim_fn inner[SIM_CARD_GPUS];
	struct sim_fn vf;
};

/**
 * struct sim_knobs - what the companion driver is told to do, each once
 * @probe_fail: refuse this many probes
 * @probe_ms: delay the next probe
 * @bound_ms: after the next probe, keep the device locked for so long
 * @remove_block: hold the next removal until released
 * @remove_open: hold the next removal until the last user has gone
 * @keep_vfs: leave virtual functions at the next removal
 *
 * Protected by sim_gpu_mutex.
 */
struct sim_knobs {
	unsigned int probe_fail;
	unsigned int probe_ms;
	unsigned int bound_ms;
	bool remove_block;
	bool remove_open;
	bool keep_vfs;
};

/**
 * struct sim_slot - a downstream port with the slot behind it
 * @sw: the switch it belongs to
 * @number: its place in the switch
 * @name: name of the slot directory below /sys/bus/pci/slots
 * @port: the port; its lock protects everything up to @bar_bytes
 * @card: what sits in the slot
 * @inserts: how many cards the slot has seen, makes serials unique
 * @limit: the best link that may train, 0 for the card's own
 * @bar_bytes: size of the large BAR at the next power-on, 0 for the model's
 * @buses: bus numbers that it is preset with
 * @window_mib: as in &struct sim_card_spec
 * @window_at: where its window is in that of the switch, in bytes
 * @window_bytes: its size, 0 for none
 * @op_mutex: serialises enabling, disabling and the answer to surprises in
 *	mode=own. Outermost: the rescan lock is taken below it
 * @event: follows surprises, and the coming and going of the port
 * @hotplug: as the PCI hot-plug core knows it in mode=own, NULL while it is not
 *	registered; changed under the lock of @guard, or as @loose when that is
 *	not bound
 * @port_mutex: protects @port_dev, which changes under the rescan lock, too
 * @port_dev: the port's device, referenced, NULL while it is not there
 * @guard: the device by which the slot driver has the slot, NULL before it came
 *	for the first time; changed by @event under the rescan lock
 * @guard_port: the port that @guard is for, referenced; as @guard
 * @claimed: the driver of @guard may bind; as @loose
 * @probe_error: why it did not, under the lock of @guard
 * @loose: @hotplug is registered without @guard; touched by @event alone, and by
 *	whoever has made sure that it does not run
 * @error: why @hotplug could not be registered; as @loose
 * @knobs: orders for the companion driver
 * @files: its directory in debugfs
 * @gpu: the companion driver's view of the card's GPUs; protected by sim_gpu_mutex
 */
struct sim_slot {
	struct sim_switch *sw;
	unsigned int number;
	char name[16];

	struct sim_port port;
	struct sim_card card;
	u8 inserts;
	struct sim_link limit;
	u64 bar_bytes;
	unsigned int buses;
	unsigned int window_mib;
	u64 window_at;
	u64 window_bytes;

	/* Operations of mode=own; see above. */
	struct mutex op_mutex;
	struct work_struct event;
	struct sim_hotplug *hotplug;
	/* Covers port_dev. */
	struct mutex port_mutex;
	struct pci_dev *port_dev;
	struct platform_device *guard;
	struct pci_dev *guard_port;
	bool claimed;
	int probe_error;
	bool loose;
	int error;

	struct sim_knobs knobs;
	struct dentry *files;
	struct sim_gpu *gpu[SIM_CARD_GPUS];
};

/**
 * struct sim_switch - a root port, an upstream port and its slots
 * @domain: where it is
 * @index: its number among all, from 0
 * @place: its number in the domain, from 0
 * @firmware: its bridges are preset as firmware would have done
 * @window: prefetchable memory window of each slot, where @firmware
 * @range: what it has of its domain's numbers and addresses; where the kernel
 *	sizes the bridges only bus numbers, as a note
 * @nr_slots: number of its slots while it is on a bus
 * @max_slots: how many it can have
 * @minor: minor number of its first slot; counts all slots there can be
 * @psn: physical slot number of its first slot
 * @window_mib: its prefetchable window, 0 for the sum of those of its slots
 * @taken: added at run time, and somebody's; protected by &sim.lock
 * @live: added at run time, and on a bus; protected by &sim.lock
 * @closing: it is being taken away; ports that go now are no event
 * @files: its directory in debugfs
 * @root: the root port; the switch itself is what can come and go below it
 * @upstream: configuration space of the upstream port; protected by the lock
 *	of @root
 * @slots: its slots, up to @max_slots; those made once stay
 *
 * Once made, a switch and its slots stay in memory until the module goes. One
 * that was taken away is used again for the next that is added in its place.
 */
struct sim_switch {
	struct sim_domain *domain;
	unsigned int index;
	unsigned int place;
	bool firmware;
	u64 window;
	struct sim_range range[SIM_SPACES];
	unsigned int nr_slots;
	unsigned int max_slots;
	unsigned int minor;
	unsigned int psn;
	unsigned int window_mib;
	bool taken;
	bool live;
	atomic_t closing;
	struct dentry *files;
	struct sim_port root;
	struct sim_fn upstream;
	struct sim_slot **slots;
};

/**
 * struct sim_domain - a host bridge with the switches below it
 * @sysdata: what the architecture wants to find behind each bus
 * @bridge: the host bridge
 * @bus: its root bus
 * @busn: bus numbers
 * @low: memory window below 4 GiB; not part of the host's memory map
 * @high: prefetchable memory window, neither
 * @sw: its switches, by the device number of their root ports. The accessors
 *	of the configuration space look there without a lock; an entry changes
 *	while nothing is at its device number
 *
 * Written while the simulator is set up and torn down, by one thread; those of
 * switches that are added at run time under &sim.lock.
 */
struct sim_domain {
	struct pci_sysdata sysdata;
	struct pci_host_bridge *bridge;
	struct pci_bus *bus;
	struct resource busn;
	struct resource low;
	struct resource high;
	struct sim_switch *sw[SIM_DOMAIN_SWITCHES];
};

/**
 * struct sim - all that is simulated
 * @mode: who drives the slots
 * @switches: number of switches that the parameters ask for
 * @slots: number of slots of each of these
 * @domains: number of their domains
 * @latency_ms: time that a link takes to train; can change at any time
 * @firmware: bridges are preset as firmware would have done
 * @acs: redirection of peer-to-peer traffic is on
 * @uplink: the root ports are hot-plug ports, too
 * @button: slots have an attention button
 * @latch: slots have a sensor of their retention latch
 * @window_gib: prefetchable memory window of each slot
 * @buses: bus numbers of each slot, at least
 * @slot_number: device number that slots are registered for in mode=own
 * @node: NUMA node of each domain
 * @parent: parent of the host bridges
 * @sw: the switches, then those added at run time; an entry is set once
 * @dom: the domains, as @sw
 * @lock: serialises adding and removing switches at run time, and protects
 *	what is in configfs. Taken below the locks of configfs; the rescan
 *	lock and &sim_slot.op_mutex are taken below it
 * @train_wq: trains links
 * @event_wq: runs the slots' events, which may wait for links
 */
struct sim {
	enum sim_mode mode;
	unsigned int switches;
	unsigned int slots;
	unsigned int domains;
	unsigned int latency_ms;
	bool firmware;
	bool acs;
	bool uplink;
	bool button;
	bool latch;
	unsigned int window_gib;
	unsigned int buses;
	unsigned int slot_number;
	int *node;
	struct device *parent;
	struct sim_switch **sw;
	struct sim_domain **dom;
	/* Covers adding and removing switches at run time, and configfs. */
	struct mutex lock;
	struct workqueue_struct *train_wq;
	struct workqueue_struct *event_wq;
};

extern struct sim sim;

/* Switches of the parameters; NULL beyond the last one that has been made. */
static inline struct sim_switch *sim_switch_at(unsigned int i)
{
	return sim.sw && i < sim.switches ? sim.sw[i] : NULL;
}

static inline struct sim_slot *sim_slot_at(const struct sim_switch *sw,
					   unsigned int i)
{
	return sw->slots && i < sw->nr_slots ? sw->slots[i] : NULL;
}

/* Slots that there are and can be: as many minor numbers for each GPU of a card. */
static inline unsigned int sim_minors(void)
{
	return sim.switches * sim.slots + SIM_ADDED_SWITCHES * SIM_ADDED_SLOTS;
}

static inline unsigned int sim_slot_minor(const struct sim_slot *slot)
{
	return slot->sw->minor + slot->number;
}

static inline struct sim_slot *sim_slot_of(struct sim_port *port)
{
	return container_of(port, struct sim_slot, port);
}

static inline struct sim_switch *sim_switch_of(struct sim_port *port)
{
	return container_of(port, struct sim_switch, root);
}

/* dpc.c */
void sim_dpc_config(struct sim_fn *fn);
u16 sim_dpc_writable(void);
bool sim_dpc_holds(const struct sim_fn *fn);
bool sim_dpc_interrupts(const struct sim_fn *fn);
int sim_dpc_trigger(struct sim_fn *fn);
bool sim_dpc_write(struct sim_fn *fn, int where, int size, u32 value);

/* config.c */
void sim_config_init(void);
void sim_config_root(struct sim_switch *sw);
void sim_config_upstream(struct sim_fn *fn);
void sim_config_port(struct sim_slot *slot);
void sim_config_card(struct sim_slot *slot);
void sim_config_behind(struct sim_slot *slot, unsigned int port, bool too);
void sim_config_link(struct sim_card *card, u16 status);
void sim_config_bars(struct sim_slot *slot, u64 base);
u64 sim_config_bytes(const struct sim_slot *slot);
bool sim_config_is_awake(const struct sim_fn *fn);
bool sim_config_has_vf(const struct sim_card *card, unsigned int number);
void sim_config_buses(struct sim_fn *fn, u8 primary, u8 secondary,
		      u8 subordinate);
void sim_config_windows(struct sim_fn *fn, u32 low, u32 low_bytes, u64 high,
			u64 high_bytes);
u16 sim_get16(const struct sim_fn *fn, int where);
void sim_set16(struct sim_fn *fn, int where, u16 value);
bool sim_reg_written(int where, int size, int reg);
void sim_reg_clear(struct sim_fn *fn, int reg, u16 bits, int where, u32 value);
u32 sim_fn_read(const struct sim_fn *fn, int where, int size);
void sim_fn_write(struct sim_fn *fn, int where, int size, u32 value);

/* bus.c */
extern struct pci_ops sim_pci_ops;
bool sim_bus_find(struct pci_dev *pdev, struct sim_port **port,
		  struct sim_fn **fn);
struct sim_slot *sim_slot_of_port(struct pci_dev *pdev);
struct sim_slot *sim_slot_of_card(struct pci_dev *pdev, unsigned int *gpu);
struct sim_switch *sim_switch_of_port(struct pci_dev *pdev);
int sim_bus_register(void);
void sim_bus_unregister(void);
void sim_bus_close(void);

/* port.c */
void sim_port_init(struct sim_port *port, const struct sim_port_ops *ops);
void sim_port_reset(struct sim_port *port);
void sim_port_start(struct sim_port *port, bool on);
int sim_port_irq_init(struct sim_port *port);
void sim_port_stop(struct sim_port *port);
void sim_port_fini(struct sim_port *port);
void sim_port_write(struct sim_port *port, int where, int size, u32 value);
void sim_port_power(struct sim_port *port, bool on);
void sim_port_insert(struct sim_port *port);
void sim_port_remove(struct sim_port *port);
void sim_port_flap(struct sim_port *port, unsigned int times);
void sim_port_blink(struct sim_port *port, unsigned int ms);
int sim_port_contain(struct sim_port *port);
void sim_port_calm(struct sim_port *port);
void sim_port_silence(struct sim_port *port, bool silent);
bool sim_port_answers(const struct sim_port *port);
void sim_port_driver_reset(struct sim_port *port, bool on);
int sim_port_press(struct sim_port *port);
int sim_port_cut_power(struct sim_port *port);
int sim_port_latch(struct sim_port *port, bool open);
int sim_port_hide(struct sim_port *port, bool hide);
void sim_port_reveal(struct sim_port *port);
void sim_port_cut(struct sim_port *port);
void sim_port_sleep(struct sim_port *port);
void sim_port_wake(struct sim_port *port);
void sim_port_dark(struct sim_port *port, bool dark);

/* slot.c */
extern const struct sim_port_ops sim_slot_ops;
struct sim_slot *sim_slot_of_minor(unsigned int minor);
int sim_slot_alloc(struct sim_switch *sw, unsigned int number);
void sim_slot_reset(struct sim_slot *slot, const struct sim_card_spec *spec);
void sim_slot_free(struct sim_slot *slot);
void sim_slot_fill(struct sim_slot *slot, const struct sim_card_spec *spec);
int sim_slot_insert(struct sim_slot *slot, const struct sim_card_spec *spec);
unsigned int sim_slot_psn(const struct sim_slot *slot);

/* switch.c */
int sim_switch_alloc(unsigned int index);
int sim_switch_reset(struct sim_switch *sw, const struct sim_card_spec *specs,
		     unsigned int nr_slots);
void sim_switch_free(struct sim_switch *sw);
u64 sim_switch_window(const struct sim_switch *sw);
unsigned int sim_switch_buses(const struct sim_switch *sw);
void sim_switch_preset(struct sim_switch *sw);
void sim_switch_close(struct sim_switch *sw);
void sim_switch_sleep(struct sim_switch *sw);
void sim_switch_wake(struct sim_switch *sw);

/* own.c */
int sim_own_register(struct sim_switch *sw);
void sim_own_unregister(struct sim_switch *sw);
void sim_own_init(struct sim_slot *slot);
int sim_own_claim(struct sim_slot *slot, bool claim, bool guarded);
int sim_own_driver_register(void);
void sim_own_driver_unregister(void);
void sim_own_event(struct sim_slot *slot);
void sim_own_port_added(struct sim_slot *slot, struct pci_dev *port);
void sim_own_port_removed(struct sim_slot *slot, struct pci_dev *port);

/* domain.c */
int sim_domain_alloc(unsigned int index);
void sim_domain_reset(struct sim_domain *domain, unsigned int slots, u64 high,
		      u64 bytes);
int sim_domain_place(struct sim_domain *domain, struct sim_switch *sw);
void sim_domain_unplace(struct sim_switch *sw);
bool sim_domain_empty(const struct sim_domain *domain);
int sim_domain_add(struct sim_domain *domain);
void sim_domain_remove(struct sim_domain *domain);
int sim_domain_plug(struct sim_switch *sw);
void sim_domain_unplug(struct sim_switch *sw);

/* topology.c */
int sim_topology_alloc(const struct sim_card_spec *specs);
void sim_topology_free(void);
int sim_topology_add(void);
void sim_topology_remove(void);

/* place.c */
struct sim_switch *sim_place_take(void);
void sim_place_put(struct sim_switch *sw);
int sim_place_enable(struct sim_switch *sw, const struct sim_plan *plan,
		     const struct sim_card_spec *cards);
void sim_place_disable(struct sim_switch *sw);

/* driver.c */
int sim_driver_register(void);
void sim_driver_unregister(void);
void sim_driver_forget(struct sim_switch *sw);
int sim_driver_order(struct sim_slot *slot, const char *order);
void sim_driver_show(struct sim_slot *slot, char *text, size_t size);

/* fault.c */
void sim_fault_init(void);
void sim_fault_exit(void);
void sim_fault_add(struct sim_switch *sw);
void sim_fault_remove(struct sim_switch *sw);

/* power.c */
void sim_power_access(struct sim_port *port, const struct sim_fn *fn);
void sim_power_add(struct pci_dev *pdev);
void sim_power_init(struct device *host);

/* configfs.c */
#if IS_ENABLED(CONFIG_CONFIGFS_FS)
int sim_configfs_init(void);
void sim_configfs_exit(void);
#else
static inline int sim_configfs_init(void)
{
	return 0;
}

static inline void sim_configfs_exit(void)
{
}
#endif

#endif /* GPUFABRIC_SIM_H */
