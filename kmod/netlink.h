/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GPUFABRIC_NETLINK_H
#define GPUFABRIC_NETLINK_H

#include <linux/pid_namespace.h>
#include <net/genetlink.h>

extern struct genl_family gf_family;

/**
 * struct gf_reader - who will read a message
 * @private: may see pids, commands, reasons and physical addresses
 * @pid_ns: pid namespace to translate pids for
 */
struct gf_reader {
	bool private;
	struct pid_namespace *pid_ns;
};

struct gf_composition;
struct gf_history_entry;
struct gf_op;
struct gf_slot;
struct gf_switch;

/*
 * Each puts one object as a nested attribute. Under the fabric's lock.
 * Return 0 or -EMSGSIZE; what was put is then taken back.
 */
int gf_fill_slot(struct sk_buff *skb, const struct gf_reader *reader,
		 struct gf_slot *slot);
int gf_fill_switch(struct sk_buff *skb, const struct gf_reader *reader,
		   const struct gf_switch *sw);
int gf_fill_composition(struct sk_buff *skb, const struct gf_reader *reader,
			struct gf_composition *composition);
int gf_fill_op(struct sk_buff *skb, const struct gf_reader *reader,
	       const struct gf_op *op);
int gf_fill_history(struct sk_buff *skb, const struct gf_reader *reader,
		    const struct gf_history_entry *entry);
int gf_fill_stats(struct sk_buff *skb, enum gpufabric_operation_kind kind,
		  enum gpufabric_phase phase);
int gf_fill_status(struct sk_buff *skb);
int gf_fill_member(struct sk_buff *skb, const struct gf_slot *slot);

/* A function that puts an object; returns 0 or -EMSGSIZE. */
typedef int (*gf_fill_fn)(struct sk_buff *skb, const struct gf_reader *reader,
			  void *object);

struct sk_buff *gf_reply_alloc(unsigned int members);
void gf_reply_send(struct sk_buff *reply, struct sk_buff *request,
		   struct genl_info *info, gf_fill_fn fill, void *object);
int gf_reply(struct sk_buff *request, struct genl_info *info, gf_fill_fn fill,
	     void *object);
void gf_reader_of(struct gf_reader *reader, struct sk_buff *request);

void gf_refuse(struct netlink_ext_ack *extack, const struct nlattr *attr,
	       const char *text);

int gf_netlink_start(void);
void gf_netlink_stop(void);

#endif /* GPUFABRIC_NETLINK_H */
