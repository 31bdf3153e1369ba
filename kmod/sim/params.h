/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_SIM_PARAMS_H
#define GPUFABRIC_SIM_PARAMS_H

#include "model.h"

/* A port that is found without a prefetchable window. */
#define SIM_NO_WINDOW	(~0U)

/* Most GPUs of one card, each behind a port of the card's switch. */
#define SIM_CARD_GPUS	6

/**
 * struct sim_card_spec - what one slot holds when the module is loaded
 * @model: the GPU, NULL for an empty slot
 * @off: the GPU is there but its slot is not powered
 * @audio: audio functions that a GPU has beside it
 * @bridge: the GPU is behind a bridge of the card that finds no bus number
 * @sriov: the GPU can have virtual functions
 * @ports: downstream ports of a switch on the card, a GPU behind each; 0 for a
 *	card without one
 * @slotted: these ports say that they implement slots
 * @nohp: the port has no hot-plug controller
 * @serial: serial number of the card, 0 for one that no other card has
 * @window_mib: prefetchable window of the port, 0 for what the parameter says,
 *	SIM_NO_WINDOW for none
 */
struct sim_card_spec {
	const struct sim_model *model;
	bool off;
	unsigned int audio;
	bool bridge;
	bool sriov;
	unsigned int ports;
	bool slotted;
	bool nohp;
	u64 serial;
	unsigned int window_mib;
};

/**
 * struct sim_layout - the slots that a list of GPUs may name
 * @switches: number of switches
 * @slots: number of slots of each switch
 * @clip: pass over what lies outside instead of refusing it
 */
struct sim_layout {
	unsigned int switches;
	unsigned int slots;
	bool clip;
};

int sim_parse_gpus(const char *list, const struct sim_layout *layout,
		   struct sim_card_spec *specs, char *error, size_t size);
int sim_parse_card(const char *text, struct sim_card_spec *spec);
const char *sim_audio_word(unsigned int audio);
const char *sim_switch_word(unsigned int ports, bool slotted);
int sim_parse_link(const char *text, struct sim_link *link);
const char *sim_link_speed_name(u8 speed);

#endif /* GPUFABRIC_SIM_PARAMS_H */
