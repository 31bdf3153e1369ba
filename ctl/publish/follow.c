// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: units that follow the fabric
 *
 * udev starts a unit once, when a device comes. What persists or goes has to be told
 * by somebody who watches: this asks systemd to start units for it, and leaves to
 * them what they do and may do. The one for any change and the one that takes back are
 * waited for in the background, because a start of a unit that runs does nothing: a
 * change during a run leads to another run, and many changes at a time to no more than one.
 * Units of slots are started for what an event says, and for what a snapshot has that no event
 * said: a fault that was missed is told late, and once.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/program.h"
#include "base/text.h"
#include "module/annotation.h"
#include "publish/follow.h"

#define SYSTEMCTL "/usr/bin/systemctl"
/* To have a unit started without waiting for it. */
#define START_MS 10000
/* How often a run that is waited for is asked about. */
#define ASK_MS 200

static char *const environment[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL };

char *follow_escape(const char *name)
{
	struct text text = { 0 };
	const char *c;

	for (c = name; *c; c++) {
		if (*c == '/')
			text_add(&text, "-");
		else if ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
			 (*c >= '0' && *c <= '9') || *c == ':' || *c == '_' ||
			 (*c == '.' && c != name))
			text_add(&text, "%c", *c);
		else
			text_add(&text, "\\x%02x", (unsigned char)*c);
	}
	return text.text ? text.text : mem_strdup("");
}

static bool is_bad(uint32_t state)
{
	return state == GF_STATE_FAULT || state == GF_STATE_LOST || state == GF_STATE_STUCK;
}

static bool had_gpu(uint32_t state)
{
	return state == GF_STATE_ATTACHED || state == GF_STATE_READY ||
	       state == GF_STATE_DRAINING || state == GF_STATE_DETACHING;
}

static char *unit_of(const char *template, const char *slot)
{
	char *escaped = follow_escape(slot), *unit;

	unit = mem_printf("%s%s.service", template, escaped);
	free(escaped);
	return unit;
}

/*
 * Is what a snapshot has what was told? A fault that has ended and come back has another count and
 * another time; either of them alone changes during one fault.
 */
static bool is_told(const struct known_slot *before, const struct gf_slot *slot)
{
	return before->state == slot->state &&
	       (before->faults == slot->faults || before->since == slot->since);
}

/* The unit for a slot that was another one before, which is NULL where nobody knows. */
static char *unit_after(const struct known_slot *before, const struct gf_slot *slot)
{
	if (is_bad(slot->state))
		return unit_of(FOLLOW_FAULT, slot->name);
	if (before && had_gpu(before->state) &&
	    (slot->state == GF_STATE_OFF || slot->state == GF_STATE_EMPTY))
		return unit_of(FOLLOW_DETACHED, slot->name);
	return NULL;
}

/* Is the systemctl that is waited for still there? */
static bool is_running(pid_t *running)
{
	pid_t pid;

	if (!*running)
		return false;
	do {
		pid = waitpid(*running, NULL, WNOHANG);
	} while (pid < 0 && errno == EINTR);
	if (pid)
		*running = 0;
	return !pid;
}

bool follow_takes_back(struct follow *follow, const struct gf_fabric *fabric, uint64_t now)
{
	uint64_t last = follow->due;
	bool start;
	size_t i;

	if (follow->orphans)
		follow->reap = true;
	follow->orphans = false;
	for (i = 0; i < fabric->n_compositions; i++) {
		uint64_t lease = annotation_lease_of(&fabric->compositions[i]);

		if (lease <= follow->due || lease > now)
			continue;
		follow->reap = true;
		if (lease > last)
			last = lease;
	}
	follow->due = last;
	start = !is_running(&follow->reaping) && follow->reap;
	if (start)
		follow->reap = false;
	return start;
}

int follow_patience(const struct follow *follow, const struct gf_fabric *fabric, uint64_t now)
{
	uint64_t wait = UINT64_MAX;
	size_t i;

	if (follow->running || follow->reaping)
		wait = ASK_MS;
	for (i = 0; i < fabric->n_compositions; i++) {
		uint64_t lease = annotation_lease_of(&fabric->compositions[i]);

		if (lease > follow->due && (lease <= now || lease - now < wait))
			wait = lease > now ? lease - now : 0;
	}
	if (wait == UINT64_MAX)
		return -1;
	/* A wait does not count what the host sleeps, which a lease does: look once a minute. */
	return wait < 60000 ? (int)wait : 60000;
}

