// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stand-in for the simulator behind fm/sim_agent.c: slots are folders of $SLOTS with a file
 * "card" (a serial number) where there is one, and a file "power" where it is on. $LEDGER has a
 * line for each card that comes and goes in all hosts, in order, for its lock is held meanwhile.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/text.h"
#include "fm/sim_slots.h"

static const char *setting(const char *name)
{
	const char *value = getenv(name);

	if (value)
		return value;
	fprintf(stderr, "slots: no $%s\n", name);
	exit(2);
}

static char *file_of(const char *slot, const char *what)
{
	return mem_printf("%s/%s/%s", setting("SLOTS"), slot, what);
}

static bool is_there(const char *slot, const char *what)
{
	char *path = file_of(slot, what);
	bool there = !access(path, F_OK);

	free(path);
	return there;
}

static int is_folder(const struct dirent *entry)
{
	return entry->d_type == DT_DIR && *entry->d_name != '.';
}

char **sim_slots_list(size_t *count)
{
	struct dirent **entries;
	char **names = NULL;
	int n = scandir(setting("SLOTS"), &entries, is_folder, alphasort), i;

	*count = 0;
	for (i = 0; i < n; i++) {
		names = mem_push(names, *count, sizeof(*names));
		names[(*count)++] = mem_strdup(entries[i]->d_name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return names;
}

bool sim_slot_read(const char *name, struct sim_slot *slot)
{
	char *path = file_of(name, "card");
	FILE *file = fopen(path, "re");
	bool good = file ? fscanf(file, "%16s", slot->serial) == 1 : errno == ENOENT;

	if (!file)
		*slot->serial = '\0';
	slot->power = is_there(name, "power");
	if (file)
		fclose(file);
	free(path);
	return good;
}

static int lock_take(void)
{
	char *path = mem_printf("%s.lock", setting("LEDGER"));
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

	if (fd < 0 || flock(fd, LOCK_EX)) {
		perror(path);
		exit(2);
	}
	free(path);
	return fd;
}

static void write_line(const char *path, const char *mode, const char *line)
{
	FILE *file = fopen(path, mode);

	if (!file || fprintf(file, "%s\n", line) < 0 || fclose(file)) {
		perror(path);
		exit(2);
	}
}

static void note(const char *order, const char *serial)
{
	char *line = mem_printf("%s %s %s", order, strrchr(setting("SLOTS"), '/') + 1, serial);

	write_line(setting("LEDGER"), "ae", line);
	free(line);
}

int sim_slot_put(const char *name, const char *serial, const char *card, struct fault *f)
{
	char *path = file_of(name, "card");
	int lock = lock_take(), err = 0;

	(void)card;
	if (is_there(name, "card"))
		err = fault_set(f, EBUSY, "it is taken");
	else if (is_there(".", "refuses"))
		err = fault_set(f, EIO, "it is broken");
	if (!err) {
		write_line(path, "we", serial);
		note("put", serial);
	}
	close(lock);
	free(path);
	return err;
}

int sim_slot_pull(const char *name, struct fault *f)
{
	char *path = file_of(name, "card");
	int lock = lock_take(), err = 0;
	struct sim_slot slot;

	if (!sim_slot_read(name, &slot) || !*slot.serial)
		err = fault_set(f, ENOENT, "it is empty");
	else if (slot.power)
		err = fault_set(f, EBUSY, "it has power");
	else if (unlink(path))
		err = fault_set(f, errno, "%s", strerror(errno));
	if (!err)
		note("pull", slot.serial);
	close(lock);
	free(path);
	return err;
}
