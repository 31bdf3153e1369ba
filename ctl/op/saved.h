/* SPDX-License-Identifier: GPL-2.0-only */
/* Compositions in a file, across reboots and upgrades. */
#ifndef GPUCTL_SAVED_H
#define GPUCTL_SAVED_H

#include "base/fault.h"
#include "module/annotation.h"

/* Where they are kept when no file is named. */
#define SAVED_FILE "/var/lib/gpuctl/compositions.json"

/**
 * struct saved_slot - a member
 * @name: of the slot
 * @ids: of its GPU, vendor 0 when they were not known
 * @serial: of its GPU, 0 when it was not known
 */
struct saved_slot {
	char *name;
	struct gf_ids ids;
	uint64_t serial;
};

/**
 * struct saved_composition - a composition as it was
 * @name: its name
 * @note: what it was annotated with, but for the lease
 * @bytes: an annotation that is not known, NULL otherwise
 * @n_bytes: its length
 * @owner: user id
 * @lease: its end, milliseconds since the epoch, 0 for none
 * @slots: its members
 * @n_slots: how many, at least one
 */
struct saved_composition {
	char *name;
	struct annotation note;
	uint8_t *bytes;
	size_t n_bytes;
	uint32_t owner;
	uint64_t lease;
	struct saved_slot *slots;
	size_t n_slots;
};

/**
 * struct saved - the contents of a file
 * @when: when it was written, milliseconds since the epoch, 0 when it does not say
 * @items: the compositions
 * @n: how many
 */
struct saved {
	uint64_t when;
	struct saved_composition *items;
	size_t n;
};

/* The text of a file for what is composed @now, which is @boot by text_uptime(); caller frees. */
char *saved_print(const struct gf_fabric *fabric, uint64_t now, uint64_t boot);

/*
 * Read the text of a file, @len bytes. Strict: what is not understood, or comes from a
 * newer gpuctl, is an error. Returns 0 or -EINVAL with the reason, which begins with
 * @file; on error nothing is to be freed.
 */
int saved_parse(struct saved *saved, const char *file, const char *text, size_t len,
		struct fault *fault);
void saved_free(struct saved *saved);

/*
 * Milliseconds that are left of the lease of a composition when the clock on the wall shows @now,
 * 0 when it is over.
 */
uint64_t saved_left(const struct saved *saved, const struct saved_composition *composition,
		    uint64_t now);

#endif /* GPUCTL_SAVED_H */
