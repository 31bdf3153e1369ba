// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: holders without a process
 *
 * No process has a file open, and still the GPU is in use: virtual functions and mediated
 * devices are handed to virtual machines, the text console draws on it, or its driver keeps
 * a reference of its own (a persistence mode) and says so. Drivers that keep one and do not
 * say so are the business of pre-detach hooks.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "host/kernel_holders.h"

#define VALUE_MAX 64

/* Drivers that count their users in a file of the PCI device. */
static const struct {
	const char *driver;
	const char *file;
} counters[] = {
	{ "gpufabric-sim-gpu", "users" },
};

/* First line of a file below sysfs, "" when there is none. */
static const char *read_value(char buf[VALUE_MAX], const char *sys, const char *fmt, const char *a,
			      const char *b)
{
	char *tail = mem_printf(fmt, a, b), *path = mem_printf("%s/%s", sys, tail);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, buf, VALUE_MAX - 1) : 0;

	buf[n > 0 ? n : 0] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
	free(path);
	free(tail);
	return buf;
}

/* Takes @what. */
static void kernel_holders_add(struct holders *holders, const struct gf_slot *slot, char *what)
{
	struct holder *holder;

	holders->items = mem_grow(holders->items, holders->n + 1, sizeof(*holder));
	holder = &holders->items[holders->n++];
	*holder = (struct holder){
		.slot = slot->name,
		.command = mem_strdup("-"),
		.where = mem_strdup("kernel"),
		.paths = what,
	};
}

static void virtual_functions(const char *sys, const struct gf_slot *slot, const char *address,
			      struct holders *holders)
{
	char number[VALUE_MAX];

	read_value(number, sys, "bus/pci/devices/%s/%s", address, "sriov_numvfs");
	if (strtoul(number, NULL, 10))
		kernel_holders_add(holders, slot,
				   mem_printf("%s virtual functions of %s (no open file)", number,
					      address));
}

/* A mediated device is a child whose directory has a link to its type. */
static void mediated_devices(const char *sys, const struct gf_slot *slot, const char *address,
			     struct holders *holders)
{
	char *path = mem_printf("%s/bus/pci/devices/%s", sys, address), *type;
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		type = mem_printf("%s/%s/mdev_type", path, entry->d_name);
		if (entry->d_name[0] != '.' && !access(type, F_OK))
			kernel_holders_add(holders, slot,
					   mem_printf("mediated device %s of %s (no open file)",
						      entry->d_name, address));
		free(type);
	}
	if (dir)
		closedir(dir);
	free(path);
}

/* Does the text console draw on frame buffers at all? */
static bool console_draws(const char *sys)
{
	char name[VALUE_MAX], bound[VALUE_MAX];
	char *path = mem_printf("%s/class/vtconsole", sys);
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool draws = false;

	while (dir && (entry = readdir(dir)) && !draws)
		draws = strstr(read_value(name, sys, "class/vtconsole/%s/%s", entry->d_name,
					  "name"),
			       "frame buffer") &&
			atoi(read_value(bound, sys, "class/vtconsole/%s/%s", entry->d_name,
					"bind"));
	if (dir)
		closedir(dir);
	free(path);
	return draws;
}

/* Frame buffers of this function, by the link to their device. */
static void consoles(const char *sys, const struct gf_slot *slot, const char *address,
		     struct holders *holders)
{
	char *path = mem_printf("%s/class/graphics", sys);
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char *link = mem_printf("%s/%s/device", path, entry->d_name), *real, *last;

		real = strncmp(entry->d_name, "fb", 2) ? NULL : realpath(link, NULL);
		last = real ? strrchr(real, '/') : NULL;
		if (last && !strcmp(last + 1, address))
			kernel_holders_add(holders, slot,
					   mem_printf("text console on %s of %s (no open file)",
						      entry->d_name, address));
		free(real);
		free(link);
	}
	if (dir)
		closedir(dir);
	free(path);
}

static bool has_process(const struct holders *holders, const struct gf_slot *slot)
{
	size_t i;

	for (i = 0; i < holders->n; i++)
		if (holders->items[i].pid && holders->items[i].slot == slot->name)
			return true;
	return false;
}

/* Whose files are open is listed by process; what the driver counts beyond that is its own. */
static void driver_count(const char *sys, const struct gf_slot *slot,
			 const struct gf_function *function, struct holders *holders)
{
	char number[VALUE_MAX];
	size_t i;

	for (i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		if (!function->driver || strcmp(function->driver, counters[i].driver))
			continue;
		read_value(number, sys, "bus/pci/devices/%s/%s", function->address,
			   counters[i].file);
		if (!strtoul(number, NULL, 10) || has_process(holders, slot))
			continue;
		kernel_holders_add(holders, slot,
				   mem_printf("%s counts %s of its own on %s (no open file)",
					      function->driver, number, function->address));
	}
}

void kernel_holders(const struct holders_roots *roots, const struct gf_slot *const *slots, size_t n,
		    struct holders *holders)
{
	bool draws = console_draws(roots->sys);
	size_t i, j;

	for (i = 0; i < n; i++) {
		for (j = 0; j < slots[i]->n_functions; j++) {
			const struct gf_function *function = &slots[i]->functions[j];

			if (!function->address)
				continue;
			virtual_functions(roots->sys, slots[i], function->address, holders);
			mediated_devices(roots->sys, slots[i], function->address, holders);
			if (draws)
				consoles(roots->sys, slots[i], function->address, holders);
			driver_count(roots->sys, slots[i], function, holders);
		}
	}
}
