// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Requests that change the fabric
 *
 * Parse, take the fabric's lock, judge every slot with the pure checks, and only then change
 * anything. What may be needed is allocated before, so nothing fails once the first slot was
 * touched. Nobody waits for hardware: an operation is started, and its end comes as an event.
 *
 * Drain, its abort and clear are over at once. A drain is bounded by a deadline and bound to the
 * socket that asked; the generation that it returns is the ticket for a removal. The operation
 * that is accepted with it owns the slot: from then on nothing ends the drain but the operation.
 */
#include <linux/cred.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "compat.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "snapshot.h"

struct gf_request {
	struct sk_buff *skb; /* the request as it came */
	struct genl_info *info; /* the request, parsed */
	struct gf_picks *add; /* slots to add */
	struct gf_picks *remove; /* slots to remove */
	struct gf_composition *composition; /* or NULL; a new one is not listed yet */
	bool made; /* the request makes @composition */
	enum gpufabric_composition_state state; /* of @composition while the operation runs */
	struct gf_op *op; /* the operation, allocated before the lock is taken, or who asked */
	const struct gf_asked *asked; /* what its command asks for */
};

/* What a command asks for. */
struct gf_asked {
	enum gpufabric_operation_kind kind;
	int add; /* attribute that names slots to add, 0 for none */
	int remove; /* the same of slots to remove, or to change */
	int (*judge)(struct gf_request *request); /* with the lock held */
	gf_check_fn check; /* of each slot, for judge_members() */
	void (*change)(struct gf_slot *slot, const struct gf_request *request); /* NULL: later */
	unsigned int extra; /* members that it need not name */
	u32 harm; /* flag that lets it harm neighbours */
};

static void free_request(struct gf_request *request)
{
	kvfree(request->add);
	kvfree(request->remove);
	if (request->op)
		gf_op_put(request->op);
	if (request->made && request->composition)
		gf_composition_put(request->composition);
}

static void read_timeouts(struct genl_info *info, struct gf_op *op)
{
	if (info->attrs[GPUFABRIC_A_TIMEOUT])
		op->timeout_ms = nla_get_u32(info->attrs[GPUFABRIC_A_TIMEOUT]);
	if (info->attrs[GPUFABRIC_A_DRIVER_TIMEOUT])
		op->driver_timeout_ms = nla_get_u32(info->attrs[GPUFABRIC_A_DRIVER_TIMEOUT]);
}

/* Of a request that attaches: others have no such attribute. */
static int read_chosen(struct gf_request *request)
{
	const struct nlattr *attr = request->info->attrs[GPUFABRIC_A_DRIVER];
	struct gf_op *op = request->op;

	if (!attr)
		return 0;
	strscpy(op->driver, nla_data(attr), sizeof(op->driver));
	/* A driver override ends at a newline, and sysfs has drivers as folders. */
	if (!op->driver[0] || strpbrk(op->driver, "/\n") || !op->driver_timeout_ms)
		return gf_refuse(request->info, attr, -EINVAL,
				 "a requested driver needs a name without a slash, and a driver-timeout");
	return 0;
}

/* Allocate all it may need. */
static int prepare(struct gf_request *request)
{
	const struct gf_asked *asked = request->asked;
	struct genl_info *info = request->info;
	int err = gf_picks_alloc(info, asked->add, &request->add) ?:
		  gf_picks_alloc(info, asked->remove, &request->remove);

	if (err)
		return err;
	request->op = gf_op_alloc(asked->kind, asked->change ? 0 : request->add->named +
				  request->remove->named + asked->extra);
	if (!request->op)
		return -ENOMEM;
	request->op->harm = gf_request_flags(info) & asked->harm;
	gf_who_current(&request->op->who, info->attrs[GPUFABRIC_A_REASON]);
	read_timeouts(info, request->op);
	return 0;
}

