// SPDX-License-Identifier: GPL-2.0-only
// sources: kmod/state.c ctl/module/netlink_gen.c ctl/module/object.c ctl/base/text.c
/*
 * The kernel's slot state machine, compiled as it is, against a table written
 * for this test, and against what must hold whatever the table says.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "kmod/state.h"

/* As the tool has it from the specification; its header has words of its own for states. */
const char *gfnl_cause_name(unsigned int cause);

#include "tap.h"

/*
 * What the design says, one row a state, one column a trigger in the order of
 * enum gf_trigger. "--" is a refusal.
 *
 *   em empty   of off   ag attaching   ad attached   rd ready
 *   dr draining   dg detaching   fa fault   st stuck   lo lost
 */
static const char expected_text[] =
/*            present  attach   checked  drain    detach   off      fail     surpr.   b-empty  cl-off   answ. */
/*                absent   insert   bound    abort    undo     empty    expired  b-off    b-gpu    cl-empty */
"empty      of  em  ag  ag  --  --  --  --  --  --  of  em  --  --  --  --  --  --  --  em  --\n"
"off        of  em  ag  ag  --  --  --  --  --  --  of  em  --  --  --  --  --  --  of  --  --\n"
"attaching  --  --  --  --  ad  --  --  --  --  --  of  em  fa  st  lo  --  --  --  --  --  --\n"
"attached   --  --  --  --  --  rd  dr  --  --  dg  of  --  fa  st  lo  --  --  --  --  --  --\n"
"ready      --  --  --  --  --  rd  dr  --  --  dg  of  --  fa  --  lo  --  --  --  --  --  --\n"
"draining   --  --  --  --  --  dr  --  rd  dg  --  of  --  fa  --  lo  --  --  --  --  --  --\n"
"detaching  --  --  --  --  --  --  --  --  --  --  of  em  fa  st  em  --  --  --  --  --  --\n"
"fault      fa  fa  --  ag  --  --  --  --  dg  --  fa  fa  --  --  fa  --  --  --  of  em  --\n"
"stuck      --  --  --  --  --  --  --  --  --  --  --  --  fa  --  --  of  em  ag  --  --  --\n"
"lost       lo  lo  --  ag  --  --  --  --  dg  --  lo  lo  fa  --  --  --  --  --  of  em  ad\n";

static const char *const trigger_names[] = {
	"present", "absent", "attach", "inserted", "checked", "bound",
	"drain", "drain-abort", "detach", "undo", "gone-off", "gone-empty", "fail",
	"expired", "surprise", "back-off", "back-empty", "back-gpu",
	"clear-off", "clear-empty", "answered",
};

/* In the order of the protocol, which the spec fixes for good. */
static const char *const names[] = {
	"empty", "off", "attaching", "attached", "ready",
	"draining", "detaching", "fault", "stuck", "lost",
};

static const char *const codes[] = {
	"em", "of", "ag", "ad", "rd", "dr", "dg", "fa", "st", "lo",
};

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define REFUSED (-1)

static int expected[COUNT(names)][COUNT(trigger_names)];

static int decode(const char *code)
{
	for (int i = 0; i < COUNT(codes); i++) {
		if (!strcmp(codes[i], code))
			return i;
	}
	return REFUSED;
}

static void read_table(void)
{
	char *text = strdup(expected_text), *line_end = NULL, *word_end = NULL;
	int row = 0;

	for (char *line = strtok_r(text, "\n", &line_end); line;
	     line = strtok_r(NULL, "\n", &line_end), row++) {
		char *word = strtok_r(line, " ", &word_end);
		int column = 0;

		if (row >= COUNT(names) || strcmp(word, names[row])) {
			ok(false, "row %d of the test's table is %s", row, word);
			break;
		}
		while ((word = strtok_r(NULL, " ", &word_end)) && column < COUNT(trigger_names))
			expected[row][column++] = decode(word);
		is_int(column, COUNT(trigger_names), "columns of the test's table");
	}
	is_int(row, COUNT(names), "rows of the test's table");
	free(text);
}

static void every_pair(void)
{
	for (int state = 0; state < COUNT(names); state++) {
		for (int trigger = 0; trigger < COUNT(trigger_names); trigger++) {
			int want = expected[state][trigger];
			int next = gf_state_next(state, trigger);

			if (!ok(next == (want == REFUSED ? -EBUSY : want), "%s, %s: %s", names[state],
				trigger_names[trigger], want == REFUSED ? "refused" : names[want]))
				printf("#   is %s\n", next < 0 ? "refused" : gf_state_name(next));
		}
	}
}

