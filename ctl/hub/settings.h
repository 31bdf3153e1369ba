/* SPDX-License-Identifier: GPL-2.0-only */
/* What the environment says of the Hub: where it is, who asks, where the cache is. */
#ifndef GPUCTL_HUB_SETTINGS_H
#define GPUCTL_HUB_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

/**
 * struct hub_settings - all of it
 * @endpoint: URL without a slash at its end
 * @host: of it, with its port, for people
 * @key: of it, as the name of a folder
 * @loopback: it is this machine, and may be asked without TLS
 * @offline: nothing is asked at all
 * @token: NULL if there is none
 * @token_loose: a file that others may read has the token; NULL otherwise
 * @certificates: file of the authorities to trust, NULL for those of the system
 * @cache: folder of all that was brought
 * @timeout_ms: for everything together
 */
struct hub_settings {
	char *endpoint;
	char *host;
	char *key;
	bool loopback;
	bool offline;
	char *token;
	char *token_loose;
	char *certificates;
	char *cache;
	uint64_t timeout_ms;
};

/* Returns enum ctl_exit, with the reason in @f; hub_settings_free() in either case. */
int hub_settings_read(struct hub_settings *settings, struct fault *f);
void hub_settings_free(struct hub_settings *settings);

/* The value of an environment variable, NULL where it is unset or empty. */
const char *hub_variable(const char *name);

/* The user's folder of the variable @name, or @fallback in the home; caller frees. */
char *hub_user_folder(const char *name, const char *fallback);

/* Is it an address of this machine, whoever answers for names? */
bool hub_is_loopback(const char *host);

#endif /* GPUCTL_HUB_SETTINGS_H */
