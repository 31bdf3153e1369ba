// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policies that the kernel really enforces, asked for by CTRL_CMD_GETPOLICY,
 * against a table written down here from the protocol's documentation. No GPU
 * is needed; one switch with one empty slot.
 *
 *   root port -- upstream -- sim0-0 (empty)
 */
#include "test.h"

/* One attribute of a command as the kernel tells it. */
struct rule {
	bool known;
	uint32_t type;
	uint64_t min, max;
	uint32_t max_length;
	uint32_t mask;
	uint32_t nested;
};

/* More than there are attributes. */
#define RULES 48
#define POLICIES 40

static struct rule rules[POLICIES][RULES];
static uint32_t policy_of[256];
static bool has_policy[256];

static void read_rule(const struct nlattr *attr, struct rule *rule)
{
	const struct nlattr *max = gf_sub(attr, NL_POLICY_TYPE_ATTR_MAX_VALUE_U);

	rule->known = true;
	rule->type = gf_u32(gf_sub(attr, NL_POLICY_TYPE_ATTR_TYPE));
	rule->min = gf_u64(gf_sub(attr, NL_POLICY_TYPE_ATTR_MIN_VALUE_U));
	rule->max = max ? gf_u64(max) : UINT64_MAX;
	rule->max_length = gf_u32(gf_sub(attr, NL_POLICY_TYPE_ATTR_MAX_LENGTH));
	rule->mask = (uint32_t)gf_u64(gf_sub(attr, NL_POLICY_TYPE_ATTR_MASK));
	rule->nested = gf_u32(gf_sub(attr, NL_POLICY_TYPE_ATTR_POLICY_IDX));
}

static int part(const struct nlmsghdr *message, void *context)
{
	const struct nlattr *ops = gf_attr(message, CTRL_ATTR_OP_POLICY);
	const struct nlattr *policies = gf_attr(message, CTRL_ATTR_POLICY);

	for (unsigned int command = 0; ops && command < 256; command++) {
		const struct nlattr *op = gf_sub(ops, command);

		if (!op || !gf_sub(op, CTRL_ATTR_POLICY_DO))
			continue;
		policy_of[command] = gf_u32(gf_sub(op, CTRL_ATTR_POLICY_DO));
		has_policy[command] = true;
	}
	for (unsigned int policy = 0; policies && policy < POLICIES; policy++) {
		const struct nlattr *one = gf_sub(policies, policy);

		for (unsigned int type = 0; one && type < RULES; type++) {
			const struct nlattr *attr = gf_sub(one, type);

			if (attr)
				read_rule(attr, &rules[policy][type]);
		}
	}
	return 0;
}

/* What the protocol says: which attributes a command takes. */
#define A(name) (1ULL << GPUFABRIC_A_##name)

