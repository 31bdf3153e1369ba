// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the transport
 *
 * A few threads serve all connections, so nothing in them may wait: a request whose password has
 * to be hashed, or whose task is under way, is suspended, and resumed by who has done it. What a
 * client can make the manager keep is bounded: connections in all and by address, headers, the
 * body, and the time until a request is complete, however it dribbles.
 *
 * Order of locks: hold, then the manager's lock, or the one for the queue; not both of these.
 */
#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "fm/body.h"
#include "fm/form.h"
#include "fm/http.h"
#include "fm/journal.h"
#include "fm/metadata.h"
#include "fm/page.h"
#include "fm/peers.h"
#include "fm/query.h"
#include "fm/stream.h"
#include "fm/tls.h"

#define THREADS 4
/* How long the end waits for clients that do not read their answers. */
#define ANSWER_S 3
#define HEADERS_MAX 32768
#define QUEUE_MAX 64
#define METADATA SERVICE_ROOT "/$metadata"
#define SERVER_FLAGS                                                                               \
	(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL | MHD_USE_TLS |                           \
	 MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG)

enum request_state {
	REQUEST_READING,
	REQUEST_HASHING, /* in the queue */
	REQUEST_HASHED,
	REQUEST_PARKED, /* its task is under way */
	REQUEST_RESUMED,
};

/**
 * struct request - one request
 * @user: to be looked at, with @password; owned
 * @next: in the queue, or among those that are parked
 * @parked_ms: since when
 */
struct request {
	struct http *http;
	struct MHD_Connection *connection;
	enum request_state state;
	char *method, *path, *parts;
	char *body;
	size_t length;
	bool too_big;
	struct query query;
	struct ask ask;
	struct answer answer;
	const struct resource *resource;
	char *user, *password;
	enum access_verdict verdict;
	unsigned int wait_s;
	struct request *next;
	uint64_t parked_ms;
	bool late;
};

/**
 * struct http - all of it
 * @hold: held shared by whoever uses @service
 * @parked: requests that wait for a task; covered by the manager's lock
 * @queue_lock: covers @queue, @queued, @ending
 */
struct http {
	struct service *service;
	struct MHD_Daemon *daemon;
	char address[ACCESS_ADDRESS + 16];
	pthread_rwlock_t hold;
	struct request *parked;
	struct peers peers;
	char *metadata, *policy;
	pthread_mutex_t queue_lock;
	pthread_cond_t queue_changed;
	struct request *queue, **queue_end;
	size_t queued;
	bool ending;
	pthread_t hasher;
};

static const char *header(struct request *r, const char *name)
{
	return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

static struct request *request_new(struct http *http, struct MHD_Connection *connection,
				   const char *path, const char *method)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	struct request *r = mem_zalloc(1, sizeof(*r));
	size_t len;

	r->http = http;
	r->connection = connection;
	r->method = mem_printf("%.20s", method);
	r->path = mem_printf("%.*s", FORM_PATH_MAX + 1, path);
	len = strlen(r->path);
	while (len > 1 && r->path[len - 1] == '/')
		r->path[--len] = '\0';
	r->parts = mem_zalloc(len + 1, 1);
	r->ask = (struct ask){
		.method = r->method, .path = r->path, .query = &r->query, .waiter = r
	};
	if (info)
		peers_address(info->client_addr, r->ask.address, sizeof(r->ask.address));
	return r;
}

static void request_free(struct request *r)
{
	if (r->password)
		explicit_bzero(r->password, strlen(r->password));
	if (r->body)
		explicit_bzero(r->body, r->length);
	answer_free(&r->answer);
	query_free(&r->query);
	json_object_put(r->ask.remarks);
	json_object_put(r->ask.reply);
	free(r->method);
	free(r->path);
	free(r->parts);
	free(r->body);
	free(r->user);
	free(r->password);
	free(r);
}

/* --- answers ------------------------------------------------------------------ */

static void add_header(struct MHD_Response *response, const char *name, const char *value)
{
	if (value)
		MHD_add_response_header(response, name, value);
}

/* Of every answer. */
static void add_headers(struct MHD_Response *response)
{
	add_header(response, "OData-Version", "4.0");
	add_header(response, "Cache-Control", "no-store");
	add_header(response, "Server", "gpufabric-fm");
	add_header(response, "X-Content-Type-Options", "nosniff");
}

