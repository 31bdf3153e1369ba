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

#include "lib/annotation.h"
#include "lib/judge.h"
#include "lib/out.h"
#include "lib/session.h"
#include "lib/text.h"

#define DRIVER_TIMEOUT_MS 10000
#define NAMES_SHOWN 8
#define LEASE_MIN_MS 1000
#define LEASE_MAX_MS (3650ull * 86400 * 1000)

const struct ctl_option session_options[] = {
	{ "timeout", 't', "TIME", "deadline of each slot's operation (default 30s)" },
	{ "reason", 'r', "TEXT", "free text for the history" },
	{ NULL },
};

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
	size_t i;

	for (i = 0; i < n; i++)
		if (slots[i]->flags & GPUFABRIC_SLOT_FLAG_UNMANAGED)
			return ctl_fail(session->ctx, CTL_FAILED,
					"%s is unmanaged: slot driver %s may free it at any time; let the firmware or the hypervisor leave hot-plug to the kernel, see gpuctl doctor",
					slots[i]->name,
					slots[i]->slot_driver ? slots[i]->slot_driver : "unknown");
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

int session_timeout(struct ctl_ctx *ctx, const char *option, uint64_t fallback, uint64_t min,
		    uint64_t max, uint64_t *ms)
{
	const char *value = ctl_opt(ctx, option);
	char low[TEXT_QUANTITY], high[TEXT_QUANTITY];

	*ms = fallback;
	if (!value)
		return CTL_DONE;
	if (!text_parse_duration(value, ms))
		return ctl_fail(ctx, CTL_USAGE,
				"--%s %s: write a time with its unit, such as 30s, 5min or 8h",
				option, value);
	if (*ms < min || *ms > max)
		return ctl_fail(ctx, CTL_USAGE, "--%s %s: must be between %s and %s", option, value,
				text_duration(low, min), text_duration(high, max));
	return CTL_DONE;
}

/* --tenant and --label are names; schedulers number their jobs, those need not be. */
static int take_text(struct ctl_ctx *ctx, const char *option, char to[GPUFABRIC_NAME_MAX + 1],
		     bool name)
{
	const char *value = ctl_opt(ctx, option);

	if (!value)
		return CTL_DONE;
	if (name && !text_name_valid(value))
		return session_check_name(ctx, option, value);
	if (!name && !annotation_job_valid(value))
		return ctl_fail(ctx, CTL_USAGE, "--%s: one to %d bytes of text in a line", option,
				GPUFABRIC_NAME_MAX);
	strcpy(to, value);
	return CTL_DONE;
}

int session_lease(struct session *session, struct annotation *note)
{
	uint64_t lease;
	int ret = session_timeout(session->ctx, "for", 0, LEASE_MIN_MS, LEASE_MAX_MS, &lease);

	if (!ret && lease) {
		note->lease = text_uptime() + lease;
		note->instance = session->mirror.instance;
	}
	return ret;
}

int session_annotate(struct session *session, struct annotation *note, bool tenant)
{
	struct ctl_ctx *ctx = session->ctx;
	int ret = CTL_DONE;

	if (tenant)
		ret = take_text(ctx, "tenant", note->tenant, true);
	if (!ret)
		ret = take_text(ctx, "label", note->label, true);
	if (!ret)
		ret = take_text(ctx, "job", note->job, false);
	return ret ? ret : session_lease(session, note);
}

int session_put_options(struct ctl_ctx *ctx, struct nl_msg *msg)
{
	const char *reason = ctl_opt(ctx, "reason");
	uint64_t timeout;
	int ret;

	ret = session_timeout(ctx, "timeout", 0, GPUFABRIC_TIMEOUT_MIN, GPUFABRIC_TIMEOUT_MAX,
			      &timeout);
	if (ret)
		return ret;
	if (reason && strlen(reason) > GPUFABRIC_REASON_MAX)
		return ctl_fail(ctx, CTL_USAGE, "--reason: at most %d bytes", GPUFABRIC_REASON_MAX);
	if (timeout)
		nla_put_u32(msg, GPUFABRIC_A_TIMEOUT, (uint32_t)timeout);
	if (reason)
		nla_put_string(msg, GPUFABRIC_A_REASON, reason);
	return CTL_DONE;
}

uint32_t session_driver_timeout(const struct session *session, struct gf_slot *const *slots,
				size_t n, bool chosen)
{
	struct identity identity;
	char driver[64];
	size_t i;

	if (chosen)
		return DRIVER_TIMEOUT_MS;
	for (i = 0; i < n; i++) {
		identity_of(&session->knowledge, slots[i], &identity);
		if (!identity_loaded_driver(&identity, driver, sizeof(driver)))
			return 0;
	}
	return n ? DRIVER_TIMEOUT_MS : 0;
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
