// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: GPUs that nobody uses
 *
 * Nothing on this host notes what was bound to it: a gpuctl that was killed and a reboot leave
 * GPUs bound, and other hosts without them. The manager says what is bound here, the module
 * what each slot is, and /proc who holds a GPU.
 *
 * The time is counted from when a look first found a GPU unused, by a clock that nobody sets: the
 * module's times are those of the wall clock. For that a file of /run has this moment, and what was
 * found. It counts as long as each look finds the same. Without it the time begins anew, so its loss
 * makes a return later, and none earlier.
 *
 * A slot without a card may be one whose GPU is on its way. No other request may have it then, and
 * it has to stay empty for a while after that was seen.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/replace.h"
#include "base/text.h"
#include "cli/out.h"
#include "host/holders.h"
#include "managers/manager.h"
#include "managers/bringing.h"
#include "op/op.h"
#include "op/unused.h"

/* A card that was bound shows up sooner than this. */
#define ARRIVAL_MS 5000
/* A file for each slot. */
#define SEEN_DIR "/run/gpuctl-unused"
#define SEEN_DIR_MODE 0700
#define SEEN_MODE 0600

/**
 * struct unused - the GPUs of one manager that nobody uses
 * @on: names of slots with a GPU that is on, @n_on of them
 * @on_gpus: Ids of these
 * @off: Ids of GPUs whose slots are off or empty, @n_off of them
 * @off_slots: names of these slots
 * @bringing: these slots, while they are looked at
 */
struct unused {
	char **on;
	char **on_gpus;
	size_t n_on;
	char **off;
	char **off_slots;
	size_t n_off;
	struct bringing *bringing;
};

static void unused_free(struct unused *unused)
{
	size_t i;

	for (i = 0; i < unused->n_on; i++) {
		free(unused->on[i]);
		free(unused->on_gpus[i]);
	}
	for (i = 0; i < unused->n_off; i++) {
		free(unused->off[i]);
		free(unused->off_slots[i]);
		if (unused->bringing)
			bringing_end(&unused->bringing[i]);
	}
	free(unused->bringing);
	free(unused->on);
	free(unused->on_gpus);
	free(unused->off);
	free(unused->off_slots);
	memset(unused, 0, sizeof(*unused));
}

static bool slot_is_held(const struct gf_slot *slot)
{
	struct holders holders;
	bool held;

	holders_scan(&holders_system, &slot, 1, &holders);
	held = holders_has(&holders, slot->name);
	holders_free(&holders);
	return held;
}

static bool slot_is_unused(const struct gf_slot *slot)
{
	if (slot->composition || slot->operation.id)
		return false;
	return gf_slot_has_no_power(slot) ||
	       ((slot->state == GF_STATE_READY || slot->state == GF_STATE_ATTACHED) &&
		!slot_is_held(slot));
}

static char *seen_path(const char *slot)
{
	return mem_printf(SEEN_DIR "/%s", slot);
}

/* What was found; another one after each change of the slot, and for another GPU. */
static char *seen_text(const struct session *session, const struct gf_slot *slot, const char *gpu)
{
	return mem_printf("%llu %u %llu %s\n", (unsigned long long)session->mirror.instance,
			  slot->generation, (unsigned long long)slot->since, gpu);
}

/* When was that found first, by text_uptime()? False where nothing says so. */
static bool seen_read(const char *path, const char *found, uint64_t *first)
{
	FILE *file = fopen(path, "re");
	char *line = NULL, *rest = NULL;
	size_t size = 0;
	bool known;

	if (file && getline(&line, &size, file) > 0)
		rest = strchr(line, ' ');
	if (rest)
		*rest++ = '\0';
	known = rest && !strcmp(rest, found) && text_number(line, text_uptime(), first);
	free(line);
	if (file)
		fclose(file);
	return known;
}

static int seen_write(struct ctl_ctx *ctx, const char *path, const char *found, uint64_t first)
{
	char *text = mem_printf("%llu %s", (unsigned long long)first, found);
	int err = 0;

	if (mkdir(SEEN_DIR, SEEN_DIR_MODE) && errno != EEXIST)
		err = -errno;
	if (!err)
		err = replace_file(path, text, SEEN_MODE);
	free(text);
	return err ? ctl_fail(ctx, CTL_FAILED, "%s: %s", path, replace_error(err)) : CTL_DONE;
}

/* It is used: the time begins anew. */
static void seen_forget(struct session *session, const struct gf_slot *slot)
{
	char *path = seen_path(slot->name);

	if (!session->ctx->dry_run)
		unlink(path);
	free(path);
}

/* Has a GPU that nobody uses been found so for @ms? From now on it has. */
static int seen_long(struct session *session, const struct gf_slot *slot, const char *gpu,
		     uint64_t ms, bool *is_long)
{
	char *path = seen_path(slot->name), *found = seen_text(session, slot, gpu);
	uint64_t now = text_uptime(), first = now;
	int ret = CTL_DONE;

	if (!seen_read(path, found, &first)) {
		first = now;
		if (!session->ctx->dry_run)
			ret = seen_write(session->ctx, path, found, now);
	}
	*is_long = !ret && now > first && now - first >= ms;
	free(found);
	free(path);
	return ret;
}