static bool is_read(const struct request *r)
{
	return form_reads(r->method);
}

/* What the client has already. The tag says nothing of resources that are expanded. */
static bool is_known(struct request *r)
{
	const char *none = header(r, "If-None-Match");

	return r->answer.status == 200 && *r->answer.etag && none && !r->query.given &&
	       answer_tag_matches(none, r->answer.etag) && is_read(r);
}

static const char *answer_text(const struct answer *a)
{
	const int flags = JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE;

	if (a->body)
		return json_object_to_json_string_ext(a->body, flags);
	return a->text ? a->text : "";
}

static enum MHD_Result reply(struct request *r)
{
	const struct answer *a = &r->answer;
	const char *text = answer_text(a);
	bool same = is_known(r), some = *text;
	size_t length = same ? 0 : strlen(text);
	struct MHD_Response *response =
		MHD_create_response_from_buffer(length, (void *)text, MHD_RESPMEM_MUST_COPY);
	char number[16], link[160];
	enum MHD_Result ret;

	if (!response)
		return MHD_NO;
	if (is_read(r) && a->status == 200 && answer_schema(a->body, link, sizeof(link)))
		add_header(response, "Link", link);
	/* The text is the response's now: a reader who takes his time holds that alone. */
	json_object_put(r->answer.body);
	r->answer.body = NULL;
	json_object_put(r->ask.remarks);
	r->ask.remarks = NULL;
	json_object_put(r->ask.reply);
	r->ask.reply = NULL;
	add_headers(response);
	if (some)
		add_header(response, "Content-Type",
			   a->type ? a->type : "application/json;charset=utf-8");
	add_header(response, "ETag", *a->etag ? a->etag : NULL);
	add_header(response, "Location", a->location);
	add_header(response, "Allow", a->allow);
	add_header(response, "X-Auth-Token", a->token);
	add_header(response, "Content-Security-Policy", a->policy);
	add_header(response, "X-Account", a->account);
	add_header(response, "WWW-Authenticate",
		   a->challenge ? "Basic realm=\"gpufabric-fm\", charset=\"UTF-8\"" : NULL);
	if (a->retry_s) {
		snprintf(number, sizeof(number), "%u", a->retry_s);
		add_header(response, "Retry-After", number);
	}
	add_header(response, "Connection", r->too_big ? "close" : NULL);
	ret = MHD_queue_response(r->connection, same ? 304 : a->status, response);
	MHD_destroy_response(response);
	return ret;
}

/* The document with its tag in it; that of the versions has these alone. */
static enum MHD_Result reply_document(struct request *r)
{
	if (*r->answer.etag && json_object_object_get_ex(r->answer.body, "@odata.id", NULL))
		document_text(r->answer.body, "@odata.etag", r->answer.etag);
	return reply(r);
}

static enum MHD_Result refuse_login(struct request *r, const char *why)
{
	answer_refuse(&r->answer, 401, "NoValidSession", NULL, NULL, "%s", why);
	/* A browser would ask by a dialog of its own; our page asks itself. */
	r->answer.challenge = !header(r, "X-Requested-With");
	return reply(r);
}

static enum MHD_Result refuse_busy(struct request *r, const char *seconds, const char *why)
{
	answer_refuse(&r->answer, 503, "ServiceTemporarilyUnavailable", NULL, seconds, "%s", why);
	r->answer.retry_s = (unsigned int)atoi(seconds);
	return reply(r);
}

/* --- tasks that are waited for ------------------------------------------------ */

/* Manager's lock held. */
static void request_park(void *waiter)
{
	struct request *r = waiter;

	r->state = REQUEST_PARKED;
	r->parked_ms = text_monotonic();
	r->next = r->http->parked;
	r->http->parked = r;
	MHD_suspend_connection(r->connection);
}

/* Manager's lock held. */
void http_told(void *waiter)
{
	struct request *r = waiter, **at = &r->http->parked;

	while (*at && *at != r)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = r->next;
	r->state = REQUEST_RESUMED;
	MHD_resume_connection(r->connection);
}

