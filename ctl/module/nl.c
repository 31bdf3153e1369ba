// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: requests to the module
 *
 * libnl builds and sends messages and receives datagrams; the replies are
 * walked here, because libnl 3.7 hands neither the extended
 * acknowledgment nor the error at the end of a dump to its callbacks.
 *
 * Requests and events have a socket each. The request socket stays open as
 * long as the client: a drain is bound to it and is taken back by the
 * module when it closes.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netlink/errno.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "module/annotation.h"
#include "module/netlink_gen.h"
#include "module/nl.h"
#include "module/nl_private.h"

#define DUMP_TRIES 20
/* "coming" until the module's own init is done, and how long that may take. */
#define INIT_STATE "/sys/module/gpufabric/initstate"
#define INIT_MS 10000
#define MESSAGE_SIZE (64 * 1024)
/* Larger than all attributes of any command together, and than a member nest. */
#define MESSAGE_BYTES 4096
#define MEMBER_BYTES 128
/* Not in the headers of older systems, fixed by the protocol. */
#define EXTACK_MISS_TYPE 5
#define EXTACK_MAX 6

enum ctl_exit gfc_exit(int err)
{
	switch (err) {
	case 0:
		return CTL_DONE;
	case ENOSPC:
		return CTL_NO_FIT;
	case EBUSY:
	case EAGAIN:
		return CTL_BUSY;
	case EPERM:
	case EACCES:
		return CTL_DENIED;
	case ETIMEDOUT:
		return CTL_TIMEOUT;
	default:
		return CTL_FAILED;
	}
}

struct ctl_ctx *gfc_ctx(struct gfc *client)
{
	return client->ctx;
}

int gfc_last_errno(const struct gfc *client)
{
	return client->last_errno;
}

int gfc_libnl_fail(struct ctl_ctx *ctx, int err, const char *what)
{
	return ctl_fail(ctx, CTL_FAILED, "%s: %s", what, nl_geterror(err));
}

struct nl_sock *gfc_socket(struct ctl_ctx *ctx, int *err)
{
	struct nl_sock *sock = nl_socket_alloc();
	int one = 1;

