// SPDX-License-Identifier: GPL-2.0-only
// sources: kmod/check.c kmod/state.c
/*
 * The kernel's judge of requests, compiled as it is, over every input that
 * there is: what must hold for all of them, and a table of what an idle slot
 * that nobody claims answers in each state.
 */
#include <errno.h>
#include <stdlib.h>

#include "kmod/check.h"
#include "kmod/state.h"
#include "tap.h"

typedef int (*check_fn)(const struct gf_check *slot, const char **why);

static const struct judge {
	const char *name;
	check_fn check;
} judges[] = {
	{ "add", gf_check_add },
	{ "remove", gf_check_remove },
	{ "keep", gf_check_keep },
	{ "drain", gf_check_drain },
	{ "clear", gf_check_clear },
	{ "abort", gf_check_abort },
};

#define ALL_FLAGS (GPUFABRIC_SLOT_FLAG_QUARANTINED | GPUFABRIC_SLOT_FLAG_LINK_DEGRADED | \
		   GPUFABRIC_SLOT_FLAG_NO_DRIVER | GPUFABRIC_SLOT_FLAG_UNMANAGED | \
		   GPUFABRIC_SLOT_FLAG_CHASSIS)
/* state, flags, claim, busy, force, functions, foreign, generation: none, another, the slot's */
#define INPUTS (10 * 32 * 3 * 2 * 2 * 2 * 2 * 3)

static struct gf_check input(unsigned int n)
{
	struct gf_check slot;

	slot.state = n % 10;
	n /= 10;
	slot.flags = n % 32;
	n /= 32;
	slot.claim = n % 3;
	n /= 3;
	slot.busy = n & 1;
	slot.force = n >> 1 & 1;
	slot.functions = n >> 2 & 1;
	slot.foreign = n >> 3 & 1;
	n >>= 4;
	slot.has_generation = n > 0;
	slot.same_generation = n > 1;
	return slot;
}

static int ask(check_fn check, const struct gf_check *slot)
{
	const char *why = NULL;

	return check(slot, &why);
}

static bool is_gpu_state(const struct gf_check *slot)
{
	return gf_state_has_gpu(slot->state);
}

/* For all inputs: @holds, given the input and the answer. */
static void for_all(const char *desc, check_fn check, bool (*holds)(const struct gf_check *slot, int answer))
{
	int bad = 0;

	for (unsigned int n = 0; n < INPUTS; n++) {
		struct gf_check slot = input(n);
		int answer = ask(check, &slot);

		if (holds(&slot, answer))
			continue;
		if (!bad++)
			printf("#   %s, flags %#x, foreign %d, claim %d, busy %d, force %d, functions %d, generation %d %d: %d\n",
			       gf_state_name(slot.state), slot.flags, slot.foreign, slot.claim, slot.busy, slot.force,
			       slot.functions, slot.has_generation, slot.same_generation, answer);
	}
	ok(!bad, "%s (%u inputs)", desc, INPUTS);
}

static bool add_never_detaches(const struct gf_check *slot, int answer)
{
	(void)slot;
	return answer != GF_NEED_DETACH;
}

static bool add_never_takes_what_is_claimed(const struct gf_check *slot, int answer)
{
	return slot->claim == GF_CLAIM_NONE || answer < 0;
}

static bool add_never_takes_two_at_once(const struct gf_check *slot, int answer)
{
	return !slot->busy || answer < 0;
}

static bool add_never_touches_foreign(const struct gf_check *slot, int answer)
{
	return !slot->foreign || answer < 0;
}

static bool never_touches_unmanaged(const struct gf_check *slot, int answer)
{
	return !(slot->flags & GPUFABRIC_SLOT_FLAG_UNMANAGED) || answer < 0;
}

static bool add_leaves_quarantined(const struct gf_check *slot, int answer)
{
	return !(slot->flags & GPUFABRIC_SLOT_FLAG_QUARANTINED) || answer < 0;
}

static bool add_only_powers_what_is_off(const struct gf_check *slot, int answer)
{
	return answer != GF_NEED_ATTACH || slot->state == GF_STATE_OFF;
}

