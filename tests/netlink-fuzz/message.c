// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages as the spec has them: a command, attributes that it takes, values
 * within their limits, names that there are. Most then go as they are, so that
 * the fabric keeps moving; the others are spoilt, see spoil.c.
 */
#include <linux/genetlink.h>
#include <linux/gpufabric.h>
#include <stdio.h>
#include <string.h>

#include "build.h"
#include "random.h"

struct fuzz_known known;
uint64_t random_state;

const char *fuzz_composition_name(unsigned int index)
{
	static const char *const names[FUZZ_COMPOSITIONS] = {
		"fuzz-0", "fuzz-1", "fuzz-2", "fuzz-3", "fuzz-4", "fuzz-5", "fuzz-6", "fuzz-7",
	};

	return names[index % FUZZ_COMPOSITIONS];
}

const struct fuzz_command *fuzz_command_of(uint8_t number)
{
	for (unsigned int i = 0; i < fuzz_n_commands; i++) {
		if (fuzz_commands[i].number == number)
			return &fuzz_commands[i];
	}
	return NULL;
}

void fuzz_learn_generation(uint32_t id, uint32_t generation)
{
	for (unsigned int i = 0; i < known.n_slots; i++) {
		if (known.slots[i].id == id)
			known.slots[i].generation = generation;
	}
}

struct nlattr *put(struct build *build, unsigned int type, const void *data, size_t size)
{
	struct nlattr *attr = (void *)(build->bytes + build->size);

	if (build->size + NLA_HDRLEN + NLA_ALIGN(size) > FUZZ_MESSAGE_MAX)
		return attr;
	memset(attr, 0, NLA_HDRLEN + NLA_ALIGN(size));
	attr->nla_type = (uint16_t)type;
	attr->nla_len = (uint16_t)(NLA_HDRLEN + size);
	if (size)
		memcpy((char *)attr + NLA_HDRLEN, data, size);
	if (build->n_attrs < BUILD_ATTRS)
		build->attrs[build->n_attrs++] = build->size;
	build->size += NLA_HDRLEN + NLA_ALIGN(size);
	return attr;
}

static void put_text(struct build *build, unsigned int type, const char *text)
{
	put(build, type, text, strlen(text) + 1);
}

/* A text that is as long as it may be. */
static void put_long_text(struct build *build, unsigned int type, const struct fuzz_attr *attr)
{
	char text[256];
	size_t size = attr->max && attr->max < sizeof(text) ? attr->max : sizeof(text) - 1;

	memset(text, 'a' + (int)random_below(26), size);
	text[size] = '\0';
	put_text(build, type, text);
}

static void put_string(struct build *build, unsigned int type, const struct fuzz_attr *attr)
{
	static const char *const texts[] = { "a", "tenant-1", "job.42", "x_y", "Label", "sim0-0", "fuzz-0" };
	bool acts = build->command && build->command->takes & 1ULL << GPUFABRIC_A_MEMBER;

	if (random_once_in(64))
		put_long_text(build, type, attr);
	else if (!strcmp(attr->name, "name") && (acts || random_below(2)))
		put_text(build, type, fuzz_composition_name(random_below(FUZZ_COMPOSITIONS)));
	else if (strstr(attr->name, "name") && known.n_slots)
		put_text(build, type, known.slots[random_below(known.n_slots)].name);
	else
		put_text(build, type, RANDOM_OF(texts));
}

/* Any bytes, mostly few of them. */
static void put_bytes(struct build *build, unsigned int type, const struct fuzz_attr *attr)
{
	uint8_t bytes[1024];
	size_t size = random_below((uint32_t)(random_once_in(16) ? attr->max + 1 : 24));

	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)random_below(256);
	put(build, type, bytes, size);
}

/* A value within the limits: the least, the greatest, or one in between. */
static uint64_t value_of(const struct fuzz_attr *attr)
{
	uint64_t range = attr->max - attr->min;

	switch (random_below(8)) {
	case 0:
		return attr->min;
	case 1:
		return attr->max;
	case 2:
		return range == UINT64_MAX ? random_u64() : attr->min + random_u64() % (range + 1);
	default:
		/* Ids and counts are small numbers. */
		return attr->min + random_below(range < 24 ? (uint32_t)range + 1 : 24);
	}
}

static void put_number(struct build *build, unsigned int type, const struct fuzz_attr *attr)
{
	uint64_t value = value_of(attr);
	size_t size = attr->kind == FUZZ_U64 || value > UINT32_MAX ? 8 : attr->kind == FUZZ_U8 ? 1 : 4;

	/* Most flags would keep anything from happening. */
	if (strstr(attr->name, "-flags") && random_below(4))
		value = 1ULL << random_below(3);
	put(build, type, &value, size);
}

/* Whether it means something there. */
static bool wants_generation(uint8_t command, unsigned int type)
{
	return command == GPUFABRIC_CMD_DETACH || command == GPUFABRIC_CMD_RELEASE ||
	       type == GPUFABRIC_A_REMOVE;
}

