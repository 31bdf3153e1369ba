// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may do what, and who may see what.
 *
 *   root port -- upstream -- sim0-0   h100-80, attached by each test
 *                            sim0-1   h100-80, off
 */
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "test.h"

#define NOBODY 65534
#define REFUSAL "changing the fabric needs CAP_SYS_ADMIN, run as root"

static struct gf_history history;
static struct gf_event event;
static struct gf_composition composition;

FIXTURE(permission) {
};

FIXTURE_SETUP(permission)
{
	OPEN_SOCKETS();
	ASSERT_EQ(0, sim_reset(&gf, &watch, 2, "h100-80"));
	ASSERT_EQ(0, ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_ATTACH, .reason = "a secret",
						   SLOTS({ .name = "sim0-0" })), &end));
}

FIXTURE_TEARDOWN(permission)
{
}

static void become_nobody(void)
{
	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		exit(1);
	gf_close(&gf);
	gf_close(&watch);
	if (gf_open(&gf) || watch_open(&watch))
		exit(1);
}

/* Leave exactly these capabilities, effective and permitted. */
static int keep_capabilities(uint64_t mask)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = (uint32_t)mask, .permitted = (uint32_t)mask },
		{ .effective = (uint32_t)(mask >> 32), .permitted = (uint32_t)(mask >> 32) },
	};

	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

static const uint8_t changes[] = {
	GPUFABRIC_CMD_DRAIN, GPUFABRIC_CMD_DRAIN_ABORT, GPUFABRIC_CMD_ATTACH, GPUFABRIC_CMD_DETACH,
	GPUFABRIC_CMD_CLEAR, GPUFABRIC_CMD_COMPOSE, GPUFABRIC_CMD_RESIZE, GPUFABRIC_CMD_RELEASE,
};

#define EXPECT_ALL_REFUSED()								\
	do {										\
		for (size_t i = 0; i < sizeof(changes); i++)				\
			EXPECT_REFUSED(ask(&gf, ASK(.command = changes[i],		\
				.name = changes[i] < GPUFABRIC_CMD_COMPOSE ? NULL : "x", \
				SLOTS({ .name = "sim0-1" }))), EPERM, REFUSAL);		\
		EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_ANNOTATE, .name = "x",	\
				.annotation = "")), EPERM, REFUSAL);			\
	} while (0)

TEST_F(permission, nobody_changes_nothing)
{
	become_nobody();
	EXPECT_ALL_REFUSED();
	EXPECT_STATE("sim0-1", OFF);
	EXPECT_STATE("sim0-0", READY);
	/* Not even a check, which would tell who holds what. */
	EXPECT_REFUSED(ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH, .flags = GPUFABRIC_ATTACH_FLAG_CHECK,
				    SLOTS({ .name = "sim0-1" }))), EPERM, REFUSAL);
}

TEST_F(permission, root_sees_who_and_where)
{
	ASSERT_EQ(0, get_slot(&gf, "sim0-0", &slot));
	ASSERT_EQ(1, slot.n_functions);
	EXPECT_NE(0, slot.serial);
	ASSERT_EQ(0, get_last_history(&gf, "sim0-0", &history));
	EXPECT_EQ((uint32_t)getpid(), history.operation.pid);
	EXPECT_STREQ("permission_test", history.operation.command);
	EXPECT_STREQ("a secret", history.operation.reason);
}

TEST_F(permission, nobody_reads_but_sees_not_who_and_where)
{
	become_nobody();
	ASSERT_EQ(0, get_slot(&gf, "sim0-0", &slot));
	ASSERT_EQ(1, slot.n_functions);
	EXPECT_STREQ("10000:03:00.0", slot.functions[0].address);
	EXPECT_EQ(0, slot.serial);
	ASSERT_EQ(0, get_last_history(&gf, "sim0-0", &history));
	EXPECT_EQ(GPUFABRIC_OPERATION_KIND_ATTACH, history.operation.kind);
	EXPECT_FALSE(history.operation.has_uid);
	EXPECT_FALSE(history.operation.has_pid);
	EXPECT_FALSE(history.operation.has_command);
	EXPECT_FALSE(history.operation.has_reason);
}