static bool add_only_takes_as_is_what_is_ready(const struct gf_check *slot, int answer)
{
	return answer != GF_NEED_NOTHING || slot->state == GF_STATE_READY;
}

static bool add_takes_a_degraded_link(const struct gf_check *slot, int answer)
{
	struct gf_check other = *slot;

	other.flags ^= GPUFABRIC_SLOT_FLAG_LINK_DEGRADED | GPUFABRIC_SLOT_FLAG_NO_DRIVER;
	return ask(gf_check_add, &other) == answer;
}

static bool add_heeds_a_generation_that_is_named(const struct gf_check *slot, int answer)
{
	struct gf_check other = *slot;

	other.same_generation ^= 1;
	if (!slot->has_generation)
		return ask(gf_check_add, &other) == answer;
	return slot->same_generation || answer < 0;
}

static bool remove_never_attaches(const struct gf_check *slot, int answer)
{
	(void)slot;
	return answer != GF_NEED_ATTACH;
}

/* What is left of a GPU that was lost or is in fault. */
static bool is_left(const struct gf_check *slot)
{
	return slot->functions && (slot->state == GF_STATE_FAULT ||
				   slot->state == GF_STATE_LOST);
}

static bool remove_leaves_what_is_left_to_who_means_it(const struct gf_check *slot, int answer)
{
	return !is_left(slot) || slot->has_generation || answer <= 0;
}

static bool remove_wants_the_generation(const struct gf_check *slot, int answer)
{
	return answer != GF_NEED_DETACH ||
	       (slot->same_generation && (slot->state == GF_STATE_DRAINING || is_left(slot)));
}

static bool remove_never_passes_over_a_gpu(const struct gf_check *slot, int answer)
{
	return answer != GF_NEED_NOTHING || !is_gpu_state(slot);
}

static bool remove_never_touches_foreign(const struct gf_check *slot, int answer)
{
	return !slot->foreign || answer < 0 ||
	       (answer == GF_NEED_NOTHING && slot->claim == GF_CLAIM_OURS);
}

static bool remove_never_touches_busy(const struct gf_check *slot, int answer)
{
	return !slot->busy || answer < 0;
}

static bool remove_others_by_force_only(const struct gf_check *slot, int answer)
{
	return slot->claim != GF_CLAIM_OTHER || slot->force || answer < 0;
}

static bool remove_force_gives_nothing_else(const struct gf_check *slot, int answer)
{
	struct gf_check other = *slot;

	other.force = 0;
	other.claim = GF_CLAIM_OURS;
	/* A composition lets go of another card, and force does not make it its own. */
	return !slot->force || slot->foreign || ask(gf_check_remove, &other) == answer;
}

static bool remove_ignores_quarantine(const struct gf_check *slot, int answer)
{
	struct gf_check other = *slot;

	other.flags ^= GPUFABRIC_SLOT_FLAG_QUARANTINED;
	return ask(gf_check_remove, &other) == answer;
}

static bool remove_stale_says_so(const struct gf_check *slot, int answer)
{
	if (slot->state != GF_STATE_DRAINING || slot->same_generation || slot->busy ||
	    slot->foreign || slot->flags & GPUFABRIC_SLOT_FLAG_UNMANAGED ||
	    slot->claim == GF_CLAIM_OTHER)
		return true;
	return answer == -ESTALE;
}

static bool keep_lets_go_of_all_that_nobody_works_on(const struct gf_check *slot, int answer)
{
	return answer == (slot->busy ? -EBUSY : GF_NEED_NOTHING);
}

static bool drain_only_what_has_a_gpu(const struct gf_check *slot, int answer)
{
	return answer < 0 || slot->state == GF_STATE_READY ||
	       slot->state == GF_STATE_ATTACHED;
}

static bool drain_never_touches_busy_or_foreign(const struct gf_check *slot, int answer)
{
	return (!slot->busy && !slot->foreign) || answer < 0;
}

