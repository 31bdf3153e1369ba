// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/host/scope.c ctl/base/program.c ctl/base/text.c
/*
 * Whether a program can be run has to be known before systemd-run is asked to:
 * what we say is compared with what execvp() does.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "host/scope.h"
#include "tap.h"

/* What execvp() says, 0 when it worked. */
static int really(const char *program)
{
	char *argv[] = { (char *)program, NULL };
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		execvp(argv[0], argv);
		_exit(errno);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static void make(const char *name, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, mode);

	if (fd < 0 || write(fd, "#!/bin/sh\nexit 0\n", 17) != 17 || fchmod(fd, mode))
		abort();
	close(fd);
}

static void agree(const char *path, const char *program, int want)
{
	char *what = mem_printf("\"%s\" in PATH %s", program, path ? path : "unset");

	if (path)
		setenv("PATH", path, 1);
	else
		unsetenv("PATH");
	is_int(scope_find(program), want, what);
	is_int(really(program), want, "so says execvp()");
	free(what);
}

int main(void)
{
	char template[] = "/tmp/scope_test.XXXXXX";

	static const char *const made[] = {
		"one/good", "one/dull", "one/plain", "one/dir", "two/dull", "two/other", "here",
		"one", "two",
	};
	size_t i;

	if (!mkdtemp(template) || chdir(template) || mkdir("one", 0755) || mkdir("two", 0755) ||
	    mkdir("one/dir", 0755))
		return 1;
	make("one/good", 0755);
	make("one/dull", 0644);
	make("two/dull", 0755);
	make("two/other", 0755);
	make("one/plain", 0644);
	make("here", 0755);
	agree("/usr/bin:/bin", "true", 0);
	agree(NULL, "true", 0);
	agree("one:two", "good", 0);
	agree("one:two", "other", 0);
	agree("one:two", "dull", 0);
	agree("one:two", "plain", EACCES);
	agree("one:two", "none", ENOENT);
	agree("one:two", "dir", EACCES);
	agree("one:two", "here", ENOENT);
	agree("one:two:", "here", 0);
	agree("one::two", "here", 0);
	agree("nowhere:one/good:two", "other", 0);
	agree("", "here", 0);
	agree("one", "", ENOENT);
	agree("one", "./here", 0);
	agree("one", "one/plain", EACCES);
	agree("one", "one/dir", EACCES);
	agree("one", "/nonexistent", ENOENT);
	agree("one", "one/good/x", ENOTDIR);
	is_int(scope_stop(NULL), true, "without a scope there is nothing to stop");
	for (i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		remove(made[i]);
	rmdir(template);
	return tap_done();
}
