// SPDX-License-Identifier: GPL-2.0-only
/*
 * The test client for shell scripts.
 *
 *   gfclient [OPTIONS] COMMAND [ARGS]
 *
 *   status                     module, counts, sequence number
 *   list [SLOT...]             NAME STATE CAUSE FLAGS GENERATION COMPOSITION ADDRESS DRIVER
 *   state SLOT                 the state alone
 *   need SLOT                  what its card had: SIZE align SIZE sizes MASK flags FLAGS depth DEPTH
 *   text SLOT                  the text that goes with it
 *   compositions [NAME...]     NAME STATE FLAGS MEMBERS
 *   history [SLOT]             SLOT STATE CAUSE KIND ERROR TEXT
 *   attach SLOT...             and wait for its end
 *   drain SLOT...              NAME GENERATION, then holds the socket until stdin ends
 *   detach SLOT[=GENERATION]...    drains by itself where no generation is given
 *   undrain SLOT...   clear SLOT...
 *   compose NAME SLOT...       resize NAME +SLOT... -SLOT...
 *   release NAME               drains by itself
 *   wait SLOT STATE[,STATE]    until the slot is in one of these states
 *   wait-composition NAME STATE    "gone" for none
 *   cycle COUNT SLOT           attach and detach it so often
 *   churn COUNT SLOT SLOT BAD  all sorts of requests; a power-on of BAD always fails
 *   events COUNT|end           one line each; "end": until stdin ends
 *   crowd ROUNDS               each line of stdin is a worker, all at once: see crowd.h
 *   overhear                   whatever comes to any group of generic netlink, the module loaded or
 *                              not, until stdin ends: TYPE LENGTH
 *
 *   -t MS timeout   -d MS driver timeout   -D DRIVER chosen   -r REASON   -e V:D[:SV:SD] expected
 *   -c check only   -f force   -h harm   -k keep   -b bind to the socket   -n do not wait
 *   -o one slot after the other   -a BYTES annotation
 *
 * Exit status: 0; 1 refused or failed, and stderr has "ERRNO: text"; 2 usage.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ask.h"
#include "churn.h"
#include "crowd.h"

#define SLOTS_MAX 600

static struct gf gf, watch;
static struct gf_slot slot;
static struct gf_composition composition;
static struct gf_history history;
static struct gf_event event;
static struct ask_slot slots[SLOTS_MAX];
static unsigned int n_slots;
static struct ask options;
/* What -c, -f, -k and -b ask for, of which each command knows some. */
static bool only_check, by_force, harmful, keep, bound;
static uint32_t expect[4];
static unsigned int expects;
static bool no_wait, in_order;

static int complain(int err, const char *text)
{
	const char *name = strerrorname_np(-err);

	fprintf(stderr, "%s: %s\n", name ? name : "?", text && text[0] ? text : strerror(-err));
	return 1;
}

static int usage(void)
{
	fputs("usage: see the first lines of gfclient.c\n", stderr);
	return 2;
}

static const char *or_dash(const char *text)
{
	return text[0] ? text : "-";
}

static void print_flags(uint32_t flags)
{
	static const char *const names[] = { "quarantined", "link-degraded", "no-driver",
					       "unmanaged", "chassis" };
	const char *comma = "";

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!(flags & 1U << i))
			continue;
		printf("%s%s", comma, names[i]);
		comma = ",";
	}
	if (!flags)
		putchar('-');
}

/* The GPU, or what is there instead; a card's bridges come before it. */
static const struct gf_function *gpu_of(const struct gf_slot *s)
{
	unsigned int i;

	for (i = 0; i < s->n_functions; i++) {
		if (s->functions[i].class >> 16 == 0x03 || s->functions[i].class >> 16 == 0x12)
			return &s->functions[i];
	}
	return s->n_functions ? &s->functions[0] : NULL;
}

