// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: commands of the fabric
 *
 * Numbers of commands and the order of those that make a dump are facts of the interface as
 * Microchip's library switchtec-user has them (inc/switchtec/mrpc.h and lib/fabric.c, MIT).
 *
 * A dump is several commands, and the switch has one for all who ask: so the lock is held over
 * all of it. What another program does meanwhile shows as parts that do not fit, which is an error.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fm/failpoint.h"
#include "fm/pax.h"

#define CODE_PAX_ID 0x81
#define CODE_DUMP 0x83
#define CODE_BIND 0x84
#define CODE_EVENTS 0x89
/* Events of one question; more are left for the next one, and are news all the same. */
#define EVENT_ROUNDS 8

static int pax_id(struct mrpc *mrpc, uint64_t deadline, unsigned int *id, struct fault *f)
{
	uint8_t answer = 0;
	const struct mrpc_call call = {
		.code = CODE_PAX_ID,
		.pax = MRPC_LOCAL,
		.out = &answer,
		.out_len = sizeof(answer),
	};
	int err = mrpc_call(mrpc, &call, deadline, f);

	*id = answer;
	if (!err && answer >= GFMS_SWITCHES_MAX)
		err = fault_set(f, EPROTO, "the switch has index %u", answer);
	return err;
}

int pax_connect(struct mrpc *mrpc, uint64_t deadline, struct fault *f)
{
	unsigned int id;
	int err = mrpc_lock(mrpc, deadline, f);

	if (err)
		return err;
	err = mrpc_ready(mrpc, 0, f);
	if (!err && !mrpc_is_alive(mrpc))
		err = pax_id(mrpc, deadline, &id, f);
	mrpc_unlock(mrpc);
	return err;
}

static int dump_step(struct mrpc *mrpc, unsigned int sw, enum gfms_dump_step step, size_t offset,
		     void *out, size_t out_len, uint64_t deadline, struct fault *f)
{
	uint8_t in[GFMS_DUMP_GET_SIZE];
	const struct mrpc_call call = {
		.code = CODE_DUMP,
		.pax = sw,
		.in = in,
		.in_len = gfms_put_dump(in, step, offset),
		.out = out,
		.out_len = out_len,
	};

	return mrpc_call(mrpc, &call, deadline, f);
}

static int dump_start(struct mrpc *mrpc, unsigned int sw, size_t *len, uint64_t deadline,
		      struct fault *f)
{
	uint8_t answer[8];
	int err = dump_step(mrpc, sw, GFMS_DUMP_START, 0, answer, sizeof(answer), deadline, f);

	/* one that was never finished, by a manager that was killed, may be in its way */
	if (err == -EREMOTEIO) {
		err = dump_step(mrpc, sw, GFMS_DUMP_FINISH, 0, NULL, 0, deadline, f);
		if (!err || err == -EREMOTEIO)
			err = dump_step(mrpc, sw, GFMS_DUMP_START, 0, answer, sizeof(answer),
					deadline, f);
	}
	if (err)
		return err;
	*len = gfms_dump_length(answer, f);
	return *len ? 0 : -EPROTO;
}

/* Adds one switch. Lock held. */
static int dump_read(struct mrpc *mrpc, unsigned int sw, struct gfms *gfms, uint64_t deadline,
		     struct fault *f)
{
	uint8_t part[GFMS_PART_SIZE], *data = NULL;
	size_t total = 0, at = 0, n;
	struct fault ignored;
	int err = dump_start(mrpc, sw, &total, deadline, f);

	if (!err)
		data = mem_zalloc(total, 1);
	while (!err && at < total) {
		err = dump_step(mrpc, sw, GFMS_DUMP_GET, at, part, sizeof(part), deadline, f);
		n = err ? 0 : gfms_part_length(part, at, total, f);
		if (!err && !n)
			err = -EPROTO;
		if (n)
			memcpy(data + at, part + GFMS_PART_HEAD, n);
		at += n;
	}
	if (!err)
		err = dump_step(mrpc, sw, GFMS_DUMP_FINISH, 0, NULL, 0, deadline, f);
	else if (data)
		dump_step(mrpc, sw, GFMS_DUMP_FINISH, 0, NULL, 0, deadline, &ignored);
	if (!err)
		err = gfms_read(gfms, (uint8_t)sw, data, total, f);
	free(data);
	return err;
}

