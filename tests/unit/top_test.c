// SPDX-License-Identifier: GPL-2.0-only
// sources: $(filter-out ctl/main.c,$(wildcard ctl/*.c ctl/*/*.c ctl/*/*/*.c))
// packages: libnl-3.0 libnl-genl-3.0 json-c libudev libsystemd
/*
 * What gpuctl top shows: which slots, in which order and with which words, and
 * how the lines of a screen are shared out.
 */
#include <stdlib.h>

#include "base/text.h"
#include "cli/out.h"
#include "publish/event_text.h"
#include "tap.h"
#include "top/view.h"

#define NOW 1000000000ull

static struct gf_slot slots[] = {
	{ .id = 1, .name = (char *)"3-0", .state = GF_STATE_READY, .since = NOW - 5000,
	  .composition = (char *)"train70b", .link = { .speed = 32000, .width = 16 } },
	{ .id = 2, .name = (char *)"3-1", .state = GF_STATE_OFF, .since = NOW - 9000 },
	{ .id = 3, .name = (char *)"3-2", .state = GF_STATE_FAULT, .since = NOW - 2000,
	  .condition.cause = GPUFABRIC_CAUSE_LINK, .composition = (char *)"alpha" },
	{ .id = 4, .name = (char *)"3-3", .state = GF_STATE_EMPTY, .since = NOW - 7000 },
	{ .id = 5, .name = (char *)"3-4", .state = GF_STATE_ATTACHING, .since = NOW - 1200,
	  .operation = { .id = 9, .kind = GPUFABRIC_OPERATION_KIND_ATTACH, .started = NOW - 1200 } },
	{ .id = 6, .name = (char *)"3-5", .state = GF_STATE_READY, .since = NOW - 3000,
	  .flags = GPUFABRIC_SLOT_FLAG_LINK_DEGRADED, .link = { .speed = 16000, .width = 16 },
	  .last_operation = { .id = 8, .kind = GPUFABRIC_OPERATION_KIND_ATTACH, .has.error = true } },
};

static const struct gf_fabric fabric = { .slots = slots,
					 .n_slots = sizeof(slots) / sizeof(slots[0]) };
static const struct knowledge nothing_known;

/* Names of the slots in their order. */
static void shows(struct view view, const char *want, const char *name)
{
	const struct gf_slot **shown;
	struct text text = { 0 };
	size_t n, i;

	shown = view_slots(&view, &fabric, &nothing_known, &n);
	for (i = 0; i < n; i++)
		text_join(&text, " ", shown[i]->name);
	is_str(text.text ? text.text : "", want, name);
	free(text.text);
	free(shown);
}

static void test_order(void)
{
	shows((struct view){ 0 }, "3-0 3-1 3-2 3-3 3-4 3-5", "by slot");
	shows((struct view){ .reverse = true }, "3-5 3-4 3-3 3-2 3-1 3-0", "the other way round");
	shows((struct view){ .sort = VIEW_BY_STATE }, "3-2 3-4 3-5 3-0 3-3 3-1",
	      "what wants attention first");
	shows((struct view){ .sort = VIEW_BY_COMPOSITION }, "3-2 3-0 3-1 3-3 3-4 3-5",
	      "compositions, then those of none");
	shows((struct view){ .sort = VIEW_BY_TIME }, "3-4 3-2 3-5 3-0 3-3 3-1",
	      "what changed last first");
	shows((struct view){ .sort = VIEW_BY_GPU }, "3-0 3-1 3-2 3-3 3-4 3-5",
	      "GPUs that nobody knows stay in the order of slots");
}

static void test_filter(void)
{
	shows((struct view){ .filter = VIEW_USED }, "3-0 3-2 3-4 3-5", "in use");
	shows((struct view){ .filter = VIEW_FREE }, "3-1 3-5", "free");
	shows((struct view){ .filter = VIEW_TROUBLE }, "3-2 3-5", "in trouble");
	shows((struct view){ .find = "TRAIN" }, "3-0", "by composition, in any case");
	shows((struct view){ .find = "3-4" }, "3-4", "by name");
	shows((struct view){ .find = "fault" }, "3-2", "by state");
	shows((struct view){ .find = "frob" }, "", "by nothing at all");
	shows((struct view){ .find = "ready", .filter = VIEW_TROUBLE }, "3-5", "both at once");
}

