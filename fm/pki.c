// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the certificates of a fabric
 *
 * Elliptic keys on P-256. The authority signs the server's certificate and one for each host,
 * and nothing below it may sign. Whether a certificate is a host's or a user's stands in it: a
 * host that left the configuration does not become the user of the same name. A file is there
 * whole or not at all, and never written over.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "fm/pki.h"

#define DAY 86400
#define AUTHORITY_DAYS (20 * 365)
#define LEAF_DAYS (5 * 365)

void pki_free(struct pki_pair *pair)
{
	if (pair->crt)
		gnutls_x509_crt_deinit(pair->crt);
	if (pair->key)
		gnutls_x509_privkey_deinit(pair->key);
	*pair = (struct pki_pair){ 0 };
}

static int set_name(gnutls_x509_crt_t crt, const char *name)
{
	struct in6_addr address;
	size_t size = inet_pton(AF_INET, name, &address) == 1  ? 4 :
		      inet_pton(AF_INET6, name, &address) == 1 ? 16 :
								 0;

	if (size)
		return gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS, &address,
							    (unsigned int)size, GNUTLS_FSAN_APPEND);
	return gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_DNSNAME, name,
						    (unsigned int)strlen(name), GNUTLS_FSAN_APPEND);
}

static int set_serial(gnutls_x509_crt_t crt)
{
	unsigned char serial[16];
	int ret = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof(serial));

	/* positive and without a leading zero */
	serial[0] = (serial[0] & 0x3f) | 0x40;
	return ret ? ret : gnutls_x509_crt_set_serial(crt, serial, sizeof(serial));
}

static int set_use(gnutls_x509_crt_t crt, enum pki_use use)
{
	const char *purpose = use == PKI_SERVER ? GNUTLS_KP_TLS_WWW_SERVER :
						  GNUTLS_KP_TLS_WWW_CLIENT;
	int ret;

	if (use == PKI_AUTHORITY) {
		ret = gnutls_x509_crt_set_basic_constraints(crt, 1, 0);
		return ret ? ret :
			     gnutls_x509_crt_set_key_usage(crt, GNUTLS_KEY_KEY_CERT_SIGN |
									GNUTLS_KEY_CRL_SIGN);
	}
	ret = gnutls_x509_crt_set_basic_constraints(crt, 0, -1);
	if (!ret)
		ret = gnutls_x509_crt_set_key_usage(crt, GNUTLS_KEY_DIGITAL_SIGNATURE);
	if (!ret)
		ret = gnutls_x509_crt_set_key_purpose_oid(crt, purpose, 0);
	return ret;
}

static int set_ids(gnutls_x509_crt_t crt, const struct pki_pair *ca)
{
	unsigned char id[64];
	size_t size = sizeof(id);
	int ret = gnutls_x509_crt_get_key_id(crt, 0, id, &size);

	if (!ret)
		ret = gnutls_x509_crt_set_subject_key_id(crt, id, size);
	size = sizeof(id);
	if (!ret && ca)
		ret = gnutls_x509_crt_get_subject_key_id(ca->crt, id, &size, NULL);
	if (!ret && ca)
		ret = gnutls_x509_crt_set_authority_key_id(crt, id, size);
	return ret;
}

static int pair_fill(struct pki_pair *pair, enum pki_use use, const char *common_name,
		     char *const *names, size_t n, const struct pki_pair *ca)
{
	time_t now = time(NULL), days = use == PKI_AUTHORITY ? AUTHORITY_DAYS : LEAF_DAYS;
	int ret = gnutls_x509_crt_set_version(pair->crt, 3);
	size_t i;

	if (!ret)
		ret = set_serial(pair->crt);
	if (!ret)
		ret = gnutls_x509_crt_set_dn_by_oid(pair->crt, GNUTLS_OID_X520_COMMON_NAME, 0,
						    common_name, (unsigned int)strlen(common_name));
	if (!ret && (use == PKI_HOST || use == PKI_USER)) {
		const char *kind = use == PKI_HOST ? PKI_OU_HOST : PKI_OU_USER;

		ret = gnutls_x509_crt_set_dn_by_oid(pair->crt,
						    GNUTLS_OID_X520_ORGANIZATIONAL_UNIT_NAME, 0,
						    kind, (unsigned int)strlen(kind));
	}
	if (!ret)
		ret = gnutls_x509_crt_set_key(pair->crt, pair->key);
	/* clocks differ */
	if (!ret)
		ret = gnutls_x509_crt_set_activation_time(pair->crt, now - DAY);
	if (!ret)
		ret = gnutls_x509_crt_set_expiration_time(pair->crt, now + days * DAY);
	if (!ret)
		ret = set_use(pair->crt, use);
	for (i = 0; !ret && i < n; i++)
		ret = set_name(pair->crt, names[i]);
	if (!ret)
		ret = set_ids(pair->crt, ca);
	if (!ret)
		ret = gnutls_x509_crt_sign2(pair->crt, ca ? ca->crt : pair->crt,
					    ca ? ca->key : pair->key, GNUTLS_DIG_SHA256, 0);
	return ret;
}

