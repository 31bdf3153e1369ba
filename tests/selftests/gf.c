// SPDX-License-Identifier: GPL-2.0-only
/* Sockets, requests and answers of the netlink family. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gf.h"

static void *attr_data(const struct nlattr *attr)
{
	return (char *)attr + NLA_HDRLEN;
}

size_t gf_size(const struct nlattr *attr)
{
	return attr->nla_len - NLA_HDRLEN;
}

static const struct nlattr *find(const void *data, size_t size, unsigned int type, const void *after)
{
	const struct nlattr *attr = data;

	while (size >= NLA_HDRLEN && attr->nla_len >= NLA_HDRLEN && attr->nla_len <= size) {
		size_t step = NLA_ALIGN(attr->nla_len);

		if ((attr->nla_type & NLA_TYPE_MASK) == type && (!after || (const void *)attr > after))
			return attr;
		if (step >= size)
			break;
		size -= step;
		attr = (const void *)((const char *)attr + step);
	}
	return NULL;
}

const struct nlattr *gf_first(const struct nlmsghdr *message, size_t *left)
{
	*left = message->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN);
	return (const void *)((const char *)NLMSG_DATA(message) + GENL_HDRLEN);
}

const struct nlattr *gf_attr(const struct nlmsghdr *message, unsigned int type)
{
	size_t left;
	const struct nlattr *first = gf_first(message, &left);

	return find(first, left, type, NULL);
}

const struct nlattr *gf_sub(const struct nlattr *nest, unsigned int type)
{
	return nest ? find(attr_data(nest), gf_size(nest), type, NULL) : NULL;
}

const struct nlattr *gf_next_sub(const struct nlattr *nest, const struct nlattr *after, unsigned int type)
{
	return nest ? find(attr_data(nest), gf_size(nest), type, after) : NULL;
}

uint32_t gf_u32(const struct nlattr *attr)
{
	uint32_t value = 0;

	if (attr)
		memcpy(&value, attr_data(attr), gf_size(attr) < 4 ? gf_size(attr) : 4);
	return value;
}

uint64_t gf_u64(const struct nlattr *attr)
{
	uint64_t value = 0;

	if (attr)
		memcpy(&value, attr_data(attr), gf_size(attr) < 8 ? gf_size(attr) : 8);
	return value;
}

const char *gf_text(const struct nlattr *attr)
{
	return attr && memchr(attr_data(attr), '\0', gf_size(attr)) ? attr_data(attr) : "";
}

void gf_begin(struct gf_request *request, const struct gf *gf, uint8_t command, uint16_t flags)
{
	struct nlmsghdr *header = &request->out.header;
	struct genlmsghdr *genl = NLMSG_DATA(header);

	memset(header, 0, NLMSG_LENGTH(GENL_HDRLEN));
	header->nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	header->nlmsg_type = gf->family;
	header->nlmsg_flags = NLM_F_REQUEST | flags;
	genl->cmd = command;
	genl->version = GPUFABRIC_FAMILY_VERSION;
}

void gf_put(struct gf_request *request, uint16_t type, const void *data, size_t size)
{
	struct nlmsghdr *header = &request->out.header;
	struct nlattr *attr = (void *)(request->out.bytes + header->nlmsg_len);

	attr->nla_type = type;
	attr->nla_len = (uint16_t)(NLA_HDRLEN + size);
	memset(attr_data(attr), 0, NLA_ALIGN(size));
	if (size)
		memcpy(attr_data(attr), data, size);
	header->nlmsg_len += NLA_ALIGN(attr->nla_len);
}

void gf_put_u32(struct gf_request *request, uint16_t type, uint32_t value)
{
	gf_put(request, type, &value, sizeof(value));
}

void gf_put_u64(struct gf_request *request, uint16_t type, uint64_t value)
{
	gf_put(request, type, &value, sizeof(value));
}

void gf_put_text(struct gf_request *request, uint16_t type, const char *text)
{
	gf_put(request, type, text, strlen(text) + 1);
}

size_t gf_nest(struct gf_request *request, uint16_t type)
{
	size_t nest = request->out.header.nlmsg_len;

	gf_put(request, type | NLA_F_NESTED, NULL, 0);
	return nest;
}

void gf_nest_end(struct gf_request *request, size_t nest)
{
	struct nlattr *attr = (void *)(request->out.bytes + nest);

	attr->nla_len = (uint16_t)(request->out.header.nlmsg_len - nest);
}

int gf_send(struct gf *gf, struct gf_request *request)
{
	struct nlmsghdr *header = &request->out.header;
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	header->nlmsg_seq = ++gf->seq;
	header->nlmsg_pid = gf->port;
	if (gf->by_write)
		return write(gf->fd, header, header->nlmsg_len) < 0 ? -errno : 0;
	if (sendto(gf->fd, header, header->nlmsg_len, 0, (void *)&kernel, sizeof(kernel)) < 0)
		return -errno;
	return 0;
}

static int fill(struct gf *gf, int timeout_ms)
{
	struct pollfd wait = { .fd = gf->fd, .events = POLLIN };
	size_t room = gf->room ? gf->room : sizeof(gf->in.bytes);
	ssize_t size;

	if (timeout_ms >= 0) {
		int ready = poll(&wait, 1, timeout_ms);

		if (ready <= 0)
			return ready ? -errno : -ETIME;
	}
	size = recv(gf->fd, gf->in.bytes, room, MSG_TRUNC);
	if (size < 0)
		return -errno;
	if ((size_t)size > room)
		return -EMSGSIZE;
	gf->in_length = (size_t)size;
	gf->in_at = 0;
	gf->receives++;
	return 0;
}

/**
 * gf_receive() - the next message
 * @gf: socket
 * @message: set to it; valid until the next call
 * @timeout_ms: how long to wait, negative for as long as it takes
 *
 * Return: 0, -ETIME, -ENOBUFS when messages were lost, or another errno.
 */