static void test_table(void)
{
	struct gf_duration total = { .phase = GPUFABRIC_PHASE_TOTAL, .microseconds = 340000 };
	struct out *out = out_new(NULL);
	const struct gf_slot **shown;
	struct view view = { 0 };
	char *text;
	size_t n;

	slots[5].last_operation.durations = &total;
	slots[5].last_operation.n_durations = 1;
	shown = view_slots(&view, &fabric, &nothing_known, &n);
	view_slot_table(out, shown, n, &nothing_known, NOW);
	text = out_render_text(out);
	is_str(text,
	       "SLOT  STATE      FOR  OPERATION        COMPOSITION  GPU  LINK           MEMORY\n"
	       "3-0   ready      5 s  -                train70b     -    32 GT/s x16         -\n"
	       "3-1   off        9 s  -                -            -    -                   -\n"
	       "3-2   fault      2 s  -                alpha        -    -                   -\n"
	       "3-3   empty      7 s  -                -            -    -                   -\n"
	       "3-4   attaching  1 s  attach 1.2/30 s  -            -    -                   -\n"
	       "3-5   ready !    3 s  attach 0.34 s    -            -    16 GT/s x16 !       -\n",
	       "what stands on the screen");
	free(text);
	free(shown);
	out_free(out);
}

static void test_share(void)
{
	struct view_rows rows;
	size_t lines, c, s;
	bool fits = true;

	view_share(&rows, 24, 16, 1);
	is_int((int)rows.slots, 13, "of 24 lines most are for slots");
	is_int((int)rows.compositions, 1, "as many for compositions as there are");
	is_int((int)rows.events, 5, "the rest is for events");
	view_share(&rows, 24, 4, 0);
	is_int((int)rows.slots, 4, "few slots have few lines");
	is_int((int)(rows.slots + rows.events), 20, "and events what they leave");
	for (lines = 0; lines < 100; lines++) {
		for (c = 0; c < 30; c++) {
			for (s = 0; s < 60; s++) {
				size_t sum = 3;

				view_share(&rows, lines, s, c);
				sum += rows.slots + rows.compositions + rows.events +
				       !!rows.compositions + !!rows.events;
				fits = fits && (lines < 4 ? sum == 3 : sum == lines);
				fits = fits && (lines < 4 || rows.slots);
			}
		}
	}
	ok(fits, "every line of every screen is for something, and slots always have one");
}

/* Takes ownership of @text. */
static void says(char *text, const char *want, const char *name)
{
	is_str(text, want, name);
	free(text);
}

static void test_events(void)
{
	struct gf_message event = { .kind = GPUFABRIC_EVENT_KIND_SLOT_CHANGED, .has.slot = true,
				  .has.previous = true, .was = GF_STATE_OFF };

	event.slot = slots[4];
	says(event_text(&event, &fabric, &nothing_known), "slot         3-4        off -> attaching  -",
	     "a change of state");
	event.slot = slots[2];
	event.was = GF_STATE_FAULT;
	says(event_text(&event, &fabric, &nothing_known),
	     "slot         3-2        fault (link)  -  alpha", "the state that it has, and why");
	event = (struct gf_message){ .kind = GPUFABRIC_EVENT_KIND_SLOT_REMOVED, .has.slot = true,
				   .slot = { .id = 2 } };
	says(event_text(&event, &fabric, &nothing_known), "slot-removed 3-1        off  -",
	     "of what is gone the name is still known");
	event = (struct gf_message){ .kind = GPUFABRIC_EVENT_KIND_OPERATION_DONE, .has.operation = true,
				   .operation = { .kind = GPUFABRIC_OPERATION_KIND_COMPOSE, .error = -5,
						  .composition = (char *)"alpha" } };
	says(event_text(&event, &fabric, &nothing_known),
	     "operation    compose    Input/output error  alpha", "how an operation ended");
}

int main(void)
{
	slots[4].operation.deadline = text_uptime() + 28800;
	test_order();
	test_filter();
	test_table();
	test_share();
	test_events();
	return tap_done();
}