static void out_of_range(void)
{
	is_int(gf_state_next(GF_STATES, GF_PRESENT), -EINVAL, "a state that does not exist");
	is_int(gf_state_next(-1, GF_PRESENT), -EINVAL, "a negative state");
	is_int(gf_state_next(GF_STATE_EMPTY, GF_TRIGGERS), -EINVAL, "a trigger that does not exist");
	is_int(gf_state_next(GF_STATE_EMPTY, -1), -EINVAL, "a negative trigger");
	is_str(gf_state_name(GF_STATES), "?", "the name of a state that does not exist");
	for (int state = 0; state < COUNT(names); state++)
		is_str(gf_state_name(state), names[state], "the name of a state is that of the protocol");
	for (unsigned int cause = 0; gfnl_cause_name(cause); cause++)
		is_str(gf_cause_name(cause), gfnl_cause_name(cause), "so is that of a cause");
}

/* States that can follow, as a mask. */
static unsigned int followers(int state)
{
	unsigned int mask = 0;

	for (int trigger = 0; trigger < GF_TRIGGERS; trigger++) {
		int next = gf_state_next(state, trigger);

		if (next >= 0)
			mask |= 1U << next;
	}
	return mask;
}

static unsigned int reachable(int from)
{
	unsigned int seen = 1U << from, before;

	do {
		before = seen;
		for (int state = 0; state < GF_STATES; state++) {
			if (seen & 1U << state)
				seen |= followers(state);
		}
	} while (seen != before);
	return seen;
}

/* Every change into @state comes from one of @from by one of @by. */
static bool entered_only(int state, unsigned int from, unsigned int by)
{
	for (int previous = 0; previous < GF_STATES; previous++) {
		for (int trigger = 0; trigger < GF_TRIGGERS; trigger++) {
			if (previous == state || gf_state_next(previous, trigger) != state)
				continue;
			if (!(from & 1U << previous) || !(by & 1U << trigger)) {
				printf("#   %s by %s\n", names[previous], trigger_names[trigger]);
				return false;
			}
		}
	}
	return true;
}

#define S(name) (1U << GF_STATE_##name)
#define T(name) (1U << GF_##name)

static void properties(void)
{
	unsigned int all = (1U << GF_STATES) - 1, safe = S(EMPTY) | S(OFF);

	is_int(reachable(GF_STATE_EMPTY), all, "every state can be reached");
	for (int state = 0; state < GF_STATES; state++)
		ok(reachable(state) & S(OFF) && reachable(state) & S(READY),
		   "no way is lost from %s: it can be off and ready again", names[state]);

	ok(entered_only(GF_STATE_DETACHING, S(DRAINING) | S(READY) | S(ATTACHED) | S(FAULT) | S(LOST),
			T(DETACH) | T(UNDO)),
	   "a GPU is removed after a drain, when it is lost or in fault, or to undo an attach, never else");
	ok(gf_state_next(GF_STATE_READY, GF_DETACH) < 0 &&
	   gf_state_next(GF_STATE_ATTACHED, GF_DETACH) < 0,
	   "a GPU that was not drained cannot be detached");
	ok(gf_state_next(GF_STATE_DRAINING, GF_UNDO) < 0,
	   "a GPU that somebody drains is not undone behind his back");
	ok(entered_only(GF_STATE_ATTACHED, S(ATTACHING) | S(LOST), T(CHECKED) | T(ANSWERED)),
	   "attached means enumerated and checked");
	ok(gf_state_next(GF_STATE_LOST, GF_CHECKED) < 0 &&
	   gf_state_next(GF_STATE_ATTACHING, GF_ANSWERED) < 0,
	   "or that it was so before it was lost");
	ok(entered_only(GF_STATE_READY, S(ATTACHED) | S(DRAINING), T(BOUND) | T(DRAIN_ABORT)),
	   "ready comes after attached, or when a drain is taken back");
	ok(entered_only(GF_STATE_STUCK, all & ~safe, T(EXPIRED)),
	   "stuck is where an operation expires, and nothing else");
	/* A worker is out from the first of these until it says how that ended. */
	for (int state = 0; state < GF_STATES; state++) {
		static const enum gf_trigger out[] = { GF_ATTACH, GF_CHECKED, GF_UNDO, GF_DETACH };

		for (int i = 0; i < COUNT(out); i++) {
			int next = gf_state_next(state, out[i]);

			ok(next < 0 || gf_state_next(next, GF_EXPIRED) == GF_STATE_STUCK,
			   "%s, %s: who does not come back from it is stuck", names[state], trigger_names[out[i]]);
		}
	}
	ok(entered_only(GF_STATE_LOST, S(ATTACHING) | S(ATTACHED) | S(READY) | S(DRAINING),
			T(SURPRISE)), "lost is what had a GPU and was surprised");
	ok(!(followers(GF_STATE_FAULT) & (S(READY) | S(ATTACHED))) &&
	   gf_state_next(GF_STATE_FAULT, GF_PRESENT) == GF_STATE_FAULT &&
	   gf_state_next(GF_STATE_FAULT, GF_GONE_OFF) == GF_STATE_FAULT,
	   "a fault ends by clear, by a new card or by the removal of what is left only");
	for (int state = 0; state < GF_STATES; state++) {
		if (gf_state_has_gpu(state))
			ok(gf_state_next(state, GF_SURPRISE) == GF_STATE_LOST,
			   "a surprise in %s is a loss", names[state]);
		ok(gf_state_has_gpu(state) == !!((S(ATTACHED) | S(READY) | S(DRAINING)) & 1U << state),
		   "whether %s has a GPU", names[state]);
	}
}

