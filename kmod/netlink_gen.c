// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	netlink/specs/gpufabric.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

#include <uapi/linux/gpufabric.h>

/* Integer value ranges */
static struct netlink_range_validation gpufabric_a_member_expect_vendor_range = { .max = 65535ULL };
static struct netlink_range_validation gpufabric_a_timeout_range = { .min = GPUFABRIC_TIMEOUT_MIN, .max = GPUFABRIC_TIMEOUT_MAX };
static struct netlink_range_validation gpufabric_a_driver_timeout_range = { .max = GPUFABRIC_TIMEOUT_MAX };

/* Common nested types */
const struct nla_policy gpufabric_named_member_nl_policy[GPUFABRIC_A_MEMBER_ORDER + 1] = {
	[GPUFABRIC_A_MEMBER_SLOT_ID] = { .type = NLA_U32, },
	[GPUFABRIC_A_MEMBER_SLOT_NAME] = { .type = NLA_NUL_STRING, .len = GPUFABRIC_SLOT_NAME_MAX, },
	[GPUFABRIC_A_MEMBER_GENERATION] = { .type = NLA_U32, },
	[GPUFABRIC_A_MEMBER_EXPECT_VENDOR] = NLA_POLICY_FULL_RANGE(NLA_U32, &gpufabric_a_member_expect_vendor_range),
	[GPUFABRIC_A_MEMBER_EXPECT_DEVICE] = NLA_POLICY_FULL_RANGE(NLA_U32, &gpufabric_a_member_expect_vendor_range),
	[GPUFABRIC_A_MEMBER_EXPECT_SUBSYSTEM_VENDOR] = NLA_POLICY_FULL_RANGE(NLA_U32, &gpufabric_a_member_expect_vendor_range),
	[GPUFABRIC_A_MEMBER_EXPECT_SUBSYSTEM_DEVICE] = NLA_POLICY_FULL_RANGE(NLA_U32, &gpufabric_a_member_expect_vendor_range),
	[GPUFABRIC_A_MEMBER_ORDER] = NLA_POLICY_RANGE(NLA_U32, 1, GPUFABRIC_MEMBERS_MAX),
};

/* Attributes that more than one command takes */
#define ID [GPUFABRIC_A_ID] = { .type = NLA_U32, }
#define NAME [GPUFABRIC_A_NAME] = { .type = NLA_NUL_STRING, .len = GPUFABRIC_NAME_MAX, }
#define MEMBER [GPUFABRIC_A_MEMBER] = NLA_POLICY_NESTED(gpufabric_named_member_nl_policy)
#define TIMEOUT [GPUFABRIC_A_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U32, &gpufabric_a_timeout_range)
#define REASON [GPUFABRIC_A_REASON] = { .type = NLA_NUL_STRING, .len = GPUFABRIC_REASON_MAX, }
#define DRIVER_TIMEOUT [GPUFABRIC_A_DRIVER_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U32, &gpufabric_a_driver_timeout_range)
#define JUDGED_AT [GPUFABRIC_A_JUDGED_AT] = { .type = NLA_U64, }
#define DRIVER [GPUFABRIC_A_DRIVER] = { .type = NLA_NUL_STRING, .len = GPUFABRIC_DRIVER_MAX, }
#define ANNOTATION [GPUFABRIC_A_ANNOTATION] = { .type = NLA_BINARY, .len = GPUFABRIC_ANNOTATION_MAX, }
#define GENERATION [GPUFABRIC_A_GENERATION] = { .type = NLA_U32, }

/* Of a command without attributes: without a policy it would take any */
static const struct nla_policy gpufabric_nothing_nl_policy[2] = { [1] = { .type = NLA_REJECT } };

/* What a command takes */
#define POLICY(_name, _last, _attrs...)					\
	static const struct nla_policy					\
	gpufabric_##_name##_nl_policy[GPUFABRIC_A_##_last + 1] = { _attrs }

POLICY(switch_get, ID, ID);
POLICY(slot_get, NAME, ID, NAME);
POLICY(drain, REASON, MEMBER, TIMEOUT, REASON);
POLICY(drain_abort, DRAIN_ABORT_FLAGS, MEMBER, REASON,
	[GPUFABRIC_A_DRAIN_ABORT_FLAGS] = NLA_POLICY_MASK(NLA_U32, 0x1));
POLICY(attach, DRIVER, MEMBER, TIMEOUT, DRIVER_TIMEOUT,
	[GPUFABRIC_A_ATTACH_FLAGS] = NLA_POLICY_MASK(NLA_U32, 0x7), REASON, JUDGED_AT, DRIVER);
