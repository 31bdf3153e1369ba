// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: certificates in force
 *
 * One set of certificate, key and authority is in force; a reload puts another one in its
 * place. Handshakes under way may still use the old one, so it is kept until the end: a
 * reload is rare and a set is small.
 */
#include <errno.h>
#include <fcntl.h>
#include <gnutls/abstract.h>
#include <gnutls/x509.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "fm/pki.h"
#include "fm/revoke.h"
#include "fm/tls.h"

#define CHAIN_MAX 4

/**
 * struct tls - one set
 * @old: the one before
 */
struct tls {
	gnutls_pcert_st chain[CHAIN_MAX];
	unsigned int chain_length;
	gnutls_privkey_t key;
	gnutls_x509_trust_list_t trust;
	struct revoked revoked;
	bool needed;
	struct tls *old;
};

/* Covers current; what it points to does not change. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tls *current;

static struct tls *tls_now(void)
{
	struct tls *now;

	pthread_mutex_lock(&lock);
	now = current;
	pthread_mutex_unlock(&lock);
	return now;
}

static void tls_drop(struct tls *tls)
{
	unsigned int i;

	for (i = 0; i < tls->chain_length; i++)
		gnutls_pcert_deinit(&tls->chain[i]);
	if (tls->key)
		gnutls_privkey_deinit(tls->key);
	if (tls->trust)
		gnutls_x509_trust_list_deinit(tls->trust, 1);
	revoked_free(&tls->revoked);
	free(tls);
}

static int load_file(const char *path, gnutls_datum_t *data, struct fault *f)
{
	int ret = gnutls_load_file(path, data);

	if (ret)
		return fault_set(f, ENOENT, "%s: %s: make it with gpufabric-fm init", path,
				 access(path, R_OK) ? strerror(errno) : gnutls_strerror(ret));
	return 0;
}

static int load_server(struct tls *tls, const char *path, struct fault *f)
{
	gnutls_datum_t data;
	int err = load_file(path, &data, f), ret;

	if (err)
		return err;
	tls->chain_length = CHAIN_MAX;
	ret = gnutls_pcert_list_import_x509_raw(tls->chain, &tls->chain_length, &data,
						GNUTLS_X509_FMT_PEM, 0);
	if (ret < 0)
		tls->chain_length = 0;
	if (ret >= 0)
		ret = gnutls_privkey_init(&tls->key);
	if (ret >= 0)
		ret = gnutls_privkey_import_x509_raw(tls->key, &data, GNUTLS_X509_FMT_PEM, NULL, 0);
	gnutls_memset(data.data, 0, data.size);
	gnutls_free(data.data);
	return ret < 0 ? fault_set(f, EINVAL, "%s: it must have a certificate with its key: %s",
				   path, gnutls_strerror(ret)) :
			 0;
}

/* Key and certificate belong together. */
static int check_pair(const struct tls *tls, const char *path, struct fault *f)
{
	gnutls_pubkey_t key = NULL;
	unsigned char a[64], b[64];
	size_t a_size = sizeof(a), b_size = sizeof(b);
	int ret = gnutls_pubkey_init(&key);

	if (!ret)
		ret = gnutls_pubkey_import_privkey(key, tls->key, 0, 0);
	if (!ret)
		ret = gnutls_pubkey_get_key_id(key, 0, a, &a_size);
	if (!ret)
		ret = gnutls_pubkey_get_key_id(tls->chain[0].pubkey, 0, b, &b_size);
	if (key)
		gnutls_pubkey_deinit(key);
	if (ret || a_size != b_size || memcmp(a, b, a_size))
		return fault_set(f, EINVAL, "%s: the key is not that of the certificate", path);
	return 0;
}

static int load_trust(struct tls *tls, const char *path, struct fault *f)
{
	gnutls_datum_t data;
	int err = load_file(path, &data, f), ret;

	if (err)
		return err;
	ret = gnutls_x509_trust_list_init(&tls->trust, 0);
	if (!ret)
		ret = gnutls_x509_trust_list_add_trust_mem(tls->trust, &data, NULL,
							   GNUTLS_X509_FMT_PEM, 0, 0);
	gnutls_free(data.data);
	return ret <= 0 ? fault_set(f, EINVAL, "%s: it has no certificate of an authority", path) :
			  0;
}

int tls_load(const char *folder, bool needed, struct fault *f)
{
	char *server = mem_printf("%s/server.pem", folder), *ca = mem_printf("%s/ca.crt", folder);
	struct tls *tls = mem_zalloc(1, sizeof(*tls));
	int err = load_server(tls, server, f);

	tls->needed = needed;
	if (!err)
		err = check_pair(tls, server, f);
	if (!err)
		err = load_trust(tls, ca, f);
	if (!err)
		err = revoked_read(folder, &tls->revoked, f);
	if (err) {
		tls_drop(tls);
	} else {
		pthread_mutex_lock(&lock);
		tls->old = current;
		current = tls;
		pthread_mutex_unlock(&lock);
	}
	free(server);
	free(ca);
	return err;
}