int pax_read(struct mrpc *mrpc, unsigned int switches, uint64_t patience, uint64_t deadline,
	     struct gfms *gfms, unsigned int *news, struct fault *f)
{
	unsigned int id, sw;
	int err = mrpc_lock(mrpc, deadline, f);

	*gfms = (struct gfms){ 0 };
	if (err)
		return err;
	err = mrpc_ready(mrpc, patience, f);
	*news = mrpc_news(mrpc)->count;
	if (!err)
		err = pax_id(mrpc, deadline, &id, f);
	if (!err)
		switches |= 1u << id;
	for (sw = 0; !err && sw < GFMS_SWITCHES_MAX; sw++) {
		if (!(switches >> sw & 1))
			continue;
		err = dump_read(mrpc, sw, gfms, deadline, f);
		if (err)
			fault_prefix(f, "switch %u", sw);
	}
	mrpc_unlock(mrpc);
	return err;
}

/* A command of its own, whose answer has nothing but its return code. */
static int pax_do(struct mrpc *mrpc, const char *name, const void *in, size_t len,
		  uint64_t deadline, struct fault *f)
{
	const struct mrpc_call call = {
		.code = CODE_BIND,
		.pax = MRPC_LOCAL,
		.name = name,
		.in = in,
		.in_len = len,
	};
	int err = mrpc_lock(mrpc, deadline, f);

	if (err)
		return -ENOTCONN;
	err = mrpc_ready(mrpc, 0, f) ? -ENOTCONN : mrpc_call(mrpc, &call, deadline, f);
	mrpc_unlock(mrpc);
	return err;
}

int pax_bind(struct mrpc *mrpc, struct gfms_port host, uint8_t log, const uint16_t *pdfids,
	     size_t n, uint64_t deadline, struct fault *f)
{
	uint8_t in[GFMS_BIND_SIZE];
	int err;

	gfms_put_bind(in, host, log, pdfids, n);
	failpoint("before-gfms-bind");
	err = pax_do(mrpc, "gfms-bind", in, sizeof(in), deadline, f);
	failpoint("after-gfms-bind");
	return err;
}

int pax_unbind(struct mrpc *mrpc, struct gfms_port host, uint8_t log, uint16_t pdfid,
	       uint64_t deadline, struct fault *f)
{
	uint8_t in[GFMS_UNBIND_SIZE];

	gfms_put_unbind(in, host, log, pdfid);
	return pax_do(mrpc, "gfms-unbind", in, sizeof(in), deadline, f);
}

/* Lock held. */
static int events_ask(struct mrpc *mrpc, uint64_t deadline, struct fault *f)
{
	uint8_t in[4], answer[GFMS_EVENTS_SIZE];
	const struct mrpc_call call = {
		.code = CODE_EVENTS,
		.pax = MRPC_LOCAL,
		.in = in,
		.in_len = sizeof(in),
		.out = answer,
		.out_len = sizeof(answer),
	};
	unsigned int round, left = 1;
	int ret = 0;

	gfms_put_events(in);
	for (round = 0; left && round < EVENT_ROUNDS; round++) {
		ret = mrpc_call(mrpc, &call, deadline, f);
		if (!ret)
			ret = gfms_events(answer, &left, f);
		if (ret < 0)
			break;
		if (ret)
			mrpc_news(mrpc)->count++;
	}
	if (ret == -EREMOTEIO)
		mrpc_news(mrpc)->silent = true;
	return ret == -EREMOTEIO || ret > 0 ? 0 : ret;
}

int pax_news(struct mrpc *mrpc, uint64_t every_ms, uint64_t deadline, unsigned int *count,
	     struct fault *f)
{
	struct mrpc_news *news = mrpc_news(mrpc);
	uint64_t now = text_monotonic();
	int err = mrpc_lock(mrpc, deadline, f);

	if (err)
		return err;
	err = mrpc_ready(mrpc, 0, f);
	if (!err && !news->silent && now >= news->asked_ms + every_ms) {
		news->asked_ms = now;
		err = events_ask(mrpc, deadline, f);
	}
	*count = news->count;
	mrpc_unlock(mrpc);
	return err;
}
