// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: settings of the Hub
 *
 * The variables are those of the Hub's own client, so that both read the same token and
 * ask the same endpoint. Under sudo HOME may still be the caller's: what belongs to
 * somebody else is not ours to read secrets from, nor to write to.
 */
#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "hub/name.h"
#include "hub/settings.h"
#include "hub/token.h"

#define ENDPOINT "https://huggingface.co"
#define ENDPOINT_MAX 512
#define TIMEOUT_MS 300000
#define TIMEOUT_MAX_MS 3600000

const char *hub_variable(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL;
}

/* One that is not there yet is ours if we can make it, or could in what is above it. */
static bool is_ours(const char *folder)
{
	char *path = mem_strdup(folder), *slash;
	struct stat st;
	bool ours = !mkdir(path, 0700);

	while (stat(path, &st) && errno == ENOENT && (slash = strrchr(path, '/')) && slash != path)
		*slash = '\0';
	if (!ours && !stat(path, &st))
		ours = st.st_uid == geteuid();
	free(path);
	return ours;
}

char *hub_user_folder(const char *name, const char *fallback)
{
	const char *value = hub_variable(name), *home = hub_variable("HOME");
	struct passwd *user;

	if (value && *value == '/' && is_ours(value))
		return mem_strdup(value);
	if (!home || *home != '/' || !is_ours(home)) {
		user = getpwuid(geteuid());
		home = user ? user->pw_dir : "/";
	}
	return mem_printf("%s/%s", home, fallback);
}

static bool is_yes(const char *value)
{
	static const char *const words[] = { "1", "on", "yes", "true" };
	size_t i;

	for (i = 0; value && i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcasecmp(value, words[i]))
			return true;
	return false;
}

bool hub_is_loopback(const char *host)
{
	struct in_addr address;

	return !strcasecmp(host, "localhost") || !strcmp(host, "[::1]") ||
	       (inet_pton(AF_INET, host, &address) == 1 &&
		ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET);
}

/* The part of a URL, NULL if it has none. */
static char *part_of(CURLU *url, CURLUPart part)
{
	char *text = NULL, *copy = NULL;

	if (!curl_url_get(url, part, &text, 0) && text)
		copy = mem_strdup(text);
	curl_free(text);
	return copy;
}

static int endpoint_take(CURLU *url, struct hub_settings *s, struct fault *f)
{
	char *scheme = part_of(url, CURLUPART_SCHEME), *host = part_of(url, CURLUPART_HOST);
	char *port = part_of(url, CURLUPART_PORT), *path = part_of(url, CURLUPART_PATH);
	char *where;
	size_t end;
	int ret = CTL_DONE;

	for (end = path ? strlen(path) : 0; end && path[end - 1] == '/'; end--)
		;
	s->loopback = host && hub_is_loopback(host);
	s->host = mem_printf("%s%s%s", host ? host : "", port ? ":" : "", port ? port : "");
	s->endpoint = mem_printf("%s://%s%.*s", scheme ? scheme : "", s->host, (int)end,
				 path ? path : "");
	where = mem_printf("%s%.*s", s->host, (int)end, path ? path : "");
	s->key = hub_quote(where);
	if (!scheme || !host || (strcmp(scheme, "https") && strcmp(scheme, "http")) ||
	    !strncmp(s->key, ".", 1)) {
		fault_set(f, EINVAL, "HF_ENDPOINT: \"%.100s\" is not an https:// address",
			  s->endpoint);
		ret = CTL_USAGE;
	} else if (!strcmp(scheme, "http") && !s->loopback) {
		fault_set(f, EINVAL,
			  "HF_ENDPOINT: the connection to %.100s would have no encryption: write https://",
			  s->endpoint);
		ret = CTL_USAGE;
	}
	free(scheme);
	free(host);
	free(port);
	free(path);
	free(where);
	return ret;
}

static int endpoint_read(struct hub_settings *s, struct fault *f)
{
	static const CURLUPart others[] = {
		CURLUPART_USER,
		CURLUPART_PASSWORD,
		CURLUPART_QUERY,
		CURLUPART_FRAGMENT,
	};
	const char *text = hub_variable("HF_ENDPOINT");
	CURLU *url = curl_url();
	bool plain;
	size_t i;
	int ret;

	text = text ? text : ENDPOINT;
	plain = url && strlen(text) <= ENDPOINT_MAX &&
		!curl_url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME);
	for (i = 0; plain && i < sizeof(others) / sizeof(others[0]); i++) {
		char *other = part_of(url, others[i]);

		plain = !other;
		free(other);
	}
	if (!plain) {
		fault_set(f, EINVAL, "HF_ENDPOINT is not a plain https:// address");
		ret = CTL_USAGE;
	} else {
		ret = endpoint_take(url, s, f);
	}
	curl_url_cleanup(url);
	return ret;
}

static int timeout_read(struct hub_settings *s, struct fault *f)
{
	const char *text = hub_variable("GPUCTL_HUB_TIMEOUT");

	s->timeout_ms = TIMEOUT_MS;
	if (!text || (text_parse_duration(text, &s->timeout_ms) && s->timeout_ms &&
		      s->timeout_ms <= TIMEOUT_MAX_MS))
		return CTL_DONE;
	fault_set(f, EINVAL,
		  "GPUCTL_HUB_TIMEOUT: \"%.40s\" is not a time of up to 1h, such as 5min", text);
	return CTL_USAGE;
}

int hub_settings_read(struct hub_settings *s, struct fault *f)
{
	const char *certificates = hub_variable("SSL_CERT_FILE");
	char *cache;
	int ret;

	memset(s, 0, sizeof(*s));
	s->offline = is_yes(hub_variable("HF_HUB_OFFLINE"));
	s->certificates = certificates ? mem_strdup(certificates) : NULL;
	cache = hub_user_folder("XDG_CACHE_HOME", ".cache");
	s->cache = mem_printf("%s/gpuctl/hub", cache);
	free(cache);
	ret = endpoint_read(s, f);
	if (!ret)
		ret = timeout_read(s, f);
	if (!ret && !s->offline)
		ret = hub_token_read(s, f);
	return ret;
}

void hub_settings_free(struct hub_settings *s)
{
	if (s->token)
		explicit_bzero(s->token, strlen(s->token));
	free(s->endpoint);
	free(s->host);
	free(s->key);
	free(s->token);
	free(s->token_loose);
	free(s->certificates);
	free(s->cache);
	memset(s, 0, sizeof(*s));
}