	if (!sock) {
		*err = ctl_fail(ctx, CTL_FAILED, "cannot allocate a netlink socket");
		return NULL;
	}
	*err = genl_connect(sock);
	if (*err) {
		*err = gfc_libnl_fail(ctx, *err, "cannot open a netlink socket");
		nl_socket_free(sock);
		return NULL;
	}
	/* The module and the core send nothing larger, so no datagram is asked for twice. */
	nl_socket_set_msg_buf_size(sock, MESSAGE_SIZE);
	nl_socket_disable_msg_peek(sock);
	/* Error texts; a kernel without them leaves us with the errno. */
	setsockopt(nl_socket_get_fd(sock), SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(nl_socket_get_fd(sock), SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	return sock;
}

static int take_group(struct gfc *client, struct nlattr *group)
{
	struct nlattr *tb[CTRL_ATTR_MCAST_GRP_MAX + 1];
	const char *name;
	int id;

	if (nla_parse_nested(tb, CTRL_ATTR_MCAST_GRP_MAX, group, NULL) ||
	    !tb[CTRL_ATTR_MCAST_GRP_NAME] || !tb[CTRL_ATTR_MCAST_GRP_ID])
		return -NLE_MISSING_ATTR;
	name = nla_get_string(tb[CTRL_ATTR_MCAST_GRP_NAME]);
	id = (int)nla_get_u32(tb[CTRL_ATTR_MCAST_GRP_ID]);
	if (!strcmp(name, GPUFABRIC_MCGRP_MONITOR))
		client->monitor = id;
	else if (!strcmp(name, GPUFABRIC_MCGRP_PRIVATE))
		client->private_group = id;
	return 0;
}

static int take_family(struct gfc *client, struct nlmsghdr *nlh)
{
	struct nlattr *tb[CTRL_ATTR_MAX + 1], *group;
	int err, rem;

	err = genlmsg_parse(nlh, 0, tb, CTRL_ATTR_MAX, NULL);
	if (err)
		return err;
	if (!tb[CTRL_ATTR_FAMILY_ID] || !tb[CTRL_ATTR_MCAST_GROUPS])
		return -NLE_MISSING_ATTR;
	client->family = nla_get_u16(tb[CTRL_ATTR_FAMILY_ID]);
	if (tb[CTRL_ATTR_VERSION])
		client->interface = nla_get_u32(tb[CTRL_ATTR_VERSION]);
	nla_for_each_nested(group, tb[CTRL_ATTR_MCAST_GROUPS], rem) {
		err = take_group(client, group);
		if (err)
			return err;
	}
	return 0;
}

/* Family and groups in one exchange; libnl asks once for each of them. */
static int resolve(struct gfc *client)
{
	struct nl_msg *msg = nlmsg_alloc();
	bool finished = false;
	int err = -NLE_NOMEM;

	client->family = 0;
	if (msg && genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, GENL_ID_CTRL, 0, 0,
			       CTRL_CMD_GETFAMILY, 1)) {
		nla_put_string(msg, CTRL_ATTR_FAMILY_NAME, GPUFABRIC_FAMILY_NAME);
		err = nl_send_auto(client->sock, msg);
	}
	nlmsg_free(msg);
	while (err >= 0 && !finished) {
		struct sockaddr_nl from = { 0 };
		unsigned char *buf = NULL;
		struct nlmsghdr *nlh;
		int len;

		len = nl_recv(client->sock, &from, &buf, NULL);
		if (len < 0)
			return len;
		for (nlh = (struct nlmsghdr *)buf; !from.nl_pid && nlmsg_ok(nlh, len);
		     nlh = nlmsg_next(nlh, &len)) {
			if (nlh->nlmsg_type == GENL_ID_CTRL)
				err = take_family(client, nlh);
			finished = finished || nlh->nlmsg_type == NLMSG_ERROR;
		}
		free(buf);
	}
	if (err < 0)
		return err;
	return client->family ? 0 : -NLE_OBJ_NOTFOUND;
}

/* Whether the module is "coming", "live" or "going". */
static bool is_module(const char *what)
{
	FILE *f = fopen(INIT_STATE, "re");
	char state[16] = "";

	if (!f)
		return false;
	if (!fgets(state, sizeof(state), f))
		*state = '\0';
	fclose(f);
	state[strcspn(state, "\n")] = '\0';
	return !strcmp(state, what);
}

/* As resolve(), but a module that is just being loaded is waited for. */
static int resolve_patiently(struct gfc *client)
{
	const struct timespec nap = { .tv_nsec = 20000000 };
	uint64_t end = text_monotonic() + INIT_MS;
	bool coming;
	int err;

	do {
		/* Loading a module is told to the world before the module is at work. */
		coming = is_module("coming");
		err = resolve(client);
		if (err && coming)
			nanosleep(&nap, NULL);
	} while (err && coming && text_monotonic() < end);
	return err;
}

int gfc_open(struct ctl_ctx *ctx, struct gfc **result)
{
	struct gfc *client;
	int err;

	client = mem_zalloc(1, sizeof(*client));
	client->ctx = ctx;
	client->reader = -1;
	client->sock = gfc_socket(ctx, &err);
	if (!client->sock) {
		free(client);
		return err;
	}
	if (resolve_patiently(client)) {
		gfc_close(client);
		return ctl_fail(ctx, CTL_NO_MODULE,
				"module gpufabric is not loaded: modprobe gpufabric");
	}
	err = gfc_check_interface(ctx, client->interface);
	if (err)
		gfc_close(client);
	else
		*result = client;
	return err;
}

void gfc_close(struct gfc *client)
{
	size_t i;

	if (!client)
		return;
	nl_socket_free(client->sock);
	nl_socket_free(client->events);
	free(client->buffer);
	for (i = 0; i < client->n_names; i++)
		free(client->names[i].name);
	free(client->names);
	free(client);
}

struct nl_msg *gfc_message_of(struct gfc *client, uint8_t command, size_t members)
{
	struct nl_msg *msg = nlmsg_alloc_size(MESSAGE_BYTES + members * MEMBER_BYTES);

	if (!msg || !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, client->family, 0, 0, command,
				 GPUFABRIC_FAMILY_VERSION)) {
		fputs("gpuctl: out of memory\n", stderr);
		exit(EXIT_FAILURE);
	}
	return msg;
}

struct nl_msg *gfc_message(struct gfc *client, uint8_t command)
{
	return gfc_message_of(client, command, 0);
}

