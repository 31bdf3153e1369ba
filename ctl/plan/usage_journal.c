// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: what a host's journal says about who had which GPUs
 *
 * The watch service notes each change of a slot with its state and its composition, and each
 * change of a composition with its tenant. A slot holds one GPU. What was so before the first entry
 * is not known, and what is so at the last one ends there. So does what was so before the host
 * started again: nobody knows for how long it was off.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jread.h"
#include "base/text.h"
#include "plan/usage.h"

/* 128 bits in hex, and the NUL. */
#define BOOT_ID 33

/**
 * struct seat - a slot
 * @name: of the slot
 * @on: a GPU in it is powered
 * @who: who has it, or USAGE_NOBODY
 * @since: when that began
 */
struct seat {
	char *name;
	bool on;
	size_t who;
	double since;
};

/**
 * struct log - the journal that is read
 * @u: what was read
 * @seats: the slots that were seen
 * @n: how many
 * @now: time of the entry, or of a later one above it
 * @clock_us: time of the entry
 * @entries: of ours
 * @boot: during which that was; "" where that is not known
 */
struct log {
	struct usage *u;
	struct seat *seats;
	size_t n;
	double now;
	uint64_t clock_us;
	size_t entries;
	char boot[BOOT_ID];
};

static bool is_on(const char *state)
{
	static const char *const states[] = { "attached", "ready", "draining", "detaching" };
	size_t i;

	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (!strcmp(state, states[i]))
			return true;
	return false;
}

static struct seat *seat_of(struct log *l, const char *name)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (!strcmp(l->seats[i].name, name))
			return &l->seats[i];
	l->seats = mem_grow(l->seats, l->n + 1, sizeof(*l->seats));
	l->seats[l->n] = (struct seat){ .name = mem_strdup(name), .since = l->now };
	return &l->seats[l->n++];
}

static void end_span(struct log *l, struct seat *s)
{
	if (s->on)
		usage_add(l->u, s->since, l->now, 1, s->who);
	s->since = l->now;
}

/* All that was on went off with the host, at the last entry before or later. */
static int read_boot(struct jread *r, struct log *l)
{
	const char *boot = NULL;
	int err = jread_word(r, r->root, "_BOOT_ID", &boot);
	size_t i;

	if (err || !boot)
		return err;
	for (i = 0; i < l->n && *l->boot && strncmp(l->boot, boot, BOOT_ID - 1) != 0; i++) {
		end_span(l, &l->seats[i]);
		l->seats[i].on = false;
	}
	snprintf(l->boot, sizeof(l->boot), "%s", boot);
	return 0;
}

/* No time passes while a clock that was set back has not come to where it was. */
static int usage_journal_read_time(struct jread *r, struct log *l)
{
	const char *word = NULL;
	uint64_t us;
	int err = jread_word(r, r->root, "__REALTIME_TIMESTAMP", &word);

	if (err)
		return err;
	if (!word || !text_number(word, INT64_MAX, &us))
		return jread_refuse(r, "an entry needs its \"__REALTIME_TIMESTAMP\"");
	l->u->set_back += l->clock_us > us;
	l->clock_us = us;
	if (!l->entries || (double)us / 1e6 > l->now)
		l->now = (double)us / 1e6;
	return 0;
}

static int read_entry(struct jread *r, struct log *l)
{
	const char *slot = NULL, *state = NULL, *composition = NULL, *tenant = NULL;
	struct seat *s;
	int err;

	if (!json_object_is_type(r->root, json_type_object))
		return jread_refuse(r, "an object is expected here");
	if (!json_object_object_get_ex(r->root, "GPUFABRIC_EVENT", NULL))
		return 0;
	err = read_boot(r, l);
	if (!err)
		err = usage_journal_read_time(r, l);
	if (!err)
		err = jread_word(r, r->root, "GPUFABRIC_SLOT", &slot);
	if (!err)
		err = jread_word(r, r->root, "GPUFABRIC_STATE", &state);
	if (!err)
		err = jread_word(r, r->root, "GPUFABRIC_COMPOSITION", &composition);
	if (!err)
		err = jread_word(r, r->root, "GPUFABRIC_TENANT", &tenant);
	if (err)
		return err;
	if (!l->entries++)
		l->u->from = l->now;
	if (composition && tenant)
		usage_holder(l->u, composition, tenant);
	if (composition && !slot && state && !strcmp(state, "removed"))
		l->u->holders[usage_holder(l->u, composition, NULL)].over = true;
	if (!slot || !state)
		return 0;
	s = seat_of(l, slot);
	end_span(l, s);
	s->on = is_on(state);
	s->who = composition ? usage_holder(l->u, composition, NULL) : USAGE_NOBODY;
	return 0;
}

static int read_line(struct log *l, const char *file, size_t line, const char *text, size_t len,
		     struct fault *fault)
{
	struct fault inner = { "" };
	struct jread r;
	int err;

	err = jread_open(&r, "", text, len, &inner);
	if (!err)
		err = read_entry(&r, l);
	jread_close(&r);
	/* The text says ":1:COLUMN: why", as each line is a document. */
	if (err)
		fault_set(fault, EINVAL, "%s:%zu%s", file, line, inner.text + strlen(":1"));
	return err;
}

int usage_read_journal(struct usage *u, const char *file, const char *text, size_t len,
		       struct fault *fault)
{
	struct log l = { .u = u };
	const char *at = text, *end = text + len, *stop;
	size_t line = 0, i;
	int err = 0;

	u->recorded = true;
	u->knows_idle = true;
	for (; !err && at < end; at = stop + 1) {
		stop = memchr(at, '\n', (size_t)(end - at));
		if (!stop)
			stop = end;
		line++;
		err = read_line(&l, file, line, at, (size_t)(stop - at), fault);
	}
	if (!err && !l.entries)
		err = fault_set(fault, EINVAL, "%s:1:1: no entry of gpuctl's watch service", file);
	for (i = 0; i < l.n; i++) {
		end_span(&l, &l.seats[i]);
		free(l.seats[i].name);
	}
	free(l.seats);
	u->to = l.now;
	u->gpus = (uint32_t)l.n;
	return err;
}
