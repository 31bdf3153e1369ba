// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: gpufabric-fm init and passwd
 *
 * init makes what is missing and touches nothing that is there, so it can be run again for
 * a host that came later. What a host needs is one file, which an admin copies there.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/conf.h"
#include "base/replace.h"
#include "base/text.h"
#include "fm/config.h"
#include "fm/init.h"
#include "fm/pki.h"

#define USERS_FILE_MAX (1u << 20)
#define PORTS_A_LINE 8

struct names {
	char **name;
	size_t count;
};

static void names_add(struct names *names, const char *name)
{
	size_t i;

	for (i = 0; i < names->count; i++)
		if (!strcmp(names->name[i], name))
			return;
	names->name = mem_push(names->name, names->count, sizeof(*names->name));
	names->name[names->count++] = mem_strdup(name);
}

static void names_free(struct names *names)
{
	while (names->count)
		free(names->name[--names->count]);
	free(names->name);
}

/* Those that were given, or fm.conf's, or this machine's; and how the machine calls itself. */
static int names_of(const struct init *init, const struct config *config, struct names *names,
		    struct fault *f)
{
	struct addrinfo hints = { .ai_flags = AI_CANONNAME }, *info;
	char host[HOST_NAME_MAX + 1] = "", **list = NULL;
	size_t n = 0, i;
	int err = 0;

	for (i = 0; i < init->name_count; i++)
		names_add(names, init->names[i]);
	if (!names->count && config->names) {
		err = conf_list(config->names, &list, &n, f);
		for (i = 0; i < n; i++)
			names_add(names, list[i]);
		conf_list_free(list, n);
	}
	if (!err && !names->count) {
		gethostname(host, sizeof(host) - 1);
		if (*host && !getaddrinfo(host, NULL, &hints, &info)) {
			if (info->ai_canonname && strchr(info->ai_canonname, '.'))
				names_add(names, info->ai_canonname);
			freeaddrinfo(info);
		}
		names_add(names, *host ? host : "localhost");
	}
	names_add(names, "localhost");
	names_add(names, "127.0.0.1");
	names_add(names, "::1");
	return err;
}

/* -EEXIST is none: it was there. */
static int write_new(const char *path, const char *text, unsigned int mode, struct fault *f)
{
	int err = pki_write(path, text, mode, f);

	if (!err)
		printf("%s: made\n", path);
	else if (err == -EEXIST)
		err = 0;
	return err;
}

static int make_pair(const char *path, enum pki_use use, const char *name,
		     const struct names *names, const struct pki_pair *ca, struct fault *f)
{
	struct pki_pair pair;
	char *crt, *key, *both;
	int err;

	if (!access(path, F_OK))
		return 0;
	err = pki_make(&pair, use, name, names ? names->name : NULL, names ? names->count : 0, ca,
		       f);
	if (err)
		return err;
	crt = pki_crt_text(&pair);
	key = pki_key_text(&pair);
	both = mem_printf("%s%s", crt, key);
	err = write_new(path, both, 0600, f);
	explicit_bzero(key, strlen(key));
	explicit_bzero(both, strlen(both));
	free(crt);
	free(key);
	free(both);
	pki_free(&pair);
	return err;
}

/* The file for a host: all that its gpuctl needs, but for the numbers of its slots. */
static char *host_text(const struct config *config, const char *host, const char *url,
		       const struct pki_pair *ca, const struct pki_pair *pair)
{
	char *ca_crt = pki_crt_text(ca), *crt = pki_crt_text(pair), *key = pki_key_text(pair);
	struct text t = { 0 };
	size_t i, k;

	text_add(&t,
		 "# Made by gpufabric-fm init for %s, with its private key: copy it there as\n"
		 "# /etc/gpuctl/fabric.d/%s.conf, mode 0600.\n",
		 host, config->fabric ? config->fabric : "PCIe");
	text_add(&t, "driver = redfish\nurl = %s\nhost = %s\nfabric = %s\n", url, host,
		 config->fabric ? config->fabric : "PCIe");
	text_add(&t, "ca = inline\ncertificate = inline\nkey = inline\n");
	for (i = 0; i < config->host_count; i++) {
		if (strcmp(config->hosts[i].name, host))
			continue;
		text_add(&t, "# slot=switch/port: put the slots of these ports for 1, 2, ...,\n");
		text_add(&t, "# see gpuctl list\n");
		/* Lines of such files have a limit. */
		for (k = 0; k < config->hosts[i].port_count; k++)
			text_add(&t, "%s%zu=%s/%s",
				 k % PORTS_A_LINE ? " " :
				 k		  ? "\nports = " :
						    "ports = ",
				 k + 1, host, config->hosts[i].ports[k]);
		text_add(&t, "\n");
	}
	text_add(&t, "\n%s%s%s", ca_crt, crt, key);
	explicit_bzero(key, strlen(key));
	free(ca_crt);
	free(crt);
	free(key);
	return t.text;
}

