// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: pages of servers on this host
 *
 * Without TLS nothing is said about who answers, so only this host is asked: a loopback address, by
 * what the name stands for, or a socket.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "probe/page.h"
#include "web/http.h"

#define TIMEOUT_MS 4000
#define PAGE_BYTES (8u << 20)
#define OK 200

static size_t page_data(void *arg, const char *data, size_t n)
{
	struct text *page = arg;
	size_t i;

	if (page->len + n > PAGE_BYTES)
		return 0;
	page->text = mem_grow(page->text, page->len + n + 1, 1);
	/* A NUL would end the text for whoever reads it. */
	for (i = 0; i < n; i++)
		page->text[page->len++] = data[i] ? data[i] : ' ';
	page->text[page->len] = '\0';
	return n;
}

static void page_header(void *arg, const char *line, size_t n)
{
	(void)arg;
	(void)line;
	(void)n;
}

/* libcurl asks before it connects; another host is refused there, whatever its name was. */
static curl_socket_t page_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *to)
{
	const struct sockaddr *addr = &to->addr;
	const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)addr;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)addr;
	bool here = addr->sa_family == AF_UNIX;

	(void)purpose;
	if (addr->sa_family == AF_INET)
		here = ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	if (addr->sa_family == AF_INET6)
		here = IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
	*(bool *)arg = !here;
	return here ? socket(to->family, to->socktype, to->protocol) : CURL_SOCKET_BAD;
}

static int page_ask(struct web *web, const char *url, struct text *page, struct fault *f)
{
	struct web_request request = {
		.url = url,
		.header = page_header,
		.data = page_data,
		.arg = page,
	};
	bool elsewhere = false;
	long status = 0;
	enum web_end end;

	curl_easy_setopt(web->curl, CURLOPT_PROXY, "");
	curl_easy_setopt(web->curl, CURLOPT_OPENSOCKETFUNCTION, page_socket);
	curl_easy_setopt(web->curl, CURLOPT_OPENSOCKETDATA, &elsewhere);
	end = web_send(web, &request);
	curl_easy_getinfo(web->curl, CURLINFO_RESPONSE_CODE, &status);
	if (elsewhere)
		return fault_set(f, EPERM, "%.200s is not on this host", url);
	if (end == WEB_ENDED)
		return fault_set(f, EFBIG, "the page has more than %u MiB", PAGE_BYTES >> 20);
	if (end != WEB_ANSWERED)
		return fault_set(f, EIO, "%.200s", request.why);
	if (status != OK)
		return fault_set(f, EIO, "the server answers with status %ld", status);
	return 0;
}

/* unix:SOCKET:/PATH as the socket, and a URL for what is asked there. */
static char *page_split(const char *address, char **path)
{
	const char *from = address + strlen("unix:"), *colon = strchr(from, ':');

	*path = NULL;
	if (strncmp(address, "unix:", 5))
		return mem_strdup(address);
	if (!colon || colon[1] != '/')
		return NULL;
	*path = mem_printf("%.*s", (int)(colon - from), from);
	return mem_printf("http://localhost%s", colon + 1);
}

char *page_read(const char *address, struct fault *f)
{
	const struct web_tls tls = { .plain = true };
	char *path = NULL, *url = page_split(address, &path);
	struct text page = { 0 };
	struct web web = { 0 };
	int err;

	if (!url) {
		fault_set(f, EINVAL, "%.200s: write unix:SOCKET:/PATH", address);
		return NULL;
	}
	err = web_open(&web, &tls, TIMEOUT_MS, f);
	if (!err && path)
		curl_easy_setopt(web.curl, CURLOPT_UNIX_SOCKET_PATH, path);
	text_add(&page, "%s", "");
	if (!err)
		err = page_ask(&web, url, &page, f);
	web_close(&web);
	free(path);
	free(url);
	if (!err)
		return page.text;
	free(page.text);
	return NULL;
}
