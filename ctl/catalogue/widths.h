/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * P95 over P50 of engines that nobody has fitted, by task: with a policy of
 * their own, and of trainings with the generic one. Written by "make fit" with
 * TERMS; do not edit.
 */
#ifndef GPUCTL_CATALOGUE_WIDTHS_H
#define GPUCTL_CATALOGUE_WIDTHS_H

#define UNFITTED_P95(of) of(1.135), of(1.668), of(1.708), of(1.355)

#define UNKNOWN_P95(of) of(2.045), of(2.107), of(1.355)

#endif
