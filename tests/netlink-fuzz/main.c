// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages to the netlink family that no reasonable client sends, among those
 * that it does, by the thousand:
 *
 *   gffuzz [-s SEED] [-n MESSAGES]
 *
 * for a fabric of the simulator's that nobody else uses. It is judged that the
 * kernel answers each message once; that a refusal has a text, if it is not
 * netlink itself that refuses; that every answer and every event is what the spec
 * says; that nobody without privileges changes anything or is told what is not
 * for him; and that the fabric is whole, now and then and in the end. The
 * kernel's log is the caller's to judge. Nothing depends on time.
 *
 * The same seed sends the same messages. Exit status 1: something was wrong.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "random.h"

/* Messages between two looks at the fabric, and between two times that it is tidied up. */
#define CHECK_EVERY 1000
#define SETTLE_EVERY 5000

struct fuzz_counts counts;
unsigned long long seed = 1;
static unsigned long long wanted = 10000;

/* Two thirds of all come from root. */
static struct talker talkers[] = {
	{ .gf.fd = -1 }, { .gf.fd = -1 }, { .gf.fd = -1 }, { .gf.fd = -1 }, { .gf.fd = -1 },
	{ .gf.fd = -1 },
	{ .gf.fd = -1, .opened_by_nobody = true, .sent_by_nobody = true },
	{ .gf.fd = -1, .opened_by_nobody = true },
	{ .gf.fd = -1, .sent_by_nobody = true },
};

/* Some with little room, so that a dump has many parts. */
static struct dumper dumpers[] = {
	{ .talker = { .gf.fd = -1, .room = 8192 } }, { .talker = { .gf.fd = -1 } },
	{ .talker = { .gf.fd = -1, .opened_by_nobody = true, .room = 8192 } },
};

static struct gf everyone, insiders;

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

void fail(const char *format, ...)
{
	va_list args;

	show_datagram();
	printf("# ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	_exit(1);
}

static void open_all(void)
{
	int err;

	for (size_t i = 0; i < COUNT(talkers); i++)
		talker_open(&talkers[i]);
	for (size_t i = 0; i < COUNT(dumpers); i++)
		talker_open(&dumpers[i].talker);
	err = gf_open(&insiders) ?: gf_join(&insiders, insiders.private);
	be_nobody(true);
	err = err ?: gf_open(&everyone) ?: gf_join(&everyone, everyone.monitor);
	if (!err && gf_join(&everyone, everyone.private) != -EPERM)
		fail("somebody without privileges may join the group private");
	be_nobody(false);
	if (err)
		fail("no socket: %s", strerror(-err));
}

static void close_all(void)
{
	for (size_t i = 0; i < COUNT(talkers); i++)
		gf_close(&talkers[i].gf);
	for (size_t i = 0; i < COUNT(dumpers); i++)
		gf_close(&dumpers[i].talker.gf);
}

static void one_turn(void)
{
	struct talker *talker = &talkers[random_below(COUNT(talkers))];

	/* Drains and compositions may hang on it. */
	if (random_once_in(512))
		talker_open(talker);
	talk_once(talker);
	if (random_once_in(16))
		dump_a_little(&dumpers[random_below(COUNT(dumpers))]);
	if (random_once_in(16)) {
		listen_a_little(&everyone, false);
		listen_a_little(&insiders, true);
	}
}

static void run(void)
{
	uint64_t next_check = CHECK_EVERY, next_settle = SETTLE_EVERY;

	while (counts.messages < wanted) {
		one_turn();
		if (counts.messages >= next_check) {
			fabric_check();
			next_check += CHECK_EVERY;
		}
		if (counts.messages >= next_settle) {
			fabric_settle(random_below(2));
			next_settle += SETTLE_EVERY;
		}
	}
}

static void say(const char *what, uint64_t count)
{
	printf("# count netlink-fuzz.%s %llu\n", what, (unsigned long long)count);
}

static void say_counts(void)
{
	char what[64];

	say("datagrams", counts.datagrams);
	say("accepted", counts.accepted);
	say("refused", counts.refused);
	say("unanswered", counts.silent);
	say("unprivileged", counts.unprivileged);
	for (int error = 1; error < FUZZ_ERRNO_MAX; error++) {
		const char *name = strerrorname_np(error);

		if (!counts.errors[error])
			continue;
		snprintf(what, sizeof(what), "refused.%s", name ? name : "unknown");
		for (char *c = what; *c; c++)
			*c = *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
		say(what, counts.errors[error]);
	}
	say("parts", counts.parts);
	say("dumps", counts.dumps);
	say("dumps.abandoned", counts.abandoned);
	say("events", counts.events);
	say("checks", counts.checks);
	say("messages", counts.messages);
	/* Two runs that sent the same end with the same. */
	printf("# sent %016llx\n", (unsigned long long)random_state);
}

int main(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "s:n:")) != -1) {
		if (opt == 's')
			seed = strtoull(optarg, NULL, 0);
		else if (opt == 'n')
			wanted = strtoull(optarg, NULL, 0);
		else
			return 2;
	}
	printf("# seed %llu\n", seed);
	fflush(stdout);
	random_state = seed;
	fabric_open();
	open_all();
	run();
	close_all();
	fabric_settle(true);
	say_counts();
	return 0;
}
