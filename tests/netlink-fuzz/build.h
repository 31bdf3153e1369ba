/* SPDX-License-Identifier: GPL-2.0-only */
/* A message while it is being made. */
#ifndef FUZZ_BUILD_H
#define FUZZ_BUILD_H

#include "message.h"

#define BUILD_ATTRS 64

/**
 * struct build - a message while it is being made
 * @header: its header
 * @bytes: the same
 * @size: how long it is
 * @attrs: where its first attributes begin, those in nests among them
 * @n_attrs: how many of them are noted
 * @command: what it asks for
 */
struct build {
	union {
		struct nlmsghdr *header;
		unsigned char *bytes;
	};
	size_t size;
	size_t attrs[BUILD_ATTRS];
	unsigned int n_attrs;
	const struct fuzz_command *command;
};

void build_begin(struct build *build, void *to, const struct fuzz_command *command);

/* The attribute that was put; what has no room is left out. */
struct nlattr *put(struct build *build, unsigned int type, const void *data, size_t size);
void put_attr(struct build *build, unsigned int type, const struct fuzz_attr *attr);

/* One to three things wrong with it. */
void spoil(struct build *build);

#endif /* FUZZ_BUILD_H */
