// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many clients that compose and release at random, cards that come and go, and
 * a module that is unloaded and loaded, all at the same time:
 *
 *   gfstorm [-c CLIENTS] [-n OPERATIONS] [-r RELOADS] [-m MODULE-FILE] [-s SEED]
 *
 * for a simulator with one switch of 16 slots in mode own. OPERATIONS are requests
 * that were accepted. What may be refused, and what may fail, is counted; anything
 * else ends the storm. No slot may have two owners at a time: see storm_owners.c. In
 * the end every slot has to come to rest, powered off, with nobody.
 *
 * Exit status 1: something was not as it has to be.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim.h"
#include "storm.h"

#define MEMBERS_MAX 3
#define MODEL "h100-80"

static struct gf gf, watch;
static struct gf_slot slot;
static uint32_t random_state;
static unsigned int self, my_loads;
static char my_name[GF_NAME];

static uint32_t random_below(uint32_t count)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state % count;
}

static void open_sockets(void)
{
	do {
		gf_close(&gf);
		gf_close(&watch);
		pthread_mutex_lock(&storm->lock);
		while (storm->gone)
			storm_wait(1000);
		my_loads = storm->loads;
		pthread_mutex_unlock(&storm->lock);
	} while ((gf_open(&gf) || watch_open(&watch)) && storm_goes_on());
}

/* Of who holds a composition, which keeps the module from going away. */
#define NEVER_AWAY UINT32_MAX

static bool is_among(int err, const int *expected)
{
	while (*expected && *expected != -err)
		expected++;
	return *expected;
}

/* Answers that there are only while the module goes away, or after it went. */
static bool is_unloading(int err, unsigned int reload_before)
{
	/* The last one is what netlink says to a dump. */
	static const int away[] = { ENOMEM, ENOENT, ENODEV, EPROTONOSUPPORT, 0 };
	bool reloading = reload_before & 1 || storm->reload != reload_before || my_loads != storm->loads;

	return reload_before != NEVER_AWAY && reloading && is_among(err, away);
}

/**
 * enum verdict - what a request came to
 * @ACCEPTED: it is being carried out
 * @REFUSED: as it may be
 * @AWAY: the module went away
 * @WRONG: as it may not be; said already
 */
enum verdict { ACCEPTED, REFUSED, AWAY, WRONG };

/* Count what became of a request; @expected ends with 0. */
static enum verdict judge(const char *what, int err, unsigned int reload_before, const int *expected)
{
	if (!err)
		return ACCEPTED;
	if (is_among(err, expected)) {
		atomic_fetch_add(&storm->refused, 1);
		atomic_fetch_add(&storm->foreign, err == -EMEDIUMTYPE);
		return REFUSED;
	}
	if (is_unloading(err, reload_before)) {
		atomic_fetch_add(&storm->unloading, 1);
		return AWAY;
	}
	storm_problem("%s of client %u: %s: %s", what, self, strerrorname_np(-err), gf.text);
	return WRONG;
}

/* An operation was accepted: who waits for so many of them is told. */
static void count_operation(void)
{
	unsigned long now = atomic_fetch_add(&storm->operations, 1) + 1;

	if (now != storm->next_reload && now != storm->wanted)
		return;
	pthread_mutex_lock(&storm->lock);
	pthread_cond_broadcast(&storm->changed);
	pthread_mutex_unlock(&storm->lock);
}

/* The next event, of which only an operation's end is looked at. */
static int next_event(uint64_t *done, int *result, int timeout_ms)
{
	struct nlmsghdr *message;
	const struct nlattr *operation;
	int err = gf_receive(&watch, &message, timeout_ms);

	*done = 0;
	if (err || message->nlmsg_type != watch.family ||
	    gf_u32(gf_attr(message, GPUFABRIC_A_EVENT)) != GPUFABRIC_EVENT_KIND_OPERATION_DONE)
		return err;
	operation = gf_attr(message, GPUFABRIC_A_OPERATION);
	*done = gf_u64(gf_sub(operation, GPUFABRIC_A_OPERATION_ID));
	*result = (int)gf_u32(gf_sub(operation, GPUFABRIC_A_OPERATION_ERROR));
	return 0;
}