/* Nobody can read a serial number in sysfs. */
TEST_F(permission, serial_numbers_are_for_root)
{
	ASSERT_EQ(0, get_slot(&gf, "sim0-0", &slot));
	EXPECT_NE(0, slot.serial);
	become_nobody();
	ASSERT_EQ(0, get_slot(&gf, "sim0-0", &slot));
	EXPECT_EQ(0, slot.serial);
	EXPECT_NE(0, slot.vendor);
}

/* What people said of a composition; that there is one everybody may know. */
static uint64_t told_of(const char *name)
{
	const struct nlattr *nest;
	uint64_t told = 0;

	if (get_composition(&gf, name, &composition))
		return 0;
	nest = gf_attr(&gf.reply.header, GPUFABRIC_A_COMPOSITION);
	for (unsigned int type = 1; type <= GPUFABRIC_A_COMPOSITION_MAX; type++)
		told |= gf_sub(nest, type) ? 1ULL << type : 0;
	return told;
}

TEST_F(permission, whose_a_composition_is_is_for_root)
{
	const uint64_t whose = 1ULL << GPUFABRIC_A_COMPOSITION_ANNOTATION |
			       1ULL << GPUFABRIC_A_COMPOSITION_OWNER;
	uint64_t told;

	ASSERT_EQ(0, ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "c",
						   .annotation = "t", SLOTS({ .name = "sim0-1" })), &end));
	told = told_of("c");
	EXPECT_EQ(whose, told & whose);
	become_nobody();
	EXPECT_EQ(told & ~whose, told_of("c"));
}

TEST_F(permission, whose_data_a_gpu_holds_is_for_root)
{
	ASSERT_EQ(0, ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "c",
						   .annotation = "t", SLOTS({ .name = "sim0-1" })), &end));
	ASSERT_EQ(0, ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_RELEASE, .name = "c",
						   .flags = GPUFABRIC_RELEASE_FLAG_KEEP), &end));
	ASSERT_EQ(0, get_slot(&gf, "sim0-1", &slot));
	EXPECT_TRUE(slot.has_former_annotation);
	become_nobody();
	ASSERT_EQ(0, get_slot(&gf, "sim0-1", &slot));
	EXPECT_FALSE(slot.has_former_annotation);
	EXPECT_STREQ("c", slot.former);
}

static int no_secret(const struct nlmsghdr *part, void *context)
{
	const char *end_of_part = (const char *)part + part->nlmsg_len;

	/* Wherever it may be put one day. */
	if (memmem(part, end_of_part - (const char *)part, "a secret", 8) ||
	    memmem(part, end_of_part - (const char *)part, "permission_test", 15))
		return 1;
	return 0;
}

TEST_F(permission, no_dump_tells_nobody_who)
{
	static const uint8_t reads[] = {
		GPUFABRIC_CMD_SWITCH_GET, GPUFABRIC_CMD_SLOT_GET, GPUFABRIC_CMD_COMPOSITION_GET,
		GPUFABRIC_CMD_HISTORY_GET, GPUFABRIC_CMD_STATS_GET,
	};

	ASSERT_EQ(0, ask_and_wait(&gf, &watch, ASK(.command = GPUFABRIC_CMD_COMPOSE, .name = "c",
						   .reason = "a secret", SLOTS({ .name = "sim0-1" })), &end));
	/* As root it is found, so the search works. */
	gf_begin(&request, &gf, GPUFABRIC_CMD_HISTORY_GET, 0);
	EXPECT_EQ(1, gf_dump(&gf, &request, no_secret, NULL));
	become_nobody();
	for (size_t i = 0; i < sizeof(reads); i++) {
		gf_begin(&request, &gf, reads[i], 0);
		EXPECT_EQ(0, gf_dump(&gf, &request, no_secret, NULL)) {
			TH_LOG("command %u", reads[i]);
		}
	}
}

