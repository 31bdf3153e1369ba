/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_LOSS_H
#define GPUFABRIC_LOSS_H

#include <linux/types.h>
#ifndef __KERNEL__
#include <stdbool.h>
typedef __u16 u16;
typedef __u64 u64;
#endif

/**
 * struct gf_sight - what a look at a GPU found
 * @known: it could be looked at; nobody may while it is reset, recovers from an
 *	error or sleeps, and the rest means nothing then
 * @frozen: because the kernel recovers it from an error, or has not been able to
 * @partial: some of its GPUs sleep, and the rest is about the others
 * @busy: somebody works on it under its lock, a driver that restores it perhaps:
 *	how it looks says nothing yet
 * @link: the link of its port is up; negative when the port does not answer
 * @answers: it answers config reads
 * @same: it has the ids and the serial number that the slot's GPU has
 * @bars: its BARs hold the addresses that the kernel gave them
 * @command: its Command register
 */
struct gf_sight {
	bool known;
	bool frozen;
	bool partial;
	bool busy;
	int link;
	bool answers;
	bool same;
	bool bars;
	u16 command;
};

/* A GPU that is recovered from an error has so many times as long. */
#define GF_RECOVERY_TIMES 20

/**
 * enum gf_loss_verdict - what follows from a look
 * @GF_LOSS_NONE: nothing new, or nothing yet
 * @GF_LOSS_FLAP: it was away for a moment and is as it was
 * @GF_LOSS_LOST: it has been away for long
 * @GF_LOSS_BACK: it was lost, and is as it was
 * @GF_LOSS_RESET: it answers, and has lost its registers or is another one
 */
enum gf_loss_verdict {
	GF_LOSS_NONE,
	GF_LOSS_FLAP,
	GF_LOSS_LOST,
	GF_LOSS_BACK,
	GF_LOSS_RESET
};

/**
 * struct gf_loss - what is remembered from look to look; zeroes for a new GPU
 * @seen: @command is known
 * @cut: it did not answer for a while, and has not been well since
 * @lost: it was said to be lost
 * @gone: it does not answer, since @gone_since
 * @wiped: it has not been as it was, since @wiped_since
 * @frozen: it has been recovered from an error, since @frozen_since
 * @gone_since: in milliseconds
 * @wiped_since: in milliseconds
 * @frozen_since: in milliseconds
 * @command: its Command register while it was well
 */
struct gf_loss {
	bool seen;
	bool cut;
	bool lost;
	bool gone;
	bool wiped;
	bool frozen;
	u64 gone_since;
	u64 wiped_since;
	u64 frozen_since;
	u16 command;
};

/**
 * gf_loss_judge() - what to make of what was seen of a GPU
 * @loss: what is remembered of it
 * @sight: what was seen now
 * @now: the time in milliseconds, by a clock that never goes back
 * @lost_ms: how long it may be away, and how long it may take to be as it was
 *
 * Pure: does nothing to the GPU or to its slot.
 *
 * Return: what follows; anything but GF_LOSS_NONE once for each time.
 */
enum gf_loss_verdict gf_loss_judge(struct gf_loss *loss,
				   const struct gf_sight *sight, u64 now,
				   unsigned int lost_ms);

#endif /* GPUFABRIC_LOSS_H */