POLICY(detach, REASON, MEMBER, TIMEOUT,
	[GPUFABRIC_A_DETACH_FLAGS] = NLA_POLICY_MASK(NLA_U32, 0x3), REASON);
POLICY(clear, REASON, MEMBER, REASON);
POLICY(compose, DRIVER, NAME, MEMBER, ANNOTATION,
	[GPUFABRIC_A_OWNER] = { .type = NLA_U32, }, TIMEOUT, DRIVER_TIMEOUT,
	[GPUFABRIC_A_COMPOSE_FLAGS] = NLA_POLICY_MASK(NLA_U32, 0x7), REASON, JUDGED_AT, DRIVER);
POLICY(resize, DRIVER, NAME, MEMBER,
	[GPUFABRIC_A_REMOVE] = NLA_POLICY_NESTED(gpufabric_named_member_nl_policy), ANNOTATION,
	GENERATION, TIMEOUT, DRIVER_TIMEOUT,
	[GPUFABRIC_A_RESIZE_FLAGS] = NLA_POLICY_MASK(NLA_U32, 0x3), REASON, JUDGED_AT, DRIVER);
POLICY(release, REASON, NAME, MEMBER, GENERATION, TIMEOUT,
	[GPUFABRIC_A_RELEASE_FLAGS] = NLA_POLICY_MASK(NLA_U32, 0x3), REASON);
POLICY(annotate, GENERATION, NAME, ANNOTATION, GENERATION);

#define OP(_cmd, _policy, _cap, _hooks...) {				\
	.cmd = GPUFABRIC_CMD_##_cmd,					\
	.policy = gpufabric_##_policy##_nl_policy,			\
	.maxattr = ARRAY_SIZE(gpufabric_##_policy##_nl_policy) - 1,	\
	.flags = GENL_CMD_CAP_##_cap,					\
	_hooks								\
}

#define ADMIN .pre_doit = gpufabric_nl_admin_doit

/* Ops table for gpufabric */
const struct genl_split_ops gpufabric_nl_ops[22] = {
	OP(STATUS_GET, nothing, DO, .doit = gpufabric_nl_get_doit),
	OP(SWITCH_GET, switch_get, DO, .doit = gpufabric_nl_get_doit),
	OP(SWITCH_GET, nothing, DUMP, .dumpit = gpufabric_nl_dumpit),
	OP(SLOT_GET, slot_get, DO, .doit = gpufabric_nl_get_doit),
	OP(SLOT_GET, nothing, DUMP, .dumpit = gpufabric_nl_dumpit),
	OP(FUNCTION_GET, switch_get, DUMP, .dumpit = gpufabric_nl_dumpit),
	OP(NEED_GET, switch_get, DUMP, .dumpit = gpufabric_nl_dumpit),
	OP(COMPOSITION_GET, slot_get, DO, .doit = gpufabric_nl_get_doit),
	OP(COMPOSITION_GET, nothing, DUMP, .dumpit = gpufabric_nl_dumpit),
	OP(DRAIN, drain, DO, ADMIN, .doit = gpufabric_nl_change_doit),
	OP(DRAIN_ABORT, drain_abort, DO, ADMIN, .doit = gpufabric_nl_change_doit),
	OP(ATTACH, attach, DO, ADMIN, .doit = gpufabric_nl_change_doit),
	OP(DETACH, detach, DO, ADMIN, .doit = gpufabric_nl_change_doit),
	OP(CLEAR, clear, DO, ADMIN, .doit = gpufabric_nl_change_doit),
	OP(COMPOSE, compose, DO, ADMIN, .doit = gpufabric_nl_change_doit),
	OP(RESIZE, resize, DO, ADMIN, .doit = gpufabric_nl_change_doit),
	OP(RELEASE, release, DO, ADMIN, .doit = gpufabric_nl_change_doit),
	OP(ANNOTATE, annotate, DO, ADMIN, .doit = gpufabric_nl_annotate_doit),
	OP(HISTORY_GET, slot_get, DO, .doit = gpufabric_nl_get_doit),
	OP(HISTORY_GET, slot_get, DUMP, .dumpit = gpufabric_nl_dumpit),
	OP(STATS_GET, nothing, DUMP, .dumpit = gpufabric_nl_dumpit),
	OP(MEMBER_GET, switch_get, DUMP, .dumpit = gpufabric_nl_dumpit),
};