int pki_make(struct pki_pair *pair, enum pki_use use, const char *common_name, char *const *names,
	     size_t n, const struct pki_pair *ca, struct fault *f)
{
	int ret;

	*pair = (struct pki_pair){ 0 };
	ret = gnutls_x509_privkey_init(&pair->key);
	if (!ret)
		ret = gnutls_x509_privkey_generate(pair->key, GNUTLS_PK_ECDSA,
						   GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1),
						   0);
	if (!ret)
		ret = gnutls_x509_crt_init(&pair->crt);
	if (!ret)
		ret = pair_fill(pair, use, common_name, names, n, ca);
	if (!ret)
		return 0;
	pki_free(pair);
	return fault_set(f, EIO, "no certificate for %s: %s", common_name, gnutls_strerror(ret));
}

int pki_read(struct pki_pair *pair, const char *path, struct fault *f)
{
	gnutls_datum_t data = { 0 };
	int ret = gnutls_load_file(path, &data);

	*pair = (struct pki_pair){ 0 };
	if (ret)
		return fault_set(f, ENOENT, "%s: %s", path, strerror(errno ? errno : EIO));
	ret = gnutls_x509_crt_init(&pair->crt);
	if (!ret)
		ret = gnutls_x509_privkey_init(&pair->key);
	if (!ret)
		ret = gnutls_x509_crt_import(pair->crt, &data, GNUTLS_X509_FMT_PEM);
	if (!ret)
		ret = gnutls_x509_privkey_import(pair->key, &data, GNUTLS_X509_FMT_PEM);
	gnutls_memset(data.data, 0, data.size);
	gnutls_free(data.data);
	if (!ret)
		return 0;
	pki_free(pair);
	return fault_set(f, EINVAL, "%s: it must have a certificate with its key: %s", path,
			 gnutls_strerror(ret));
}

static char *datum_text(int ret, gnutls_datum_t *data)
{
	char *text = ret ? mem_strdup("") : mem_printf("%.*s", (int)data->size, data->data);

	if (!ret) {
		gnutls_memset(data->data, 0, data->size);
		gnutls_free(data->data);
	}
	return text;
}

char *pki_crt_text(const struct pki_pair *pair)
{
	gnutls_datum_t data;
	int ret = gnutls_x509_crt_export2(pair->crt, GNUTLS_X509_FMT_PEM, &data);

	return datum_text(ret, &data);
}

char *pki_key_text(const struct pki_pair *pair)
{
	gnutls_datum_t data;
	int ret = gnutls_x509_privkey_export2_pkcs8(pair->key, GNUTLS_X509_FMT_PEM, NULL,
						    GNUTLS_PKCS_PLAIN, &data);

	return datum_text(ret, &data);
}

int pki_write(const char *path, const char *text, unsigned int mode, struct fault *f)
{
	char *beside = mem_printf("%s.new-XXXXXX", path);
	int fd = mkostemp(beside, O_CLOEXEC), err = fd < 0 ? errno : 0;
	size_t len = strlen(text);

	if (!err && (write(fd, text, len) != (ssize_t)len || fchmod(fd, mode) || fsync(fd)))
		err = errno ? errno : EIO;
	/* fails when there is one, and is never half done */
	if (!err && link(beside, path))
		err = errno;
	if (fd >= 0) {
		close(fd);
		unlink(beside);
	}
	free(beside);
	return err ? fault_set(f, err, "%s: %s", path, strerror(err)) : 0;
}