static void print_slot(const struct gf_slot *s)
{
	const struct gf_function *function = gpu_of(s);

	printf("%s %s %s ", s->name, gf_state_name(s->state), gf_cause_name(s->cause));
	print_flags(s->flags);
	printf(" %u %s %s %s\n", s->generation, or_dash(s->composition),
	       function ? function->address : "-", function ? or_dash(function->driver) : "-");
}

static void print_composition(const struct gf_composition *c)
{
	printf("%s %s %s%s", c->name, gf_composition_state_name(c->state),
	       c->flags & GPUFABRIC_COMPOSITION_FLAG_BOUND ? "bound" : "-",
	       c->flags & GPUFABRIC_COMPOSITION_FLAG_ORPHANED ? ",orphaned" : "");
	for (unsigned int i = 0; i < c->n_members; i++)
		printf("%c%s", i ? ',' : ' ', c->members[i].name);
	putchar('\n');
}

static void print_event(const struct gf_event *e)
{
	printf("%llu %s", (unsigned long long)e->sequence, gf_event_name(e->kind));
	if (e->has_slot)
		printf(" %s %s %s", e->slot.name, gf_state_name(e->previous), gf_state_name(e->slot.state));
	if (e->has_composition)
		printf(" %s %s", e->composition.name, gf_composition_state_name(e->composition.state));
	if (e->has_operation)
		printf(" %llu %s %d %s", (unsigned long long)e->operation.id, gf_kind_name(e->operation.kind),
		       e->operation.error, e->operation.text);
	putchar('\n');
	fflush(stdout);
}

static char (*names)[GF_NAME];
static unsigned int n_names;

static int push_name(const char *name)
{
	names = realloc(names, (n_names + 1) * sizeof(*names));
	return names ? strcpy(names[n_names++], name), 0 : -ENOMEM;
}

static int part_slot(const struct nlmsghdr *part, void *context)
{
	(void)context;
	gf_read_slot(gf_attr(part, GPUFABRIC_A_SLOT), &slot);
	return push_name(slot.name);
}

static int part_composition(const struct nlmsghdr *part, void *context)
{
	(void)context;
	gf_read_composition(gf_attr(part, GPUFABRIC_A_COMPOSITION), &composition);
	return push_name(composition.name);
}

static int part_history(const struct nlmsghdr *part, void *context)
{
	(void)context;
	gf_read_history(gf_attr(part, GPUFABRIC_A_HISTORY), &history);
	printf("%s %s %s %s %d %s\n", history.name, gf_state_name(history.state),
	       gf_cause_name(history.cause), gf_kind_name(history.operation.kind), history.operation.error,
	       or_dash(history.operation.text));
	return 0;
}

static int dump(uint8_t command, const char *name, gf_part_fn part)
{
	static struct gf_request request;
	int err;

	gf_begin(&request, &gf, command, 0);
	if (name)
		gf_put_text(&request, GPUFABRIC_A_NAME, name);
	err = gf_dump(&gf, &request, part, NULL);
	return err ? complain(err, gf.text) : 0;
}

static int cmd_status(char **args)
{
	static struct gf_request request;
	const struct nlattr *status;
	int err;

	(void)args;
	gf_begin(&request, &gf, GPUFABRIC_CMD_STATUS_GET, 0);
	err = gf_talk(&gf, &request);
	if (err)
		return complain(err, gf.text);
	status = gf_attr(&gf.reply.header, GPUFABRIC_A_STATUS);
	printf("version %s switches %u slots %u compositions %u operations %u history %u sequence %llu instance %016llx\n",
	       gf_text(gf_sub(status, GPUFABRIC_A_STATUS_VERSION)),
	       gf_u32(gf_sub(status, GPUFABRIC_A_STATUS_SWITCHES)),
	       gf_u32(gf_sub(status, GPUFABRIC_A_STATUS_SLOTS)),
	       gf_u32(gf_sub(status, GPUFABRIC_A_STATUS_COMPOSITIONS)),
	       gf_u32(gf_sub(status, GPUFABRIC_A_STATUS_OPERATIONS)),
	       gf_u32(gf_sub(status, GPUFABRIC_A_STATUS_HISTORY)),
	       (unsigned long long)gf_u64(gf_attr(&gf.reply.header, GPUFABRIC_A_SEQUENCE)),
	       (unsigned long long)gf_u64(gf_attr(&gf.reply.header, GPUFABRIC_A_INSTANCE)));
	return 0;
}