static const struct {
	uint8_t command;
	const char *name;
	uint64_t attributes;
} commands[] = {
	{ GPUFABRIC_CMD_STATUS_GET, "status-get", 0 },
	{ GPUFABRIC_CMD_SWITCH_GET, "switch-get", A(ID) },
	{ GPUFABRIC_CMD_SLOT_GET, "slot-get", A(ID) | A(NAME) },
	{ GPUFABRIC_CMD_COMPOSITION_GET, "composition-get", A(ID) | A(NAME) },
	{ GPUFABRIC_CMD_DRAIN, "drain", A(MEMBER) | A(TIMEOUT) | A(REASON) },
	{ GPUFABRIC_CMD_DRAIN_ABORT, "drain-abort", A(MEMBER) | A(REASON) | A(DRAIN_ABORT_FLAGS) },
	{ GPUFABRIC_CMD_ATTACH, "attach", A(MEMBER) | A(TIMEOUT) | A(DRIVER_TIMEOUT) | A(ATTACH_FLAGS) |
	  A(REASON) | A(JUDGED_AT) | A(DRIVER) },
	{ GPUFABRIC_CMD_DETACH, "detach", A(MEMBER) | A(TIMEOUT) | A(DETACH_FLAGS) | A(REASON) },
	{ GPUFABRIC_CMD_CLEAR, "clear", A(MEMBER) | A(REASON) },
	{ GPUFABRIC_CMD_COMPOSE, "compose", A(NAME) | A(MEMBER) | A(ANNOTATION) | A(OWNER) |
	  A(TIMEOUT) | A(DRIVER_TIMEOUT) | A(COMPOSE_FLAGS) | A(REASON) | A(JUDGED_AT) | A(DRIVER) },
	{ GPUFABRIC_CMD_RESIZE, "resize", A(NAME) | A(MEMBER) | A(REMOVE) | A(ANNOTATION) | A(GENERATION) | A(TIMEOUT) |
	  A(DRIVER_TIMEOUT) | A(RESIZE_FLAGS) | A(REASON) | A(JUDGED_AT) | A(DRIVER) },
	{ GPUFABRIC_CMD_RELEASE, "release", A(NAME) | A(MEMBER) | A(GENERATION) | A(TIMEOUT) | A(RELEASE_FLAGS) |
	  A(REASON) },
	{ GPUFABRIC_CMD_ANNOTATE, "annotate", A(NAME) | A(ANNOTATION) | A(GENERATION) },
	{ GPUFABRIC_CMD_HISTORY_GET, "history-get", A(ID) | A(NAME) },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

FIXTURE(policy) {
};

FIXTURE_SETUP(policy)
{
	static struct gf_request ask_policy;
	uint16_t family;

	ASSERT_EQ(0, gf_open(&gf));
	family = gf.family;
	gf.family = GENL_ID_CTRL;
	gf_begin(&ask_policy, &gf, CTRL_CMD_GETPOLICY, 0);
	gf_put(&ask_policy, CTRL_ATTR_FAMILY_ID, &family, sizeof(family));
	ASSERT_EQ(0, gf_dump(&gf, &ask_policy, part, NULL));
	gf.family = family;
}

FIXTURE_TEARDOWN(policy)
{
}

TEST_F(policy, every_command_takes_its_attributes_and_no_other)
{
	for (size_t i = 0; i < COUNT(commands); i++) {
		ASSERT_TRUE(has_policy[commands[i].command]) {
			TH_LOG("%s has no policy", commands[i].name);
		}
		for (unsigned int type = 0; type < RULES; type++) {
			EXPECT_EQ(!!(commands[i].attributes & 1ULL << type),
				  rules[policy_of[commands[i].command]][type].known) {
				TH_LOG("%s, attribute %u", commands[i].name, type);
			}
		}
	}
}

TEST_F(policy, no_other_command)
{
	for (unsigned int command = 0; command < 256; command++) {
		bool listed = false;

		for (size_t i = 0; i < COUNT(commands); i++)
			listed |= commands[i].command == command;
		EXPECT_EQ(listed, has_policy[command]) {
			TH_LOG("command %u", command);
		}
	}
}

static const struct rule *rule_of(uint8_t command, unsigned int type)
{
	return &rules[policy_of[command]][type];
}

TEST_F(policy, limits)
{
	for (size_t i = 0; i < COUNT(commands); i++) {
		uint8_t command = commands[i].command;

		if (commands[i].attributes & A(NAME)) {
			EXPECT_EQ(NL_ATTR_TYPE_NUL_STRING, rule_of(command, GPUFABRIC_A_NAME)->type);
			EXPECT_EQ(GPUFABRIC_NAME_MAX, rule_of(command, GPUFABRIC_A_NAME)->max_length);
		}
		if (commands[i].attributes & A(ANNOTATION)) {
			EXPECT_EQ(NL_ATTR_TYPE_BINARY, rule_of(command, GPUFABRIC_A_ANNOTATION)->type);
			EXPECT_EQ(GPUFABRIC_ANNOTATION_MAX,
				  rule_of(command, GPUFABRIC_A_ANNOTATION)->max_length);
		}
		if (commands[i].attributes & A(REASON))
			EXPECT_EQ(GPUFABRIC_REASON_MAX, rule_of(command, GPUFABRIC_A_REASON)->max_length);
		if (commands[i].attributes & A(TIMEOUT)) {
			EXPECT_EQ(GPUFABRIC_TIMEOUT_MIN, rule_of(command, GPUFABRIC_A_TIMEOUT)->min);
			EXPECT_EQ(GPUFABRIC_TIMEOUT_MAX, rule_of(command, GPUFABRIC_A_TIMEOUT)->max);
		}
		if (commands[i].attributes & A(DRIVER_TIMEOUT)) {
			EXPECT_EQ(0, rule_of(command, GPUFABRIC_A_DRIVER_TIMEOUT)->min);
			EXPECT_EQ(GPUFABRIC_TIMEOUT_MAX, rule_of(command, GPUFABRIC_A_DRIVER_TIMEOUT)->max);
		}
		if (commands[i].attributes & A(MEMBER))
			EXPECT_EQ(NL_ATTR_TYPE_NESTED, rule_of(command, GPUFABRIC_A_MEMBER)->type);
	}
}

TEST_F(policy, members)
{
	const struct rule *nest = rule_of(GPUFABRIC_CMD_COMPOSE, GPUFABRIC_A_MEMBER);
	const struct rule *member = rules[nest->nested];

	EXPECT_EQ(nest->nested, rule_of(GPUFABRIC_CMD_RESIZE, GPUFABRIC_A_REMOVE)->nested);
	EXPECT_EQ(NL_ATTR_TYPE_U32, member[GPUFABRIC_A_MEMBER_SLOT_ID].type);
	EXPECT_EQ(GPUFABRIC_SLOT_NAME_MAX, member[GPUFABRIC_A_MEMBER_SLOT_NAME].max_length);
	for (int i = 0; i < 4; i++)
		EXPECT_EQ(0xffff, member[GPUFABRIC_A_MEMBER_EXPECT_VENDOR + i].max);
	EXPECT_EQ(1, member[GPUFABRIC_A_MEMBER_ORDER].min);
	EXPECT_EQ(GPUFABRIC_MEMBERS_MAX, member[GPUFABRIC_A_MEMBER_ORDER].max);
	EXPECT_FALSE(member[GPUFABRIC_A_MEMBER_ORDER + 1].known);
}

static const struct {
	uint8_t command;
	uint16_t type;
	uint32_t mask;
} flags[] = {
	{ GPUFABRIC_CMD_ATTACH, GPUFABRIC_A_ATTACH_FLAGS,
	  GPUFABRIC_ATTACH_FLAG_CHECK | GPUFABRIC_ATTACH_FLAG_FORCE | GPUFABRIC_ATTACH_FLAG_HARM },
	{ GPUFABRIC_CMD_DETACH, GPUFABRIC_A_DETACH_FLAGS,
	  GPUFABRIC_DETACH_FLAG_CHECK | GPUFABRIC_DETACH_FLAG_FORCE },
	{ GPUFABRIC_CMD_COMPOSE, GPUFABRIC_A_COMPOSE_FLAGS,
	  GPUFABRIC_COMPOSE_FLAG_CHECK | GPUFABRIC_COMPOSE_FLAG_BIND | GPUFABRIC_COMPOSE_FLAG_HARM },
	{ GPUFABRIC_CMD_RESIZE, GPUFABRIC_A_RESIZE_FLAGS,
	  GPUFABRIC_RESIZE_FLAG_CHECK | GPUFABRIC_RESIZE_FLAG_HARM },
	{ GPUFABRIC_CMD_RELEASE, GPUFABRIC_A_RELEASE_FLAGS,
	  GPUFABRIC_RELEASE_FLAG_CHECK | GPUFABRIC_RELEASE_FLAG_KEEP },
};

TEST_F(policy, every_command_has_flags_of_its_own)
{
	for (size_t i = 0; i < COUNT(flags); i++) {
		EXPECT_EQ(flags[i].mask, rule_of(flags[i].command, flags[i].type)->mask);
		/* The check is the same bit in all of them. */
		EXPECT_EQ(1, flags[i].mask & 1);
		for (unsigned int bit = 0; bit < 32; bit++) {
			gf_begin(&request, &gf, flags[i].command, 0);
			gf_put_u32(&request, flags[i].type, 1U << bit);
			EXPECT_EQ(-EINVAL, gf_talk(&gf, &request));
			/* What is known is refused for want of slots or of a name. */
			EXPECT_EQ(flags[i].mask & 1U << bit ? 0 : flags[i].type, gf.bad_attr);
		}
	}
}

TEST_F(policy, a_command_refuses_what_it_does_not_take)
{
	for (size_t i = 0; i < COUNT(commands); i++) {
		for (unsigned int type = 1; type < RULES; type++) {
			if (commands[i].attributes & 1ULL << type)
				continue;
			gf_begin(&request, &gf, commands[i].command, 0);
			gf_put_u32(&request, type, 0);
			EXPECT_EQ(-EINVAL, gf_talk(&gf, &request));
			EXPECT_EQ(type, gf.bad_attr) {
				TH_LOG("%s, attribute %u", commands[i].name, type);
			}
		}
	}
}

/* What is said of a slot has to mean something for what is to become of it. */
TEST_F(policy, of_a_slot_only_what_has_a_meaning)
{
	static const char nothing[] = "this command does not use this attribute of a slot";
	static const uint8_t brief[] = { GPUFABRIC_CMD_DRAIN, GPUFABRIC_CMD_DRAIN_ABORT, GPUFABRIC_CMD_CLEAR };

	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_DRAIN,
				    SLOTS({ .name = "sim0-0", .has_generation = true }))), EINVAL, nothing);
	EXPECT_EQ(GPUFABRIC_A_MEMBER_GENERATION, gf.bad_attr);
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_DETACH,
				    SLOTS({ .name = "sim0-0", .order = 1 }))), EINVAL, nothing);
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_DETACH,
				    SLOTS({ .name = "sim0-0", .expects = 8 }))), EINVAL, nothing);
	for (size_t i = 0; i < COUNT(brief); i++) {
		EXPECT_EQ(-EINVAL, ask_slot(&gf, brief[i], "sim0-0", 1));
		if (brief[i] != GPUFABRIC_CMD_DRAIN_ABORT)
			EXPECT_STREQ(nothing, gf.text);
		EXPECT_EQ(-EINVAL, ask(&gf, ASK(.command = brief[i], SLOTS({ .name = "sim0-0", .order = 1 }))));
		EXPECT_STREQ(nothing, gf.text);
	}
	/* Those that mean something come further. */
	EXPECT_EQ(-ENODEV, ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH,
					SLOTS({ .name = "sim0-0", .order = 1, .expects = 15 }))));
}

/* A dump of everything would look like an answer to what was asked. */
TEST_F(policy, a_dump_takes_what_filters_it_and_nothing_else)
{
	for (size_t i = 0; i < COUNT(commands); i++) {
		const bool dumps = commands[i].attributes & A(ID);
		const bool filters = commands[i].command == GPUFABRIC_CMD_HISTORY_GET;

		for (unsigned int type = 1; dumps && type < RULES; type++) {
			gf_begin(&request, &gf, commands[i].command, 0);
			if (type == GPUFABRIC_A_NAME)
				gf_put_text(&request, type, "sim0-0");
			else
				gf_put_u32(&request, type, 1);
			gf_dump(&gf, &request, NULL, NULL);
			if (filters && (A(ID) | A(NAME)) & 1ULL << type) {
				EXPECT_EQ(0, gf.error);
				continue;
			}
			EXPECT_EQ(-EINVAL, gf.error) {
				TH_LOG("dump of %s, attribute %u", commands[i].name, type);
			}
			/* Older kernels keep why to themselves. */
			if (gf.bad_attr)
				EXPECT_EQ(type, gf.bad_attr);
		}
	}
}

MAIN("switches=1 slots=1 gpus=*:none")
