/* SPDX-License-Identifier: GPL-2.0-only */
/* Compositions in a file, across reboots and upgrades. */
#ifndef GPUCTL_SAVED_H
#define GPUCTL_SAVED_H

#include "catalogue/fault.h"
#include "lib/model.h"

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
 * @tenant: may be NULL
 * @label: may be NULL
 * @job: may be NULL
 * @owner: user id
 * @lease: its end, milliseconds since the epoch, 0 for none
 * @slots: its members
 * @n_slots: how many, at least one
 */
struct saved_composition {
	char *name, *tenant, *label, *job;
	uint32_t owner;
	uint64_t lease;
	struct saved_slot *slots;
	size_t n_slots;
};

struct saved {
	struct saved_composition *items;
	size_t n;
};

/* The text of a file for what is composed now; caller frees. */
char *saved_print(const struct gf_fabric *fabric, uint64_t now);

/*
 * Read the text of a file, @len bytes. Strict: what is not understood, or comes from a
 * newer gpuctl, is an error. Returns 0 or -EINVAL with the reason, which begins with
 * @file; on error nothing is to be freed.
 */
int saved_parse(struct saved *saved, const char *file, const char *text, size_t len,
		struct fault *fault);
void saved_free(struct saved *saved);

#endif /* GPUCTL_SAVED_H */
