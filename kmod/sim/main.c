// SPDX-License-Identifier: GPL-2.0-only
/*
 * gpufabric_sim: a composable PCIe switch with GPUs, in software.
 */

/**
 * DOC: simulator
 *
 * Builds PCI domains with switches whose slots hold simulated GPUs, out of
 * nothing: no host memory, no interrupt line, no firmware. Depending on the
 * mode the slots are driven by the kernel's pciehp, by the simulator, or by
 * nobody.
 *
 * Order of setting up: bus notifier and companion driver first, so that no
 * simulated GPU is ever on a bus without them; the reverse at the end. The
 * slots of mode=own go first of all, because whoever writes to their files
 * needs everything else. Switches that were added at run time pin the module:
 * at the end there are none.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "sim.h"

#include <linux/module.h>
#include <linux/nodemask.h>
#include <linux/platform_device.h>
#include <linux/slab.h>

#define MAX_DOMAINS	64

static const char default_gpus[] =
	"0.0-7:h100-80:off,1.0-3:l40s:off,1.4-5:a100-80:off";

static char *mode = "pciehp";
module_param(mode, charp, 0444);
MODULE_PARM_DESC(mode, "driver of the slots: pciehp, own (the simulator) or bare (none) [pciehp]");

static unsigned int switches = 2;
module_param(switches, uint, 0444);
MODULE_PARM_DESC(switches, "number of switches [2]");

static unsigned int slots = 8;
module_param(slots, uint, 0444);
MODULE_PARM_DESC(slots, "slots of each switch, at most 253 [8]");

static unsigned int domains;
module_param(domains, uint, 0444);
MODULE_PARM_DESC(domains, "number of PCI domains for the switches [as many as needed]");

static char *gpus;
module_param(gpus, charp, 0444);
MODULE_PARM_DESC(gpus, "contents of the slots: SWITCH.SLOT[-SLOT]:MODEL[:off|:on][:audio|:many][:bridge][:sriov][:switch|:dual|:hexa|:chassis][:nohp],... with * for all");

static int set_latency(const char *value, const struct kernel_param *param)
{
	int ret = param_set_uint_minmax(value, param, 0, 60000);

	if (ret)
		pr_err("latency_ms=%s: must be 0 to 60000\n", value);
	return ret;
}

static const struct kernel_param_ops latency_ops = {
	.set = set_latency,
	.get = param_get_uint,
};

struct sim sim = {
	.latency_ms = UINT_MAX,
	.lock = __MUTEX_INITIALIZER(sim.lock),
};

module_param_cb(latency_ms, &latency_ops, &sim.latency_ms, 0644);
MODULE_PARM_DESC(latency_ms, "time in ms that a link takes to train [20 with mode=pciehp, because pciehp adds 100; otherwise 100]");

static char *bridges = "firmware";
module_param(bridges, charp, 0444);
MODULE_PARM_DESC(bridges, "who sets up bus numbers and windows: firmware or kernel [firmware]");

static bool acs;
module_param(acs, bool, 0444);
MODULE_PARM_DESC(acs, "downstream ports redirect peer-to-peer traffic [N]");

static bool uplink;
module_param(uplink, bool, 0444);
MODULE_PARM_DESC(uplink, "whole switches can be hot-plugged, in slots 8000 and up; mode pciehp only [N]");

static bool button;
module_param(button, bool, 0444);
MODULE_PARM_DESC(button, "slots have an attention button, for which mode=pciehp then waits [N]");

static bool latch;
module_param(latch, bool, 0444);
MODULE_PARM_DESC(latch, "slots have a sensor of their retention latch, in mode pciehp [N]");

static unsigned int window_gib = 512;
module_param(window_gib, uint, 0444);
MODULE_PARM_DESC(window_gib, "memory window of each slot in GiB, a power of two [512]");

static unsigned int buses = 1;
module_param(buses, uint, 0444);
MODULE_PARM_DESC(buses, "bus numbers of each slot with bridges=firmware, 4 for cards with a switch that are put in later [1]");

static unsigned int slot_number;
module_param(slot_number, uint, 0444);
MODULE_PARM_DESC(slot_number, "device number with which mode=own registers slots; some kernels use 0xfe or 0xfeff for all devices [0]");

static bool knobs = true;
module_param(knobs, bool, 0444);
MODULE_PARM_DESC(knobs, "make files in debugfs for each slot [Y]");

static int node[MAX_DOMAINS] = { [0 ... MAX_DOMAINS - 1] = NUMA_NO_NODE };
module_param_array(node, int, NULL, 0444);
MODULE_PARM_DESC(node, "NUMA node of each domain, comma separated, -1 for none [-1]");

static struct platform_device *sim_parent;

static int set_mode(void)
{
	if (!strcmp(mode, "pciehp")) {
		sim.mode = SIM_MODE_PCIEHP;
	} else if (!strcmp(mode, "own")) {
		sim.mode = SIM_MODE_OWN;
	} else if (!strcmp(mode, "bare")) {
		sim.mode = SIM_MODE_BARE;
	} else {
		pr_err("mode=%s: must be pciehp, own or bare\n", mode);
		return -EINVAL;
	}
	if (!strcmp(bridges, "firmware")) {
		sim.firmware = true;
	} else if (strcmp(bridges, "kernel")) {
		pr_err("bridges=%s: must be firmware or kernel\n", bridges);
		return -EINVAL;
	}
	return 0;
}

/* How many switches fit into the 256 buses and 32 devices of a domain. */
static unsigned int domain_capacity(void)
{
	return min(255 / (slots * buses + 2), 32U);
}

