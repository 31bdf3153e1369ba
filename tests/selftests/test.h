/* SPDX-License-Identifier: GPL-2.0-only */
/* What every test program starts with. */
#ifndef SELFTESTS_TEST_H
#define SELFTESTS_TEST_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include "ask.h"
#include "gf.h"
#include "sim.h"

/* Each test runs in a process of its own, with its own copy of these. */
static struct gf gf, watch __attribute__((unused));
static struct gf_request request __attribute__((unused));
static struct gf_slot slot __attribute__((unused));
static struct gf_operation end __attribute__((unused));

/* @got is the negative of @error, and the extended ack says @message. */
#define EXPECT_REFUSED(got, error, message)	\
	do {					\
		EXPECT_EQ(-(error), (got));	\
		EXPECT_STREQ(message, gf.text);	\
	} while (0)

#define EXPECT_STATE(name, wanted)					\
	do {								\
		EXPECT_EQ(0, get_slot(&gf, name, &slot));		\
		EXPECT_STREQ(gf_state_name(GF_STATE_##wanted), \
			     gf_state_name(slot.state)) {		\
			TH_LOG("slot %s", name);			\
		}							\
	} while (0)

#define OPEN_SOCKETS()				\
	do {					\
		ASSERT_EQ(0, gf_open(&gf));	\
		ASSERT_EQ(0, watch_open(&watch)); \
	} while (0)

#define MAIN(parameters)			\
	int main(int argc, char **argv)		\
	{					\
		sim_load(parameters);		\
		return test_harness_run(argc, argv); \
	}

/* A list of slots for struct ask, by their names. */
#define SLOTS(...) .slots = (struct ask_slot[]){ __VA_ARGS__ }, \
	.n_slots = sizeof((struct ask_slot[]){ __VA_ARGS__ }) / sizeof(struct ask_slot)
#define ASK(...) (&(struct ask){ __VA_ARGS__ })

static inline int attach(const char *name)
{
	return ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_ATTACH, SLOTS({ .name = name })), &end);
}

static inline int detach(const char *name)
{
	uint32_t generation;
	int err = ask_drain(&gf, name, 0, &generation);

	if (err)
		return err;
	return ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_DETACH,
					     SLOTS({ .name = name, .has_generation = true,
						     .generation = generation })), &end);
}

static inline int compose(const char *name, const char *one)
{
	return ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = name,
					     SLOTS({ .name = one })), &end);
}

static inline int release_keep(const char *name)
{
	return ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_RELEASE, .name = name,
					     .flags = GPUFABRIC_RELEASE_FLAG_KEEP), &end);
}

#endif /* SELFTESTS_TEST_H */
