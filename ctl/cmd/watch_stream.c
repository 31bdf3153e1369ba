// SPDX-License-Identifier: GPL-2.0-only
/* What the verbs of gpuctl watch share: a snapshot, and then every change without a gap. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/replace.h"
#include "base/text.h"
#include "cli/ctl.h"
#include "cli/given.h"
#include "cli/out.h"
#include "cmd/watch.h"
#include "module/netlink_gen.h"
#include "publish/event_text.h"
#include "publish/journal.h"
#include "session/render.h"

const struct ctl_option watch_options[] = {
	{ "changes", 0, NULL, "leave the snapshot out" },
	{ "slot", 's', "SLOT", "only this slot (may be repeated)" },
	{ "composition", 'C', "NAME", "only this composition and its slots (may be repeated)",
	  "@compositions" },
	{ "kind", 'k', "KIND", "only changes of a kind, such as slot-changed (may be repeated)",
	  "@events" },
	{ NULL },
};

/* One document a line in JSON: what it is stands in "event". */
static const struct out_column event_columns[] = {
	{ "event", NULL }, { "sequence", NULL }, { "instance", NULL },
	{ "time", NULL },  { "previous", NULL }, { NULL, NULL },
};

static const struct out_column switch_columns[] = {
	{ "id", NULL },	   { "address", NULL }, { "numa_node", NULL },
	{ "slots", NULL }, { "link", NULL },	{ NULL, NULL },
};

static const struct out_column empty_columns[] = { { NULL, NULL } };

static struct out *out_of(const struct watch *watch)
{
	return watch->session->ctx->out;
}

/* The reader may be gone: then the watch is over, and that is no error. */
static int flush(const struct watch *watch)
{
	int err = out_flush(out_of(watch));

	if (!err)
		return CTL_DONE;
	if (err == -EPIPE)
		return -1;
	return ctl_fail(watch->session->ctx, CTL_FAILED, "cannot write the output: %s",
			strerror(-err));
}

static struct out_table *watch_begin(const struct watch *watch, const char *name)
{
	struct out_table *t = out_table(out_of(watch), NULL, event_columns, OUT_SINGLE);

	out_str(t, "event", name);
	return t;
}

static void watch_put_slot(struct watch *watch, const struct gf_slot *slot)
{
	struct out_table *t;
	struct identity identity;

	if (!watch->session->ctx->json)
		return;
	identity_of(&watch->session->knowledge, slot, &identity);
	t = out_table(out_of(watch), "slot", render_slot_columns, OUT_SINGLE);
	render_slot(t, slot, &identity, text_now());
}

static void put_switch(struct watch *watch, const struct gf_switch *sw)
{
	struct out_table *t;
	char link[32];

	if (!watch->session->ctx->json)
		return;
	t = out_table(out_of(watch), "switch", switch_columns, OUT_SINGLE);
	out_uint(t, "id", sw->id);
	out_str(t, "address", sw->address);
	out_int(t, "numa_node", sw->numa_node);
	out_uint(t, "slots", sw->slots);
	gf_link_text(link, sw->link.speed, sw->link.width);
	out_str(t, "link", strcmp(link, "-") ? link : NULL);
}

static void watch_put_composition(struct watch *watch, const struct gf_composition *composition)
{
	struct out_table *t;

	if (!watch->session->ctx->json)
		return;
	t = out_table(out_of(watch), "composition", render_composition_columns, OUT_SINGLE);
	render_composition(t, composition, &watch->session->fabric, &watch->session->knowledge,
			   text_now());
}

static void watch_put_operation(struct watch *watch, const struct gf_operation *operation)
{
	if (watch->session->ctx->json)
		render_operation(out_table(out_of(watch), NULL, empty_columns, OUT_SINGLE),
				 "operation", operation);
}

/* Was the option given at all, and with this value? */
static bool passes(const struct ctl_ctx *ctx, const char *option, const char *value)
{
	const char *wanted;
	size_t pos = 0;
	bool any = false;

	while ((wanted = ctl_opt_next(ctx, option, &pos))) {
		if (value && !strcmp(wanted, value))
			return true;
		any = true;
	}
	return !any;
}

static bool shows_slot(const struct ctl_ctx *ctx, const struct gf_slot *slot)
{
	return passes(ctx, "slot", slot->name) && passes(ctx, "composition", slot->composition);
}

static bool shows_composition(const struct watch *watch, const struct gf_composition *composition)
{
	const struct ctl_ctx *ctx = watch->session->ctx;
	bool named = !ctl_opt(ctx, "slot");
	size_t i;

	for (i = 0; i < composition->n_members && !named; i++)
		named = passes(ctx, "slot", composition->members[i].slot_name);
	return named && passes(ctx, "composition", composition->name);
}

