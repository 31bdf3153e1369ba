// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DOC: requests to the API server
 *
 * Plain REST by libcurl. The server shows a certificate of the cluster's authority, we show the
 * token of our service account. Redirections lead nowhere, answers have a limit.
 */
#include <ctype.h>
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#include "dra/api.h"

#define ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"
#define ANSWER_MAX (8u << 20)
#define TOKEN_MAX 65536
#define REQUEST_MS 10000
#define WATCH_LINE_MAX (1u << 20)
/* The server is asked to end it somewhat earlier. */
#define WATCH_MS 360000

bool api_of_pod(struct api *api, struct reason *reason)
{
	const char *host = getenv("KUBERNETES_SERVICE_HOST");
	const char *port = getenv("KUBERNETES_SERVICE_PORT");

	if (!host || !*host || !port || !*port)
		return refuse(reason,
			      "KUBERNETES_SERVICE_HOST and _PORT are not set: this is not a pod, give --server");
	api->server = format(strchr(host, ':') ? "https://[%s]:%s" : "https://%s:%s", host, port);
	api->authorities = copy_of(ACCOUNT "/ca.crt");
	api->token = copy_of(ACCOUNT "/token");
	api->timeout_ms = REQUEST_MS;
	return true;
}

void api_free(struct api *api)
{
	free(api->server);
	free(api->authorities);
	free(api->token);
	memset(api, 0, sizeof(*api));
}

bool api_start(struct reason *reason)
{
	return !curl_global_init(CURL_GLOBAL_DEFAULT) || refuse(reason, "libcurl cannot be used");
}

void api_stop(void)
{
	curl_global_cleanup();
}

static size_t api_take(char *data, size_t size, size_t n, void *arg)
{
	struct buffer *buffer = arg;

	buffer_add(buffer, data, size * n);
	return buffer->full ? 0 : size * n;
}

static struct curl_slist *api_headers(const struct api *api, const char *type,
				      struct reason *reason)
{
	struct curl_slist *headers = NULL;
	char *token, *line;
	size_t n;

	token = file_read(api->token, TOKEN_MAX, reason);
	if (!token)
		return NULL;
	for (n = strlen(token); n && isspace((unsigned char)token[n - 1]);)
		token[--n] = '\0';
	if (strpbrk(token, "\r\n") || !n) {
		refuse(reason, "%s has no token", api->token);
	} else {
		line = format("Authorization: Bearer %s", token);
		headers = curl_slist_append(headers, line);
		headers = curl_slist_append(headers, "Accept: application/json");
		headers = curl_slist_append(headers, type);
		free(line);
	}
	free(token);
	return headers;
}

static void api_prepare(CURL *curl, const struct api *api, struct buffer *answer)
{
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "https");
	curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
	curl_easy_setopt(curl, CURLOPT_CAINFO, api->authorities);
	curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
	curl_easy_setopt(curl, CURLOPT_PROXY, "");
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)api->timeout_ms);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "gpufabric-dra/" DRA_VERSION);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, api_take);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
}

/* Words of a Status object, or of the code alone. */
static void api_complain(long code, const struct buffer *answer, struct reason *reason)
{
	struct reason other = { "" };
	struct json_object *status = answer->data ? json_read(answer->data, answer->len, &other) :
						    NULL;
	const char *message = json_text(status, "message");

	if (message)
		refuse(reason, "the API server refuses: %.300s", message);
	else
		refuse(reason, "the API server answers with status %ld", code);
	json_object_put(status);
}

static const char *api_failure(CURLcode failed, const struct buffer *answer, const char *why)
{
	if (answer->full || failed == CURLE_FILESIZE_EXCEEDED)
		return "more than is read";
	return *why ? why : curl_easy_strerror(failed);
}