static int fill_accepted(struct sk_buff *skb, const struct gf_reader *reader, const void *object)
{
	const struct gf_op *op = object;

	if (gf_fill_op(skb, reader, op))
		return -EMSGSIZE;
	return op->composition ? gf_fill_composition(skb, reader, op->composition) : 0;
}

/* Those before a slot in the order of its switch, each of which it may have to wait for. */
static unsigned int count_before(const struct gf_picks *picks, const struct gf_pick *pick)
{
	unsigned int i, before = 0;

	for (i = 0; pick->turn && i < picks->count; i++) {
		const struct gf_pick *other = &picks->picks[i];

		before += other->turn && other->turn < pick->turn &&
			  other->need == GF_NEED_ATTACH && other->slot->sw == pick->slot->sw;
	}
	return before;
}

/* Steps whose order matters come in that order: so they get in line. */
static void add_steps(struct gf_op *op, const struct gf_picks *picks, bool remove)
{
	unsigned int i, turn, next;

	for (turn = 0; turn != UINT_MAX; turn = next) {
		next = UINT_MAX;
		for (i = 0; i < picks->count; i++) {
			const struct gf_pick *pick = &picks->picks[i];

			if (pick->turn > turn)
				next = min(next, pick->turn);
			if (pick->turn != turn)
				continue;
			gf_op_add_step(op, pick->slot, pick->need, remove,
				       &pick->expect)->ordered = turn;
			op->turns = max(op->turns, count_before(picks, pick));
		}
	}
}

/* Every check has passed: claim, start, answer. The lock is held. */
static int accept(struct gf_request *request)
{
	struct gf_composition *composition = request->composition;
	struct sk_buff *reply = gf_reply_alloc(0);
	struct gf_op *op = request->op;
	unsigned int i;
	int err;

	if (!reply)
		return -ENOMEM;
	add_steps(op, request->add, false);
	add_steps(op, request->remove, true);
	/* The same bit for all commands. */
	if (gf_request_flags(request->info) & GPUFABRIC_ATTACH_FLAG_CHECK)
		goto out;
	if (request->made) {
		err = gf_composition_list(composition);
		if (err) {
			nlmsg_free(reply);
			return err;
		}
		request->made = false;
		op->made = true;
	}
	if (composition) {
		kref_get(&composition->ref);
		op->composition = composition;
		gf_composition_annotate(composition, request->info->attrs[GPUFABRIC_A_ANNOTATION]);
		for (i = 0; i < request->add->count; i++)
			gf_composition_claim(composition, request->add->picks[i].slot);
		if (op->made)
			gf_event(GPUFABRIC_EVENT_KIND_COMPOSITION_ADDED, gf_fill_composition,
				 composition);
		else
			gf_composition_state(composition, request->state);
	}
	/* One reference is the operation's own, this one is for the answer. */
	kref_get(&op->ref);
	gf_op_launch(op);
out:
	gf_reply_send(reply, request->skb, request->info, fill_accepted, op);
	return 0;
}

/* Of a command that names slots to add, or others, and no composition that they are in. */
static int judge_members(struct gf_request *request)
{
	struct gf_picks *picks = request->asked->add ? request->add : request->remove;
	int err = gf_picks_parse(request->info, GPUFABRIC_A_MEMBER, picks);

	if (!err && !picks->count)
		err = gf_refuse(request->info, NULL, -EINVAL, "name at least one slot");
	return err ?: gf_picks_judge(request->info, picks, NULL, request->asked->check);
}

static int judge_additions(struct gf_request *request)
{
	return read_chosen(request) ?: judge_members(request) ?:
	       gf_picks_check_stale(request->info, request->add);
}

static int check_name(struct genl_info *info)
{
	const struct nlattr *attr = info->attrs[GPUFABRIC_A_NAME];

	if (!attr)
		return gf_refuse(info, NULL, -EINVAL, "give the name of the composition");
	if (!gf_name_valid(nla_data(attr)))
		return gf_refuse(info, attr, -EINVAL,
			      "a name is a letter, then up to 62 letters, digits, _ . or -");
	return 0;
}

