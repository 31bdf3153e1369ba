/* SPDX-License-Identifier: GPL-2.0-only */
/* The server's certificate, and whom it believes: read again on demand, used by all threads. */
#ifndef FM_TLS_H
#define FM_TLS_H

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <stdbool.h>

#include "base/fault.h"

#define TLS_NAME_MAX 64
#define TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

/*
 * Reads FOLDER/server.pem and FOLDER/ca.crt and puts them in force for connections to come.
 * @needed: a client without a certificate is refused. On failure what was in force stays.
 */
int tls_load(const char *folder, bool needed, struct fault *f);
void tls_free(void);

/* For MHD_OPTION_HTTPS_CERT_CALLBACK. */
int tls_choose(gnutls_session_t session, const gnutls_datum_t *issuers, int issuer_count,
	       const gnutls_pk_algorithm_t *algorithms, int algorithm_count,
	       gnutls_pcert_st **chain, unsigned int *chain_length, gnutls_privkey_t *key);

enum tls_kind {
	TLS_NOBODY,
	TLS_HOST,
	TLS_USER,
};

/*
 * Whose certificate the client has, by its OU, and the common name. TLS_NOBODY where there is none
 * that is good now, or it says neither.
 */
enum tls_kind tls_peer(gnutls_session_t session, char name[TLS_NAME_MAX + 1]);

#endif /* FM_TLS_H */
