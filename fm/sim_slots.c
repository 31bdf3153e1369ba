// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: slots of the simulator
 *
 * The simulator has a folder in debugfs for each slot. Its files are read and written whole, by
 * one system call each: the module takes an order whole or refuses it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "fm/sim_slots.h"

#define SIMULATOR "/sys/kernel/debug/gpufabric_sim"
#define PREFIX "slot"

static int file_open(const char *name, const char *what, int flags)
{
	char *path = mem_printf(SIMULATOR "/" PREFIX "%s/%s", name, what);
	int fd = open(path, flags | O_CLOEXEC), err = errno;

	free(path);
	errno = err;
	return fd;
}

/* The line of a file. False: there is none, or it is longer. */
static bool file_read(const char *name, const char *what, char *line, size_t size)
{
	int fd = file_open(name, what, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, line, size);

	if (fd >= 0)
		close(fd);
	if (n <= 0 || line[n - 1] != '\n')
		return false;
	line[n - 1] = '\0';
	return true;
}

static int file_write(const char *name, const char *what, const char *text, struct fault *f)
{
	int fd = file_open(name, what, O_WRONLY), err = 0;

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		err = fault_set(f, errno, "%s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return err;
}

static int is_slot(const struct dirent *entry)
{
	return !strncmp(entry->d_name, PREFIX, strlen(PREFIX)) && strchr(entry->d_name, '.');
}

char **sim_slots_list(size_t *count)
{
	struct dirent **entries;
	char **names = NULL;
	int n = scandir(SIMULATOR, &entries, is_slot, alphasort), i;

	*count = 0;
	for (i = 0; i < n; i++) {
		const char *name = entries[i]->d_name + strlen(PREFIX);
		int fd = file_open(name, "presence", O_RDONLY);

		if (fd >= 0) {
			close(fd);
			names = mem_push(names, *count, sizeof(*names));
			names[(*count)++] = mem_strdup(name);
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return names;
}

bool sim_slot_read(const char *name, struct sim_slot *slot)
{
	char presence[8], power[8], serial[sizeof(slot->serial) + 1];

	*slot = (struct sim_slot){ 0 };
	if (!file_read(name, "presence", presence, sizeof(presence)) ||
	    !file_read(name, "power", power, sizeof(power)))
		return false;
	slot->power = strcmp(power, "0");
	if (!strcmp(presence, "0"))
		return true;
	if (!file_read(name, "serial", serial, sizeof(serial)) || strlen(serial) != 16)
		return false;
	strcpy(slot->serial, serial);
	return true;
}

int sim_slot_put(const char *name, const char *serial, const char *card, struct fault *f)
{
	char *order = mem_printf("insert %s serial=%s\n", card, serial);
	int err = file_write(name, "surprise", order, f);

	free(order);
	return err;
}

int sim_slot_pull(const char *name, struct fault *f)
{
	return file_write(name, "surprise", "remove\n", f);
}
