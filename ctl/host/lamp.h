/* SPDX-License-Identifier: GPL-2.0-only */
/* What somebody who stands in front of a slot sees: its lamp, its latch, a power fault. */
#ifndef GPUCTL_HOST_LAMP_H
#define GPUCTL_HOST_LAMP_H

#include <stdint.h>

#include "base/tree.h"

/* The attention indicator, in the numbers of the PCI core. */
enum lamp {
	LAMP_OFF,
	LAMP_ON,
	LAMP_BLINK,
	LAMP_OTHER, /* anything else that the slot driver says */
};

/**
 * struct lamp_panel - what there is to see
 * @lamp: enum lamp, or a negative errno: -ENOENT without an indicator, -EAGAIN where
 *	the port sleeps
 * @latch: 1 open, 0 closed, negative where nothing is known
 * @power_fault: 1 the port's power controller has detected one, 0 not, negative as @latch
 */
struct lamp_panel {
	int lamp;
	int latch;
	int power_fault;
};

/* Nobody is woken for it. @slot as the slot driver calls it, @port its address. */
void lamp_look(const struct tree *tree, const char *slot, const char *port,
	       struct lamp_panel *panel);
/* What the indicator of a slot shows, which wakes its port; as &lamp_panel.lamp. */
int lamp_read(const struct tree *tree, const char *slot);
/* 0 or a negative errno. */
int lamp_set(const struct tree *tree, const char *slot, enum lamp lamp);
/* "off", "on", "blink" or "other". */
const char *lamp_name(int lamp);

#endif /* GPUCTL_HOST_LAMP_H */
