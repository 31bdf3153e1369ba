/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The client of the module's generic netlink family, on libnl. Functions
 * return enum ctl_exit with the text recorded in the context, unless said
 * otherwise.
 */
#ifndef GPUCTL_NL_H
#define GPUCTL_NL_H

#include <netlink/msg.h>
#include <signal.h>

#include "cli/ctl.h"
#include "module/annotation.h"
#include "module/model.h"

struct gfc;

/* Of the module that is loaded, newly allocated; NULL where none is. */
char *gfc_module_version(void);

/* Connect; CTL_NO_MODULE when the family does not exist, or has another interface. */
int gfc_open(struct ctl_ctx *ctx, struct gfc **client);
void gfc_close(struct gfc *client);
struct ctl_ctx *gfc_ctx(struct gfc *client);

/*
 * A request without attributes; the caller adds them with nla_put_*(). There is room for each
 * attribute of a command once, and for @members member nests.
 */
struct nl_msg *gfc_message(struct gfc *client, uint8_t command);
struct nl_msg *gfc_message_of(struct gfc *client, uint8_t command, size_t members);

/* Append a member nest: @generation and @expect may be NULL, @order 0. */
void gfc_put_member(struct nl_msg *msg, int attr, const struct gf_slot *slot,
		    const uint32_t *generation, const struct gf_ids *expect, uint32_t order);

/* Append what a composition is annotated with; nothing is an annotation too. */
void gfc_put_annotation(struct nl_msg *msg, const struct annotation *note);

/* Called for each reply; what it takes out of @message it leaves zeroed there. */
typedef void (*gfc_reply_fn)(struct gf_message *message, void *arg);

/*
 * Send a request, take its replies up to the acknowledgment; frees @msg.
 * The extack of a refusal becomes the text of the error.
 */
int gfc_request(struct gfc *client, struct nl_msg *msg, gfc_reply_fn fn, void *arg);

/*
 * The same for a request that answers with members: the generation of each of
 * @slots is written to @generations.
 */
int gfc_request_members(struct gfc *client, struct nl_msg *msg, struct gf_slot *const *slots,
			uint32_t *generations, size_t n);

/*
 * The same for a dump. When the module says that the objects changed meanwhile,
 * @restart drops what was collected and the dump is sent again.
 */
int gfc_dump(struct gfc *client, struct nl_msg *msg, gfc_reply_fn fn, void (*restart)(void *arg),
	     void *arg);

/* The errno (positive) of the last refused request, 0 when the last one was accepted. */
int gfc_last_errno(const struct gfc *client);

/*
 * What belongs to a slot and comes by dumps of its own, each only where it is asked for. Members
 * of compositions are always there.
 */
enum gfc_parts {
	GFC_FUNCTIONS = 1,
	GFC_NEEDS = 2,
	GFC_MEMBERS = 4,
	GFC_PARTS = GFC_FUNCTIONS | GFC_NEEDS | GFC_MEMBERS,
};

/* Everything the module knows, sorted; free with gf_fabric_free(). */
int gfc_fabric(struct gfc *client, struct gf_fabric *fabric, unsigned int parts);
int gfc_slots(struct gfc *client, struct gf_fabric *fabric, unsigned int parts);

/*
 * All parts of one slot, of the moment that the slot is of. Where the module has moved on,
 * so does the slot when it @follows, else it has none; nor has one that is gone.
 */
int gfc_slot_parts(struct gfc *client, struct gf_slot *slot, bool follows);
/* The same for each slot of a fabric; slots follow. */
int gfc_all_slot_parts(struct gfc *client, struct gf_fabric *fabric);
/* The same for the members of a composition. */
int gfc_composition_parts(struct gfc *client, struct gf_composition *composition, bool follows);
int gfc_status(struct gfc *client, struct gf_status *status);
/* How long operations took; free with gf_histograms_free(), also after an error. */
int gfc_histograms(struct gfc *client, struct gf_histograms *histograms);

/*
 * Take part in the events, of group private where that is permitted, else of
 * group monitor. Do this before the snapshot or the request whose end matters.
 */
int gfc_subscribe(struct gfc *client);

/* What gfc_next_event() found. */
enum gfc_event {
	GFC_EVENT,
	GFC_NOTHING, /* the time is over */
	GFC_SIGNAL, /* SIGINT, SIGTERM or SIGHUP came */
	GFC_HANGUP, /* the reader of our output is gone, see gfc_mind_reader() */
	GFC_OVERRUN, /* events were lost: take a new snapshot */
	GFC_GONE, /* the module was unloaded: no event follows, reported to the context */
	GFC_ERROR, /* reported to the context */
};

/*
 * Wait for one event, at most @timeout_ms (-1: for ever). A handled signal
 * ends the wait at once; see gfc_catch_signals().
 */
enum gfc_event gfc_next_event(struct gfc *client, int timeout_ms, struct gf_message *event);

/* What to poll for reading beside others; gfc_next_event() with no time left then takes it. */
int gfc_events_fd(const struct gfc *client);

/* End a wait also when nobody can read from the other end of @fd any more. */
void gfc_mind_reader(struct gfc *client, int fd);

/*
 * SIGINT, SIGTERM and SIGHUP are noted instead of killing; true once one came. A SIGHUP that is
 * ignored, as nohup has it, stays so.
 */
void gfc_catch_signals(void);
bool gfc_signalled(void);
/* Have two come, one well after the other? */
bool gfc_signalled_again(void);
/* Has one come, also while nothing waited? Not while signals are held. */
bool gfc_interrupted(void);

/* As if none had come: what follows is to come to its end. */
void gfc_forget_signals(void);
/* The same of those that are on their way. */
void gfc_drop_signals(void);
/* As if one had come. */
void gfc_note_signal(void);

/*
 * What is done in between is seen through: signals are not noted before the last release, and one
 * that was noted before ends no wait for events.
 */
void gfc_hold_signals(void);
void gfc_release_signals(void);

/* For waits of our own: the mask that lets them come, NULL when they are not to. */
const sigset_t *gfc_signal_mask(void);

/* Exit code for a positive errno of the module. */
enum ctl_exit gfc_exit(int err);

#endif /* GPUCTL_NL_H */