static int set_size(void)
{
	unsigned int needed;

	if (slots < 1 || slots > SIM_MAX_SLOTS) {
		pr_err("slots=%u: must be 1 to %u\n", slots, SIM_MAX_SLOTS);
		return -EINVAL;
	}
	if (buses < 1 || slots * buses > SIM_MAX_SLOTS) {
		pr_err("buses=%u: must be 1 to %u with slots=%u\n", buses,
		       SIM_MAX_SLOTS / slots, slots);
		return -EINVAL;
	}
	if (switches < 1 || switches > MAX_DOMAINS * domain_capacity()) {
		pr_err("switches=%u: must be 1 to %u with slots=%u\n",
		       switches, MAX_DOMAINS * domain_capacity(), slots);
		return -EINVAL;
	}
	needed = DIV_ROUND_UP(switches, domain_capacity());
	if (!domains)
		domains = needed;
	if (domains < needed || domains > min(switches, MAX_DOMAINS + 0U)) {
		pr_err("domains=%u: must be %u to %u with switches=%u slots=%u\n",
		       domains, needed, min(switches, MAX_DOMAINS + 0U),
		       switches, slots);
		return -EINVAL;
	}
	sim.switches = switches;
	sim.slots = slots;
	sim.domains = domains;
	sim.buses = buses;
	return 0;
}

/* The numbers of slots are a field of 13 bits in a register of their ports. */
static int set_numbers(void)
{
	unsigned int last = slots <= 100 ? switches * 100 + slots - 1 :
					   switches * slots;
	unsigned int limit = uplink ? SIM_UPLINK_PSN - 1 : SIM_MAX_PSN;

	if (uplink && sim.mode != SIM_MODE_PCIEHP) {
		pr_err("uplink=1: needs mode=pciehp\n");
		return -EINVAL;
	}
	if (sim.mode == SIM_MODE_PCIEHP &&
	    (last > limit ||
	     (uplink && SIM_UPLINK_PSN + switches - 1 > SIM_MAX_PSN))) {
		pr_err("switches=%u slots=%u: mode=pciehp has fewer slot numbers\n",
		       switches, slots);
		return -EINVAL;
	}
	sim.uplink = uplink;
	return 0;
}

/* The PCI core keeps it in a field whose size depends on the kernel. */
static int set_slot_number(void)
{
	const struct pci_slot *slot;
	unsigned int most = BIT(BITS_PER_BYTE * sizeof(slot->number)) - 1;

	if (slot_number > most) {
		pr_err("slot_number=%#x: must be 0 to %#x on this kernel\n",
		       slot_number, most);
		return -EINVAL;
	}
	sim.slot_number = slot_number;
	return 0;
}

static int set_rest(void)
{
	unsigned int i;

	if (!is_power_of_2(window_gib) || window_gib > SIM_MAX_WINDOW_GIB) {
		pr_err("window_gib=%u: must be a power of two up to %u\n",
		       window_gib, SIM_MAX_WINDOW_GIB);
		return -EINVAL;
	}
	for (i = 0; i < sim.domains; i++) {
		if (node[i] == NUMA_NO_NODE)
			continue;
		if (node[i] < 0 || node[i] >= MAX_NUMNODES ||
		    !node_online(node[i])) {
			pr_err("node=%d: this host has no such NUMA node\n",
			       node[i]);
			return -EINVAL;
		}
	}
	if (sim.latency_ms == UINT_MAX)
		sim.latency_ms = sim.mode == SIM_MODE_PCIEHP ? 20 : 100;
	sim.window_gib = window_gib;
	sim.acs = acs;
	sim.button = button;
	sim.latch = latch;
	sim.node = node;
	return 0;
}

