// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: requests
 *
 * The operations differ in which attributes hold their slots and in the names of their
 * flags, which is a table here. All that can be wrong with an option was said when it was
 * read: what is put into a message is right.
 */
#include <stdlib.h>

#include "base/text.h"
#include "op/submit.h"

/* So long a driver that is expected to bind has. */
#define DRIVER_TIMEOUT_MS 10000

/**
 * struct request - how the protocol has an operation
 * @command: its number
 * @adds: slots can get their GPU
 * @remove: attribute of slots that lose their GPU
 * @flags: attribute of its flags
 * @check: flag: judge it and do nothing, 0 where there is none
 * @harm: flag: try although windows cannot take a GPU
 * @force: flag: go on with holders
 * @keep: flag: the GPUs stay
 * @bind: flag: orphaned when the client ends
 */
static const struct request {
	uint8_t command;
	bool adds;
	int remove;
	int flags;
	uint32_t check, harm, force, keep, bind;
} requests[] = {
	[OP_ATTACH] = { .command = GPUFABRIC_CMD_ATTACH,
			.adds = true,
			.flags = GPUFABRIC_A_ATTACH_FLAGS,
			.check = GPUFABRIC_ATTACH_FLAG_CHECK,
			.harm = GPUFABRIC_ATTACH_FLAG_HARM },
	[OP_DETACH] = { .command = GPUFABRIC_CMD_DETACH,
			.remove = GPUFABRIC_A_MEMBER,
			.flags = GPUFABRIC_A_DETACH_FLAGS,
			.force = GPUFABRIC_DETACH_FLAG_FORCE },
	[OP_COMPOSE] = { .command = GPUFABRIC_CMD_COMPOSE,
			 .adds = true,
			 .flags = GPUFABRIC_A_COMPOSE_FLAGS,
			 .check = GPUFABRIC_COMPOSE_FLAG_CHECK,
			 .harm = GPUFABRIC_COMPOSE_FLAG_HARM,
			 .bind = GPUFABRIC_COMPOSE_FLAG_BIND },
	[OP_RESIZE] = { .command = GPUFABRIC_CMD_RESIZE,
			.adds = true,
			.remove = GPUFABRIC_A_REMOVE,
			.flags = GPUFABRIC_A_RESIZE_FLAGS,
			.check = GPUFABRIC_RESIZE_FLAG_CHECK,
			.harm = GPUFABRIC_RESIZE_FLAG_HARM },
	[OP_RELEASE] = { .command = GPUFABRIC_CMD_RELEASE,
			 .remove = GPUFABRIC_A_MEMBER,
			 .flags = GPUFABRIC_A_RELEASE_FLAGS,
			 .keep = GPUFABRIC_RELEASE_FLAG_KEEP },
};

/* How long drivers are awaited: 0 unless every one is expected to bind. */
static uint32_t driver_timeout(const struct session *session, const struct op *op)
{
	struct identity identity;
	char driver[64];
	size_t i;

	if (op->probe)
		return 0;
	for (i = 0; i < op->n_add && !op->terms->driver; i++) {
		identity_of(&session->knowledge, op->add[i], &identity);
		if (!identity_loaded_driver(&identity, driver, sizeof(driver)))
			return 0;
	}
	return op->n_add ? DRIVER_TIMEOUT_MS : 0;
}

static void put_added(const struct session *session, struct nl_msg *msg, const struct op *op,
		      const struct placement *placement)
{
	size_t i;

	/* Whoever had a slot since it was found clean has left something there. */
	for (i = 0; i < op->n_add; i++)
		gfc_put_member(msg, GPUFABRIC_A_MEMBER, op->add[i],
			       op->to ? &op->add[i]->generation : NULL,
			       op->ids && op->ids[i].vendor ? &op->ids[i] : NULL,
			       placement->order[i]);
	nla_put_u32(msg, GPUFABRIC_A_DRIVER_TIMEOUT, driver_timeout(session, op));
	if (op->terms->driver && op->n_add)
		nla_put_string(msg, GPUFABRIC_A_DRIVER, op->terms->driver);
	placement_put(msg, placement);
}

/* A member that holds no GPU was not drained, and leaves a composition without a generation. */
static void put_removed(struct nl_msg *msg, const struct op *op)
{
	const struct removal *removal = &op->removal;
	const int attr = requests[op->kind].remove;
	size_t i, j;

	for (i = 0; i < op->n_remove; i++) {
		for (j = 0; j < removal->n && removal->slots[j] != op->remove[i];)
			j++;
		if (j < removal->n)
			gfc_put_member(msg, attr, op->remove[i], &removal->generations[j], NULL, 0);
		else if (op->kind == OP_RESIZE)
			gfc_put_member(msg, attr, op->remove[i], NULL, NULL, 0);
	}
}

