// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: session
 *
 * The order matters: events first, then the snapshot, then the request whose
 * end is awaited. So no change can fall between two of them.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/out.h"
#include "host/drives.h"
#include "host/judge.h"
#include "session/session.h"

#define NAMES_SHOWN 8

int session_hear(struct session *session, int timeout_ms)
{
	struct gf_message event;

	switch (mirror_next(&session->mirror, timeout_ms, &event)) {
	case MIRROR_CHANGE:
		mirror_apply(&session->mirror, &event);
		return CTL_DONE;
	case MIRROR_SIGNAL:
		return ctl_fail(session->ctx, CTL_FAILED, "interrupted");
	case MIRROR_ERROR:
		return session->mirror.error;
	default:
		return CTL_DONE;
	}
}

int session_refresh(struct session *session)
{
	judge_forget(session->judge);
	return mirror_refresh(&session->mirror);
}

static int session_connect(struct ctl_ctx *ctx, struct session *session, enum session_use use)
{
	int ret;

	memset(session, 0, sizeof(*session));
	session->ctx = ctx;
	session->use = use;
	session->judge = mem_zalloc(1, sizeof(*session->judge));
	judge_open(session->judge, NULL);
	ret = gfc_open(ctx, &session->client);
	mirror_init(&session->mirror, session->client, &session->fabric, use != SESSION_LOOK);
	if (ret || use == SESSION_LOOK)
		return ret;
	gfc_catch_signals();
	return gfc_subscribe(session->client);
}

int session_know(struct session *session)
{
	int ret;

	if (session->knows)
		return CTL_DONE;
	ret = knowledge_load(session->ctx, &session->knowledge, session->use == SESSION_CHOOSE);
	session->knows = !ret;
	return ret;
}

int session_open(struct ctl_ctx *ctx, struct session *session, enum session_use use)
{
	int ret;

	ret = session_connect(ctx, session, use);
	if (!ret)
		ret = session_know(session);
	if (!ret)
		ret = session_refresh(session);
	if (ret)
		session_close(session);
	return ret;
}

int session_open_slots(struct ctl_ctx *ctx, struct session *session, enum session_use use)
{
	int ret;

	ret = session_connect(ctx, session, use);
	if (!ret)
		ret = mirror_refresh_slots(&session->mirror);
	if (ret)
		session_close(session);
	return ret;
}

void session_close(struct session *session)
{
	gf_fabric_free(&session->fabric);
	knowledge_free(&session->knowledge);
	judge_close(session->judge);
	free(session->judge);
	session->judge = NULL;
	gfc_close(session->client);
	session->client = NULL;
}

static int no_slot(struct session *session, const char *name)
{
	const struct gf_fabric *fabric = &session->fabric;
	const char **names = mem_zalloc(fabric->n_slots, sizeof(*names));
	struct text some = { 0 };
	const char *nearest;
	size_t i;
	int ret;

	for (i = 0; i < fabric->n_slots; i++) {
		names[i] = fabric->slots[i].name;
		if (i < NAMES_SHOWN)
			text_join(&some, ", ", names[i]);
	}
	nearest = text_nearest(name, names, fabric->n_slots);
	if (!fabric->n_slots)
		ret = ctl_fail(session->ctx, CTL_USAGE,
			       "no slot %s: there are no slots at all (gpuctl list)", name);
	else if (nearest)
		ret = ctl_fail(session->ctx, CTL_USAGE,
			       "no slot %s: did you mean %s? (slots: %s%s)", name, nearest,
			       some.text, fabric->n_slots > NAMES_SHOWN ? ", ..." : "");
	else
		ret = ctl_fail(session->ctx, CTL_USAGE, "no slot %s: slots are %s%s", name,
			       some.text,
			       fabric->n_slots > NAMES_SHOWN ? ", ... (gpuctl list)" : "");
	free(some.text);
	free(names);
	return ret;
}

int session_slot(struct session *session, const char *name, struct gf_slot **slot)
{
	*slot = gf_slot_by_name(&session->fabric, name);
	return *slot ? CTL_DONE : no_slot(session, name);
}

int session_slots(struct session *session, int argc, char *const *argv, struct gf_slot ***slots)
{
	struct gf_slot **found = mem_zalloc((size_t)argc, sizeof(*found));
	int i, j, ret = CTL_DONE;

	for (i = 0; i < argc && !ret; i++) {
		ret = session_slot(session, argv[i], &found[i]);
		for (j = 0; j < i && !ret; j++)
			if (found[j] == found[i])
				ret = ctl_fail(session->ctx, CTL_USAGE, "slot %s is named twice",
					       argv[i]);
	}
	if (ret)
		free(found);
	else
		*slots = found;
	return ret;
}

int session_managed(struct session *session, struct gf_slot *const *slots, size_t n)
{
	char *driver;
	size_t i;
	int ret;

	for (i = 0; i < n; i++) {
		if (!(slots[i]->flags & GPUFABRIC_SLOT_FLAG_UNMANAGED))
			continue;
		driver = drives_slot(slots[i]);
		ret = ctl_fail(session->ctx, CTL_FAILED,
			       "%s is unmanaged: slot driver %s may free it at any time; let the firmware or the hypervisor leave hot-plug to the kernel, see gpuctl doctor",
			       slots[i]->name, driver ? driver : "unknown");
		free(driver);
		return ret;
	}
	return CTL_DONE;
}

int session_composition(struct session *session, const char *name,
			struct gf_composition **composition)
{
	const struct gf_fabric *fabric = &session->fabric;
	struct text some = { 0 };
	size_t i;
	int ret;

	*composition = gf_composition_by_name(fabric, name);
	if (*composition)
		return CTL_DONE;
	for (i = 0; i < fabric->n_compositions && i < NAMES_SHOWN; i++)
		text_join(&some, ", ", fabric->compositions[i].name);
	ret = ctl_fail(session->ctx, CTL_USAGE, "no composition %s: %s%s%s", name,
		       some.text ? "there are " : "there is none at all",
		       some.text ? some.text : "",
		       fabric->n_compositions > NAMES_SHOWN ? ", ..." : "");
	free(some.text);
	return ret;
}

int session_check_name(struct ctl_ctx *ctx, const char *what, const char *name)
{
	if (!name || text_name_valid(name))
		return CTL_DONE;
	return ctl_fail(ctx, CTL_USAGE,
			"%s \"%s\": a name is a letter followed by up to 62 letters, digits, '_', '.' or '-'",
			what, name);
}

void session_say(const struct session *session, const char *fmt, ...)
{
	va_list ap;
	char *s;

	if (session->ctx->json)
		return;
	va_start(ap, fmt);
	s = mem_vprintf(fmt, ap);
	va_end(ap);
	out_line(session->ctx->out, "%s", s);
	/* A reader that is gone is noticed by main at the end; the change goes on. */
	out_flush(session->ctx->out);
	free(s);
}
