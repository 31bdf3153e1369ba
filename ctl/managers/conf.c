// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: files of fabric.d
 *
 * Lines of key = value, without sections, and behind them PEM blocks, where a key says "inline".
 * Blocks stand in the order of the keys that they are for: with ca and certificate inline the
 * first certificate is the authority. A file with a key of ours, or with a password, is refused
 * when others can read it, and every file when others can write it.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/conf.h"
#include "base/conf_dir.h"
#include "base/text.h"
#include "base/trust.h"
#include "managers/conf.h"

#define PATH_MAX_LENGTH 512
#define URL_MAX 300
#define LOGIN_MAX 128
#define TIMEOUT_MS 60000
#define RETURN_MS 600000
#define BEGIN "-----BEGIN "
#define END "-----END "
#define DASHES "-----"
#define INLINE "inline"

/* Keys that are given once. */
enum once {
	ONCE_DRIVER,
	ONCE_URL,
	ONCE_HOST,
	ONCE_CA,
	ONCE_CERTIFICATE,
	ONCE_KEY,
	ONCE_CREDENTIALS,
	ONCE_LOGIN,
	ONCE_FABRIC,
	ONCE_WAY,
	ONCE_TIMEOUT,
	ONCE_RETURN,
	ONCE_P2P,
	ONCE_N
};

static const char *const once_keys[ONCE_N] = {
	"driver", "url",    "host", "ca",      "certificate",  "key", "credentials",
	"login",  "fabric", "way",  "timeout", "return_after", "p2p",
};

static const char *const driver_names[] = {
	[MANAGER_REDFISH] = "redfish",
	[MANAGER_LIQID] = "liqid",
};

/**
 * struct reading - one run over one file
 * @seen: line of each key that is given once, 0 for none
 * @certificates: blocks of the file, @n_certificates of them
 * @key: block of the file
 * @key_line: of @key
 */
struct reading {
	struct manager_conf *conf;
	unsigned int seen[ONCE_N];
	struct text *certificates;
	size_t n_certificates;
	struct text key;
	unsigned int key_line;
};

const char *manager_driver_text(enum manager_driver driver)
{
	return driver_names[driver];
}

bool manager_is_id(const char *text)
{
	size_t len = strlen(text), i;

	for (i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && (!i || !strchr("._-", text[i])))
			return false;
	return len && len <= MANAGER_ID_MAX;
}

bool manager_is_path(const char *text)
{
	size_t len = strlen(text), i;

	if (strncmp(text, "/redfish/v1", 11) || len > PATH_MAX_LENGTH ||
	    (text[11] && text[11] != '/') || strstr(text, "/../") || strstr(text, "//"))
		return false;
	for (i = 0; i < len; i++)
		if (!isgraph((unsigned char)text[i]) || strchr("\"\\<>#", text[i]))
			return false;
	return len < 3 || strcmp(text + len - 3, "/..");
}

char *manager_name_of(const char *file)
{
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
	size_t len = strlen(name);
	char *copy;

	if (len < 6 || strcmp(name + len - 5, ".conf"))
		return NULL;
	copy = mem_printf("%.*s", (int)(len - 5), name);
	if (manager_is_id(copy))
		return copy;
	free(copy);
	return NULL;
}

/* https://HOST[:PORT], nothing else; also of addresses of version 6 in brackets. */
static int take_url(struct manager_conf *conf, const char *value, struct fault *f)
{
	const char *host = value + 8, *end, *port;
	size_t len = strlen(value);
	uint64_t number;

	if (strncmp(value, "https://", 8))
		return fault_set(f, EINVAL, "url: write https://HOST:PORT");
	if (value[len - 1] == '/')
		len--;
	end = value + len;
	for (port = end; port > host && isdigit((unsigned char)port[-1]);)
		port--;
	if (port > host && port[-1] == ':' && port < end) {
		char *text = mem_printf("%.*s", (int)(end - port), port);
		bool good = text_number(text, 65535, &number) && number;

		free(text);
		end = good ? port - 1 : host;
	}
	if (end > host && *host == '[' && end[-1] == ']') {
		for (port = host + 1; port < end - 1; port++)
			if (!isxdigit((unsigned char)*port) && *port != ':')
				end = host;
	} else {
		for (port = host; port < end; port++)
			if (!isalnum((unsigned char)*port) && *port != '.' && *port != '-')
				end = host;
	}
	if (end <= host || len > URL_MAX)
		return fault_set(f, EINVAL, "url: \"%.100s\": write https://HOST:PORT", value);
	conf->url = mem_printf("%.*s", (int)len, value);
	return 0;
}