/* How an operation ended. The module stays as long as it runs. */
static int end_of(uint64_t id)
{
	uint64_t done;
	int result, err;

	do {
		err = next_event(&done, &result, 4 * ASK_PATIENCE_MS);
		if (err) {
			storm_problem("client %u: no end of its operation: %s", self, strerror(-err));
			return err;
		}
	} while (done != id);
	return result;
}

/* Who was refused does not ask again before something has happened. */
static void wait_for_events(unsigned int count)
{
	uint64_t done;
	int result;

	while (count-- && !next_event(&done, &result, 100))
		;
}

/*
 * EMEDIUMTYPE: a card that was pulled while the PCI core read its registers has
 * no class that a GPU has, until it is taken off the bus.
 */
static const int busy[] = { EBUSY, ENODEV, EIO, ETIMEDOUT, EMEDIUMTYPE, 0 };
/* A GPU that goes away while it is powered on or awaited, or comes in place of one that was to go. */
static const int lost[] = { ENODEV, EIO, EBUSY, ETIMEDOUT, EMEDIUMTYPE, ESTALE, 0 };

/* Put a card in where there is none; elsewhere pull it now and then. */
static void surprise(void)
{
	unsigned int at = random_below(STORM_SLOTS);
	const char *what = random_below(4) ? "insert" : random_below(4) ? "remove" : "flap";

	if (!sim_set(0, at, "surprise", what))
		atomic_fetch_add(&storm->surprises, 1);
}

/* Of a slot in fault, or lost, or in quarantine; refused elsewhere. */
static void clear(unsigned int at)
{
	static const int expected[] = { EBUSY, ETIMEDOUT, EINVAL, 0 };
	unsigned int reload = storm->reload;

	judge("clear", ask_slot(&gf, GPUFABRIC_CMD_CLEAR, sim_slot(0, at), -1), reload, expected);
}

/* Wait for the end of what was accepted. */
static bool ended_well(const char *what)
{
	int err;

	count_operation();
	err = end_of(ask_id(&gf));
	if (!err)
		return true;
	atomic_fetch_add(&storm->failed, 1);
	if (!is_among(err, lost))
		storm_problem("%s of client %u failed: %s", what, self, strerrorname_np(-err));
	return false;
}

/* What a composition needs before it can be released: its GPUs drained. */
static void drain_mine(struct ask_slot *mine, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		mine[i].has_generation = !ask_drain(&gf, mine[i].name, 0, &mine[i].generation);
}

static void undrain_mine(const struct ask_slot *mine, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		if (mine[i].has_generation)
			ask_slot(&gf, GPUFABRIC_CMD_DRAIN_ABORT, mine[i].name, -1);
	}
}

/*
 * Until it is done: a card may come or go between the drain and this. A module
 * with a composition stays, so nothing is excused here.
 */
static void release(struct ask_slot *mine, unsigned int count)
{
	static const int expected[] = { EBUSY, ESTALE, EMEDIUMTYPE, 0 };
	const struct ask request = {
		.command = GPUFABRIC_CMD_RELEASE, .name = my_name, .slots = mine, .n_slots = count,
	};

	for (unsigned int tries = 0; tries < 1000; tries++) {
		enum verdict verdict;

		drain_mine(mine, count);
		verdict = judge("release", ask(&gf, &request), NEVER_AWAY, expected);
		if (verdict == ACCEPTED) {
			/* A GPU that is lost meanwhile is none that has to be removed. */
			ended_well("release");
			return;
		}
		if (verdict != REFUSED)
			return;
		undrain_mine(mine, count);
		wait_for_events(1 + random_below(4));
	}
	storm_problem("client %u cannot release", self);
}

static void check_that_they_are_mine(const struct ask_slot *mine, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		if (get_slot(&gf, mine[i].name, &slot))
			storm_problem("slot-get of client %u: %s", self, gf.text);
		else if (strcmp(slot.composition, my_name))
			storm_conflict("%s of %s is with %s", mine[i].name, my_name, slot.composition);
	}
}

static void hold(struct ask_slot *mine, const unsigned int *numbers, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		owners_take(self, numbers[i]);
	check_that_they_are_mine(mine, count);
	if (!random_below(4))
		surprise();
	wait_for_events(random_below(32));
	check_that_they_are_mine(mine, count);
	for (unsigned int i = 0; i < count; i++)
		owners_give_back(self, numbers[i]);
}