static void parked_late(struct http *http, bool all)
{
	struct manager *m = http->service->manager;
	struct request *r, *next;
	struct task *task;
	uint64_t now = text_monotonic();

	pthread_mutex_lock(&m->lock);
	for (r = http->parked; r; r = next) {
		next = r->next;
		/* One may have been parked after the time was read. */
		if (!all && now < r->parked_ms + http->service->config->task_ms)
			continue;
		task = manager_task(m, r->ask.task);
		if (task)
			task->waiter = NULL;
		r->late = true;
		http_told(r);
	}
	pthread_mutex_unlock(&m->lock);
}

/* --- who asks ------------------------------------------------------------------ */

static void request_check_login(struct request *r)
{
	pthread_rwlock_rdlock(&r->http->hold);
	r->verdict = access_check(r->http->service->access, r->user, r->password, r->ask.address,
				  &r->ask.who, &r->wait_s);
	pthread_rwlock_unlock(&r->http->hold);
}

/* At the end those that are left are refused: a hash takes long. */
static void *hasher_main(void *arg)
{
	struct http *http = arg;
	struct request *r;

	pthread_mutex_lock(&http->queue_lock);
	while (!http->ending || http->queue) {
		r = http->queue;
		if (!r) {
			pthread_cond_wait(&http->queue_changed, &http->queue_lock);
			continue;
		}
		http->queue = r->next;
		if (!http->queue)
			http->queue_end = &http->queue;
		http->queued--;
		r->late = http->ending;
		pthread_mutex_unlock(&http->queue_lock);
		if (!r->late)
			request_check_login(r);
		pthread_mutex_lock(&http->queue_lock);
		r->state = REQUEST_HASHED;
		MHD_resume_connection(r->connection);
	}
	pthread_mutex_unlock(&http->queue_lock);
	return NULL;
}

static enum MHD_Result request_hash(struct request *r)
{
	struct http *http = r->http;
	bool full;

	pthread_mutex_lock(&http->queue_lock);
	full = http->queued >= QUEUE_MAX || http->ending;
	if (!full) {
		r->state = REQUEST_HASHING;
		r->next = NULL;
		*http->queue_end = r;
		http->queue_end = &r->next;
		http->queued++;
		MHD_suspend_connection(r->connection);
		pthread_cond_signal(&http->queue_changed);
	}
	pthread_mutex_unlock(&http->queue_lock);
	return full ? refuse_busy(r, "1", "too many logins at once") : MHD_YES;
}

/* By its certificate: a host, or a user who has a password, too. */
static bool who_by_certificate(struct request *r)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	struct service *s = r->http->service;
	struct account *accounts;
	char name[TLS_NAME_MAX + 1];
	enum tls_kind kind;
	size_t i, n;

	kind = info ? tls_peer((gnutls_session_t)info->tls_session, name) : TLS_NOBODY;
	if (kind == TLS_NOBODY)
		return false;
	for (i = 0; i < s->config->host_count; i++) {
		if (strcmp(s->config->hosts[i].name, name))
			continue;
		if (kind != TLS_HOST)
			return false;
		strcpy(r->ask.who.name, name);
		r->ask.who.role = ROLE_HOST;
		return true;
	}
	if (kind != TLS_USER)
		return false;
	n = access_accounts(s->access, &accounts);
	for (i = 0; i < n; i++)
		if (!strcmp(accounts[i].name, name))
			r->ask.who = accounts[i];
	free(accounts);
	return r->ask.who.role != ROLE_NONE;
}

static bool read_basic(struct request *r)
{
	char *password = NULL,
	     *user = MHD_basic_auth_get_username_password(r->connection, &password);
	bool good = user && password && strlen(user) <= ACCOUNT_NAME_MAX &&
		    strlen(password) <= ACCOUNT_PASSWORD_MAX;

	if (good) {
		r->user = mem_strdup(user);
		r->password = mem_strdup(password);
	}
	if (password)
		explicit_bzero(password, strlen(password));
	MHD_free(user);
	MHD_free(password);
	return good;
}

static enum MHD_Result request_go_on(struct request *r);

/* What the client says of itself counts more than its certificate. */
static enum MHD_Result request_who(struct request *r)
{
	const char *token = header(r, "X-Auth-Token");
	struct access_session session;

