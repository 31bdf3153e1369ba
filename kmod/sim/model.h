/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_SIM_MODEL_H
#define GPUFABRIC_SIM_MODEL_H

#include "pure.h"

/* The first speed of the Link registers that means nothing yet. */
#define SIM_SPEED_RESERVED 7

/**
 * struct sim_link - speed and width of a link
 * @speed: as encoded in the Link registers: 1 is 2.5 GT/s, 5 is 32 GT/s
 * @width: number of lanes
 */
struct sim_link {
	u8 speed;
	u8 width;
};

/**
 * struct sim_model - a kind of GPU that the simulator can imitate
 * @name: what users call it
 * @device: device id below the simulator's private vendor id
 * @sub_vendor: imitated vendor id, found in the subsystem ids
 * @sub_device: imitated device id, found in the subsystem ids
 * @bar: index of the first register of the large memory BAR
 * @aux_bar: index of the first register of the small BAR
 * @bar_bytes: size of the large BAR
 * @aux_bytes: size of the small BAR
 * @link: the best link that the card can train
 * @class: 24-bit class code
 */
struct sim_model {
	const char *name;
	u16 device;
	u16 sub_vendor;
	u16 sub_device;
	u8 bar;
	u8 aux_bar;
	u64 bar_bytes;
	u64 aux_bytes;
	struct sim_link link;
	u32 class;
};

const struct sim_model *sim_model_find(const char *name, size_t len);
const struct sim_model *sim_model_at(unsigned int index);

#endif /* GPUFABRIC_SIM_MODEL_H */
