/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the fuzzer have of each other. */
#ifndef FUZZ_H
#define FUZZ_H

#include <linux/netlink.h>

#include "ask.h"
#include "message.h"

#define FUZZ_ERRNO_MAX 134

/**
 * struct fuzz_counts - what came of the messages
 * @messages: sent, as the kernel tells them apart
 * @datagrams: that they came in
 * @accepted: acknowledged, or answered without an acknowledgement
 * @refused: refused
 * @silent: neither; nobody asked for an acknowledgement, or netlink passed over it
 * @unprivileged: of all of them, from somebody without privileges
 * @errors: refused, by errno
 * @parts: parts of dumps
 * @dumps: dumps that were begun beside
 * @abandoned: of these, given up in the middle
 * @events: events that were read
 * @checks: times that the whole fabric was looked at
 */
struct fuzz_counts {
	uint64_t messages, datagrams, accepted, refused, silent, unprivileged;
	uint64_t errors[FUZZ_ERRNO_MAX];
	uint64_t parts, dumps, abandoned, events, checks;
};

extern struct fuzz_counts counts;
extern unsigned long long seed;

/* Ends the program; the last datagram is printed. */
void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void show_datagram(void);

/* A socket of somebody's; see conversation.c. */
struct talker {
	struct gf gf;
	bool opened_by_nobody;
	bool sent_by_nobody;
	size_t room;
};

void talker_open(struct talker *talker);
void talk_once(struct talker *talker);

struct dumper {
	struct talker talker;
	uint32_t seq;
	bool running;
};

void dump_a_little(struct dumper *dumper);

/* Reads what events there are. */
void listen_a_little(struct gf *watch, bool private);

void be_nobody(bool nobody);

/* Every message of the family has to be as the spec says. */
void check_message(const struct nlmsghdr *message, bool private);

/* The whole fabric, by a socket that sends nothing odd; see fabric.c. */
void fabric_open(void);
void fabric_check(void);
void fabric_settle(bool off);

#endif /* FUZZ_H */