static bool clear_only_what_is_wrong(const struct gf_check *slot, int answer)
{
	return answer < 0 || slot->state == GF_STATE_FAULT ||
	       slot->state == GF_STATE_LOST || slot->flags & GPUFABRIC_SLOT_FLAG_QUARANTINED;
}

static bool clear_takes_all_that_is_wrong(const struct gf_check *slot, int answer)
{
	bool wrong = slot->state == GF_STATE_FAULT || slot->state == GF_STATE_LOST ||
		     slot->flags & GPUFABRIC_SLOT_FLAG_QUARANTINED;

	return !wrong || slot->busy || answer == GF_NEED_NOTHING;
}

static bool clear_never_touches_busy(const struct gf_check *slot, int answer)
{
	return !slot->busy || answer < 0;
}

static bool abort_ends_drains_alone(const struct gf_check *slot, int answer)
{
	bool named = !slot->has_generation || slot->same_generation;

	return (answer == GF_NEED_NOTHING) ==
	       (!slot->busy && slot->state == GF_STATE_DRAINING && named);
}

static bool abort_says_why(const struct gf_check *slot, int answer)
{
	int want = slot->busy ? -EBUSY : slot->state != GF_STATE_DRAINING ? -EINVAL : -ESTALE;

	return answer >= 0 || answer == want;
}

static void for_all_inputs(void)
{
	for_all("adding never detaches", gf_check_add, add_never_detaches);
	for_all("adding never takes a claimed slot", gf_check_add, add_never_takes_what_is_claimed);
	for_all("adding never takes a busy slot", gf_check_add, add_never_takes_two_at_once);
	for_all("adding never touches a foreign device", gf_check_add, add_never_touches_foreign);
	for_all("adding never touches an unmanaged slot", gf_check_add, never_touches_unmanaged);
	for_all("nor does removing", gf_check_remove, never_touches_unmanaged);
	for_all("nor does draining", gf_check_drain, never_touches_unmanaged);
	for_all("adding leaves a quarantined slot alone", gf_check_add, add_leaves_quarantined);
	for_all("only a slot that is off is powered", gf_check_add, add_only_powers_what_is_off);
	for_all("only a ready slot is taken as it is", gf_check_add, add_only_takes_as_is_what_is_ready);
	for_all("a degraded link or a missing driver is no obstacle", gf_check_add, add_takes_a_degraded_link);
	for_all("adding heeds a generation that is named", gf_check_add, add_heeds_a_generation_that_is_named);
	for_all("removing never attaches", gf_check_remove, remove_never_attaches);
	for_all("a GPU is detached with the drain's generation only", gf_check_remove, remove_wants_the_generation);
	for_all("what is left of a GPU goes when a generation is named only", gf_check_remove,
		remove_leaves_what_is_left_to_who_means_it);
	for_all("removing never passes over a GPU", gf_check_remove, remove_never_passes_over_a_gpu);
	for_all("removing never touches a foreign device", gf_check_remove, remove_never_touches_foreign);
	for_all("removing never touches a busy slot", gf_check_remove, remove_never_touches_busy);
	for_all("another's slot is removed by force only", gf_check_remove, remove_others_by_force_only);
	for_all("force overrides the claim and nothing else", gf_check_remove, remove_force_gives_nothing_else);
	for_all("a quarantined slot can be given back", gf_check_remove, remove_ignores_quarantine);
	for_all("a stale generation is called stale", gf_check_remove, remove_stale_says_so);
	for_all("what is kept is let go unless an operation works on it", gf_check_keep,
		keep_lets_go_of_all_that_nobody_works_on);
	for_all("only an attached GPU is drained", gf_check_drain, drain_only_what_has_a_gpu);
	for_all("draining never touches a busy or foreign slot", gf_check_drain,
		drain_never_touches_busy_or_foreign);
	for_all("only what is wrong is cleared", gf_check_clear, clear_only_what_is_wrong);
	for_all("all that is wrong can be cleared", gf_check_clear, clear_takes_all_that_is_wrong);
	for_all("clearing never touches a busy slot", gf_check_clear, clear_never_touches_busy);
	for_all("an abort takes back drains of this generation alone", gf_check_abort, abort_ends_drains_alone);
	for_all("and says why not: busy, no drain, another one", gf_check_abort, abort_says_why);
}

