// SPDX-License-Identifier: GPL-2.0-only
/*
 * Datagrams to the kernel and what comes back. Netlink looks at a datagram
 * message by message, so the datagram is read here as the kernel reads it, and
 * each message gets a number of its own: what answers it can be told.
 *
 * The kernel has carried out all of a datagram when it was sent, and makes the
 * next part of a dump when one is read: nothing has to be waited for.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "random.h"

#define BATCH 5
#define NOBODY 65534

/* What the kernel finds in the datagram. */
struct sent {
	uint32_t seq;
	uint16_t type, flags;
	bool has_command;
	uint8_t command;
	unsigned int answers, replies;
};

static unsigned char datagram[BATCH * (FUZZ_MESSAGE_MAX + 1024)] __attribute__((aligned(8)));
static size_t datagram_size;
static struct sent sent[1024];
static unsigned int n_sent;
static uint32_t next_seq = 1;

void show_datagram(void)
{
	size_t shown = datagram_size < 1024 ? datagram_size : 1024;

	printf("# seed %llu, after %llu messages, datagram of %zu bytes:", seed,
	       (unsigned long long)counts.messages, datagram_size);
	for (size_t i = 0; i < shown; i++)
		printf("%s%02x", i % 4 ? "" : i % 32 ? " " : "\n#   ", datagram[i]);
	putchar('\n');
}

void be_nobody(bool nobody)
{
	static bool is_nobody;

	if (nobody == is_nobody)
		return;
	if (seteuid(nobody ? NOBODY : 0))
		fail("seteuid: %s", strerror(errno));
	is_nobody = nobody;
}

void talker_open(struct talker *talker)
{
	int err;

	gf_close(&talker->gf);
	be_nobody(talker->opened_by_nobody);
	err = gf_open_small(&talker->gf, talker->room);
	be_nobody(false);
	if (err)
		fail("no socket: %s", strerror(-err));
}

static bool privileged(const struct talker *talker)
{
	return !talker->opened_by_nobody && !talker->sent_by_nobody;
}

static bool is_dump(const struct sent *one)
{
	return (one->flags & NLM_F_DUMP) == NLM_F_DUMP;
}

/* As netlink_rcv_skb() takes a datagram apart. */
static void take_apart(void)
{
	size_t at = 0;

	n_sent = 0;
	while (datagram_size - at >= NLMSG_HDRLEN && n_sent < sizeof(sent) / sizeof(sent[0])) {
		struct nlmsghdr *header = (void *)(datagram + at);
		const struct genlmsghdr *genl = NLMSG_DATA(header);
		size_t step;

		if (header->nlmsg_len < NLMSG_HDRLEN || header->nlmsg_len > datagram_size - at)
			return;
		header->nlmsg_seq = next_seq++;
		sent[n_sent++] = (struct sent){
			.seq = header->nlmsg_seq, .type = header->nlmsg_type, .flags = header->nlmsg_flags,
			.has_command = header->nlmsg_len >= NLMSG_LENGTH(GENL_HDRLEN),
			.command = header->nlmsg_len >= NLMSG_LENGTH(GENL_HDRLEN) ? genl->cmd : 0,
		};
		step = NLMSG_ALIGN(header->nlmsg_len);
		at += step < datagram_size - at ? step : datagram_size - at;
	}
}

static void make_datagram(void)
{
	unsigned int messages = random_below(8) ? 1 : 1 + random_below(BATCH);

	datagram_size = 0;
	while (messages--) {
		datagram_size += fuzz_make(datagram + datagram_size);
		if (messages)
			datagram_size = NLMSG_ALIGN(datagram_size);
	}
	take_apart();
}

/* Netlink itself refuses these, and says no more than the errno. */
static bool refused_by_core(const struct sent *one, int error)
{
	const struct fuzz_command *command = fuzz_command_of(one->command);

	if (one->type != known.family)
		return error == -ENOENT;
	if (!one->has_command)
		return error == -EINVAL;
	if (!command || (is_dump(one) ? !command->dumps : !command->does))
		return error == -EOPNOTSUPP;
	if (is_dump(one) && known.silent_dumps)
		return true;
	/* A dump of this socket is under way. */
	return is_dump(one) && error == -EBUSY;
}

static const char *text_of(const struct nlmsghdr *message, size_t used)
{
	const struct nlattr *attr = (const void *)((const char *)NLMSG_DATA(message) + NLMSG_ALIGN(used));
	size_t left = message->nlmsg_len - NLMSG_HDRLEN;

	left -= NLMSG_ALIGN(used) < left ? NLMSG_ALIGN(used) : left;
	if (!(message->nlmsg_flags & NLM_F_ACK_TLVS))
		return "";
	while (left >= NLA_HDRLEN && attr->nla_len >= NLA_HDRLEN && attr->nla_len <= left) {
		size_t step = NLA_ALIGN(attr->nla_len);

		if ((attr->nla_type & NLA_TYPE_MASK) == NLMSGERR_ATTR_MSG)
			return gf_text(attr);
		if (step >= left)
			break;
		left -= step;
		attr = (const void *)((const char *)attr + step);
	}
	return "";
}

static const char *name_of(const struct sent *one)
{
	const struct fuzz_command *command = fuzz_command_of(one->command);

	return one->type != known.family ? "another family" : command ? command->name : "no command";
}

