// SPDX-License-Identifier: GPL-2.0-only
/* Whole requests, and waiting for what comes of them. */
#include <errno.h>
#include <string.h>

#include "ask.h"

static struct gf_request request;
static struct gf_event event;

static void put_slot(const struct ask_slot *slot)
{
	size_t nest = gf_nest(&request, slot->remove ? GPUFABRIC_A_REMOVE : GPUFABRIC_A_MEMBER);

	if (slot->id)
		gf_put_u32(&request, GPUFABRIC_A_MEMBER_SLOT_ID, slot->id);
	if (slot->name)
		gf_put_text(&request, GPUFABRIC_A_MEMBER_SLOT_NAME, slot->name);
	if (slot->has_generation)
		gf_put_u32(&request, GPUFABRIC_A_MEMBER_GENERATION, slot->generation);
	for (unsigned int i = 0; i < 4; i++) {
		if (slot->expects & 1U << i)
			gf_put_u32(&request, GPUFABRIC_A_MEMBER_EXPECT_VENDOR + i, slot->expect[i]);
	}
	if (slot->order)
		gf_put_u32(&request, GPUFABRIC_A_MEMBER_ORDER, slot->order);
	gf_nest_end(&request, nest);
}

static void put_text(uint16_t type, const char *text)
{
	if (text)
		gf_put_text(&request, type, text);
}

static void put_u32(uint16_t type, uint32_t value)
{
	if (value)
		gf_put_u32(&request, type, value);
}

/* Each command has flags of its own. */
static uint16_t flags_of(uint8_t command)
{
	switch (command) {
	case GPUFABRIC_CMD_ATTACH:
		return GPUFABRIC_A_ATTACH_FLAGS;
	case GPUFABRIC_CMD_DETACH:
		return GPUFABRIC_A_DETACH_FLAGS;
	case GPUFABRIC_CMD_COMPOSE:
		return GPUFABRIC_A_COMPOSE_FLAGS;
	case GPUFABRIC_CMD_RESIZE:
		return GPUFABRIC_A_RESIZE_FLAGS;
	case GPUFABRIC_CMD_DRAIN_ABORT:
		return GPUFABRIC_A_DRAIN_ABORT_FLAGS;
	default:
		return GPUFABRIC_A_RELEASE_FLAGS;
	}
}

/**
 * ask() - send a request and read its answer
 * @gf: socket
 * @ask: what to ask for
 *
 * Return: 0 or the negative errno of the answer.
 */
int ask(struct gf *gf, const struct ask *ask)
{
	gf_begin(&request, gf, ask->command, 0);
	put_text(GPUFABRIC_A_NAME, ask->name);
	for (unsigned int i = 0; i < ask->n_slots; i++)
		put_slot(&ask->slots[i]);
	if (ask->annotation)
		gf_put(&request, GPUFABRIC_A_ANNOTATION, ask->annotation,
		       ask->annotation_len ? ask->annotation_len : strlen(ask->annotation));
	if (ask->has_generation)
		gf_put_u32(&request, GPUFABRIC_A_GENERATION, ask->generation);
	if (ask->has_judged_at)
		gf_put_u64(&request, GPUFABRIC_A_JUDGED_AT, ask->judged_at);
	if (ask->has_owner)
		gf_put_u32(&request, GPUFABRIC_A_OWNER, ask->owner);
	put_u32(GPUFABRIC_A_TIMEOUT, ask->timeout);
	put_u32(GPUFABRIC_A_DRIVER_TIMEOUT, ask->driver_timeout);
	put_text(GPUFABRIC_A_DRIVER, ask->driver);
	put_u32(flags_of(ask->command), ask->flags);
	put_text(GPUFABRIC_A_REASON, ask->reason);
	return gf_talk(gf, &request);
}

/* Id of the operation that the last answer named. */
uint64_t ask_id(const struct gf *gf)
{
	return gf_u64(gf_sub(gf_attr(&gf->reply.header, GPUFABRIC_A_OPERATION), GPUFABRIC_A_OPERATION_ID));
}

/**
 * ask_and_wait() - send a request and wait for the end of its operation
 * @gf: socket
 * @watch: socket of watch_open()
 * @what: what to ask for
 * @end: filled with how it ended
 *
 * Return: what the family answered, or how the operation ended.
 */
int ask_and_wait(struct gf *gf, struct gf *watch, const struct ask *what, struct gf_operation *end)
{
	int err = ask(gf, what);

	memset(end, 0, sizeof(*end));
	if (err)
		return err;
	return watch_operation(watch, ask_id(gf), end);
}

int ask_slot(struct gf *gf, uint8_t command, const char *slot, int64_t generation)
{
	const struct ask_slot one = {
		.name = slot,
		.has_generation = generation >= 0,
		.generation = (uint32_t)generation,
	};

	return ask(gf, &(struct ask){ .command = command, .slots = &one, .n_slots = 1 });
}

int ask_drain(struct gf *gf, const char *slot, uint32_t timeout, uint32_t *generation)
{
	const struct ask_slot one = { .name = slot };
	int err = ask(gf, &(struct ask){ .command = GPUFABRIC_CMD_DRAIN, .slots = &one, .n_slots = 1,
					 .timeout = timeout });

	if (!err)
		*generation = gf_u32(gf_sub(gf_attr(&gf->reply.header, GPUFABRIC_A_MEMBER),
					    GPUFABRIC_A_MEMBER_GENERATION));
	return err;
}

static int get(struct gf *gf, uint8_t command, const char *name)
{
	gf_begin(&request, gf, command, 0);
	gf_put_text(&request, GPUFABRIC_A_NAME, name);
	return gf_talk(gf, &request);
}