	if (r->resource && !strcmp(r->method, "POST") && r->resource->change == session_create) {
		struct body_login login;

		if (!body_read_login(r->body ? r->body : "", r->length, &login, &r->answer)) {
			body_free_login(&login);
			return reply(r);
		}
		r->user = login.user;
		r->password = login.password;
		return request_hash(r);
	}
	if (token) {
		if (!access_use(r->http->service->access, token, &session))
			return refuse_login(r, "the session is not valid, or has timed out");
		r->ask.who = session.account;
		r->ask.session = session.id;
		explicit_bzero(&session, sizeof(session));
		return request_go_on(r);
	}
	if (header(r, "Authorization")) {
		if (!read_basic(r))
			return refuse_login(r, "these are not credentials of basic authentication");
		if (access_is_known(r->http->service->access, r->user, r->password, &r->ask.who))
			return request_go_on(r);
		return request_hash(r);
	}
	if (who_by_certificate(r))
		return request_go_on(r);
	return refuse_login(r,
			    "the client is not authenticated: use a certificate, a session or a password");
}

static enum MHD_Result request_hashed(struct request *r)
{
	if (r->late)
		return refuse_busy(r, "1", "the manager ends");
	if (r->verdict == ACCESS_WAIT) {
		answer_refuse(&r->answer, 429, "ServiceTemporarilyUnavailable", NULL, NULL,
			      "too many wrong logins: wait for %u s", r->wait_s);
		r->answer.retry_s = r->wait_s;
		return reply(r);
	}
	if (r->verdict != ACCESS_GOOD)
		return refuse_login(r, "user or password is wrong");
	return request_go_on(r);
}

/* --- requests ------------------------------------------------------------------- */

static enum MHD_Result take_parameter(void *arg, enum MHD_ValueKind kind, const char *key,
				      const char *value)
{
	struct request *r = arg;

	(void)kind;
	return !key || query_take(&r->query, key, value, &r->answer) ? MHD_YES : MHD_NO;
}

/* Of a request that reads; what no resource answers has no parameters. */
static void request_query(struct request *r)
{
	MHD_get_connection_values(r->connection, MHD_GET_ARGUMENT_KIND, take_parameter, r);
	if (r->answer.status || !r->query.given)
		return;
	if (!is_read(r))
		answer_refuse(&r->answer, 400, "QueryNotSupportedOnOperation", NULL, NULL,
			      "query parameters with $ are for GET alone");
	else if (strncmp(r->path, SERVICE_ROOT, strlen(SERVICE_ROOT)) || !strcmp(r->path, METADATA))
		answer_refuse(&r->answer, 400, "QueryNotSupportedOnResource", NULL, NULL,
			      "%.200s has no query parameters with $", r->path);
}

/* What is wrong whoever asks; the status of the answer is 0 when nothing is. */
static void request_check(struct request *r)
{
	const struct form form = {
		.method = r->method,
		.path = r->path,
		.version = header(r, "OData-Version"),
		.origin = header(r, "Origin"),
		.host = header(r, "Host"),
		.type = header(r, "Content-Type"),
		.has_body = r->length,
		.too_big = r->too_big,
	};

	form_check(&form, &r->answer);
	if (!r->answer.status)
		request_query(r);
}

/* There is nothing secret in it. Whom a certificate shows is said, so that the page need not try. */
static enum MHD_Result reply_page(struct request *r)
{
	r->answer.status = 200;
	r->answer.text = mem_strdup(page_html);
	r->answer.type = "text/html;charset=utf-8";
	r->answer.policy = r->http->policy;
	if (who_by_certificate(r))
		r->answer.account = r->ask.who.name;
	return reply(r);
}

/* The request is complete. */
static enum MHD_Result request_begin(struct request *r)
{
	request_check(r);
	if (r->answer.status)
		return reply(r);
	if (!strcmp(r->path, METADATA) && is_read(r)) {
		r->answer.status = 200;
		r->answer.text = mem_strdup(r->http->metadata);
		r->answer.type = "application/xml;charset=utf-8";
		return reply(r);
	}
	if (!strcmp(r->path, "/") && is_read(r))
		return reply_page(r);
	r->resource = service_find(r->path, r->parts, &r->ask);
	/* What is open leads to what is not. */
	if (r->resource && r->resource->open && is_read(r) && !r->query.expand)
		return request_go_on(r);
	return request_who(r);
}