int gf_receive(struct gf *gf, struct nlmsghdr **message, int timeout_ms)
{
	struct nlmsghdr *header;
	int err;

	if (gf->in_at >= gf->in_length) {
		err = fill(gf, timeout_ms);
		if (err)
			return err;
	}
	header = (void *)(gf->in.bytes + gf->in_at);
	if (gf->in_length - gf->in_at < NLMSG_HDRLEN || header->nlmsg_len < NLMSG_HDRLEN ||
	    header->nlmsg_len > gf->in_length - gf->in_at)
		return -EBADMSG;
	gf->in_at += NLMSG_ALIGN(header->nlmsg_len);
	*message = header;
	return 0;
}

/* Type of the attribute at an offset of the request, for bad_attr. */
static unsigned int type_at(const struct gf_request *request, uint32_t offset)
{
	const struct nlattr *attr = (const void *)(request->out.bytes + offset);

	if (!offset || offset + NLA_HDRLEN > request->out.header.nlmsg_len)
		return 0;
	return attr->nla_type & NLA_TYPE_MASK;
}

static void read_ack(struct gf *gf, const struct gf_request *request, const struct nlmsghdr *message)
{
	const struct nlmsgerr *ack = NLMSG_DATA(message);
	size_t used = sizeof(*ack), size = message->nlmsg_len - NLMSG_HDRLEN;
	const struct nlattr *attr;

	if (message->nlmsg_type == NLMSG_DONE) {
		gf->error = *(const int *)NLMSG_DATA(message);
		used = sizeof(int);
	} else {
		gf->error = ack->error;
		if (!(message->nlmsg_flags & NLM_F_CAPPED))
			used += ack->msg.nlmsg_len - sizeof(ack->msg);
	}
	used = NLMSG_ALIGN(used);
	if (!(message->nlmsg_flags & NLM_F_ACK_TLVS) || used >= size)
		return;
	attr = find((const char *)ack + used, size - used, NLMSGERR_ATTR_MSG, NULL);
	if (attr)
		strncpy(gf->text, gf_text(attr), sizeof(gf->text) - 1);
	attr = find((const char *)ack + used, size - used, NLMSGERR_ATTR_OFFS, NULL);
	if (attr)
		gf->bad_attr = type_at(request, gf_u32(attr));
	attr = find((const char *)ack + used, size - used, NLMSGERR_ATTR_MISS_TYPE, NULL);
	if (attr)
		gf->miss = gf_u32(attr);
}

static void forget_answer(struct gf *gf)
{
	gf->error = 0;
	gf->bad_attr = 0;
	gf->miss = 0;
	gf->interrupted = false;
	gf->parts = 0;
	gf->receives = 0;
	memset(gf->text, 0, sizeof(gf->text));
	memset(&gf->reply.header, 0, sizeof(gf->reply.header));
}

/**
 * gf_talk() - send a request and read its answer
 * @gf: socket
 * @request: request; an ack is asked for
 *
 * Return: what the family said, 0 or a negative errno. The answer is in
 * @gf->reply, the text of a refusal in @gf->text.
 */
int gf_talk(struct gf *gf, struct gf_request *request)
{
	struct nlmsghdr *message;
	int err;

	forget_answer(gf);
	request->out.header.nlmsg_flags |= NLM_F_ACK;
	err = gf_send(gf, request);
	while (!err) {
		err = gf_receive(gf, &message, 60000);
		if (err || message->nlmsg_seq != gf->seq)
			continue;
		if (message->nlmsg_type == NLMSG_ERROR) {
			read_ack(gf, request, message);
			return gf->error;
		}
		memcpy(gf->reply.bytes, message, message->nlmsg_len);
	}
	gf->error = err;
	return err;
}

