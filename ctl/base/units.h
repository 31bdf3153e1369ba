/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sizes and counts as people write them, strictly: the whole word must be
 * understood, and nothing overflows silently.
 *
 * Sizes need a unit: KiB MiB GiB TiB PiB and K M G T P are powers of 1024,
 * KB MB GB TB PB powers of 1000, B is a byte. Case does not matter, except
 * that "Gb" and its like are refused, because they mean bits elsewhere.
 */
#ifndef GPUCTL_SIZE_UNITS_H
#define GPUCTL_SIZE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

#define GIB (1ull << 30)

#define UNITS_TEXT_MAX 32

/* "160G", "1.5TiB", "160GB" to bytes; at least one byte. */
int units_parse_bytes(const char *s, uint64_t *bytes, struct fault *f);

/* "70B", "1.5T", "350M", "8030261248" to a count; K M B T are powers of 1000. */
int units_parse_count(const char *s, uint64_t *count, struct fault *f);

/* The same for parameters: a bare number below a million lacks its unit. */
int units_parse_params(const char *s, uint64_t *params, struct fault *f);

/* Lengths of contexts: "8192", "8K" is 8192, "1M" is 1048576. */
int units_parse_context(const char *s, uint64_t *tokens, struct fault *f);

/* These return @buf. "131.4 GiB"; "175.0 GB"; "70.55 B"; "70,553,706,496". */
const char *units_gib(char buf[UNITS_TEXT_MAX], uint64_t bytes);
const char *units_gb(char buf[UNITS_TEXT_MAX], uint64_t bytes);
const char *units_count(char buf[UNITS_TEXT_MAX], uint64_t count);
const char *units_grouped(char buf[UNITS_TEXT_MAX], uint64_t count);

#endif
