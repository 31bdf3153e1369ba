/* SPDX-License-Identifier: GPL-2.0-only */
/* On what terms GPUs come and go: what all operations have in common. */
#ifndef GPUCTL_TERMS_H
#define GPUCTL_TERMS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct op_terms - as a command was told them; all zero is the default
 * @timeout_ms: deadline of each slot's operation, 0 for the module's own
 * @reason: free text for the history, NULL for none
 * @driver: which driver is to bind and no other, NULL for the kernel's choice
 * @harm: try although windows cannot take a GPU
 * @dirty: take GPUs as they are, whatever others have left in them
 * @force: go on although processes hold a GPU, or a composition claims its slot
 * @wait_ms: how long holders have to let go, 0: they have let go already
 * @signal: what is sent to holders first, 0 for nothing
 */
struct op_terms {
	uint64_t timeout_ms;
	const char *reason;
	const char *driver;
	bool harm;
	bool dirty;
	bool force;
	uint64_t wait_ms;
	int signal;
};

#endif /* GPUCTL_TERMS_H */
