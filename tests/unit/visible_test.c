// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/host/visible.c ctl/module/model.c ctl/module/state.c ctl/module/object.c ctl/module/netlink_gen.c ctl/base/text.c
/*
 * What runtimes are told: trees as the drivers of three vendors make them say
 * how the GPUs of some slots are called.
 */
#include <stdlib.h>

#include "host/visible.h"
#include "tap.h"
#include "tree.h"

static char dir[] = "/tmp/visible_test.XXXXXX";

static void put(const char *path, const char *content)
{
	tree_put(dir, path, content);
}

/* "NAME=VALUE NAME=VALUE" for GPUs with these vendors and addresses. */
static char *told(size_t n, const uint32_t *vendors, char **addresses)
{
	struct gf_function functions[4] = { 0 };
	struct gf_slot slots[4] = { 0 };
	const struct gf_slot *list[4];
	struct visible variables[VISIBLE_MAX];
	struct text text = { 0 };
	char *proc = mem_printf("%s/proc", dir), *sys = mem_printf("%s/sys", dir);
	size_t i, count;

	for (i = 0; i < n; i++) {
		functions[i].vendor = vendors[i];
		functions[i].address = addresses[i];
		functions[i].class = 0x030000;
		slots[i].functions = &functions[i];
		slots[i].n_functions = 1;
		list[i] = &slots[i];
	}
	count = visible_devices(proc, sys, list, n, variables);
	for (i = 0; i < count; i++)
		text_add(&text, "%s%s=%s", i ? " " : "", variables[i].name, variables[i].value);
	visible_free(variables, count);
	free(proc);
	free(sys);
	return text.text ? text.text : mem_strdup("");
}

static void is_told(size_t n, const uint32_t *vendors, char **addresses, const char *want, const char *what)
{
	char *is = told(n, vendors, addresses);

	is_str(is, want, what);
	free(is);
}

int main(void)
{
	static const uint32_t nvidia[] = { 0x10de, 0x10de };
	static const uint32_t amd[] = { 0x1002, 0x1002 };
	static const uint32_t intel[] = { 0x8086, 0x8086 };
	static const uint32_t both[] = { 0x1002, 0x10de };
	static const uint32_t other[] = { 0x6767 };
	char *command;

	if (!mkdtemp(dir))
		return 1;
	put("proc/driver/nvidia/gpus/0000:41:00.0/information",
	    "Model: \t\t NVIDIA H100 PCIe\nIRQ:   \t\t 90\nGPU UUID: \t GPU-11111111-2222-3333-4444-555555555555\n");
	put("proc/driver/nvidia/gpus/0000:42:00.0/information", "GPU UUID: \t GPU-66666666-0000\nBus Type: \t PCIe\n");
	put("proc/driver/nvidia/gpus/0000:43:00.0/information", "Model: none\n");
	put("sys/class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 64\nunique_id 0\ndomain 0\nlocation_id 0\n");
	put("sys/class/kfd/kfd/topology/nodes/1/properties",
	    "location_id 49920\ndomain 0\nunique_id 2658455991569831745\n");
	put("sys/class/kfd/kfd/topology/nodes/2/properties", "location_id 49920\ndomain 1\nunique_id 17\n");
	put("sys/bus/pci/devices/0000:03:00.0/vendor", "0x8086\n");
	put("sys/bus/pci/devices/0000:03:00.0/class", "0x030000\n");
	put("sys/bus/pci/devices/0000:05:00.0/vendor", "0x8086\n");
	put("sys/bus/pci/devices/0000:05:00.0/class", "0x020000\n");
	put("sys/bus/pci/devices/0000:08:00.0/vendor", "0x8086\n");
	put("sys/bus/pci/devices/0000:08:00.0/class", "0x038000\n");
	put("sys/bus/pci/devices/0000:09:00.0/vendor", "0x10de\n");
	put("sys/bus/pci/devices/0000:09:00.0/class", "0x030200\n");

	is_told(2, nvidia, (char *[]){ "0000:42:00.0", "0000:41:00.0" },
		"CUDA_VISIBLE_DEVICES=GPU-66666666-0000,GPU-11111111-2222-3333-4444-555555555555",
		"NVIDIA by UUID, in the order of the slots");
	is_told(1, nvidia, (char *[]){ "0000:43:00.0" }, "", "a driver that does not tell");
	is_told(1, nvidia, (char *[]){ "0000:44:00.0" }, "", "a driver that does not know the GPU");
	is_told(1, amd, (char *[]){ "0000:c3:00.0" }, "ROCR_VISIBLE_DEVICES=GPU-24e4bba3a4875741",
		"AMD by unique id");
	is_told(1, amd, (char *[]){ "0001:c3:00.0" }, "ROCR_VISIBLE_DEVICES=GPU-0000000000000011",
		"of the right domain");
	is_told(1, amd, (char *[]){ "0000:c4:00.0" }, "", "a GPU that the kfd does not have");
	is_told(2, intel, (char *[]){ "0000:08:00.0", "0000:03:00.0" },
		"ZE_AFFINITY_MASK=1,0 ZE_ENABLE_PCI_ID_DEVICE_ORDER=1", "Intel by number, in the order of addresses");
	is_told(2, both, (char *[]){ "0000:c3:00.0", "0000:41:00.0" },
		"CUDA_VISIBLE_DEVICES=GPU-11111111-2222-3333-4444-555555555555 ROCR_VISIBLE_DEVICES=GPU-24e4bba3a4875741",
		"two vendors");
	is_told(1, other, (char *[]){ "0000:41:00.0" }, "", "another vendor");
	is_told(0, other, NULL, "", "no GPU at all");

	command = mem_printf("rm -r %s", dir);
	ok(!system(command), "cleaned up");
	free(command);
	return tap_done();
}