/* Before the event is applied: a slot that leaves a composition is still of it. */
static bool shows_event(const struct watch *watch, const struct gf_message *event)
{
	const struct ctl_ctx *ctx = watch->session->ctx;
	const struct gf_slot *before;

	if (!passes(ctx, "kind", gfnl_event_kind_name(event->kind)))
		return false;
	if (event->has.slot) {
		before = gf_slot_by_id(&watch->session->fabric, event->slot.id);
		return (before && shows_slot(ctx, before)) ||
		       (event->slot.name && shows_slot(ctx, &event->slot));
	}
	if (event->has.operation)
		return !ctl_opt(ctx, "slot") &&
		       passes(ctx, "composition", event->operation.composition);
	if (event->has.composition)
		return shows_composition(watch, &event->composition);
	return !ctl_opt(ctx, "slot") && !ctl_opt(ctx, "composition");
}

static int show_snapshot(struct watch *watch)
{
	const struct gf_fabric *fabric = &watch->session->fabric;
	struct out_table *t;
	char now[EVENT_CLOCK];
	int ret = 0;
	size_t i;

	bool switches = watch->session->ctx->json && !ctl_opt(watch->session->ctx, "slot") &&
			!ctl_opt(watch->session->ctx, "composition");

	for (i = 0; i < fabric->n_switches && !ret && switches; i++) {
		watch_begin(watch, "exists");
		put_switch(watch, &fabric->switches[i]);
		ret = flush(watch);
	}
	for (i = 0; i < fabric->n_slots && !ret; i++) {
		const struct gf_slot *slot = &fabric->slots[i];
		struct identity identity;

		if (!shows_slot(watch->session->ctx, slot))
			continue;
		identity_of(&watch->session->knowledge, slot, &identity);
		if (watch->session->ctx->json)
			watch_begin(watch, "exists");
		else
			out_line(out_of(watch), "%s  slot         %-10s %s  %s%s%s",
				 event_clock(now, text_now()), slot->name,
				 render_state(slot->state), identity.label,
				 slot->composition ? "  " : "",
				 slot->composition ? slot->composition : "");
		watch_put_slot(watch, slot);
		ret = flush(watch);
	}
	for (i = 0; i < fabric->n_compositions && !ret; i++) {
		if (!shows_composition(watch, &fabric->compositions[i]))
			continue;
		if (watch->session->ctx->json)
			watch_begin(watch, "exists");
		else
			out_line(out_of(watch), "%s  composition  %-10s %s",
				 event_clock(now, text_now()), fabric->compositions[i].name,
				 render_composition_state(fabric->compositions[i].state));
		watch_put_composition(watch, &fabric->compositions[i]);
		ret = flush(watch);
	}
	if (ret)
		return ret;
	if (watch->session->ctx->json) {
		t = watch_begin(watch, "snapshot-done");
		out_uint(t, "sequence", watch->session->mirror.last);
		out_strf(t, "instance", "%016" PRIx64, watch->session->mirror.instance);
	} else {
		out_line(out_of(watch), "%s  -- changes from here", event_clock(now, text_now()));
	}
	return flush(watch);
}

static void show_text(struct watch *watch, const struct gf_message *event)
{
	char *text = event_text(event, &watch->session->fabric, &watch->session->knowledge);
	char when[EVENT_CLOCK];

	out_line(out_of(watch), "%s  %s", event_clock(when, event->time), text);
	free(text);
}

static void show_json(struct watch *watch, const struct gf_message *event)
{
	const char *kind = gfnl_event_kind_name(event->kind);
	struct out_table *t = watch_begin(watch, kind ? kind : "unknown");

	out_uint(t, "sequence", event->sequence);
	out_strf(t, "instance", "%016" PRIx64, event->instance);
	out_time(t, "time", event->time);
	if (event->has.previous)
		out_str(t, "previous", render_state(event->was));
	if (event->has.slot)
		watch_put_slot(watch, &event->slot);
	if (event->has.sw)
		put_switch(watch, &event->sw);
	if (event->has.composition)
		watch_put_composition(watch, &event->composition);
	if (event->has.operation)
		watch_put_operation(watch, &event->operation);
}

static int to_journal(struct watch *watch, const struct gf_message *event)
{
	struct journal_entry entry;
	int err;

	journal_entry(&entry, &watch->session->fabric, event);
	err = journal_send(&entry);
	journal_free(&entry);
	if (err)
		return ctl_fail(watch->session->ctx, CTL_FAILED, "cannot write to the journal: %s",
				strerror(-err));
	return CTL_DONE;
}

static int watch_change(struct watch *watch, struct gf_message *event)
{
	int ret = CTL_DONE;

	if (shows_event(watch, event)) {
		if (watch->journal)
			ret = to_journal(watch, event);
		else if (watch->session->ctx->json)
			show_json(watch, event);
		else
			show_text(watch, event);
		watch->shown++;
	}
	if (watch->units)
		follow_event(&watch->follow, event);
	mirror_apply(&watch->session->mirror, event);
	return ret ? ret : flush(watch);
}

