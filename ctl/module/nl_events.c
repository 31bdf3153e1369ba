// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: events
 *
 * A second socket takes part in one of the family's groups. A datagram can
 * hold several messages, so it is kept and walked one event a call. When the
 * receive buffer overflowed the kernel says ENOBUFS once: the caller takes a
 * new snapshot and goes on.
 */
#include <errno.h>
#include <netlink/errno.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "module/nl.h"
#include "module/nl_private.h"

#define EVENT_BUFFER (1024 * 1024)
/* The group "notify" of the controller of generic netlink; the kernel gives it a fixed number. */
#define CONTROLLER_GROUP GENL_ID_CTRL

/* Lock-free, so that the handler may set it. */
static atomic_int signalled;
static sigset_t unblocked;
static bool catching;
static unsigned int held;

/* Who stops a program may send it two signals: timeout(1), systemd, a terminal that goes. */
#define SAME_SIGNAL_MS 500

static uint64_t first_signal;

static void note_signal(int signal)
{
	uint64_t now = text_monotonic();

	(void)signal;
	if (!signalled)
		first_signal = now;
	if (!signalled || now - first_signal >= SAME_SIGNAL_MS)
		signalled++;
}

void gfc_catch_signals(void)
{
	static const int caught[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = note_signal }, before;
	sigset_t block;
	size_t i;

	/* Delivered in ppoll() alone, so that none is missed between a check and a wait. */
	sigemptyset(&block);
	for (i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		sigaddset(&block, caught[i]);
	sigprocmask(SIG_BLOCK, &block, &unblocked);
	for (i = 0; i < sizeof(caught) / sizeof(caught[0]); i++) {
		sigdelset(&unblocked, caught[i]);
		sigaction(caught[i], NULL, &before);
		/* As nohup has it. */
		if (caught[i] != SIGHUP || before.sa_handler != SIG_IGN)
			sigaction(caught[i], &action, NULL);
	}
	catching = true;
}

bool gfc_signalled(void)
{
	return signalled;
}

bool gfc_signalled_again(void)
{
	return signalled > 1;
}

/* Signals that are pending are noted now. */
static void signals_let_in(void)
{
	sigset_t blocked;

	if (!catching || held)
		return;
	sigprocmask(SIG_SETMASK, &unblocked, &blocked);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
}

bool gfc_interrupted(void)
{
	signals_let_in();
	return !held && signalled;
}

void gfc_forget_signals(void)
{
	signalled = 0;
}

void gfc_drop_signals(void)
{
	signals_let_in();
	signalled = 0;
}

void gfc_note_signal(void)
{
	signalled = 1;
	first_signal = text_monotonic();
}

void gfc_hold_signals(void)
{
	held++;
}

void gfc_release_signals(void)
{
	held--;
	signals_let_in();
}

const sigset_t *gfc_signal_mask(void)
{
	return catching && !held ? &unblocked : NULL;
}

/* Best effort: more room makes overruns rare, they are handled all the same. */
static void enlarge(struct nl_sock *sock)
{
	int size = EVENT_BUFFER;

	if (setsockopt(nl_socket_get_fd(sock), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		nl_socket_set_buffer_size(sock, size, 0);
}

int gfc_subscribe(struct gfc *client)
{
	const int groups[] = { client->private_group, client->monitor };
	int err = 0;
	size_t i;

	if (client->events)
		return CTL_DONE;
	client->events = gfc_socket(client->ctx, &err);
	if (!client->events)
		return err;
	nl_socket_disable_seq_check(client->events);
	enlarge(client->events);

	for (i = 0; i < 2; i++) {
		err = nl_socket_add_membership(client->events, groups[i]);
		if (!err)
			break;
	}
	/* Memberships end with the module, without a word to us. */
	if (!err)
		err = nl_socket_add_membership(client->events, CONTROLLER_GROUP);
	if (!err)
		err = nl_socket_set_nonblocking(client->events);
	return err ? gfc_libnl_fail(client->ctx, err, "cannot listen to events") : CTL_DONE;
}

int gfc_events_fd(const struct gfc *client)
{
	return nl_socket_get_fd(client->events);
}

void gfc_mind_reader(struct gfc *client, int fd)
{
	client->reader = fd;
}

/* Whether the controller says that our family is no more. */
static bool tells_end(const struct gfc *client, struct nlmsghdr *nlh)
{
	struct nlattr *id;

	if (nlh->nlmsg_type != GENL_ID_CTRL || !genlmsg_valid_hdr(nlh, 0) ||
	    genlmsg_hdr(nlh)->cmd != CTRL_CMD_DELFAMILY)
		return false;
	id = nlmsg_find_attr(nlh, GENL_HDRLEN, CTRL_ATTR_FAMILY_ID);
	return id && nla_len(id) >= (int)sizeof(uint16_t) && nla_get_u16(id) == client->family;
}

/* The next event of the datagram at hand; false when it is used up. */
static bool next_in_datagram(struct gfc *client, struct gf_message *event, int *err)
{
	while (client->buffer && nlmsg_ok(client->at, client->left)) {
		struct nlmsghdr *nlh = client->at;

		client->at = nlmsg_next(nlh, &client->left);
		client->gone |= tells_end(client, nlh);
		if (nlh->nlmsg_type != client->family || !genlmsg_valid_hdr(nlh, 0) ||
		    genlmsg_hdr(nlh)->cmd != GPUFABRIC_CMD_EVENT)
			continue;
		*err = gfc_read(nlh, event);
		return true;
	}
	free(client->buffer);
	client->buffer = NULL;
	return false;
}

static enum gfc_event next_datagram(struct gfc *client)
{
	struct sockaddr_nl from = { 0 };
	int len;

	len = nl_recv(client->events, &from, &client->buffer, NULL);
	/* libnl folds ENOBUFS into "out of memory". */
	if (len == -NLE_NOMEM)
		return GFC_OVERRUN;
	if (len < 0) {
		gfc_libnl_fail(client->ctx, len, "cannot receive events");
		return GFC_ERROR;
	}
	if (!len || from.nl_pid) {
		if (len)
			free(client->buffer);
		client->buffer = NULL;
		return GFC_NOTHING;
	}
	client->at = (struct nlmsghdr *)client->buffer;
	client->left = len;
	return GFC_EVENT;
}

enum gfc_event gfc_next_event(struct gfc *client, int timeout_ms, struct gf_message *event)
{
	uint64_t end = text_monotonic() + (timeout_ms > 0 ? (uint64_t)timeout_ms : 0);
	int err = 0;

	memset(event, 0, sizeof(*event));
	for (;;) {
		struct pollfd fds[] = {
			{ .fd = nl_socket_get_fd(client->events), .events = POLLIN },
			{ .fd = client->reader },
		};
		uint64_t now = text_monotonic(), left = end > now ? end - now : 0;
		struct timespec ts = { (time_t)(left / 1000), (long)(left % 1000) * 1000000 };
		enum gfc_event got;
		int ready;

		if (next_in_datagram(client, event, &err)) {
			if (!err)
				return GFC_EVENT;
			ctl_fail(client->ctx, CTL_FAILED, "cannot read an event: %s",
				 strerror(-err));
			return GFC_ERROR;
		}
		if (client->gone) {
			ctl_fail(client->ctx, CTL_NO_MODULE, "module gpufabric was unloaded");
			return GFC_GONE;
		}
		if (signalled && !held)
			return GFC_SIGNAL;
		ready = ppoll(fds, 2, timeout_ms < 0 ? NULL : &ts, gfc_signal_mask());
		if (ready < 0 && errno == EINTR)
			continue;
		if (!ready)
			return GFC_NOTHING;
		if (fds[1].revents & (POLLERR | POLLHUP))
			return GFC_HANGUP;
		got = next_datagram(client);
		if (got == GFC_OVERRUN || got == GFC_ERROR)
			return got;
	}
}
