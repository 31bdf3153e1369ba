// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/host/topo.c ctl/base/text.c
/* Distances from sysfs paths. */
#include "host/topo.h"
#include "tap.h"

#define ROOT "pci0000:00/0000:00:01.0"
#define UP_A ROOT "/0000:01:00.0"
#define GPU_A UP_A "/0000:02:00.0/0000:03:00.0"
#define GPU_B UP_A "/0000:02:01.0/0000:04:00.0"
#define GPU_C "pci0000:00/0000:00:02.0/0000:11:00.0/0000:12:00.0/0000:13:00.0"
#define GPU_D "pci0001:00/0001:00:01.0/0001:01:00.0"
#define GPU_E ROOT "/0000:01:00.1/0000:09:00.0/0000:0a:00.0"

int main(void)
{
	struct gf_slot a = { .id = 1, .switch_id = 1, .numa_node = 0 };
	struct gf_slot b = { .id = 2, .switch_id = 1, .numa_node = 0 };
	struct gf_slot c = { .id = 3, .switch_id = 2, .numa_node = 0 };
	struct gf_slot d = { .id = 4, .switch_id = 3, .numa_node = 1 };

	is_int(topo_hops(GPU_A, GPU_A), 0, "a device and itself");
	is_int(topo_hops(GPU_A, GPU_B), 4, "two slots of a switch");
	is_int(topo_hops(GPU_B, GPU_A), 4, "in both directions");
	is_int(topo_hops(GPU_A, GPU_C), 8, "two root ports");
	is_int(topo_hops(GPU_A, GPU_D), 8, "two roots: the roots count as well");
	is_int(topo_hops("", ""), 0, "nothing");
	is_int(topo_hops(UP_A, GPU_A), 2, "a bridge and what is below it");
	is_int(topo_hops("a/bc", "a/b"), 2, "a name that begins like another is another");
	is_int(topo_depth(GPU_A), 4, "depth below the root bus");
	is_int(topo_depth(NULL), 0, "no path, no depth");

	is_int(topo_relation(&a, GPU_A, &a, GPU_A), TOPO_SELF, "itself");
	is_int(topo_relation(&a, GPU_A, &b, GPU_B), TOPO_SWITCH, "one switch");
	is_int(topo_relation(&a, ROOT, &b, "pci0000:00/0000:00:02.0"), TOPO_HOST,
	       "two root ports that the module counts as one switch");
	is_int(topo_relation(&a, "pci0000:00/0000:00:05.0/0000:01:00.0", &b, "pci0000:00/0000:00:05.0/0000:01:01.0"),
	       TOPO_SWITCH, "a switch on the root bus, as a virtual machine can have it");
	is_int(topo_relation(&a, NULL, &b, NULL), TOPO_SWITCH, "without paths the switch decides");
	is_int(topo_relation(&a, GPU_A, &c, GPU_E), TOPO_ROOT_PORT,
	       "two switches below a root port");
	is_int(topo_relation(&a, GPU_A, &c, GPU_C), TOPO_HOST, "two root ports of a node");
	is_int(topo_relation(&a, GPU_A, &d, GPU_D), TOPO_NUMA, "two nodes");
	is_int(topo_relation(&a, NULL, &c, NULL), TOPO_HOST, "without paths the node decides");
	is_str(topo_relation_name(TOPO_ROOT_PORT), "root-port", "names");
	return tap_done();
}
