/* SPDX-License-Identifier: GPL-2.0-only */
/* Keys of hosts and users that the manager does not believe any more. */
#ifndef FM_REVOKE_H
#define FM_REVOKE_H

#include <gnutls/x509.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"

#define REVOKED_ID 32

/**
 * struct revoked - ids of keys, SHA-256 of each
 */
struct revoked {
	unsigned char (*ids)[REVOKED_ID];
	size_t count;
};

/* FOLDER/revoked: a line "ID NAME" for each; none is no error. Free in either case. */
int revoked_read(const char *folder, struct revoked *revoked, struct fault *f);
/* What the file says. */
int revoked_parse(const char *text, size_t len, struct revoked *revoked, struct fault *f);
void revoked_free(struct revoked *revoked);
/* Also when nobody can say which key it has. */
bool revoked_has(const struct revoked *revoked, gnutls_x509_crt_t crt);

/*
 * The key of this host or user, by the file that init has made: it is listed, and the file is removed, so
 * that init makes another one.
 */
int revoke_key(const char *folder, const char *name, struct fault *f);

#endif /* FM_REVOKE_H */
