// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: requests
 *
 * libcurl speaks HTTP and TLS; here is what it may do: TLS 1.2 and newer, servers that can show
 * who they are, no redirection on its own, nothing beyond a deadline.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "web/http.h"

#define CONNECT_MS 20000

static size_t web_header_came(char *line, size_t size, size_t n, void *arg)
{
	const struct web_request *request = arg;

	request->header(request->arg, line, size * n);
	return size * n;
}

static size_t web_data_came(char *data, size_t size, size_t n, void *arg)
{
	const struct web_request *request = arg;

	return request->data(request->arg, data, size * n);
}

static int web_progress(void *arg, curl_off_t total, curl_off_t now, curl_off_t up_total,
			curl_off_t up)
{
	const struct web *web = arg;

	(void)total;
	(void)now;
	(void)up_total;
	(void)up;
	return web->stop && web->stop();
}

/* Files of PEM blocks. */
static bool web_set_files(CURL *curl, const struct web_tls *tls)
{
	if (tls->authorities && (curl_easy_setopt(curl, CURLOPT_CAINFO, tls->authorities) ||
				 curl_easy_setopt(curl, CURLOPT_CAPATH, NULL)))
		return false;
	return !tls->certificate || (!curl_easy_setopt(curl, CURLOPT_SSLCERT, tls->certificate) &&
				     !curl_easy_setopt(curl, CURLOPT_SSLKEY, tls->key));
}

static bool web_set_limits(struct web *web)
{
	CURL *curl = web->curl;

	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(curl, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
	curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, web_progress);
	curl_easy_setopt(curl, CURLOPT_XFERINFODATA, web);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, web_header_came);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, web_data_came);
	return !curl_easy_setopt(curl, CURLOPT_USERAGENT, "gpuctl/" GPUCTL_VERSION);
}

int web_open(struct web *web, const struct web_tls *tls, uint64_t timeout_ms, struct fault *f)
{
	CURL *curl = NULL;

	memset(web, 0, sizeof(*web));
	web->deadline = text_monotonic() + timeout_ms;
	if (!curl_global_init(CURL_GLOBAL_DEFAULT))
		curl = curl_easy_init();
	web->curl = curl;
	if (!curl ||
	    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, tls->plain ? "http,https" : "https") ||
	    curl_easy_setopt(curl, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2) ||
	    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L) ||
	    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L) || !web_set_files(curl, tls) ||
	    !web_set_limits(web))
		return fault_set(f, EIO,
				 "libcurl of this system cannot be used: TLS 1.2 is needed");
	return 0;
}

void web_close(struct web *web)
{
	if (web->curl)
		curl_easy_cleanup(web->curl);
	web->curl = NULL;
	curl_global_cleanup();
}

static enum web_end web_end_of(CURLcode code)
{
	switch (code) {
	case CURLE_OK:
		return WEB_ANSWERED;
	case CURLE_OPERATION_TIMEDOUT:
		return WEB_LATE;
	case CURLE_ABORTED_BY_CALLBACK:
		return WEB_STOPPED;
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_CONNECT:
		return WEB_UNREACHABLE;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CERTPROBLEM:
		return WEB_STRANGER;
	case CURLE_WRITE_ERROR:
		return WEB_ENDED;
	default:
		return WEB_BROKEN;
	}
}

/* What a single request is asked for; all else stays as web_open() has it. */
static void web_prepare(struct web *web, struct web_request *request, uint64_t now)
{
	CURL *curl = web->curl;

	curl_easy_setopt(curl, CURLOPT_URL, request->url);
	curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
	if (request->body) {
		curl_easy_setopt(curl, CURLOPT_POST, 1L);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)strlen(request->body));
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
	}
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
	curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, request->fresh ? 1L : 0L);
	curl_easy_setopt(curl, CURLOPT_RANGE, request->range);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, request->headers);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(web->deadline - now));
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, request);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, request);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, request->why);
}

enum web_end web_send(struct web *web, struct web_request *request)
{
	uint64_t now = text_monotonic();
	CURLcode code;

	*request->why = '\0';
	web->tried = false;
	if (now >= web->deadline)
		return WEB_LATE;
	if (web->stop && web->stop())
		return WEB_STOPPED;
	if (web->requests_max && web->requests == web->requests_max)
		return WEB_TOO_MANY;
	web->requests++;
	web->tried = true;
	web_prepare(web, request, now);
	code = curl_easy_perform(web->curl);
	if (code && !*request->why)
		strncat(request->why, curl_easy_strerror(code), CURL_ERROR_SIZE - 1);
	curl_easy_setopt(web->curl, CURLOPT_HTTPHEADER, NULL);
	curl_easy_setopt(web->curl, CURLOPT_POSTFIELDS, NULL);
	curl_easy_setopt(web->curl, CURLOPT_ERRORBUFFER, NULL);
	return web_end_of(code);
}

bool web_was_sent(const struct web *web, enum web_end end)
{
	long bytes = 0;

	if (!web->tried || end == WEB_UNREACHABLE || end == WEB_STRANGER)
		return false;
	/* Zero until the head of the request went. */
	return curl_easy_getinfo(web->curl, CURLINFO_REQUEST_SIZE, &bytes) || bytes;
}

char *web_next(const struct web *web)
{
	char *url = NULL;

	curl_easy_getinfo(web->curl, CURLINFO_REDIRECT_URL, &url);
	return url ? mem_strdup(url) : NULL;
}

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

bool web_same_origin(const char *a, const char *b)
{
	char *x = origin_of(a), *y = origin_of(b);
	bool same = x && y && !strcasecmp(x, y);

	free(x);
	free(y);
	return same;
}