static int begin_with_snapshot(struct watch *watch)
{
	int ret = CTL_DONE;

	if (!watch->journal && !ctl_flag(watch->session->ctx, "changes"))
		ret = show_snapshot(watch);
	if (!ret && watch->units)
		follow_snapshot(&watch->follow, &watch->session->fabric,
				watch->session->mirror.instance);
	return ret;
}

static int say_lost(struct watch *watch)
{
	struct journal_entry entry;
	int ret;

	if (watch->journal) {
		journal_note(&entry, "overrun", "changes were lost, a new snapshot is taken");
		journal_send(&entry);
		journal_free(&entry);
	} else if (watch->session->ctx->json) {
		watch_begin(watch, "overrun");
	} else {
		out_line(out_of(watch), "-- changes were lost, a new snapshot follows");
	}
	ret = flush(watch);
	return ret ? ret : begin_with_snapshot(watch);
}

static bool is_over(const struct watch *watch)
{
	if (watch->limit && watch->shown >= watch->limit)
		return true;
	return watch->until && condition_met(watch->until, &watch->session->fabric);
}

static int too_late(const struct watch *watch)
{
	return ctl_fail(watch->session->ctx, CTL_TIMEOUT, "'%s' was not reached within %s",
			watch->until_text, ctl_opt(watch->session->ctx, "timeout"));
}

/* Milliseconds that may still pass, -1 for any. */
static int watch_patience(const struct watch *watch)
{
	uint64_t now = text_monotonic();

	if (!watch->end)
		return -1;
	return now < watch->end ? (int)(watch->end - now) : 0;
}

/* The same, or less when a unit will be due before. */
static int next_turn(const struct watch *watch)
{
	int left = watch_patience(watch), turn = -1;

	if (watch->units)
		turn = follow_patience(&watch->follow, &watch->session->fabric, text_uptime());
	return turn < 0 || (left >= 0 && left < turn) ? left : turn;
}

static void units_turn(struct watch *watch)
{
	int err = follow_keep(&watch->follow);

	if (err)
		ctl_warn(watch->session->ctx,
			 "cannot write down which faults were told: %s; the next start tells them again",
			 replace_error(err));
	follow_turn(&watch->follow, &watch->session->fabric, text_uptime());
}

static int watch_loop(struct watch *watch)
{
	struct gf_message event;
	int ret = CTL_DONE;

	while (!ret && !is_over(watch)) {
		if (watch->units)
			units_turn(watch);
		switch (mirror_next(&watch->session->mirror, next_turn(watch), &event)) {
		case MIRROR_CHANGE:
			ret = watch_change(watch, &event);
			break;
		case MIRROR_SNAPSHOT:
			ret = say_lost(watch);
			break;
		case MIRROR_SIGNAL:
			if (watch->until)
				return ctl_fail(watch->session->ctx, CTL_FAILED, "interrupted");
			return CTL_DONE;
		case MIRROR_HANGUP:
			return CTL_DONE;
		case MIRROR_ERROR:
			ret = watch->session->mirror.error;
			break;
		case MIRROR_NOTHING:
			if (watch->end && !watch_patience(watch))
				ret = too_late(watch);
			break;
		}
	}
	return ret;
}

static bool is_kind(const char *word)
{
	unsigned int n;

	for (n = 0; gfnl_event_kind_name(n); n++)
		if (!strcmp(gfnl_event_kind_name(n), word))
			return true;
	return false;
}

static int watch_check_kinds(struct ctl_ctx *ctx)
{
	struct text list = { 0 };
	const char *word;
	size_t pos = 0;
	unsigned int n;

	do {
		word = ctl_opt_next(ctx, "kind", &pos);
	} while (word && is_kind(word));
	if (!word)
		return CTL_DONE;
	for (n = 0; gfnl_event_kind_name(n); n++)
		text_join(&list, ", ", gfnl_event_kind_name(n));
	ctl_fail(ctx, CTL_USAGE, "--kind %s: the kinds are %s", word, list.text);
	free(list.text);
	return CTL_USAGE;
}

int watch_run(struct ctl_ctx *ctx, struct watch *watch)
{
	struct session *session = &watch->own;
	int ret = watch_check_kinds(ctx);

	if (!ret)
		ret = session_open(ctx, session, SESSION_CHANGE);
	if (ret)
		return ret;
	watch->session = session;
	if (!watch->journal)
		gfc_mind_reader(session->client, STDOUT_FILENO);
	/* What only tells of changes lets a host rest that has none. */
	if (!watch->until)
		session->mirror.quiet_ms = 0;
	out_stream(ctx->out);
	ret = begin_with_snapshot(watch);
	if (!ret && watch->journal)
		journal_ready();
	if (!ret)
		ret = watch_loop(watch);
	session_close(session);
	return ret < 0 ? CTL_DONE : ret;
}
