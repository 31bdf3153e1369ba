/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_NETLINK_H
#define GPUFABRIC_NETLINK_H

#include <linux/pid_namespace.h>
#include <net/genetlink.h>

#include <linux/gpufabric.h>

extern struct genl_family gf_family;

/* Who will read a message. */
struct gf_reader {
	/*
	 * May see who asked and why, whose compositions are, serial numbers and physical
	 * addresses.
	 */
	bool private;
	struct pid_namespace *pid_ns; /* pid namespace to translate pids for */
};

struct gf_composition;
struct gf_op;
struct gf_slot;
struct gf_switch;

/* A function, window or need of a slot, or a member of a composition. */
struct gf_part {
	const void *of;
	unsigned int index; /* of those that it has, see gf_part_count() */
};

unsigned int gf_part_count(const void *of, u8 command);

/*
 * Puts one object as a nested attribute. Under the fabric's lock. Returns 0 or
 * -EMSGSIZE; what was put is then taken back.
 */
typedef int (*gf_fill_fn)(struct sk_buff *skb, const struct gf_reader *reader, const void *object);

int gf_fill_number(struct sk_buff *skb);
int gf_fill_slot(struct sk_buff *skb, const struct gf_reader *reader, const void *slot);
int gf_fill_function(struct sk_buff *skb, const struct gf_reader *reader, const void *part);
int gf_fill_window(struct sk_buff *skb, const struct gf_reader *reader, const void *part);
int gf_fill_need(struct sk_buff *skb, const struct gf_reader *reader, const void *part);
int gf_fill_switch(struct sk_buff *skb, const struct gf_reader *reader, const void *sw);
int gf_fill_composition(struct sk_buff *skb, const struct gf_reader *reader,
			const void *composition);
int gf_fill_op(struct sk_buff *skb, const struct gf_reader *reader, const void *op);
int gf_fill_history(struct sk_buff *skb, const struct gf_reader *reader, const void *entry);
int gf_fill_stats(struct sk_buff *skb, const struct gf_reader *reader, const void *histogram);
int gf_fill_status(struct sk_buff *skb, const struct gf_reader *reader, const void *unused);
int gf_fill_membership(struct sk_buff *skb, const struct gf_reader *reader, const void *part);
int gf_fill_member(struct sk_buff *skb, const struct gf_slot *slot);

struct sk_buff *gf_reply_alloc(unsigned int slots);
void gf_reply_send(struct sk_buff *reply, struct sk_buff *request,
		   struct genl_info *info, gf_fill_fn fill, const void *object);

int gf_refuse(struct genl_info *info, const struct nlattr *attr, int error, const char *text);

void gf_event_enable(bool on);
void gf_event_slot(struct gf_slot *slot, enum gpufabric_event_kind kind);
void gf_event_switch(struct gf_switch *sw, enum gpufabric_event_kind kind);
void gf_event_composition(struct gf_composition *composition, enum gpufabric_event_kind kind);
void gf_event_operation(struct gf_op *op, enum gpufabric_event_kind kind);

int gf_netlink_start(void);
void gf_netlink_stop(void);

#endif /* GPUFABRIC_NETLINK_H */