static int cmd_list(char **args)
{
	int rc = *args ? 0 : dump(GPUFABRIC_CMD_SLOT_GET, NULL, part_slot);

	for (unsigned int i = 0; !rc && (*args || i < n_names); i++) {
		int err = get_slot(&gf, *args ? *args : names[i], &slot);

		/* One of all may have gone. */
		if (err == -ENOENT && !*args)
			continue;
		if (err)
			return complain(err, gf.text);
		print_slot(&slot);
		if (*args && !*++args)
			break;
	}
	return rc;
}

/* What its card had when it was last seen. */
static int cmd_need(char **args)
{
	int err = *args ? get_slot(&gf, *args, &slot) : -EINVAL;

	if (err)
		return complain(err, gf.text);
	for (unsigned int i = 0; i < slot.n_need; i++)
		printf("%llu align %llu sizes %x flags %x depth %u\n", (unsigned long long)slot.need[i].size,
		       (unsigned long long)(slot.need[i].align ? slot.need[i].align : slot.need[i].size),
		       slot.need[i].sizes, slot.need[i].flags, slot.need[i].depth);
	return 0;
}

static int one_slot(char **args)
{
	int err;

	if (!args[0] || args[1])
		return usage();
	err = get_slot(&gf, args[0], &slot);
	return err ? complain(err, gf.text) : 0;
}

static int cmd_state(char **args)
{
	int rc = one_slot(args);

	if (!rc)
		puts(gf_state_name(slot.state));
	return rc;
}

static int cmd_text(char **args)
{
	int rc = one_slot(args);

	if (!rc)
		puts(slot.text);
	return rc;
}

static int cmd_compositions(char **args)
{
	int rc = *args ? 0 : dump(GPUFABRIC_CMD_COMPOSITION_GET, NULL, part_composition);

	for (unsigned int i = 0; i < n_names; i++) { /* one may go meanwhile */
		if (!get_composition(&gf, names[i], &composition))
			print_composition(&composition);
	}
	for (; *args; args++) {
		int err = get_composition(&gf, *args, &composition);

		if (err)
			return complain(err, gf.text);
		print_composition(&composition);
	}
	return rc;
}

static int cmd_history(char **args)
{
	return dump(GPUFABRIC_CMD_HISTORY_GET, *args, part_history);
}

static int add_slot(char *name, bool remove)
{
	char *generation = strchr(name, '=');
	struct ask_slot *to = &slots[n_slots];

	if (n_slots == SLOTS_MAX)
		return usage();
	n_slots++;
	to->name = name;
	to->remove = remove;
	to->order = in_order && !remove ? n_slots : 0;
	to->expects = expects;
	memcpy(to->expect, expect, sizeof(expect));
	if (generation) {
		*generation = '\0';
		to->has_generation = true;
		to->generation = (uint32_t)strtoul(generation + 1, NULL, 10);
	}
	return 0;
}

static int add_slots(char **args, bool remove)
{
	int rc = 0;

	for (; *args && !rc; args++)
		rc = add_slot(*args, remove);
	return rc;
}

/* Drain what is attached and was given without a generation. */
static int drain_needed(void)
{
	for (unsigned int i = 0; i < n_slots; i++) {
		int err = get_slot(&gf, slots[i].name, &slot);

		if (err)
			return complain(err, gf.text);
		if (slots[i].has_generation ||
		    (slot.state != GF_STATE_READY && slot.state != GF_STATE_ATTACHED))
			continue;
		err = ask_drain(&gf, slots[i].name, options.timeout, &slots[i].generation);
		if (err)
			return complain(err, gf.text);
		slots[i].has_generation = true;
	}
	return 0;
}

