/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Byte counts are multiplied in 128 bits and come back saturated: no shape
 * within the catalogue's ranges can wrap into something that seems to fit.
 */
#ifndef GPUCTL_SIZE_WIDE_H
#define GPUCTL_SIZE_WIDE_H

#include <stdint.h>

#define u128 __uint128_t

static inline uint64_t wide_saturate(u128 n)
{
	return n > UINT64_MAX ? UINT64_MAX : (uint64_t)n;
}

static inline u128 wide_div_up(u128 n, u128 by)
{
	return (n + by - 1) / by;
}

static inline uint64_t add_saturate(uint64_t a, uint64_t b)
{
	return wide_saturate((u128)a + b);
}

#endif
