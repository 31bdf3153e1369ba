// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: cards of a fabric manager
 *
 * The manager's inventory says which GPUs are free; of those the first ones of the wanted
 * kinds are bound to the ports of the slots, in one request. Somebody else may take one
 * meanwhile, also another request of this host: then the choice is made anew. A request that
 * fails gives back what it has bound itself; a removal gives back what the manager says is at the
 * slot's port, so there it does not matter who brought it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/out.h"
#include "op/bringer.h"

#define CHOICES_MAX 5

/* A port that can take a card. */
static int port_check(struct session *session, const struct bringer *b, const char *slot,
		      const struct inventory *inventory)
{
	const struct manager_conf *conf = b->conf;
	const char *port = manager_port_of(conf, slot);
	const struct pool_gpu *there = inventory_at(inventory, port);
	const struct pool_port *known = NULL;
	size_t i;

	for (i = 0; i < conf->n_ports && i < inventory->n_ports; i++)
		if (!strcmp(conf->ports[i].slot, slot))
			known = &inventory->ports[i];
	if (known && known->missing)
		return ctl_fail(session->ctx, CTL_FAILED,
				"slot %s: fabric manager %s has no port %s: ports in %s", slot,
				conf->name, port, conf->file);
	if (known && known->host && strcmp(known->host, conf->host))
		return ctl_fail(session->ctx, CTL_FAILED,
				"slot %s: port %s of fabric manager %s belongs to host %s: ports in %s",
				slot, port, conf->name, known->host, conf->file);
	if (there && there->host)
		return ctl_fail(session->ctx, CTL_BUSY,
				"slot %s: port %s of fabric manager %s has %s, which has not appeared: gpuctl fabric unbind %s",
				slot, port, conf->name, there->id, there->id);
	return CTL_DONE;
}

static bool is_picked(char *const *gpus, size_t n, const char *id)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (gpus[i] && !strcmp(gpus[i], id))
			return true;
	return false;
}

static bool any_picked(const struct bringer *b)
{
	size_t i;

	for (i = 0; i < b->n && !b->gpus[i];)
		i++;
	return i < b->n;
}

static int pick_named(struct session *session, struct bringer *b, size_t i, const char *id,
		      const struct inventory *inventory)
{
	const struct pool_gpu *gpu = inventory_find(inventory, id);

	if (!gpu)
		return ctl_fail(session->ctx, CTL_USAGE, "fabric manager %s has no GPU %s",
				b->conf->name, id);
	if (gpu->state != POOL_FREE)
		return ctl_fail(session->ctx, CTL_NO_FIT,
				"%s of fabric manager %s is not free: %s%s%s", id, b->conf->name,
				gpu->why ? gpu->why : pool_state_text(gpu),
				gpu->host ? ", host " : "", gpu->host ? gpu->host : "");
	b->gpus[i] = mem_strdup(id);
	return CTL_DONE;
}

static int pick_kind(struct session *session, struct bringer *b, size_t i, const char *slot,
		     const char *kind, const struct inventory *inventory)
{
	char *who;
	size_t j;
	int ret;

	for (j = 0; j < inventory->n; j++) {
		const struct pool_gpu *gpu = &inventory->gpus[j];

		if (gpu->state != POOL_FREE || !pool_gpu_is(gpu, kind) ||
		    is_picked(b->gpus, b->n, gpu->id))
			continue;
		b->gpus[i] = mem_strdup(gpu->id);
		return CTL_DONE;
	}
	who = inventory_who_has(inventory, kind);
	ret = ctl_fail(session->ctx, CTL_NO_FIT,
		       "slot %s: fabric manager %s has no free GPU%s%s%s: %s", slot, b->conf->name,
		       kind ? " of kind " : "", kind ? kind : "",
		       any_picked(b) ? " besides those that were chosen" : "", who);
	free(who);
	return ret;
}

static void picks_forget(struct bringer *b)
{
	size_t i;

	for (i = 0; i < b->n; i++) {
		free(b->gpus[i]);
		b->gpus[i] = NULL;
	}
}

/* Those that are named, then the others. */
static int manager_choose(struct session *session, struct bringer *b,
			  const struct hook_slots *about, const struct bring_wish *wishes,
			  const struct inventory *inventory)
{
	size_t i;
	int ret = CTL_DONE;

	picks_forget(b);
	for (i = 0; i < b->n && !ret; i++)
		if (b->which[i])
			ret = port_check(session, b, about->names[i], inventory);
	for (i = 0; i < b->n && !ret; i++)
		if (b->which[i] && wishes && wishes[i].gpu)
			ret = pick_named(session, b, i, wishes[i].gpu, inventory);
	for (i = 0; i < b->n && !ret; i++)
		if (b->which[i] && !b->gpus[i])
			ret = pick_kind(session, b, i, about->names[i],
					wishes ? wishes[i].kind : NULL, inventory);
	if (ret)
		picks_forget(b);
	return ret;
}

