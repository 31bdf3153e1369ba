/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_COMPOSITION_H
#define GPUFABRIC_COMPOSITION_H

#include <linux/kref.h>
#include <linux/list.h>

#include "slot.h"

struct gf_op;
struct nlattr;

/**
 * struct gf_member - a slot of a composition
 * @list: in &gf_composition.members; under the fabric's lock
 * @slot: the slot, referenced
 */
struct gf_member {
	struct list_head list;
	struct gf_slot *slot;
};

/**
 * struct gf_composition - a set of slots held for one workload
 * @ref: one reference for being listed, one for each operation
 * @id: id
 * @name: name, unique
 * @owner: user that it is held for
 * @created: milliseconds since the epoch
 * @state: under the fabric's lock
 * @flags: GPUFABRIC_COMPOSITION_FLAG_*; under the fabric's lock
 * @port: netlink port that it is bound to, 0 when not; under the fabric's lock
 * @generation: counts changes of @members and @annotation; under the fabric's
 *	lock
 * @annotation: what user space keeps here, never looked into; under the
 *	fabric's lock
 * @annotation_len: its length in bytes; under the fabric's lock
 * @members: list of &struct gf_member; under the fabric's lock
 * @nr_members: how many; under the fabric's lock
 * @op: operation under way; under the fabric's lock
 *
 * A composition holds a reference on the module, so that unloading is refused
 * while one lives.
 */
struct gf_composition {
	struct kref ref;
	u32 id;
	char name[GPUFABRIC_NAME_MAX + 1];
	kuid_t owner;
	u64 created;
	enum gpufabric_composition_state state;
	u32 flags;
	u32 port;
	u32 generation;
	u8 annotation[GPUFABRIC_ANNOTATION_MAX];
	unsigned int annotation_len;
	struct list_head members;
	unsigned int nr_members;
	struct gf_op *op;
};

struct gf_composition *gf_composition_alloc(const char *name);
int gf_composition_list(struct gf_composition *composition);
void gf_composition_unlist(struct gf_composition *composition);
struct gf_composition *gf_composition_find(u32 id);
struct gf_composition *gf_composition_find_name(const char *name);
void gf_composition_get(struct gf_composition *composition);
void gf_composition_put(struct gf_composition *composition);
void gf_composition_annotate(struct gf_composition *composition,
			     const struct nlattr *annotation);
void gf_composition_state(struct gf_composition *composition,
			  enum gpufabric_composition_state state);
void gf_composition_claim(struct gf_composition *composition,
			  struct gf_slot *slot, struct gf_member *member);
void gf_composition_unclaim(struct gf_slot *slot);
void gf_composition_slot_changed(struct gf_composition *composition,
				 struct gf_slot *slot);
void gf_composition_judge(struct gf_composition *composition);
void gf_composition_port_closed(u32 port);

#endif /* GPUFABRIC_COMPOSITION_H */