static int take_id(const char *key, const char *value, char **out, struct fault *f)
{
	if (!manager_is_id(value))
		return fault_set(f, EINVAL,
				 "%s: \"%.80s\": use 1 to %d of A-Z a-z 0-9, and . _ - inside", key,
				 value, MANAGER_ID_MAX);
	*out = mem_strdup(value);
	return 0;
}

static int take_file(const char *key, const char *value, char **out, struct fault *f)
{
	if (*value != '/')
		return fault_set(f, EINVAL, "%s: \"%.100s\" is not a path that begins with /", key,
				 value);
	*out = mem_strdup(value);
	return 0;
}

static int take_secret(const char *key, const char *value, struct manager_secret *secret,
		       struct fault *f)
{
	return strcmp(value, INLINE) ? take_file(key, value, &secret->file, f) : 0;
}

static int take_way(struct manager_conf *conf, const char *value, struct fault *f)
{
	static const char *const ways[] = {
		[MANAGER_ZONE] = "zone",
		[MANAGER_ACTIONS] = "actions",
		[MANAGER_BLOCKS] = "blocks",
		[MANAGER_COMPOSE] = "compose",
	};
	size_t i;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(value, ways[i]))
			continue;
		conf->way = (enum manager_way)i;
		return 0;
	}
	return fault_set(f, EINVAL, "way: \"%.40s\": write zone, actions, blocks or compose",
			 value);
}

static int take_driver(struct manager_conf *conf, const char *value, struct fault *f)
{
	size_t i;

	if (conf->n_ports)
		return fault_set(f, EINVAL, "driver must come before ports");
	for (i = 0; i < sizeof(driver_names) / sizeof(driver_names[0]); i++) {
		if (strcmp(value, driver_names[i]))
			continue;
		conf->driver = (enum manager_driver)i;
		return 0;
	}
	return fault_set(f, EINVAL, "driver: \"%.40s\": redfish or liqid", value);
}

static int take_p2p(struct manager_conf *conf, const char *value, struct fault *f)
{
	conf->p2p = !strcmp(value, "on") ? "on" : !strcmp(value, "off") ? "off" : NULL;
	return conf->p2p ? 0 : fault_set(f, EINVAL, "p2p: \"%.40s\": on or off", value);
}

static int take_timeout(const char *value, uint64_t *ms, struct fault *f)
{
	char text[TEXT_QUANTITY];

	if (text_parse_duration(value, ms) && *ms && *ms <= MANAGER_TIMEOUT_MAX_MS)
		return 0;
	return fault_set(f, EINVAL, "timeout: \"%.40s\" is not a time of up to %s, such as 60s",
			 value, text_duration(text, MANAGER_TIMEOUT_MAX_MS));
}

static int take_return(const char *value, uint64_t *ms, struct fault *f)
{
	*ms = MANAGER_RETURN_NEVER;
	if (!strcmp(value, "never") || text_parse_duration(value, ms))
		return 0;
	return fault_set(f, EINVAL,
			 "return_after: \"%.40s\" is neither a time, such as 10min, nor never",
			 value);
}

static bool is_slot(const char *slot)
{
	size_t len = strlen(slot), i;

	for (i = 0; i < len; i++)
		if (!isalnum((unsigned char)slot[i]) && !strchr(":._-", slot[i]))
			return false;
	return len && len <= MANAGER_ID_MAX;
}

/* SWITCH/PORT, or a path. */
static bool is_port(char *port)
{
	char *slash = strchr(port, '/');
	bool good;

	if (!slash || slash == port)
		return manager_is_path(port);
	*slash = '\0';
	good = manager_is_id(port) && manager_is_id(slash + 1);
	*slash = '/';
	return good;
}

