/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages as the spec has them, and what a careless or hostile client makes of them. */
#ifndef FUZZ_MESSAGE_H
#define FUZZ_MESSAGE_H

#include <linux/netlink.h>
#include <stddef.h>

#include "table.h"

#define FUZZ_SLOTS_MAX 64
/* Room for a message with more members than a request may have. */
#define FUZZ_MESSAGE_MAX (32 * 1024)

/**
 * struct fuzz_known - what messages can name
 * @n_slots: slots
 * @slots: each with its name, its id, and the generation that the kernel told
 *	last
 * @family: id of the family
 * @silent_dumps: the kernel does not pass on why a dump is refused: those before 6.2
 */
struct fuzz_known {
	unsigned int n_slots;
	struct {
		char name[64];
		uint32_t id;
		uint32_t generation;
	} slots[FUZZ_SLOTS_MAX];
	uint16_t family;
	bool silent_dumps;
};

extern struct fuzz_known known;

/* Names of the compositions that are asked for. */
#define FUZZ_COMPOSITIONS 8
const char *fuzz_composition_name(unsigned int index);

/* Makes one message at @to, which has room for FUZZ_MESSAGE_MAX; its size. */
size_t fuzz_make(void *to);

/* A whole request for one of the dumps. */
size_t fuzz_make_dump(void *to, unsigned int choice);

const struct fuzz_command *fuzz_command_of(uint8_t number);
void fuzz_learn_generation(uint32_t id, uint32_t generation);

#endif /* FUZZ_MESSAGE_H */