static uint32_t flags_of(uint8_t command)
{
	/* The same bit for all commands. */
	uint32_t flags = only_check ? GPUFABRIC_ATTACH_FLAG_CHECK : 0;

	if (by_force && command == GPUFABRIC_CMD_ATTACH)
		flags |= GPUFABRIC_ATTACH_FLAG_FORCE;
	if (by_force && command == GPUFABRIC_CMD_DETACH)
		flags |= GPUFABRIC_DETACH_FLAG_FORCE;
	if (harmful && command == GPUFABRIC_CMD_ATTACH)
		flags |= GPUFABRIC_ATTACH_FLAG_HARM;
	if (bound && command == GPUFABRIC_CMD_COMPOSE)
		flags |= GPUFABRIC_COMPOSE_FLAG_BIND;
	if (keep && command == GPUFABRIC_CMD_RELEASE)
		flags |= GPUFABRIC_RELEASE_FLAG_KEEP;
	return flags;
}

/* Send the request of the command line and see it through. */
static int run(uint8_t command, const char *name)
{
	struct gf_operation end;
	int err;

	options.command = command;
	options.name = name;
	options.slots = slots;
	options.n_slots = n_slots;
	options.flags = flags_of(command);
	if (no_wait || only_check) {
		err = ask(&gf, &options);
		return err ? complain(err, gf.text) : 0;
	}
	err = ask_and_wait(&gf, &watch, &options, &end);
	return err ? complain(err, gf.error ? gf.text : end.text) : 0;
}

static int cmd_attach(char **args)
{
	return add_slots(args, false) ?: run(GPUFABRIC_CMD_ATTACH, NULL);
}

static int cmd_detach(char **args)
{
	return add_slots(args, false) ?: drain_needed() ?: run(GPUFABRIC_CMD_DETACH, NULL);
}

static int at_once(uint8_t command, char **args)
{
	int rc = add_slots(args, false);

	no_wait = true;
	return rc ?: run(command, NULL);
}

static int cmd_undrain(char **args)
{
	return at_once(GPUFABRIC_CMD_DRAIN_ABORT, args);
}

static int cmd_clear(char **args)
{
	return at_once(GPUFABRIC_CMD_CLEAR, args);
}

static void wait_for_end_of_input(void)
{
	char rest[64];

	while (read(STDIN_FILENO, rest, sizeof(rest)) > 0)
		;
}

static int cmd_drain(char **args)
{
	int rc = at_once(GPUFABRIC_CMD_DRAIN, args);

	if (rc)
		return rc;
	for (unsigned int i = 0; i < n_slots; i++) {
		rc = get_slot(&gf, slots[i].name, &slot);
		if (!rc)
			printf("%s %u\n", slot.name, slot.generation);
	}
	fflush(stdout);
	wait_for_end_of_input();
	return 0;
}

static int cmd_compose(char **args)
{
	if (!args[0])
		return usage();
	return add_slots(args + 1, false) ?: run(GPUFABRIC_CMD_COMPOSE, args[0]);
}

static int cmd_resize(char **args)
{
	const char *name = args[0];
	int rc;

	for (args += !!name; *args; args++) {
		if (**args != '+' && **args != '-')
			return usage();
		rc = add_slot(*args + 1, **args == '-');
		if (rc)
			return rc;
	}
	/* Only what goes has to be drained; the rest is not attached or not ours. */
	for (unsigned int i = 0; i < n_slots; i++) {
		if (!slots[i].remove || slots[i].has_generation ||
		    ask_drain(&gf, slots[i].name, options.timeout, &slots[i].generation))
			continue;
		slots[i].has_generation = true;
	}
	return run(GPUFABRIC_CMD_RESIZE, name);
}

