// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/module/annotation.c ctl/publish/follow.c ctl/base/program.c ctl/base/text.c ctl/module/model.c ctl/module/state.c ctl/module/object.c ctl/module/netlink_gen.c
/*
 * Which units are started for which change, and when compositions are due to be
 * taken back. Starting them is for tests/system.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* The unit for slot 3-2 that goes from one state to another, "" for none. */
static char *unit(uint32_t from, uint32_t to, bool told)
{
	struct gf_slot slot = { .id = 7, .name = (char *)"3-2", .state = from };
	struct gf_fabric fabric = { .slots = &slot, .n_slots = 1 };
	struct gf_message event = {
		.kind = GPUFABRIC_EVENT_KIND_SLOT_CHANGED,
		.has.slot = true,
		.slot = { .id = 7, .name = (char *)"3-2", .state = to },
		.has.previous = told,
		.was = from,
	};
	char *is = follow_unit(&fabric, &event);

	return is ? is : mem_strdup("");
}

static void starts(uint32_t from, uint32_t to, const char *want, const char *what)
{
	char *is = unit(from, to, true), *same = unit(from, to, false);

	ok(!strcmp(is, want), "%s: %s", what, *is ? is : "none");
	ok(!strcmp(same, want), "the same by what was known before: %s", same);
	free(is);
	free(same);
}

static void units(void)
{
	static const char fault[] = "gpufabric-fault@3\\x2d2.service";
	static const char detached[] = "gpufabric-detached@3\\x2d2.service";

	starts(GF_STATE_ATTACHING, GF_STATE_FAULT, fault, "a fault");
	starts(GF_STATE_READY, GF_STATE_LOST, fault, "a GPU that is lost");
	starts(GF_STATE_DETACHING, GF_STATE_STUCK, fault, "a stuck slot");
	starts(GF_STATE_FAULT, GF_STATE_FAULT, "", "the same fault");
	starts(GF_STATE_DETACHING, GF_STATE_OFF, detached, "a detach");
	starts(GF_STATE_READY, GF_STATE_EMPTY, detached, "a card taken out");
	starts(GF_STATE_EMPTY, GF_STATE_OFF, "", "a card put in");
	starts(GF_STATE_FAULT, GF_STATE_OFF, "", "a cleared fault");
	starts(GF_STATE_OFF, GF_STATE_ATTACHING, "", "an attach");
	starts(GF_STATE_ATTACHED, GF_STATE_READY, "", "its end");
}

static void others(void)
{
	struct gf_fabric fabric = { 0 };
	struct gf_message removed = { .kind = GPUFABRIC_EVENT_KIND_SLOT_REMOVED, .has.slot = true };
	struct gf_message started = { .kind = GPUFABRIC_EVENT_KIND_OPERATION_STARTED, .has.operation = true };

	ok(!follow_unit(&fabric, &removed), "none for a slot that goes");
	ok(!follow_unit(&fabric, &started), "none for an operation");
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

	follow_snapshot(&follow, &fabric);
	ok(follow.changed, "a snapshot is a change");
	ok(!follow_takes_back(&follow, &fabric, 1), "a composition that has a client is left");
	one.flags = GPUFABRIC_COMPOSITION_FLAG_ORPHANED;
	follow_snapshot(&follow, &fabric);
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
	leases();
	late();
	orphans();
	return tap_done();
}
