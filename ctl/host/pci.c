// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: PCI devices
 *
 * Where a device is tells the link in bus/pci/devices, what it has its files
 * resource and config. Without privileges config ends after 64 bytes, so that nothing
 * is known of PCI Express: whoever asks says so.
 *
 * What the kernel remembers, as class and resource, harms nobody. Who reads config wakes
 * the device and all above it, and a slot that is woken may power its card: to judge
 * windows it is read of ports that are awake, as far as their windows are not known.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "host/pci.h"

#define DEVICES "sys/bus/pci/devices"
#define CLASS_BRIDGE 0x06
#define CONFIG_BYTES 4096
#define HEADER_BYTES 64
#define HEX_BYTES 16
#define CAP_LIST 0x34
#define CAP_EXPRESS 0x10
#define SLOT_CAP 0x14
#define SLOT_STATUS 0x1a
#define SLOT_CAP_HPC (1u << 6)
#define FLAG_SLOT (1u << 8)
#define PREF_BASE 0x24
#define SERVICE_HP 4

uint32_t pci_config(const struct pci_device *dev, unsigned int at, unsigned int bytes)
{
	uint32_t value = 0;
	unsigned int i;

	for (i = 0; i < bytes && at + i < dev->config_len; i++)
		value |= (uint32_t)dev->config[at + i] << (8 * i);
	return value;
}

static unsigned int capability(const struct pci_device *dev, unsigned int id)
{
	unsigned int at, left = 48;

	/* Bit 4 of the status says that there is a list. */
	if (!(pci_config(dev, 6, 2) & 0x10))
		return 0;
	for (at = pci_config(dev, CAP_LIST, 1) & ~3u; at >= 0x40 && left--;
	     at = pci_config(dev, at + 1, 1) & ~3u)
		if (pci_config(dev, at, 1) == id)
			return at;
	return 0;
}

unsigned int pci_extended(const struct pci_device *dev, unsigned int id)
{
	unsigned int at = PCI_EXTENDED_BASE, left = (CONFIG_BYTES - PCI_EXTENDED_BASE) / 8;

	while (left-- && at >= PCI_EXTENDED_BASE && at + 4 <= dev->config_len) {
		uint32_t header = pci_config(dev, at, 4);

		if (!header || header == UINT32_MAX)
			return 0;
		if ((header & 0xffff) == id)
			return at;
		at = header >> 20 & 0xffc;
	}
	return 0;
}

bool pci_is_gpu(const struct pci_device *dev)
{
	return dev->class >> 16 == 0x03 || dev->class >> 16 == 0x12;
}

bool pci_is_assigned(const struct pci_range *range)
{
	return range->flags & PCI_RES_MEM && !(range->flags & PCI_RES_UNSET) && range->start &&
	       range->end >= range->start;
}

uint64_t pci_range_size(const struct pci_range *range)
{
	return range->flags && range->end > range->start ? range->end - range->start + 1 : 0;
}

static int pci_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* To judge one bus, hundreds of lines are read, on which strtoull() would spend most of the time. */
static bool range_take(const char **at, uint64_t *value)
{
	const char *digits = *at + (**at == ' ');
	int digit;

	if (digits[0] != '0' || digits[1] != 'x' || pci_digit(digits[2]) < 0)
		return false;
	*value = 0;
	for (digits += 2; (digit = pci_digit(*digits)) >= 0; digits++)
		*value = *value << 4 | (unsigned int)digit;
	*at = digits;
	return true;
}

