// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: revoked keys
 *
 * One authority makes all certificates and one manager believes them, so a list of keys beside them is
 * enough: no certificate with such a key is believed, whoever has signed it, and whatever it is called.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/replace.h"
#include "base/text.h"
#include "fm/config.h"
#include "fm/revoke.h"

#define REVOKED_MAX (1u << 20)
#define CHAIN 8

static int hex_read(const char *text, unsigned char id[REVOKED_ID])
{
	size_t i;

	if (strspn(text, "0123456789abcdef") != 2 * (size_t)REVOKED_ID ||
	    text[2 * REVOKED_ID] != ' ')
		return -EINVAL;
	for (i = 0; i < REVOKED_ID; i++) {
		const char pair[3] = { text[2 * i], text[2 * i + 1] };

		id[i] = (unsigned char)strtoul(pair, NULL, 16);
	}
	return 0;
}

int revoked_parse(const char *text, size_t len, struct revoked *r, struct fault *f)
{
	int err = 0;

	*r = (struct revoked){ 0 };
	while (len && !err) {
		const char *end = memchr(text, '\n', len);
		size_t n = end ? (size_t)(end - text) : len;
		char *line = mem_printf("%.*s", (int)n, text);

		r->ids = mem_push(r->ids, r->count, sizeof(*r->ids));
		err = end && strlen(line) == n && !hex_read(line, r->ids[r->count]) &&
				      config_name_valid(line + 2 * REVOKED_ID + 1) ?
			      0 :
			      fault_set(f, EINVAL, "\"%.80s\" is no revoked key", line);
		r->count += !err;
		free(line);
		text += n + (end ? 1 : 0);
		len -= n + (end ? 1 : 0);
	}
	return err;
}

void revoked_free(struct revoked *r)
{
	free(r->ids);
	*r = (struct revoked){ 0 };
}

/* The whole file, newly allocated; NULL where there is none, or with @f for what cannot be read. */
static char *file_text(const char *path, struct fault *f)
{
	FILE *file = fopen(path, "re");
	char *text;

	if (!file) {
		if (errno != ENOENT)
			fault_set(f, errno, "%s: %s", path, strerror(errno));
		return NULL;
	}
	text = mem_zalloc(REVOKED_MAX + 1, 1);
	if (fread(text, 1, REVOKED_MAX, file) == REVOKED_MAX || ferror(file)) {
		fault_set(f, EIO, "%s: it cannot be read, or is too long", path);
		explicit_bzero(text, REVOKED_MAX);
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

int revoked_read(const char *folder, struct revoked *r, struct fault *f)
{
	char *path = mem_printf("%s/revoked", folder), *text = file_text(path, f);
	int err = 0;

	*r = (struct revoked){ 0 };
	if (text) {
		err = revoked_parse(text, strlen(text), r, f);
		if (err)
			fault_prefix(f, "%s", path);
	} else if (*f->text) {
		err = -EIO;
	}
	free(text);
	free(path);
	return err;
}

static int key_id(gnutls_x509_crt_t crt, unsigned char id[REVOKED_ID])
{
	size_t size = REVOKED_ID;

	return gnutls_x509_crt_get_key_id(crt, GNUTLS_KEYID_USE_SHA256, id, &size) ||
			       size != REVOKED_ID ?
		       -EINVAL :
		       0;
}

bool revoked_has(const struct revoked *r, gnutls_x509_crt_t crt)
{
	unsigned char id[REVOKED_ID];
	size_t i;

	if (key_id(crt, id))
		return true;
	for (i = 0; i < r->count; i++)
		if (!memcmp(r->ids[i], id, REVOKED_ID))
			return true;
	return false;
}

/* The id of the certificate in PEM text that is called so. */
static int id_of(const char *text, const char *name, unsigned char id[REVOKED_ID], struct fault *f)
{
	const gnutls_datum_t data = { (unsigned char *)(uintptr_t)text,
				      (unsigned int)strlen(text) };
	gnutls_x509_crt_t chain[CHAIN];
	unsigned int n = CHAIN, i;
	char found[128];
	size_t size;
	int err = -ENOENT;

	if (gnutls_x509_crt_list_import(chain, &n, &data, GNUTLS_X509_FMT_PEM, 0) < 0)
		n = 0;
	for (i = 0; i < n; i++) {
		size = sizeof(found);
		if (err &&
		    !gnutls_x509_crt_get_dn_by_oid(chain[i], GNUTLS_OID_X520_COMMON_NAME, 0, 0,
						   found, &size) &&
		    !strcmp(found, name) && !gnutls_x509_crt_get_ca_status(chain[i], NULL))
			err = key_id(chain[i], id);
		gnutls_x509_crt_deinit(chain[i]);
	}
	return err ? fault_set(f, EINVAL, "there is no certificate of %s in it", name) : 0;
}

static int list_add(const char *folder, const unsigned char id[REVOKED_ID], const char *name,
		    struct fault *f)
{
	char *path = mem_printf("%s/revoked", folder), *before;
	struct text text = { 0 };
	int lock = replace_lock(path), err;
	size_t i;

	if (lock < 0) {
		err = fault_set(f, -lock, "%s: %s", path, replace_error(lock));
		goto out;
	}
	before = file_text(path, f);
	err = *f->text ? -EIO : 0;
	text_add(&text, "%s", before ? before : "");
	for (i = 0; i < REVOKED_ID; i++)
		text_add(&text, "%02x", id[i]);
	text_add(&text, " %s\n", name);
	if (!err) {
		err = replace_file(path, text.text, 0644);
		if (err)
			fault_set(f, -err, "%s: %s", path, replace_error(err));
	}
	free(before);
	free(text.text);
	close(lock);
out:
	free(path);
	return err;
}

int revoke_key(const char *folder, const char *name, struct fault *f)
{
	char *host = mem_printf("%s/hosts/%s.conf", folder, name),
	     *user = mem_printf("%s/users/%s.pem", folder, name), *text = NULL;
	const char *path = access(host, F_OK) ? user : host;
	unsigned char id[REVOKED_ID];
	int err = 0;

	if (!config_name_valid(name))
		err = fault_set(f, EINVAL, "\"%.80s\" is not a name of a host or a user", name);
	if (!err)
		text = file_text(path, f);
	if (!err && !text && !*f->text)
		fault_set(f, ENOENT, "neither %s nor %s exists, so the key is not known", host,
			  user);
	if (!err && !text)
		err = -ENOENT;
	if (!err) {
		err = id_of(text, name, id, f);
		if (err)
			fault_prefix(f, "%s", path);
	}
	if (!err)
		err = list_add(folder, id, name, f);
	if (!err && unlink(path))
		err = fault_set(f, errno, "%s: %s", path, strerror(errno));
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
	free(host);
	free(user);
	return err;
}
