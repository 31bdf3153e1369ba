// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a careless or hostile client makes of a message: attributes of another
 * type or length, twice, in the wrong place or in none, nests that are empty,
 * deep or not marked, texts without an end, values beyond their limits, headers
 * that lie about the rest.
 */
#include <linux/genetlink.h>
#include <linux/gpufabric.h>
#include <string.h>

#include "build.h"
#include "random.h"

/* One of the attributes, NULL when there is none. */
static struct nlattr *any_attr(struct build *build)
{
	size_t at;

	if (!build->n_attrs)
		return NULL;
	at = build->attrs[random_below(build->n_attrs)];
	return at + NLA_HDRLEN <= build->size ? (void *)(build->bytes + at) : NULL;
}

static size_t room_of(const struct build *build, const struct nlattr *attr)
{
	return build->size - (size_t)((const unsigned char *)attr - build->bytes);
}

static void wrong_type(struct build *build)
{
	static const uint16_t odd[] = { 0, 1, 63, 64, 255, 256, 0x1fff, 0x3fff };
	struct nlattr *attr = any_attr(build);
	uint16_t flags;

	if (!attr)
		return;
	flags = attr->nla_type & ~NLA_TYPE_MASK;
	if (random_below(2))
		attr->nla_type = flags | RANDOM_OF(odd);
	else
		attr->nla_type = flags | (uint16_t)random_below(fuzz_message->max + 2);
}

static void wrong_length(struct build *build)
{
	static const uint16_t odd[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 64, 68, 69, 132, 255, 0x7fff, 0xffff };
	struct nlattr *attr = any_attr(build);

	if (!attr)
		return;
	if (random_below(2))
		attr->nla_len = RANDOM_OF(odd);
	else
		attr->nla_len = (uint16_t)(attr->nla_len + random_below(9) - 4);
}

static void wrong_flags(struct build *build)
{
	struct nlattr *attr = any_attr(build);

	if (attr)
		attr->nla_type ^= random_below(3) ? NLA_F_NESTED : NLA_F_NET_BYTEORDER;
}

static void wrong_value(struct build *build)
{
	static const uint64_t odd[] = {
		0, 1, 99, 600001, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
		0x7fffffffffffffff, 0x8000000000000000, UINT64_MAX,
	};
	struct nlattr *attr = any_attr(build);
	uint64_t value = random_below(4) ? RANDOM_OF(odd) : random_u64();
	size_t size;

	if (!attr || attr->nla_len < NLA_HDRLEN)
		return;
	size = attr->nla_len - NLA_HDRLEN;
	size = size < sizeof(value) ? size : sizeof(value);
	if (NLA_HDRLEN + size <= room_of(build, attr))
		memcpy((char *)attr + NLA_HDRLEN, &value, size);
}

/* A text without its end, or with one in the middle, or with bytes that are no letters. */
static void wrong_text(struct build *build)
{
	static const char odd[] = { '\0', '\n', '/', '%', '\x1b', '\x7f', '\x80', '\xff', 'x' };
	struct nlattr *attr = any_attr(build);
	size_t size;

	if (!attr || attr->nla_len <= NLA_HDRLEN || attr->nla_len > room_of(build, attr))
		return;
	size = attr->nla_len - NLA_HDRLEN;
	if (random_below(2))
		((char *)attr)[NLA_HDRLEN + size - 1] = 'z';
	else
		((char *)attr)[NLA_HDRLEN + random_below((uint32_t)size)] = RANDOM_OF(odd);
}

static void twice(struct build *build)
{
	struct nlattr *attr = any_attr(build);
	unsigned char copy[512];
	size_t size;

	if (!attr || attr->nla_len < NLA_HDRLEN || attr->nla_len > room_of(build, attr))
		return;
	size = attr->nla_len - NLA_HDRLEN;
	size = size < sizeof(copy) ? size : sizeof(copy);
	memcpy(copy, (char *)attr + NLA_HDRLEN, size);
	put(build, attr->nla_type, copy, size);
}

static void left_out(struct build *build)
{
	struct nlattr *attr = any_attr(build);
	size_t length, rest;

	if (!attr)
		return;
	length = NLA_ALIGN(attr->nla_len);
	rest = room_of(build, attr);
	if (!length || length > rest)
		return;
	memmove(attr, (char *)attr + length, rest - length);
	build->size -= length;
	/* What was noted may be gone. */
	build->n_attrs = 0;
}

