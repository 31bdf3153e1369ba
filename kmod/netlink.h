/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_NETLINK_H
#define GPUFABRIC_NETLINK_H

#include <linux/pid_namespace.h>
#include <net/genetlink.h>

#include "op.h"

/* Room for the largest object, a slot in an event, and for an operation with its composition. */
#define GF_MESSAGE_SIZE 3072

extern struct genl_family gf_family;

/* Who will read a message. */
struct gf_reader {
	bool private; /* may see who asked and why, owners and serial numbers */
	struct pid_namespace *pid_ns; /* pid namespace to translate pids for */
};

/* A function or need of a slot, or a member of a composition. */
struct gf_part {
	const void *of;
	unsigned int index; /* of those that it has, see gf_part_count() */
};

unsigned int gf_part_count(const void *of, u8 command);

/* Puts one object as a nested attribute, under the fabric's lock. Returns 0 or -EMSGSIZE. */
typedef int gf_fill_fn(struct sk_buff *skb, const struct gf_reader *reader, const void *object);

gf_fill_fn gf_fill_slot, gf_fill_switch, gf_fill_composition, gf_fill_op, gf_fill_history;
gf_fill_fn gf_fill_stats, gf_fill_status;
gf_fill_fn gf_fill_function, gf_fill_need, gf_fill_membership; /* of a gf_part */
int gf_fill_number(struct sk_buff *skb);
int gf_fill_member(struct sk_buff *skb, const struct gf_slot *slot);

struct sk_buff *gf_reply_alloc(unsigned int slots);
int gf_reply_send(struct sk_buff *reply, struct sk_buff *request,
		  struct genl_info *info, gf_fill_fn *fill, const void *object);

int gf_refuse(struct genl_info *info, const struct nlattr *attr, int error, const char *text);

/* A slot that a request names. */
struct gf_pick {
	const struct nlattr *attr; /* for error texts */
	struct gf_slot *slot; /* found under the fabric's lock and valid while it is held */
	u32 generation;
	bool has_generation;
	struct gf_expect expect;
	enum gf_need need; /* what the request makes of it */
	unsigned int turn; /* among those that come in order to their switch, 0 for any */
};

/* The slots that a request names in one attribute. */
struct gf_picks {
	unsigned int named; /* number of slots that the attribute names */
	unsigned int count; /* of those that were found, in @picks */
	struct gf_pick picks[];
};

typedef int (*gf_check_fn)(const struct gf_check *check, const char **why);

u32 gf_request_flags(struct genl_info *info);

int gf_picks_alloc(struct genl_info *info, int type, struct gf_picks **picks);
int gf_picks_parse(struct genl_info *info, int type, struct gf_picks *picks);
int gf_pick_judge(struct genl_info *info, struct gf_pick *pick,
		  const struct gf_composition *ours, gf_check_fn check);
int gf_picks_check_stale(struct genl_info *info, const struct gf_picks *picks);
int gf_picks_judge(struct genl_info *info, struct gf_picks *picks,
		   const struct gf_composition *ours, gf_check_fn check);

void gf_event_enable(bool on);
void gf_event_slot(struct gf_slot *slot, enum gpufabric_event_kind kind);
void gf_announce(enum gpufabric_event_kind kind, gf_fill_fn *fill, const void *object,
		 const struct gf_condition *previous);
#define gf_event(kind, fill, object) gf_announce(kind, fill, object, NULL)

int gf_netlink_start(void);
void gf_netlink_stop(void);

#endif /* GPUFABRIC_NETLINK_H */