void gfc_put_member(struct nl_msg *msg, int attr, const struct gf_slot *slot,
		    const uint32_t *generation, const struct gf_ids *expect, uint32_t order)
{
	struct nlattr *nest = nla_nest_start(msg, attr);

	nla_put_u32(msg, GPUFABRIC_A_MEMBER_SLOT_ID, slot->id);
	if (generation)
		nla_put_u32(msg, GPUFABRIC_A_MEMBER_GENERATION, *generation);
	if (expect) {
		nla_put_u32(msg, GPUFABRIC_A_MEMBER_EXPECT_VENDOR, expect->vendor);
		nla_put_u32(msg, GPUFABRIC_A_MEMBER_EXPECT_DEVICE, expect->device);
		/* A declaration may leave the subsystem open. */
		if (expect->subsystem_vendor || expect->subsystem_device) {
			nla_put_u32(msg, GPUFABRIC_A_MEMBER_EXPECT_SUBSYSTEM_VENDOR,
				    expect->subsystem_vendor);
			nla_put_u32(msg, GPUFABRIC_A_MEMBER_EXPECT_SUBSYSTEM_DEVICE,
				    expect->subsystem_device);
		}
	}
	if (order)
		nla_put_u32(msg, GPUFABRIC_A_MEMBER_ORDER, order);
	nla_nest_end(msg, nest);
}

void gfc_put_annotation(struct nl_msg *msg, const struct annotation *note)
{
	uint8_t bytes[GPUFABRIC_ANNOTATION_MAX];
	size_t len = annotation_write(note, bytes);

	nla_put(msg, GPUFABRIC_A_ANNOTATION, (int)len, bytes);
}

