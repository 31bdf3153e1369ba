// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the rate of this processor's time stamp counter in kHz, for the guests that count with
 * it: one that measures the rate as it boots, on a busy host, was seen to take a tenth of it,
 * and then ten of its seconds pass in one. See tests/vm/tsc.
 */

#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct moment {
	uint64_t ticks;
	uint64_t ns;
};

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* Both clocks at once: of some attempts, the one that took the fewest ticks. */
static struct moment moment_now(void)
{
	uint64_t least = UINT64_MAX;
	struct moment best = {};

	for (int i = 0; i < 50; i++) {
		uint64_t before = __rdtsc();
		uint64_t ns = clock_ns();
		uint64_t after = __rdtsc();

		if (after - before >= least)
			continue;
		least = after - before;
		best = (struct moment){ before + least / 2, ns };
	}
	return best;
}

int main(void)
{
	const struct timespec pause = { .tv_nsec = 20 * 1000 * 1000 };
	struct moment begin = moment_now(), end;

	nanosleep(&pause, NULL);
	end = moment_now();
	printf("%.0f\n", (end.ticks - begin.ticks) * 1e6 / (end.ns - begin.ns));
	return 0;
}