static int make_composition(struct gf_request *request)
{
	struct genl_info *info = request->info;
	struct gf_composition *composition;
	int err = check_name(info);

	if (err)
		return err;
	composition = gf_composition_alloc(nla_data(info->attrs[GPUFABRIC_A_NAME]));
	if (!composition)
		return -ENOMEM;
	request->composition = composition;
	request->made = true;
	composition->owner = current_uid();
	if (info->attrs[GPUFABRIC_A_OWNER])
		composition->owner =
			make_kuid(&init_user_ns, nla_get_u32(info->attrs[GPUFABRIC_A_OWNER]));
	if (!uid_valid(composition->owner))
		return gf_refuse(info, info->attrs[GPUFABRIC_A_OWNER], -EINVAL,
			      "the owner is not a valid user id");
	if (gf_request_flags(info) & GPUFABRIC_COMPOSE_FLAG_BIND) {
		composition->flags |= GPUFABRIC_COMPOSITION_FLAG_BOUND;
		composition->port = info->snd_portid;
	}
	return 0;
}

static int judge_compose(struct gf_request *request)
{
	struct genl_info *info = request->info;
	int err = make_composition(request);

	if (err)
		return err;
	if (gf_composition_find_name(request->composition->name))
		return gf_refuse(info, info->attrs[GPUFABRIC_A_NAME], -EEXIST,
				 "the name is taken, choose another or release it");
	return judge_additions(request);
}

static int find_named(struct genl_info *info, struct gf_composition **composition)
{
	const struct nlattr *name = info->attrs[GPUFABRIC_A_NAME];
	int err = check_name(info);

	if (err)
		return err;
	*composition = gf_composition_find_name(nla_data(name));
	return *composition ? 0 : gf_refuse(info, name, -ENOENT, "there is no such composition");
}

static int check_generation(struct genl_info *info, const struct gf_composition *composition)
{
	const struct nlattr *attr = info->attrs[GPUFABRIC_A_GENERATION];

	gf_assert_locked();
	return !attr || nla_get_u32(attr) == composition->generation ? 0 :
	       gf_refuse(info, attr, -ESTALE,
			 "the generation of the composition has changed, read the composition again");
}

/* Find the composition that a request names, as it is expected, and that nothing changes now. */
static int find_composition(struct gf_request *request)
{
	struct genl_info *info = request->info;
	struct gf_composition *composition;
	int err = find_named(info, &composition);

	if (err)
		return err;
	if (composition->op)
		return gf_refuse(info, info->attrs[GPUFABRIC_A_NAME], -EBUSY,
			      "an operation is under way on this composition, wait for it to end");
	request->composition = composition;
	return check_generation(info, composition);
}

static int judge_resize(struct gf_request *request)
{
	struct genl_info *info = request->info;
	int err = find_composition(request) ?: read_chosen(request) ?:
		  gf_picks_parse(info, GPUFABRIC_A_MEMBER, request->add) ?:
		  gf_picks_parse(info, GPUFABRIC_A_REMOVE, request->remove) ?:
		  gf_picks_judge(info, request->add, request->composition, gf_check_add) ?:
		  gf_picks_judge(info, request->remove, request->composition, gf_check_remove) ?:
		  gf_picks_check_stale(info, request->add);
	unsigned int members;

	if (err)
		return err;
	if (!request->add->count && !request->remove->count)
		return gf_refuse(info, NULL, -EINVAL, "name slots to add or to remove");
	if (!request->add->count && (info->attrs[GPUFABRIC_A_DRIVER] ||
				     info->attrs[GPUFABRIC_A_JUDGED_AT]))
		return gf_refuse(info, info->attrs[GPUFABRIC_A_DRIVER] ?:
				 info->attrs[GPUFABRIC_A_JUDGED_AT], -EINVAL,
				 "this attribute needs slots to add");
	members = request->composition->nr_members + request->add->count;
	if (members > GPUFABRIC_MEMBERS_MAX)
		return gf_refuse(info, NULL, -E2BIG, "a composition holds at most 512 slots");
	if (members == request->remove->count)
		return gf_refuse(info, NULL, -EINVAL,
				 "no slot would remain, release the composition instead");
	request->state = GPUFABRIC_COMPOSITION_STATE_RESIZING;
	return 0;
}

