// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: processes
 *
 * The folder of a process is that of its first thread, and it is empty when that has ended, while
 * others go on with the same files and the same memory. Threads of the kernel have neither, and
 * most hosts have more of them than processes; the kernel's own flag tells them, since a process
 * that hangs while it ends has no program any more, and its files still.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "host/process.h"

/* From include/linux/sched.h of the kernel, where it has been for 20 years; see proc_pid_stat(5). */
#define PF_KTHREAD 0x00200000

/**
 * struct task - what a thread says of itself
 * @state: a letter, '\0' if it says nothing
 * @kernel: it is one of the kernel's
 */
struct task {
	char state;
	bool kernel;
};

size_t process_read(int dir, const char *name, char *buf, size_t size)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;

	if (fd >= 0) {
		n = read(fd, buf, size - 1);
		close(fd);
	}
	if (n < 0)
		n = 0;
	buf[n] = '\0';
	return (size_t)n;
}

static int folder_open(int dir, const char *name)
{
	return openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static struct task process_task_of(int dir, const char *name)
{
	char *path = mem_printf("%s/stat", name), buf[512];
	struct task task = { 0 };
	unsigned int flags;
	const char *end;

	process_read(dir, path, buf, sizeof(buf));
	free(path);
	/* The name before it can have any character. */
	end = strrchr(buf, ')');
	if (end && sscanf(end + 1, " %c %*d %*d %*d %*d %*d %u", &task.state, &flags) == 2)
		task.kernel = flags & PF_KTHREAD;
	return task;
}

/* The folder of a thread of @pid that has not ended. */
static int thread_open(int proc, const char *pid)
{
	char *path = mem_printf("%s/task", pid);
	int tasks = folder_open(proc, path), fd = -1;
	DIR *dir = tasks < 0 ? NULL : fdopendir(tasks);
	struct dirent *entry;

	free(path);
	if (!dir) {
		if (tasks >= 0)
			close(tasks);
		return -1;
	}
	while (fd < 0 && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && process_task_of(tasks, entry->d_name).state != 'Z')
			fd = folder_open(tasks, entry->d_name);
	closedir(dir);
	return fd;
}

int process_open(int proc, const char *pid)
{
	const struct task first = process_task_of(proc, pid);

	if (first.kernel)
		return -1;
	return first.state == 'Z' ? thread_open(proc, pid) : folder_open(proc, pid);
}