/* Where the name of slot @id is, or belongs: they are in order of the ids, as in a dump. */
static size_t name_index(const struct gfc *client, uint32_t id)
{
	size_t low = 0, high = client->n_names;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (client->names[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const char *slot_name(const struct gfc *client, uint32_t id)
{
	size_t i = name_index(client, id);

	return i < client->n_names && client->names[i].id == id ? client->names[i].name : NULL;
}

void gfc_remember_name(struct gfc *client, const struct gf_slot *slot)
{
	size_t i = name_index(client, slot->id);

	if (i < client->n_names && client->names[i].id == slot->id)
		return;
	client->names = mem_push(client->names, client->n_names, sizeof(*client->names));
	memmove(&client->names[i + 1], &client->names[i],
		(client->n_names - i) * sizeof(*client->names));
	client->names[i].id = slot->id;
	client->names[i].name = mem_strdup(slot->name);
	client->n_names++;
}

/* Where the kernel points at: the attribute of our request and, in a member, its slot. */
static void nl_locate(const struct gfc *client, struct nl_msg *msg, uint32_t offset,
		      const char **attribute, const char **slot)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct nlattr *attr, *id;
	int rem;

	nlmsg_for_each_attr(attr, nlh, GENL_HDRLEN, rem) {
		uint32_t start = (uint32_t)((char *)attr - (char *)nlh);

		if (offset < start || offset >= start + (uint32_t)nla_total_size(nla_len(attr)))
			continue;
		*attribute = gfnl_attr_name((unsigned int)nla_type(attr));
		if (nla_type(attr) != GPUFABRIC_A_MEMBER && nla_type(attr) != GPUFABRIC_A_REMOVE)
			return;
		id = nla_find(nla_data(attr), nla_len(attr), GPUFABRIC_A_MEMBER_SLOT_ID);
		if (id)
			*slot = slot_name(client, nla_get_u32(id));
		return;
	}
}

/**
 * struct refusal - what a refused request was answered
 * @err: positive errno
 * @text: the kernel's words, NULL when it said none
 * @attribute: attribute that it points at, NULL when none
 * @slot: name of the slot that it points at, NULL when none
 * @missing: the attribute is not wrong, it is missing
 */
struct refusal {
	int err;
	char *text;
	const char *attribute;
	const char *slot;
	bool missing;
};

static void parse_extack(const struct gfc *client, struct nl_msg *request, struct nlattr *head,
			 int len, struct refusal *refusal)
{
	struct nlattr *tb[EXTACK_MAX + 1];

	if (len <= 0 || nla_parse(tb, EXTACK_MAX, head, len, NULL))
		return;
	if (tb[NLMSGERR_ATTR_MSG])
		refusal->text = strndup(nla_data(tb[NLMSGERR_ATTR_MSG]),
					(size_t)nla_len(tb[NLMSGERR_ATTR_MSG]));
	if (tb[NLMSGERR_ATTR_OFFS] && nla_len(tb[NLMSGERR_ATTR_OFFS]) == sizeof(uint32_t))
		nl_locate(client, request, nla_get_u32(tb[NLMSGERR_ATTR_OFFS]), &refusal->attribute,
			  &refusal->slot);
	if (tb[EXTACK_MISS_TYPE] && nla_len(tb[EXTACK_MISS_TYPE]) == sizeof(uint32_t)) {
		refusal->attribute = gfnl_attr_name(nla_get_u32(tb[EXTACK_MISS_TYPE]));
		refusal->missing = true;
	}
}

/* An error message (answer to a request) or the end of a dump; both can carry an extack. */
static void parse_error(const struct gfc *client, struct nl_msg *request, struct nlmsghdr *nlh,
			struct refusal *refusal)
{
	struct nlmsgerr *e = nlmsg_data(nlh);
	size_t hdr;

	if (nlh->nlmsg_type == NLMSG_DONE) {
		int err;

		if (nlmsg_datalen(nlh) < (int)sizeof(err))
			return;
		memcpy(&err, nlmsg_data(nlh), sizeof(err));
		refusal->err = err < 0 ? -err : 0;
		hdr = sizeof(err);
	} else {
		if (nlmsg_datalen(nlh) < (int)sizeof(*e)) {
			refusal->err = EPROTO;
			return;
		}
		refusal->err = e->error < 0 ? -e->error : 0;
		hdr = sizeof(*e);
		if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
			hdr += e->msg.nlmsg_len - sizeof(struct nlmsghdr);
	}
	hdr = NLMSG_ALIGN(hdr);
	if (refusal->err && (nlh->nlmsg_flags & NLM_F_ACK_TLVS) && nlmsg_datalen(nlh) > (int)hdr)
		parse_extack(client, request, (struct nlattr *)((char *)nlmsg_data(nlh) + hdr),
			     nlmsg_datalen(nlh) - (int)hdr, refusal);
}

/*
 * A module that is unloaded answers no more: the netlink core does, without a word. Asking
 * for the family of one that is not there would load it.
 */
static bool has_left(struct gfc *client, const struct refusal *refusal)
{
	int family = client->family;

	if (refusal->text || refusal->attribute)
		return false;
	if (is_module("going"))
		return true;
	/* Others mean what they say, also where there is no sysfs to look at. */
	if (refusal->err != ENOENT && refusal->err != EOPNOTSUPP && refusal->err != EPROTONOSUPPORT)
		return false;
	return !is_module("live") || resolve(client) || client->family != family;
}

static int nl_report(struct gfc *client, struct nl_msg *request, struct refusal *refusal)
{
	struct genlmsghdr *genl = nlmsg_data(nlmsg_hdr(request));
	const char *command = gfnl_command_name(genl->cmd);
	const char *text = refusal->text ? refusal->text : strerror(refusal->err);
	enum ctl_exit code = gfc_exit(refusal->err);
	int ret;

	if (!command)
		command = "request";
	if (has_left(client, refusal))
		ret = ctl_fail(client->ctx, CTL_NO_MODULE, "%s: module gpufabric was unloaded",
			       command);
	else if (gfc_is_unknown(refusal->err, refusal->text))
		ret = gfc_unknown_fail(client->ctx, command, refusal->err, refusal->attribute);
	else if (refusal->slot)
		ret = ctl_fail(client->ctx, code, "%s: %s", refusal->slot, text);
	else if (refusal->missing && refusal->attribute)
		ret = ctl_fail(client->ctx, code, "%s: %s (missing attribute %s)", command, text,
			       refusal->attribute);
	else if (refusal->attribute)
		ret = ctl_fail(client->ctx, code, "%s: %s (attribute %s)", command, text,
			       refusal->attribute);
	else if (code == CTL_DENIED && !refusal->text)
		ret = ctl_fail(client->ctx, code, "%s: %s: run it as root", command, text);
	else
		ret = ctl_fail(client->ctx, code, "%s: %s", command, text);
	free(refusal->text);
	return ret;
}

/**
 * struct generations - slots whose generations are wanted
 * @slots: the slots
 * @values: one a slot
 * @n: how many
 */
struct generations {
	struct gf_slot *const *slots;
	uint32_t *values;
	size_t n;
};

static void take_generations(struct gf_message *message, void *arg)
{
	const struct generations *g = arg;
	size_t i, j;

	for (i = 0; i < message->n_members; i++)
		for (j = 0; j < g->n; j++)
			if (g->slots[j]->id == message->members[i].slot_id)
				g->values[j] = message->members[i].generation;
}

/**
 * struct answer - what is done with replies
 * @fn: called for each, may be NULL
 * @arg: passed to @fn
 */
struct answer {
	gfc_reply_fn fn;
	void *arg;
};

int gfc_read(struct nlmsghdr *nlh, struct gf_message *message)
{
	struct genlmsghdr *genl;

	if (!genlmsg_valid_hdr(nlh, 0))
		return -EBADMSG;
	genl = genlmsg_hdr(nlh);
	return gf_message_read(genlmsg_attrdata(genl, 0), (size_t)genlmsg_attrlen(genl, 0),
			       message);
}

/* @message is zero before and after: it is too large to be cleared for every reply of a dump. */
static int handle_reply(struct nlmsghdr *nlh, const struct answer *answer,
			struct gf_message *message)
{
	int err = gfc_read(nlh, message);

	if (!err && answer->fn)
		answer->fn(message, answer->arg);
	gf_message_free(message);
	return err;
}

/**
 * struct exchange - one request with its replies
 * @refusal: filled when it was refused
 * @finished: the acknowledgment or the end of the dump came
 * @interrupted: objects changed during the dump
 * @parse_error: negative errno of a reply that could not be read
 */
struct exchange {
	struct refusal refusal;
	bool finished;
	bool interrupted;
	int parse_error;
};

static void take_datagram(struct gfc *client, struct nl_msg *request, unsigned char *buf, int len,
			  const struct answer *answer, struct exchange *x)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)buf;
	struct gf_message message = { 0 };

	for (; nlmsg_ok(nlh, len); nlh = nlmsg_next(nlh, &len)) {
		/* What an earlier, abandoned request left behind is not ours. */
		if (nlh->nlmsg_seq != nlmsg_hdr(request)->nlmsg_seq)
			continue;
		if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
			x->interrupted = true;
		if (nlh->nlmsg_type == NLMSG_ERROR || nlh->nlmsg_type == NLMSG_DONE) {
			parse_error(client, request, nlh, &x->refusal);
			x->finished = true;
		} else if (nlh->nlmsg_type == client->family && !x->parse_error) {
			x->parse_error = handle_reply(nlh, answer, &message);
		}
	}
}

