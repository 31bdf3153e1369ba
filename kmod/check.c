// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: Judging requests
 *
 * This is the only place that decides whether a request may touch a slot, and what has to be done
 * to the slot, before anything is changed. The whole request is checked under the fabric's lock,
 * so it is carried out or refused as a whole. Pure; also builds in user space, for its test.
 */
#include <linux/errno.h>
#include <linux/string.h>

#include "check.h"

static int refuse(int error, const char **why, const char *text)
{
	*why = text;
	return error;
}

/* What more than one of the commands is refused for. */
static int refuse_busy(const char **why)
{
	return refuse(-EBUSY, why, "an operation is under way on this slot, wait for it to end");
}

static int refuse_stale(const char **why)
{
	return refuse(-ESTALE, why, "the generation of the slot has changed, read the slot again");
}

/* In a state that no request is about. */
static int refuse_unsteady(const struct gf_check *slot, const char **why)
{
	if (slot->state != GF_STATE_STUCK)
		return refuse(-EBUSY, why, "the slot is changing state, try again");
	return refuse(-ETIMEDOUT, why, "the slot is stuck in an operation that has not returned");
}

static int refuse_state(const struct gf_check *slot, const char **why)
{
	switch (slot->state) {
	case GF_STATE_EMPTY:
		return refuse(-ENODEV, why, "the slot is empty, insert or assign a GPU first");
	case GF_STATE_FAULT:
		return refuse(-EIO, why, "the slot is in fault, see its cause and clear it first");
	case GF_STATE_LOST:
		return refuse(-ENODEV, why,
			      "the GPU of this slot was lost, insert it again or clear the slot");
	case GF_STATE_DRAINING:
		return refuse(-EBUSY, why,
			      "the slot is being drained, abort the drain or wait for its end");
	default:
		return refuse_unsteady(slot, why);
	}
}

static int check_common(const struct gf_check *slot, const char **why)
{
	if (slot->busy)
		return refuse_busy(why);
	if (slot->flags & GPUFABRIC_SLOT_FLAG_UNMANAGED)
		return refuse(-EOPNOTSUPP, why,
			      "the slot driver can free the slot at any time, so requests are refused");
	if (slot->foreign)
		return refuse(-EMEDIUMTYPE, why,
			      "the slot holds a device that is not a GPU, so requests are refused");
	return 0;
}

int gf_check_add(const struct gf_check *slot, const char **why)
{
	int err;

	if (slot->claim == GF_CLAIM_OURS)
		return refuse(-EEXIST, why, "the slot is in this composition already");
	if (slot->claim == GF_CLAIM_OTHER)
		return refuse(-EBUSY, why,
			      "the slot is claimed by a composition, release the composition first");
	err = check_common(slot, why);
	if (err)
		return err;
	if (slot->flags & GPUFABRIC_SLOT_FLAG_QUARANTINED)
		return refuse(-EIO, why,
			      "the slot is quarantined after repeated faults, clear it first");

	if (slot->state != GF_STATE_OFF && slot->state != GF_STATE_READY)
		return refuse_state(slot, why);
	if (slot->has_generation && !slot->same_generation)
		return refuse_stale(why);
	return slot->state == GF_STATE_OFF ? GF_NEED_ATTACH : GF_NEED_NOTHING;
}

static int detach_as_named(const struct gf_check *slot, const char **why)
{
	return slot->same_generation ? GF_NEED_DETACH : refuse_stale(why);
}

/* A composition lets go of a slot whose GPU has gone; what came into it stays. */
static bool is_let_go(const struct gf_check *slot)
{
	return slot->foreign && slot->claim == GF_CLAIM_OURS && !slot->busy &&
	       !(slot->flags & GPUFABRIC_SLOT_FLAG_UNMANAGED) && !gf_state_has_gpu(slot->state) &&
	       slot->state != GF_STATE_ATTACHING && slot->state != GF_STATE_DETACHING;
}

int gf_check_remove(const struct gf_check *slot, const char **why)
{
	int err;

	if (slot->claim == GF_CLAIM_OTHER && !slot->force)
		return refuse(-EBUSY, why,
			      "the slot belongs to a composition, release or resize it, or use force");
	if (is_let_go(slot))
		return GF_NEED_NOTHING;
	err = check_common(slot, why);
	if (err)
		return err;

	switch (slot->state) {
	case GF_STATE_FAULT:
	case GF_STATE_LOST:
		/* What is left of its GPU goes when somebody means just that. */
		return slot->functions && slot->has_generation ?
		       detach_as_named(slot, why) : GF_NEED_NOTHING;
	case GF_STATE_DRAINING:
		return detach_as_named(slot, why);
	case GF_STATE_READY:
	case GF_STATE_ATTACHED:
		return refuse(-ESTALE, why,
			      "drain the slot first, and give the generation that drain returns");
	case GF_STATE_EMPTY:
	case GF_STATE_OFF:
	case GF_STATE_STUCK:
		return GF_NEED_NOTHING;
	default:
		return refuse_unsteady(slot, why);
	}
}

/* A composition lets go of it as it is; who works on it goes on. */
int gf_check_keep(const struct gf_check *slot, const char **why)
{
	return slot->busy ? refuse_busy(why) : GF_NEED_NOTHING;
}

int gf_check_drain(const struct gf_check *slot, const char **why)
{
	int err = check_common(slot, why);

	if (err)
		return err;
	if (slot->state == GF_STATE_OFF)
		return refuse(-ENODEV, why, "the slot has no attached GPU to drain");
	return slot->state == GF_STATE_READY || slot->state == GF_STATE_ATTACHED ?
	       GF_NEED_DETACH : refuse_state(slot, why);
}

int gf_check_abort(const struct gf_check *slot, const char **why)
{
	if (slot->busy)
		return refuse_busy(why);
	if (slot->state != GF_STATE_DRAINING)
		return refuse(-EINVAL, why,
			      "the slot is not being drained, there is no drain to abort");
	return slot->has_generation && !slot->same_generation ? refuse_stale(why) : GF_NEED_NOTHING;
}

int gf_check_clear(const struct gf_check *slot, const char **why)
{
	if (slot->busy)
		return refuse_busy(why);
	if (slot->state == GF_STATE_FAULT || slot->state == GF_STATE_LOST ||
	    slot->flags & GPUFABRIC_SLOT_FLAG_QUARANTINED)
		return GF_NEED_NOTHING;
	if (slot->state == GF_STATE_STUCK)
		return refuse_unsteady(slot, why);
	return refuse(-EINVAL, why,
		      "the slot is neither in fault nor lost nor quarantined, nothing to clear");
}

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

int gf_name_valid(const char *name)
{
	return strspn(name, LETTERS) && !name[strspn(name, LETTERS "0123456789_.-")] &&
	       strlen(name) <= GPUFABRIC_NAME_MAX;
}