static int cmd_release(char **args)
{
	int err;

	if (!args[0])
		return usage();
	if (!keep) {
		err = get_composition(&gf, args[0], &composition);
		if (err)
			return complain(err, gf.text);
		/* Slots that are gone with their switch can be left out. */
		for (unsigned int i = 0; i < composition.n_members; i++) {
			if (!get_slot(&gf, composition.members[i].name, &slot))
				add_slot(composition.members[i].name, false);
		}
		if (drain_needed())
			return 1;
	}
	return run(GPUFABRIC_CMD_RELEASE, args[0]);
}

static int cmd_cycle(char **args)
{
	long count = args[0] && args[1] ? atol(args[0]) : 0;
	int err = 0;

	if (count < 1)
		return usage();
	while (!err && count--)
		err = churn_cycle(&gf, &watch, args[1]);
	return err ? complain(err, gf.text) : 0;
}

static int cmd_churn(char **args)
{
	static struct gf_request request;
	long count = args[0] && args[1] && args[2] && args[3] ? atol(args[0]) : 0;
	int err = 0;

	if (count < 1)
		return usage();
	while (!err && count--)
		err = churn(&gf, &watch, args[1], args[2], args[3]);
	/* Long when there were many: once is enough. */
	gf_begin(&request, &gf, GPUFABRIC_CMD_HISTORY_GET, 0);
	if (!err)
		err = gf_dump(&gf, &request, NULL, NULL);
	return err ? complain(err, gf.text) : 0;
}

static bool is_one_of(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = list; (at = strstr(at, name)); at += length) {
		if ((at == list || at[-1] == ',') && (!at[length] || at[length] == ','))
			return true;
	}
	return false;
}

static int cmd_wait(char **args)
{
	int err;

	if (!args[0] || !args[1])
		return usage();
	err = get_slot(&gf, args[0], &slot);
	while (!err && !is_one_of(args[1], gf_state_name(slot.state))) {
		err = watch_next(&watch, &event, ASK_PATIENCE_MS);
		/* Events may be older than the answer. */
		if (!err && event.has_slot && !strcmp(event.slot.name, args[0]) &&
		    event.slot.generation >= slot.generation)
			slot = event.slot;
	}
	return err ? complain(err, gf_state_name(slot.state)) : 0;
}

static int cmd_wait_composition(char **args)
{
	bool gone;
	int err;

	if (!args[0] || !args[1])
		return usage();
	for (;;) {
		err = get_composition(&gf, args[0], &composition);
		if (err && err != -ENOENT)
			return complain(err, gf.text);
		gone = err == -ENOENT;
		if (!strcmp(args[1], gone ? "gone" : gf_composition_state_name(composition.state)))
			return 0;
		do {
			err = watch_next(&watch, &event, ASK_PATIENCE_MS);
			if (err)
				return complain(err, gone ? "gone" : gf_composition_state_name(composition.state));
		} while (!event.has_composition);
	}
}

static int cmd_events(char **args)
{
	struct pollfd fds[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN }, { .fd = watch.fd, .events = POLLIN },
	};
	bool until_end = args[0] && !strcmp(args[0], "end");
	long count = args[0] && !until_end ? atol(args[0]) : 0;
	int err = 0;

	/* Says that from here on nothing is missed. */
	printf("%llu start\n", (unsigned long long)get_sequence(&gf));
	fflush(stdout);
	while (!err && (until_end || count--)) {
		if (until_end && watch.in_at >= watch.in_length) {
			if (poll(fds, 2, -1) < 0)
				return complain(-errno, NULL);
			if (!(fds[1].revents & POLLIN))
				break;
		}
		err = watch_next(&watch, &event, ASK_PATIENCE_MS);
		if (!err)
			print_event(&event);
	}
	return err ? complain(err, NULL) : 0;
}

