/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands to a Switchtec switch (MRPC) by the device of Linux's driver, one at a time for all
 * hosts. A command has a deadline. One that got no answer by then may have been carried out, or
 * may be yet: nothing else is sent until its answer has come or the device has gone.
 */
#ifndef FM_MRPC_H
#define FM_MRPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

#define MRPC_DATA_MAX 1024

struct mrpc;

/**
 * struct mrpc_call - a command
 * @code: its number
 * @pax: index of the switch of the fabric that it is for, or MRPC_LOCAL
 * @name: for failpoint(), once it was sent; may be NULL
 * @out: @out_len bytes of answer, all of which have to come
 */
struct mrpc_call {
	unsigned int code;
	unsigned int pax;
	const char *name;
	const void *in;
	size_t in_len;
	void *out;
	size_t out_len;
};

/* The switch that the device belongs to. */
#define MRPC_LOCAL 0x1f

/*
 * The device of this path, shared by all that ask for it; not opened yet. "unix:PATH" is a socket
 * of packets that behaves like the device. @stop ends every wait when it becomes readable.
 * mrpc_put() by the last one closes it.
 */
struct mrpc *mrpc_get(const char *path, int stop);
void mrpc_put(struct mrpc *mrpc);

/* For several commands that belong together. -ETIMEDOUT: somebody else's take too long. */
int mrpc_lock(struct mrpc *mrpc, uint64_t deadline, struct fault *f);
void mrpc_unlock(struct mrpc *mrpc);

/* The holder of the lock calls these. */

/*
 * Opens where that is needed. A command that was given up may still be under way: its answer is
 * waited for until @patience, and thrown away; -ETIMEDOUT when it has not come.
 */
int mrpc_ready(struct mrpc *mrpc, uint64_t patience, struct fault *f);
/*
 * -ENOTCONN: the device was not told. -EREMOTEIO: it has refused, by the return code that the text
 * has. Any other error: nobody knows whether the command was carried out.
 */
int mrpc_call(struct mrpc *mrpc, const struct mrpc_call *call, uint64_t deadline, struct fault *f);
/* It has answered since it was opened, and no command was given up. */
bool mrpc_is_alive(const struct mrpc *mrpc);

/**
 * struct mrpc_news - what all hosts of a device share
 * @asked_ms: when events were asked for
 * @count: number of times that there was news
 * @silent: the device does not know the command
 */
struct mrpc_news {
	uint64_t asked_ms;
	unsigned int count;
	bool silent;
};

struct mrpc_news *mrpc_news(struct mrpc *mrpc);

#endif /* FM_MRPC_H */
