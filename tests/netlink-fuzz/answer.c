// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether what the kernel says is what the spec says: attributes that it has,
 * of their types, with values that have a meaning, and nothing for people
 * without privileges that is not for them.
 */
#include <linux/genetlink.h>
#include <string.h>

#include "fuzz.h"

static void check_attrs(const struct fuzz_set *set, const char *at, size_t size, bool private);

static size_t size_of(enum fuzz_kind kind)
{
	switch (kind) {
	case FUZZ_U8:
		return 1;
	case FUZZ_U32:
	case FUZZ_S32:
		return 4;
	case FUZZ_U64:
		return 8;
	default:
		return 0;
	}
}

static void check_text(const struct fuzz_attr *known_as, const char *text, size_t size)
{
	if (!size || text[size - 1] || strlen(text) + 1 != size)
		fail("the text %s does not end where it has to", known_as->name);
	if (known_as->max && size > known_as->max + 1)
		fail("the text %s is longer than the spec has it", known_as->name);
}

static void check_attr(const struct fuzz_set *set, const struct nlattr *attr, bool private)
{
	unsigned int type = attr->nla_type & NLA_TYPE_MASK;
	const struct fuzz_attr *known_as = &set->attrs[type <= set->max ? type : 0];
	const char *data = (const char *)attr + NLA_HDRLEN;
	uint64_t value = 0;

	if (known_as->kind == FUZZ_NONE)
		fail("attribute %u of %s is not in the spec", type, set->name);
	if (known_as->private && !private)
		fail("%s of %s was told to somebody without privileges", known_as->name, set->name);
	if (known_as->kind == FUZZ_STRING) {
		check_text(known_as, data, gf_size(attr));
	} else if (known_as->kind == FUZZ_BINARY) {
		if (!gf_size(attr) || gf_size(attr) > known_as->max)
			fail("%s of %s has %zu bytes", known_as->name, set->name, gf_size(attr));
	} else if (known_as->kind == FUZZ_NEST) {
		check_attrs(known_as->nested, data, gf_size(attr), private);
	} else {
		value = gf_u64(attr);
		if (gf_size(attr) != (known_as->kind != FUZZ_UINT ? size_of(known_as->kind) :
				      value > UINT32_MAX ? 8 : 4))
			fail("%s of %s has %zu bytes", known_as->name, set->name, gf_size(attr));
		if (value > known_as->max)
			fail("%s of %s is %llu", known_as->name, set->name, (unsigned long long)value);
	}
}

static void check_attrs(const struct fuzz_set *set, const char *at, size_t size, bool private)
{
	while (size) {
		const struct nlattr *attr = (const void *)at;
		size_t step;

		if (size < NLA_HDRLEN || attr->nla_len < NLA_HDRLEN || attr->nla_len > size)
			fail("an attribute of %s is longer than what it is in", set->name);
		check_attr(set, attr, private);
		step = NLA_ALIGN(attr->nla_len);
		step = step < size ? step : size;
		at += step;
		size -= step;
	}
}

/* Detach wants the generation that drain told. */
static void learn(const struct nlmsghdr *message)
{
	const struct nlattr *slot = gf_attr(message, GPUFABRIC_A_SLOT);
	const struct nlattr *member;
	size_t left;

	if (slot)
		fuzz_learn_generation(gf_u32(gf_sub(slot, GPUFABRIC_A_SLOT_ID)),
				      gf_u32(gf_sub(slot, GPUFABRIC_A_SLOT_GENERATION)));
	member = gf_first(message, &left);
	while (left >= NLA_HDRLEN && member->nla_len >= NLA_HDRLEN && member->nla_len <= left) {
		size_t step = NLA_ALIGN(member->nla_len);

		if ((member->nla_type & NLA_TYPE_MASK) == GPUFABRIC_A_MEMBER)
			fuzz_learn_generation(gf_u32(gf_sub(member, GPUFABRIC_A_MEMBER_SLOT_ID)),
					      gf_u32(gf_sub(member, GPUFABRIC_A_MEMBER_GENERATION)));
		if (step >= left)
			break;
		left -= step;
		member = (const void *)((const char *)member + step);
	}
}

void check_message(const struct nlmsghdr *message, bool private)
{
	const struct genlmsghdr *genl = NLMSG_DATA(message);
	size_t left;
	const struct nlattr *first;

	if (message->nlmsg_len < NLMSG_LENGTH(GENL_HDRLEN))
		fail("an answer of %u bytes", message->nlmsg_len);
	if (genl->cmd != GPUFABRIC_CMD_EVENT && !fuzz_command_of(genl->cmd))
		fail("an answer to command %u, which there is not", genl->cmd);
	first = gf_first(message, &left);
	check_attrs(fuzz_message, (const char *)first, left, private);
	learn(message);
}