/* Events for as long as the client listens. */
static enum MHD_Result request_listen(struct request *r)
{
	struct listener_info who = { .who = r->ask.who, .session = r->ask.session };
	struct MHD_Response *response;
	enum MHD_Result ret;

	strcpy(who.address, r->ask.address);
	response = stream_new(r->http->service->events, &r->http->peers, r->connection, &who,
			      header(r, "Last-Event-ID"));
	if (!response)
		return refuse_busy(r, "30", "there are too many listeners");
	add_headers(response);
	add_header(response, "Content-Type", "text/event-stream");
	ret = MHD_queue_response(r->connection, 200, response);
	MHD_destroy_response(response);
	return ret;
}

static enum MHD_Result reply_metrics(struct request *r)
{
	struct manager *m = r->http->service->manager;

	pthread_mutex_lock(&m->lock);
	r->answer.text = metrics_text(&m->metrics, &m->fabric);
	pthread_mutex_unlock(&m->lock);
	r->answer.type = "text/plain; version=0.0.4; charset=utf-8";
	r->answer.status = 200;
	return reply(r);
}

/* Who asks is known. */
static enum MHD_Result request_go_on(struct request *r)
{
	enum service_end end;

	r->ask.body = r->body ? r->body : "";
	r->ask.length = r->length;
	r->ask.match = header(r, "If-Match");
	r->ask.park = request_park;
	if (!strcmp(r->path, "/metrics") && is_read(r))
		return reply_metrics(r);
	if (!r->resource) {
		answer_refuse(&r->answer, 404, "ResourceMissingAtURI", NULL, r->path,
			      "there is no resource at %.200s", r->path);
		return reply(r);
	}
	if (r->resource->get == event_stream_get && is_read(r) && !r->query.given)
		return request_listen(r);
	end = service_answer(r->http->service, r->resource, &r->ask, &r->answer);
	return end == SERVICE_WAIT ? MHD_YES : reply_document(r);
}

static enum MHD_Result request_resumed(struct request *r)
{
	service_resume(r->http->service, &r->ask, r->late, &r->answer);
	return reply_document(r);
}

static void request_take(struct request *r, const char *data, size_t size)
{
	if (r->too_big || size > BODY_MAX - r->length) {
		r->too_big = true;
		return;
	}
	if (!r->body)
		r->body = mem_zalloc(BODY_MAX, 1);
	memcpy(r->body + r->length, data, size);
	r->length += size;
}

static enum MHD_Result request_new_one(struct http *http, struct MHD_Connection *connection,
				       const char *path, const char *method, void **context)
{
	struct request *r = request_new(http, connection, path, method);
	const char *length = header(r, "Content-Length");
	uint64_t n;

	*context = r;
	if (!length || !text_number(length, UINT64_MAX, &n) || n <= BODY_MAX)
		return MHD_YES;
	r->too_big = true;
	request_check(r);
	peers_limit(&http->peers, connection, false);
	return reply(r);
}

static enum MHD_Result handle(void *arg, struct MHD_Connection *connection, const char *path,
			      const char *method, const char *version, const char *data,
			      size_t *size, void **context)
{
	struct http *http = arg;
	struct request *r = *context;
	enum MHD_Result ret;

	(void)version;
	if (!r)
		return request_new_one(http, connection, path, method, context);
	if (*size) {
		request_take(r, data, *size);
		*size = 0;
		return MHD_YES;
	}
	pthread_rwlock_rdlock(&http->hold);
	switch (r->state) {
	case REQUEST_READING:
		/* Nothing is done for one whose answer would be lost. */
		ret = peers_limit(&http->peers, connection, false) ? request_begin(r) : MHD_NO;
		break;
	case REQUEST_HASHED:
		ret = request_hashed(r);
		break;
	case REQUEST_RESUMED:
		ret = request_resumed(r);
		break;
	default:
		/* called although nobody resumed it: not yet */
		ret = MHD_YES;
	}
	pthread_rwlock_unlock(&http->hold);
	return ret;
}

static size_t unescape(void *arg, struct MHD_Connection *connection, char *text)
{
	(void)arg;
	(void)connection;
	return query_unescape(text);
}

