/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_COMPOSITION_H
#define GPUFABRIC_COMPOSITION_H

#include <linux/kref.h>
#include <linux/list.h>

#include "slot.h"

struct gf_op;
struct nlattr;

/* A slot of a composition, under the fabric's lock. */
struct gf_member {
	struct list_head list;
	struct gf_slot *slot; /* referenced */
};

/*
 * A set of slots held for one workload. It holds a reference on the module, so that unloading is
 * refused while one lives.
 */
struct gf_composition {
	struct kref ref; /* one for being listed, one for each operation */
	u32 id;
	char name[GPUFABRIC_NAME_MAX + 1]; /* unique */
	kuid_t owner; /* that it is held for */
	u64 created; /* milliseconds since the epoch */

	/* Under the fabric's lock. */
	enum gpufabric_composition_state state;
	u32 flags; /* GPUFABRIC_COMPOSITION_FLAG_* */
	u32 port; /* netlink port that it is bound to, 0 when not */
	u32 generation; /* counts changes of @members and @annotation */
	u8 annotation[GPUFABRIC_ANNOTATION_MAX]; /* user space's, never looked into */
	unsigned int annotation_len;
	struct list_head members;
	unsigned int nr_members;
	struct gf_op *op; /* under way */
};

struct gf_composition *gf_composition_alloc(const char *name);
int gf_composition_list(struct gf_composition *composition);
void gf_composition_unlist(struct gf_composition *composition);
struct gf_composition *gf_composition_find(u32 id);
struct gf_composition *gf_composition_find_name(const char *name);
void gf_composition_get(struct gf_composition *composition);
void gf_composition_put(struct gf_composition *composition);
void gf_composition_annotate(struct gf_composition *composition, const struct nlattr *annotation);
void gf_composition_state(struct gf_composition *composition,
			  enum gpufabric_composition_state state);
void gf_composition_claim(struct gf_composition *composition,
			  struct gf_slot *slot, struct gf_member *member);
void gf_composition_unclaim(struct gf_slot *slot);
void gf_composition_slot_changed(struct gf_composition *composition, struct gf_slot *slot);
void gf_composition_judge(struct gf_composition *composition);
void gf_composition_port_closed(u32 port);

#endif /* GPUFABRIC_COMPOSITION_H */
