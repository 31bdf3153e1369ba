/* SPDX-License-Identifier: GPL-2.0-only */
/* A replay as a picture: demand and allocation over time, moves below. */
#ifndef GPUCTL_PLAN_PICTURE_H
#define GPUCTL_PLAN_PICTURE_H

#include <stddef.h>

/**
 * struct picture - what is drawn
 * @title: above it
 * @unit: what a step of time is, such as "h"
 * @n: steps
 * @demand: GPUs that are wanted in each, @allocated those that are used or held
 * @moves: GPUs that change hands in each
 * @pool: GPUs, a line
 */
struct picture {
	const char *title;
	const char *unit;
	size_t n;
	const double *demand;
	const double *allocated;
	const double *moves;
	double pool;
};

/* SVG; caller frees. */
char *picture_svg(const struct picture *p);

#endif