size_t pci_parse_resources(const char *text, struct pci_range *res, size_t max)
{
	const char *line = text;
	size_t n = 0;

	while (n < max && *line) {
		struct pci_range *r = &res[n];

		if (!range_take(&line, &r->start) || !range_take(&line, &r->end) ||
		    !range_take(&line, &r->flags))
			break;
		n++;
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	return n;
}

static uint32_t pci_hex_of(const struct tree *tree, const char *address, const char *file)
{
	size_t len;
	char *line = tree_begin(tree, HEX_BYTES, &len, DEVICES "/%s/%s", address, file);
	uint32_t value = line ? (uint32_t)strtoul(line, NULL, 0) : 0;

	free(line);
	return value;
}

/* A bridge's windows are the last lines: I/O, memory, prefetchable, and one of CardBus. */
static void read_windows(struct pci_device *dev, const struct pci_range *res, size_t n)
{
	if (n < 11)
		return;
	dev->window[0] = res[n - 3];
	dev->window[1] = res[n - 2];
	dev->window[0].flags |= PCI_RES_MEM;
	if (!(dev->window[1].flags & PCI_RES_PREFETCH))
		dev->window[1].flags = 0;
}

/* A window without addresses is only seen in the registers, which are 0 without it. */
static bool is_pref_unknown(const struct pci_device *dev)
{
	return dev->window[0].flags && !dev->window[1].flags;
}

static void find_pref(struct pci_device *dev)
{
	unsigned int pref = pci_config(dev, PREF_BASE, 2);

	if (is_pref_unknown(dev) && (pref || pci_config(dev, PREF_BASE + 2, 2)))
		dev->window[1].flags = PCI_RES_MEM | PCI_RES_PREFETCH |
				       ((pref & 0xf) == 1 ? PCI_RES_WIDE : 0);
}

bool pci_is_awake(const struct tree *tree, const char *address)
{
	char *status = tree_line(tree, DEVICES "/%s/power/runtime_status", address);
	char *state = tree_line(tree, DEVICES "/%s/power_state", address);
	bool awake = (!status || !strcmp(status, "active") || !strcmp(status, "unsupported")) &&
		     (!state || strcmp(state, "D3cold"));

	free(status);
	free(state);
	return awake;
}

/* Ports of PCI Express that sleep are believed to have one, and a wide one. */
static void guess_pref(const struct tree *tree, struct pci_device *dev)
{
	if (!is_pref_unknown(dev))
		return;
	if (pci_is_awake(tree, dev->address)) {
		dev->config = (uint8_t *)tree_begin(tree, HEADER_BYTES, &dev->config_len,
						    DEVICES "/%s/config", dev->address);
		find_pref(dev);
	} else {
		dev->window[1].flags = PCI_RES_MEM | PCI_RES_PREFETCH | PCI_RES_WIDE;
	}
}

static void read_express(const struct tree *tree, struct pci_device *dev)
{
	unsigned int at = capability(dev, CAP_EXPRESS);
	char *link;

	dev->port = PCI_PORT_NONE;
	if (!at)
		return;
	dev->port = (enum pci_port)(pci_config(dev, at + 2, 2) >> 4 & 0xf);
	if (dev->port != PCI_PORT_ROOT && dev->port != PCI_PORT_DOWNSTREAM)
		return;
	dev->slotted = pci_config(dev, at + 2, 2) & FLAG_SLOT;
	dev->hotplug = dev->slotted && pci_config(dev, at + SLOT_CAP, 4) & SLOT_CAP_HPC;
	/* Services are called by the kind of port, root ports being 0, and by what they do. */
	link = tree_link(tree, "sys/bus/pci_express/drivers/pciehp/%s:pcie%x%02x", dev->address,
			 (unsigned int)dev->port - PCI_PORT_ROOT, SERVICE_HP);
	dev->native = link;
	free(link);
}

static unsigned int pci_number_of(const struct tree *tree, const char *address, const char *file,
				  unsigned int otherwise)
{
	char *line = tree_line(tree, DEVICES "/%s/%s", address, file);
	unsigned int number = line ? (unsigned int)atoi(line) & 0xff : otherwise;

	free(line);
	return number;
}

void pci_read_ranges(const struct tree *tree, const char *address, struct pci_device *dev)
{
	struct pci_range res[PCI_RESOURCES] = { 0 };
	size_t n = 0;
	char *text;

	dev->class = pci_hex_of(tree, address, "class");
	dev->bridge = dev->class >> 8 == 0x0604;
	text = tree_read(tree, NULL, DEVICES "/%s/resource", address);
	if (text)
		n = pci_parse_resources(text, res, PCI_RESOURCES);
	free(text);
	memcpy(dev->res, res, sizeof(dev->res));
	if (dev->bridge)
		read_windows(dev, res, n);
}

void pci_read_config(const struct tree *tree, const char *address, struct pci_device *dev)
{
	dev->config = (uint8_t *)tree_read(tree, &dev->config_len, DEVICES "/%s/config", address);
}

static void read_device(const struct tree *tree, struct pci_device *dev)
{
	char *link;

	pci_read_ranges(tree, dev->address, dev);
	pci_read_config(tree, dev->address, dev);
	find_pref(dev);
	if (dev->bridge) {
		dev->bus_first = pci_number_of(tree, dev->address, "secondary_bus_number", 0);
		dev->bus_last =
			pci_number_of(tree, dev->address, "subordinate_bus_number", dev->bus_first);
	}
	dev->vendor = (uint16_t)pci_hex_of(tree, dev->address, "vendor");
	dev->device = (uint16_t)pci_hex_of(tree, dev->address, "device");
	read_express(tree, dev);
	link = tree_link(tree, DEVICES "/%s/driver", dev->address);
	if (link)
		dev->driver = mem_strdup(strrchr(link, '/') ? strrchr(link, '/') + 1 : link);
	free(link);
}

/* Host bridges hang below anything: the path starts at the PCI root. */
static char *path_from_root(const char *path)
{
	const char *from = strstr(path, "/pci");

	if (!strncmp(path, "pci", 3))
		return mem_strdup(path);
	return from ? mem_strdup(from + 1) : NULL;
}

char *pci_path(const struct tree *tree, const char *address)
{
	char *link = tree_link(tree, DEVICES "/%s", address), *path;

	path = link ? path_from_root(link) : NULL;
	free(link);
	return path;
}

static int compare_devices(const void *left, const void *right)
{
	const struct pci_device *a = left, *b = right;

	size_t x = strlen(a->address), y = strlen(b->address);

	/* Domains have four digits or five; hex digits sort as they are. */
	return x != y ? (x > y) - (x < y) : strcmp(a->address, b->address);
}

/* Takes over @path. */
static struct pci_device *pci_add_device(const char *address, char *path, struct pci_list *list)
{
	struct pci_device *dev;

	list->items = mem_grow(list->items, list->n + 1, sizeof(*list->items));
	dev = &list->items[list->n++];
	memset(dev, 0, sizeof(*dev));
	dev->address = mem_strdup(address);
	dev->path = path ? path : mem_strdup(address);
	return dev;
}

static void find_parents(struct pci_list *list)
{
	size_t i;

	qsort(list->items, list->n, sizeof(*list->items), compare_devices);
	for (i = 0; i < list->n; i++) {
		char *above = mem_strdup(list->items[i].path), *slash = strrchr(above, '/');
		struct pci_device *parent = NULL;

		if (slash) {
			*slash = '\0';
			slash = strrchr(above, '/');
			parent = pci_find(list, slash ? slash + 1 : above);
		}
		list->items[i].parent = parent ? (size_t)(parent - list->items) : PCI_NOBODY;
		free(above);
	}
}

void pci_read(const struct tree *tree, struct pci_list *list)
{
	size_t n, i;
	char **names = tree_names(tree, &n, DEVICES);

	memset(list, 0, sizeof(*list));
	for (i = 0; i < n; i++)
		read_device(tree, pci_add_device(names[i], pci_path(tree, names[i]), list));
	tree_free_names(names, n);
	find_parents(list);
}

/* As many hex digits as may be from @min to @max; NULL if there are not. */
static const char *address_skip(const char *at, size_t min, size_t max)
{
	size_t n = 0;

	while (n < max && isxdigit((unsigned char)at[n]))
		n++;
	return n < min ? NULL : at + n;
}

/* Domain, bus, device and function, as 0000:01:00.0. */
static bool is_address(const char *name)
{
	const char *at = address_skip(name, 4, 8);

	at = at && *at == ':' ? address_skip(at + 1, 2, 2) : NULL;
	at = at && *at == ':' ? address_skip(at + 1, 2, 2) : NULL;
	at = at && *at == '.' ? address_skip(at + 1, 1, 1) : NULL;
	return at && !*at;
}

/* The devices in a directory of sysfs, and below the bridges among them as many levels. */
static void pci_add_below(const struct tree *tree, const char *path, unsigned int levels,
			  struct pci_list *list)
{
	size_t n, i;
	char **names = tree_names_if(tree, is_address, &n, "sys/devices/%s", path), *below;

	for (i = 0; i < n; i++) {
		struct pci_device *dev;

		below = mem_printf("%s/%s", path, names[i]);
		dev = pci_add_device(names[i], path_from_root(below), list);
		pci_read_ranges(tree, dev->address, dev);
		if (levels)
			guess_pref(tree, dev);
		if (levels && dev->class >> 16 == CLASS_BRIDGE)
			pci_add_below(tree, below, levels - 1, list);
		free(below);
	}
	tree_free_names(names, n);
}

void pci_read_bus(const struct tree *tree, const char *port, struct pci_list *list)
{
	char *link = tree_link(tree, DEVICES "/%s", port), *path = NULL, *slash;

	memset(list, 0, sizeof(*list));
	/* Unlike pci_path(): where the files are, below whatever the root hangs. */
	path = link ? strstr(link, "devices/") : NULL;
	slash = path ? strrchr(path, '/') : NULL;
	if (slash) {
		path += strlen("devices/");
		*slash = '\0';
		slash = strrchr(path, '/');
		if (slash && is_address(slash + 1))
			pci_read_ranges(tree, slash + 1,
					pci_add_device(slash + 1, pci_path(tree, slash + 1), list));
		pci_add_below(tree, path, 1, list);
		find_parents(list);
	}
	free(link);
}

int pci_read_slot(const struct tree *tree, const char *address, uint32_t *capabilities,
		  uint16_t *status)
{
	struct pci_device dev = { 0 };
	unsigned int at;

	if (!pci_is_awake(tree, address))
		return -EAGAIN;
	dev.config = (uint8_t *)tree_begin(tree, CONFIG_BYTES, &dev.config_len,
					   DEVICES "/%s/config", address);
	at = capability(&dev, CAP_EXPRESS);
	if (at && !(pci_config(&dev, at + 2, 2) & FLAG_SLOT))
		at = 0;
	*capabilities = at ? pci_config(&dev, at + SLOT_CAP, 4) : 0;
	*status = at ? (uint16_t)pci_config(&dev, at + SLOT_STATUS, 2) : 0;
	free(dev.config);
	return at ? 0 : -ENODATA;
}

void pci_free(struct pci_list *list)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		free(list->items[i].address);
		free(list->items[i].path);
		free(list->items[i].config);
		free(list->items[i].driver);
	}
	free(list->items);
	memset(list, 0, sizeof(*list));
}

struct pci_device *pci_find(const struct pci_list *list, const char *address)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (!strcmp(list->items[i].address, address))
			return &list->items[i];
	return NULL;
}