static void put_annotation(const struct session *session, struct nl_msg *msg, const struct op *op)
{
	if (op->bytes) {
		nla_put(msg, GPUFABRIC_A_ANNOTATION, (int)op->n_bytes, op->bytes);
	} else if (op->note) {
		if (op->lease_ms) {
			op->note->lease = text_uptime() + op->lease_ms;
			op->note->instance = session->mirror.instance;
		}
		gfc_put_annotation(msg, op->note);
		/* All of it is written, so nobody may have changed it since. */
		if (op->kind == OP_RESIZE)
			nla_put_u32(msg, GPUFABRIC_A_GENERATION, op->generation);
	}
}

static struct nl_msg *submit_message_of(const struct session *session, const struct op *op,
					const struct placement *placement, bool check)
{
	const struct request *request = &requests[op->kind];
	const struct op_terms *terms = op->terms;
	struct nl_msg *msg =
		gfc_message_of(session->client, request->command, op->n_add + op->n_remove);
	uint32_t flags = (check ? request->check : 0) | (terms->harm ? request->harm : 0) |
			 (terms->force && !op->probe ? request->force : 0) |
			 (op->keep ? request->keep : 0) | (op->bind ? request->bind : 0);

	if (op->name)
		nla_put_string(msg, GPUFABRIC_A_NAME, op->name);
	if (request->adds)
		put_added(session, msg, op, placement);
	if (request->remove && !op->keep)
		put_removed(msg, op);
	if (flags)
		nla_put_u32(msg, request->flags, flags);
	put_annotation(session, msg, op);
	if (op->same)
		nla_put_u32(msg, GPUFABRIC_A_GENERATION, op->generation);
	if (op->owner)
		nla_put_u32(msg, GPUFABRIC_A_OWNER, *op->owner);
	if (terms->timeout_ms)
		nla_put_u32(msg, GPUFABRIC_A_TIMEOUT, (uint32_t)terms->timeout_ms);
	if (terms->reason)
		nla_put_string(msg, GPUFABRIC_A_REASON, terms->reason);
	return msg;
}

int submit_op(struct session *session, struct op *op, const struct placement *placement)
{
	struct gf_slot **slots = mem_zalloc(op->n_add + op->n_remove, sizeof(struct gf_slot *));
	size_t i;
	int ret;

	for (i = 0; i < op->n_add; i++)
		slots[i] = op->add[i];
	for (i = 0; i < op->n_remove; i++)
		slots[op->n_add + i] = op->remove[i];
	ret = wait_start(session, submit_message_of(session, op, placement, false), slots,
			 op->n_add + op->n_remove, &op->wait);
	free(slots);
	return ret;
}

int submit_check(struct session *session, struct op *op, const struct placement *placement)
{
	return gfc_request(session->client, submit_message_of(session, op, placement, true), NULL,
			   NULL);
}

int submit_drain(struct session *session, const struct removal *removal, uint32_t timeout_ms)
{
	struct nl_msg *msg = gfc_message_of(session->client, GPUFABRIC_CMD_DRAIN, removal->n_drain);
	size_t i;

	for (i = 0; i < removal->n_drain; i++)
		gfc_put_member(msg, GPUFABRIC_A_MEMBER, removal->slots[i], NULL, NULL, 0);
	nla_put_u32(msg, GPUFABRIC_A_TIMEOUT, timeout_ms);
	if (removal->terms->reason)
		nla_put_string(msg, GPUFABRIC_A_REASON, removal->terms->reason);
	return gfc_request_members(session->client, msg, removal->slots, removal->generations,
				   removal->n_drain);
}

int submit_drain_end(struct session *session, const struct removal *removal, size_t i, bool reset)
{
	struct nl_msg *msg = gfc_message_of(session->client, GPUFABRIC_CMD_DRAIN_ABORT, 1);

	/* Of this drain, not of one that somebody has begun since. */
	gfc_put_member(msg, GPUFABRIC_A_MEMBER, removal->slots[i], &removal->generations[i], NULL,
		       0);
	if (reset)
		nla_put_u32(msg, GPUFABRIC_A_DRAIN_ABORT_FLAGS, GPUFABRIC_DRAIN_ABORT_FLAG_RESET);
	return gfc_request(session->client, msg, NULL, NULL);
}

int submit_clear(struct session *session, struct gf_slot *const *slots, size_t n,
		 const char *reason)
{
	struct nl_msg *msg = gfc_message_of(session->client, GPUFABRIC_CMD_CLEAR, n);
	size_t i;

	for (i = 0; i < n; i++)
		gfc_put_member(msg, GPUFABRIC_A_MEMBER, slots[i], NULL, NULL, 0);
	if (reason)
		nla_put_string(msg, GPUFABRIC_A_REASON, reason);
	return gfc_request(session->client, msg, NULL, NULL);
}

int submit_annotation(struct session *session, const struct gf_composition *composition,
		      const struct annotation *note)
{
	struct nl_msg *msg = gfc_message(session->client, GPUFABRIC_CMD_ANNOTATE);

	nla_put_string(msg, GPUFABRIC_A_NAME, composition->name);
	nla_put_u32(msg, GPUFABRIC_A_GENERATION, composition->generation);
	gfc_put_annotation(msg, note);
	return gfc_request(session->client, msg, NULL, NULL);
}
