/* SPDX-License-Identifier: GPL-2.0-only */
/* What a command that looks at the fabric or changes it starts with. */
#ifndef GPUCTL_SESSION_H
#define GPUCTL_SESSION_H

#include "module/mirror.h"
#include "session/identity.h"

struct judge;

/* What a session is for. */
enum session_use {
	SESSION_LOOK, /* shows things */
	SESSION_CHANGE, /* and takes part in the events, catches signals */
	SESSION_CHOOSE, /* and acts on identities: no catalogue file may be in error */
};

/**
 * struct session - client, snapshot and knowledge of one command
 * @ctx: the run
 * @client: connection to the module
 * @fabric: snapshot
 * @mirror: keeps @fabric up to date while something is awaited
 * @knowledge: catalogue and declarations
 * @judge: of windows, as they were when it was first asked
 * @use: what it is for
 * @knows: @knowledge was read
 */
struct session {
	struct ctl_ctx *ctx;
	struct gfc *client;
	struct gf_fabric fabric;
	struct mirror mirror;
	struct knowledge knowledge;
	struct judge *judge;
	enum session_use use;
	bool knows;
};

/* Connect, subscribe where that is needed, read catalogue and snapshot. */
int session_open(struct ctl_ctx *ctx, struct session *session, enum session_use use);

/*
 * The same for a change that only names slots: no compositions are read, and
 * no catalogue before session_know(), so that the request is on its way early.
 */
int session_open_slots(struct ctl_ctx *ctx, struct session *session, enum session_use use);

/* Read the catalogue and declarations unless that was done; an error only for SESSION_CHOOSE. */
int session_know(struct session *session);
void session_close(struct session *session);

/* Wait for one change and have it in the snapshot; CTL_DONE after @timeout_ms without one, too. */
int session_hear(struct session *session, int timeout_ms);

/* Take the snapshot anew. */
int session_refresh(struct session *session);

/* A slot by name; unknown is a usage error that says which exist. */
int session_slot(struct session *session, const char *name, struct gf_slot **slot);

/*
 * Slots by name, in the order given; a name that is unknown or repeated is a
 * usage error. *@slots is newly allocated and points into the snapshot.
 */
int session_slots(struct session *session, int argc, char *const *argv, struct gf_slot ***slots);

/* Refuse slots that are listed only, with what the admin can do. */
int session_managed(struct session *session, struct gf_slot *const *slots, size_t n);

/* A composition by name; unknown is a usage error that says which exist. */
int session_composition(struct session *session, const char *name,
			struct gf_composition **composition);

/* Check a name of a composition, tenant or label. */
int session_check_name(struct ctl_ctx *ctx, const char *what, const char *name);

/* Print a line now, before the end of the command; nothing with -j. */
void session_say(const struct session *session, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* GPUCTL_SESSION_H */
