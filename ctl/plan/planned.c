// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: this host in a plan
 *
 * GPUs that are not known, in quarantine, faulty or without room are not planned with. Pools
 * count the GPUs that are free; those of compositions stay with them until it is known which
 * of the compositions are planned.
 *
 * GPUs that are held stay with who holds them, unless there are programs that tell workloads to
 * let go: then whether one does is seen when it is told.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "choose/driver.h"
#include "choose/placement.h"
#include "choose/quota.h"
#include "host/holders.h"
#include "managers/bringing.h"
#include "op/hooks.h"
#include "plan/planned.h"

#define GIB (1024.0 * 1024 * 1024)
#define MINUTE_MS 60000

const char *planned_switch(const struct session *session, const struct gf_slot *slot)
{
	const struct gf_switch *sw = gf_switch_by_id(&session->fabric, slot->switch_id);

	return sw && sw->address ? sw->address : "switch";
}

const char *planned_kind(const struct session *session, const struct gf_slot *slot,
			 char name[PLANNED_KIND])
{
	struct identity identity;

	identity_of(&session->knowledge, slot, &identity);
	if (identity.gpu)
		snprintf(name, PLANNED_KIND, "%s", identity.gpu->id);
	else
		snprintf(name, PLANNED_KIND, "pci-%04x-%04x", identity.ids.vendor,
			 identity.ids.device);
	return name;
}

static bool known(const struct session *session, const struct gf_slot *slot)
{
	struct identity identity;

	identity_of(&session->knowledge, slot, &identity);
	return identity.source != IDENTITY_UNKNOWN;
}

bool planned_free(const struct session *session, const struct gf_slot *slot)
{
	struct verdict verdict;

	if (slot->composition || slot->operation.id ||
	    slot->flags & (GPUFABRIC_SLOT_FLAG_QUARANTINED | GPUFABRIC_SLOT_FLAG_UNMANAGED))
		return false;
	if (slot->state != GF_STATE_READY && slot->state != GF_STATE_OFF)
		return false;
	/* As pool_judge(): moves are made without --driver, and what is being brought is not there. */
	if (slot->state == GF_STATE_READY ? !driver_suits(NULL, slot) :
					    !bringing_is_free(slot->name))
		return false;
	placement_verdict(session, slot, &verdict);
	return verdict.now != GF_FIT_CANNOT && known(session, slot);
}

static uint32_t switch_of(const struct session *session, const struct gf_slot *slot,
			  struct plan_instance *in)
{
	const char *name = planned_switch(session, slot);
	size_t i;

	for (i = 0; i < in->n_switches; i++)
		if (!strcmp(in->switches[i].name, name))
			return (uint32_t)i;
	return plan_add_switch(in, name);
}

/* The index of a kind by its name; PLAN_NONE where it is not there yet. */
static uint32_t kind_index(const struct plan_instance *in, const char *name)
{
	uint32_t i;

	for (i = 0; i < in->n_kinds; i++)
		if (!strcmp(in->kinds[i].name, name))
			return i;
	return PLAN_NONE;
}

static void set_watts(struct plan_kind *kind, const struct cat_gpu *gpu)
{
	cat_gpu_fact(gpu, GPU_TDP_W, &kind->busy_w);
	cat_gpu_fact(gpu, GPU_IDLE_W, &kind->idle_w);
	if (kind->idle_w > kind->busy_w)
		kind->idle_w = kind->busy_w;
}

static uint32_t kind_of(const struct session *session, const struct gf_slot *slot,
			struct plan_instance *in)
{
	struct identity identity;
	char name[PLANNED_KIND];
	uint32_t i;

	planned_kind(session, slot, name);
	i = kind_index(in, name);
	if (i != PLAN_NONE)
		return i;
	identity_of(&session->knowledge, slot, &identity);
	i = plan_add_kind(in, name);
	in->kinds[i].memory_gib = (double)identity.memory / GIB;
	if (identity.gpu)
		set_watts(&in->kinds[i], identity.gpu);
	return i;
}

/* GPUs come and go: a workload may use kinds of which there is none just now. */
static void add_other_kinds(const struct session *session, struct plan_instance *in)
{
	const struct catalogue *cat = &session->knowledge.catalogue;
	enum gpu_trust trust;
	uint32_t kind;
	size_t i;

	for (i = 0; i < cat->n_gpus; i++) {
		if (kind_index(in, cat->gpus[i].id) != PLAN_NONE)
			continue;
		kind = plan_add_kind(in, cat->gpus[i].id);
		in->kinds[kind].memory_gib =
			(double)cat_gpu_memory_mib(&cat->gpus[i], &trust) / 1024;
		set_watts(&in->kinds[kind], &cat->gpus[i]);
	}
}

/* The pool that the GPUs of a slot belong to. */
static uint32_t planned_pool(const struct session *session, const struct gf_slot *slot,
			     struct plan_instance *in)
{
	uint32_t sw = switch_of(session, slot, in), kind = kind_of(session, slot, in), q;

	for (q = 0; q < in->n_pools; q++)
		if (in->pools[q].sw == sw && in->pools[q].kind == kind)
			return q;
	plan_add_pool(in, sw, kind, 0);
	in->pools[q].on = 0;
	return q;
}

static void planned_add_gpus(const struct session *session, const struct gf_slot *slot,
			     struct plan_instance *in)
{
	uint32_t gpus = identity_count(&session->knowledge, slot);
	uint32_t q = planned_pool(session, slot, in);

	in->pools[q].gpus += gpus;
	if (slot->state != GF_STATE_OFF)
		in->pools[q].on += gpus;
}

