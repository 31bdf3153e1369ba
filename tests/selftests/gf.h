/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small client of the netlink family, for the self tests: it speaks the
 * protocol by itself, shares no code with gpuctl, and can say what gpuctl
 * never would. Nothing here allocates; a struct is as large as it has to be.
 */
#ifndef SELFTESTS_GF_H
#define SELFTESTS_GF_H

#include <linux/genetlink.h>
#include <linux/gpufabric.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GF_NAME 64
#define GF_TEXT 256
#define GF_MESSAGE (256 * 1024)

/**
 * struct gf - a socket of the family
 * @fd: the socket
 * @port: its netlink port
 * @seq: number of the last request
 * @family: id of the family
 * @monitor: id of the multicast group monitor
 * @private: id of the multicast group private
 * @room: bytes that a receive offers, 0 for all there is
 * @by_write: requests are written without naming the receiver, as a program
 *	does that does not know what it writes to
 * @error: how the last request ended, 0 or a negative errno
 * @text: what the extended ack said
 * @bad_attr: type of the attribute that it named, 0 when none
 * @miss: type of the attribute that it missed, 0 when none
 * @interrupted: a part of the last dump said that something changed meanwhile
 * @parts: messages in the last dump
 * @receives: receives that the last dump took
 * @reply: first message of the answer
 * @in: what was received
 */
struct gf {
	int fd;
	uint32_t port;
	uint32_t seq;
	uint16_t family;
	uint32_t monitor;
	uint32_t private;
	size_t room;
	bool by_write;
	int error;
	char text[GF_TEXT];
	unsigned int bad_attr;
	unsigned int miss;
	bool interrupted;
	unsigned int parts;
	unsigned int receives;
	union {
		struct nlmsghdr header;
		unsigned char bytes[GF_MESSAGE];
	} reply;
	union {
		struct nlmsghdr header;
		unsigned char bytes[GF_MESSAGE];
	} in;
	size_t in_length;
	size_t in_at;
};

/* A request while it is being written. */
struct gf_request {
	union {
		struct nlmsghdr header;
		unsigned char bytes[GF_MESSAGE];
	} out;
};

int gf_open(struct gf *gf);
int gf_open_small(struct gf *gf, size_t room);
void gf_close(struct gf *gf);
int gf_join(struct gf *gf, uint32_t group);

void gf_begin(struct gf_request *request, const struct gf *gf, uint8_t command, uint16_t flags);
void gf_put(struct gf_request *request, uint16_t type, const void *data, size_t size);
void gf_put_u32(struct gf_request *request, uint16_t type, uint32_t value);
void gf_put_u64(struct gf_request *request, uint16_t type, uint64_t value);
void gf_put_text(struct gf_request *request, uint16_t type, const char *text);
size_t gf_nest(struct gf_request *request, uint16_t type);
void gf_nest_end(struct gf_request *request, size_t nest);

int gf_send(struct gf *gf, struct gf_request *request);
int gf_talk(struct gf *gf, struct gf_request *request);
int gf_receive(struct gf *gf, struct nlmsghdr **message, int timeout_ms);

/* Called for each part of a dump; a value other than 0 ends the dump. */
typedef int (*gf_part_fn)(const struct nlmsghdr *part, void *context);
int gf_dump(struct gf *gf, struct gf_request *request, gf_part_fn part, void *context);

/* Attributes: NULL when there is none. */
const struct nlattr *gf_first(const struct nlmsghdr *message, size_t *left);
const struct nlattr *gf_attr(const struct nlmsghdr *message, unsigned int type);
const struct nlattr *gf_sub(const struct nlattr *nest, unsigned int type);
const struct nlattr *gf_next_sub(const struct nlattr *nest, const struct nlattr *after, unsigned int type);
uint32_t gf_u32(const struct nlattr *attr);
uint64_t gf_u64(const struct nlattr *attr);
const char *gf_text(const struct nlattr *attr);
size_t gf_size(const struct nlattr *attr);

struct gf_function {
	char address[GF_NAME];
	char driver[GF_NAME];
	uint32_t vendor, device, subsystem_vendor, subsystem_device, class;
};