static void completed(void *arg, struct MHD_Connection *connection, void **context,
		      enum MHD_RequestTerminationCode code)
{
	struct request *r = *context;
	struct http *http = arg;

	(void)code;
	peers_limit(&http->peers, connection, true);
	if (r)
		request_free(r);
	*context = NULL;
}

static void say_trouble(void *arg, const char *fmt, va_list args)
{
	(void)arg;
	(void)fmt;
	(void)args;
	/* of clients that break off, mostly */
}

/* --- start and end ---------------------------------------------------------------- */

/* A reload does not wait until nobody asks for anything. */
static void hold_init(pthread_rwlock_t *hold)
{
	pthread_rwlockattr_t kind;

	pthread_rwlockattr_init(&kind);
	pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(hold, &kind);
	pthread_rwlockattr_destroy(&kind);
}

struct http *http_start(struct service *service, struct fault *f)
{
	const struct config *config = service->config;
	struct http *http = mem_zalloc(1, sizeof(*http));
	int fd = peers_listen(config->listen, http->address, sizeof(http->address), f);
	const unsigned int most = config->connections < THREADS ? THREADS : config->connections;
	const struct MHD_OptionItem options[] = {
		{ MHD_OPTION_LISTEN_SOCKET, fd, NULL },
		{ MHD_OPTION_THREAD_POOL_SIZE, THREADS, NULL },
		{ MHD_OPTION_CONNECTION_LIMIT, most, NULL },
		{ MHD_OPTION_PER_IP_CONNECTION_LIMIT, config->connections_per_address, NULL },
		{ MHD_OPTION_CONNECTION_TIMEOUT, 30, NULL },
		{ MHD_OPTION_CONNECTION_MEMORY_LIMIT, HEADERS_MAX, NULL },
		{ MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)peers_notify, &http->peers },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)TLS_PRIORITIES },
		{ MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)tls_choose },
		{ MHD_OPTION_END, 0, NULL },
	};

	if (fd < 0) {
		free(http);
		return NULL;
	}
	http->service = service;
	http->queue_end = &http->queue;
	hold_init(&http->hold);
	peers_init(&http->peers, config->request_ms);
	pthread_mutex_init(&http->queue_lock, NULL);
	pthread_cond_init(&http->queue_changed, NULL);
	http->metadata = metadata_make();
	http->policy = page_policy();
	http->daemon = MHD_start_daemon(SERVER_FLAGS, 0, NULL, NULL, handle, http, MHD_OPTION_ARRAY,
					options, MHD_OPTION_EXTERNAL_LOGGER, say_trouble, NULL,
					MHD_OPTION_NOTIFY_COMPLETED, completed, http,
					MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL,
					MHD_OPTION_END);
	if (!http->daemon || pthread_create(&http->hasher, NULL, hasher_main, http)) {
		fault_set(f, EIO, "the HTTPS server does not start");
		if (http->daemon)
			MHD_stop_daemon(http->daemon);
		else
			close(fd);
		free(http);
		return NULL;
	}
	return http;
}

const char *http_address(const struct http *http)
{
	return http->address;
}

void http_hold(struct http *http)
{
	pthread_rwlock_wrlock(&http->hold);
}

void http_release(struct http *http)
{
	peers_set_time(&http->peers, http->service->config->request_ms);
	pthread_rwlock_unlock(&http->hold);
}

void http_tick(struct http *http)
{
	parked_late(http, false);
	events_tick(http->service->events, service_may_listen, http->service);
	peers_close_slow(&http->peers);
}

void http_stop(struct http *http)
{
	pthread_mutex_lock(&http->queue_lock);
	http->ending = true;
	pthread_cond_signal(&http->queue_changed);
	pthread_mutex_unlock(&http->queue_lock);
	pthread_join(http->hasher, NULL);
	parked_late(http, true);
	events_end(http->service->events);
	/* It closes connections whatever they wait for. */
	peers_await_answers(&http->peers, ANSWER_S);
	MHD_stop_daemon(http->daemon);
	pthread_rwlock_destroy(&http->hold);
	peers_free(&http->peers);
	free(http->metadata);
	free(http->policy);
	pthread_mutex_destroy(&http->queue_lock);
	pthread_cond_destroy(&http->queue_changed);
	free(http);
}