static bool is_there(const struct gf_slot *slot)
{
	return slot && (slot->state == GF_STATE_READY || slot->state == GF_STATE_ATTACHED);
}

static void planned_add_member(struct session *session, const struct gf_slot *slot, bool held,
			       struct plan_instance *in, struct plan_set *set)
{
	uint32_t gpus = identity_count(&session->knowledge, slot);
	uint32_t q = planned_pool(session, slot, in);
	size_t i;

	for (i = 0; i < set->n && set->has[i].pool != q;)
		i++;
	if (i == set->n) {
		set->has = mem_grow(set->has, i + 1, sizeof(*set->has));
		set->held = mem_grow(set->held, i + 1, sizeof(*set->held));
		set->has[i] = (struct plan_held){ q, 0 };
		set->held[i] = 0;
		set->n++;
	}
	set->has[i].gpus += gpus;
	set->held[i] += held ? gpus : 0;
}

/* Is it ours to change? What a client holds open, and what is not whole, is left alone. */
static bool planned_is_busy(const struct gf_composition *composition)
{
	return gf_operation_is_under_way(&composition->operation) ||
	       composition->state != GPUFABRIC_COMPOSITION_STATE_ACTIVE ||
	       (composition->flags &
		(GPUFABRIC_COMPOSITION_FLAG_BOUND | GPUFABRIC_COMPOSITION_FLAG_ORPHANED));
}

static void planned_add_composition(struct session *session,
				    const struct gf_composition *composition, bool asked,
				    struct plan_instance *in, struct plan_ahead *ahead)
{
	const struct gf_slot **slots = mem_zalloc(composition->n_members, sizeof(*slots));
	uint64_t last = 0, now = text_now();
	struct annotation note;
	struct plan_set *set;
	struct holders holders;
	size_t i, n = 0;
	bool told;

	ahead->sets = mem_grow(ahead->sets, ahead->n_sets + 1, sizeof(*ahead->sets));
	set = &ahead->sets[ahead->n_sets++];
	/* Whose it is cannot be known of every one: that is left alone. */
	told = annotation_of(composition, &note);
	*set = (struct plan_set){ .name = mem_strdup(composition->name),
				  .busy = !told || planned_is_busy(composition),
				  .tenant = *note.tenant ? mem_strdup(note.tenant) : NULL };
	for (i = 0; i < composition->n_members; i++) {
		const struct gf_slot *slot =
			gf_slot_by_id(&session->fabric, composition->members[i].slot_id);

		if (!is_there(slot)) {
			set->busy = true;
			continue;
		}
		slots[n++] = slot;
		if (slot->since > last)
			last = slot->since;
	}
	set->age = last && now > last ? (uint32_t)((now - last) / MINUTE_MS) : 0;
	holders_scan(&holders_system, slots, n, &holders);
	for (i = 0; i < n; i++)
		planned_add_member(session, slots[i],
				   !asked && holders_has(&holders, slots[i]->name), in, set);
	holders_free(&holders);
	free(slots);
}

static int add_tenants(struct session *session, struct plan_instance *in, struct plan_ahead *ahead)
{
	struct quota quota;
	size_t i;
	int ret;

	ret = quota_load(session, &quota);
	if (ret)
		return ret;
	for (i = 0; i < quota.tenants.n; i++) {
		const struct tenant *tenant = &quota.tenants.items[i];
		struct plan_tenant *to;

		plan_add_tenant(in, tenant->name);
		to = &in->tenants[in->n_tenants - 1];
		to->guarantee = tenant->guarantee < PLAN_GPUS_MAX ? (uint32_t)tenant->guarantee :
								    PLAN_GPUS_MAX;
		to->limit = tenant->limit < PLAN_GPUS_MAX ? (uint32_t)tenant->limit : PLAN_NONE;
	}
	ahead->tenants_rule = quota.tenants.n > 0;
	quota_end(&quota);
	return CTL_DONE;
}

int planned_state(struct session *session, const char *host, struct plan_instance *in,
		  struct plan_ahead *ahead)
{
	const struct gf_fabric *fabric = &session->fabric;
	struct hooks tell;
	size_t i;
	int ret = hooks_find(session->ctx, HOOK_RESIZE, &tell);

	if (ret)
		return ret;
	plan_add_host(in, host);
	for (i = 0; i < fabric->n_switches; i++)
		if (fabric->switches[i].address)
			plan_add_switch(in, fabric->switches[i].address);
	for (i = 0; i < fabric->n_slots; i++)
		if (planned_free(session, &fabric->slots[i]))
			planned_add_gpus(session, &fabric->slots[i], in);
	for (i = 0; i < fabric->n_compositions; i++)
		planned_add_composition(session, &fabric->compositions[i], tell.n > 0, in, ahead);
	hooks_free(&tell);
	add_other_kinds(session, in);
	ahead->has_state = true;
	ahead->n_pools = in->n_pools;
	return add_tenants(session, in, ahead);
}

bool planned_has(struct session *session, const char *name, struct move_has *has)
{
	const struct gf_composition *composition = gf_composition_by_name(&session->fabric, name);
	char kind[PLANNED_KIND];
	size_t i;

	memset(has, 0, sizeof(*has));
	for (i = 0; composition && i < composition->n_members; i++) {
		const struct gf_slot *slot =
			gf_slot_by_id(&session->fabric, composition->members[i].slot_id);

		if (!is_there(slot) || !move_has_add(has, planned_switch(session, slot),
						     planned_kind(session, slot, kind),
						     identity_count(&session->knowledge, slot))) {
			move_has_free(has);
			return false;
		}
	}
	return true;
}
