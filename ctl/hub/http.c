// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: requests
 *
 * libcurl speaks HTTP and TLS; here is what it may do. Redirections are followed by hand:
 * each has to be encrypted, and once one leads to another origin the token stays behind.
 * Whatever a server sends, no more of it is taken than was asked for.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "hub/http.h"

#define REDIRECTS_MAX 5
#define REQUESTS_MAX 10000
/* Of all bodies together. */
#define BYTES_MAX (1ull << 30)
/* Of a refusal, whose text is not read. */
#define REFUSAL_MAX (1u << 20)
#define CONNECT_MS 20000
/* So many bytes a second, averaged over so many seconds, or it is over. */
#define SPEED_MIN 100
#define SPEED_TIME 30

/**
 * struct transfer - one hop of a request
 * @get: for whom
 * @before: bytes of earlier ones
 * @at: offset of the next byte of the body, @end where enough of it is there
 * @done: all that was asked for is there
 * @excess: the answer goes on behind its bound
 * @begun: the answer was judged by its headers
 * @astray: its bytes are from somewhere else
 * @err: of the sink
 */
struct transfer {
	struct hub_http *http;
	struct hub_get *get;
	uint64_t before;
	uint64_t at;
	uint64_t end;
	bool done;
	bool excess;
	bool begun;
	bool astray;
	int err;
	char why[CURL_ERROR_SIZE];
};

static size_t header_came(char *line, size_t size, size_t n, void *arg)
{
	struct transfer *t = arg;

	hub_answer_header(&t->get->answer, line, size * n);
	return size * n;
}

static bool is_body(const struct hub_answer *answer)
{
	return answer->status == 200 || answer->status == 206;
}

/* A whole answer begins at 0, whatever was asked for; a file may end before the range does. */
static bool transfer_begin(struct transfer *t)
{
	const struct hub_answer *answer = &t->get->answer;

	t->begun = true;
	t->at = answer->status == 206 ? answer->from : 0;
	t->end = t->get->n ? t->get->from + t->get->n : t->get->max;
	if (t->get->n && answer->sized && answer->total < t->end)
		t->end = answer->total;
	t->astray = answer->status == 206 &&
		    (!t->get->n || !answer->ranged || answer->from != t->get->from);
	return !t->astray;
}

static size_t body_came(char *data, size_t size, size_t n, void *arg)
{
	struct transfer *t = arg;
	struct hub_get *get = t->get;
	uint64_t take = size * n;

	t->http->bytes += take;
	t->excess = t->http->bytes > BYTES_MAX;
	/* what a refusal says in its body is of no interest */
	if (t->excess || !is_body(&get->answer))
		return t->excess || t->http->bytes - t->before > REFUSAL_MAX ? 0 : take;
	if (!t->begun && !transfer_begin(t))
		return 0;
	if (take > t->end - t->at) {
		t->excess = !get->n;
		take = t->end - t->at;
	}
	if (!t->excess)
		t->err = get->sink(get->arg, t->at, data, take);
	t->at += take;
	t->done = t->at == t->end;
	/* fewer than came ends the transfer */
	return t->err || t->excess ? 0 : take;
}

/* Scheme, host and port: who gets what is sent. */
static char *origin_of(const char *text)
{
	char *scheme = NULL, *host = NULL, *port = NULL, *origin = NULL;
	CURLU *url = curl_url();

	if (url && !curl_url_set(url, CURLUPART_URL, text, 0) &&
	    !curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) &&
	    !curl_url_get(url, CURLUPART_HOST, &host, 0) &&
	    !curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT))
		origin = mem_printf("%s://%s:%s", scheme, host, port);
	curl_free(scheme);
	curl_free(host);
	curl_free(port);
	curl_url_cleanup(url);
	return origin;
}

/* Encrypted, or to this machine, which alone may be asked otherwise. */
static bool is_allowed(const struct hub_settings *settings, const char *text)
{
	char *host = NULL;
	CURLU *url = curl_url();
	bool allowed = !strncasecmp(text, "https:", 6);

	if (!allowed && settings->loopback && url && !curl_url_set(url, CURLUPART_URL, text, 0) &&
	    !curl_url_get(url, CURLUPART_HOST, &host, 0))
		allowed = hub_is_loopback(host);
	curl_free(host);
	curl_url_cleanup(url);
	return allowed;
}

static bool same_origin(const char *a, const char *b)
{
	char *x = origin_of(a), *y = origin_of(b);
	bool same = x && y && !strcasecmp(x, y);

	free(x);
	free(y);
	return same;
}

static int words_for(const struct transfer *t, CURLcode code, struct fault *f)
{
	const char *host = t->get->question->host;
	const char *why = *t->why ? t->why : curl_easy_strerror(code);

	switch (code) {
	case CURLE_OPERATION_TIMEDOUT:
		fault_set(f, ETIMEDOUT,
			  "%s is too slow, or does not answer (%s): GPUCTL_HUB_TIMEOUT=15min waits longer",
			  host, why);
		return CTL_TIMEOUT;
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_CONNECT:
		fault_set(f, EHOSTUNREACH,
			  "cannot reach %s (%s): is there a network? HF_HUB_OFFLINE=1 takes what was read before",
			  host, why);
		return CTL_FAILED;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
		fault_set(f, EPERM,
			  "%s cannot show who it is (%s): SSL_CERT_FILE names a file of other authorities to trust",
			  host, why);
		return CTL_FAILED;
	default:
		fault_set(f, EIO, "the connection to %s failed (%s): ask again", host, why);
		return CTL_FAILED;
	}
}

