// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: properties for udev
 *
 * Called for each event of a GPU, so nothing is asked that could have to wait:
 * the uevent file of the slot has all of it. A PCI device is in the slot whose
 * port is the nearest above it.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/text.h"
#include "lib/udev_slot.h"

#define CLASS "class/gpufabric"
#define FILE_MAX 4096
#define NAME_LEN_MAX 255

/* All of a small file, NULL when there is none. */
static char *read_small(const char *path)
{
	char *text = mem_zalloc(FILE_MAX, 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	if (fd >= 0) {
		n = read(fd, text, FILE_MAX - 1);
		close(fd);
	}
	if (n < 0) {
		free(text);
		return NULL;
	}
	text[n] = '\0';
	return text;
}

static void take_ids(struct gf_slot *slot, const char *value)
{
	struct gf_ids got;

	if (sscanf(value, "pci:v%8xd%8xsv%8xsd%8x", &got.vendor, &got.device,
		   &got.subsystem_vendor, &got.subsystem_device) != 4)
		return;
	slot->vendor = got.vendor;
	slot->device = got.device;
	slot->subsystem_vendor = got.subsystem_vendor;
	slot->subsystem_device = got.subsystem_device;
}

static void take_variable(struct udev_slot *found, const char *name, const char *value)
{
	struct gf_slot *slot = &found->slot;

	if (strlen(value) > NAME_LEN_MAX)
		return;
	if (!strcmp(name, "GPUFABRIC_SLOT") && !slot->name)
		slot->name = mem_strdup(value);
	else if (!strcmp(name, "GPUFABRIC_COMPOSITION") && !slot->composition)
		slot->composition = mem_strdup(value);
	else if (!strcmp(name, "GPUFABRIC_MODALIAS"))
		take_ids(slot, value);
	else if (!strncmp(name, "GPUFABRIC_", 10))
		gf_condition_take(&slot->condition, name + 10, value);
}

static bool take_uevent(const char *sys, const char *name, struct udev_slot *found)
{
	char *path = mem_printf("%s/" CLASS "/%s/uevent", sys, name);
	char *text = read_small(path), *rest = text, *line, *equals;

	free(path);
	while (text && (line = strsep(&rest, "\n"))) {
		equals = strchr(line, '=');
		if (!equals)
			continue;
		*equals = '\0';
		take_variable(found, line, equals + 1);
	}
	free(text);
	return found->slot.name;
}

/* How deep in the path the name is one of its parts; 0 when it is not. */
static size_t depth_of(const char *devpath, const char *name)
{
	size_t len = strlen(name), depth = 0, at = 0;
	const char *part = devpath;

	while (*part == '/') {
		size_t n = strcspn(++part, "/");

		depth++;
		/* The device itself is no port above it. */
		if (len && n == len && part[n] && !strncmp(part, name, n))
			at = depth;
		part += n;
	}
	return at;
}

/* The slot with the deepest port above a PCI device. */
static char *slot_above(const char *sys, const char *devpath)
{
	char *dir = mem_printf("%s/" CLASS, sys), *best = NULL;
	DIR *d = opendir(dir);
	struct dirent *entry;
	size_t deepest = 0;

	while (d && (entry = readdir(d))) {
		char *path, *port;
		size_t depth = 0;

		if (strncmp(entry->d_name, "slot", 4) || strchr(entry->d_name, '!'))
			continue;
		path = mem_printf("%s/%s/address", dir, entry->d_name);
		port = read_small(path);
		free(path);
		if (port) {
			port[strcspn(port, "\n")] = '\0';
			depth = depth_of(devpath, port);
		}
		free(port);
		if (depth <= deepest)
			continue;
		deepest = depth;
		free(best);
		best = mem_strdup(entry->d_name);
	}
	if (d)
		closedir(d);
	free(dir);
	return best;
}

bool udev_slot_find(const char *sys, const char *devpath, struct udev_slot *found)
{
	const char *last = strrchr(devpath, '/');
	char *name;
	bool is;

	memset(found, 0, sizeof(*found));
	if (strncmp(devpath, "/devices/", 9) || strstr(devpath, "/../"))
		return false;
	found->own = strstr(devpath, "/gpufabric/slot");
	name = found->own ? mem_strdup(last + 1) : slot_above(sys, devpath);
	is = name && take_uevent(sys, name, found);
	free(name);
	if (!is)
		gf_slot_free(&found->slot);
	return is;
}

static void put(struct text *t, const char *name, const char *value)
{
	char *copy;

	if (!value || !*value)
		return;
	copy = mem_strdup(value);
	/* A line of its own would be another property. */
	text_tame(copy, false);
	text_add(t, "ID_GPUFABRIC_%s=%s\n", name, copy);
	free(copy);
}

char *udev_slot_print(const struct udev_slot *found, const struct knowledge *knowledge)
{
	struct identity identity;
	struct text t = { 0 };
	char memory[24];

	put(&t, "SLOT", found->slot.name);
	if (found->own) {
		put(&t, "STATE", gf_state_name(gf_state_of(&found->slot.condition)));
		put(&t, "COMPOSITION", found->slot.composition);
	}
	if (!found->slot.vendor)
		return t.text ? t.text : mem_strdup("");
	identity_of(knowledge, &found->slot, &identity);
	put(&t, "MODEL", identity.label);
	snprintf(memory, sizeof(memory), "%llu", (unsigned long long)identity.memory);
	if (identity.memory)
		put(&t, "MEMORY", memory);
	return t.text ? t.text : mem_strdup("");
}
