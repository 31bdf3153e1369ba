/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers that a seed decides. What is sent depends on nothing else: not on
 * answers, not on time. Only the generation of a slot, the ticket of a drain,
 * is filled in with what the kernel said last.
 */
#ifndef FUZZ_RANDOM_H
#define FUZZ_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

extern uint64_t random_state;

static inline uint64_t random_u64(void)
{
	uint64_t value = random_state += 0x9e3779b97f4a7c15ULL;

	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ULL;
	value = (value ^ value >> 27) * 0x94d049bb133111ebULL;
	return value ^ value >> 31;
}

/* 0 ... @count - 1 */
static inline uint32_t random_below(uint32_t count)
{
	return (uint32_t)((random_u64() >> 32) * count >> 32);
}

/* Once in @count times. */
static inline bool random_once_in(uint32_t count)
{
	return !random_below(count);
}

#define RANDOM_OF(array) ((array)[random_below(sizeof(array) / sizeof((array)[0]))])

#endif /* FUZZ_RANDOM_H */