static int take_port(struct manager_conf *conf, char *word, struct fault *f)
{
	char *port = strchr(word, '=');
	size_t i;

	/* Such a manager does not know which slot it is that has a GPU. */
	if (conf->driver == MANAGER_LIQID && (port || !is_slot(word)))
		return fault_set(f, EINVAL, "ports: \"%.80s\": write names of slots alone", word);
	if (port)
		*port++ = '\0';
	else if (conf->driver == MANAGER_LIQID)
		port = word;
	if (!port || !is_slot(word) || (port != word && !is_port(port)))
		return fault_set(f, EINVAL, "ports: \"%.80s\": write SLOT=SWITCH/PORT", word);
	for (i = 0; i < conf->n_ports; i++)
		if (!strcmp(conf->ports[i].slot, word) || !strcmp(conf->ports[i].port, port))
			return fault_set(f, EINVAL,
					 "ports: %s=%s: the slot or the port is there twice", word,
					 port);
	if (conf->n_ports == MANAGER_PORTS_MAX)
		return fault_set(f, E2BIG, "ports: more than %d", MANAGER_PORTS_MAX);
	conf->ports = mem_push(conf->ports, conf->n_ports, sizeof(*conf->ports));
	conf->ports[conf->n_ports].slot = mem_strdup(word);
	conf->ports[conf->n_ports++].port = mem_strdup(port);
	return 0;
}

/* Four hexadecimal digits. */
static bool take_hex(const char *text, size_t len, uint32_t *id)
{
	size_t i;

	if (!strncmp(text, "0x", 2)) {
		text += 2;
		len -= 2;
	}
	*id = 0;
	for (i = 0; i < len && i < 4 && isxdigit((unsigned char)text[i]); i++)
		*id = *id << 4 | (uint32_t)(isdigit((unsigned char)text[i]) ?
						    text[i] - '0' :
						    tolower((unsigned char)text[i]) - 'a' + 10);
	return i == len && len == 4;
}

static int take_kind(struct manager_conf *conf, char *word, struct fault *f)
{
	char *colon = strchr(word, ':'), *kind = strchr(word, '=');
	struct manager_kind *k;

	conf->kinds = mem_push(conf->kinds, conf->n_kinds, sizeof(*conf->kinds));
	k = &conf->kinds[conf->n_kinds];
	memset(k, 0, sizeof(*k));
	if (!colon || !kind || kind < colon || !manager_is_id(kind + 1) ||
	    !take_hex(word, (size_t)(colon - word), &k->vendor) ||
	    !take_hex(colon + 1, (size_t)(kind - colon - 1), &k->device) || !k->vendor)
		return fault_set(f, EINVAL,
				 "kinds: \"%.80s\": write VENDOR:DEVICE=KIND, such as 10de:2331=h100-pcie-80",
				 word);
	k->kind = mem_strdup(kind + 1);
	conf->n_kinds++;
	return 0;
}

static int take_words(struct manager_conf *conf, const char *value,
		      int (*take)(struct manager_conf *conf, char *word, struct fault *f),
		      struct fault *f)
{
	char **words;
	size_t n, i;
	int err = conf_list(value, &words, &n, f);

	if (err)
		return err;
	for (i = 0; i < n && !err; i++)
		err = take(conf, words[i], f);
	conf_list_free(words, n);
	return err;
}

static int take_login(struct manager_conf *conf, const char *value, struct fault *f)
{
	conf->basic = !strcmp(value, "basic");
	return conf->basic || !strcmp(value, "session") ?
		       0 :
		       fault_set(f, EINVAL, "login: \"%.40s\": write session or basic", value);
}

static int take_once(struct manager_conf *conf, enum once which, const char *value, struct fault *f)
{
	switch (which) {
	case ONCE_DRIVER:
		return take_driver(conf, value, f);
	case ONCE_URL:
		return take_url(conf, value, f);
	case ONCE_HOST:
		return take_id("host", value, &conf->host, f);
	case ONCE_FABRIC:
		return take_id("fabric", value, &conf->fabric, f);
	case ONCE_CA:
		return take_secret("ca", value, &conf->authorities, f);
	case ONCE_CERTIFICATE:
		return take_secret("certificate", value, &conf->certificate, f);
	case ONCE_KEY:
		return take_secret("key", value, &conf->key, f);
	case ONCE_CREDENTIALS:
		return take_file("credentials", value, &conf->credentials, f);
	case ONCE_LOGIN:
		return take_login(conf, value, f);
	case ONCE_WAY:
		return take_way(conf, value, f);
	case ONCE_TIMEOUT:
		return take_timeout(value, &conf->timeout_ms, f);
	case ONCE_RETURN:
		return take_return(value, &conf->return_ms, f);
	case ONCE_P2P:
		return take_p2p(conf, value, f);
	default:
		return 0;
	}
}

