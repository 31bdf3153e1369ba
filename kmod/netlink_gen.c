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

/* GPUFABRIC_CMD_DRAIN - do */
static const struct nla_policy gpufabric_drain_nl_policy[GPUFABRIC_A_REASON + 1] = {
	[GPUFABRIC_A_MEMBER] = NLA_POLICY_NESTED(gpufabric_named_member_nl_policy),
	[GPUFABRIC_A_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U32, &gpufabric_a_timeout_range),
	[GPUFABRIC_A_REASON] = { .type = NLA_NUL_STRING, .len = GPUFABRIC_REASON_MAX, },
};

/* GPUFABRIC_CMD_DRAIN_ABORT - do */
static const struct nla_policy gpufabric_drain_abort_nl_policy[GPUFABRIC_A_DRAIN_ABORT_FLAGS + 1] = {
	[GPUFABRIC_A_MEMBER] = NLA_POLICY_NESTED(gpufabric_named_member_nl_policy),
	[GPUFABRIC_A_REASON] = { .type = NLA_NUL_STRING, .len = GPUFABRIC_REASON_MAX, },
	[GPUFABRIC_A_DRAIN_ABORT_FLAGS] = NLA_POLICY_MASK(NLA_U32, 0x1),
};

/* GPUFABRIC_CMD_ATTACH - do */
static const struct nla_policy gpufabric_attach_nl_policy[GPUFABRIC_A_DRIVER + 1] = {
	[GPUFABRIC_A_MEMBER] = NLA_POLICY_NESTED(gpufabric_named_member_nl_policy),
	[GPUFABRIC_A_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U32, &gpufabric_a_timeout_range),
	[GPUFABRIC_A_DRIVER_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U32, &gpufabric_a_driver_timeout_range),
	[GPUFABRIC_A_ATTACH_FLAGS] = NLA_POLICY_MASK(NLA_U32, 0x7),
	[GPUFABRIC_A_REASON] = { .type = NLA_NUL_STRING, .len = GPUFABRIC_REASON_MAX, },
	[GPUFABRIC_A_JUDGED_AT] = { .type = NLA_U64, },
	[GPUFABRIC_A_DRIVER] = { .type = NLA_NUL_STRING, .len = GPUFABRIC_DRIVER_MAX, },
};

/* GPUFABRIC_CMD_DETACH - do */
static const struct nla_policy gpufabric_detach_nl_policy[GPUFABRIC_A_REASON + 1] = {
	[GPUFABRIC_A_MEMBER] = NLA_POLICY_NESTED(gpufabric_named_member_nl_policy),
	[GPUFABRIC_A_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U32, &gpufabric_a_timeout_range),
	[GPUFABRIC_A_DETACH_FLAGS] = NLA_POLICY_MASK(NLA_U32, 0x3),
	[GPUFABRIC_A_REASON] = { .type = NLA_NUL_STRING, .len = GPUFABRIC_REASON_MAX, },
};

/* GPUFABRIC_CMD_CLEAR - do */
static const struct nla_policy gpufabric_clear_nl_policy[GPUFABRIC_A_REASON + 1] = {
	[GPUFABRIC_A_MEMBER] = NLA_POLICY_NESTED(gpufabric_named_member_nl_policy),
	[GPUFABRIC_A_REASON] = { .type = NLA_NUL_STRING, .len = GPUFABRIC_REASON_MAX, },
};

/* GPUFABRIC_CMD_COMPOSE - do */
static const struct nla_policy gpufabric_compose_nl_policy[GPUFABRIC_A_DRIVER + 1] = {
	[GPUFABRIC_A_NAME] = { .type = NLA_NUL_STRING, .len = GPUFABRIC_NAME_MAX, },
	[GPUFABRIC_A_MEMBER] = NLA_POLICY_NESTED(gpufabric_named_member_nl_policy),
	[GPUFABRIC_A_ANNOTATION] = { .type = NLA_BINARY, .len = GPUFABRIC_ANNOTATION_MAX, },
	[GPUFABRIC_A_OWNER] = { .type = NLA_U32, },
	[GPUFABRIC_A_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U32, &gpufabric_a_timeout_range),
	[GPUFABRIC_A_DRIVER_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U32, &gpufabric_a_driver_timeout_range),
	[GPUFABRIC_A_COMPOSE_FLAGS] = NLA_POLICY_MASK(NLA_U32, 0x7),
	[GPUFABRIC_A_REASON] = { .type = NLA_NUL_STRING, .len = GPUFABRIC_REASON_MAX, },
	[GPUFABRIC_A_JUDGED_AT] = { .type = NLA_U64, },
	[GPUFABRIC_A_DRIVER] = { .type = NLA_NUL_STRING, .len = GPUFABRIC_DRIVER_MAX, },
};