/* They came to the ports that were asked for, where the manager says so. */
static int check_ports(struct session *session, const struct bringer *b,
		       const struct hook_slots *about, const struct inventory *inventory)
{
	size_t i;

	for (i = 0; i < b->n; i++) {
		const char *port = manager_port_of(b->conf, about->names[i]);
		const struct pool_gpu *gpu = NULL;

		if (b->gpus[i])
			gpu = inventory_find(inventory, b->gpus[i]);
		if (gpu && gpu->port && strcmp(gpu->port, port))
			return ctl_fail(session->ctx, CTL_FAILED,
					"fabric manager %s bound %s to port %s instead of %s, slot %s",
					b->conf->name, gpu->id, gpu->port, port, about->names[i]);
	}
	return CTL_DONE;
}

static int manager_bind(struct session *session, struct bringer *b, const struct hook_slots *about,
			struct manager_reply *reply)
{
	struct manager_gpu *gpus = mem_zalloc(b->n + 1, sizeof(*gpus));
	struct manager_request request = { .verb = MANAGER_BIND, .gpus = gpus };
	size_t i;
	int ret;

	for (i = 0; i < b->n; i++)
		if (b->gpus[i])
			gpus[request.n++] =
				(struct manager_gpu){ b->gpus[i],
						      manager_port_of(b->conf, about->names[i]) };
	b->begun = true;
	ret = manager_ask(session->ctx, b->conf, &request, reply);
	/* Whatever of these is on this host then, another request has bound it. */
	b->begun = !ret || reply->outcome != MANAGER_UNCHANGED;
	b->unknown = ret && reply->outcome == MANAGER_UNKNOWN;
	if (!ret)
		ret = check_ports(session, b, about, &reply->inventory);
	free(gpus);
	return ret;
}

/* Was one taken that we chose ourselves? */
static bool bringer_lost_race(const struct bringer *b, const struct bring_wish *wishes,
			      const struct manager_reply *reply)
{
	size_t i;

	if (!reply->taken || reply->outcome != MANAGER_UNCHANGED)
		return false;
	for (i = 0; i < b->n; i++)
		if (b->gpus[i] && !strcmp(b->gpus[i], reply->taken) && wishes && wishes[i].gpu)
			return false;
	return !gfc_signalled();
}

static int manager_look(struct session *session, struct bringer *b, const struct hook_slots *about,
			const struct bring_wish *wishes)
{
	struct manager_reply reply;
	int ret = session_know(session);

	if (ret)
		return ret;
	ret = manager_inventory(session->ctx, b->conf, &session->knowledge.catalogue, false,
				&reply);
	if (!ret)
		ret = manager_choose(session, b, about, wishes, &reply.inventory);
	manager_reply_free(&reply);
	return ret;
}

static int manager_bring(struct session *session, struct bringer *b, const struct hook_slots *about,
			 const struct bring_wish *wishes)
{
	struct manager_reply reply;
	bool again = true;
	int tries, ret = CTL_DONE;

	for (tries = 0; tries < CHOICES_MAX && again; tries++) {
		ret = manager_look(session, b, about, wishes);
		b->beaten = ret == CTL_NO_FIT;
		if (ret)
			return ret;
		ret = manager_bind(session, b, about, &reply);
		again = ret && bringer_lost_race(b, wishes, &reply);
		if (again)
			session_say(session,
				    "%s of fabric manager %s was taken%s%s meanwhile, choosing again",
				    reply.taken, b->conf->name, reply.taker ? " by " : "",
				    reply.taker ? reply.taker : "");
		manager_reply_free(&reply);
	}
	b->beaten = again;
	if (!ret && gfc_signalled())
		ret = ctl_fail(session->ctx, CTL_FAILED, "interrupted");
	return ret;
}

static int manager_would(struct session *session, struct bringer *b, const struct hook_slots *about,
			 const struct bring_wish *wishes)
{
	size_t i;
	int ret = manager_look(session, b, about, wishes);

	for (i = 0; i < b->n && !ret; i++)
		if (b->gpus[i])
			out_note(session->ctx->out, "would", "would ",
				 "bind %s of fabric manager %s to %s", b->gpus[i], b->conf->name,
				 about->names[i]);
	return ret;
}

static void manager_would_return(struct session *session, const struct bringer *b,
				 const struct hook_slots *about)
{
	size_t i;

	for (i = 0; i < about->n; i++)
		if (b->which[i])
			out_note(session->ctx->out, "would", "would ",
				 "give the GPU of %s back to fabric manager %s", about->names[i],
				 b->conf->name);
}

/*
 * What this host has in these slots, as the manager sees it; at most those of the inventory. Of a
 * request that has bound GPUs it is these, in their slots or nowhere that is known.
 */
static size_t list_ours(const struct bringer *b, const struct hook_slots *about, const bool *both,
			const struct inventory *inventory, struct manager_gpu *gpus)
{
	size_t n = 0, i, j;

	for (i = 0; i < b->n; i++) {
		const char *port = manager_port_of(b->conf, about->names[i]);

		for (j = 0; j < inventory->n && both[i]; j++) {
			const struct pool_gpu *gpu = &inventory->gpus[j];
			bool asked = b->gpus[i] && !strcmp(b->gpus[i], gpu->id);
			bool here = gpu->port && !strcmp(gpu->port, port);
			bool ours = b->begun ? asked && (here || !gpu->port) : here;

			if (gpu->host && !strcmp(gpu->host, b->conf->host) && ours)
				gpus[n++].id = gpu->id;
		}
	}
	return n;
}