static int judge(struct transfer *t, CURLcode code, struct fault *f)
{
	const struct hub_question *q = t->get->question;
	const char *what = q->file ? q->file : "the listing";

	if (t->err) {
		fault_set(f, -t->err, "cannot write to the cache: %s", strerror(-t->err));
		return CTL_FAILED;
	}
	if (t->excess) {
		fault_set(f, EFBIG,
			  "%s sent more than a header or a config can be: %s is not read on",
			  q->host, what);
		return CTL_FAILED;
	}
	if (t->astray) {
		fault_set(f, EIO, "%s sent other bytes of %s than those that were asked for",
			  q->host, what);
		return CTL_FAILED;
	}
	if (code && code != CURLE_WRITE_ERROR)
		return words_for(t, code, f);
	if (!is_body(&t->get->answer))
		return hub_answer_refuse(&t->get->answer, q, f);
	if (t->get->n && !t->done && t->get->answer.status == 200 && !t->get->answer.sized) {
		/* its end is its size */
		t->get->answer.total = t->at;
		t->get->answer.sized = true;
	} else if (t->get->n && !t->done) {
		fault_set(f, EIO, "%s sent fewer bytes of %s than it said: ask again", q->host,
			  what);
		return CTL_FAILED;
	}
	return CTL_DONE;
}

static bool is_redirection(long status)
{
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* What a single request is asked for; everything else stays as hub_http_open() has it. */
static int prepare(struct transfer *t, const char *url, const struct curl_slist *headers,
		   struct fault *f)
{
	uint64_t now = text_monotonic();
	CURL *curl = t->http->curl;
	char range[64];

	if (now >= t->http->deadline)
		return words_for(t, CURLE_OPERATION_TIMEDOUT, f);
	if (++t->http->requests > REQUESTS_MAX) {
		fault_set(f, EFBIG, "the model takes more than %d requests", REQUESTS_MAX);
		return CTL_FAILED;
	}
	snprintf(range, sizeof(range), "%llu-%llu", (unsigned long long)t->get->from,
		 (unsigned long long)(t->get->from + t->get->n - 1));
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_RANGE, t->get->n ? range : NULL);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(t->http->deadline - now));
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, t);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, t);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, t->why);
	return CTL_DONE;
}

/* One hop; @next is where the answer leads, NULL for an end. */
static int hop(struct hub_http *http, struct hub_get *get, const char *url, bool token,
	       char **next, struct fault *f)
{
	struct transfer t = { .http = http, .get = get, .before = http->bytes };
	struct curl_slist *headers = NULL;
	char *line, *to = NULL;
	CURLcode code;
	int ret;

	*next = NULL;
	if (token) {
		line = mem_printf("Authorization: Bearer %s", http->settings->token);
		headers = curl_slist_append(NULL, line);
		explicit_bzero(line, strlen(line));
		free(line);
	}
	memset(&get->answer, 0, sizeof(get->answer));
	ret = prepare(&t, url, headers, f);
	if (!ret) {
		code = curl_easy_perform(http->curl);
		if (!code && is_redirection(get->answer.status))
			curl_easy_getinfo(http->curl, CURLINFO_REDIRECT_URL, &to);
		if (to)
			*next = mem_strdup(to);
		else
			ret = judge(&t, code, f);
	}
	curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, NULL);
	curl_easy_setopt(http->curl, CURLOPT_ERRORBUFFER, NULL);
	curl_slist_free_all(headers);
	return ret;
}

int hub_http_get(struct hub_http *http, struct hub_get *get, struct fault *f)
{
	char *url = mem_strdup(get->url), *next;
	bool token = http->settings->token;
	int hops, ret;

	for (hops = 0;; hops++) {
		ret = hop(http, get, url, token, &next, f);
		free(url);
		url = next;
		if (!url)
			return ret;
		if (!is_allowed(http->settings, url)) {
			free(url);
			fault_set(f, EPERM, "%s sent us to an address that is not https://",
				  get->question->host);
			return CTL_FAILED;
		}
		if (hops == REDIRECTS_MAX)
			break;
		/* somebody else is asked now, who is not told who asks */
		token = token && same_origin(get->url, url);
	}
	free(url);
	fault_set(f, ELOOP, "%s sent us on more than %d times", get->question->host,
		  REDIRECTS_MAX);
	return CTL_FAILED;
}

int hub_http_open(struct hub_http *http, const struct hub_settings *settings,
		  const char *certificates, struct fault *f)
{
	const char *protocols = settings->loopback && !strncmp(settings->endpoint, "http:", 5)
				? "http,https" : "https";
	CURL *curl;

	memset(http, 0, sizeof(*http));
	http->settings = settings;
	http->deadline = text_monotonic() + settings->timeout_ms;
	if (!curl_global_init(CURL_GLOBAL_DEFAULT))
		http->curl = curl_easy_init();
	curl = http->curl;
	if (!curl || curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, protocols) ||
	    curl_easy_setopt(curl, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2) ||
	    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L) ||
	    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L) ||
	    (certificates && (curl_easy_setopt(curl, CURLOPT_CAINFO, certificates) ||
			      curl_easy_setopt(curl, CURLOPT_CAPATH, NULL)))) {
		fault_set(f, EIO, "libcurl of this system cannot be used: TLS 1.2 is needed");
		return CTL_FAILED;
	}
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(curl, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "gpuctl/" GPUCTL_VERSION);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)SPEED_MIN);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)SPEED_TIME);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, header_came);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, body_came);
	return CTL_DONE;
}

void hub_http_close(struct hub_http *http)
{
	curl_easy_cleanup(http->curl);
	curl_global_cleanup();
}
