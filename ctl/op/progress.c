// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: progress
 *
 * One line a slot with a bar, redrawn in place. Many slots would scroll, so
 * above a screenful they are counted by state instead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "op/progress.h"
#include "session/render.h"

#define BAR 10
#define SLOTS_DRAWN 20

void progress_start(struct progress *progress, const struct ctl_ctx *ctx)
{
	memset(progress, 0, sizeof(*progress));
	progress->on = ctx->tty && !ctx->json;
	progress->started = text_now();
}

static bool removes(uint32_t kind)
{
	return kind == GPUFABRIC_OPERATION_KIND_DETACH || kind == GPUFABRIC_OPERATION_KIND_RELEASE;
}

/* How far a slot is, of BAR. */
static int done_of(const struct gf_slot *slot, bool removing)
{
	switch (slot->state) {
	case GF_STATE_ATTACHING:
		return 4;
	case GF_STATE_ATTACHED:
		return 7;
	case GF_STATE_READY:
		return removing ? 0 : BAR;
	case GF_STATE_DRAINING:
		return 2;
	case GF_STATE_DETACHING:
		return 6;
	case GF_STATE_OFF:
	case GF_STATE_EMPTY:
		return removing ? BAR : 0;
	default:
		return 0;
	}
}

static void draw_slot(const struct gf_slot *slot, const struct wait *wait)
{
	int done = done_of(slot, removes(wait->operation.kind));
	const struct gf_operation *last = &slot->last_operation;
	char *durations = NULL;
	char took[TEXT_QUANTITY];

	fprintf(stderr, "\033[K  %-12s %.*s%.*s %-9s", slot->name, done, "##########", BAR - done,
		"----------", render_state(slot->state));
	if (last->id == wait->operation.id && last->id) {
		durations = render_durations(last);
		fprintf(stderr, " %s   %s",
			text_duration(took, gf_duration(last, GPUFABRIC_PHASE_TOTAL) / 1000),
			durations);
	}
	fputc('\n', stderr);
	free(durations);
}

static void draw_counts(struct progress *progress, const struct gf_fabric *fabric,
			const struct wait *waits, size_t n)
{
	size_t counts[GF_STATES] = { 0 }, i, j;

	for (i = 0; i < n; i++) {
		for (j = 0; j < waits[i].n_slots; j++) {
			const struct gf_slot *slot = gf_slot_by_name(fabric, waits[i].slots[j]);

			if (slot)
				counts[slot->state]++;
		}
	}
	fputs("\033[K ", stderr);
	for (i = 0; i < GF_STATES; i++)
		if (counts[i])
			fprintf(stderr, " %zu %s", counts[i], render_state((uint32_t)i));
	fputc('\n', stderr);
	progress->lines = 1;
}

void progress_draw(struct progress *progress, const struct gf_fabric *fabric,
		   const struct wait *waits, size_t n)
{
	size_t total = 0, i, j;

	if (!progress->on)
		return;
	if (progress->lines)
		fprintf(stderr, "\033[%zuA", progress->lines);
	progress->lines = 0;
	for (i = 0; i < n; i++)
		total += waits[i].n_slots;
	if (total > SLOTS_DRAWN) {
		draw_counts(progress, fabric, waits, n);
		return;
	}
	for (i = 0; i < n; i++) {
		for (j = 0; j < waits[i].n_slots; j++) {
			const struct gf_slot *slot = gf_slot_by_name(fabric, waits[i].slots[j]);

			if (!slot)
				continue;
			draw_slot(slot, &waits[i]);
			progress->lines++;
		}
	}
}

void progress_end(struct progress *progress)
{
	if (progress->on && progress->lines)
		fprintf(stderr, "\033[%zuA\033[J", progress->lines);
	progress->lines = 0;
}
