// SPDX-License-Identifier: GPL-2.0-only
/*
 * turns COMMAND...: run it with long turns on a processor. Processes that mostly wait still get
 * theirs at once. Several emulated machines on few processors otherwise change places every 3 ms,
 * and a sixth of what they take is to fill the processor's caches again. See sched_setattr(2); a
 * kernel before 6.12 knows one length for all.
 */

#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* struct sched_attr, which the C library does not have. */
struct turns {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns;
	uint64_t deadline_ns;
	uint64_t period_ns;
};

int main(int argc, char **argv)
{
	struct turns turns = { .size = sizeof(turns),
			       .policy = SCHED_BATCH,
			       .runtime_ns = 20000000 };

	if (argc < 2)
		return 125;
	/* Without them it takes longer, and that is all. */
	(void)syscall(SYS_sched_setattr, 0, &turns, 0);
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
