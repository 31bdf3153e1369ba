// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: a manager that is slow to end
 *
 * Loaded before libcrypt and libmicrohttpd: a password takes long to check, and so does the end of the
 * connections, from after the last answer. Both are said on standard error when they begin.
 */
#include <crypt.h>
#include <dlfcn.h>
#include <microhttpd.h>
#include <stdio.h>
#include <unistd.h>

#define SLOW_S 2

char *crypt_r(const char *phrase, const char *setting, struct crypt_data *data)
{
	char *(*hash)(const char *, const char *, struct crypt_data *) =
		dlsym(RTLD_NEXT, "crypt_r");

	fprintf(stderr, "a hash begins\n");
	sleep(SLOW_S);
	return hash(phrase, setting, data);
}

void MHD_stop_daemon(struct MHD_Daemon *daemon)
{
	void (*stop)(struct MHD_Daemon *) = dlsym(RTLD_NEXT, "MHD_stop_daemon");

	fprintf(stderr, "the end of connections begins\n");
	sleep(SLOW_S);
	stop(daemon);
}