static void follow_start(char *unit)
{
	const struct program_limits limits = { .timeout_ms = START_MS };
	char *argv[6] = { SYSTEMCTL, "--quiet", "--no-block", "start", unit, NULL };
	struct program program = { .argv = argv, .env = environment };

	programs_run(&program, 1, &limits);
	program_free(&program);
}

/* systemctl without --no-block ends when the unit has done its work. */
static void start_and_wait(pid_t *running, const char *unit)
{
	char *argv[5] = { SYSTEMCTL, "--quiet", "start", (char *)unit, NULL };
	posix_spawnattr_t attr;
	sigset_t none, usual;

	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGINT);
	sigaddset(&usual, SIGTERM);
	sigaddset(&usual, SIGPIPE);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &usual);
	if (posix_spawn(running, argv[0], NULL, &attr, argv, environment))
		*running = 0;
	posix_spawnattr_destroy(&attr);
}

void follow_open(struct follow *follow, const char *dir)
{
	known_open(&follow->known, dir);
}

void follow_close(struct follow *follow)
{
	known_close(&follow->known);
}

int follow_keep(struct follow *follow)
{
	int err = known_keep(&follow->known);

	if (err) {
		free(follow->known.path);
		follow->known.path = NULL;
	}
	return err;
}

/* Tell of a slot as it is after event @sequence. */
static void follow_slot(struct follow *follow, const struct known_slot *before,
			const struct gf_slot *slot, uint64_t sequence)
{
	char *unit = unit_after(before, slot);

	if (unit)
		follow_start(unit);
	free(unit);
	known_set(&follow->known, slot, sequence);
}

static void slot_in_snapshot(struct follow *follow, const struct gf_slot *slot)
{
	const struct known_slot *before = known_find(&follow->known, slot->name);

	if (before && is_told(before, slot))
		known_set(&follow->known, slot, slot->sequence);
	else
		follow_slot(follow, before, slot, slot->sequence);
}

/* A snapshot may have been ahead of an event. */
static void slot_in_event(struct follow *follow, const struct gf_message *event)
{
	const struct known_slot *before = known_find(&follow->known, event->slot.name);

	if (before && event->sequence <= before->sequence)
		return;
	if (before && before->state == event->slot.state)
		known_set(&follow->known, &event->slot, event->sequence);
	else
		follow_slot(follow, before, &event->slot, event->sequence);
}

void follow_snapshot(struct follow *follow, const struct gf_fabric *fabric, uint64_t instance)
{
	size_t i;

	follow->changed = true;
	known_begin(&follow->known, instance);
	known_retain(&follow->known, fabric);
	for (i = 0; i < fabric->n_slots; i++)
		slot_in_snapshot(follow, &fabric->slots[i]);
	for (i = 0; i < fabric->n_compositions; i++)
		if (fabric->compositions[i].flags & GPUFABRIC_COMPOSITION_FLAG_ORPHANED)
			follow->orphans = true;
}

void follow_event(struct follow *follow, const struct gf_message *event)
{
	follow->changed = true;
	if (event->has.composition && event->kind != GPUFABRIC_EVENT_KIND_COMPOSITION_REMOVED &&
	    event->composition.flags & GPUFABRIC_COMPOSITION_FLAG_ORPHANED)
		follow->orphans = true;
	if (!event->has.slot || !event->slot.name)
		return;
	if (event->kind == GPUFABRIC_EVENT_KIND_SLOT_REMOVED)
		known_forget(&follow->known, event->slot.name);
	else
		slot_in_event(follow, event);
}

void follow_turn(struct follow *follow, const struct gf_fabric *fabric, uint64_t now)
{
	if (follow_takes_back(follow, fabric, now))
		start_and_wait(&follow->reaping, FOLLOW_REAP);
	if (!is_running(&follow->running) && follow->changed) {
		follow->changed = false;
		start_and_wait(&follow->running, FOLLOW_CHANGED);
	}
}