static int take_item(const struct conf_item *item, void *arg, struct fault *f)
{
	struct reading *r = arg;
	size_t i;

	if (!strcmp(item->key, "ports"))
		return take_words(r->conf, item->value, take_port, f);
	if (!strcmp(item->key, "kinds"))
		return take_words(r->conf, item->value, take_kind, f);
	for (i = 0; i < ONCE_N && strcmp(item->key, once_keys[i]);)
		i++;
	if (i == ONCE_N)
		return fault_set(f, EINVAL, "unknown key \"%s\": see gpuctl-fabric(5)", item->key);
	if (r->seen[i])
		return fault_set(f, EINVAL, "%s is given twice, first in line %u", item->key,
				 r->seen[i]);
	r->seen[i] = item->line;
	/* Which blocks are for it is known at the end. */
	if (!strcmp(item->value, INLINE) &&
	    (i == ONCE_CA || i == ONCE_CERTIFICATE || i == ONCE_KEY))
		return 0;
	return take_once(r->conf, (enum once)i, item->value, f);
}

/* Where the line ends. */
static size_t line_length(const char *text, size_t len)
{
	const char *end = memchr(text, '\n', len);

	return end ? (size_t)(end - text) : len;
}

static bool line_is(const char *line, size_t len, const char *before, const char *label)
{
	size_t b = strlen(before), l = strlen(label), d = strlen(DASHES);

	while (len && strchr(" \t\r", line[len - 1]))
		len--;
	return len == b + l + d && !strncmp(line, before, b) && !strncmp(line + b, label, l) &&
	       !strncmp(line + b + l, DASHES, d);
}

/* Is what a block holds base64, so that it is text and nothing else? */
static bool is_base64(const char *line, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (!isalnum((unsigned char)line[i]) && !strchr("+/= \t\r", line[i]))
			return false;
	return true;
}

static int take_block_line(struct reading *r, struct text *block, const char *line, size_t n,
			   const char *label, struct fault *f)
{
	if (!is_base64(line, n) && !line_is(line, n, BEGIN, label) && !line_is(line, n, END, label))
		return fault_set(f, EINVAL, "this is not a line of a PEM block");
	(void)r;
	text_add(block, "%.*s\n", (int)n, line);
	return 0;
}

/* The block that begins at this line is for whom? NULL with a reason. */
static struct text *block_begin(struct reading *r, const char *line, size_t n, unsigned int at,
				const char **label, struct fault *f)
{
	static const char *const keys[] = {
		"PRIVATE KEY",
		"EC PRIVATE KEY",
		"RSA PRIVATE KEY",
	};
	size_t i;

	if (line_is(line, n, BEGIN, "CERTIFICATE")) {
		*label = "CERTIFICATE";
		r->certificates =
			mem_push(r->certificates, r->n_certificates, sizeof(*r->certificates));
		memset(&r->certificates[r->n_certificates], 0, sizeof(*r->certificates));
		return &r->certificates[r->n_certificates++];
	}
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!line_is(line, n, BEGIN, keys[i]))
			continue;
		if (r->key.text) {
			fault_set(f, EINVAL, "a second key");
			return NULL;
		}
		*label = keys[i];
		r->key_line = at;
		return &r->key;
	}
	fault_set(f, EINVAL, "neither a certificate nor a key without a password");
	return NULL;
}

/* Takes the PEM blocks, and makes blanks of them in @text, which keeps its lines. */
static int take_blocks(struct reading *r, const char *file, char *text, size_t len, struct fault *f)
{
	unsigned int line = 0, begun = 0;
	const char *label = NULL;
	struct text *block = NULL;
	size_t at, n;
	int err = 0;

	for (at = 0; at < len && !err; at += n + 1) {
		bool last;

		line++;
		n = line_length(text + at, len - at);
		if (!block) {
			if (n < strlen(BEGIN) || strncmp(text + at, BEGIN, strlen(BEGIN)))
				continue;
			block = block_begin(r, text + at, n, line, &label, f);
			begun = line;
			err = block ? 0 : -EINVAL;
		}
		last = label && line_is(text + at, n, END, label);
		if (!err)
			err = take_block_line(r, block, text + at, n, label, f);
		explicit_bzero(text + at, n);
		memset(text + at, ' ', n);
		if (last)
			block = NULL;
	}
	if (!err && block) {
		err = fault_set(f, EINVAL, "the block has no END line");
		line = begun;
	}
	if (err)
		fault_prefix(f, "%s:%u", file, line);
	return err;
}

static char *join_certificates(const struct reading *r, size_t from, size_t to)
{
	struct text all = { 0 };
	size_t i;

	for (i = from; i < to; i++)
		text_add(&all, "%s", r->certificates[i].text);
	return all.text;
}