/**
 * gf_dump() - send a dump request and read all parts
 * @gf: socket
 * @request: request
 * @part: called for each part
 * @context: for @part
 *
 * Return: 0 or a negative errno, or what @part returned to end it. A dump that
 * something interrupted is a success with @gf->interrupted set.
 */
int gf_dump(struct gf *gf, struct gf_request *request, gf_part_fn part, void *context)
{
	struct nlmsghdr *message;
	int err;

	forget_answer(gf);
	request->out.header.nlmsg_flags |= NLM_F_DUMP | NLM_F_ACK;
	err = gf_send(gf, request);
	while (!err) {
		err = gf_receive(gf, &message, 60000);
		if (err || message->nlmsg_seq != gf->seq)
			continue;
		if (message->nlmsg_flags & NLM_F_DUMP_INTR)
			gf->interrupted = true;
		if (message->nlmsg_type == NLMSG_DONE || message->nlmsg_type == NLMSG_ERROR) {
			read_ack(gf, request, message);
			return gf->error;
		}
		gf->parts++;
		err = part ? part(message, context) : 0;
	}
	gf->error = err;
	return err;
}

static uint32_t group_id(const struct nlattr *groups, const char *name)
{
	const struct nlattr *group = groups ? attr_data(groups) : NULL;
	size_t left = groups ? gf_size(groups) : 0;

	while (left >= NLA_HDRLEN && group->nla_len <= left) {
		if (!strcmp(gf_text(gf_sub(group, CTRL_ATTR_MCAST_GRP_NAME)), name))
			return gf_u32(gf_sub(group, CTRL_ATTR_MCAST_GRP_ID));
		if ((size_t)NLA_ALIGN(group->nla_len) >= left)
			break;
		left -= NLA_ALIGN(group->nla_len);
		group = (const void *)((const char *)group + NLA_ALIGN(group->nla_len));
	}
	return 0;
}

static int resolve(struct gf *gf)
{
	static struct gf_request request;
	const struct nlattr *groups;
	int err;

	gf->family = GENL_ID_CTRL;
	gf_begin(&request, gf, CTRL_CMD_GETFAMILY, 0);
	gf_put_text(&request, CTRL_ATTR_FAMILY_NAME, GPUFABRIC_FAMILY_NAME);
	err = gf_talk(gf, &request);
	if (err)
		return err;
	gf->family = (uint16_t)gf_u32(gf_attr(&gf->reply.header, CTRL_ATTR_FAMILY_ID));
	groups = gf_attr(&gf->reply.header, CTRL_ATTR_MCAST_GROUPS);
	gf->monitor = group_id(groups, GPUFABRIC_MCGRP_MONITOR);
	gf->private = group_id(groups, GPUFABRIC_MCGRP_PRIVATE);
	return 0;
}

/**
 * gf_open_small() - open a socket of the family that never offers much room
 * @gf: filled
 * @room: bytes that each receive offers; the kernel remembers the largest
 *
 * Return: as gf_open().
 */
int gf_open_small(struct gf *gf, size_t room)
{
	struct sockaddr_nl local = { .nl_family = AF_NETLINK };
	socklen_t size = sizeof(local);
	int on = 1, queue = 4 << 20, err;

	memset(gf, 0, offsetof(struct gf, reply));
	gf->in_length = 0;
	gf->in_at = 0;
	gf->room = room;
	gf->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (gf->fd < 0)
		return -errno;
	if (setsockopt(gf->fd, SOL_SOCKET, SO_RCVBUFFORCE, &queue, sizeof(queue)))
		setsockopt(gf->fd, SOL_SOCKET, SO_RCVBUF, &queue, sizeof(queue));
	setsockopt(gf->fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	if (bind(gf->fd, (void *)&local, sizeof(local)) ||
	    getsockname(gf->fd, (void *)&local, &size)) {
		err = -errno;
	} else {
		gf->port = local.nl_pid;
		err = resolve(gf);
	}
	if (err)
		gf_close(gf);
	return err;
}

/**
 * gf_open() - open a socket of the family
 * @gf: filled
 *
 * Return: 0, -ENOENT when there is no such family here, or another errno.
 */
int gf_open(struct gf *gf)
{
	return gf_open_small(gf, 0);
}

void gf_close(struct gf *gf)
{
	if (gf->fd >= 0)
		close(gf->fd);
	gf->fd = -1;
}

int gf_join(struct gf *gf, uint32_t group)
{
	if (!setsockopt(gf->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)))
		return 0;
	return -errno;
}