int api_request(const struct api *api, const char *method, const char *path,
		struct json_object *body, struct json_object **answer, struct reason *reason)
{
	struct curl_slist *headers =
		api_headers(api,
			    method && !strcmp(method, "PATCH") ?
				    "Content-Type: application/merge-patch+json" :
				    "Content-Type: application/json",
			    reason);
	struct buffer buffer = { .max = ANSWER_MAX };
	char why[CURL_ERROR_SIZE] = "";
	CURL *curl = headers ? curl_easy_init() : NULL;
	struct json_object *root = NULL;
	long code = API_AWAY;
	CURLcode failed;
	char *url;

	if (!curl) {
		if (headers)
			refuse(reason, "libcurl cannot be used");
		curl_slist_free_all(headers);
		return API_AWAY;
	}
	url = format("%s%s", api->server, path);
	api_prepare(curl, api, &buffer);
	/* What says that it is too long is not waited for. */
	curl_easy_setopt(curl, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)ANSWER_MAX);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	if (body)
		curl_easy_setopt(curl, CURLOPT_COPYPOSTFIELDS,
				 json_object_to_json_string_ext(body, JSON_C_TO_STRING_PLAIN));
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
	failed = curl_easy_perform(curl);
	if (failed)
		refuse(reason, "the API server does not answer: %s",
		       api_failure(failed, &buffer, why));
	else
		curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code);
	if (!failed && (code < 200 || code > 299))
		api_complain(code, &buffer, reason);
	if (!failed && code >= 200 && code <= 299 && answer) {
		root = json_read(buffer.data ? buffer.data : "", buffer.len, reason);
		if (!root)
			code = API_AWAY;
		*answer = root;
	}
	curl_easy_cleanup(curl);
	curl_slist_free_all(headers);
	free(url);
	buffer_free(&buffer);
	return (int)code;
}

/**
 * struct watch - a request whose answer does not end
 * @pending: the beginning of a line
 */
struct watch {
	CURL *curl;
	struct curl_slist *headers;
	struct buffer pending;
	void (*line)(void *arg, const char *text, size_t len);
	void *arg;
};

static size_t watch_take(char *data, size_t size, size_t n, void *arg)
{
	struct watch *watch = arg;
	const char *start, *end;

	buffer_add(&watch->pending, data, size * n);
	if (watch->pending.full)
		return 0;
	start = watch->pending.data;
	while (start && (end = strchr(start, '\n'))) {
		watch->line(watch->arg, start, (size_t)(end - start));
		start = end + 1;
	}
	if (start && start != watch->pending.data) {
		watch->pending.len -= (size_t)(start - watch->pending.data);
		memmove(watch->pending.data, start, watch->pending.len + 1);
	}
	return size * n;
}

struct watch *api_watch(const struct api *api, const char *path,
			void (*line)(void *arg, const char *text, size_t len), void *arg,
			struct reason *reason)
{
	struct curl_slist *headers = api_headers(api, "Accept-Encoding: identity", reason);
	struct watch *watch;
	char *url;

	if (!headers)
		return NULL;
	watch = zalloc(1, sizeof(*watch));
	watch->headers = headers;
	watch->pending.max = WATCH_LINE_MAX;
	watch->line = line;
	watch->arg = arg;
	watch->curl = curl_easy_init();
	if (!watch->curl) {
		refuse(reason, "libcurl cannot be used");
		api_unwatch(watch);
		return NULL;
	}
	url = format("%s%s", api->server, path);
	api_prepare(watch->curl, api, &watch->pending);
	curl_easy_setopt(watch->curl, CURLOPT_URL, url);
	curl_easy_setopt(watch->curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(watch->curl, CURLOPT_TIMEOUT_MS, (long)WATCH_MS);
	curl_easy_setopt(watch->curl, CURLOPT_WRITEFUNCTION, watch_take);
	curl_easy_setopt(watch->curl, CURLOPT_WRITEDATA, watch);
	free(url);
	return watch;
}

void *api_watch_handle(struct watch *watch)
{
	return watch->curl;
}

void api_unwatch(struct watch *watch)
{
	if (!watch)
		return;
	if (watch->curl)
		curl_easy_cleanup(watch->curl);
	curl_slist_free_all(watch->headers);
	buffer_free(&watch->pending);
	free(watch);
}