struct gf_operation {
	uint64_t id, deadline;
	uint32_t kind;
	uint32_t slots;
	bool done;
	int error;
	char text[GF_TEXT];
	char composition[GF_NAME];
	uint64_t phase_us[GPUFABRIC_PHASE_TOTAL + 1];
	bool has_uid, has_pid, has_command, has_reason;
	uint32_t uid, pid;
	char command[GF_NAME];
	char reason[GF_TEXT];
};

/* A BAR that a slot's card had, or a bridge of it. */
struct bar_need {
	uint64_t size, align;
	uint32_t sizes, flags, depth;
};

#define GF_NEEDS 48

/* The four things that the module says of a slot, and the one word that follows. */
struct gf_condition {
	uint32_t occupancy, power, activity, health, cause;
};

enum gf_state {
	GF_STATE_EMPTY,
	GF_STATE_OFF,
	GF_STATE_ATTACHING,
	GF_STATE_ATTACHED,
	GF_STATE_READY,
	GF_STATE_DRAINING,
	GF_STATE_DETACHING,
	GF_STATE_FAULT,
	GF_STATE_STUCK,
	GF_STATE_LOST,
	GF_STATE_OTHER
};

struct gf_slot {
	uint32_t id, switch_id, generation, state, cause, flags, backend;
	struct gf_condition condition;
	char name[GF_NAME];
	char address[GF_NAME];
	char text[GF_TEXT];
	char slot_driver[GF_NAME];
	uint32_t identity, vendor, device, subsystem_vendor, subsystem_device, class;
	uint64_t serial;
	uint32_t speed, width;
	uint32_t inventory, function_count;
	/* Objects of their own, see get_parts(); as many as there is room for. */
	unsigned int n_functions;
	struct gf_function functions[8];
	char composition[GF_NAME];
	uint32_t contents;
	char former[GF_NAME];
	bool has_former_annotation;
	bool has_operation, has_last;
	struct gf_operation operation, last;
	uint32_t attaches, detaches, faults, flaps, degradations;
	uint64_t since, drain_deadline;
	unsigned int n_need;
	struct bar_need need[GF_NEEDS];
};

/* A slot of a composition, which has that generation. */
struct gf_member {
	uint32_t composition, id, generation;
	char name[GF_NAME];
};

struct gf_composition {
	uint32_t id, owner, state, flags, generation;
	char name[GF_NAME];
	unsigned int annotation_len;
	char annotation[GPUFABRIC_ANNOTATION_MAX + 1];
	uint64_t created;
	bool has_operation;
	unsigned int n_members;
	struct gf_member members[GPUFABRIC_MEMBERS_MAX];
};

struct gf_event {
	uint64_t sequence, time;
	uint32_t kind;
	bool has_previous, has_switch, has_slot, has_composition, has_operation;
	uint32_t previous, switch_id;
	struct gf_slot slot;
	struct gf_composition composition;
	struct gf_operation operation;
};

struct gf_history {
	uint32_t slot_id, state, cause;
	char name[GF_NAME];
	uint64_t sequence, time;
	struct gf_operation operation;
};

void gf_read_operation(const struct nlattr *nest, struct gf_operation *operation);
void gf_read_slot(const struct nlattr *nest, struct gf_slot *slot);
/* One part of a slot; another one's, and one too many, is passed over. */
void gf_read_function(const struct nlattr *nest, struct gf_slot *slot);
void gf_read_need(const struct nlattr *nest, struct gf_slot *slot);
void gf_read_composition(const struct nlattr *nest, struct gf_composition *composition);
void gf_read_member(const struct nlattr *nest, struct gf_member *member);
void gf_read_event(const struct nlmsghdr *message, struct gf_event *event);
void gf_read_history(const struct nlattr *nest, struct gf_history *history);

const char *gf_state_name(uint32_t state);
const char *gf_cause_name(uint32_t cause);
const char *gf_kind_name(uint32_t kind);
const char *gf_event_name(uint32_t kind);
const char *gf_composition_state_name(uint32_t state);
int gf_state_of(const char *name);

#endif /* SELFTESTS_GF_H */
