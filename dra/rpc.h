/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gRPC servers on sockets, by gRPC's C core: calls with one message, and one answer or many. */
#ifndef DRA_RPC_H
#define DRA_RPC_H

#include <grpc/grpc.h>

#include "dra/text.h"

/**
 * struct rpc_answer - what a method answers
 * @status: GRPC_STATUS_OK with the message, or another one with a reason
 * @message: bytes of the message, newly allocated
 */
struct rpc_answer {
	grpc_status_code status;
	struct reason reason;
	unsigned char *message;
	size_t len;
};

/**
 * struct rpc_method - a method, with one answer or with many
 * @path: /SERVICE/METHOD
 * @call: runs in a thread of its own, and may wait until @until, of clock_ms()
 * @next: in its place, one of many answers: false if there is none that is newer than @seen, which is 0 at
 *        first. It is asked after rpc_news(), and from the beginning when none went out for @again_ms
 */
struct rpc_method {
	const char *path;
	void (*call)(void *arg, const unsigned char *message, size_t len, uint64_t until,
		     struct rpc_answer *answer);
	bool (*next)(void *arg, uint64_t *seen, struct rpc_answer *answer);
	uint64_t again_ms;
};

/* All methods of all sockets have the same @arg; the list of methods ends with a NULL path. */
struct rpc *rpc_open(const struct rpc_method *methods, void *arg);
/* Listen at a path, before rpc_start(). What is left there of an earlier one is removed. */
bool rpc_listen(struct rpc *rpc, const char *path, struct reason *reason);
void rpc_start(struct rpc *rpc);
/* There may be a further answer for calls with many. */
void rpc_news(struct rpc *rpc);
/* No new calls; those under way are answered, and those with many answers end. */
void rpc_close(struct rpc *rpc);

#endif /* DRA_RPC_H */
