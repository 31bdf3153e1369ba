// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DOC: gRPC
 *
 * One thread takes events from the completion queue. It accepts a call, has its message received
 * and starts a thread for it; that thread answers, and the queue says when the answer went. What a
 * call has is freed when both have happened: the message was handled, and the call is over.
 *
 * The thread of a call with many answers sends one after the other, and sleeps between them until
 * there is news, the client is gone, or the server ends.
 */
#include <errno.h>
#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc_security.h>
#include <grpc/slice.h>
#include <grpc/support/time.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dra/rpc.h"

#define MESSAGE_MAX (1 << 20)
#define CALLS_MAX 64
/* For the answer's way back, if there is as much; else half of what there is. */
#define MARGIN_MS 5000

/**
 * struct rpc - the server
 * @server, @queue: of gRPC
 * @thread: takes events
 * @next: the call that is waited for
 * @lock: protects the rest, and what calls say is protected by it
 * @changed: any of it has changed; its clock is monotonic
 * @calls: number of calls with a thread
 * @news: counts what may be a further answer
 * @ending: calls with many answers end
 * @down: gRPC has no call any more; the last thread ends the queue
 */
struct rpc {
	grpc_server *server;
	grpc_completion_queue *queue;
	const struct rpc_method *methods;
	void *arg;
	pthread_t thread;
	bool started;
	struct call *next;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int calls;
	uint64_t news;
	bool ending, down;
};

enum call_step {
	CALL_ACCEPT,
	CALL_RECEIVE,
	CALL_SEND,
	CALL_ANSWER,
	CALL_OVER,
};

/* What an event of the queue is about. */
struct event {
	struct call *call;
	enum call_step step;
};

/**
 * struct call - one call
 * @events: tags of the queue, one for each step
 * @pending: steps that are to come; it is freed at 0
 * @greeted: the metadata that come first were sent
 * @sending: one of many answers is on its way; @sent: it has arrived
 * @over: nobody listens
 */
struct call {
	struct rpc *rpc;
	grpc_call *call;
	grpc_call_details details;
	grpc_metadata_array metadata;
	grpc_byte_buffer *message, *answer;
	int cancelled;
	struct event events[CALL_OVER + 1];
	atomic_int pending;
	bool greeted, sending, sent, over;
};

/* Count a thread; false if there are enough. */
static bool calls_add(struct rpc *rpc)
{
	bool good;

	pthread_mutex_lock(&rpc->lock);
	good = rpc->calls < CALLS_MAX;
	rpc->calls += good;
	pthread_mutex_unlock(&rpc->lock);
	return good;
}

/* A call whose client is gone is over for gRPC while its thread still has to answer. */
static void calls_drop(struct rpc *rpc)
{
	bool last;

	pthread_mutex_lock(&rpc->lock);
	last = !--rpc->calls && rpc->down;
	pthread_mutex_unlock(&rpc->lock);
	if (last)
		grpc_completion_queue_shutdown(rpc->queue);
}

/* gRPC has no calls any more. */
static void calls_end(struct rpc *rpc)
{
	bool last;

	pthread_mutex_lock(&rpc->lock);
	rpc->down = true;
	last = !rpc->calls;
	pthread_mutex_unlock(&rpc->lock);
	if (last)
		grpc_completion_queue_shutdown(rpc->queue);
}

static struct call *call_wait(struct rpc *rpc)
{
	struct call *call = zalloc(1, sizeof(*call));
	int i;

	call->rpc = rpc;
	for (i = 0; i <= CALL_OVER; i++)
		call->events[i] = (struct event){ call, i };
	grpc_call_details_init(&call->details);
	grpc_metadata_array_init(&call->metadata);
	grpc_server_request_call(rpc->server, &call->call, &call->details, &call->metadata,
				 rpc->queue, rpc->queue, &call->events[CALL_ACCEPT]);
	return call;
}

static void call_free(struct call *call)
{
	grpc_call_details_destroy(&call->details);
	grpc_metadata_array_destroy(&call->metadata);
	if (call->message)
		grpc_byte_buffer_destroy(call->message);
	if (call->answer)
		grpc_byte_buffer_destroy(call->answer);
	if (call->call)
		grpc_call_unref(call->call);
	free(call);
}

