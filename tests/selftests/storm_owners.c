// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether a slot has two owners at a time, judged by what clients were told
 * and, apart from that, by what the kernel tells everyone: its events in their
 * order, and all compositions at one moment.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "storm.h"

struct storm *storm;

void storm_share(void)
{
	pthread_mutexattr_t mutex;
	pthread_condattr_t cond;

	storm = mmap(NULL, sizeof(*storm), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (storm == MAP_FAILED)
		exit(1);
	pthread_mutexattr_init(&mutex);
	pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&storm->lock, &mutex);
	pthread_condattr_init(&cond);
	pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&storm->changed, &cond);
}

static void say(const char *format, va_list args)
{
	char text[512];

	vsnprintf(text, sizeof(text), format, args);
	/* One write, so that lines of several processes stay whole. */
	dprintf(STDOUT_FILENO, "# %d: %s\n", getpid(), text);
}

void storm_problem(const char *format, ...)
{
	va_list args;

	atomic_fetch_add(&storm->problems, 1);
	va_start(args, format);
	say(format, args);
	va_end(args);
}

void storm_conflict(const char *format, ...)
{
	va_list args;

	atomic_fetch_add(&storm->conflicts, 1);
	va_start(args, format);
	say(format, args);
	va_end(args);
}

bool storm_goes_on(void)
{
	return (storm->operations < storm->wanted || storm->reloads) && !storm->problems &&
	       storm->conflicts < 5;
}

void storm_wait(int timeout_ms)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += timeout_ms % 1000 * 1000000L;
	until.tv_sec += timeout_ms / 1000 + until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_cond_timedwait(&storm->changed, &storm->lock, &until);
}

int storm_slot(const char *name)
{
	int slot;

	return sscanf(name, "sim0-%d", &slot) == 1 && slot >= 0 && slot < STORM_SLOTS ? slot : -1;
}

/**
 * owners_take() - a client was told that its composition is ready
 * @client: its number, from 1 on
 * @slot: a slot of it
 */
void owners_take(unsigned int client, unsigned int slot)
{
	unsigned int other = atomic_exchange(&storm->owner[slot], client);

	if (other)
		storm_conflict("sim0-%u was given to client %u, and client %u has it", slot, client, other);
}

/**
 * owners_give_back() - before a client asks to release it
 * @client: its number
 * @slot: a slot of its composition
 */
void owners_give_back(unsigned int client, unsigned int slot)
{
	unsigned int none = client;

	if (!atomic_compare_exchange_strong(&storm->owner[slot], &none, 0))
		storm_conflict("sim0-%u of client %u was given to client %u meanwhile", slot, client, none);
}

static struct gf gf, watch;
static struct gf_event event;
static char seen[STORM_SLOTS][GF_NAME];
static uint32_t snapshot[STORM_SLOTS];
static uint64_t last_sequence;

static void forget(void)
{
	memset(seen, 0, sizeof(seen));
	last_sequence = 0;
}

/* A slot goes from one composition to another only by way of none. */
static void judge_slot_event(void)
{
	int slot = storm_slot(event.slot.name);
	const char *now = event.slot.composition;

	if (slot < 0)
		return;
	if (seen[slot][0] && now[0] && strcmp(seen[slot], now))
		storm_conflict("event %llu: %s is with %s, and was not given back by %s",
			       (unsigned long long)event.sequence, event.slot.name, now, seen[slot]);
	memcpy(seen[slot], now, GF_NAME);
}

static void judge_event(void)
{
	atomic_fetch_add(&storm->events, 1);
	if (last_sequence && event.sequence != last_sequence + 1) {
		atomic_fetch_add(&storm->missed, 1);
		forget();
	}
	last_sequence = event.sequence;
	if (event.has_slot)
		judge_slot_event();
}

/* What is not marked as interrupted was true at one moment. */
static int judge_part(const struct nlmsghdr *part, void *context)
{
	struct gf_member member;
	bool *whole = context;
	int slot;

	*whole &= !(part->nlmsg_flags & NLM_F_DUMP_INTR);
	gf_read_member(gf_attr(part, GPUFABRIC_A_MEMBERSHIP), &member);
	slot = storm_slot(member.name);
	if (!*whole || slot < 0)
		return 0;
	if (snapshot[slot])
		storm_conflict("%s is a member of compositions %u and %u at a time", member.name,
			       snapshot[slot], member.composition);
	snapshot[slot] = member.composition;
	return 0;
}

static void look_at_all(void)
{
	static struct gf_request request;
	bool whole = true;

	memset(snapshot, 0, sizeof(snapshot));
	gf_begin(&request, &gf, GPUFABRIC_CMD_MEMBER_GET, 0);
	if (!gf_dump(&gf, &request, judge_part, &whole) && whole)
		atomic_fetch_add(&storm->snapshots, 1);
}

static void open_anew(void)
{
	gf_close(&gf);
	gf_close(&watch);
	forget();
	pthread_mutex_lock(&storm->lock);
	while (storm->gone)
		storm_wait(1000);
	pthread_mutex_unlock(&storm->lock);
	if (gf_open(&gf) || watch_open(&watch))
		gf_close(&watch);
}

/**
 * observe() - judge what the kernel tells, until the clients have ended
 */
void observe(void)
{
	unsigned int loads = storm->loads, turns = 0;

	gf.fd = -1;
	watch.fd = -1;
	open_anew();
	for (;;) {
		bool over = storm->over;
		int err;

		if (loads != storm->loads || watch.fd < 0) {
			loads = storm->loads;
			open_anew();
			continue;
		}
		err = watch_next(&watch, &event, 200);
		if (!err)
			judge_event();
		else if (err == -ENOBUFS)
			forget();
		else if (over)
			return;
		if (err || !(++turns % 32))
			look_at_all();
	}
}