static int exchange(struct gfc *client, struct nl_msg *request, const struct answer *answer,
		    struct exchange *x)
{
	int err;

	memset(x, 0, sizeof(*x));
	err = nl_send_auto(client->sock, request);
	if (err < 0)
		return gfc_libnl_fail(client->ctx, err, "cannot send to the module");
	while (!x->finished) {
		struct sockaddr_nl from = { 0 };
		unsigned char *buf = NULL;

		err = nl_recv(client->sock, &from, &buf, NULL);
		if (err < 0)
			return gfc_libnl_fail(client->ctx, err, "cannot receive from the module");
		/* Only the kernel answers; another process could send as well. */
		if (err > 0 && !from.nl_pid)
			take_datagram(client, request, buf, err, answer, x);
		free(buf);
	}
	client->last_errno = x->refusal.err;
	if (x->refusal.err)
		return nl_report(client, request, &x->refusal);
	if (x->parse_error)
		return ctl_fail(client->ctx, CTL_FAILED, "cannot read the module's answer: %s",
				strerror(-x->parse_error));
	return CTL_DONE;
}

static int request(struct gfc *client, struct nl_msg *msg, const struct answer *answer)
{
	struct exchange x;
	int ret;

	nlmsg_hdr(msg)->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	ret = exchange(client, msg, answer, &x);
	nlmsg_free(msg);
	return ret;
}

int gfc_request(struct gfc *client, struct nl_msg *msg, gfc_reply_fn fn, void *arg)
{
	const struct answer answer = { .fn = fn, .arg = arg };

	return request(client, msg, &answer);
}

int gfc_request_members(struct gfc *client, struct nl_msg *msg, struct gf_slot *const *slots,
			uint32_t *generations, size_t n)
{
	struct generations g = { slots, generations, n };

	return gfc_request(client, msg, take_generations, &g);
}

int gfc_dump(struct gfc *client, struct nl_msg *msg, gfc_reply_fn fn, void (*restart)(void *arg),
	     void *arg)
{
	const struct answer answer = { .fn = fn, .arg = arg };
	struct exchange x;
	int ret, tries;

	nlmsg_hdr(msg)->nlmsg_flags |= NLM_F_REQUEST | NLM_F_DUMP;
	for (tries = 0; tries < DUMP_TRIES; tries++) {
		nlmsg_hdr(msg)->nlmsg_seq = NL_AUTO_SEQ;
		restart(arg);
		ret = exchange(client, msg, &answer, &x);
		if (ret || !x.interrupted)
			break;
	}
	nlmsg_free(msg);
	/* A fabric that never rests still gets an answer: the last one is complete, if mixed. */
	return ret;
}