static void call_put(struct call *call)
{
	if (atomic_fetch_sub(&call->pending, 1) == 1)
		call_free(call);
}

static bool call_batch(struct call *call, const grpc_op *ops, size_t n, enum call_step step)
{
	if (grpc_call_start_batch(call->call, ops, n, &call->events[step], NULL) == GRPC_CALL_OK)
		return true;
	call_put(call);
	return false;
}

static grpc_op message_op(struct call *call, const struct rpc_answer *answer)
{
	grpc_slice bytes =
		grpc_slice_from_copied_buffer((const char *)answer->message, answer->len);

	if (call->answer)
		grpc_byte_buffer_destroy(call->answer);
	call->answer = grpc_raw_byte_buffer_create(&bytes, 1);
	grpc_slice_unref(bytes);
	return (grpc_op){ .op = GRPC_OP_SEND_MESSAGE,
			  .data.send_message.send_message = call->answer };
}

static void call_answer(struct call *call, const struct rpc_answer *answer)
{
	grpc_op ops[3] = { { .op = GRPC_OP_SEND_INITIAL_METADATA } };
	grpc_slice reason = grpc_slice_from_copied_string(answer->reason.text);
	size_t n = call->greeted ? 0 : 1;

	if (answer->status == GRPC_STATUS_OK)
		ops[n++] = message_op(call, answer);
	ops[n].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
	ops[n].flags = 0;
	ops[n].reserved = NULL;
	ops[n].data.send_status_from_server.trailing_metadata_count = 0;
	ops[n].data.send_status_from_server.trailing_metadata = NULL;
	ops[n].data.send_status_from_server.status = answer->status;
	ops[n].data.send_status_from_server.status_details =
		answer->status == GRPC_STATUS_OK ? NULL : &reason;
	n++;
	call_batch(call, ops, n, CALL_ANSWER);
	grpc_slice_unref(reason);
}

static const struct rpc_method *call_method(const struct call *call)
{
	const struct rpc_method *method;

	for (method = call->rpc->methods; method->path; method++)
		if (!grpc_slice_str_cmp(call->details.method, method->path))
			return method;
	return NULL;
}

/* When the client stops waiting, in our clock. */
static uint64_t call_until(const struct call *call)
{
	gpr_timespec left =
		gpr_time_sub(gpr_convert_clock_type(call->details.deadline, GPR_CLOCK_MONOTONIC),
			     gpr_now(GPR_CLOCK_MONOTONIC));
	uint64_t now = clock_ms();
	int64_t ms;

	if (!gpr_time_cmp(call->details.deadline,
			  gpr_inf_future(call->details.deadline.clock_type)))
		return UINT64_MAX;
	ms = left.tv_sec > 86400 ? 86400000 : left.tv_sec * 1000 + left.tv_nsec / 1000000;
	if (ms <= 0)
		return now;
	return now + (uint64_t)(ms > 2 * MARGIN_MS ? ms - MARGIN_MS : ms / 2);
}

/* Send one of many answers; false if it did not arrive. */
static bool stream_send(struct call *call, const struct rpc_answer *answer)
{
	grpc_op ops[2] = { { .op = GRPC_OP_SEND_INITIAL_METADATA } };
	size_t n = call->greeted ? 0 : 1;
	struct rpc *rpc = call->rpc;
	bool sent;

	ops[n++] = message_op(call, answer);
	call->greeted = true;
	call->sending = true;
	if (grpc_call_start_batch(call->call, ops, n, &call->events[CALL_SEND], NULL) !=
	    GRPC_CALL_OK)
		return false;
	pthread_mutex_lock(&rpc->lock);
	while (call->sending)
		pthread_cond_wait(&rpc->changed, &rpc->lock);
	sent = call->sent;
	pthread_mutex_unlock(&rpc->lock);
	return sent;
}

static void stream_sent(struct call *call, bool good)
{
	struct rpc *rpc = call->rpc;

	pthread_mutex_lock(&rpc->lock);
	call->sending = false;
	call->sent = good;
	pthread_cond_broadcast(&rpc->changed);
	pthread_mutex_unlock(&rpc->lock);
}