/* So many different slots. */
static unsigned int pick(struct ask_slot *mine, unsigned int *numbers)
{
	unsigned int count = 1 + random_below(MEMBERS_MAX), first = random_below(STORM_SLOTS);

	memset(mine, 0, sizeof(*mine) * count);
	for (unsigned int i = 0; i < count; i++) {
		numbers[i] = (first + i * 5) % STORM_SLOTS;
		mine[i].name = sim_slot(0, numbers[i]);
	}
	return count;
}

static enum verdict compose(uint32_t flags)
{
	struct ask_slot mine[MEMBERS_MAX];
	unsigned int numbers[MEMBERS_MAX], count = pick(mine, numbers);
	unsigned int reload = storm->reload;
	enum verdict verdict;

	verdict = judge("compose", ask(&gf, &(struct ask){ .command = GPUFABRIC_CMD_COMPOSE, .name = my_name,
							   .slots = mine, .n_slots = count, .flags = flags }),
			reload, busy);
	if (verdict == REFUSED && !random_below(4))
		clear(numbers[0]);
	if (verdict != ACCEPTED || flags & GPUFABRIC_COMPOSE_FLAG_CHECK || !ended_well("compose"))
		return verdict;
	hold(mine, numbers, count);
	release(mine, count);
	return verdict;
}

static enum verdict attach(void)
{
	unsigned int reload = storm->reload;
	const char *name = sim_slot(0, random_below(STORM_SLOTS));
	enum verdict verdict = judge("attach", ask_slot(&gf, GPUFABRIC_CMD_ATTACH, name, -1), reload, busy);

	if (verdict == ACCEPTED)
		ended_well("attach");
	return verdict;
}

/* Refused for the slots of others. Who drains those disturbs them, which is allowed. */
static enum verdict detach(void)
{
	static const int expected[] = { EBUSY, ESTALE, ENODEV, EIO, ETIMEDOUT, EMEDIUMTYPE, 0 };
	unsigned int reload = storm->reload;
	const char *name = sim_slot(0, random_below(STORM_SLOTS));
	uint32_t generation;
	enum verdict verdict = judge("drain", ask_drain(&gf, name, 0, &generation), reload, expected);

	if (verdict != ACCEPTED)
		return verdict;
	reload = storm->reload;
	verdict = judge("detach", ask_slot(&gf, GPUFABRIC_CMD_DETACH, name, generation), reload, expected);
	if (verdict == ACCEPTED)
		ended_well("detach");
	else if (verdict == REFUSED)
		ask_slot(&gf, GPUFABRIC_CMD_DRAIN_ABORT, name, -1);
	return verdict;
}

/* What holds nothing; the module may go away at any moment of it. */
static enum verdict ask_something(void)
{
	static struct gf_request request;
	static const int expected[] = { 0 };
	unsigned int reload = storm->reload;
	int err;

	switch (random_below(3)) {
	case 0:
		return compose(GPUFABRIC_COMPOSE_FLAG_CHECK);
	case 1:
		err = get_slot(&gf, sim_slot(0, random_below(STORM_SLOTS)), &slot);
		break;
	default:
		gf_begin(&request, &gf, GPUFABRIC_CMD_SLOT_GET, 0);
		err = gf_dump(&gf, &request, NULL, NULL);
	}
	return judge("a read", err, reload, expected);
}

/* Whether GPUs may be taken now; leave() says that none are held any more. */
static bool enter(void)
{
	bool may;

	pthread_mutex_lock(&storm->lock);
	may = !storm->ebb;
	storm->live += may;
	pthread_mutex_unlock(&storm->lock);
	return may;
}

static void leave(void)
{
	pthread_mutex_lock(&storm->lock);
	if (!--storm->live)
		pthread_cond_broadcast(&storm->changed);
	pthread_mutex_unlock(&storm->lock);
}

static enum verdict one_turn(void)
{
	enum verdict verdict;

	if (!random_below(16))
		surprise();
	if (!random_below(8) || !enter())
		return ask_something();
	switch (random_below(8)) {
	case 0:
		verdict = attach();
		break;
	case 1:
		verdict = detach();
		break;
	default:
		verdict = compose(0);
	}
	leave();
	return verdict;
}

