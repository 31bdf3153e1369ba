// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	netlink/specs/gpufabric.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

#include <uapi/linux/gpufabric.h>

/* Integer value ranges */
static struct netlink_range_validation gpufabric_a_member_expect_vendor_range = {
	.max	= 65535ULL,
};

static struct netlink_range_validation gpufabric_a_timeout_range = {
	.min	= GPUFABRIC_TIMEOUT_MIN,
	.max	= GPUFABRIC_TIMEOUT_MAX,
};

static struct netlink_range_validation gpufabric_a_driver_timeout_range = {
	.max	= GPUFABRIC_TIMEOUT_MAX,
};

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

/*
 * GPUFABRIC_CMD_SWITCH_GET - do, GPUFABRIC_CMD_FUNCTION_GET - dump, GPUFABRIC_CMD_WINDOW_GET -
 * dump, GPUFABRIC_CMD_NEED_GET - dump, GPUFABRIC_CMD_MEMBER_GET - dump
 */
static const struct nla_policy gpufabric_switch_get_nl_policy[GPUFABRIC_A_ID + 1] = {
	[GPUFABRIC_A_ID] = { .type = NLA_U32, },
};

/*
 * GPUFABRIC_CMD_SLOT_GET - do, GPUFABRIC_CMD_COMPOSITION_GET - do, GPUFABRIC_CMD_HISTORY_GET - do,
 * GPUFABRIC_CMD_HISTORY_GET - dump
 */
static const struct nla_policy gpufabric_slot_get_nl_policy[GPUFABRIC_A_NAME + 1] = {
	[GPUFABRIC_A_ID] = { .type = NLA_U32, },
	[GPUFABRIC_A_NAME] = { .type = NLA_NUL_STRING, .len = GPUFABRIC_NAME_MAX, },
};

/* Attributes that more than one command takes */
#define MEMBER [GPUFABRIC_A_MEMBER] = NLA_POLICY_NESTED(gpufabric_named_member_nl_policy)
#define TIMEOUT [GPUFABRIC_A_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U32, &gpufabric_a_timeout_range)
#define REASON [GPUFABRIC_A_REASON] = { .type = NLA_NUL_STRING, .len = GPUFABRIC_REASON_MAX, }
#define DRIVER_TIMEOUT [GPUFABRIC_A_DRIVER_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U32, &gpufabric_a_driver_timeout_range)
#define JUDGED_AT [GPUFABRIC_A_JUDGED_AT] = { .type = NLA_U64, }
#define DRIVER [GPUFABRIC_A_DRIVER] = { .type = NLA_NUL_STRING, .len = GPUFABRIC_DRIVER_MAX, }
#define NAME [GPUFABRIC_A_NAME] = { .type = NLA_NUL_STRING, .len = GPUFABRIC_NAME_MAX, }
#define ANNOTATION [GPUFABRIC_A_ANNOTATION] = { .type = NLA_BINARY, .len = GPUFABRIC_ANNOTATION_MAX, }
#define GENERATION [GPUFABRIC_A_GENERATION] = { .type = NLA_U32, }

/* Of a command without attributes: without a policy it would take any */
static const struct nla_policy gpufabric_nothing_nl_policy[2] = { [1] = { .type = NLA_REJECT } };

/* GPUFABRIC_CMD_DRAIN - do */
static const struct nla_policy gpufabric_drain_nl_policy[GPUFABRIC_A_REASON + 1] = {
	MEMBER, TIMEOUT, REASON,
};

/* GPUFABRIC_CMD_DRAIN_ABORT - do */
static const struct nla_policy gpufabric_drain_abort_nl_policy[GPUFABRIC_A_DRAIN_ABORT_FLAGS + 1] = {
	MEMBER, REASON, [GPUFABRIC_A_DRAIN_ABORT_FLAGS] = NLA_POLICY_MASK(NLA_U32, 0x1),
};

/* GPUFABRIC_CMD_ATTACH - do */
static const struct nla_policy gpufabric_attach_nl_policy[GPUFABRIC_A_DRIVER + 1] = {
	MEMBER, TIMEOUT, DRIVER_TIMEOUT, [GPUFABRIC_A_ATTACH_FLAGS] = NLA_POLICY_MASK(NLA_U32, 0x7),
	REASON, JUDGED_AT, DRIVER,
};

/* GPUFABRIC_CMD_DETACH - do */
static const struct nla_policy gpufabric_detach_nl_policy[GPUFABRIC_A_REASON + 1] = {
	MEMBER, TIMEOUT, [GPUFABRIC_A_DETACH_FLAGS] = NLA_POLICY_MASK(NLA_U32, 0x3), REASON,
};

/* GPUFABRIC_CMD_CLEAR - do */
static const struct nla_policy gpufabric_clear_nl_policy[GPUFABRIC_A_REASON + 1] = {
	MEMBER, REASON,
};