static int make_host(const struct init *init, const struct config *config, const char *host,
		     const char *url, const struct pki_pair *ca, struct fault *f)
{
	char *path, *text;
	struct pki_pair pair;
	int err = 0;

	if (!config_name_valid(host))
		return fault_set(f, EINVAL, "\"%.80s\" is not a valid name of a host", host);
	path = mem_printf("%s/hosts/%s.conf", init->folder, host);
	if (access(path, F_OK)) {
		err = pki_make(&pair, PKI_HOST, host, NULL, 0, ca, f);
		if (!err) {
			text = host_text(config, host, url, ca, &pair);
			err = write_new(path, text, 0600, f);
			explicit_bzero(text, strlen(text));
			free(text);
			pki_free(&pair);
		}
	}
	free(path);
	return err;
}

static bool is_host(const struct init *init, const struct config *config, const char *name)
{
	size_t i;

	for (i = 0; i < config->host_count; i++)
		if (!strcmp(config->hosts[i].name, name))
			return true;
	for (i = 0; i < init->host_count; i++)
		if (!strcmp(init->hosts[i], name))
			return true;
	return false;
}

static int make_user(const struct init *init, const struct config *config, const char *user,
		     const struct pki_pair *ca, struct fault *f)
{
	char *path;
	int err;

	if (!config_name_valid(user))
		return fault_set(f, EINVAL, "\"%.80s\" is not a valid name of a user", user);
	/* the name in the certificate is the account */
	if (is_host(init, config, user))
		return fault_set(f, EINVAL, "%s is a host: its certificate is in hosts/%s.conf",
				 user, user);
	path = mem_printf("%s/users/%s.pem", init->folder, user);
	err = make_pair(path, PKI_USER, user, NULL, ca, f);
	free(path);
	return err;
}

/* Is the authority that hosts and users believe the one whose key is there? */
static int check_authority(const char *ca_path, const char *crt_path, struct fault *f)
{
	gnutls_datum_t data = { 0 };
	gnutls_x509_crt_t *list = NULL;
	struct pki_pair ca = { 0 };
	unsigned int n = 0, i;
	bool same = false;
	int err;

	if (access(crt_path, F_OK))
		return 0;
	if (access(ca_path, F_OK))
		return fault_set(f, ENOENT,
				 "%s is missing, and %s exists: put the key of the authority back, or, to make a new authority, remove %s, server.pem, hosts/ and users/",
				 ca_path, crt_path, crt_path);
	err = pki_read(&ca, ca_path, f);
	if (err)
		return err;
	if (!gnutls_load_file(crt_path, &data) &&
	    gnutls_x509_crt_list_import2(&list, &n, &data, GNUTLS_X509_FMT_PEM, 0) < 0)
		n = 0;
	for (i = 0; i < n; i++) {
		same |= gnutls_x509_crt_equals(list[i], ca.crt);
		gnutls_x509_crt_deinit(list[i]);
	}
	gnutls_free(list);
	gnutls_free(data.data);
	pki_free(&ca);
	if (same)
		return 0;
	return fault_set(f, EINVAL,
			 "%s does not have the certificate of %s: put its own certificate back; hosts would not trust new certificates",
			 crt_path, ca_path);
}

