// SPDX-License-Identifier: GPL-2.0-only
/*
 * The protocol by its spec alone: every name here is one that the kernel's
 * generator made from the YAML file. Read, be refused with the reason, compose,
 * follow the events to the end, drain and release.
 *
 *   root port -- upstream -- sim0-0 ... sim0-3   an h100-80 each, off
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <ynl.h>

#include "gpufabric-user.h"
#include "tap.h"

/* A guard, not an expectation. */
#define PATIENCE_MS 30000

static struct ynl_sock *ys, *events;

/* The last request was refused with this errno and text. */
static void refused(void *answer, int error, const char *text, const char *desc)
{
	ok(!answer, "%s: refused", desc);
	is_int((int)ys->err.code, error, desc);
	if (!ok(strstr(ys->err.msg, text), "%s: says why", desc))
		printf("#   is       \"%s\"\n#   expected \"%s\"\n", ys->err.msg, text);
}

/* Members of a request belong to it; the generation comes with a drain's answer. */
static struct gpufabric_named_member *members(const char *const *names, unsigned int n,
					const struct gpufabric_named_member *drained)
{
	struct gpufabric_named_member *list = calloc(n, sizeof(*list));
	unsigned int i;

	for (i = 0; i < n; i++) {
		list[i].slot_name = strdup(names[i]);
		list[i]._present.slot_name_len = strlen(names[i]);
		if (!drained)
			continue;
		list[i].generation = drained[i].generation;
		list[i]._present.generation = 1;
	}
	return list;
}

static enum gpufabric_occupancy in_slot(const char *name)
{
	struct gpufabric_slot_get_req *request = gpufabric_slot_get_req_alloc();
	struct gpufabric_slot_get_rsp *answer;
	enum gpufabric_occupancy found = (enum gpufabric_occupancy)-1;

	gpufabric_slot_get_req_set_name(request, name);
	answer = gpufabric_slot_get(ys, request);
	gpufabric_slot_get_req_free(request);
	if (!answer)
		return found;
	found = answer->slot.condition.occupancy;
	gpufabric_slot_get_rsp_free(answer);
	return found;
}

/* Is this event the end of an operation, and with what? */
static bool is_end(const struct gpufabric_event_rsp *event, __u64 id, int *error)
{
	if (!event->_present.operation || event->operation.id != id || !event->operation._present.error)
		return false;
	*error = event->operation.error;
	return true;
}

/* Wait for the end of an operation; its error, or -ETIME. Counts the events. */
static int wait_for_end(__u64 id, unsigned int *count)
{
	struct pollfd fd = { .fd = ynl_socket_get_fd(events), .events = POLLIN };
	int error = -ETIME;
	bool ended = false;

	while (!ended && poll(&fd, 1, PATIENCE_MS) == 1) {
		if (ynl_ntf_check(events)) {
			printf("# %s\n", events->err.msg);
			return -EIO;
		}
		while (ynl_has_ntf(events)) {
			struct ynl_ntf_base_type *base = ynl_ntf_dequeue(events);
			struct gpufabric_event *event = (struct gpufabric_event *)base;

			if (base->cmd == GPUFABRIC_CMD_EVENT) {
				++*count;
				ended = is_end(&event->obj, id, &error) || ended;
			}
			ynl_ntf_free(base);
		}
	}
	return error;
}

static void test_reads(void)
{
	struct gpufabric_status_get_rsp *status = gpufabric_status_get(ys);
	struct gpufabric_slot_get_list *slots;
	unsigned int n = 0, off = 0;

	if (!ok(status, "status"))
		return;
	ok(status->status._present.version_len, "the module says its version");
	is_int(status->status.switches, 1, "one switch");
	is_int(status->status.slots, 4, "four slots");
	gpufabric_status_get_rsp_free(status);

	slots = gpufabric_slot_get_dump(ys);
	if (!ok(slots, "dump of the slots"))
		return;
	ynl_dump_foreach(slots, entry) {
		n++;
		off += entry->slot.condition.occupancy == GPUFABRIC_OCCUPANCY_UNKNOWN && entry->slot._present.name_len;
	}
	is_int(n, 4, "slots in the dump");
	is_int(off, 4, "all are off");
	gpufabric_slot_get_list_free(slots);
	is_int(in_slot("sim0-2"), GPUFABRIC_OCCUPANCY_UNKNOWN, "one by its name");
}