TEST_F(permission, running_operation_tells_nobody_who)
{
	static struct gf reader;
	pid_t child;
	int status;

	ASSERT_EQ(0, sim_set(0, 1, "driver", "probe-slow 1500"));
	ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH, .reason = "a secret",
				  SLOTS({ .name = "sim0-1" }))));
	EXPECT_EQ(0, get_slot(&gf, "sim0-1", &slot));
	EXPECT_TRUE(slot.has_operation);
	EXPECT_TRUE(slot.operation.has_pid);
	EXPECT_STREQ("a secret", slot.operation.reason);
	child = fork();
	if (!child) {
		if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY) || gf_open(&reader) ||
		    get_slot(&reader, "sim0-1", &slot))
			_exit(1);
		_exit(!slot.has_operation || slot.operation.has_uid || slot.operation.has_pid ||
		      slot.operation.has_command ||
		      slot.operation.has_reason ? 2 : 0);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_F(permission, events_of_group_monitor_tell_not_who)
{
	ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH, .reason = "a secret",
				  SLOTS({ .name = "sim0-1" }))));
	do {
		ASSERT_EQ(0, watch_next(&watch, &event, ASK_PATIENCE_MS));
		EXPECT_FALSE(event.operation.has_pid);
		EXPECT_FALSE(event.operation.has_command);
		EXPECT_FALSE(event.operation.has_reason);
		EXPECT_FALSE(event.slot.operation.has_pid);
		EXPECT_FALSE(event.slot.operation.has_reason);
	} while (event.kind != GPUFABRIC_EVENT_KIND_OPERATION_DONE);
}

TEST_F(permission, events_of_group_private_tell_who)
{
	static struct gf listener;

	ASSERT_EQ(0, gf_open(&listener));
	ASSERT_EQ(0, gf_join(&listener, listener.private));
	ASSERT_EQ(0, ask(&gf, ASK(.command = GPUFABRIC_CMD_ATTACH, .reason = "a secret",
				  SLOTS({ .name = "sim0-1" }))));
	do {
		ASSERT_EQ(0, watch_next(&listener, &event, ASK_PATIENCE_MS));
	} while (event.kind != GPUFABRIC_EVENT_KIND_OPERATION_DONE);
	EXPECT_EQ((uint32_t)getpid(), event.operation.pid);
	EXPECT_STREQ("permission_test", event.operation.command);
	EXPECT_STREQ("a secret", event.operation.reason);
	gf_close(&listener);
}

TEST_F(permission, nobody_cannot_join_group_private)
{
	become_nobody();
	EXPECT_EQ(-EPERM, gf_join(&gf, gf.private));
	EXPECT_EQ(0, gf_join(&gf, gf.monitor));
}

TEST_F(permission, a_socket_of_root_is_no_use_to_nobody)
{
	ASSERT_EQ(0, setresgid(NOBODY, NOBODY, NOBODY));
	ASSERT_EQ(0, setresuid(NOBODY, NOBODY, NOBODY));
	EXPECT_ALL_REFUSED();
	ASSERT_EQ(0, get_last_history(&gf, "sim0-0", &history));
	EXPECT_FALSE(history.operation.has_pid);
}

TEST_F(permission, a_socket_of_nobody_is_no_use_to_root)
{
	gf_close(&gf);
	ASSERT_EQ(0, setresuid(-1, NOBODY, 0));
	ASSERT_EQ(0, gf_open(&gf));
	ASSERT_EQ(0, setresuid(-1, 0, 0));
	/*
	 * A privileged program that writes to what it was given for its output
	 * must not be made to change the fabric. One that names the kernel as
	 * the receiver knows what it does.
	 */
	gf.by_write = true;
	EXPECT_ALL_REFUSED();
	ASSERT_EQ(0, get_slot(&gf, "sim0-0", &slot));
	EXPECT_EQ(0, slot.serial);
	gf.by_write = false;
	ASSERT_EQ(0, get_slot(&gf, "sim0-0", &slot));
	EXPECT_NE(0, slot.serial);
}