static void unused_add(struct unused *unused, const struct pool_gpu *gpu,
		       const struct gf_slot *slot)
{
	if (gf_slot_has_no_power(slot)) {
		unused->off = mem_push(unused->off, unused->n_off, sizeof(*unused->off));
		unused->off_slots =
			mem_push(unused->off_slots, unused->n_off, sizeof(*unused->off_slots));
		unused->off[unused->n_off] = mem_strdup(gpu->id);
		unused->off_slots[unused->n_off++] = mem_strdup(slot->name);
	} else {
		unused->on = mem_push(unused->on, unused->n_on, sizeof(*unused->on));
		unused->on_gpus = mem_push(unused->on_gpus, unused->n_on, sizeof(*unused->on_gpus));
		unused->on[unused->n_on] = mem_strdup(slot->name);
		unused->on_gpus[unused->n_on++] = mem_strdup(gpu->id);
	}
}

static int unused_find(struct session *session, const struct manager_conf *conf,
		       struct unused *unused)
{
	struct manager_reply reply;
	size_t i;
	int ret = manager_inventory(session->ctx, conf, NULL, false, &reply);

	/* A slow manager answers of another moment than the snapshot is of. */
	if (!ret)
		ret = session_refresh(session);
	for (i = 0; i < reply.inventory.n && !ret; i++) {
		const struct pool_gpu *gpu = &reply.inventory.gpus[i];
		const struct gf_slot *slot = NULL;
		bool is_long = false;

		if (gpu->state == POOL_OURS && gpu->slot)
			slot = gf_slot_by_name(&session->fabric, gpu->slot);
		if (!slot)
			continue;
		if (slot_is_unused(slot))
			ret = seen_long(session, slot, gpu->id, conf->return_ms, &is_long);
		else
			seen_forget(session, slot);
		if (is_long)
			unused_add(unused, gpu, slot);
	}
	manager_reply_free(&reply);
	return ret;
}

/* Removal gives what is gone back to its manager; @gone: it was still there, and is not now. */
static int slot_detach(struct session *session, const struct op_terms *terms,
		       const struct manager_conf *conf, const char *name, const char *gpu,
		       bool *gone)
{
	struct gf_slot *slot = gf_slot_by_name(&session->fabric, name);
	bool is_long = false;
	struct op op = {
		.kind = OP_DETACH,
		.terms = terms,
		.remove = &slot,
		.n_remove = 1,
		.failed = "not detached",
	};
	int ret = CTL_DONE;

	*gone = false;
	if (slot && slot_is_unused(slot))
		ret = seen_long(session, slot, gpu, conf->return_ms, &is_long);
	if (!is_long)
		return ret;
	ret = op_run(session, &op);
	op_free(&op);
	if (!ret)
		ret = session_refresh(session);
	slot = ret ? NULL : gf_slot_by_name(&session->fabric, name);
	*gone = slot && gf_slot_has_no_power(slot);
	return ret;
}

/* Keep those with @keep set. */
static void off_keep(struct unused *unused, const bool *keep)
{
	size_t i, n = 0;

	for (i = 0; i < unused->n_off; i++) {
		if (keep[i]) {
			unused->off[n] = unused->off[i];
			unused->off_slots[n] = unused->off_slots[i];
			unused->bringing[n++] = unused->bringing[i];
			continue;
		}
		free(unused->off[i]);
		free(unused->off_slots[i]);
		bringing_end(&unused->bringing[i]);
	}
	unused->n_off = n;
}

/* Slots that another request has are looked at the next time. */
static void off_lock(struct session *session, struct unused *unused)
{
	bool *keep = mem_zalloc(unused->n_off + 1, sizeof(*keep));
	size_t i;

	unused->bringing = mem_zalloc(unused->n_off + 1, sizeof(*unused->bringing));
	for (i = 0; i < unused->n_off; i++) {
		keep[i] = !bringing_begin(session->ctx, &unused->bringing[i], &unused->off_slots[i],
					  NULL, 1);
		if (!keep[i])
			session_say(session, "%s", session->ctx->error);
	}
	off_keep(unused, keep);
	free(keep);
}

/* Still off, and the manager still has that GPU there for us? */
static int off_look(struct session *session, const struct manager_conf *conf, struct unused *unused)
{
	bool *keep = mem_zalloc(unused->n_off + 1, sizeof(*keep));
	struct manager_reply reply;
	size_t i;
	int ret = manager_inventory(session->ctx, conf, NULL, false, &reply);

	if (!ret)
		ret = session_refresh(session);
	for (i = 0; i < unused->n_off && !ret; i++) {
		const char *name = unused->off_slots[i];
		const struct gf_slot *slot = gf_slot_by_name(&session->fabric, name);
		const struct pool_gpu *gpu = inventory_find(&reply.inventory, unused->off[i]);

		keep[i] = slot && gf_slot_has_no_power(slot) && gpu && gpu->state == POOL_OURS &&
			  gpu->slot && !strcmp(gpu->slot, name);
	}
	off_keep(unused, keep);
	manager_reply_free(&reply);
	free(keep);
	return ret;
}

