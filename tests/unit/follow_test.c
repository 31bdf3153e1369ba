// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/module/annotation.c ctl/publish/follow.c ctl/publish/known.c ctl/base/replace.c ctl/base/text.c ctl/module/model.c ctl/module/state.c ctl/module/object.c ctl/module/netlink_gen.c
/*
 * Which units are started for which change, also one that no event told of, and when compositions
 * are due to be taken back. systemctl is a stand-in here; the real one is for tests/system.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/program.h"
#include "base/text.h"
#include "module/annotation.h"
#include "publish/follow.h"
#include "tap.h"

static void escapes(const char *name, const char *want)
{
	char *is = follow_escape(name);

	ok(!strcmp(is, want), "%s is %s in a unit's name (%s)", name, want, is);
	free(is);
}

/* Units that were started since this was last empty, each with a space behind it. */
static char started[256];

void programs_run(struct program *programs, size_t n, const struct program_limits *limits)
{
	(void)n;
	(void)limits;
	snprintf(started + strlen(started), sizeof(started) - strlen(started), "%s ", programs->argv[4]);
}

void program_free(struct program *program)
{
	(void)program;
}

static const char fault[] = "gpufabric-fault@3\\x2d2.service ";
static const char detached[] = "gpufabric-detached@3\\x2d2.service ";

static struct gf_slot slot_of(uint32_t state, uint32_t faults, uint64_t sequence)
{
	return (struct gf_slot){ .id = 7, .name = (char *)"3-2", .state = state, .faults = faults,
				 .since = sequence, .sequence = sequence };
}

/* A snapshot of one slot, of a load of the module; what it starts is @want. */
static void sees(struct follow *follow, uint64_t instance, struct gf_slot slot, const char *want, const char *what)
{
	struct gf_fabric fabric = { .slots = &slot, .n_slots = 1 };

	started[0] = '\0';
	follow_snapshot(follow, &fabric, instance);
	ok(!strcmp(started, want), "%s: %s", what, *started ? started : "none");
}

/* The same for an event. */
static void hears(struct follow *follow, unsigned int kind, struct gf_slot slot, const char *want, const char *what)
{
	const struct gf_message event = { .kind = kind, .has.slot = true, .slot = slot,
					  .sequence = slot.sequence, .instance = 1 };

	started[0] = '\0';
	follow_event(follow, &event);
	ok(!strcmp(started, want), "%s: %s", what, *started ? started : "none");
}

static void goes(uint32_t from, uint32_t to, const char *want, const char *what)
{
	const bool bad = from == GF_STATE_FAULT;
	struct follow follow = { 0 };

	sees(&follow, 1, slot_of(from, 0, 1), bad ? fault : "", "what it was");
	hears(&follow, GPUFABRIC_EVENT_KIND_SLOT_CHANGED, slot_of(to, 0, 2), want, what);
	follow_close(&follow);
	follow = (struct follow){ 0 };
	sees(&follow, 1, slot_of(from, 0, 1), bad ? fault : "", "what it was");
	sees(&follow, 1, slot_of(to, from != to, 2), want, "the same by a snapshot, as the event was lost");
	sees(&follow, 1, slot_of(to, from != to, 2), "", "once");
	follow_close(&follow);
}

static void units(void)
{
	goes(GF_STATE_ATTACHING, GF_STATE_FAULT, fault, "a fault");
	goes(GF_STATE_READY, GF_STATE_LOST, fault, "a GPU that is lost");
	goes(GF_STATE_DETACHING, GF_STATE_STUCK, fault, "a stuck slot");
	goes(GF_STATE_FAULT, GF_STATE_FAULT, "", "the same fault");
	goes(GF_STATE_DETACHING, GF_STATE_OFF, detached, "a detach");
	goes(GF_STATE_READY, GF_STATE_EMPTY, detached, "a card taken out");
	goes(GF_STATE_EMPTY, GF_STATE_OFF, "", "a card put in");
	goes(GF_STATE_FAULT, GF_STATE_OFF, "", "a cleared fault");
	goes(GF_STATE_OFF, GF_STATE_ATTACHING, "", "an attach");
	goes(GF_STATE_ATTACHED, GF_STATE_READY, "", "its end");
}

