// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: Services
 *
 * libsystemd is loaded when something is to be told. Three services do that, and every other
 * gpuctl would spend a third of its start on this library and the five that it brings along.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>

#include "base/service.h"
#include "base/text.h"

/* As sd_notify(3) and sd_journal_sendv(3), which stay loaded; NULL where libsystemd is not installed. */
static struct {
	__typeof__(sd_notify) *notify;
	__typeof__(sd_journal_sendv) *send;
} service_calls;

static void service_load(void)
{
	static bool tried;
	void *library;

	if (tried)
		return;
	tried = true;
	library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return;
	*(void **)&service_calls.notify = dlsym(library, "sd_notify");
	*(void **)&service_calls.send = dlsym(library, "sd_journal_sendv");
}

void service_notify(const char *format, ...)
{
	va_list args;
	char *state;

	if (!getenv("NOTIFY_SOCKET"))
		return;
	service_load();
	if (!service_calls.notify)
		return;
	va_start(args, format);
	state = mem_vprintf(format, args);
	va_end(args);
	service_calls.notify(0, state);
	free(state);
}

int service_log(const struct iovec *fields, int n)
{
	service_load();
	return service_calls.send ? service_calls.send(fields, n) : -ENOPKG;
}