/* Until then, or until there is other news than this; false if it is over. */
static bool stream_wait(struct call *call, uint64_t news, uint64_t until)
{
	struct timespec when = { (time_t)(until / 1000), (long)(until % 1000) * 1000000 };
	struct rpc *rpc = call->rpc;
	bool late = false, goes_on;

	pthread_mutex_lock(&rpc->lock);
	while (!late && !call->over && !rpc->ending && rpc->news == news)
		late = pthread_cond_timedwait(&rpc->changed, &rpc->lock, &when) == ETIMEDOUT;
	goes_on = !call->over && !rpc->ending;
	pthread_mutex_unlock(&rpc->lock);
	return goes_on;
}

static uint64_t stream_news(struct rpc *rpc)
{
	uint64_t news;

	pthread_mutex_lock(&rpc->lock);
	news = rpc->news;
	pthread_mutex_unlock(&rpc->lock);
	return news;
}

static void stream_run(struct call *call, const struct rpc_method *method)
{
	struct rpc_answer answer = { .message = NULL };
	uint64_t seen = 0, again = 0, news;
	bool good = true;

	do {
		bool late = clock_ms() >= again;

		news = stream_news(call->rpc);
		if (late)
			seen = 0;
		if (method->next(call->rpc->arg, &seen, &answer)) {
			good = stream_send(call, &answer);
			free(answer.message);
			late = true;
		}
		if (late)
			again = clock_ms() + method->again_ms;
	} while (good && stream_wait(call, news, again));
}

static void *call_thread(void *arg)
{
	struct call *call = arg;
	struct rpc_answer answer = { .status = GRPC_STATUS_INVALID_ARGUMENT };
	const struct rpc_method *method = call_method(call);
	struct rpc *rpc = call->rpc;
	grpc_byte_buffer_reader reader;

	refuse(&answer.reason, "no message that can be read");
	if (method->next) {
		stream_run(call, method);
		answer.status = GRPC_STATUS_UNAVAILABLE;
		refuse(&answer.reason, "the driver ends");
	} else if (grpc_byte_buffer_reader_init(&reader, call->message)) {
		grpc_slice all = grpc_byte_buffer_reader_readall(&reader);

		method->call(rpc->arg, GRPC_SLICE_START_PTR(all), GRPC_SLICE_LENGTH(all),
			     call_until(call), &answer);
		grpc_slice_unref(all);
		grpc_byte_buffer_reader_destroy(&reader);
	}
	call_answer(call, &answer);
	free(answer.message);
	calls_drop(rpc);
	return NULL;
}

static void call_refuse(struct call *call, grpc_status_code status, const char *why)
{
	struct rpc_answer answer = { .status = status };

	refuse(&answer.reason, "%s", why);
	call_answer(call, &answer);
}

/* The message is there. */
static void call_received(struct call *call)
{
	pthread_attr_t attr;
	pthread_t thread;
	bool started;

	/* Only its answer would keep the server. */
	if (call->rpc->down) {
		call_put(call);
		return;
	}
	if (!call->message) {
		call_refuse(call, GRPC_STATUS_INVALID_ARGUMENT, "no message");
		return;
	}
	if (!calls_add(call->rpc)) {
		call_refuse(call, GRPC_STATUS_RESOURCE_EXHAUSTED, "too many calls are under way");
		return;
	}
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	started = !pthread_create(&thread, &attr, call_thread, call);
	pthread_attr_destroy(&attr);
	if (!started) {
		calls_drop(call->rpc);
		call_refuse(call, GRPC_STATUS_RESOURCE_EXHAUSTED, "no thread can be started");
	}
}

static void call_accepted(struct call *call)
{
	grpc_op close = { .op = GRPC_OP_RECV_CLOSE_ON_SERVER };
	grpc_op receive = { .op = GRPC_OP_RECV_MESSAGE };

	/* One for the end of the call, one for what is done with it. */
	atomic_store(&call->pending, 2);
	close.data.recv_close_on_server.cancelled = &call->cancelled;
	receive.data.recv_message.recv_message = &call->message;
	if (!call_batch(call, &close, 1, CALL_OVER)) {
		call_put(call);
		return;
	}
	if (!call_method(call))
		call_refuse(call, GRPC_STATUS_UNIMPLEMENTED, "this driver has no such method");
	else
		call_batch(call, &receive, 1, CALL_RECEIVE);
}