void tls_free(void)
{
	struct tls *tls;

	while ((tls = current)) {
		current = tls->old;
		tls_drop(tls);
	}
}

/* The certificate of the other side when an authority of ours has made it for clients. */
static bool peer_read(gnutls_session_t session, gnutls_x509_crt_t *leaf)
{
	const struct tls *tls = tls_now();
	gnutls_typed_vdata_st purpose = {
		.type = GNUTLS_DT_KEY_PURPOSE_OID,
		.data = (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT,
	};
	gnutls_x509_crt_t chain[CHAIN_MAX];
	unsigned int n = 0, i, status = 1;
	const gnutls_datum_t *list = gnutls_certificate_get_peers(session, &n);
	int ret = 0;

	if (!tls || !list || !n || n > CHAIN_MAX)
		return false;
	for (i = 0; i < n && !ret; i++) {
		ret = gnutls_x509_crt_init(&chain[i]);
		if (!ret) {
			ret = gnutls_x509_crt_import(chain[i], &list[i], GNUTLS_X509_FMT_DER);
			if (ret)
				gnutls_x509_crt_deinit(chain[i]);
		}
		if (ret)
			break;
	}
	n = i;
	if (!ret)
		ret = gnutls_x509_trust_list_verify_crt2(tls->trust, chain, n, &purpose, 1, 0,
							 &status, NULL);
	if (!ret && !status && revoked_has(&tls->revoked, chain[0]))
		status = 1;
	for (i = !ret && !status ? 1 : 0; i < n; i++)
		gnutls_x509_crt_deinit(chain[i]);
	if (ret || status)
		return false;
	*leaf = chain[0];
	return true;
}

static int tls_verify(gnutls_session_t session)
{
	const struct tls *tls = tls_now();
	gnutls_x509_crt_t leaf;
	unsigned int n = 0;

	if (!gnutls_certificate_get_peers(session, &n) || !n)
		return tls && tls->needed ? GNUTLS_E_NO_CERTIFICATE_FOUND : 0;
	if (!peer_read(session, &leaf))
		return GNUTLS_E_CERTIFICATE_ERROR;
	gnutls_x509_crt_deinit(leaf);
	return 0;
}

int tls_choose(gnutls_session_t session, const gnutls_datum_t *issuers, int issuer_count,
	       const gnutls_pk_algorithm_t *algorithms, int algorithm_count,
	       gnutls_pcert_st **chain, unsigned int *chain_length, gnutls_privkey_t *key)
{
	struct tls *tls = tls_now();

	(void)issuers;
	(void)issuer_count;
	(void)algorithms;
	(void)algorithm_count;
	if (!tls)
		return -1;
	gnutls_certificate_server_set_request(session, tls->needed ? GNUTLS_CERT_REQUIRE :
								     GNUTLS_CERT_REQUEST);
	gnutls_session_set_verify_function(session, tls_verify);
	*chain = tls->chain;
	*chain_length = tls->chain_length;
	*key = tls->key;
	return 0;
}

/* The first part of the subject of this kind, whole; false when there is none or a second one. */
static bool subject_part(gnutls_x509_crt_t crt, const char *oid, char part[TLS_NAME_MAX + 1])
{
	size_t size = TLS_NAME_MAX + 1, second = 0;

	return !gnutls_x509_crt_get_dn_by_oid(crt, oid, 0, 0, part, &size) &&
	       strlen(part) == size &&
	       gnutls_x509_crt_get_dn_by_oid(crt, oid, 1, 0, NULL, &second) ==
		       GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE;
}

enum tls_kind tls_peer(gnutls_session_t session, char name[TLS_NAME_MAX + 1])
{
	gnutls_x509_crt_t leaf;
	char unit[TLS_NAME_MAX + 1] = "";
	bool good;

	if (!peer_read(session, &leaf))
		return TLS_NOBODY;
	good = subject_part(leaf, GNUTLS_OID_X520_COMMON_NAME, name) &&
	       subject_part(leaf, GNUTLS_OID_X520_ORGANIZATIONAL_UNIT_NAME, unit);
	gnutls_x509_crt_deinit(leaf);
	if (good && !strcmp(unit, PKI_OU_HOST))
		return TLS_HOST;
	return good && !strcmp(unit, PKI_OU_USER) ? TLS_USER : TLS_NOBODY;
}
