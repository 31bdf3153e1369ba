/* SPDX-License-Identifier: GPL-2.0-only */
/* What an admin does beside the daemon: certificates, passwords. */
#ifndef FM_INIT_H
#define FM_INIT_H

#include <stddef.h>

#include "base/fault.h"
#include "fm/account.h"

/**
 * struct init - what is to be made
 * @folder: where
 * @hosts: besides those of fm.conf
 * @users: each gets a certificate
 * @names: of the server, and addresses; those of fm.conf or this machine's where there are none
 */
struct init {
	const char *folder;
	char **hosts, **users, **names;
	size_t host_count, user_count, name_count;
};

/* Makes what is not there and prints what it made. */
int init_make(const struct init *init, struct fault *f);

/* Asks for a password and writes the account; ROLE_NONE keeps the role, or takes Administrator. */
int init_password(const char *folder, const char *user, enum account_role role, struct fault *f);
int init_forget(const char *folder, const char *user, struct fault *f);

#endif /* FM_INIT_H */
