// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/host/pci.c ctl/base/tree.c ctl/base/text.c ctl/base/fault.c
/*
 * What is read of a bus to judge windows: no registers, but the first ones of ports that
 * are awake and whose prefetchable window is not known otherwise.
 *
 *   0000:00:01.0 -- 01:00.0 awake, 01:01.0 sleeps, 01:02.0 without power, 01:03.0 with a
 *                   window, and behind that 02:00.0, 01:04.0 a GPU
 */
#include <unistd.h>

#include "host/pci.h"
#include "tap.h"
#include "tree.h"

#define ROOT "sys/devices/pci0000:00/0000:00:01.0"
#define WIDE (PCI_RES_MEM | PCI_RES_PREFETCH | PCI_RES_WIDE)

static char dir[] = "/tmp/pci_test.XXXXXX";

static void put(const char *path, const char *file, const char *text)
{
	char *full = mem_printf("%s/%s", path, file);

	tree_put(dir, full, text);
	free(full);
}

/* 256 bytes of registers; those of the prefetchable window say 64 bits, or that there is none. */
static void put_config(const char *path, bool wide)
{
	unsigned char config[256] = { 0 };
	char *full = mem_printf("%s/%s/config", dir, path);
	FILE *f = fopen(full, "w");

	config[0x24] = config[0x26] = wide;
	if (f && fwrite(config, sizeof(config), 1, f) == 1)
		fclose(f);
	free(full);
}

static void put_device(const char *path, const char *class, const char *pref, const char *status,
		       const char *state)
{
	char text[17 * 60] = "", *link, *target;
	int i;

	for (i = 0; i < 17; i++)
		strcat(text, i == 15 && pref ? pref :
			     "0x0000000000000000 0x0000000000000000 0x0000000000000000\n");
	put(path, "class", class);
	put(path, "resource", text);
	put(path, "power/runtime_status", status);
	put(path, "power_state", state);
	put_config(path, !strcmp(status, "active\n"));
	link = mem_printf("%s/sys/bus/pci/devices/%s", dir, strrchr(path, '/') + 1);
	target = mem_printf("../../../%s", path + strlen("sys/"));
	if (symlink(target, link))
		perror(link);
	free(link);
	free(target);
}

static const struct pci_device *find(const struct pci_list *list, const char *address)
{
	static const struct pci_device nobody;
	const struct pci_device *dev = pci_find(list, address);

	return dev ? dev : &nobody;
}

static void test_resources(void)
{
	struct pci_range res[3];

	is_int((intmax_t)pci_parse_resources("0x1 0x2 0xffffffffffffffff\n0x0 0x0 0x0\n", res, 3), 2, "two lines");
	is_int((intmax_t)res[0].end, 2, "with the end");
	is_int((intmax_t)res[0].flags, -1, "and with all bits");
	is_int((intmax_t)pci_parse_resources("0x1 0x2 0x3\n0x1 0x2\n", res, 3), 1, "up to a line without flags");
	is_int((intmax_t)pci_parse_resources("0x1 0x2 0x3\n0x1 0x 0x3\n", res, 3), 1, "or without digits");
	is_int((intmax_t)pci_parse_resources("0x1 0x2 0x3\n1 2 3\n", res, 3), 1, "or that is not hexadecimal");
}

int main(void)
{
	struct fault fault = { 0 };
	struct pci_list list;
	struct tree tree;
	char *command;

	if (!mkdtemp(dir))
		return 1;
	tree_put(dir, "sys/bus/pci/devices/.keep", "");
	put_device(ROOT, "0x060400\n", NULL, "active\n", "D0\n");
	put_device(ROOT "/0000:01:00.0", "0x060400\n", NULL, "active\n", "D0\n");
	put_device(ROOT "/0000:01:01.0", "0x060400\n", NULL, "suspended\n", "D3hot\n");
	put_device(ROOT "/0000:01:02.0", "0x060400\n", NULL, "unsupported\n", "D3cold\n");
	put_device(ROOT "/0000:01:03.0", "0x060400\n",
		   "0x0000380000000000 0x000038000fffffff 0x0000000000102201\n", "active\n", "D0\n");
	put_device(ROOT "/0000:01:03.0/0000:02:00.0", "0x060400\n", NULL, "active\n", "D0\n");
	/* A service of the port, and what no PCI device is behind. */
	put(ROOT "/0000:01:03.0/0000:01:03.0:pcie204", "uevent", "");
	put_device(ROOT "/0000:01:04.0", "0x030200\n", NULL, "active\n", "D0\n");
	put(ROOT "/0000:01:04.0/0000:03:00.0", "uevent", "");

	if (tree_open(&tree, dir, &fault))
		return 1;
	pci_read_bus(&tree, "0000:01:01.0", &list);
	is_int((intmax_t)list.n, 7, "the bus, the bridge above and what is behind bridges");
	is_int((intmax_t)find(&list, "0000:01:00.0")->config_len, 64, "the header of a port that is awake");
	is_int((intmax_t)find(&list, "0000:01:00.0")->window[1].flags, WIDE, "says what window it has");
	is_int((intmax_t)find(&list, "0000:01:01.0")->config_len, 0, "nothing of one that sleeps");
	is_int((intmax_t)find(&list, "0000:01:01.0")->window[1].flags, WIDE, "which is believed to have one");
	is_int((intmax_t)find(&list, "0000:01:02.0")->config_len, 0, "nothing of one without power");
	is_int((intmax_t)find(&list, "0000:01:03.0")->config_len, 0, "nothing of one whose window is known");
	is_int((intmax_t)find(&list, "0000:02:00.0")->config_len, 0, "nothing of what is behind");
	is_int((intmax_t)find(&list, "0000:00:01.0")->config_len, 0, "nothing of the bridge above");
	is_int((intmax_t)find(&list, "0000:02:00.0")->parent, find(&list, "0000:01:03.0") - list.items,
	       "what is behind is known to be");
	is_int((intmax_t)find(&list, "0000:01:03.0")->parent, find(&list, "0000:00:01.0") - list.items,
	       "and so are the ports");
	pci_free(&list);

	pci_read(&tree, &list);
	is_int((intmax_t)find(&list, "0000:01:01.0")->config_len, 256, "who wants all gets all");
	is_int((intmax_t)find(&list, "0000:01:01.0")->window[1].flags, 0, "and that there is no window");
	pci_free(&list);
	test_resources();
	tree_close(&tree);
	command = mem_printf("rm -r %s", dir);
	if (system(command))
		perror(command);
	free(command);
	return tap_done();
}