/* Members that a release does not name: fine when they hold no GPU. */
static int judge_unnamed(struct gf_request *request, gf_check_fn check)
{
	struct gf_slot *slot;

	list_for_each_entry(slot, &request->composition->members, member) {
		struct gf_pick pick = { .slot = slot };
		int err;

		if (slot->request == gf.request)
			continue;
		err = gf_pick_judge(request->info, &pick, request->composition, check);
		if (err)
			return err;
		gf_op_add_step(request->op, slot, GF_NEED_NOTHING, true, NULL);
	}
	return 0;
}

static int judge_release(struct gf_request *request)
{
	struct genl_info *info = request->info;
	gf_check_fn check = gf_request_flags(info) & GPUFABRIC_RELEASE_FLAG_KEEP ?
			    gf_check_keep : gf_check_remove;
	int err;

	err = find_composition(request) ?:
	      gf_picks_parse(info, GPUFABRIC_A_MEMBER, request->remove) ?:
	      gf_picks_judge(info, request->remove, request->composition, check);
	if (err)
		return err;
	request->op->ends = true;
	request->state = GPUFABRIC_COMPOSITION_STATE_RELEASING;
	return judge_unnamed(request, check);
}

static void start_drain(struct gf_slot *slot, const struct gf_request *request)
{
	slot->drain_port = request->info->snd_portid;
	slot->drain_deadline = gf_clock_ms() + request->op->timeout_ms;
	gf_slot_trigger(slot, GF_DRAIN);
}

static void end_drain(struct gf_slot *slot, const struct gf_request *request)
{
	if (gf_request_flags(request->info) & GPUFABRIC_DRAIN_ABORT_FLAG_RESET)
		gf_slot_holds(slot, GPUFABRIC_CONTENTS_RESET, NULL);
	gf_slot_trigger(slot, GF_DRAIN_ABORT);
}

static void clear_slot(struct gf_slot *slot, const struct gf_request *request)
{
	const struct gf_snapshot *snap = slot->snap;
	const enum gf_state before = slot->state;

	/* What a GPU left of its card is from now on a card without one. */
	slot->foreign = snap && snap->nr_functions && snap->gpu < 0;
	/* Clearing a fault is no proof of health: only the last resort resets. */
	if (slot->flags & GPUFABRIC_SLOT_FLAG_QUARANTINED)
		slot->strikes = 0;
	slot->flags &= ~GPUFABRIC_SLOT_FLAG_QUARANTINED;
	gf_slot_trigger(slot, slot->presence && !slot->foreign ? GF_CLEAR_OFF : GF_CLEAR_EMPTY);
	if (slot->state == before)
		gf_event_slot(slot, GPUFABRIC_EVENT_KIND_SLOT_CHANGED);
	gf_slot_refresh(slot, 0);
}

static int fill_picks(struct sk_buff *skb, const struct gf_reader *reader, const void *object)
{
	const struct gf_picks *picks = object;
	unsigned int i;

	for (i = 0; i < picks->count; i++) {
		if (gf_fill_member(skb, picks->picks[i].slot))
			return -EMSGSIZE;
	}
	return 0;
}

