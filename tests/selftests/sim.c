// SPDX-License-Identifier: GPL-2.0-only
/* The simulator, as the tests use it: load, break, put back. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim.h"

#define KSFT_SKIP 4

static void skip_all(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	exit(KSFT_SKIP);
}

static int shell(const char *command)
{
	fflush(stdout);
	return system(command);
}

const char *sim_mode(void)
{
	const char *mode = getenv("GF_SIM_MODE");

	return mode && mode[0] ? mode : "own";
}

const char *sim_slot(unsigned int sw, unsigned int slot)
{
	static char names[16][GF_NAME];
	static unsigned int turn;
	char *name = names[turn++ % 16];

	if (!strcmp(sim_mode(), "pciehp"))
		snprintf(name, GF_NAME, "%u", (sw + 1) * 100 + slot);
	else
		snprintf(name, GF_NAME, "sim%u-%u", sw, slot);
	return name;
}

int sim_set(unsigned int sw, unsigned int slot, const char *knob, const char *order)
{
	char path[128];
	int fd, err = 0;

	snprintf(path, sizeof(path), "/sys/kernel/debug/gpufabric_sim/slot%u.%u/%s", sw, slot, knob);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, order, strlen(order)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static struct gf_composition composition;
static char names[GPUFABRIC_MEMBERS_MAX][GF_NAME];
static unsigned int n_names;

static int note_name(const struct nlmsghdr *part, void *context)
{
	(void)context;
	gf_read_composition(gf_attr(part, GPUFABRIC_A_COMPOSITION), &composition);
	if (n_names < GPUFABRIC_MEMBERS_MAX)
		strcpy(names[n_names++], composition.name);
	return 0;
}

/* Give every composition back, with its GPUs still attached. */
static int release_all(struct gf *gf, struct gf *watch)
{
	static struct gf_request request;
	struct gf_operation end;
	int err;

	n_names = 0;
	gf_begin(&request, gf, GPUFABRIC_CMD_COMPOSITION_GET, 0);
	err = gf_dump(gf, &request, note_name, NULL);
	for (unsigned int i = 0; !err && i < n_names; i++) {
		do {
			err = ask_and_wait(gf, watch, &(struct ask){ .command = GPUFABRIC_CMD_RELEASE, .name = names[i],
								   .flags = GPUFABRIC_RELEASE_FLAG_KEEP }, &end);
			/* An operation on it is under way: any event may be its end. */
			if (err == -EBUSY)
				watch_operation(watch, 0, NULL);
		} while (err == -EBUSY);
	}
	return err;
}

/* What the program before this one left behind; unloading is refused else. */
static void unload(void)
{
	static struct gf gf, watch;

	if (!gf_open(&gf) && !watch_open(&watch))
		release_all(&gf, &watch);
	gf_close(&gf);
	gf_close(&watch);
	/* The last operation ends a moment after its event. */
	if (shell("for try in $(seq 100); do"
		  " [ -e /sys/module/gpufabric ] || break; rmmod gpufabric 2>/dev/null && break; sleep 0.1; done;"
		  " [ ! -e /sys/module/gpufabric ] &&"
		  " { [ ! -e /sys/module/gpufabric_sim ] || rmmod gpufabric_sim; }")) {
		printf("Bail out! the modules do not unload\n");
		exit(1);
	}
}

void sim_load(const char *parameters)
{
	char command[512];

	if (geteuid())
		skip_all("needs root");
	if (shell("modinfo gpufabric gpufabric_sim >/dev/null 2>&1"))
		skip_all("gpufabric and gpufabric_sim are not installed");
	unload();
	snprintf(command, sizeof(command), "modprobe gpufabric_sim mode=%s %s && modprobe gpufabric", sim_mode(),
		 parameters);
	if (shell(command)) {
		printf("Bail out! the modules do not load: %s\n", command);
		exit(1);
	}
}

static int detach(struct gf *gf, struct gf *watch, const char *name)
{
	struct ask_slot one = { .name = name, .has_generation = true };
	struct gf_operation end;
	int err = ask_drain(gf, name, 0, &one.generation);

	if (err)
		return err;
	return ask_and_wait(gf, watch, &(struct ask){ .command = GPUFABRIC_CMD_DETACH, .slots = &one,
						       .n_slots = 1 }, &end);
}

static int settle(struct gf *gf, struct gf *watch, const char *name)
{
	struct gf_slot slot;
	int err = 0;

	for (int tries = 0; tries < 20 && !err; tries++) {
		err = get_slot(gf, name, &slot);
		if (err)
			break;
		if (slot.flags & GPUFABRIC_SLOT_FLAG_QUARANTINED) {
			err = ask_slot(gf, GPUFABRIC_CMD_CLEAR, name, -1);
			continue;
		}
		switch (slot.state) {
		case GF_STATE_OFF:
			return 0;
		case GF_STATE_READY:
			err = detach(gf, watch, name);
			break;
		case GF_STATE_DRAINING:
			err = ask_slot(gf, GPUFABRIC_CMD_DRAIN_ABORT, name, -1);
			break;
		case GF_STATE_FAULT:
		case GF_STATE_LOST:
			err = ask_slot(gf, GPUFABRIC_CMD_CLEAR, name, -1);
			break;
		default: {
			static struct gf_event event;

			err = watch_next(watch, &event, ASK_PATIENCE_MS);
		}
		}
	}
	return err ? err : -EBUSY;
}

int sim_reset(struct gf *gf, struct gf *watch, unsigned int slots, const char *model)
{
	char insert[64];
	int err = 0;

	snprintf(insert, sizeof(insert), "insert %s", model);
	for (unsigned int i = 0; i < slots; i++) {
		sim_set(0, i, "fail", "none");
		sim_set(0, i, "bar_bytes", "0");
		sim_set(0, i, "link", "full");
		sim_set(0, i, "driver", "probe-fail 0");
		sim_set(0, i, "driver", "probe-slow 0");
		sim_set(0, i, "driver", "remove-release");
		/* Refused where a card is; elsewhere its slot driver powers it. */
		if (!sim_set(0, i, "surprise", insert) && !err)
			err = watch_state(gf, watch, sim_slot(0, i), GF_STATE_READY);
	}
	if (!err)
		err = release_all(gf, watch);
	for (unsigned int i = 0; i < slots && !err; i++) {
		err = settle(gf, watch, sim_slot(0, i));
		if (!err)
			sim_set(0, i, "model", model);
	}
	if (err)
		printf("# reset: %s: %s\n", strerror(-err), gf->text);
	return err ? -1 : 0;
}