static bool bringer_is_listed(const struct manager_gpu *gpus, size_t n, const char *id)
{
	size_t i;

	for (i = 0; i < n && strcmp(gpus[i].id, id);)
		i++;
	return i < n;
}

/* GPUs that this request has asked for, and of which it cannot say that they went back. */
static int check_unknown(struct session *session, const struct bringer *b, const bool *both,
			 const struct manager_gpu *back, size_t n,
			 const struct inventory *inventory)
{
	struct ctl_ctx *ctx = session->ctx;
	size_t i;
	int ret = CTL_DONE;

	for (i = 0; i < b->n && b->begun && !ret; i++) {
		const struct pool_gpu *gpu;
		const char *id = b->gpus[i];

		if (!both[i] || !id || bringer_is_listed(back, n, id))
			continue;
		gpu = inventory_find(inventory, id);
		if (gpu && gpu->host && !strcmp(gpu->host, b->conf->host))
			ret = ctl_fail(ctx, CTL_FAILED,
				       "%s is at port %s, not at the slot's: gpuctl fabric, gpuctl fabric unbind %s",
				       id, gpu->port, id);
		else if ((b->unknown && (!gpu || !gpu->host)) || (gpu && pool_gpu_is_unseen(gpu)))
			ret = ctl_fail(ctx, CTL_FAILED,
				       "it is not known whether %s will come: look with gpuctl fabric, give it back with gpuctl fabric unbind %s",
				       id, id);
	}
	return ret;
}

/* A request has room for so many; what one of them leaves does not keep the next. */
static int unbind_all(struct session *session, struct bringer *b, struct manager_gpu *gpus,
		      size_t n)
{
	struct manager_reply reply;
	int ret = CTL_DONE, err;
	size_t done;

	for (done = 0; done < n; done += MANAGER_GPUS_MAX) {
		struct manager_request request = { .verb = MANAGER_UNBIND,
						   .gpus = gpus + done,
						   .n = n - done < MANAGER_GPUS_MAX ?
								n - done :
								MANAGER_GPUS_MAX,
						   .patient = true };

		err = manager_ask(session->ctx, b->conf, &request, &reply);
		manager_reply_free(&reply);
		if (!err)
			b->given += request.n;
		ret = ret ? ret : err;
	}
	return ret;
}

/* For -n, what the manager has to unbind. */
static void say_unbound(struct session *session, struct bringer *b, const struct manager_gpu *gpus,
			size_t n)
{
	for (b->given = 0; b->given < n; b->given++)
		out_note(session->ctx->out, "would", "would ", "give %s back to fabric manager %s",
			 gpus[b->given].id, b->conf->name);
}

static int give_back_now(struct session *session, struct bringer *b, const struct hook_slots *about,
			 const bool *both)
{
	struct manager_reply seen;
	int ret = manager_inventory(session->ctx, b->conf, NULL, true, &seen);
	struct manager_gpu *gpus = mem_zalloc(seen.inventory.n + 1, sizeof(*gpus));
	size_t n = ret ? 0 : list_ours(b, about, both, &seen.inventory, gpus);

	b->given = 0;
	if (!ret && session->ctx->dry_run)
		say_unbound(session, b, gpus, n);
	else if (!ret)
		ret = unbind_all(session, b, gpus, n);
	if (b->given && !session->ctx->dry_run)
		bringers_await_empty(session, about->names, both, about->n);
	if (!ret)
		ret = check_unknown(session, b, both, gpus, n, &seen.inventory);
	manager_reply_free(&seen);
	free(gpus);
	return ret;
}

static char *manager_give_back(struct session *session, struct bringer *b,
			       const struct hook_slots *about, const bool *which)
{
	bool *both = mem_zalloc(b->n + 1, sizeof(*both));
	char *before = session->ctx->error, *kept = NULL, *slots;

	session->ctx->error = NULL;
	if (bringer_slots(b, which, both) && give_back_now(session, b, about, both)) {
		slots = hook_slots_text(about, both, " ");
		kept = mem_printf("%s\nby hand: gpuctl fabric unbind %s", session->ctx->error,
				  slots);
		free(slots);
	}
	free(session->ctx->error);
	session->ctx->error = before;
	free(both);
	return kept;
}

static char *manager_by_hand(const struct bringer *b, const char *slot)
{
	(void)b;
	return mem_printf("gpuctl fabric unbind %s", slot);
}

static char *manager_brought(const struct bringer *b, size_t i)
{
	return mem_printf("fabric manager %s bound %s to it", b->conf->name,
			  b->gpus[i] ? b->gpus[i] : "a GPU");
}

const struct bringer_driver bringer_manager = {
	.bring = manager_bring,
	.give_back = manager_give_back,
	.would = manager_would,
	.would_return = manager_would_return,
	.by_hand = manager_by_hand,
	.brought = manager_brought,
};