static int make_folders(const char *folder, struct fault *f)
{
	static const char *const names[] = { "", "/hosts", "/users" };
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(names) / sizeof(names[0]) && !err; i++) {
		char *path = mem_printf("%s%s", folder, names[i]);

		if (mkdir(path, i ? 0700 : 0755) && errno != EEXIST)
			err = fault_set(f, errno, "%s: %s", path, strerror(errno));
		free(path);
	}
	return err;
}

static char *make_url(const struct config *config, const struct names *names)
{
	char *host = NULL, *port = NULL, *url;
	const char *name = names->name[0];

	if (!config->listen || !config_address(config->listen, &host, &port))
		port = mem_strdup("8443");
	url = strchr(name, ':') ? mem_printf("https://[%s]:%s", name, port) :
				  mem_printf("https://%s:%s", name, port);
	free(host);
	free(port);
	return url;
}

int init_make(const struct init *init, struct fault *f)
{
	char *ca_path = mem_printf("%s/ca.pem", init->folder),
	     *crt_path = mem_printf("%s/ca.crt", init->folder);
	char *server = mem_printf("%s/server.pem", init->folder),
	     *conf = mem_printf("%s/fm.conf", init->folder);
	char *url = NULL, *crt;
	struct config config = { 0 };
	struct names names = { 0 };
	struct pki_pair ca = { 0 };
	size_t i;
	int err = 0;

	umask(022);
	/* without a configuration the hosts are those of the command line */
	if (!access(conf, F_OK))
		err = config_read(init->folder, &config, f);
	if (!err)
		err = check_authority(ca_path, crt_path, f);
	if (!err)
		err = make_folders(init->folder, f);
	if (!err)
		err = names_of(init, &config, &names, f);
	if (!err)
		err = make_pair(ca_path, PKI_AUTHORITY, "gpufabric-fm", NULL, NULL, f);
	if (!err)
		err = pki_read(&ca, ca_path, f);
	if (!err) {
		crt = pki_crt_text(&ca);
		err = write_new(crt_path, crt, 0644, f);
		free(crt);
	}
	if (!err)
		err = make_pair(server, PKI_SERVER, names.name[0], &names, &ca, f);
	if (!err)
		url = make_url(&config, &names);
	for (i = 0; !err && i < config.host_count; i++)
		err = make_host(init, &config, config.hosts[i].name, url, &ca, f);
	for (i = 0; !err && i < init->host_count; i++)
		err = make_host(init, &config, init->hosts[i], url, &ca, f);
	for (i = 0; !err && i < init->user_count; i++)
		err = make_user(init, &config, init->users[i], &ca, f);
	pki_free(&ca);
	names_free(&names);
	config_free(&config);
	free(url);
	free(ca_path);
	free(crt_path);
	free(server);
	free(conf);
	return err;
}

/* A line of standard input, unseen on a terminal; false at its end or when it is too long. */
static bool read_secret(const char *prompt, char secret[ACCOUNT_PASSWORD_MAX + 2])
{
	struct termios old, unseen;
	bool terminal = isatty(STDIN_FILENO) && !tcgetattr(STDIN_FILENO, &old), good;

	if (terminal) {
		fprintf(stderr, "%s: ", prompt);
		unseen = old;
		unseen.c_lflag &= ~(tcflag_t)ECHO;
		tcsetattr(STDIN_FILENO, TCSAFLUSH, &unseen);
	}
	good = fgets(secret, ACCOUNT_PASSWORD_MAX + 2, stdin);
	if (terminal) {
		tcsetattr(STDIN_FILENO, TCSAFLUSH, &old);
		fputc('\n', stderr);
	}
	if (good && strchr(secret, '\n'))
		*strchr(secret, '\n') = '\0';
	return good && strlen(secret) <= ACCOUNT_PASSWORD_MAX;
}

static int ask_password(char secret[ACCOUNT_PASSWORD_MAX + 2], struct fault *f)
{
	char again[ACCOUNT_PASSWORD_MAX + 2] = "";
	int err = 0;

	if (!read_secret("Password", secret))
		return fault_set(f, EINVAL, "the password is empty, or has more than %d characters",
				 ACCOUNT_PASSWORD_MAX);
	if (strlen(secret) < 8)
		return fault_set(f, EINVAL, "a password has at least 8 characters");
	if (isatty(STDIN_FILENO) && (!read_secret("Again", again) || strcmp(secret, again)))
		err = fault_set(f, EINVAL, "the two passwords differ");
	explicit_bzero(again, sizeof(again));
	return err;
}