/* Forget those in whose slots something has shown up meanwhile. */
static int off_await(struct session *session, const struct manager_conf *conf,
		     struct unused *unused)
{
	uint64_t end = text_monotonic() + ARRIVAL_MS, now;
	int ret = CTL_DONE;

	while (!ret && unused->n_off && (now = text_monotonic()) < end)
		ret = session_hear(session, (int)(end - now));
	return ret || !unused->n_off ? ret : off_look(session, conf, unused);
}

/* As many as one request has, from @at on; @n: how many that are. */
static int off_unbind(struct session *session, const struct manager_conf *conf,
		      const struct unused *unused, size_t at, size_t *n)
{
	struct manager_gpu gpus[MANAGER_GPUS_MAX] = { { NULL } };
	struct manager_request request = { .verb = MANAGER_UNBIND, .gpus = gpus };
	struct manager_reply reply;
	int ret;

	for (; at + request.n < unused->n_off && request.n < MANAGER_GPUS_MAX; request.n++)
		gpus[request.n].id = unused->off[at + request.n];
	*n = request.n;
	ret = manager_ask(session->ctx, conf, &request, &reply);
	manager_reply_free(&reply);
	if (!ret)
		bringers_await_empty(session, unused->off_slots + at, NULL, request.n);
	return ret;
}

/* @given: how many of them went back, the first ones. */
static int off_return(struct session *session, const struct manager_conf *conf,
		      struct unused *unused, size_t *given)
{
	size_t n = 0;
	int ret;

	off_lock(session, unused);
	ret = off_await(session, conf, unused);
	for (; !ret && *given < unused->n_off; *given += ret ? 0 : n)
		ret = off_unbind(session, conf, unused, *given, &n);
	return ret;
}

static void unused_would(struct session *session, const struct unused *unused, size_t *n)
{
	size_t i;

	for (i = 0; i < unused->n_on; i++)
		out_note(session->ctx->out, "would", "would ", "detach %s and give its GPU back",
			 unused->on[i]);
	for (i = 0; i < unused->n_off; i++)
		out_note(session->ctx->out, "would", "would ", "give %s of slot %s back",
			 unused->off[i], unused->off_slots[i]);
	*n += unused->n_on + unused->n_off;
}

/* What went wrong with one does not keep the others. */
static void unused_warn(struct session *session, const char *what, int ret, int *worst)
{
	*worst = ret;
	ctl_warn(session->ctx, "%s: %s", what, session->ctx->error);
}

static int manager_return(struct session *session, const struct op_terms *terms,
			  const struct manager_conf *conf, size_t *n)
{
	struct ctl_ctx *ctx = session->ctx;
	struct unused unused = { 0 };
	int worst = CTL_DONE, ret;
	size_t given = 0, i;

	ret = unused_find(session, conf, &unused);
	if (ret)
		unused_warn(session, conf->name, ret, &worst);
	if (ctx->dry_run) {
		unused_would(session, &unused, n);
		unused_free(&unused);
		return worst;
	}
	for (i = 0; i < unused.n_on && !gfc_signalled(); i++) {
		bool gone;

		ret = session_refresh(session);
		if (!ret)
			ret = slot_detach(session, terms, conf, unused.on[i], unused.on_gpus[i],
					  &gone);
		if (ret)
			unused_warn(session, unused.on[i], ret, &worst);
		else if (gone)
			out_note(ctx->out, "returned", "detached and given back: ", "%s",
				 unused.on[i]);
		*n += !ret && gone;
	}
	ret = CTL_DONE;
	if (unused.n_off && !gfc_signalled())
		ret = off_return(session, conf, &unused, &given);
	if (ret)
		unused_warn(session, conf->name, ret, &worst);
	for (i = 0; i < given; i++)
		out_note(ctx->out, "returned", "given back: ", "%s of slot %s", unused.off[i],
			 unused.off_slots[i]);
	*n += given;
	unused_free(&unused);
	return worst;
}

int unused_return(struct session *session, const struct op_terms *terms, size_t *n)
{
	struct managers managers;
	int worst, ret;
	size_t i;

	*n = 0;
	managers_load(session->ctx, &managers);
	worst = managers_check(session->ctx, &managers);
	for (i = 0; i < managers.n_bad; i++)
		ctl_warn(session->ctx, "%s", managers.bad[i].why);
	for (i = 0; i < managers.n && !gfc_signalled(); i++) {
		if (managers.conf[i].return_ms == MANAGER_RETURN_NEVER)
			continue;
		ret = manager_return(session, terms, &managers.conf[i], n);
		worst = ret ? ret : worst;
	}
	managers_free(&managers);
	return worst;
}
