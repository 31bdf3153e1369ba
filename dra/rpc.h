/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gRPC servers on sockets, by gRPC's C core: calls with one message and one answer. */
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
 * struct rpc_method - a method
 * @path: /SERVICE/METHOD
 * @call: runs in a thread of its own, and may wait until @until, of clock_ms()
 */
struct rpc_method {
	const char *path;
	void (*call)(void *arg, const unsigned char *message, size_t len, uint64_t until,
		     struct rpc_answer *answer);
};

/* All methods of all sockets have the same @arg; the list of methods ends with a NULL path. */
struct rpc *rpc_open(const struct rpc_method *methods, void *arg);
/* Listen at a path, before rpc_start(). What is left there of an earlier one is removed. */
bool rpc_listen(struct rpc *rpc, const char *path, struct reason *reason);
void rpc_start(struct rpc *rpc);
/* No new calls; those under way are answered. */
void rpc_close(struct rpc *rpc);

#endif /* DRA_RPC_H */
