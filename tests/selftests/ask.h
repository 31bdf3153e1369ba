/* SPDX-License-Identifier: GPL-2.0-only */
/* Whole requests, and waiting for what comes of them. */
#ifndef SELFTESTS_ASK_H
#define SELFTESTS_ASK_H

#include "gf.h"

/* How long a wait may last before it is given up: a guard, not an expectation. */
#define ASK_PATIENCE_MS 25000

/**
 * struct ask_slot - a slot that a request names
 * @name: by its name, or NULL
 * @id: by its id, or 0
 * @generation: generation to name, with @has_generation
 * @has_generation: name it
 * @expect: vendor, device, subsystem vendor and device to expect, with @expects
 * @expects: a bit for each of @expect to name
 * @order: its place among those of its switch, or 0
 * @remove: in resize a slot to give back
 */
struct ask_slot {
	const char *name;
	uint32_t id;
	uint32_t generation;
	bool has_generation;
	uint32_t expect[4];
	unsigned int expects;
	uint32_t order;
	bool remove;
};

/**
 * struct ask - a request; what is 0 or NULL is left out
 * @command: GPUFABRIC_CMD_*
 * @name: name of the composition
 * @slots: the slots
 * @n_slots: how many
 * @timeout: deadline of each slot in milliseconds
 * @driver_timeout: how long to wait for a driver
 * @driver: the driver that alone may bind
 * @flags: those of the command, such as GPUFABRIC_ATTACH_FLAG_*
 * @reason: for the history
 * @annotation: what to keep with the composition
 * @annotation_len: its length, 0 for that of a text
 * @generation: generation of the composition, with @has_generation
 * @has_generation: name it
 * @owner: user id, with @has_owner
 * @has_owner: name it
 * @judged_at: changes that it was judged at, with @has_judged_at
 * @has_judged_at: name them
 */
struct ask {
	uint8_t command;
	const char *name;
	const struct ask_slot *slots;
	unsigned int n_slots;
	uint32_t timeout;
	uint32_t driver_timeout;
	const char *driver;
	uint32_t flags;
	const char *reason;
	const char *annotation;
	size_t annotation_len;
	uint32_t generation;
	bool has_generation;
	uint32_t owner;
	bool has_owner;
	uint64_t judged_at;
	bool has_judged_at;
};

int ask(struct gf *gf, const struct ask *ask);
uint64_t ask_id(const struct gf *gf);
int ask_and_wait(struct gf *gf, struct gf *watch, const struct ask *ask, struct gf_operation *end);

/* One slot by name, without more ado; -1 stands for no generation. */
int ask_slot(struct gf *gf, uint8_t command, const char *slot, int64_t generation);
int ask_drain(struct gf *gf, const char *slot, uint32_t timeout, uint32_t *generation);

/* Functions, windows and needs of a slot that was read without. */
int get_parts(struct gf *gf, struct gf_slot *slot);
int get_slot(struct gf *gf, const char *name, struct gf_slot *slot);
int get_composition(struct gf *gf, const char *name, struct gf_composition *composition);
int get_last_history(struct gf *gf, const char *slot, struct gf_history *history);
uint64_t get_sequence(struct gf *gf);
uint64_t get_changes(struct gf *gf);

int watch_open(struct gf *watch);
int watch_next(struct gf *watch, struct gf_event *event, int timeout_ms);
int watch_operation(struct gf *watch, uint64_t id, struct gf_operation *end);
int watch_state(struct gf *gf, struct gf *watch, const char *slot, uint32_t state);

#endif /* SELFTESTS_ASK_H */
