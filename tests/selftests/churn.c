// SPDX-License-Identifier: GPL-2.0-only
/* Requests of all sorts, one after the other, that leave everything as it was. */
#include <errno.h>
#include <string.h>

#include "ask.h"
#include "churn.h"

struct sockets {
	struct gf *gf, *watch;
};

/* One request of its own about at most two slots, seen through. */
static int step(const struct sockets *at, uint8_t command, const char *name,
		const struct ask_slot *of, unsigned int n, uint32_t flags)
{
	const struct ask request = {
		.command = command, .name = name, .slots = of, .n_slots = n, .flags = flags,
	};
	struct gf_operation end;

	return ask_and_wait(at->gf, at->watch, &request, &end);
}

static int attach_and_detach(const struct sockets *at, struct ask_slot *one)
{
	int err = step(at, GPUFABRIC_CMD_ATTACH, NULL, one, 1, 0);

	if (!err)
		err = ask_drain(at->gf, one->name, 0, &one->generation);
	one->has_generation = true;
	if (!err)
		err = step(at, GPUFABRIC_CMD_DETACH, NULL, one, 1, 0);
	one->has_generation = false;
	return err;
}

/* A drain that ends with its client. */
static int abandon_drain(const struct sockets *at, const char *name)
{
	static struct gf client;
	uint32_t generation;
	int err = gf_open(&client);

	if (!err)
		err = ask_drain(&client, name, 0, &generation);
	gf_close(&client);
	return err ? err : watch_state(at->gf, at->watch, name, GF_STATE_READY);
}

static int release_drained(const struct sockets *at, const char *name, struct ask_slot *one)
{
	int err = ask_drain(at->gf, one->name, 0, &one->generation);

	one->has_generation = true;
	if (!err)
		err = step(at, GPUFABRIC_CMD_RELEASE, name, one, 1, 0);
	one->has_generation = false;
	return err;
}

static int churn_once(const struct sockets *at, const char *first, const char *second,
		      const char *bad)
{
	static struct gf_request request;
	struct ask_slot one = { .name = first }, other = { .name = second };
	struct ask_slot back = { .name = first, .has_generation = true, .remove = true };
	const struct ask_slot both[] = { { .name = second }, { .name = bad } };
	int err;

	err = step(at, GPUFABRIC_CMD_COMPOSE, "churn", &one, 1, 0);
	if (!err)
		err = step(at, GPUFABRIC_CMD_RESIZE, "churn", &other, 1, 0);
	if (!err)
		err = ask_drain(at->gf, first, 0, &back.generation);
	if (!err)
		err = step(at, GPUFABRIC_CMD_RESIZE, "churn", &back, 1, 0);
	if (!err)
		err = abandon_drain(at, second);
	if (!err)
		err = release_drained(at, "churn", &other);
	if (err)
		return err;
	/* What fails, by itself or by being refused. */
	if (!step(at, GPUFABRIC_CMD_COMPOSE, "churn", both, 2, 0) ||
	    !step(at, GPUFABRIC_CMD_COMPOSE, "no name", &one, 1, 0) ||
	    !step(at, GPUFABRIC_CMD_COMPOSE, "churn", &(struct ask_slot){ .name = "nosuch" }, 1, 0))
		return -EBADE;
	err = ask_slot(at->gf, GPUFABRIC_CMD_CLEAR, bad, -1);
	gf_begin(&request, at->gf, GPUFABRIC_CMD_SLOT_GET, 0);
	return err ? err : gf_dump(at->gf, &request, NULL, NULL);
}

/**
 * churn() - compose, resize, drain and release, and what is refused or fails
 * @gf: open socket
 * @watch: socket of watch_open()
 * @first: slot that is off
 * @second: another
 * @bad: a slot where each attach fails
 *
 * Return: 0, the negative errno value of what failed, or -EBADE for what should have failed.
 */
int churn(struct gf *gf, struct gf *watch, const char *first, const char *second, const char *bad)
{
	const struct sockets at = { gf, watch };

	return churn_once(&at, first, second, bad);
}

/**
 * churn_cycle() - attach and detach one slot
 * @gf: open socket
 * @watch: socket of watch_open()
 * @name: the slot
 *
 * Return: 0 or a negative errno value.
 */
int churn_cycle(struct gf *gf, struct gf *watch, const char *name)
{
	const struct sockets at = { gf, watch };
	struct ask_slot one = { .name = name };

	return attach_and_detach(&at, &one);
}