/*
 * What readers are told of each state, with the card, its power and its GPU seen as they
 * most often are: occupancy, power, activity, health.
 */
static const struct {
	bool card, on, gpu;
	const char *told;
} shown[] = {
	[GF_STATE_EMPTY] = { false, false, false, "empty off none ok" },
	[GF_STATE_OFF] = { true, false, false, "unknown off none ok" },
	[GF_STATE_ATTACHING] = { true, true, false, "unknown changing attaching ok" },
	[GF_STATE_ATTACHED] = { true, true, true, "gpu on attaching ok" },
	[GF_STATE_READY] = { true, true, true, "gpu on none ok" },
	[GF_STATE_DRAINING] = { true, true, true, "gpu on draining ok" },
	[GF_STATE_DETACHING] = { true, true, true, "gpu changing detaching ok" },
	[GF_STATE_FAULT] = { true, false, false, "unknown off none fault" },
	[GF_STATE_STUCK] = { true, true, true, "gpu changing attaching stuck" },
	[GF_STATE_LOST] = { false, false, false, "empty off none lost" },
};

static const char *told(int state, const struct gf_seen_in *seen)
{
	static const char *const occupancies[] = { "empty", "unknown", "gpu", "other" };
	static const char *const powers[] = { "off", "on", "changing", "no-control" };
	static const char *const activities[] = { "none", "draining", "attaching", "detaching" };
	static const char *const healths[] = { "ok", "fault", "lost", "stuck" };
	const struct gf_condition condition = gf_state_condition(state, seen);
	static char text[64];

	snprintf(text, sizeof(text), "%s %s %s %s", occupancies[condition.occupancy],
		 powers[condition.power], activities[condition.activity], healths[condition.health]);
	return text;
}

static void conditions(void)
{
	struct gf_seen_in seen;

	for (int state = 0; state < COUNT(names); state++) {
		seen = (struct gf_seen_in){ .card = shown[state].card, .on = shown[state].on,
					    .gpu = shown[state].gpu, .control = true };
		is_str(told(state, &seen), shown[state].told, "what is told of a slot");
	}
	seen = (struct gf_seen_in){ .card = true, .on = true, .other = true, .control = true };
	is_str(told(GF_STATE_EMPTY, &seen), "other on none ok", "of one with another card");
	ok(gf_state_next(GF_STATE_ATTACHING, GF_GONE_OFF) == GF_STATE_OFF &&
	   gf_state_next(GF_STATE_ATTACHING, GF_GONE_EMPTY) == GF_STATE_EMPTY,
	   "an attach that is given up before it did anything leaves no fault");
	seen = (struct gf_seen_in){ .card = true, .on = true, .gpu = true };
	is_str(told(GF_STATE_READY, &seen), "gpu no-control none ok", "of one without a power controller");
	seen = (struct gf_seen_in){ .card = true, .on = true, .gpu = true, .control = true, .detaching = true };
	is_str(told(GF_STATE_STUCK, &seen), "gpu changing detaching stuck", "of one that is stuck as it goes");
	seen.cause = GPUFABRIC_CAUSE_LINK;
	is_str(told(GF_STATE_LOST, &seen), "gpu on none lost", "of a GPU that is lost and on the bus");
	is_int(gf_state_condition(GF_STATE_LOST, &seen).cause, GPUFABRIC_CAUSE_LINK, "with its cause");
}

int main(void)
{
	is_int(COUNT(names), GF_STATES, "the test knows every state");
	is_int(COUNT(trigger_names), GF_TRIGGERS, "the test knows every trigger");
	read_table();
	every_pair();
	out_of_range();
	properties();
	conditions();
	return tap_done();
}