/* GPUFABRIC_CMD_RESIZE - do */
static const struct nla_policy gpufabric_resize_nl_policy[GPUFABRIC_A_DRIVER + 1] = {
	[GPUFABRIC_A_NAME] = { .type = NLA_NUL_STRING, .len = GPUFABRIC_NAME_MAX, },
	[GPUFABRIC_A_MEMBER] = NLA_POLICY_NESTED(gpufabric_named_member_nl_policy),
	[GPUFABRIC_A_REMOVE] = NLA_POLICY_NESTED(gpufabric_named_member_nl_policy),
	[GPUFABRIC_A_ANNOTATION] = { .type = NLA_BINARY, .len = GPUFABRIC_ANNOTATION_MAX, },
	[GPUFABRIC_A_GENERATION] = { .type = NLA_U32, },
	[GPUFABRIC_A_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U32, &gpufabric_a_timeout_range),
	[GPUFABRIC_A_DRIVER_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U32, &gpufabric_a_driver_timeout_range),
	[GPUFABRIC_A_RESIZE_FLAGS] = NLA_POLICY_MASK(NLA_U32, 0x3),
	[GPUFABRIC_A_REASON] = { .type = NLA_NUL_STRING, .len = GPUFABRIC_REASON_MAX, },
	[GPUFABRIC_A_JUDGED_AT] = { .type = NLA_U64, },
	[GPUFABRIC_A_DRIVER] = { .type = NLA_NUL_STRING, .len = GPUFABRIC_DRIVER_MAX, },
};

/* GPUFABRIC_CMD_RELEASE - do */
static const struct nla_policy gpufabric_release_nl_policy[GPUFABRIC_A_REASON + 1] = {
	[GPUFABRIC_A_NAME] = { .type = NLA_NUL_STRING, .len = GPUFABRIC_NAME_MAX, },
	[GPUFABRIC_A_MEMBER] = NLA_POLICY_NESTED(gpufabric_named_member_nl_policy),
	[GPUFABRIC_A_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U32, &gpufabric_a_timeout_range),
	[GPUFABRIC_A_RELEASE_FLAGS] = NLA_POLICY_MASK(NLA_U32, 0x3),
	[GPUFABRIC_A_REASON] = { .type = NLA_NUL_STRING, .len = GPUFABRIC_REASON_MAX, },
};

/* GPUFABRIC_CMD_ANNOTATE - do */
static const struct nla_policy gpufabric_annotate_nl_policy[GPUFABRIC_A_GENERATION + 1] = {
	[GPUFABRIC_A_NAME] = { .type = NLA_NUL_STRING, .len = GPUFABRIC_NAME_MAX, },
	[GPUFABRIC_A_ANNOTATION] = { .type = NLA_BINARY, .len = GPUFABRIC_ANNOTATION_MAX, },
	[GPUFABRIC_A_GENERATION] = { .type = NLA_U32, },
};

