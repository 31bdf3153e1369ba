// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: failures
 *
 * The module says what happened by codes: a cause, an errno, what was under way, and what it
 * is about. The sentence, and what an admin can do, are made here alone.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "module/failure.h"
#include "base/text.h"

#define MIB ((uint64_t)1 << 20)

/* Formats that are too long for the place where they are used. */
static const char link_failed[] =
	"power-on or link training failed (%d): see the kernel log and reseat the GPU";
static const char other_found[] =
	"found %04x:%04x (%04x:%04x), expected another GPU: correct the declared identity, or scan";
static const char bar_unplaced[] =
	"BAR %u (%u MiB) fits no window of the bridges above: boot with the GPU powered on";
static const char window_unplaced[] =
	"the GPU needs a window of %u MiB, and the bridge above has no place for it";

/* "0000:05:00.0", or "the GPU". */
static const char *subject_of(const struct gf_failure *failure)
{
	return failure->address ? failure->address : "the GPU";
}

static void link_text(struct text *text, const struct gf_failure *f)
{
	if (f->activity == GPUFABRIC_ACTIVITY_ATTACHING)
		text_add(text, link_failed, f->error);
	else
		text_add(text, "the link of %s is down", subject_of(f));
}

static void enumerate_text(struct text *text, const struct gf_failure *f)
{
	if (f->activity == GPUFABRIC_ACTIVITY_ATTACHING && f->error == -ENODEV)
		text_add(text, "no function answered after power-on: reseat the GPU");
	else if (f->activity == GPUFABRIC_ACTIVITY_ATTACHING)
		text_add(text, "the GPU does not answer config reads: reseat it");
	else if (f->address)
		text_add(text, "%s has stopped answering, and its link is up", f->address);
	else
		text_add(text, "the GPU does not answer config reads: power-cycle the slot");
}

static void identity_text(struct text *text, const struct gf_failure *f)
{
	text_add(text, other_found, f->vendor, f->device, f->subsystem_vendor, f->subsystem_device);
}

static void driver_text(struct text *text, const struct gf_failure *f)
{
	if (f->driver)
		text_add(text, "%s has not", f->driver);
	else
		text_add(text, "no driver");
	text_add(text, " bound to the GPU within %" PRIu32 " ms: see the kernel log for its probe",
		 f->waited);
}

/* Who is likely to be waited for. */
static void task_text(struct text *text, const struct gf_failure *f)
{
	uint64_t now = text_uptime();

	if (!f->has.task)
		return;
	if (f->task && *f->task)
		text_add(text, "; %s (pid %" PRIu32 ")", f->task, f->pid);
	else
		text_add(text, "; a process");
	text_add(text, " has been %s %s for %" PRIu64 " s",
		 f->task_activity == GPUFABRIC_ACTIVITY_DETACHING ? "unbinding" : "binding",
		 f->task_address ? f->task_address : "a driver",
		 now > f->task_since ? (now - f->task_since) / 1000 : 0);
}

static void timeout_text(struct text *text, const struct gf_failure *f)
{
	text_add(text, "the kernel has not returned from %s",
		 f->activity == GPUFABRIC_ACTIVITY_ATTACHING ? "attach" : "detach");
	if (f->address)
		text_add(text, " of %s", f->address);
	if (f->driver)
		text_add(text, ", driver %s", f->driver);
	text_add(text, ": wait or reboot");
	task_text(text, f);
}

static void surprise_text(struct text *text, const struct gf_failure *f)
{
	if (f->activity == GPUFABRIC_ACTIVITY_ATTACHING)
		text_add(text, "the GPU disappeared while its driver was awaited");
	else
		text_add(text,
			 "the GPU went away without a request: insert it again or clear the slot");
}

/* Causes that need no more than their sentence. */
static const char *const plain[] = {
	[GPUFABRIC_CAUSE_PRESENCE] = "the slot driver finds no card: insert the GPU and try again",
	[GPUFABRIC_CAUSE_RESET] = "the GPU was reset and no driver restored it",
	[GPUFABRIC_CAUSE_BUSY] = "the slot driver is busy with the port: try again",
	[GPUFABRIC_CAUSE_SWITCH_GONE] = "the slot went away with its switch",
	[GPUFABRIC_CAUSE_REPLACED] = "there is another GPU than before",
	[GPUFABRIC_CAUSE_REMAINS] =
		"the GPU went away without a request and left functions of its card",
	[GPUFABRIC_CAUSE_CONTAINMENT] =
		"the port contains an error of its card (DPC) and keeps the link down: gpuctl doctor says how to clear that",
	[GPUFABRIC_CAUSE_CHANGED] =
		"the slot has changed since the request was accepted: drain it again",
};

static void text_by_cause(struct text *text, const struct gf_failure *f)
{
	bool attaching = f->activity == GPUFABRIC_ACTIVITY_ATTACHING;

	switch (f->cause) {
	case GPUFABRIC_CAUSE_POWER:
		text_add(text, "the slot driver left the GPU in place (%d): see the kernel log",
			 f->error);
		break;
	case GPUFABRIC_CAUSE_LINK:
		link_text(text, f);
		break;
	case GPUFABRIC_CAUSE_ENUMERATE:
		enumerate_text(text, f);
		break;
	case GPUFABRIC_CAUSE_PORT:
		text_add(text, "%s has stopped answering, and so has the port above it",
			 subject_of(f));
		break;
	case GPUFABRIC_CAUSE_RESOURCES:
		text_add(text, bar_unplaced, (unsigned int)f->bar, (unsigned int)(f->size / MIB));
		break;
	case GPUFABRIC_CAUSE_WINDOW:
		text_add(text, window_unplaced, (unsigned int)(f->size / MIB));
		break;
	case GPUFABRIC_CAUSE_IDENTITY:
		identity_text(text, f);
		break;
	case GPUFABRIC_CAUSE_DRIVER:
		driver_text(text, f);
		break;
	case GPUFABRIC_CAUSE_TIMEOUT:
		timeout_text(text, f);
		break;
	case GPUFABRIC_CAUSE_SURPRISE:
		surprise_text(text, f);
		break;
	case GPUFABRIC_CAUSE_MEMORY:
		text_add(text, "the kernel is out of memory");
		break;
	case GPUFABRIC_CAUSE_ERROR:
		text_add(text, "no driver has recovered %s from an error: see the kernel log",
			 subject_of(f));
		break;
	case GPUFABRIC_CAUSE_CHASSIS:
		text_add(text, "the slot holds a switch with slots of its own%s",
			 attaching ? ", which stays on: use the slots behind it" :
				     ": no request can remove the devices below it");
		break;
	case GPUFABRIC_CAUSE_OTHER:
		text_add(text, "the slot holds a device of class %06" PRIx32 " that is not a GPU",
			 f->class);
		break;
	default:
		if (f->cause < sizeof(plain) / sizeof(plain[0]) && plain[f->cause])
			text_add(text, "%s", plain[f->cause]);
		else
			text_add(text, "cause %" PRIu32 " (%d), which is unknown to this gpuctl",
				 f->cause, f->error);
	}
}

char *failure_text(const struct gf_failure *failure)
{
	struct text text = { 0 };

	if (!failure->cause)
		return NULL;
	if (failure->slot_name)
		text_add(&text, "slot %s: ", failure->slot_name);
	text_by_cause(&text, failure);
	return text.text;
}

void failure_add(struct text *text, const char *before, const struct gf_failure *failure)
{
	char *why = failure_text(failure);

	if (why)
		text_add(text, "%s%s", before, why);
	free(why);
}
