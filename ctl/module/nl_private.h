/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the netlink client share among themselves. */
#ifndef GPUCTL_NL_PRIVATE_H
#define GPUCTL_NL_PRIVATE_H

#include "module/nl.h"

struct nl_sock;

struct gfc_name {
	uint32_t id;
	char *name;
};

/**
 * struct gfc - a client
 * @ctx: where errors go
 * @sock: requests; drains are bound to it
 * @events: multicast group, NULL before gfc_subscribe()
 * @reader: descriptor whose other end is minded, -1 for none
 * @family: number of the family
 * @interface: version of the family
 * @monitor: number of the group that everyone may listen to
 * @private_group: number of the group with who and why
 * @gone: the family no longer exists; another load of the module has another number
 * @last_errno: of the last request
 * @buffer: datagram of events that is being walked
 * @at: next message in it
 * @left: bytes left from there
 * @names: slot names, for errors that point at a slot
 * @n_names: how many
 */
struct gfc {
	struct ctl_ctx *ctx;
	struct nl_sock *sock;
	struct nl_sock *events;
	int reader;
	int family;
	unsigned int interface;
	int monitor;
	int private_group;
	bool gone;
	int last_errno;
	unsigned char *buffer;
	struct nlmsghdr *at;
	int left;
	struct gfc_name *names;
	size_t n_names;
};

struct nl_sock *gfc_socket(struct ctl_ctx *ctx, int *err);
int gfc_libnl_fail(struct ctl_ctx *ctx, int err, const char *what);
/* What a reply or an event says; 0 or a negative errno. @message is zeroed before. */
int gfc_read(struct nlmsghdr *nlh, struct gf_message *message);
/* CTL_NO_MODULE where the module has another interface than this gpuctl. */
int gfc_check_interface(struct ctl_ctx *ctx, unsigned int interface);
/* A refusal for a command, an attribute or a flag that the module does not know. */
bool gfc_is_unknown(int err, const char *text);
int gfc_unknown_fail(struct ctl_ctx *ctx, const char *command, int err, const char *attribute);
void gfc_remember_name(struct gfc *client, const struct gf_slot *slot);

#endif /* GPUCTL_NL_PRIVATE_H */