static int read_users(const char *path, struct account_list *list, struct fault *f)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	struct stat st;
	ssize_t len;
	char *text;

	*list = (struct account_list){ 0 };
	if (fd < 0)
		return errno == ENOENT ? 0 : fault_set(f, errno, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) || st.st_size > USERS_FILE_MAX) {
		close(fd);
		return fault_set(f, EFBIG, "%s: more than 1 MiB", path);
	}
	text = mem_zalloc((size_t)st.st_size + 1, 1);
	len = read(fd, text, (size_t)st.st_size);
	close(fd);
	err = account_parse(path, text, len < 0 ? 0 : (size_t)len, list, f);
	free(text);
	return err;
}

/* The file with @user as given; without @hash the user is left out. */
static int write_users(const char *path, const struct account_list *list, const char *user,
		       enum account_role role, const char *hash, struct fault *f)
{
	struct text t = { 0 };
	size_t i;
	int err;

	text_add(&t, "# NAME:ROLE:HASH, written by gpufabric-fm passwd\n");
	for (i = 0; i < list->count; i++)
		if (strcmp(list->users[i].account.name, user))
			text_add(&t, "%s:%s:%s\n", list->users[i].account.name,
				 account_role_name(list->users[i].account.role),
				 list->users[i].hash);
	if (hash)
		text_add(&t, "%s:%s:%s\n", user, account_role_name(role), hash);
	err = replace_file(path, t.text, 0600);
	free(t.text);
	return err ? fault_set(f, -err, "%s: %s", path, replace_error(err)) : 0;
}

/* A host's name is its account: no other account has that name. */
static int check_user(const char *folder, const char *user, enum account_role role, struct fault *f)
{
	static const struct init none;
	char *conf = mem_printf("%s/fm.conf", folder);
	struct config config = { 0 };
	int err = access(conf, F_OK) ? 0 : config_read(folder, &config, f);

	if (!err && role != ROLE_HOST && is_host(&none, &config, user))
		err = fault_set(f, EINVAL, "%s is a host of %s: its account has --role Host", user,
				conf);
	config_free(&config);
	free(conf);
	return err;
}

static int change_users(const char *folder, const char *user, enum account_role role,
			const char *hash, struct fault *f)
{
	char *path = mem_printf("%s/passwords", folder);
	struct account_list list = { 0 };
	const struct account_user *old;
	int lock = replace_lock(path), err = 0;

	if (lock < 0)
		err = fault_set(f, -lock, "%s: %s", path, replace_error(lock));
	if (!err)
		err = read_users(path, &list, f);
	old = account_find(&list, user);
	if (!err && !hash && !old)
		err = fault_set(f, ENOENT, "there is no user \"%s\"", user);
	if (role == ROLE_NONE)
		role = old ? old->account.role : ROLE_ADMIN;
	if (!err && hash)
		err = check_user(folder, user, role, f);
	if (!err)
		err = write_users(path, &list, user, role, hash, f);
	account_free(&list);
	if (lock >= 0)
		close(lock);
	free(path);
	return err;
}

int init_password(const char *folder, const char *user, enum account_role role, struct fault *f)
{
	char secret[ACCOUNT_PASSWORD_MAX + 2] = "", *hash = NULL;
	int err;

	if (!config_name_valid(user))
		return fault_set(f, EINVAL, "\"%.80s\" is not a valid name of a user", user);
	err = ask_password(secret, f);
	if (!err)
		hash = account_hash(secret);
	if (!err && !hash)
		err = fault_set(f, EIO, "this C library has no yescrypt");
	explicit_bzero(secret, sizeof(secret));
	if (!err)
		err = change_users(folder, user, role, hash, f);
	free(hash);
	return err;
}

int init_forget(const char *folder, const char *user, struct fault *f)
{
	return change_users(folder, user, ROLE_NONE, NULL, f);
}