/* All that came since is read before the end, as it is queued while it is sent. */
static int cmd_overhear(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	union {
		struct nlmsghdr header;
		char bytes[65536];
	} message;
	ssize_t length;

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)))
		return complain(-errno, NULL);
	for (int group = 1; group <= 64; group++)
		setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group));
	puts("start");
	fflush(stdout);
	wait_for_end_of_input();
	while ((length = recv(fd, &message, sizeof(message), MSG_DONTWAIT)) > 0) {
		/* Families come and go, and that is announced to everybody. */
		if (message.header.nlmsg_type != GENL_ID_CTRL)
			printf("%u %zd\n", message.header.nlmsg_type, length);
	}
	return length < 0 && errno != EAGAIN ? complain(-errno, NULL) : 0;
}

static const struct {
	const char *name;
	int (*run)(char **args);
} commands[] = {
	{ "status", cmd_status },
	{ "list", cmd_list },
	{ "state", cmd_state },
	{ "text", cmd_text },
	{ "need", cmd_need },
	{ "compositions", cmd_compositions },
	{ "history", cmd_history },
	{ "attach", cmd_attach },
	{ "detach", cmd_detach },
	{ "drain", cmd_drain },
	{ "undrain", cmd_undrain },
	{ "clear", cmd_clear },
	{ "compose", cmd_compose },
	{ "resize", cmd_resize },
	{ "release", cmd_release },
	{ "cycle", cmd_cycle },
	{ "churn", cmd_churn },
	{ "wait", cmd_wait },
	{ "wait-composition", cmd_wait_composition },
	{ "events", cmd_events },
};

static int read_options(int argc, char **argv)
{
	int opt, n;

	while ((opt = getopt(argc, argv, "+t:d:D:r:e:a:cfhkbno")) != -1) {
		switch (opt) {
		case 't':
			options.timeout = (uint32_t)atoi(optarg);
			break;
		case 'd':
			options.driver_timeout = (uint32_t)atoi(optarg);
			break;
		case 'D':
			options.driver = optarg;
			break;
		case 'r':
			options.reason = optarg;
			break;
		case 'e':
			n = sscanf(optarg, "%x:%x:%x:%x", &expect[0], &expect[1], &expect[2], &expect[3]);
			expects = n > 0 ? (1U << n) - 1 : 0;
			break;
		case 'a':
			options.annotation = optarg;
			break;
		case 'c':
			only_check = true;
			break;
		case 'f':
			by_force = true;
			break;
		case 'h':
			harmful = true;
			break;
		case 'k':
			keep = true;
			break;
		case 'b':
			bound = true;
			break;
		case 'o':
			in_order = true;
			break;
		case 'n':
			no_wait = true;
			break;
		default:
			return usage();
		}
	}
	return 0;
}

/* What an earlier command of the same process has asked for. */
static void forget(void)
{
	options = (struct ask){ 0 };
	memset(slots, 0, n_slots * sizeof(slots[0]));
	n_slots = 0;
	expects = 0;
	only_check = by_force = harmful = keep = bound = false;
	no_wait = in_order = false;
	optind = 0;
}

static int obey(int argc, char **argv)
{
	int err;

	if (read_options(argc, argv) || optind == argc)
		return usage();
	if (!strcmp(argv[optind], "overhear"))
		return cmd_overhear();
	err = gf_open(&gf);
	if (!err)
		err = watch_open(&watch);
	if (err)
		return complain(err, err == -ENOENT ? "the module is not loaded" : NULL);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		int rc;

		if (strcmp(commands[i].name, argv[optind]))
			continue;
		rc = commands[i].run(argv + optind + 1);
		fflush(stdout);
		/* A composition that is bound lives as long as this does. */
		if (!rc && bound)
			wait_for_end_of_input();
		return rc;
	}
	return usage();
}

/* One of several commands of a process: nothing is left of it. */
static int obey_once(int argc, char **argv)
{
	int rc;

	forget();
	rc = obey(argc, argv);
	gf_close(&watch);
	gf_close(&gf);
	return rc;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "crowd"))
		return crowd((unsigned int)atoi(argv[2]), obey_once);
	return obey(argc, argv);
}
