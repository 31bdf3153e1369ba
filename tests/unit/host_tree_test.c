// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/base/tree.c ctl/base/fault.c ctl/base/text.c
/*
 * The tree of a recorded host is read whole while others rename files of theirs: the kernel
 * refuses to follow ".." when a rename comes between, and has to be asked once more.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "base/tree.h"
#include "tap.h"
#include "tree.h"

#define READS 20000
#define RENAMERS 2

static char dir[] = "/tmp/host_tree_test.XXXXXX";

static void rename_for_ever(int n)
{
	char *one = mem_printf("%s/one%d", dir, n), *two = mem_printf("%s/two%d", dir, n);

	if (mkdir(one, 0700))
		_exit(1);
	for (;;)
		if (rename(one, two) || rename(two, one))
			_exit(1);
}

int main(void)
{
	struct fault fault = { "" };
	pid_t renamers[RENAMERS];
	struct tree tree;
	char *path, *line;
	int i, status, found = 0;

	if (!ok(mkdtemp(dir) != NULL, "a directory"))
		return tap_done();
	tree_put(dir, "sys/devices/a/b/c/vendor", "0x10de\n");
	tree_put(dir, "sys/bus/pci/devices/here", "");
	path = mem_printf("%s/sys/bus/pci/devices/link", dir);
	ok(!symlink("../../../devices/a/b/c", path), "a link as sysfs has them");
	free(path);
	is_int(tree_open(&tree, dir, &fault), 0, "it is opened");
	for (i = 0; i < RENAMERS; i++) {
		renamers[i] = fork();
		if (!renamers[i])
			rename_for_ever(i);
	}
	for (i = 0; i < READS; i++) {
		line = tree_line(&tree, "sys/bus/pci/devices/link/vendor");
		found += line != NULL;
		free(line);
	}
	is_int(found, READS, "what is behind a link is read each time");
	for (i = 0; i < RENAMERS; i++) {
		is_int(kill(renamers[i], 0), 0, "somebody was renaming");
		kill(renamers[i], SIGKILL);
		waitpid(renamers[i], &status, 0);
		ok(WIFSIGNALED(status), "to the end");
	}
	tree_close(&tree);
	path = mem_printf("rm -rf %s", dir);
	is_int(system(path), 0, "all of it is removed");
	free(path);
	return tap_done();
}