/* Reads the list of GPUs and builds everything. */
static int build(void)
{
	const struct sim_layout layout = {
		.switches = sim.switches,
		.slots = sim.slots,
		.clip = !gpus,
	};
	struct sim_card_spec *specs;
	char wrong[160];
	int ret;

	specs = kvcalloc(sim.switches * sim.slots, sizeof(*specs), GFP_KERNEL);
	if (!specs)
		return -ENOMEM;
	ret = sim_parse_gpus(gpus ?: default_gpus, &layout, specs, wrong,
			     sizeof(wrong));
	if (ret)
		pr_err("gpus=: %s\n", wrong);
	else
		ret = sim_topology_alloc(specs);
	if (ret)
		sim_topology_free();
	kvfree(specs);
	return ret;
}

static int alloc_queues(void)
{
	sim.train_wq = alloc_workqueue("gpufabric_sim_link", WQ_UNBOUND, 0);
	sim.event_wq = alloc_workqueue("gpufabric_sim_slot", WQ_UNBOUND, 0);
	return sim.train_wq && sim.event_wq ? 0 : -ENOMEM;
}

static void free_queues(void)
{
	if (sim.train_wq)
		destroy_workqueue(sim.train_wq);
	if (sim.event_wq)
		destroy_workqueue(sim.event_wq);
}

static int own_register(void)
{
	struct sim_switch *sw;
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && (sw = sim_switch_at(i)); i++)
		ret = sim_own_register(sw);
	return ret;
}

/* Operations that wait for links give up, removals that are held go on. */
static void close_all(void)
{
	struct sim_switch *sw;
	unsigned int i;

	for (i = 0; (sw = sim_switch_at(i)); i++)
		sim_switch_close(sw);
	for (i = 0; (sw = sim_switch_at(i)); i++)
		sim_own_unregister(sw);
}

/* Everything that is built goes live, and is taken back on an error. */
static int go_live(void)
{
	int ret;

	sim_parent = platform_device_register_simple(KBUILD_MODNAME,
						     PLATFORM_DEVID_NONE,
						     NULL, 0);
	if (IS_ERR(sim_parent))
		return PTR_ERR(sim_parent);
	sim.parent = &sim_parent->dev;
	sim_power_init(sim.parent);
	ret = sim_bus_register();
	if (ret)
		goto unregister_parent;
	ret = sim_driver_register();
	if (ret)
		goto unregister_bus;
	ret = sim_own_driver_register();
	if (ret)
		goto unregister_driver;
	ret = sim_topology_add();
	if (!ret && sim.mode == SIM_MODE_OWN)
		ret = own_register();
	if (ret)
		goto remove_topology;
	if (knobs)
		sim_fault_init();
	return 0;

remove_topology:
	close_all();
	sim_topology_remove();
	sim_own_driver_unregister();
unregister_driver:
	sim_driver_unregister();
unregister_bus:
	sim_bus_unregister();
unregister_parent:
	platform_device_unregister(sim_parent);
	return ret;
}

/* The opposite of go_live(). */
static void take_down(void)
{
	sim_fault_exit();
	close_all();
	sim_topology_remove();
	sim_own_driver_unregister();
	sim_driver_unregister();
	sim_bus_unregister();
	platform_device_unregister(sim_parent);
}

static int __init sim_init(void)
{
	int ret;

	ret = set_mode() ?: set_size() ?: set_numbers() ?: set_slot_number() ?:
	      set_rest();
	if (ret)
		return ret;
	sim_config_init();
	ret = alloc_queues();
	if (ret)
		goto free_queues;
	ret = build();
	if (ret)
		goto free_queues;
	ret = go_live();
	if (ret)
		goto free_topology;
	/* Last: what users add there from now on cannot be taken back. */
	ret = sim_configfs_init();
	if (ret)
		goto take_down;
	pr_info("mode %s: %u switches with %u slots each in %u domains from %04x\n",
		mode, sim.switches, sim.slots, sim.domains,
		sim.dom[0]->sysdata.domain);
	return 0;

take_down:
	take_down();
free_topology:
	sim_topology_free();
free_queues:
	free_queues();
	return ret;
}
module_init(sim_init);

static void __exit sim_exit(void)
{
	sim_configfs_exit();
	take_down();
	sim_topology_free();
	free_queues();
}
module_exit(sim_exit);

MODULE_DESCRIPTION("simulated composable PCIe switch with GPUs");
MODULE_LICENSE("GPL");
MODULE_VERSION(GPUFABRIC_VERSION);
