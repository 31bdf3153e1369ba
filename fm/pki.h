/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes the authority and what it signs. */
#ifndef FM_PKI_H
#define FM_PKI_H

#include <gnutls/x509.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"

/* A certificate with its key. */
struct pki_pair {
	gnutls_x509_crt_t crt;
	gnutls_x509_privkey_t key;
};

/* What the OU of a certificate for clients says. */
#define PKI_OU_HOST "host"
#define PKI_OU_USER "user"

enum pki_use {
	PKI_AUTHORITY,
	PKI_SERVER,
	PKI_HOST,
	PKI_USER,
};

/*
 * A new pair, signed by @ca or by itself. @names, @n of them, are names or addresses of a
 * server. Free with pki_free().
 */
int pki_make(struct pki_pair *pair, enum pki_use use, const char *common_name, char *const *names,
	     size_t n, const struct pki_pair *ca, struct fault *f);
void pki_free(struct pki_pair *pair);
/* From a file with both. */
int pki_read(struct pki_pair *pair, const char *path, struct fault *f);
/* PEM; newly allocated. */
char *pki_crt_text(const struct pki_pair *pair);
char *pki_key_text(const struct pki_pair *pair);

/* A file that must not be there yet: -EEXIST and nothing is touched if it is. */
int pki_write(const char *path, const char *text, unsigned int mode, struct fault *f);

#endif /* FM_PKI_H */