/* Gives the blocks to the keys that say "inline". */
static int share_blocks(struct reading *r, const char *file, struct fault *f)
{
	struct manager_conf *conf = r->conf;
	bool ca = r->seen[ONCE_CA] && !conf->authorities.file;
	bool own = r->seen[ONCE_CERTIFICATE] && !conf->certificate.file;
	bool key = r->seen[ONCE_KEY] && !conf->key.file;
	bool ca_first = !own || r->seen[ONCE_CA] < r->seen[ONCE_CERTIFICATE];
	size_t need = (size_t)ca + (size_t)own, n = r->n_certificates;

	if (n < need || (n && !need))
		return fault_set(f, EINVAL,
				 "%s: the file has %zu certificates, and ca and certificate need %s",
				 file, n,
				 need == 2 ? "one each" :
				 need	   ? "one" :
					     "none");
	if (key != !!r->key.text)
		return fault_set(f, EINVAL, "%s: key = inline %s", file,
				 key ? "needs a key in the file" :
				       "is missing, but the file has a key");
	/* Of several certificates those in the middle are of who vouches for ours. */
	if (ca && own && ca_first) {
		conf->authorities.pem = join_certificates(r, 0, 1);
		conf->certificate.pem = join_certificates(r, 1, n);
	} else if (ca && own) {
		conf->certificate.pem = join_certificates(r, 0, n - 1);
		conf->authorities.pem = join_certificates(r, n - 1, n);
	} else if (ca) {
		conf->authorities.pem = join_certificates(r, 0, n);
	} else if (own) {
		conf->certificate.pem = join_certificates(r, 0, n);
	}
	conf->key.pem = r->key.text;
	r->key.text = NULL;
	return 0;
}

/* Keys that say nothing to the other driver. */
static int check_driver(const struct reading *r, const char *file, struct fault *f)
{
	static const enum once own[][3] = {
		[MANAGER_REDFISH] = { ONCE_FABRIC, ONCE_WAY, ONCE_LOGIN },
		[MANAGER_LIQID] = { ONCE_P2P, ONCE_P2P, ONCE_P2P },
	};
	size_t d, i;

	for (d = 0; d < sizeof(own) / sizeof(own[0]); d++)
		for (i = 0; d != r->conf->driver && i < 3; i++)
			if (r->seen[own[d][i]])
				return fault_set(f, EINVAL, "%s:%u: %s is for driver = %s", file,
						 r->seen[own[d][i]], once_keys[own[d][i]],
						 driver_names[d]);
	return 0;
}

static int conf_check(const struct reading *r, const char *file, struct fault *f)
{
	static const enum once needed[] = { ONCE_DRIVER, ONCE_URL, ONCE_HOST };
	size_t i;

	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!r->seen[needed[i]])
			return fault_set(f, EINVAL, "%s: %s is missing", file,
					 once_keys[needed[i]]);
	if (!r->seen[ONCE_CERTIFICATE] != !r->seen[ONCE_KEY])
		return fault_set(f, EINVAL, "%s: certificate and key go together", file);
	/* A director says which user edits a machine: without a user all edits look like ours. */
	if (r->conf->driver == MANAGER_LIQID && !r->seen[ONCE_CREDENTIALS])
		return fault_set(f, EINVAL, "%s: driver = liqid needs credentials", file);
	if (!r->seen[ONCE_CERTIFICATE] && !r->seen[ONCE_CREDENTIALS])
		return fault_set(f, EINVAL, "%s: certificate and key, or credentials, are needed",
				 file);
	if (r->seen[ONCE_LOGIN] && !r->seen[ONCE_CREDENTIALS])
		return fault_set(f, EINVAL, "%s:%u: login is for credentials", file,
				 r->seen[ONCE_LOGIN]);
	return check_driver(r, file, f);
}

static void reading_free(struct reading *r)
{
	size_t i;

	for (i = 0; i < r->n_certificates; i++)
		free(r->certificates[i].text);
	free(r->certificates);
	if (r->key.text)
		explicit_bzero(r->key.text, r->key.len);
	free(r->key.text);
}

int manager_conf_parse(const char *file, const char *text, size_t len, struct manager_conf *conf,
		       struct fault *f)
{
	struct reading r = { .conf = conf };
	char *copy = mem_zalloc(len + 1, 1);
	int err;

