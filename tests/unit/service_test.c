// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/base/service.c ctl/base/text.c
/*
 * What a service tells systemd arrives, and who is no service does not even load libsystemd.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/service.h"
#include "base/text.h"
#include "tap.h"

static bool is_loaded(void)
{
	void *library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_NOLOAD);

	if (library)
		dlclose(library);
	return library;
}

static int manager_open(struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && bind(fd, (struct sockaddr *)address, sizeof(*address))) {
		close(fd);
		return -1;
	}
	return fd;
}

int main(void)
{
	char field[] = "MESSAGE=a test of gpuctl";
	struct iovec fields = { .iov_base = field, .iov_len = sizeof(field) - 1 };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char folder[] = "/tmp/service.XXXXXX", got[64] = "";
	ssize_t n;
	int fd;

	unsetenv("NOTIFY_SOCKET");
	service_notify("READY=1");
	ok(!is_loaded(), "whom no service manager started loads nothing");

	if (!mkdtemp(folder))
		return 1;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/notify", folder);
	fd = manager_open(&address);
	ok(fd >= 0, "there is a service manager");
	setenv("NOTIFY_SOCKET", address.sun_path, 1);
	service_notify("WATCHDOG=1\nWATCHDOG_USEC=%u", 250000);
	ok(is_loaded(), "then the library is loaded");
	n = recv(fd, got, sizeof(got) - 1, MSG_DONTWAIT);
	ok(n > 0 && !strcmp(got, "WATCHDOG=1\nWATCHDOG_USEC=250000"), "and the service manager is told");
	is_int(service_log(&fields, 1), 0, "an entry is written, or there is no journal");
	close(fd);
	unlink(address.sun_path);
	rmdir(folder);
	return tap_done();
}