static void judge_error(const struct talker *talker, const struct sent *one, int error, const char *text)
{
	const struct fuzz_command *command = fuzz_command_of(one->command);

	if (error > 0 || error <= -FUZZ_ERRNO_MAX)
		fail("%s: %d is no errno", name_of(one), error);
	if (error && !text[0] && !refused_by_core(one, error))
		fail("%s is refused without a word: %s", name_of(one), strerror(-error));
	if (!error && one->type == known.family && one->flags & NLM_F_REQUEST && !privileged(talker) &&
	    (!command || !command->reads))
		fail("%s was accepted from somebody without privileges", name_of(one));
	if (error) {
		counts.refused++;
		counts.errors[-error]++;
	} else {
		counts.accepted++;
	}
}

static struct sent *answered(const struct nlmsghdr *message)
{
	for (unsigned int i = 0; i < n_sent; i++) {
		if (sent[i].seq == message->nlmsg_seq)
			return &sent[i];
	}
	return NULL;
}

static void take_answer(const struct talker *talker, const struct nlmsghdr *message)
{
	struct sent *one = answered(message);
	const struct nlmsgerr *ack = NLMSG_DATA(message);
	size_t used = sizeof(*ack);

	if (!one)
		fail("an answer to message %u, which was not sent now", message->nlmsg_seq);
	if (message->nlmsg_type == NLMSG_DONE) {
		one->answers++;
		judge_error(talker, one, *(const int *)NLMSG_DATA(message), text_of(message, sizeof(int)));
	} else if (message->nlmsg_type == NLMSG_ERROR) {
		one->answers++;
		if (!(message->nlmsg_flags & NLM_F_CAPPED))
			used += ack->msg.nlmsg_len - sizeof(ack->msg);
		judge_error(talker, one, ack->error, text_of(message, used));
	} else if (message->nlmsg_type == known.family) {
		one->replies++;
		counts.parts += is_dump(one);
		check_message(message, privileged(talker));
	} else {
		fail("an answer of type %u", message->nlmsg_type);
	}
}

/* The next message that is there, NULL when there is none. */
static struct nlmsghdr *there(struct gf *gf)
{
	struct nlmsghdr *message;
	int err = gf_receive(gf, &message, 0);

	if (err == -ETIME)
		return NULL;
	if (err)
		fail("receive: %s", strerror(-err));
	return message;
}

static void settle_accounts(const struct talker *talker)
{
	for (unsigned int i = 0; i < n_sent; i++) {
		const struct sent *one = &sent[i];

		if (one->answers > 1)
			fail("%s was answered %u times", name_of(one), one->answers);
		if (one->flags & NLM_F_ACK && !one->answers)
			fail("%s was not answered", name_of(one));
		if (!one->answers && one->replies)
			counts.accepted++;
		else if (!one->answers)
			counts.silent++;
	}
	counts.messages += n_sent;
	counts.unprivileged += privileged(talker) ? 0 : n_sent;
}

/*
 * Who names the receiver is meant, whoever opened the socket; who writes to what
 * another opened may not know what it is, and counts as that other.
 */
static void send_to_kernel(struct talker *talker, const void *data, size_t size)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	ssize_t rc;

	if (talker->opened_by_nobody)
		rc = write(talker->gf.fd, data, size);
	else
		rc = sendto(talker->gf.fd, data, size, 0, (void *)&kernel, sizeof(kernel));
	if (rc < 0)
		fail("send: %s", strerror(errno));
}

/**
 * talk_once() - send a datagram and judge what comes of each message in it
 * @talker: whose socket
 */
void talk_once(struct talker *talker)
{
	const struct nlmsghdr *message;

	make_datagram();
	/* Who reads a part of a dump is who it is made for. */
	be_nobody(talker->sent_by_nobody);
	send_to_kernel(talker, datagram, datagram_size);
	counts.datagrams++;
	while ((message = there(&talker->gf)))
		take_answer(talker, message);
	be_nobody(false);
	settle_accounts(talker);
}

/**
 * dump_a_little() - begin a dump, or read one part of it, or give it up
 * @dumper: what is read piece by piece, while others change what it reads
 */
void dump_a_little(struct dumper *dumper)
{
	static unsigned char request[FUZZ_MESSAGE_MAX] __attribute__((aligned(8)));
	struct gf *gf = &dumper->talker.gf;
	/* Drawn although it may not be needed: how long a dump takes is not the seed's. */
	unsigned int choice = random_below(64);
	const struct nlmsghdr *message;
	int err;

	if (random_once_in(64)) {
		counts.abandoned += dumper->running;
		dumper->running = false;
		talker_open(&dumper->talker);
		return;
	}
	if (!dumper->running) {
		size_t size = fuzz_make_dump(request, choice);

		dumper->seq = ((struct nlmsghdr *)request)->nlmsg_seq = ++gf->seq;
		send_to_kernel(&dumper->talker, request, size);
		dumper->running = true;
		counts.dumps++;
		return;
	}
	do {
		message = there(gf);
		if (!message || message->nlmsg_seq != dumper->seq)
			fail("a dump has no next part");
		if (message->nlmsg_type == NLMSG_DONE || message->nlmsg_type == NLMSG_ERROR) {
			err = *(const int *)NLMSG_DATA(message);
			if (err)
				fail("a dump ended: %s", strerror(-err));
			dumper->running = false;
		} else {
			counts.parts++;
			check_message(message, privileged(&dumper->talker));
		}
	} while (dumper->running && gf->in_at < gf->in_length);
}

/**
 * listen_a_little() - read the events that there are
 * @watch: socket of a group
 * @private: whether it may be told everything
 */
void listen_a_little(struct gf *watch, bool private)
{
	struct nlmsghdr *message;
	int err;

	while (!(err = gf_receive(watch, &message, 0))) {
		counts.events++;
		check_message(message, private);
	}
	/* Who reads too slowly loses some. */
	if (err != -ETIME && err != -ENOBUFS)
		fail("no events: %s", strerror(-err));
}