/* Ops table for gpufabric */
const struct genl_split_ops gpufabric_nl_ops[23] = {
	{ .cmd = GPUFABRIC_CMD_STATUS_GET, .doit = gpufabric_nl_status_get_doit,
	  .flags = GENL_CMD_CAP_DO },
	{ .cmd = GPUFABRIC_CMD_SWITCH_GET, .doit = gpufabric_nl_switch_get_doit,
	  .policy = gpufabric_switch_get_nl_policy, .maxattr = GPUFABRIC_A_ID,
	  .flags = GENL_CMD_CAP_DO },
	{ .cmd = GPUFABRIC_CMD_SWITCH_GET, .dumpit = gpufabric_nl_dumpit,
	  .flags = GENL_CMD_CAP_DUMP },
	{ .cmd = GPUFABRIC_CMD_SLOT_GET, .doit = gpufabric_nl_slot_get_doit,
	  .policy = gpufabric_slot_get_nl_policy, .maxattr = GPUFABRIC_A_NAME,
	  .flags = GENL_CMD_CAP_DO },
	{ .cmd = GPUFABRIC_CMD_SLOT_GET, .dumpit = gpufabric_nl_dumpit,
	  .flags = GENL_CMD_CAP_DUMP },
	{ .cmd = GPUFABRIC_CMD_FUNCTION_GET, .dumpit = gpufabric_nl_dumpit,
	  .policy = gpufabric_switch_get_nl_policy, .maxattr = GPUFABRIC_A_ID,
	  .flags = GENL_CMD_CAP_DUMP },
	{ .cmd = GPUFABRIC_CMD_WINDOW_GET, .dumpit = gpufabric_nl_dumpit,
	  .policy = gpufabric_switch_get_nl_policy, .maxattr = GPUFABRIC_A_ID,
	  .flags = GENL_CMD_CAP_DUMP },
	{ .cmd = GPUFABRIC_CMD_NEED_GET, .dumpit = gpufabric_nl_dumpit,
	  .policy = gpufabric_switch_get_nl_policy, .maxattr = GPUFABRIC_A_ID,
	  .flags = GENL_CMD_CAP_DUMP },
	{ .cmd = GPUFABRIC_CMD_COMPOSITION_GET, .doit = gpufabric_nl_composition_get_doit,
	  .policy = gpufabric_slot_get_nl_policy, .maxattr = GPUFABRIC_A_NAME,
	  .flags = GENL_CMD_CAP_DO },
	{ .cmd = GPUFABRIC_CMD_COMPOSITION_GET, .dumpit = gpufabric_nl_dumpit,
	  .flags = GENL_CMD_CAP_DUMP },
	{ .cmd = GPUFABRIC_CMD_DRAIN, .pre_doit = gpufabric_nl_admin_doit,
	  .doit = gpufabric_nl_drain_doit, .policy = gpufabric_drain_nl_policy,
	  .maxattr = GPUFABRIC_A_REASON, .flags = GENL_CMD_CAP_DO },
	{ .cmd = GPUFABRIC_CMD_DRAIN_ABORT, .pre_doit = gpufabric_nl_admin_doit,
	  .doit = gpufabric_nl_drain_abort_doit, .policy = gpufabric_drain_abort_nl_policy,
	  .maxattr = GPUFABRIC_A_DRAIN_ABORT_FLAGS, .flags = GENL_CMD_CAP_DO },
	{ .cmd = GPUFABRIC_CMD_ATTACH, .pre_doit = gpufabric_nl_admin_doit,
	  .doit = gpufabric_nl_attach_doit, .policy = gpufabric_attach_nl_policy,
	  .maxattr = GPUFABRIC_A_DRIVER, .flags = GENL_CMD_CAP_DO },
	{ .cmd = GPUFABRIC_CMD_DETACH, .pre_doit = gpufabric_nl_admin_doit,
	  .doit = gpufabric_nl_detach_doit, .policy = gpufabric_detach_nl_policy,
	  .maxattr = GPUFABRIC_A_REASON, .flags = GENL_CMD_CAP_DO },
	{ .cmd = GPUFABRIC_CMD_CLEAR, .pre_doit = gpufabric_nl_admin_doit,
	  .doit = gpufabric_nl_clear_doit, .policy = gpufabric_clear_nl_policy,
	  .maxattr = GPUFABRIC_A_REASON, .flags = GENL_CMD_CAP_DO },
	{ .cmd = GPUFABRIC_CMD_COMPOSE, .pre_doit = gpufabric_nl_admin_doit,
	  .doit = gpufabric_nl_compose_doit, .policy = gpufabric_compose_nl_policy,
	  .maxattr = GPUFABRIC_A_DRIVER, .flags = GENL_CMD_CAP_DO },
	{ .cmd = GPUFABRIC_CMD_RESIZE, .pre_doit = gpufabric_nl_admin_doit,
	  .doit = gpufabric_nl_resize_doit, .policy = gpufabric_resize_nl_policy,
	  .maxattr = GPUFABRIC_A_DRIVER, .flags = GENL_CMD_CAP_DO },
	{ .cmd = GPUFABRIC_CMD_RELEASE, .pre_doit = gpufabric_nl_admin_doit,
	  .doit = gpufabric_nl_release_doit, .policy = gpufabric_release_nl_policy,
	  .maxattr = GPUFABRIC_A_REASON, .flags = GENL_CMD_CAP_DO },
	{ .cmd = GPUFABRIC_CMD_ANNOTATE, .pre_doit = gpufabric_nl_admin_doit,
	  .doit = gpufabric_nl_annotate_doit, .policy = gpufabric_annotate_nl_policy,
	  .maxattr = GPUFABRIC_A_GENERATION, .flags = GENL_CMD_CAP_DO },
	{ .cmd = GPUFABRIC_CMD_HISTORY_GET, .doit = gpufabric_nl_history_get_doit,
	  .policy = gpufabric_slot_get_nl_policy, .maxattr = GPUFABRIC_A_NAME,
	  .flags = GENL_CMD_CAP_DO },
	{ .cmd = GPUFABRIC_CMD_HISTORY_GET, .dumpit = gpufabric_nl_dumpit,
	  .policy = gpufabric_slot_get_nl_policy, .maxattr = GPUFABRIC_A_NAME,
	  .flags = GENL_CMD_CAP_DUMP },
	{ .cmd = GPUFABRIC_CMD_STATS_GET, .dumpit = gpufabric_nl_dumpit,
	  .flags = GENL_CMD_CAP_DUMP },
	{ .cmd = GPUFABRIC_CMD_MEMBER_GET, .dumpit = gpufabric_nl_dumpit,
	  .policy = gpufabric_switch_get_nl_policy, .maxattr = GPUFABRIC_A_ID,
	  .flags = GENL_CMD_CAP_DUMP },
};

