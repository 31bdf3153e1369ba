/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is known of the GPU in a slot, and how: read from it now, seen
 * earlier, declared by the admin, or nothing.
 */
#ifndef GPUCTL_IDENTITY_H
#define GPUCTL_IDENTITY_H

#include "catalogue/catalogue.h"
#include "cli/ctl.h"
#include "module/model.h"

/**
 * struct declared - a line of slots.d: what the admin says sits where
 * @pattern: slot name, may hold the wildcards of the shell
 * @name: catalogue name of the GPU, NULL when @ids says it
 * @ids: PCI ids; vendor 0 without @name: nothing is said of the GPU
 * @group: name of the group that it shares links with, NULL for nothing said
 * @gpus: how many of them the card has
 */
struct declared {
	char *pattern;
	char *name;
	struct gf_ids ids;
	char *group;
	unsigned int gpus;
};

/**
 * struct knowledge - catalogue and declarations of one run
 * @catalogue: empty when it could not be read
 * @declared: in the order of the files, the last match counts
 * @n_declared: how many
 */
struct knowledge {
	struct catalogue catalogue;
	struct declared *declared;
	size_t n_declared;
};

#define IDENTITY_GPUS 80

/**
 * enum identity_source - how gpuctl knows the GPU of a slot
 * @IDENTITY_UNKNOWN: it does not
 * @IDENTITY_LIVE: the module reads it now
 * @IDENTITY_SEEN: the module has read it since it was loaded
 * @IDENTITY_DECLARED: slots.d says so
 */
enum identity_source {
	IDENTITY_UNKNOWN,
	IDENTITY_LIVE,
	IDENTITY_SEEN,
	IDENTITY_DECLARED,
};

/**
 * struct identity - what a slot holds
 * @source: how that is known
 * @time: when it was read, milliseconds since the epoch, 0 unless live or last-seen
 * @ids: PCI ids; vendor 0 when unknown
 * @gpu: catalogue entry, NULL when the catalogue has none
 * @simulated: a GPU of the simulator
 * @label: for listings, "-" when unknown
 * @gpus: how many the card has, 1 when that is not known
 * @memory: bytes of each, 0 when unknown
 * @group: as declared: GPUs that links of their own connect (NVLink, NVSwitch, XGMI); NULL
 *	for none, else it lives as long as the knowledge
 */
struct identity {
	enum identity_source source;
	uint64_t time;
	struct gf_ids ids;
	const struct cat_gpu *gpu;
	bool simulated;
	char label[64];
	unsigned int gpus;
	uint64_t memory;
	const char *group;
};

/*
 * Read catalogue and slots.d. A file that cannot be read is a warning for a
 * command that shows (@must false) and an error for one that acts on it.
 */
int knowledge_load(struct ctl_ctx *ctx, struct knowledge *knowledge, bool must);
void knowledge_free(struct knowledge *knowledge);

/* Whether the admin has declared anything at all. */
bool knowledge_has_declarations(const struct ctl_ctx *ctx);

/* Parse the text of one file of slots.d; 0 or -EINVAL with the reason. */
int declared_parse(struct knowledge *knowledge, const char *file, const char *text,
		   struct fault *fault);

void identity_of(const struct knowledge *knowledge, const struct gf_slot *slot,
		 struct identity *identity);

/* The group of a slot as declared, NULL for none. */
const char *identity_group(const struct knowledge *knowledge, const struct gf_slot *slot);

/*
 * Other slots with a GPU that is on in groups of these, "nvl0: 3-1, 3-2"; newly allocated,
 * NULL when there are none.
 */
char *identity_partners(const struct knowledge *knowledge, const struct gf_fabric *fabric,
			const struct gf_slot *const *slots, size_t n);

/* How many GPUs the card in a slot has, some slots have, and those of a composition. */
unsigned int identity_count(const struct knowledge *knowledge, const struct gf_slot *slot);
size_t identity_slots(const struct knowledge *knowledge, struct gf_slot *const *slots, size_t n);
size_t identity_members(const struct knowledge *knowledge, const struct gf_fabric *fabric,
			const struct gf_composition *composition);

/* "2 x A16", or the label alone for one. */
const char *identity_gpus(char buf[IDENTITY_GPUS], const struct identity *identity);

/* "unknown", "live", "last-seen" or "declared", for programs. */
const char *identity_source_name(enum identity_source source);

/* "live", "seen 2 h ago", "declared", "-"; the buffer is returned. */
const char *identity_text(char buf[48], const struct identity *identity, uint64_t now);

/*
 * Driver that binds to this GPU and is loaded, NULL when none is: its probe is
 * worth waiting for. Looks at /sys/bus/pci/drivers.
 */
const char *identity_loaded_driver(const struct identity *identity, char *buf, size_t size);

#endif /* GPUCTL_IDENTITY_H */