TEST_F(permission, it_is_cap_sys_admin_and_no_other)
{
	gf_close(&gf);
	ASSERT_EQ(0, keep_capabilities(~(1ULL << CAP_SYS_ADMIN) & ((1ULL << (CAP_LAST_CAP + 1)) - 1)));
	ASSERT_EQ(0, gf_open(&gf));
	EXPECT_ALL_REFUSED();
	EXPECT_EQ(-EPERM, gf_join(&gf, gf.private));
}

TEST_F(permission, cap_sys_admin_alone_is_enough)
{
	ASSERT_EQ(0, prctl(PR_SET_KEEPCAPS, 1));
	ASSERT_EQ(0, setresuid(NOBODY, NOBODY, NOBODY));
	ASSERT_EQ(0, keep_capabilities(1ULL << CAP_SYS_ADMIN));
	gf_close(&gf);
	gf_close(&watch);
	ASSERT_EQ(0, gf_open(&gf));
	ASSERT_EQ(0, watch_open(&watch));
	EXPECT_EQ(0, attach("sim0-1"));
	EXPECT_EQ(0, gf_join(&gf, gf.private));
	ASSERT_EQ(0, get_last_history(&gf, "sim0-1", &history));
	EXPECT_EQ(NOBODY, history.operation.uid);
	EXPECT_EQ((uint32_t)getpid(), history.operation.pid);
}

TEST_F(permission, root_of_a_user_namespace_is_nobody_here)
{
	static struct gf inside;

	ASSERT_EQ(0, unshare(CLONE_NEWUSER));
	ASSERT_EQ(0, gf_open(&inside));
	gf_close(&gf);
	ASSERT_EQ(0, gf_open(&gf));
	EXPECT_ALL_REFUSED();
	EXPECT_EQ(-EPERM, gf_join(&gf, gf.private));
	ASSERT_EQ(0, get_last_history(&gf, "sim0-0", &history));
	EXPECT_FALSE(history.operation.has_pid);
	EXPECT_FALSE(history.operation.has_reason);
	/* Group monitor is for everyone. */
	EXPECT_EQ(0, gf_join(&inside, inside.monitor));
}

TEST_F(permission, another_network_namespace_sees_no_family)
{
	static struct gf inside;
	uint32_t monitor = gf.monitor, private = gf.private;
	uint16_t family = gf.family;

	ASSERT_EQ(0, unshare(CLONE_NEWNET));
	EXPECT_EQ(-ENOENT, gf_open(&inside));
	/* Knowing the numbers does not help. */
	inside.fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	ASSERT_LE(0, inside.fd);
	inside.family = family;
	gf_begin(&request, &inside, GPUFABRIC_CMD_STATUS_GET, 0);
	EXPECT_EQ(-ENOENT, gf_talk(&inside, &request));
	gf_join(&inside, monitor);
	gf_join(&inside, private);
	/* A socket made outside stays where it was made, and events do as well. */
	EXPECT_EQ(0, attach("sim0-1"));
	EXPECT_EQ(-ETIME, watch_next(&inside, &event, 0));
	gf_close(&inside);
}

TEST_F(permission, pids_are_those_of_the_readers_namespace)
{
	int status;
	pid_t child;

	ASSERT_EQ(0, unshare(CLONE_NEWPID));
	fflush(stdout);
	child = fork();
	if (!child) {
		if (gf_open(&gf) || watch_open(&watch) || attach("sim0-1") ||
		    get_last_history(&gf, "sim0-1", &history))
			_exit(1);
		/* In here this process is the first; the one outside has no number. */
		if (getpid() != 1 || history.operation.pid != 1)
			_exit(2);
		if (get_last_history(&gf, "sim0-0", &history) || history.operation.pid)
			_exit(3);
		_exit(0);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, WEXITSTATUS(status));
	ASSERT_EQ(0, get_last_history(&gf, "sim0-1", &history));
	EXPECT_EQ((uint32_t)child, history.operation.pid);
}

MAIN("switches=1 slots=2 latency_ms=5 gpus=*:h100-80:off")