static void others(void)
{
	const struct gf_message operation = { .kind = GPUFABRIC_EVENT_KIND_OPERATION_STARTED, .has.operation = true };
	struct follow follow = { 0 };

	sees(&follow, 1, slot_of(GF_STATE_READY, 0, 1), "", "a GPU that is ready");
	hears(&follow, GPUFABRIC_EVENT_KIND_SLOT_REMOVED, slot_of(GF_STATE_EMPTY, 0, 2), "", "none for a slot that goes");
	hears(&follow, GPUFABRIC_EVENT_KIND_SLOT_ADDED, slot_of(GF_STATE_OFF, 0, 3), "", "nor for one that comes");
	follow_event(&follow, &operation);
	ok(!*started, "nor for an operation");
	follow_close(&follow);
}

static void missed(void)
{
	struct follow follow = { 0 };

	sees(&follow, 1, slot_of(GF_STATE_FAULT, 1, 10), fault, "the first snapshot has a fault");
	sees(&follow, 1, slot_of(GF_STATE_FAULT, 1, 12), "", "it is that one after other changes");
	sees(&follow, 1, slot_of(GF_STATE_FAULT, 2, 12), "", "and when the module counts another one meanwhile");
	sees(&follow, 1, slot_of(GF_STATE_FAULT, 3, 20), fault, "one that went and came");
	hears(&follow, GPUFABRIC_EVENT_KIND_SLOT_CHANGED, slot_of(GF_STATE_READY, 2, 18), "",
	      "an event that the snapshot includes");
	hears(&follow, GPUFABRIC_EVENT_KIND_SLOT_CHANGED, slot_of(GF_STATE_FAULT, 3, 20), "", "tells of nothing, to the last");
	hears(&follow, GPUFABRIC_EVENT_KIND_SLOT_CHANGED, slot_of(GF_STATE_OFF, 3, 21), "", "a later one is heard");
	hears(&follow, GPUFABRIC_EVENT_KIND_SLOT_CHANGED, slot_of(GF_STATE_LOST, 4, 22), fault, "as is the next loss");
	sees(&follow, 2, slot_of(GF_STATE_LOST, 4, 22), fault, "another load of the module tells its own");
	follow_close(&follow);
}

/* A watch that ends, and the next one. */
static void again(void)
{
	char dir[] = "/tmp/follow.XXXXXX", *file;
	struct follow follow = { 0 };

	if (!mkdtemp(dir))
		exit(1);
	file = mem_printf("%s/told", dir);
	follow_open(&follow, dir);
	sees(&follow, 1, slot_of(GF_STATE_READY, 0, 1), "", "a GPU that is ready");
	hears(&follow, GPUFABRIC_EVENT_KIND_SLOT_CHANGED, slot_of(GF_STATE_LOST, 1, 2), fault, "is lost");
	ok(!follow_keep(&follow), "which is written down");
	follow_close(&follow);
	follow_open(&follow, dir);
	sees(&follow, 1, slot_of(GF_STATE_LOST, 1, 3), "", "the next watch does not tell it again");
	hears(&follow, GPUFABRIC_EVENT_KIND_SLOT_CHANGED, slot_of(GF_STATE_READY, 1, 4), "", "it is back");
	follow_keep(&follow);
	follow_close(&follow);
	follow_open(&follow, dir);
	sees(&follow, 1, slot_of(GF_STATE_FAULT, 2, 5), fault, "what happens between two watches is told by the second");
	follow_close(&follow);
	follow_open(&follow, dir);
	sees(&follow, 1, slot_of(GF_STATE_OFF, 0, 6), detached, "so is a detach");
	ok(!follow_keep(&follow) && !truncate(file, 20), "a file that was cut");
	follow_close(&follow);
	follow_open(&follow, dir);
	sees(&follow, 1, slot_of(GF_STATE_FAULT, 2, 7), fault, "that counts as none");
	unlink(file);
	rmdir(dir);
	ok(follow_keep(&follow) && !follow_keep(&follow), "that it cannot be written is said once");
	follow_close(&follow);
	free(file);
}

