// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: requests to a fabric manager
 *
 * All go to the origin of the configuration: paths that the manager sends lead nowhere else, and
 * a redirection to another host is refused. A request that changes something has a connection
 * of its own, since libcurl would send it a second time on one that turns out to be dead. Keys
 * that stand in the configuration are files in memory for libcurl, and nothing is written
 * elsewhere.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/ctl.h"
#include "driver/client.h"
#include "driver/doc.h"
#include "web/header.h"

#define BYTES_MAX (64ull << 20)
#define REQUESTS_MAX 20000
#define REDIRECTS_MAX 3
/* Busy managers say when to come back; without a word this long. */
#define RETRY_MS 1000
#define RETRY_MAX 50
#define GOODBYE_MS 2000
#define WAIT_STEP_MS 200

/* One request and its answer as it comes. */
struct transfer {
	struct client *client;
	struct answer *answer;
	struct text body;
	char *token;
	char *location;
	bool excess;
};

static atomic_int told;

static void take_signal(int signal)
{
	(void)signal;
	told = 1;
}

void client_catch_signals(void)
{
	struct sigaction action = { .sa_handler = take_signal };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

bool client_told(void)
{
	return told;
}

void client_insist(struct client *client, uint64_t ms)
{
	client->web.stop = NULL;
	client->web.deadline = text_monotonic() + ms;
}

static int manager_fault(const struct client *client, int ret, struct fault *f)
{
	fault_prefix(f, "fabric manager %s", client->conf->name);
	return ret;
}

int client_wait(struct client *client, uint64_t ms, struct fault *f)
{
	uint64_t now = text_monotonic(), end = now + ms;

	if (end >= client->web.deadline) {
		fault_set(f, ETIMEDOUT, "it is busy, and the time limit has passed");
		return manager_fault(client, CTL_TIMEOUT, f);
	}
	for (; now < end; now = text_monotonic()) {
		if (client->web.stop && client->web.stop()) {
			fault_set(f, EINTR, "interrupted");
			return manager_fault(client, CTL_FAILED, f);
		}
		/* A signal between the look and the wait costs no more than a step. */
		poll(NULL, 0, (int)(end - now < WAIT_STEP_MS ? end - now : WAIT_STEP_MS));
	}
	return CTL_DONE;
}

/* "12" seconds; a date is no number, and is taken for some time. */
static uint64_t retry_of(const char *value)
{
	uint64_t seconds;

	return text_number(value, 86400, &seconds) ? seconds * 1000 : RETRY_MS;
}

static void header_came(void *arg, const char *line, size_t n)
{
	struct transfer *t = arg;
	char text[WEB_HEADER_MAX];
	const char *value;
	long status;

	web_header_line(text, line, n);
	status = web_header_status(text);
	if (status >= 0) {
		t->answer->status = status;
		return;
	}
	value = web_header_value(text, "ETag");
	if (value && strlen(value) < CLIENT_ETAG_MAX)
		strcpy(t->answer->etag, value);
	value = web_header_value(text, "Retry-After");
	if (value)
		t->answer->retry_ms = retry_of(value);
	value = web_header_value(text, "Location");
	if (value) {
		free(t->location);
		t->location = mem_strdup(value);
	}
	value = web_header_value(text, "X-Auth-Token");
	if (value) {
		free(t->token);
		t->token = mem_strdup(value);
	}
}

static size_t data_came(void *arg, const char *data, size_t n)
{
	struct transfer *t = arg;

	t->client->bytes += n;
	t->excess = t->body.len + n > DOC_MAX || t->client->bytes > BYTES_MAX;
	if (t->excess)
		return 0;
	t->body.text = mem_grow(t->body.text, t->body.len + n + 1, 1);
	memcpy(t->body.text + t->body.len, data, n);
	t->body.len += n;
	t->body.text[t->body.len] = '\0';
	return n;
}

/* The path that a URL has at our manager; NULL for another host. The caller frees. */
static char *path_of(const struct client *client, const char *url)
{
	const char *path = url;

	if (*url != '/') {
		if (!web_same_origin(url, client->conf->url))
			return NULL;
		/* Behind the host, however it is written. */
		path = strstr(url, "://");
		path = path ? strchr(path + 3, '/') : NULL;
	}
	if (!path || !client->dialect->is_path || !client->dialect->is_path(path))
		return NULL;
	return mem_strdup(path);
}

static struct curl_slist *add_header(struct curl_slist *list, const char *name, const char *value)
{
	char *line = mem_printf("%s: %s", name, value);

	list = curl_slist_append(list, line);
	explicit_bzero(line, strlen(line));
	free(line);
	return list;
}

static struct curl_slist *headers_of(const struct client *client, const char *etag,
				     const char *body)
{
	struct curl_slist *list = add_header(NULL, "Accept", "application/json");

	if (client->dialect->header)
		list = curl_slist_append(list, client->dialect->header);
	if (client->token)
		list = add_header(list, "X-Auth-Token", client->token);
	if (etag && *etag)
		list = add_header(list, "If-Match", etag);
	if (body) {
		list = add_header(list, "Content-Type", "application/json");
		list = curl_slist_append(list, "Expect:");
	}
	return list;
}

static int words_for(const struct client *client, const struct transfer *t, enum web_end end,
		     const char *why, struct fault *f)
{
	const char *url = client->conf->url;

	if (t->excess) {
		fault_set(f, EFBIG, "%s sent more than %u MiB", url, DOC_MAX >> 20);
		return manager_fault(client, CTL_FAILED, f);
	}
	switch (end) {
	case WEB_LATE:
		fault_set(f, ETIMEDOUT, "%s does not answer in time: timeout in %s", url,
			  client->conf->file);
		return manager_fault(client, CTL_TIMEOUT, f);
	case WEB_STOPPED:
		fault_set(f, EINTR, "interrupted");
		return manager_fault(client, CTL_FAILED, f);
	case WEB_TOO_MANY:
		fault_set(f, EFBIG, "more than %d requests", REQUESTS_MAX);
		return manager_fault(client, CTL_FAILED, f);
	case WEB_UNREACHABLE:
		fault_set(f, EHOSTUNREACH, "cannot reach %s (%s)", url, why);
		return manager_fault(client, CTL_FAILED, f);
	case WEB_STRANGER:
		fault_set(f, EPERM, "%s has no certificate that this host trusts (%s): ca in %s",
			  url, why, client->conf->file);
		return manager_fault(client, CTL_DENIED, f);
	default:
		fault_set(f, EIO, "the connection to %s failed (%s)", url, why);
		return manager_fault(client, CTL_FAILED, f);
	}
}

/* What came becomes JSON, where it is any. */
static int take_body(struct client *client, struct transfer *t, const char *path, struct fault *f)
{
	if (!t->body.len)
		return CTL_DONE;
	t->answer->body = doc_parse(t->body.text, t->body.len, f);
	/* The text of a refusal is of no more use than its status. */
	if (t->answer->body || t->answer->status >= 400 || t->answer->status / 100 == 3)
		return CTL_DONE;
	fault_prefix(f, "%s: the answer is", path);
	return manager_fault(client, CTL_FAILED, f);
}

/* One hop. */
static int send_once(struct client *client, const char *method, const char *path, const char *etag,
		     const char *body, struct transfer *t, struct fault *f)
{
	char *url = mem_printf("%s%s", client->conf->url, path);
	struct web_request request = {
		.url = url,
		.method = method,
		.body = body,
		.fresh = !!method,
		.headers = headers_of(client, etag, body),
		.header = header_came,
		.data = data_came,
		.arg = t,
	};
	enum web_end end = web_send(&client->web, &request);
	int ret;

	curl_slist_free_all(request.headers);
	free(url);
	if (end == WEB_ANSWERED) {
		t->answer->location = t->location ? path_of(client, t->location) : NULL;
		ret = take_body(client, t, path, f);
		/* It was answered, but by what nobody can read. */
		t->answer->lost = ret && method;
		return ret;
	}
	t->answer->status = 0;
	t->answer->lost = method && web_was_sent(&client->web, end);
	return words_for(client, t, end, request.why, f);
}

void answer_free(struct answer *answer)
{
	json_object_put(answer->body);
	free(answer->location);
	memset(answer, 0, sizeof(*answer));
}

static void transfer_free(struct transfer *t)
{
	free(t->body.text);
	free(t->location);
	if (t->token)
		explicit_bzero(t->token, strlen(t->token));
	free(t->token);
}

static void session_drop(struct client *client)
{
	if (client->token)
		explicit_bzero(client->token, strlen(client->token));
	free(client->token);
	free(client->session);
	client->token = NULL;
	client->session = NULL;
}

int client_refused(const struct client *client, const char *what, const struct answer *answer,
		   struct fault *f)
{
	char *said = client->dialect->complaint(answer->body);
	int ret = CTL_FAILED;

	switch (answer->status) {
	case 401:
		fault_set(f, EPERM, "it rejects the login (401): certificate or credentials in %s",
			  client->conf->file);
		ret = CTL_DENIED;
		break;
	case 403:
		fault_set(f, EPERM, "%s: not permitted (403)", what);
		ret = CTL_DENIED;
		break;
	case 404:
		fault_set(f, ENOENT, "%s does not exist (404)", what);
		break;
	default:
		fault_set(f, EIO, "%s: status %ld", what, answer->status);
		ret = answer->status == 409 ? CTL_BUSY : CTL_FAILED;
		break;
	}
	if (*said)
		fault_add(f, ": %s", said);
	free(said);
	return manager_fault(client, ret, f);
}

static bool is_redirection(long status)
{
	return status >= 300 && status < 400;
}

static bool is_busy(const struct answer *answer)
{
	return answer->status == 503 || answer->status == 429;
}

int client_await_turn(struct client *client, const struct answer *answer, struct fault *f)
{
	char took[TEXT_QUANTITY];
	uint64_t ms = answer->retry_ms ? answer->retry_ms : RETRY_MS;
	int ret = client_wait(client, ms, f);

	if (ret != CTL_TIMEOUT)
		return ret;
	fault_set(f, ETIMEDOUT,
		  "it is busy (%ld) and says to try again in %s, which is later than the timeout in %s",
		  answer->status, text_duration(took, ms), client->conf->file);
	return manager_fault(client, ret, f);
}

/* With the password, once for a session. */
static int session_try(struct client *client, const char *body, struct answer *answer,
		       struct fault *f)
{
	struct transfer t = { .client = client, .answer = answer };
	int ret;

	answer_free(answer);
	ret = send_once(client, "POST", client->dialect->sessions, NULL, body, &t, f);
	if (ret || is_busy(answer))
		goto out;
	if (answer->status != 201 && answer->status != 200)
		ret = client_refused(client, "a session", answer, f);
	if (!ret && (!t.token || !*t.token)) {
		fault_set(f, EIO, "a session without X-Auth-Token");
		ret = manager_fault(client, CTL_FAILED, f);
	}
	if (!ret) {
		client->token = t.token;
		t.token = NULL;
		client->session = answer->location;
		answer->location = NULL;
	}
out:
	transfer_free(&t);
	return ret;
}

static int session_begin(struct client *client, struct fault *f)
{
	struct json_object *body = json_object_new_object();
	struct answer answer = { 0 };
	unsigned int tries = 0;
	int ret;

	session_drop(client);
	json_object_object_add(body, "UserName", json_object_new_string(client->login.user));
	json_object_object_add(body, "Password", json_object_new_string(client->login.password));
	do {
		ret = session_try(client, json_object_to_json_string(body), &answer, f);
		if (!ret && !client->token)
			ret = ++tries < RETRY_MAX ? client_await_turn(client, &answer, f) :
						    client_refused(client, "a session", &answer, f);
	} while (!ret && !client->token);
	answer_free(&answer);
	json_object_put(body);
	return ret;
}

static bool uses_session(const struct client *client)
{
	return client->login.user && !client->conf->basic && client->dialect->sessions;
}

/*
 * A request with all that has to be done for it to be heard. A change is not sent again after 503,
 * which a manager may say behind the change.
 */
static int client_ask(struct client *client, const char *method, const char *path, const char *etag,
		      const char *body, struct answer *answer, struct fault *f)
{
	unsigned int tries = 0;
	int ret = CTL_DONE;

	for (;;) {
		struct transfer t = { .client = client, .answer = answer };

		answer_free(answer);
		if (uses_session(client) && !client->token)
			ret = session_begin(client, f);
		if (!ret)
			ret = send_once(client, method, path, etag, body, &t, f);
		transfer_free(&t);
		if (ret)
			return ret;
		if (answer->status == 401 && uses_session(client) && !client->renewed) {
			client->renewed = true;
			session_drop(client);
		} else if (is_busy(answer) && !(method && answer->status == 503) &&
			   ++tries < RETRY_MAX) {
			ret = client_await_turn(client, answer, f);
			if (ret)
				return ret;
		} else {
			return CTL_DONE;
		}
	}
}

/* What a redirection leads to; NULL with a reason. */
static char *follow(struct client *client, const struct answer *answer, struct fault *f)
{
	if (answer->location)
		return mem_strdup(answer->location);
	fault_set(f, EPERM, "it redirects to another host (%ld), which gpuctl does not use",
		  answer->status);
	manager_fault(client, CTL_FAILED, f);
	return NULL;
}

int client_get(struct client *client, const char *path, bool *missing, struct answer *answer,
	       struct fault *f)
{
	char *at = mem_strdup(path), *next;
	int hops = 0, ret;

	if (missing)
		*missing = false;
	for (;;) {
		ret = client_ask(client, NULL, at, NULL, NULL, answer, f);
		if (ret || !is_redirection(answer->status))
			break;
		next = follow(client, answer, f);
		ret = next ? CTL_DONE : CTL_FAILED;
		if (next && ++hops > REDIRECTS_MAX) {
			fault_set(f, ELOOP, "%s: more than %d redirections", path, REDIRECTS_MAX);
			ret = manager_fault(client, CTL_FAILED, f);
		}
		free(at);
		at = next;
		if (ret)
			break;
	}
	if (!ret && answer->status == 404 && missing)
		*missing = true;
	else if (!ret && (answer->status != 200 || !answer->body))
		ret = client_refused(client, path, answer, f);
	free(at);
	return ret;
}

int client_change(struct client *client, const char *method, const char *path, const char *etag,
		  struct json_object *body, struct answer *answer, struct fault *f)
{
	int ret =
		client_ask(client, method, path, etag, json_object_to_json_string(body), answer, f);

	if (!ret && is_redirection(answer->status)) {
		fault_set(f, EPERM, "%s: it redirects a change (%ld), which gpuctl does not follow",
			  path, answer->status);
		ret = manager_fault(client, CTL_FAILED, f);
	}
	return ret;
}

/* A file for libcurl of what is given as a file or as text; NULL for nothing. The caller frees. */
static char *secret_path(const struct manager_secret *secret, int *fd)
{
	size_t len = secret->pem ? strlen(secret->pem) : 0;

	if (secret->file)
		return mem_strdup(secret->file);
	if (!secret->pem)
		return NULL;
	*fd = memfd_create("pem", MFD_CLOEXEC);
	if (*fd < 0 || write(*fd, secret->pem, len) != (ssize_t)len)
		return mem_strdup("/nonexistent");
	return mem_printf("/proc/self/fd/%d", *fd);
}

int client_open(struct client *client, const struct manager_conf *conf,
		const struct client_dialect *dialect, uint64_t timeout_ms, struct fault *f)
{
	char *authorities, *certificate, *key;
	struct web_tls tls;
	int ret = CTL_DONE, err = 0;

	memset(client, 0, sizeof(*client));
	client->conf = conf;
	client->dialect = dialect;
	memset(client->files, -1, sizeof(client->files));
	authorities = secret_path(&conf->authorities, &client->files[0]);
	certificate = secret_path(&conf->certificate, &client->files[1]);
	key = secret_path(&conf->key, &client->files[2]);
	tls = (struct web_tls){ authorities, certificate, key, false };
	if (conf->credentials)
		err = manager_login_read(conf->credentials, &client->login, f);
	if (err)
		ret = err == -EPERM ? CTL_DENIED : CTL_FAILED;
	if (!ret && web_open(&client->web, &tls, timeout_ms, f))
		ret = CTL_FAILED;
	if (!ret) {
		client->web.requests_max = REQUESTS_MAX;
		client->web.stop = client_told;
		/* Managers are on the host's own network. */
		curl_easy_setopt(client->web.curl, CURLOPT_PROXY, "");
	}
	if (!ret && client->login.user && !uses_session(client)) {
		curl_easy_setopt(client->web.curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		curl_easy_setopt(client->web.curl, CURLOPT_USERNAME, client->login.user);
		curl_easy_setopt(client->web.curl, CURLOPT_PASSWORD, client->login.password);
	}
	free(authorities);
	free(certificate);
	free(key);
	return ret;
}

void client_close(struct client *client)
{
	struct answer answer = { 0 };
	struct transfer t = { .client = client, .answer = &answer };
	struct fault ignored = { "" };
	size_t i;

	if (client->session && client->web.curl) {
		client_insist(client, GOODBYE_MS);
		send_once(client, "DELETE", client->session, NULL, NULL, &t, &ignored);
		transfer_free(&t);
		answer_free(&answer);
	}
	session_drop(client);
	manager_login_free(&client->login);
	if (client->web.curl)
		web_close(&client->web);
	for (i = 0; i < 3; i++)
		if (client->files[i] >= 0)
			close(client->files[i]);
}