/* A refusal says why, in a sentence that names a remedy; an acceptance does not. */
static void every_refusal_says_why(const struct judge *judge)
{
	int bad = 0;

	for (unsigned int n = 0; n < INPUTS; n++) {
		struct gf_check slot = input(n);
		const char *why = NULL;
		int answer = judge->check(&slot, &why);

		if (answer < 0 ? !why || strlen(why) < 20 || why[strlen(why) - 1] == '.' :
				 why || answer > GF_NEED_DETACH)
			bad++;
	}
	ok(!bad, "%s: every refusal says why, and nothing else does", judge->name);
}

/*
 * What an idle slot without a claim answers: @ attach it, - detach it, . do
 * nothing, or the errno. Columns: add, remove without and with the generation,
 * drain, clear.
 */
static const struct answers {
	const char *state;
	const char *answers[5];
} idle[] = {
	{ "empty",	{ "ENODEV",	".",	  ".",	   "ENODEV", "EINVAL" } },
	{ "off",	{ "@",		".",	  ".",	   "ENODEV", "EINVAL" } },
	{ "attaching",	{ "EBUSY",	"EBUSY",  "EBUSY", "EBUSY",  "EINVAL" } },
	{ "attached",	{ "EBUSY",	"ESTALE", "ESTALE", "-",     "EINVAL" } },
	{ "ready",	{ ".",		"ESTALE", "ESTALE", "-",     "EINVAL" } },
	{ "draining",	{ "EBUSY",	"ESTALE", "-",	   "EBUSY",  "EINVAL" } },
	{ "detaching",	{ "EBUSY",	"EBUSY",  "EBUSY", "EBUSY",  "EINVAL" } },
	{ "fault",	{ "EIO",	".",	  ".",	   "EIO",    "." } },
	{ "stuck",	{ "ETIMEDOUT",	".",	  ".",	   "ETIMEDOUT", "ETIMEDOUT" } },
	{ "lost",	{ "ENODEV",	".",	  ".",	   "ENODEV", "." } },
};

static const char *answer_name(int answer)
{
	switch (answer) {
	case GF_NEED_NOTHING:
		return ".";
	case GF_NEED_ATTACH:
		return "@";
	case GF_NEED_DETACH:
		return "-";
	default:
		return strerrorname_np(-answer);
	}
}

static void idle_table(void)
{
	static const char *const columns[] = {
		"add", "remove without generation", "remove with generation", "drain", "clear",
	};

	for (int state = 0; state < 10; state++) {
		struct gf_check slot = { .state = state };
		int answers[5];

		answers[0] = ask(gf_check_add, &slot);
		answers[1] = ask(gf_check_remove, &slot);
		answers[3] = ask(gf_check_drain, &slot);
		answers[4] = ask(gf_check_clear, &slot);
		slot.has_generation = 1;
		slot.same_generation = 1;
		answers[2] = ask(gf_check_remove, &slot);
		is_str(idle[state].state, gf_state_name(state), "row of the test's table");
		for (int i = 0; i < 5; i++) {
			char name[80];

			snprintf(name, sizeof(name), "%s: %s", gf_state_name(state), columns[i]);
			is_str(answer_name(answers[i]), idle[state].answers[i], name);
		}
	}
}

static void leftovers(void)
{
	static const enum gf_state states[] = {
		GF_STATE_FAULT, GF_STATE_LOST,
	};

	for (int i = 0; i < 2; i++) {
		struct gf_check slot = { .state = states[i], .functions = 1 };

		is_int(ask(gf_check_remove, &slot), GF_NEED_NOTHING, "functions that are left stay");
		slot.has_generation = 1;
		is_int(ask(gf_check_remove, &slot), -ESTALE, "also when the slot has changed since");
		slot.same_generation = 1;
		is_int(ask(gf_check_remove, &slot), GF_NEED_DETACH, "they go when it is the slot that is meant");
		is_int(ask(gf_check_drain, &slot), i ? -ENODEV : -EIO, "there is nobody to announce that to");
	}
}