static void of_another_command(struct build *build)
{
	unsigned int type = 1 + random_below(fuzz_message->max);

	put_attr(build, type, &fuzz_message->attrs[type]);
}

static void empty_nest(struct build *build)
{
	static const uint16_t nests[] = { GPUFABRIC_A_MEMBER, GPUFABRIC_A_REMOVE, GPUFABRIC_A_SLOT };

	put(build, RANDOM_OF(nests) | NLA_F_NESTED, NULL, 0);
}

static void deep_nest(struct build *build)
{
	struct nlattr *nests[64];
	unsigned int depth = 1 + random_below(64);
	size_t starts[64];

	for (unsigned int i = 0; i < depth; i++) {
		nests[i] = put(build, (i && random_below(2) ? 1 + random_below(12) : GPUFABRIC_A_MEMBER) |
				      NLA_F_NESTED, NULL, 0);
		starts[i] = build->size;
	}
	put(build, GPUFABRIC_A_MEMBER_SLOT_ID, &known.slots[0].id, 4);
	for (unsigned int i = 0; i < depth; i++)
		nests[i]->nla_len = (uint16_t)(NLA_HDRLEN + build->size - starts[i]);
}

static void garbage(struct build *build)
{
	unsigned int count = 1 + random_below(40);

	while (count-- && build->size < FUZZ_MESSAGE_MAX)
		build->bytes[build->size++] = (unsigned char)random_u64();
}

static void bytes(struct build *build)
{
	for (unsigned int i = 1 + random_below(8); i && build->size > NLMSG_HDRLEN; i--) {
		uint32_t at = NLMSG_HDRLEN + random_below((uint32_t)build->size - NLMSG_HDRLEN);

		build->bytes[at] = (unsigned char)random_u64();
	}
}

static void cut(struct build *build)
{
	build->size = 1 + random_below((uint32_t)build->size);
	build->n_attrs = 0;
}

/* The header's idea of the length; the rest of the datagram may become a message. */
static void wrong_size(struct build *build)
{
	static const uint32_t odd[] = { 0, 4, 15, 16, 17, 19, 20, 21, 24, 0xffff, 0x7fffffff, 0xffffffff };

	if (random_below(2))
		build->header->nlmsg_len = RANDOM_OF(odd);
	else
		build->header->nlmsg_len += random_below(17) - 8;
}

static void unknown_command(struct build *build)
{
	struct genlmsghdr *genl = (void *)(build->bytes + NLMSG_HDRLEN);

	genl->cmd = (uint8_t)random_u64();
}

static void odd_header(struct build *build)
{
	struct genlmsghdr *genl = (void *)(build->bytes + NLMSG_HDRLEN);

	if (random_below(2))
		genl->version = (uint8_t)random_u64();
	else
		genl->reserved = (uint16_t)(1 + random_below(0xffff));
}

/* Another family: one that there is not, or what netlink keeps to itself. */
static void another_family(struct build *build)
{
	build->header->nlmsg_type = random_below(2) ? (uint16_t)random_below(NLMSG_MIN_TYPE) : 0xfffe;
}

static void other_flags(struct build *build)
{
	static const uint16_t flags[] = {
		NLM_F_DUMP, NLM_F_ROOT, NLM_F_MATCH, NLM_F_ATOMIC, NLM_F_ECHO, NLM_F_MULTI, NLM_F_ACK,
		NLM_F_DUMP_INTR, NLM_F_CAPPED, NLM_F_ACK_TLVS, NLM_F_CREATE, NLM_F_REQUEST,
	};

	if (random_below(4))
		build->header->nlmsg_flags ^= RANDOM_OF(flags);
	else
		build->header->nlmsg_flags = (uint16_t)random_u64();
}

static void (*const ways[])(struct build *build) = {
	wrong_type, wrong_length, wrong_flags, wrong_value, wrong_value, wrong_text, twice, left_out,
	of_another_command, empty_nest, deep_nest, garbage, bytes, cut, unknown_command, odd_header,
	another_family, other_flags,
};

void spoil(struct build *build)
{
	for (unsigned int i = 1 + random_below(3); i && build->size > NLMSG_LENGTH(GENL_HDRLEN); i--)
		RANDOM_OF(ways)(build);
	/* A length that is right makes the rest be looked at. */
	if (build->size >= NLMSG_HDRLEN)
		build->header->nlmsg_len = (uint32_t)build->size;
	if (random_once_in(16) && build->size >= NLMSG_HDRLEN)
		wrong_size(build);
}