static void client(unsigned int number, uint32_t seed)
{
	self = number;
	random_state = (seed + number) * 2654435761U | 1;
	snprintf(my_name, sizeof(my_name), "storm-%u", number);
	gf.fd = -1;
	watch.fd = -1;
	open_sockets();
	while (storm_goes_on()) {
		enum verdict verdict = one_turn();

		if (verdict == AWAY || my_loads != storm->loads)
			open_sockets();
		else if (verdict == REFUSED)
			wait_for_events(1 + random_below(64));
		else
			wait_for_events(random_below(8));
	}
	gf_close(&gf);
	gf_close(&watch);
}

static unsigned int join(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) == pid && !status)
		return 0;
	printf("# process %d ended with status %x\n", pid, status);
	return 1;
}

/* Everyone is gone: every slot comes to rest, and nothing is claimed. */
static int come_to_rest(void)
{
	int err = gf_open(&gf) ?: watch_open(&watch);

	if (err || sim_reset(&gf, &watch, STORM_SLOTS, MODEL)) {
		printf("# the fabric does not come to rest\n");
		return 1;
	}
	for (unsigned int i = 0; i < STORM_SLOTS; i++) {
		err = get_slot(&gf, sim_slot(0, i), &slot);
		if (err || slot.state != GF_STATE_OFF || slot.composition[0] || storm->owner[i]) {
			printf("# %s is %s with \"%s\", client %u\n", slot.name, gf_state_name(slot.state),
			       slot.composition, storm->owner[i]);
			return 1;
		}
	}
	return 0;
}

static void say_counts(unsigned int clients)
{
	printf("# count storms.clients %u\n", clients);
	printf("# count storms.operations %lu\n", storm->operations);
	printf("# count storms.refused %lu\n", storm->refused);
	printf("# count storms.refused.foreign %lu\n", storm->foreign);
	printf("# count storms.failed %lu\n", storm->failed);
	printf("# count storms.unloading %lu\n", storm->unloading);
	printf("# count storms.surprises %lu\n", storm->surprises);
	printf("# count storms.reloads.tried %lu\n", storm->tried);
	printf("# count storms.reloads.refused %lu\n", storm->kept);
	printf("# count storms.reloads.succeeded %u\n", storm->loads);
	printf("# count storms.owners.events %lu\n", storm->events);
	printf("# count storms.owners.snapshots %lu\n", storm->snapshots);
	printf("# count storms.owners.missed %lu\n", storm->missed);
	printf("# count storms.owners.conflicts %lu\n", storm->conflicts);
}

static unsigned int blow(unsigned int clients, unsigned int reloads, const char *module, uint32_t seed)
{
	pid_t pids[STORM_CLIENTS_MAX], observer, reloader;
	unsigned int bad = 0;

	fflush(stdout);
	observer = fork();
	if (!observer) {
		observe();
		_exit(0);
	}
	reloader = fork();
	if (!reloader) {
		reload_again_and_again(reloads, module);
		_exit(0);
	}
	for (unsigned int i = 0; i < clients; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			client(i + 1, seed);
			_exit(0);
		}
	}
	for (unsigned int i = 0; i < clients; i++)
		bad += join(pids[i]);
	bad += join(reloader);
	storm->over = true;
	return bad + join(observer);
}

int main(int argc, char **argv)
{
	unsigned int clients = 64, reloads = 0, bad;
	const char *module = NULL;
	uint32_t seed = 1;
	int opt;

	storm_share();
	storm->wanted = 1000;
	while ((opt = getopt(argc, argv, "c:n:r:m:s:")) != -1) {
		switch (opt) {
		case 'c':
			clients = (unsigned int)atoi(optarg);
			break;
		case 'n':
			storm->wanted = strtoul(optarg, NULL, 0);
			break;
		case 'r':
			reloads = (unsigned int)atoi(optarg);
			break;
		case 'm':
			module = optarg;
			break;
		case 's':
			seed = (uint32_t)strtoul(optarg, NULL, 0);
			break;
		default:
			return 2;
		}
	}
	if (!clients || clients > STORM_CLIENTS_MAX || (reloads && !module))
		return 2;
	storm->reloads = reloads;
	bad = blow(clients, reloads, module, seed);
	bad += (unsigned int)come_to_rest();
	bad += storm->problems || storm->conflicts || storm->loads < reloads;
	say_counts(clients);
	return bad ? 1 : 0;
}