/* GPUFABRIC_CMD_COMPOSE - do */
static const struct nla_policy gpufabric_compose_nl_policy[GPUFABRIC_A_DRIVER + 1] = {
	NAME, MEMBER, ANNOTATION, [GPUFABRIC_A_OWNER] = { .type = NLA_U32, }, TIMEOUT,
	DRIVER_TIMEOUT, [GPUFABRIC_A_COMPOSE_FLAGS] = NLA_POLICY_MASK(NLA_U32, 0x7), REASON,
	JUDGED_AT, DRIVER,
};

/* GPUFABRIC_CMD_RESIZE - do */
static const struct nla_policy gpufabric_resize_nl_policy[GPUFABRIC_A_DRIVER + 1] = {
	NAME, MEMBER, [GPUFABRIC_A_REMOVE] = NLA_POLICY_NESTED(gpufabric_named_member_nl_policy),
	ANNOTATION, GENERATION, TIMEOUT, DRIVER_TIMEOUT,
	[GPUFABRIC_A_RESIZE_FLAGS] = NLA_POLICY_MASK(NLA_U32, 0x3), REASON, JUDGED_AT, DRIVER,
};

/* GPUFABRIC_CMD_RELEASE - do */
static const struct nla_policy gpufabric_release_nl_policy[GPUFABRIC_A_REASON + 1] = {
	NAME, MEMBER, TIMEOUT, [GPUFABRIC_A_RELEASE_FLAGS] = NLA_POLICY_MASK(NLA_U32, 0x3), REASON,
};

/* GPUFABRIC_CMD_ANNOTATE - do */
static const struct nla_policy gpufabric_annotate_nl_policy[GPUFABRIC_A_GENERATION + 1] = {
	NAME, ANNOTATION, GENERATION,
};

#define OP(_cmd, _policy, _cap, _hooks...) {				\
	.cmd = GPUFABRIC_CMD_##_cmd,					\
	.policy = gpufabric_##_policy##_nl_policy,			\
	.maxattr = ARRAY_SIZE(gpufabric_##_policy##_nl_policy) - 1,	\
	.flags = GENL_CMD_CAP_##_cap,					\
	_hooks								\
}

/* Ops table for gpufabric */
const struct genl_split_ops gpufabric_nl_ops[23] = {
	OP(STATUS_GET, nothing, DO, .doit = gpufabric_nl_status_get_doit),
	OP(SWITCH_GET, switch_get, DO, .doit = gpufabric_nl_switch_get_doit),
	OP(SWITCH_GET, nothing, DUMP, .dumpit = gpufabric_nl_dumpit),
	OP(SLOT_GET, slot_get, DO, .doit = gpufabric_nl_slot_get_doit),
	OP(SLOT_GET, nothing, DUMP, .dumpit = gpufabric_nl_dumpit),
	OP(FUNCTION_GET, switch_get, DUMP, .dumpit = gpufabric_nl_dumpit),
	OP(WINDOW_GET, switch_get, DUMP, .dumpit = gpufabric_nl_dumpit),
	OP(NEED_GET, switch_get, DUMP, .dumpit = gpufabric_nl_dumpit),
	OP(COMPOSITION_GET, slot_get, DO, .doit = gpufabric_nl_composition_get_doit),
	OP(COMPOSITION_GET, nothing, DUMP, .dumpit = gpufabric_nl_dumpit),
	OP(DRAIN, drain, DO, .pre_doit = gpufabric_nl_admin_doit,
	   .doit = gpufabric_nl_change_doit),
	OP(DRAIN_ABORT, drain_abort, DO, .pre_doit = gpufabric_nl_admin_doit,
	   .doit = gpufabric_nl_change_doit),
	OP(ATTACH, attach, DO, .pre_doit = gpufabric_nl_admin_doit,
	   .doit = gpufabric_nl_change_doit),
	OP(DETACH, detach, DO, .pre_doit = gpufabric_nl_admin_doit,
	   .doit = gpufabric_nl_change_doit),
	OP(CLEAR, clear, DO, .pre_doit = gpufabric_nl_admin_doit,
	   .doit = gpufabric_nl_change_doit),
	OP(COMPOSE, compose, DO, .pre_doit = gpufabric_nl_admin_doit,
	   .doit = gpufabric_nl_change_doit),
	OP(RESIZE, resize, DO, .pre_doit = gpufabric_nl_admin_doit,
	   .doit = gpufabric_nl_change_doit),
	OP(RELEASE, release, DO, .pre_doit = gpufabric_nl_admin_doit,
	   .doit = gpufabric_nl_change_doit),
	OP(ANNOTATE, annotate, DO, .pre_doit = gpufabric_nl_admin_doit,
	   .doit = gpufabric_nl_annotate_doit),
	OP(HISTORY_GET, slot_get, DO, .doit = gpufabric_nl_history_get_doit),
	OP(HISTORY_GET, slot_get, DUMP, .dumpit = gpufabric_nl_dumpit),
	OP(STATS_GET, nothing, DUMP, .dumpit = gpufabric_nl_dumpit),
	OP(MEMBER_GET, switch_get, DUMP, .dumpit = gpufabric_nl_dumpit),
};