static int take_part(const struct nlmsghdr *part, void *context)
{
	if (gf_attr(part, GPUFABRIC_A_FUNCTION))
		gf_read_function(gf_attr(part, GPUFABRIC_A_FUNCTION), context);
	else
		gf_read_need(gf_attr(part, GPUFABRIC_A_NEED), context);
	return 0;
}

int get_parts(struct gf *gf, struct gf_slot *slot)
{
	static const uint8_t commands[] = { GPUFABRIC_CMD_FUNCTION_GET, GPUFABRIC_CMD_NEED_GET };
	int err = 0;

	for (unsigned int i = 0; !err && i < sizeof(commands); i++) {
		gf_begin(&request, gf, commands[i], 0);
		gf_put_u32(&request, GPUFABRIC_A_ID, slot->id);
		err = gf_dump(gf, &request, take_part, slot);
	}
	return err;
}

int get_slot(struct gf *gf, const char *name, struct gf_slot *slot)
{
	int err = get(gf, GPUFABRIC_CMD_SLOT_GET, name);

	if (err)
		return err;
	gf_read_slot(gf_attr(&gf->reply.header, GPUFABRIC_A_SLOT), slot);
	return get_parts(gf, slot);
}

static int take_member(const struct nlmsghdr *part, void *context)
{
	struct gf_composition *to = context;

	if (to->n_members == sizeof(to->members) / sizeof(to->members[0]))
		return -E2BIG;
	gf_read_member(gf_attr(part, GPUFABRIC_A_MEMBERSHIP), &to->members[to->n_members++]);
	return 0;
}

int get_composition(struct gf *gf, const char *name, struct gf_composition *composition)
{
	int err = get(gf, GPUFABRIC_CMD_COMPOSITION_GET, name);

	if (err)
		return err;
	gf_read_composition(gf_attr(&gf->reply.header, GPUFABRIC_A_COMPOSITION), composition);
	gf_begin(&request, gf, GPUFABRIC_CMD_MEMBER_GET, 0);
	gf_put_u32(&request, GPUFABRIC_A_ID, composition->id);
	composition->n_members = 0;
	return gf_dump(gf, &request, take_member, composition);
}

int get_last_history(struct gf *gf, const char *slot, struct gf_history *history)
{
	int err = get(gf, GPUFABRIC_CMD_HISTORY_GET, slot);

	if (!err)
		gf_read_history(gf_attr(&gf->reply.header, GPUFABRIC_A_HISTORY), history);
	return err;
}

uint64_t get_sequence(struct gf *gf)
{
	gf_begin(&request, gf, GPUFABRIC_CMD_STATUS_GET, 0);
	if (gf_talk(gf, &request))
		return 0;
	return gf_u64(gf_attr(&gf->reply.header, GPUFABRIC_A_SEQUENCE));
}

/* How many changes the module has counted of what judging rests on. */
uint64_t get_changes(struct gf *gf)
{
	gf_begin(&request, gf, GPUFABRIC_CMD_STATUS_GET, 0);
	if (gf_talk(gf, &request))
		return 0;
	return gf_u64(gf_sub(gf_attr(&gf->reply.header, GPUFABRIC_A_STATUS), GPUFABRIC_A_STATUS_CHANGES));
}

/**
 * watch_open() - open a socket that receives events
 * @watch: filled
 *
 * Return: 0 or a negative errno.
 */
int watch_open(struct gf *watch)
{
	int err = gf_open(watch);

	if (!err)
		err = gf_join(watch, watch->monitor);
	return err;
}

/**
 * watch_next() - wait for the next event
 * @watch: socket of watch_open()
 * @to: filled
 * @timeout_ms: how long to wait
 *
 * Return: 0, -ETIME, or another errno; -ENOBUFS when events were lost.
 */
int watch_next(struct gf *watch, struct gf_event *to, int timeout_ms)
{
	struct nlmsghdr *message;
	int err;

	for (;;) {
		const struct genlmsghdr *genl;

		err = gf_receive(watch, &message, timeout_ms);
		if (err)
			return err;
		genl = NLMSG_DATA(message);
		if (message->nlmsg_type != watch->family || genl->cmd != GPUFABRIC_CMD_EVENT)
			continue;
		gf_read_event(message, to);
		return 0;
	}
}

/**
 * watch_operation() - wait for the end of an operation
 * @watch: socket that was opened before the operation began
 * @id: its id
 * @end: filled with how it ended, may be NULL
 *
 * Return: how it ended, 0 or a negative errno; -ETIME when it did not.
 */
int watch_operation(struct gf *watch, uint64_t id, struct gf_operation *end)
{
	int err;

	while (!(err = watch_next(watch, &event, ASK_PATIENCE_MS))) {
		if (event.kind != GPUFABRIC_EVENT_KIND_OPERATION_DONE || event.operation.id != id)
			continue;
		if (end)
			*end = event.operation;
		return event.operation.error;
	}
	return err;
}

/**
 * watch_state() - wait until a slot is in a state
 * @gf: socket to ask
 * @watch: socket of watch_open()
 * @slot: name of the slot
 * @state: state to wait for
 *
 * Return: 0 or a negative errno.
 */
int watch_state(struct gf *gf, struct gf *watch, const char *slot, uint32_t state)
{
	struct gf_slot now;
	int err = get_slot(gf, slot, &now);

	while (!err && now.state != state) {
		err = watch_next(watch, &event, ASK_PATIENCE_MS);
		/* Events may be older than the answer. */
		if (!err && event.has_slot && !strcmp(event.slot.name, slot) &&
		    event.slot.generation >= now.generation)
			now = event.slot;
		/* What was lost is looked up. */
		if (err == -ENOBUFS)
			err = get_slot(gf, slot, &now);
	}
	return err;
}
