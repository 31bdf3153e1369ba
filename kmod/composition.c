// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Compositions
 *
 * A composition claims slots; a slot is claimed by at most one. Claims are taken when a request
 * is accepted, before anything is powered, and given back when the operation that removes the
 * slots ends, so two requests can never get the same GPU. The module never ends a composition by
 * itself: a client that dies leaves it orphaned, for user space to release.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <net/netlink.h>

#include "composition.h"
#include "netlink.h"

/*
 * Make a composition that is not listed yet. Returns the composition with one reference, NULL
 * without memory or while the module is going away.
 */
struct gf_composition *gf_composition_alloc(const char *name)
{
	struct gf_composition *composition = kzalloc(sizeof(*composition), GFP_KERNEL);

	if (!composition)
		return NULL;
	if (!try_module_get(THIS_MODULE)) {
		kfree(composition);
		return NULL;
	}
	kref_init(&composition->ref);
	strscpy(composition->name, name, sizeof(composition->name));
	composition->created = gf_now_ms();
	composition->state = GPUFABRIC_COMPOSITION_STATE_COMPOSING;
	INIT_LIST_HEAD(&composition->members);
	return composition;
}

static void composition_release(struct kref *ref)
{
	struct gf_composition *composition = container_of(ref, struct gf_composition, ref);

	kfree(composition);
	module_put(THIS_MODULE);
}

void gf_composition_get(struct gf_composition *composition)
{
	kref_get(&composition->ref);
}

void gf_composition_put(struct gf_composition *composition)
{
	kref_put(&composition->ref, composition_release);
}

/**
 * gf_composition_list() - enter a composition into the list
 * @composition: composition; the list takes over the caller's reference
 *
 * Return: 0 or -ENOMEM.
 */
int gf_composition_list(struct gf_composition *composition)
{
	int err;

	gf_assert_locked();
	err = xa_alloc_cyclic(&gf.compositions, &composition->id, composition,
			      XA_LIMIT(1, INT_MAX), &gf.next_composition, GFP_KERNEL);
	if (err < 0)
		return err;
	gf.nr_compositions++;
	return 0;
}

/* End a composition. */
void gf_composition_unlist(struct gf_composition *composition)
{
	gf_assert_locked();
	WARN_ON_ONCE(!list_empty(&composition->members));
	xa_erase(&gf.compositions, composition->id);
	gf.nr_compositions--;
	gf_event_composition(composition, GPUFABRIC_EVENT_KIND_COMPOSITION_REMOVED);
	gf_composition_put(composition);
}

struct gf_composition *gf_composition_find(u32 id)
{
	gf_assert_locked();
	return xa_load(&gf.compositions, id);
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

/**
 * gf_composition_annotate() - keep what user space wants to be kept
 * @composition: composition
 * @annotation: of a request, NULL to leave it as it is
 */
void gf_composition_annotate(struct gf_composition *composition, const struct nlattr *annotation)
{
	gf_assert_locked();
	if (!annotation)
		return;
	composition->annotation_len = nla_len(annotation);
	memcpy(composition->annotation, nla_data(annotation), composition->annotation_len);
	composition->generation++;
}

/* Change the state of a composition and announce it. */
void gf_composition_state(struct gf_composition *composition,
			  enum gpufabric_composition_state state)
{
	gf_assert_locked();
	if (composition->state == state)
		return;
	composition->state = state;
	gf_event_composition(composition, GPUFABRIC_EVENT_KIND_COMPOSITION_CHANGED);
}

/**
 * gf_composition_claim() - give a slot to a composition
 * @composition: composition
 * @slot: slot that nobody claims
 * @member: memory for the membership; the composition owns it from here on
 */
void gf_composition_claim(struct gf_composition *composition,
			  struct gf_slot *slot, struct gf_member *member)
{
	gf_assert_locked();
	WARN_ON_ONCE(slot->composition);
	member->slot = gf_slot_get(slot);
	list_add_tail(&member->list, &composition->members);
	composition->nr_members++;
	composition->generation++;
	slot->composition = composition;
	gf_event_slot(slot, GPUFABRIC_EVENT_KIND_SLOT_CHANGED);
	gf_slot_publish(slot);
}

/* Take a slot back from its composition. */
void gf_composition_unclaim(struct gf_slot *slot)
{
	struct gf_composition *composition = slot->composition;
	struct gf_member *member;

	gf_assert_locked();
	if (!composition)
		return;
	list_for_each_entry(member, &composition->members, list) {
		if (member->slot == slot)
			break;
	}
	list_del(&member->list);
	composition->nr_members--;
	composition->generation++;
	slot->composition = NULL;
	/* What was told gone is not told again. */
	if (!slot->retired) {
		gf_event_slot(slot, GPUFABRIC_EVENT_KIND_SLOT_CHANGED);
		gf_slot_publish(slot);
	}
	kfree(member);
	gf_slot_put(slot);
}

/* Whether all members are usable. */
void gf_composition_judge(struct gf_composition *composition)
{
	enum gpufabric_composition_state state = GPUFABRIC_COMPOSITION_STATE_ACTIVE;
	struct gf_member *member;

	gf_assert_locked();
	list_for_each_entry(member, &composition->members, list) {
		if (!gf_state_has_gpu(member->slot->state) || member->slot->retired)
			state = GPUFABRIC_COMPOSITION_STATE_DEGRADED;
	}
	gf_composition_state(composition, state);
}

/* A member changed its state. */
void gf_composition_slot_changed(struct gf_composition *composition, struct gf_slot *slot)
{
	gf_assert_locked();
	if (!composition->op)
		gf_composition_judge(composition);
}

/* A client is gone. */
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
		gf_event_composition(composition, GPUFABRIC_EVENT_KIND_COMPOSITION_CHANGED);
	}
}