/* One slot of a request, by name or id, as it would be named to be taken. */
static void put_member(struct build *build, unsigned int type, const struct fuzz_set *set)
{
	struct nlattr *nest = put(build, type | NLA_F_NESTED, NULL, 0);
	unsigned int index = random_below(known.n_slots ? known.n_slots : 1);
	size_t start = build->size;

	if (random_below(2))
		put_text(build, GPUFABRIC_A_MEMBER_SLOT_NAME, known.slots[index].name);
	else
		put(build, GPUFABRIC_A_MEMBER_SLOT_ID, &known.slots[index].id, 4);
	if (random_once_in(64) != wants_generation(build->command->number, type))
		put(build, GPUFABRIC_A_MEMBER_GENERATION, &known.slots[index].generation, 4);
	if (random_once_in(32)) {
		unsigned int other = 1 + random_below(set->max);

		put_attr(build, other, &set->attrs[other]);
	}
	nest->nla_len = (uint16_t)(NLA_HDRLEN + build->size - start);
}

static void put_nest(struct build *build, unsigned int type, const struct fuzz_attr *attr)
{
	struct nlattr *nest;
	size_t start;

	if (!strcmp(attr->nested->name, "named_member")) {
		put_member(build, type, attr->nested);
		return;
	}
	nest = put(build, type | NLA_F_NESTED, NULL, 0);
	start = build->size;
	for (unsigned int i = random_below(4); i; i--) {
		unsigned int inner = 1 + random_below(attr->nested->max);

		if (attr->nested->attrs[inner].kind != FUZZ_NEST)
			put_attr(build, inner, &attr->nested->attrs[inner]);
	}
	nest->nla_len = (uint16_t)(NLA_HDRLEN + build->size - start);
}

void put_attr(struct build *build, unsigned int type, const struct fuzz_attr *attr)
{
	switch (attr->kind) {
	case FUZZ_STRING:
		put_string(build, type, attr);
		break;
	case FUZZ_BINARY:
		put_bytes(build, type, attr);
		break;
	case FUZZ_NEST:
		put_nest(build, type, attr);
		break;
	case FUZZ_NONE:
		put(build, type, NULL, 0);
		break;
	default:
		put_number(build, type, attr);
	}
}

/* So many members: mostly few, now and then more than can be had. */
static unsigned int members(void)
{
	switch (random_below(512)) {
	case 0:
		return GPUFABRIC_MEMBERS_MAX + random_below(3);
	case 1 ... 8:
		return 0;
	case 9 ... 160:
		return 2 + random_below(3);
	default:
		return 1;
	}
}

static void put_taken(struct build *build, unsigned int type)
{
	const struct fuzz_attr *attr = &fuzz_message->attrs[type];
	/* Without these the request is about nothing. */
	bool needed = type == GPUFABRIC_A_NAME || type == GPUFABRIC_A_ID || type == GPUFABRIC_A_MEMBER;
	unsigned int count = attr->kind == FUZZ_NEST ? members() : 1;

	if (random_below(needed ? 8 : 6) >= (needed ? 7 : 1))
		return;
	while (count--)
		put_attr(build, type, attr);
}

void build_begin(struct build *build, void *to, const struct fuzz_command *command)
{
	struct genlmsghdr *genl = (void *)((char *)to + NLMSG_HDRLEN);

	memset(to, 0, NLMSG_LENGTH(GENL_HDRLEN));
	build->bytes = to;
	build->size = NLMSG_LENGTH(GENL_HDRLEN);
	build->n_attrs = 0;
	build->command = command;
	build->header->nlmsg_type = known.family;
	build->header->nlmsg_flags = NLM_F_REQUEST;
	genl->cmd = command->number;
	genl->version = GPUFABRIC_FAMILY_VERSION;
}

size_t fuzz_make(void *to)
{
	const struct fuzz_command *command = &fuzz_commands[random_below(fuzz_n_commands)];
	struct build build;

	build_begin(&build, to, command);
	if (random_below(8))
		build.header->nlmsg_flags |= NLM_F_ACK;
	if (random_once_in(16))
		build.header->nlmsg_flags |= NLM_F_ECHO;
	if (command->dumps && random_once_in(command->does ? 64 : 2))
		build.header->nlmsg_flags |= NLM_F_DUMP;
	for (unsigned int type = 1; type <= fuzz_message->max; type++) {
		if (command->takes & 1ULL << type)
			put_taken(&build, type);
	}
	build.header->nlmsg_len = (uint32_t)build.size;
	if (random_below(5) < 2)
		spoil(&build);
	return build.size;
}

size_t fuzz_make_dump(void *to, unsigned int choice)
{
	struct build build;

	while (!fuzz_commands[choice % fuzz_n_commands].dumps)
		choice++;
	build_begin(&build, to, &fuzz_commands[choice % fuzz_n_commands]);
	build.header->nlmsg_flags |= NLM_F_DUMP | NLM_F_ACK;
	build.header->nlmsg_len = (uint32_t)build.size;
	return build.size;
}