static void call_event(struct call *call, enum call_step step, bool good)
{
	struct rpc *rpc = call->rpc;

	switch (step) {
	case CALL_ACCEPT:
		if (!good) {
			call_free(call);
			break;
		}
		rpc->next = call_wait(rpc);
		call_accepted(call);
		break;
	case CALL_RECEIVE:
		if (good)
			call_received(call);
		else
			call_put(call);
		break;
	case CALL_SEND:
		stream_sent(call, good);
		break;
	case CALL_OVER:
		pthread_mutex_lock(&rpc->lock);
		call->over = true;
		pthread_cond_broadcast(&rpc->changed);
		pthread_mutex_unlock(&rpc->lock);
		call_put(call);
		break;
	case CALL_ANSWER:
		call_put(call);
	}
}

static void *rpc_thread(void *arg)
{
	struct rpc *rpc = arg;

	for (;;) {
		grpc_event event = grpc_completion_queue_next(rpc->queue,
							      gpr_inf_future(GPR_CLOCK_REALTIME),
							      NULL);
		struct event *what = event.tag;

		if (event.type == GRPC_QUEUE_SHUTDOWN)
			return NULL;
		if (event.type != GRPC_OP_COMPLETE)
			continue;
		if (event.tag == rpc)
			calls_end(rpc);
		else
			call_event(what->call, what->step, event.success);
	}
}

struct rpc *rpc_open(const struct rpc_method *methods, void *arg)
{
	static grpc_arg limits[] = {
		{ .type = GRPC_ARG_INTEGER,
		  .key = GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH,
		  .value.integer = MESSAGE_MAX },
	};
	grpc_channel_args args = { sizeof(limits) / sizeof(*limits), limits };
	struct rpc *rpc = zalloc(1, sizeof(*rpc));
	pthread_condattr_t attr;

	grpc_init();
	pthread_mutex_init(&rpc->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&rpc->changed, &attr);
	pthread_condattr_destroy(&attr);
	rpc->methods = methods;
	rpc->arg = arg;
	rpc->queue = grpc_completion_queue_create_for_next(NULL);
	rpc->server = grpc_server_create(&args, NULL);
	grpc_server_register_completion_queue(rpc->server, rpc->queue, NULL);
	return rpc;
}

bool rpc_listen(struct rpc *rpc, const char *path, struct reason *reason)
{
	grpc_server_credentials *none = grpc_insecure_server_credentials_create();
	char *address = format("unix://%s", path);
	bool good;

	unlink(path);
	good = grpc_server_add_http2_port(rpc->server, address, none) != 0;
	grpc_server_credentials_release(none);
	free(address);
	return good || refuse(reason, "cannot listen at %s", path);
}

void rpc_start(struct rpc *rpc)
{
	grpc_server_start(rpc->server);
	rpc->next = call_wait(rpc);
	rpc->started = true;
	if (pthread_create(&rpc->thread, NULL, rpc_thread, rpc))
		abort();
}

void rpc_news(struct rpc *rpc)
{
	pthread_mutex_lock(&rpc->lock);
	rpc->news++;
	pthread_cond_broadcast(&rpc->changed);
	pthread_mutex_unlock(&rpc->lock);
}

void rpc_close(struct rpc *rpc)
{
	if (!rpc)
		return;
	pthread_mutex_lock(&rpc->lock);
	rpc->ending = true;
	pthread_cond_broadcast(&rpc->changed);
	pthread_mutex_unlock(&rpc->lock);
	if (rpc->started) {
		grpc_server_shutdown_and_notify(rpc->server, rpc->queue, rpc);
		pthread_join(rpc->thread, NULL);
	}
	grpc_server_destroy(rpc->server);
	if (!rpc->started)
		grpc_completion_queue_shutdown(rpc->queue);
	grpc_completion_queue_destroy(rpc->queue);
	pthread_cond_destroy(&rpc->changed);
	pthread_mutex_destroy(&rpc->lock);
	free(rpc);
	grpc_shutdown_blocking();
}