	memset(conf, 0, sizeof(*conf));
	conf->file = mem_strdup(file);
	conf->timeout_ms = TIMEOUT_MS;
	conf->return_ms = RETURN_MS;
	memcpy(copy, text, len);
	conf->name = manager_name_of(file);
	err = 0;
	if (!conf->name)
		err = fault_set(f, EINVAL,
				"%.200s: a file is called NAME.conf, with A-Z a-z 0-9 . _ - in NAME",
				file);
	if (!err)
		err = take_blocks(&r, file, copy, len, f);
	if (!err)
		err = conf_parse_keys(file, copy, len, take_item, &r, f);
	if (!err)
		err = conf_check(&r, file, f);
	if (!err)
		err = share_blocks(&r, file, f);
	reading_free(&r);
	explicit_bzero(copy, len);
	free(copy);
	return err;
}

static int parse_file(const char *file, const char *text, size_t len, void *arg, struct fault *f)
{
	return manager_conf_parse(file, text, len, arg, f);
}

int manager_conf_read(const char *file, struct manager_conf *conf, struct fault *f)
{
	int err;

	memset(conf, 0, sizeof(*conf));
	err = trust_path(file, f);
	if (!err)
		err = conf_file_read(file, parse_file, conf, f);
	if (!err && conf->key.pem)
		err = trust_secret(file, f);
	if (!err && conf->key.file)
		err = trust_secret(conf->key.file, f);
	if (!err && conf->certificate.file)
		err = trust_path(conf->certificate.file, f);
	if (!err && conf->authorities.file)
		err = trust_path(conf->authorities.file, f);
	if (!err && conf->credentials)
		err = trust_secret(conf->credentials, f);
	if (err == -EPERM)
		fault_prefix(f, "%s is not used", file);
	return err;
}

static void secret_free(struct manager_secret *secret)
{
	free(secret->file);
	if (secret->pem)
		explicit_bzero(secret->pem, strlen(secret->pem));
	free(secret->pem);
}

void manager_conf_free(struct manager_conf *conf)
{
	size_t i;

	for (i = 0; i < conf->n_ports; i++) {
		free(conf->ports[i].slot);
		free(conf->ports[i].port);
	}
	for (i = 0; i < conf->n_kinds; i++)
		free(conf->kinds[i].kind);
	free(conf->ports);
	free(conf->kinds);
	free(conf->name);
	free(conf->file);
	free(conf->url);
	free(conf->host);
	free(conf->fabric);
	free(conf->credentials);
	secret_free(&conf->authorities);
	secret_free(&conf->certificate);
	secret_free(&conf->key);
	memset(conf, 0, sizeof(*conf));
}

static int take_login_item(const struct conf_item *item, void *arg, struct fault *f)
{
	struct manager_login *login = arg;
	bool user = !strcmp(item->key, "user");
	char **at = user ? &login->user : &login->password;

	if (!user && strcmp(item->key, "password"))
		return fault_set(f, EINVAL, "unknown key \"%s\": the keys are user and password",
				 item->key);
	if (*at)
		return fault_set(f, EINVAL, "%s is given twice", item->key);
	if (strlen(item->value) > LOGIN_MAX || (user && strchr(item->value, ':')))
		return fault_set(f, EINVAL, "%s: at most %d characters%s", item->key, LOGIN_MAX,
				 user ? ", no colon" : "");
	*at = mem_strdup(item->value);
	return 0;
}

int manager_login_parse(const char *file, const char *text, size_t len, struct manager_login *login,
			struct fault *f)
{
	int err;

	memset(login, 0, sizeof(*login));
	err = conf_parse_keys(file, text, len, take_login_item, login, f);
	if (!err && (!login->user || !login->password))
		err = fault_set(f, EINVAL, "%s: %s is missing", file,
				login->user ? "password" : "user");
	return err;
}

static int parse_login(const char *file, const char *text, size_t len, void *arg, struct fault *f)
{
	return manager_login_parse(file, text, len, arg, f);
}

int manager_login_read(const char *file, struct manager_login *login, struct fault *f)
{
	int err;

	memset(login, 0, sizeof(*login));
	err = trust_secret(file, f);
	if (!err)
		err = conf_file_read(file, parse_login, login, f);
	return err;
}

void manager_login_free(struct manager_login *login)
{
	if (login->password)
		explicit_bzero(login->password, strlen(login->password));
	free(login->user);
	free(login->password);
	memset(login, 0, sizeof(*login));
}
