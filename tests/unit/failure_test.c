// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/module/failure.c ctl/module/netlink_gen.c ctl/module/object.c ctl/base/text.c
/*
 * The sentence for each cause that the module knows, and for one that it will know.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "module/failure.h"
#include "tap.h"

#define ATTACHING GPUFABRIC_ACTIVITY_ATTACHING
#define DETACHING GPUFABRIC_ACTIVITY_DETACHING
#define CAUSE(name) .cause = GPUFABRIC_CAUSE_##name

static const struct {
	struct gf_failure failure;
	const char *text;
} rows[] = {
	{ { CAUSE(NONE) }, NULL },
	{ { CAUSE(POWER), .error = -EIO, .activity = DETACHING },
	  "the slot driver left the GPU in place (-5): see the kernel log" },
	{ { CAUSE(LINK), .error = -EIO, .activity = ATTACHING },
	  "power-on or link training failed (-5): see the kernel log and reseat the GPU" },
	{ { CAUSE(LINK), .address = (char *)"0000:05:00.0" }, "the link of 0000:05:00.0 is down" },
	{ { CAUSE(PRESENCE), .error = -ENODEV, .activity = ATTACHING },
	  "the slot driver finds no card: insert the GPU and try again" },
	{ { CAUSE(ENUMERATE), .error = -ENODEV, .activity = ATTACHING },
	  "no function answered after power-on: reseat the GPU" },
	{ { CAUSE(ENUMERATE), .error = -EIO, .activity = ATTACHING },
	  "the GPU does not answer config reads: reseat it" },
	{ { CAUSE(ENUMERATE), .address = (char *)"0000:05:00.0" },
	  "0000:05:00.0 has stopped answering, and its link is up" },
	{ { CAUSE(PORT), .address = (char *)"0000:05:00.0" },
	  "0000:05:00.0 has stopped answering, and so has the port above it" },
	{ { CAUSE(ENUMERATE) }, "the GPU does not answer config reads: power-cycle the slot" },
	{ { CAUSE(RESOURCES), .error = -ENOSPC, .activity = ATTACHING, .bar = 2, .size = 1ull << 37 },
	  "BAR 2 (131072 MiB) fits no window of the bridges above: boot with the GPU powered on" },
	{ { CAUSE(IDENTITY), .error = -EMEDIUMTYPE, .activity = ATTACHING, .vendor = 0x10de,
	    .device = 0x2331, .subsystem_vendor = 0x10de, .subsystem_device = 1 },
	  "found 10de:2331 (10de:0001), expected another GPU: correct the declared identity, or scan" },
	{ { CAUSE(DRIVER), .error = -ETIMEDOUT, .activity = ATTACHING, .waited = 300 },
	  "no driver bound to the GPU within 300 ms: see the kernel log for its probe" },
	{ { CAUSE(DRIVER), .error = -ETIMEDOUT, .activity = ATTACHING, .waited = 300,
	    .driver = (char *)"vfio-pci" },
	  "vfio-pci has not bound to the GPU within 300 ms: see the kernel log for its probe" },
	{ { CAUSE(TIMEOUT), .error = -ETIMEDOUT, .activity = ATTACHING },
	  "the kernel has not returned from attach: wait or reboot" },
	{ { CAUSE(TIMEOUT), .error = -ETIMEDOUT, .activity = DETACHING,
	    .address = (char *)"0000:05:00.0", .driver = (char *)"nvidia" },
	  "the kernel has not returned from detach of 0000:05:00.0, driver nvidia: wait or reboot" },
	{ { CAUSE(SURPRISE), .error = -ENODEV, .activity = ATTACHING },
	  "the GPU disappeared while its driver was awaited" },
	{ { CAUSE(SURPRISE) }, "the GPU went away without a request: insert it again or clear the slot" },
	{ { CAUSE(MEMORY), .error = -ENOMEM, .activity = DETACHING },
	  "the kernel is out of memory" },
	{ { CAUSE(RESET) }, "the GPU was reset and no driver restored it" },
	{ { CAUSE(ERROR) }, "no driver has recovered the GPU from an error: see the kernel log" },
	{ { CAUSE(BUSY), .error = -EBUSY, .activity = ATTACHING },
	  "the slot driver is busy with the port: try again" },
	{ { CAUSE(CHASSIS), .error = -EMEDIUMTYPE, .activity = ATTACHING },
	  "the slot holds a switch with slots of its own, which stays on: use the slots behind it" },
	{ { CAUSE(CHASSIS), .error = -EMEDIUMTYPE, .activity = DETACHING },
	  "the slot holds a switch with slots of its own: no request can remove the devices below it" },
	{ { CAUSE(OTHER), .error = -EMEDIUMTYPE, .activity = ATTACHING, .class = 0x020000 },
	  "the slot holds a device of class 020000 that is not a GPU" },
	{ { CAUSE(SWITCH_GONE) }, "the slot went away with its switch" },
	{ { CAUSE(REPLACED) }, "there is another GPU than before" },
	{ { CAUSE(REMAINS) }, "the GPU went away without a request and left functions of its card" },
	{ { CAUSE(CONTAINMENT), .error = -EIO, .activity = ATTACHING },
	  "the port contains an error of its card (DPC) and keeps the link down: gpuctl doctor says how to clear that" },
	{ { CAUSE(CHANGED), .error = -ESTALE, .activity = DETACHING },
	  "the slot has changed since the request was accepted: drain it again" },
	{ { CAUSE(WINDOW), .error = -ENOSPC, .activity = ATTACHING, .size = 1ull << 30 },
	  "the GPU needs a window of 1024 MiB, and the bridge above has no place for it" },
	{ { .cause = 4711, .error = -EIO, .slot_name = (char *)"3-2" },
	  "slot 3-2: cause 4711 (-5), which is unknown to this gpuctl" },
};

/* Whether there is a row for a cause. */
static bool is_tested(unsigned int cause)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].failure.cause == cause)
			return true;
	return false;
}

/* Seconds pass between the module's look and the sentence. */
static void the_task(void)
{
	struct gf_failure failure = {
		CAUSE(TIMEOUT), .activity = DETACHING, .has.task = true, .task = (char *)"kworker/0:1",
		.pid = 77, .task_address = (char *)"0000:05:00.0", .task_activity = DETACHING,
		.task_since = text_uptime() - 12500,
	};
	const char *begin = "the kernel has not returned from detach: wait or reboot; "
			    "kworker/0:1 (pid 77) has been unbinding 0000:05:00.0 for ";
	char *text = failure_text(&failure);

	ok(!strncmp(text, begin, strlen(begin)) && atoi(text + strlen(begin)) >= 12, "a thread of the kernel");
	free(text);
	failure.task = NULL;
	failure.task_activity = ATTACHING;
	text = failure_text(&failure);
	ok(strstr(text, "; a process has been binding 0000:05:00.0 for "), "a process has no name");
	free(text);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = failure_text(&rows[i].failure);

		if (rows[i].text)
			is_str(text, rows[i].text, rows[i].text);
		else
			ok(!text, "no failure, no sentence");
		free(text);
	}
	for (unsigned int cause = 0; gfnl_cause_name(cause); cause++)
		ok(is_tested(cause), "%s", gfnl_cause_name(cause));
	the_task();
	return tap_done();
}
