// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Compositions
 *
 * A slot is claimed by at most one composition. Claims are taken when a request is accepted,
 * before anything is powered, and given back when the operation that removes the slots ends, so
 * two requests never get the same GPU. The module ends no composition: a client that dies leaves
 * it orphaned, for user space to release.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "netlink.h"

/* Not listed yet, with one reference; NULL without memory. */
struct gf_composition *gf_composition_alloc(const char *name)
{
	struct gf_composition *composition = kzalloc(sizeof(*composition), GFP_KERNEL);

	if (!composition)
		return NULL;
	kref_init(&composition->ref);
	strscpy(composition->name, name, sizeof(composition->name));
	composition->created = gf_now_ms();
	composition->state = GPUFABRIC_COMPOSITION_STATE_COMPOSING;
	INIT_LIST_HEAD(&composition->members);
	return composition;
}

static void composition_release(struct kref *ref)
{
	kfree(container_of(ref, struct gf_composition, ref));
}

void gf_composition_put(struct gf_composition *composition)
{
	kref_put(&composition->ref, composition_release);
}

/*
 * Enter a composition into the list, which takes over the caller's reference. The caller has an
 * operation, which holds the module.
 */
int gf_composition_list(struct gf_composition *composition)
{
	int err;

	gf_assert_locked();
	err = xa_alloc_cyclic(&gf.compositions, &composition->id, composition,
			      XA_LIMIT(1, INT_MAX), &gf.next_composition, GFP_KERNEL);
	if (err < 0)
		return err;
	__module_get(THIS_MODULE);
	gf.nr_compositions++;
	return 0;
}

void gf_composition_unlist(struct gf_composition *composition)
{
	gf_assert_locked();
	WARN_ON_ONCE(!list_empty(&composition->members));
	xa_erase(&gf.compositions, composition->id);
	gf.nr_compositions--;
	gf_event(GPUFABRIC_EVENT_KIND_COMPOSITION_REMOVED, gf_fill_composition, composition);
	gf_composition_put(composition);
	module_put(THIS_MODULE);
}

struct gf_composition *gf_composition_find_name(const char *name)
{
	struct gf_composition *composition;
	unsigned long id;

	gf_assert_locked();
	xa_for_each(&gf.compositions, id, composition) {
		if (!strcmp(composition->name, name))
			return composition;
	}
	return NULL;
}

/* Keep what user space wants to be kept; NULL leaves it as it is. */
void gf_composition_annotate(struct gf_composition *composition, const struct nlattr *annotation)
{
	gf_assert_locked();
	if (!annotation)
		return;
	composition->annotation_len = nla_len(annotation);
	memcpy(composition->annotation, nla_data(annotation), composition->annotation_len);
	composition->generation = ++gf.generation;
}

void gf_composition_state(struct gf_composition *composition,
			  enum gpufabric_composition_state state)
{
	gf_assert_locked();
	if (composition->state == state)
		return;
	composition->state = state;
	gf_event(GPUFABRIC_EVENT_KIND_COMPOSITION_CHANGED, gf_fill_composition, composition);
}

void gf_composition_claim(struct gf_composition *composition, struct gf_slot *slot)
{
	gf_assert_locked();
	WARN_ON_ONCE(slot->composition);
	list_add_tail(&gf_slot_get(slot)->member, &composition->members);
	composition->nr_members++;
	composition->generation = ++gf.generation;
	slot->composition = composition;
	gf_event_slot(slot, GPUFABRIC_EVENT_KIND_SLOT_CHANGED);
	gf_slot_publish(slot);
}

void gf_composition_unclaim(struct gf_slot *slot)
{
	struct gf_composition *composition = slot->composition;

	gf_assert_locked();
	list_del(&slot->member);
	composition->nr_members--;
	composition->generation = ++gf.generation;
	slot->composition = NULL;
	/* What was told gone is not told again. */
	if (!slot->retired) {
		gf_event_slot(slot, GPUFABRIC_EVENT_KIND_SLOT_CHANGED);
		gf_slot_publish(slot);
	}
	gf_slot_put(slot);
}

/* An operation that is under way does so when it ends. */
void gf_composition_judge(struct gf_composition *composition)
{
	enum gpufabric_composition_state state = GPUFABRIC_COMPOSITION_STATE_ACTIVE;
	const struct gf_slot *slot;

	gf_assert_locked();
	if (composition->op)
		return;
	list_for_each_entry(slot, &composition->members, member) {
		if (!gf_state_has_gpu(slot->state) || slot->retired)
			state = GPUFABRIC_COMPOSITION_STATE_DEGRADED;
	}
	gf_composition_state(composition, state);
}

/*
 * A slot that is back, as with its slot driver, is still whose it was, unless an operation has it
 * or the one that went. Slots of one number exchange their names, and others their addresses.
 */
static bool pass_on(struct gf_slot *slot, struct gf_slot *heir)
{
	struct gf_composition *composition = slot->composition;

	if (!slot->retired || !composition || slot->op || heir->composition || heir->op ||
	    heir->flags & GPUFABRIC_SLOT_FLAG_UNMANAGED || strcmp(slot->address, heir->address) ||
	    (slot->port != heir->port && strcmp(slot->name, heir->name)))
		return false;
	gf_composition_unclaim(slot);
	gf_composition_claim(composition, heir);
	gf_event(GPUFABRIC_EVENT_KIND_COMPOSITION_CHANGED, gf_fill_composition, composition);
	gf_composition_judge(composition);
	return true;
}

void gf_composition_inherit(struct gf_slot *heir)
{
	struct gf_composition *composition;
	struct gf_slot *slot;
	unsigned long id;

	gf_assert_locked();
	xa_for_each(&gf.compositions, id, composition) {
		list_for_each_entry(slot, &composition->members, member) {
			if (pass_on(slot, heir))
				return;
		}
	}
}

/* When an operation or the module lets go of a slot: one that went may be back already. */
void gf_composition_bequeath(struct gf_slot *slot)
{
	struct gf_slot *heir;
	unsigned long id;

	gf_assert_locked();
	/* This one is back. A slot with the data of a composition is no heir. */
	if (!slot->retired && !slot->composition && !slot->former)
		gf_composition_inherit(slot);
	if (!slot->retired || !slot->composition)
		return;
	xa_for_each(&gf.slots, id, heir) {
		if (pass_on(slot, heir))
			return;
	}
}

void gf_composition_port_closed(u32 port)
{
	struct gf_composition *composition;
	unsigned long id;

	gf_assert_locked();
	xa_for_each(&gf.compositions, id, composition) {
		if (composition->port != port)
			continue;
		composition->port = 0;
		composition->flags |= GPUFABRIC_COMPOSITION_FLAG_ORPHANED;
		gf_event(GPUFABRIC_EVENT_KIND_COMPOSITION_CHANGED, gf_fill_composition,
			 composition);
	}
}
