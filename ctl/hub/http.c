// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: requests
 *
 * Redirections are followed by hand: each has to be encrypted, and once one leads to another
 * origin the token stays behind. Whatever a server sends, no more of it is taken than was asked
 * for.
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
	const char *why;
};

static void header_came(void *arg, const char *line, size_t n)
{
	struct transfer *t = arg;

	hub_answer_header(&t->get->answer, line, n);
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

static size_t body_came(void *arg, const char *data, size_t n)
{
	struct transfer *t = arg;
	struct hub_get *get = t->get;
	uint64_t take = n;

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

/* To this machine, for an endpoint that is this machine. */
static bool is_here(const struct hub_settings *settings, const char *text)
{
	char *host = NULL;
	CURLU *url = curl_url();
	bool here = false;

	if (settings->loopback && url && !curl_url_set(url, CURLUPART_URL, text, 0) &&
	    !curl_url_get(url, CURLUPART_HOST, &host, 0))
		here = hub_is_loopback(host);
	curl_free(host);
	curl_url_cleanup(url);
	return here;
}

/* Encrypted, or to this machine, which alone may be asked otherwise. */
static bool is_allowed(const struct hub_settings *settings, const char *text)
{
	return !strncasecmp(text, "https:", 6) || is_here(settings, text);
}

static int words_for(const struct transfer *t, enum web_end end, struct fault *f)
{
	const char *host = t->get->question->host, *why = t->why;

	switch (end) {
	case WEB_TOO_MANY:
		fault_set(f, EFBIG, "the model takes more than %d requests", REQUESTS_MAX);
		return CTL_FAILED;
	case WEB_LATE:
		fault_set(f, ETIMEDOUT,
			  "%s is too slow, or does not answer (%s): GPUCTL_HUB_TIMEOUT=15min waits longer",
			  host, *why ? why : "the time limit has passed");
		return CTL_TIMEOUT;
	case WEB_UNREACHABLE:
		fault_set(f, EHOSTUNREACH,
			  "cannot reach %s (%s): is there a network? HF_HUB_OFFLINE=1 uses the cache",
			  host, why);
		return CTL_FAILED;
	case WEB_STRANGER:
		fault_set(f, EPERM,
			  "%s has no certificate that this host trusts (%s): SSL_CERT_FILE names a file of other authorities",
			  host, why);
		return CTL_FAILED;
	default:
		fault_set(f, EIO, "the connection to %s failed (%s): try again", host, why);
		return CTL_FAILED;
	}
}

static int judge(struct transfer *t, enum web_end end, struct fault *f)
{
	const struct hub_question *q = t->get->question;
	const char *what = q->file ? q->file : "the listing";

	if (t->err) {
		fault_set(f, -t->err, "cannot write to the cache: %s", strerror(-t->err));
		return CTL_FAILED;
	}
	if (t->excess) {
		fault_set(f, EFBIG,
			  "%s sent more bytes than a header or a config can have: reading %s has stopped",
			  q->host, what);
		return CTL_FAILED;
	}
	if (t->astray) {
		fault_set(f, EIO, "%s sent other bytes of %s than requested", q->host, what);
		return CTL_FAILED;
	}
	if (end != WEB_ANSWERED && end != WEB_ENDED)
		return words_for(t, end, f);
	if (!is_body(&t->get->answer))
		return hub_answer_refuse(&t->get->answer, q, f);
	if (t->get->n && !t->done && t->get->answer.status == 200 && !t->get->answer.sized) {
		/* its end is its size */
		t->get->answer.total = t->at;
		t->get->answer.sized = true;
	} else if (t->get->n && !t->done) {
		fault_set(f, EIO, "%s sent fewer bytes of %s than announced: try again", q->host,
			  what);
		return CTL_FAILED;
	}
	return CTL_DONE;
}

static bool is_redirection(long status)
{
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* One hop; @next is where the answer leads, NULL for an end. */
static int hop(struct hub_http *http, struct hub_get *get, const char *url, bool token, char **next,
	       struct fault *f)
{
	struct transfer t = { .http = http, .get = get, .before = http->bytes };
	struct web_request request = {
		.url = url,
		.header = header_came,
		.data = body_came,
		.arg = &t,
	};
	enum web_end end;
	char range[64];
	char *line;
	int ret = CTL_DONE;

	*next = NULL;
	if (token) {
		line = mem_printf("Authorization: Bearer %s", http->settings->token);
		request.headers = curl_slist_append(NULL, line);
		explicit_bzero(line, strlen(line));
		free(line);
	}
	snprintf(range, sizeof(range), "%llu-%llu", (unsigned long long)get->from,
		 (unsigned long long)(get->from + get->n - 1));
	request.range = get->n ? range : NULL;
	memset(&get->answer, 0, sizeof(get->answer));
	/* A proxy is another machine, which would read the token; elsewhere the environment says. */
	curl_easy_setopt(http->web.curl, CURLOPT_PROXY, is_here(http->settings, url) ? "" : NULL);
	end = web_send(&http->web, &request);
	t.why = request.why;
	if (end == WEB_ANSWERED && is_redirection(get->answer.status))
		*next = web_next(&http->web);
	if (!*next)
		ret = judge(&t, end, f);
	curl_slist_free_all(request.headers);
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
			fault_set(f, EPERM, "%s redirects to an address that is not https://",
				  get->question->host);
			return CTL_FAILED;
		}
		if (hops == REDIRECTS_MAX)
			break;
		/* somebody else is asked now, who is not told who asks */
		token = token && web_same_origin(get->url, url);
	}
	free(url);
	fault_set(f, ELOOP, "%s redirects more than %d times", get->question->host, REDIRECTS_MAX);
	return CTL_FAILED;
}

int hub_http_open(struct hub_http *http, const struct hub_settings *settings,
		  const char *certificates, struct fault *f)
{
	const struct web_tls tls = {
		.authorities = certificates,
		.plain = settings->loopback && !strncmp(settings->endpoint, "http:", 5),
	};

	memset(http, 0, sizeof(*http));
	http->settings = settings;
	if (web_open(&http->web, &tls, settings->timeout_ms, f))
		return CTL_FAILED;
	http->web.requests_max = REQUESTS_MAX;
	curl_easy_setopt(http->web.curl, CURLOPT_LOW_SPEED_LIMIT, (long)SPEED_MIN);
	curl_easy_setopt(http->web.curl, CURLOPT_LOW_SPEED_TIME, (long)SPEED_TIME);
	return CTL_DONE;
}

void hub_http_close(struct hub_http *http)
{
	web_close(&http->web);
}
