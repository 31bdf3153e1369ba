/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_LOSS_H
#define GPUFABRIC_LOSS_H

#include <linux/types.h>
#ifndef __KERNEL__
#include <stdbool.h>
typedef __u16 u16;
typedef __u64 u64;
#endif

/* What a look at a GPU found. */
struct gf_sight {
	/* Nobody may look while it is reset, recovers or sleeps; the rest means nothing then. */
	bool known;
	bool frozen; /* because the kernel recovers it from an error, or could not */
	bool partial; /* some of its GPUs sleep, and the rest is about the others */
	bool busy; /* somebody works on it under its lock, a driver that restores it perhaps */
	int link; /* of its port is up; negative when the port does not answer */
	bool contained; /* the port keeps the link down for an error */
	bool answers; /* config reads */
	bool same; /* it has the ids and the serial number of the slot's GPU */
	bool bars; /* its BARs hold the addresses that the kernel gave them */
	u16 command; /* its Command register */
};

/* A GPU that is recovered from an error has so many times as long. */
#define GF_RECOVERY_TIMES 20

enum gf_loss_verdict {
	GF_LOSS_NONE, /* nothing new, or nothing yet */
	GF_LOSS_FLAP, /* it was away for a moment and is as it was */
	GF_LOSS_LOST, /* it has been away for long */
	GF_LOSS_BACK, /* it was lost, and is as it was */
	GF_LOSS_RESET /* it answers, and has lost its registers or is another one */
};

/* What is remembered from look to look; zeroes for a new GPU. Times in milliseconds. */
struct gf_loss {
	bool seen; /* @command is known */
	bool cut; /* it did not answer for a while, and has not been well since */
	bool lost; /* it was said to be lost */
	bool gone; /* it does not answer, since @gone_since */
	bool wiped; /* it has not been as it was, since @wiped_since */
	bool frozen; /* it has been recovered from an error, since @frozen_since */
	u64 gone_since;
	u64 wiped_since;
	u64 frozen_since;
	u16 command; /* its Command register while it was well */
};

/*
 * What to make of what was seen of a GPU. @now: in milliseconds, by a clock that never goes back;
 * @lost_ms: how long it may be away, and take to be as it was. Pure. Says each thing once.
 */
enum gf_loss_verdict gf_loss_judge(struct gf_loss *loss, const struct gf_sight *sight, u64 now,
				   unsigned int lost_ms);

#endif /* GPUFABRIC_LOSS_H */