static void claims(void)
{
	struct gf_check slot = { .state = GF_STATE_OFF, .claim = GF_CLAIM_OURS };

	is_int(ask(gf_check_add, &slot), -EEXIST, "adding what is in the composition already");
	slot.claim = GF_CLAIM_OTHER;
	is_int(ask(gf_check_add, &slot), -EBUSY, "adding what another composition holds");
	slot.claim = GF_CLAIM_NONE;
	slot.foreign = 1;
	is_int(ask(gf_check_add, &slot), -EMEDIUMTYPE, "adding a foreign device");
	slot.foreign = 0;
	slot.flags = GPUFABRIC_SLOT_FLAG_UNMANAGED;
	is_int(ask(gf_check_add, &slot), -EOPNOTSUPP, "adding an unmanaged slot");
	slot.flags = GPUFABRIC_SLOT_FLAG_QUARANTINED;
	is_int(ask(gf_check_add, &slot), -EIO, "adding a quarantined slot");
	is_int(ask(gf_check_clear, &slot), GF_NEED_NOTHING, "clearing a quarantined slot");
	slot = (struct gf_check){ .state = GF_STATE_DRAINING, .claim = GF_CLAIM_OTHER,
				  .same_generation = 1 };
	is_int(ask(gf_check_remove, &slot), -EBUSY, "removing what another composition holds");
	slot.force = 1;
	is_int(ask(gf_check_remove, &slot), GF_NEED_DETACH, "the same by force");
	slot = (struct gf_check){ .state = GF_STATE_LOST, .claim = GF_CLAIM_OURS, .foreign = 1,
				  .functions = 1, .has_generation = 1, .same_generation = 1 };
	is_int(ask(gf_check_remove, &slot), GF_NEED_NOTHING,
	       "a composition lets go of another card than its GPU");
	slot.claim = GF_CLAIM_NONE;
	is_int(ask(gf_check_remove, &slot), -EMEDIUMTYPE, "and nobody else removes it");
}

static bool pattern(const char *name)
{
	size_t length = strlen(name);

	if (length < 1 || length > 63)
		return false;
	for (size_t i = 0; i < length; i++) {
		static const char rest[] = "0123456789_.-";
		char c = name[i];
		bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');

		if (!letter && (!i || !strchr(rest, c)))
			return false;
	}
	return true;
}

static void names(void)
{
	int bad = 0, count = 0;
	char text[80];

	for (int first = 1; first < 256; first++) {
		for (int second = 0; second < 256; second++, count++) {
			text[0] = (char)first;
			text[1] = (char)second;
			text[2] = '\0';
			if (gf_name_valid(text) != pattern(text) && !bad++)
				printf("#   %#x %#x\n", first, second);
		}
	}
	ok(!bad, "names of one and two characters (%d)", count);
	is_int(gf_name_valid(""), 0, "the empty name");
	for (int length = 1; length < 70; length++) {
		memset(text, 'x', (size_t)length);
		text[length] = '\0';
		if (gf_name_valid(text) != (length <= 63))
			bad++;
	}
	ok(!bad, "a name has at most 63 characters");
	for (int at = 1; at < 63; at++) {
		memset(text, 'x', 63);
		text[63] = '\0';
		text[at] = '/';
		if (gf_name_valid(text))
			bad++;
		text[at] = '-';
		if (!gf_name_valid(text))
			bad++;
	}
	ok(!bad, "every character of a name is looked at");
}

int main(void)
{
	for_all_inputs();
	for (size_t i = 0; i < sizeof(judges) / sizeof(judges[0]); i++)
		every_refusal_says_why(&judges[i]);
	idle_table();
	leftovers();
	claims();
	names();
	is_int(ALL_FLAGS, 31, "the test walks every flag of a slot");
	return tap_done();
}