static uint8_t bytes[2][GPUFABRIC_ANNOTATION_MAX];

static void lease(struct gf_composition *composition, int i, uint64_t end)
{
	const struct annotation note = { .lease = end, .instance = 77 };

	composition->annotation = bytes[i];
	composition->n_annotation = annotation_write(&note, bytes[i]);
	composition->instance = 77;
}

static void leases(void)
{
	struct gf_composition two[2] = { { .name = (char *)"short" }, { .name = (char *)"long" } };
	struct gf_fabric fabric = { .compositions = two, .n_compositions = 2 };
	struct follow follow = { 0 };

	lease(&two[0], 0, 2000);
	lease(&two[1], 1, 500000);
	ok(follow_patience(&follow, &fabric, 500) == 1500, "a turn is wanted at the first end");
	ok(!follow_takes_back(&follow, &fabric, 1999), "nothing is due before");
	ok(follow_takes_back(&follow, &fabric, 2000), "then it is");
	ok(!follow_takes_back(&follow, &fabric, 2001), "once");
	ok(follow_patience(&follow, &fabric, 2001) == 60000, "the next is asked for each minute");
	lease(&two[0], 0, 3000);
	ok(follow_patience(&follow, &fabric, 2001) == 999, "a lease that is longer now counts");
	ok(follow_takes_back(&follow, &fabric, 700000), "a late look finds both");
	ok(follow.due == 500000, "and has seen both");
	ok(follow_patience(&follow, &fabric, 700001) == -1, "after that there is nothing to wait for");
	follow.running = 1;
	ok(follow_patience(&follow, &fabric, 700001) == 200, "but for units that run");
	follow.running = 0;
	lease(&two[0], 0, 800000);
	ok(follow_takes_back(&follow, &fabric, 800000), "a third one is due");
	lease(&two[0], 0, 900000);
	two[0].instance = 78;
	ok(!follow_takes_back(&follow, &fabric, 900000) &&
		   follow_patience(&follow, &fabric, 900000) == -1,
	   "one of another load of the module never is");
	two[0].instance = 77;
	bytes[0][0] = ANNOTATION_VERSION + 1;
	ok(!follow_takes_back(&follow, &fabric, 900000), "nor is what a newer gpuctl wrote");
}

/* A start of a service that runs does nothing. */
static void late(void)
{
	struct gf_composition one = { .name = (char *)"late" };
	struct gf_fabric fabric = { .compositions = &one, .n_compositions = 1 };
	struct follow follow = { 0 };
	pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	follow.reaping = child;
	lease(&one, 0, 2000);
	ok(!follow_takes_back(&follow, &fabric, 2000), "a lease that ends while others are taken back has to wait");
	ok(follow_patience(&follow, &fabric, 2000) == 200, "for what is asked about");
	kill(child, SIGKILL);
	waitid(P_PID, (id_t)child, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	ok(follow_takes_back(&follow, &fabric, 2001), "then it is taken back, too");
	ok(!follow.reaping && !follow_takes_back(&follow, &fabric, 2002), "by one start");
}

static void orphans(void)
{
	struct gf_composition one = { .name = (char *)"lost" };
	struct gf_fabric fabric = { .compositions = &one, .n_compositions = 1 };
	struct follow follow = { 0 };

	follow_snapshot(&follow, &fabric, 1);
	ok(follow.changed, "a snapshot is a change");
	ok(!follow_takes_back(&follow, &fabric, 1), "a composition that has a client is left");
	one.flags = GPUFABRIC_COMPOSITION_FLAG_ORPHANED;
	follow_snapshot(&follow, &fabric, 1);
	ok(follow_takes_back(&follow, &fabric, 1), "one that has lost it is taken back");
	ok(!follow_takes_back(&follow, &fabric, 1), "by one start");
}

int main(void)
{
	escapes("100", "100");
	escapes("3-2", "3\\x2d2");
	escapes("0000:c1:00.0", "0000:c1:00.0");
	escapes(".a/b c", "\\x2ea-b\\x20c");
	units();
	others();
	missed();
	again();
	leases();
	late();
	orphans();
	return tap_done();
}