/* Every check has passed: change each slot, answer. The lock is held. */
static int change_now(struct gf_request *request)
{
	struct gf_picks *picks = request->remove;
	const struct gf_op *asked = request->op;
	const struct gf_result result = { .kind = asked->kind, .started = asked->started };
	struct sk_buff *reply = gf_reply_alloc(picks->count);
	unsigned int i;

	if (!reply)
		return -ENOMEM;
	for (i = 0; i < picks->count; i++) {
		request->asked->change(picks->picks[i].slot, request);
		gf_history_add(picks->picks[i].slot, &asked->who, &result);
	}
	/* Of those that may have begun. */
	gf_slot_watch_drains();
	gf_reply_send(reply, request->skb, request->info, fill_picks, picks);
	return 0;
}

#define KIND(name) .kind = GPUFABRIC_OPERATION_KIND_##name
#define ADD .add = GPUFABRIC_A_MEMBER
#define REMOVE .remove = GPUFABRIC_A_MEMBER

static const struct gf_asked commands[] = {
	[GPUFABRIC_CMD_DRAIN] = { KIND(DRAIN), REMOVE, .judge = judge_members,
				  .check = gf_check_drain, .change = start_drain },
	[GPUFABRIC_CMD_DRAIN_ABORT] = { KIND(DRAIN_ABORT), REMOVE, .judge = judge_members,
					.check = gf_check_abort, .change = end_drain },
	[GPUFABRIC_CMD_CLEAR] = { KIND(CLEAR), REMOVE, .judge = judge_members,
				  .check = gf_check_clear, .change = clear_slot },
	[GPUFABRIC_CMD_ATTACH] = { KIND(ATTACH), ADD, .judge = judge_additions,
				   .check = gf_check_add, .harm = GPUFABRIC_ATTACH_FLAG_HARM },
	[GPUFABRIC_CMD_DETACH] = { KIND(DETACH), REMOVE, .judge = judge_members,
				   .check = gf_check_remove },
	[GPUFABRIC_CMD_COMPOSE] = { KIND(COMPOSE), ADD, .judge = judge_compose,
				    .check = gf_check_add, .harm = GPUFABRIC_COMPOSE_FLAG_HARM },
	[GPUFABRIC_CMD_RESIZE] = { KIND(RESIZE), ADD, .remove = GPUFABRIC_A_REMOVE,
				   .judge = judge_resize, .harm = GPUFABRIC_RESIZE_FLAG_HARM },
	[GPUFABRIC_CMD_RELEASE] = { KIND(RELEASE), REMOVE, .judge = judge_release,
				    .extra = GPUFABRIC_MEMBERS_MAX },
};

/* Parse, judge, accept. */
int gpufabric_nl_change_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct gf_asked *asked = &commands[info->genlhdr->cmd];
	struct gf_request request = { .skb = skb, .info = info, .asked = asked };
	int err = prepare(&request);

	if (!err) {
		guard(mutex)(&gf.lock);
		gf.request++;
		err = asked->judge(&request) ?:
		      asked->change ? change_now(&request) : accept(&request);
	}
	free_request(&request);
	return err;
}

static int judge_annotate(struct genl_info *info, struct gf_composition **composition)
{
	if (!info->attrs[GPUFABRIC_A_ANNOTATION])
		return gf_refuse(info, NULL, -EINVAL, "give the annotation, which may be empty");
	return find_named(info, composition) ?: check_generation(info, *composition);
}

int gpufabric_nl_annotate_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *reply = gf_reply_alloc(0);
	struct gf_composition *composition;
	int err;

	if (!reply)
		return -ENOMEM;
	guard(mutex)(&gf.lock);
	err = judge_annotate(info, &composition);
	if (err) {
		nlmsg_free(reply);
		return err;
	}
	gf_composition_annotate(composition, info->attrs[GPUFABRIC_A_ANNOTATION]);
	gf_event(GPUFABRIC_EVENT_KIND_COMPOSITION_CHANGED, gf_fill_composition, composition);
	gf_reply_send(reply, skb, info, gf_fill_composition, composition);
	return 0;
}