static void test_refusals(void)
{
	static const char *const twice[] = { "sim0-0", "sim0-0" };
	struct gpufabric_slot_get_req *get = gpufabric_slot_get_req_alloc();
	struct gpufabric_compose_req *compose = gpufabric_compose_req_alloc();
	struct gpufabric_attach_req *attach = gpufabric_attach_req_alloc();

	refused(gpufabric_slot_get(ys, get), EINVAL, "'name what to get, by its id or name'", "a slot without a name");
	gpufabric_slot_get_req_set_name(get, "sim9-9");
	refused(gpufabric_slot_get(ys, get), ENOENT, "'there is none of this id or name'", "an unknown slot");
	gpufabric_slot_get_req_free(get);

	gpufabric_compose_req_set_name(compose, "9");
	refused(gpufabric_compose(ys, compose), EINVAL, "bad attribute: .name",
		"a bad name, and the attribute by its name");
	gpufabric_compose_req_set_name(compose, "ynl");
	__gpufabric_compose_req_set_member(compose, members(twice, 2, NULL), 2);
	refused(gpufabric_compose(ys, compose), EINVAL, "'the slot is named twice, name it once'",
		"a slot that is named twice");
	gpufabric_compose_req_free(compose);

	gpufabric_attach_req_set_timeout(attach, 0);
	refused(gpufabric_attach(ys, attach), ERANGE, "bad attribute: .timeout", "a value outside the policy");
	gpufabric_attach_req_free(attach);
}

static void test_compose(const char *const *names, unsigned int n)
{
	struct gpufabric_compose_req *request = gpufabric_compose_req_alloc();
	struct gpufabric_composition_get_req *get = gpufabric_composition_get_req_alloc();
	struct gpufabric_composition_get_rsp *got;
	struct gpufabric_compose_rsp *answer;
	unsigned int count = 0;

	gpufabric_compose_req_set_name(request, "ynl");
	gpufabric_compose_req_set_annotation(request, "research", 8);
	__gpufabric_compose_req_set_member(request, members(names, n, NULL), n);
	answer = gpufabric_compose(ys, request);
	gpufabric_compose_req_free(request);
	if (!ok(answer, "compose"))
		printf("#   %s\n", ys->err.msg);
	if (answer) {
		ok(answer->_present.operation && answer->operation.id, "the answer has the operation");
		is_int(wait_for_end(answer->operation.id, &count), 0, "its end comes as an event");
		ok(count >= n, "so do the steps to it (%u events)", count);
		gpufabric_compose_rsp_free(answer);
	}
	gpufabric_composition_get_req_set_name(get, "ynl");
	got = gpufabric_composition_get(ys, get);
	gpufabric_composition_get_req_free(get);
	if (!ok(got, "the composition can be read"))
		return;
	ok(got->composition._present.annotation_len == 8 &&
		   !memcmp(got->composition.annotation, "research", 8),
	   "its annotation");
	is_int(got->composition.state, GPUFABRIC_COMPOSITION_STATE_ACTIVE, "its state");
	is_int(got->composition.member_count, n, "its members");
	gpufabric_composition_get_rsp_free(got);
}

static void test_release(const char *const *names, unsigned int n)
{
	struct gpufabric_release_req *release = gpufabric_release_req_alloc();
	struct gpufabric_drain_req *drain = gpufabric_drain_req_alloc();
	struct gpufabric_drain_rsp *drained;
	struct gpufabric_release_rsp *answer;
	unsigned int count = 0;

	gpufabric_release_req_set_name(release, "ynl");
	refused(gpufabric_release(ys, release), ESTALE,
		"'drain the slot first, and give the generation that drain returns'", "release without a drain");
	__gpufabric_drain_req_set_member(drain, members(names, n, NULL), n);
	drained = gpufabric_drain(ys, drain);
	gpufabric_drain_req_free(drain);
	if (ok(drained && drained->n_member == n, "drain answers for each slot")) {
		__gpufabric_release_req_set_member(release, members(names, n, drained->member), n);
		answer = gpufabric_release(ys, release);
		if (!ok(answer, "release with its generations"))
			printf("#   %s\n", ys->err.msg);
		if (answer) {
			is_int(wait_for_end(answer->operation.id, &count), 0, "it ends well");
			gpufabric_release_rsp_free(answer);
		}
	}
	if (drained)
		gpufabric_drain_rsp_free(drained);
	gpufabric_release_req_free(release);
}

int main(void)
{
	static const char *const names[] = { "sim0-0", "sim0-3" };
	struct ynl_error error = { 0 };

	ys = ynl_sock_create(&ynl_gpufabric_family, &error);
	events = ynl_sock_create(&ynl_gpufabric_family, &error);
	if (!ys || !events) {
		printf("Bail out! no family: %s\n", error.msg);
		return 1;
	}
	test_reads();
	test_refusals();
	is_int(ynl_subscribe(events, "monitor"), 0, "listen to the events");
	test_compose(names, 2);
	is_int(in_slot("sim0-3"), GPUFABRIC_OCCUPANCY_GPU, "a member is ready");
	test_release(names, 2);
	is_int(in_slot("sim0-0"), GPUFABRIC_OCCUPANCY_UNKNOWN, "and off again");
	is_int(in_slot("sim0-3"), GPUFABRIC_OCCUPANCY_UNKNOWN, "both are");
	ynl_sock_destroy(events);
	ynl_sock_destroy(ys);
	return tap_done();
}
