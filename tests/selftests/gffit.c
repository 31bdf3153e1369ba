// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether what gpuctl says of a GPU's room is what the kernel then does.
 * Random switches with windows of random sizes are made in the simulator, and
 * GPUs with BARs of random sizes come to them, one after the other or several
 * at once. Each is attached as a user would; what is refused is forced, to see
 * whether it would have gone well. What the kernel did is read from sysfs: every
 * BAR has to lie in the windows of all bridges above, and no neighbour may have
 * lost one.
 *
 *   host bridge -- root port -- upstream -- 2 to 6 slots, windows of any size
 *
 *   gffit [raw|forced] TOPOLOGIES [SEED [FIRST]]
 *
 * "raw" asks the module without a judge, as any program can, for cards that it has seen:
 * whatever comes of it, no neighbour may be harmed. "forced" does so with force, to see
 * that there is something to be spared from: then it fails when nobody was harmed.
 *
 * Needs both modules, mode=own, and the simulator's debugfs and configfs. Prints
 * "# count" lines; exit status 1 when a GPU was refused wrongly, more than one promise
 * in a hundred was wrong, or a raw request did harm.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ask.h"
#include "judged.h"
#include "sim.h"

#define SLOTS 6
#define SWITCHES "/sys/kernel/config/gpufabric_sim/switches"
#define RANGES 24
#define PREFETCH 0x2000 /* of the flags of a resource */

struct range {
	unsigned long long start, end, flags;
};

/**
 * struct place - a slot of the switch that is being tested
 * @name: its name
 * @bar: size of the large BAR of its GPU
 * @attached: its GPU is attached
 * @seen: the module has seen this GPU
 * @before: its addresses while it was attached last
 * @port: the address of its port
 * @need: what the module has seen of its card
 */
struct place {
	char name[GF_NAME];
	uint64_t bar;
	bool attached;
	bool seen;
	struct range before[RANGES];
	char port[GF_NAME];
	struct bar_need need[GF_NEEDS];
};

static struct gf gf, watch;
static struct gf_slot slot;
static struct place places[SLOTS];
static unsigned int n_places, sw;
static uint64_t seed, start_seed;
static unsigned int topology;
static unsigned int topologies, judged, refused, together, verdicts;
static unsigned int stale, raw, raw_refused, raw_harmed;
static uint32_t raw_flags;
static unsigned int wrong_refusals, wrong_promises, harmed, wrong_verdicts;

static unsigned int random_below(unsigned int limit)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned int)(seed >> 33) % limit;
}

static void die(const char *what, int err)
{
	printf("Bail out! topology %u (seed %llu): %s: %s %s\n", topology, (unsigned long long)start_seed, what,
	       strerror(-err), gf.text);
	exit(2);
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die(path, -errno);
	close(fd);
}

static void put_number(const char *path, unsigned long long number)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", number);
	put(path, text);
}

/* What the kernel did ------------------------------------------------------ */

static void read_ranges(const char *address, const char *up, struct range *ranges)
{
	char path[256];
	FILE *file;
	int i;

	memset(ranges, 0, RANGES * sizeof(*ranges));
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%sresource", address, up);
	file = fopen(path, "r");
	if (!file)
		return;
	for (i = 0; i < RANGES; i++) {
		if (fscanf(file, "%llx %llx %llx", &ranges[i].start, &ranges[i].end, &ranges[i].flags) != 3)
			break;
	}
	fclose(file);
}

static bool lies_in(const struct range *range, const struct range *windows)
{
	/* A bridge's windows come after its two BARs and its ROM. */
	for (int i = 7; i < RANGES; i++) {
		if (windows[i].flags && windows[i].start && range->start >= windows[i].start &&
		    range->end <= windows[i].end)
			return true;
	}
	return false;
}

/* Every BAR of the GPU in a slot lies in the windows of port, switch and root port. */
static bool is_well(const struct place *place, struct range *bars)
{
	static const char *const up[] = { "", "../", "../../" };
	struct range windows[RANGES];
	unsigned int count = 0;

	if (get_slot(&gf, place->name, &slot) || slot.state != GF_STATE_READY || !slot.n_functions)
		return false;
	read_ranges(slot.functions[0].address, "", bars);
	for (unsigned int level = 0; level < 3; level++) {
		read_ranges(slot.address, up[level], windows);
		for (int i = 0; i < 6; i++) {
			if (!bars[i].flags)
				continue;
			count++;
			if (!bars[i].start || !lies_in(&bars[i], windows))
				return false;
		}
	}
	/* The large BAR and the small one, at each of three levels. */
	return count == 6;
}

static bool neighbours_well(void)
{
	struct range now[RANGES];

	for (unsigned int i = 0; i < n_places; i++) {
		if (!places[i].attached)
			continue;
		if (!is_well(&places[i], now) || memcmp(now, places[i].before, sizeof(now)))
			return false;
	}
	return true;
}

/* The switch --------------------------------------------------------------- */

static uint64_t random_mib(unsigned int least, unsigned int orders)
{
	uint64_t mib = (uint64_t)least << random_below(orders);

	/* Half of them no power of two. */
	return random_below(2) ? mib : mib + 64ULL * random_below((unsigned int)(mib / 64));
}

/* The directory of this switch, or of the one before: two take turns. */
static const char *in_switch(unsigned int turn, const char *file)
{
	static char path[128];

	snprintf(path, sizeof(path), SWITCHES "/f%u%s%s", turn % 2, file[0] ? "/" : "", file);
	return path;
}

/* In every third switch some can have virtual functions, whose BARs need much and may be missing. */
static const char *model_of(unsigned int number)
{
	return topology % 3 == 1 && (start_seed + topology / 3 + number) % 2 ? "l40s sriov" : "l40s";
}

static void make_slot(unsigned int number, int kind)
{
	char file[32];

	snprintf(file, sizeof(file), "%u", number);
	if (mkdir(in_switch(topology, file), 0755))
		die("mkdir of a slot", -errno);
	snprintf(file, sizeof(file), "%u/model", number);
	put(in_switch(topology, file), model_of(number));
	snprintf(file, sizeof(file), "%u/off", number);
	put(in_switch(topology, file), "1");
	snprintf(file, sizeof(file), "%u/window", number);
	if (!kind || (kind == 1 && random_below(2)))
		put(in_switch(topology, file), "none");
	else
		put_number(in_switch(topology, file), random_mib(256, 7));
}

static void make_switch(void)
{
	int kind = (int)random_below(4);

	n_places = 2 + random_below(SLOTS - 1);
	if (mkdir(in_switch(topology, ""), 0755))
		die("mkdir of a switch", -errno);
	put_number(in_switch(topology, "slots"), n_places);
	put_number(in_switch(topology, "window"), random_mib(2048, 6));
	for (unsigned int i = 0; i < n_places; i++)
		make_slot(i, kind);
	put(in_switch(topology, "enabled"), "1");
}

/* What a slot that is missed may be called instead. */
static void list_slots(void)
{
	fflush(stdout);
	if (system("ls -1 /sys/bus/pci/slots | sed 's/^/# there is slot /'"))
		printf("# no list of slots\n");
}

static unsigned int read_index(unsigned int turn)
{
	FILE *file = fopen(in_switch(turn, "index"), "r");
	unsigned int index = 0;

	if (!file || fscanf(file, "%u", &index) != 1)
		die("index", -EIO);
	fclose(file);
	return index;
}

/* As long as anybody holds a slot, a new one of that name would get another. */
static void await_no_slot(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/bus/pci/slots/%s", name);
	for (int tries = 0; !access(path, F_OK); tries++) {
		if (tries > 5000) {
			list_slots();
			die(name, -ETIMEDOUT);
		}
		usleep(2000);
	}
}

/* The switch before this one goes only now, so that this one has another number. */
static void remove_switch(unsigned int turn, unsigned int slots)
{
	unsigned int index = read_index(turn);
	char file[32];

	put(in_switch(turn, "enabled"), "0");
	for (unsigned int i = 0; i < slots; i++)
		await_no_slot(sim_slot(index, i));
	for (unsigned int i = 0; i < slots; i++) {
		snprintf(file, sizeof(file), "%u", i);
		rmdir(in_switch(turn, file));
	}
	if (rmdir(in_switch(turn, "")))
		die("rmdir", -errno);
}

static void set_bar(struct place *place, unsigned int number)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)place->bar);
	if (sim_set(sw, number, "bar_bytes", text))
		die("bar_bytes", -EIO);
}

static void await_slots(void)
{
	sw = read_index(topology);
	for (unsigned int i = 0; i < n_places; i++) {
		struct place *place = &places[i];

		memset(place, 0, sizeof(*place));
		strcpy(place->name, sim_slot(sw, i));
		place->bar = (256ULL << 20) << random_below(6);
		for (int tries = 0; get_slot(&gf, place->name, &slot) || slot.state != GF_STATE_OFF; tries++) {
			if (tries > 5000) {
				list_slots();
				die(place->name, -ETIMEDOUT);
			}
			usleep(2000);
		}
	}
}

/* Asking and trying -------------------------------------------------------- */

/* What is known of a slot for the judge; the memory is that of the place. */
static void describe(struct place *place, struct judged_slot *to)
{
	if (get_slot(&gf, place->name, &slot))
		die(place->name, -ENOENT);
	memcpy(place->need, slot.need, sizeof(place->need));
	strcpy(place->port, slot.address);
	*to = (struct judged_slot){ .name = place->name, .port = place->port, .bar = place->bar,
				    .need = place->need, .n_need = slot.n_need };
}

/* As a user's request, or raw: without the judge, so that nothing is said of order. */
static int attach(const unsigned int *which, unsigned int n, const struct judged_slot *judged, uint64_t at,
		  uint32_t flags, struct gf_operation *end)
{
	struct ask_slot slots[SLOTS] = { 0 };

	for (unsigned int i = 0; i < n; i++) {
		set_bar(&places[which[i]], which[i]);
		slots[i].name = places[which[i]].name;
		slots[i].order = judged ? judged[i].order : 0;
	}
	memset(end, 0, sizeof(*end));
	return ask_and_wait(&gf, &watch, &(struct ask){ .command = GPUFABRIC_CMD_ATTACH, .slots = slots, .n_slots = n,
							.judged_at = at, .has_judged_at = judged, .flags = flags }, end);
}

/* Judge until nothing has changed since; whether they can be. */
static int judge_and_attach(const unsigned int *which, unsigned int n, struct judged *judged,
			    struct gf_operation *end)
{
	struct judged_slot slots[SLOTS];
	int err = -EAGAIN;

	for (int tries = 0; err == -EAGAIN && tries < 5; tries++) {
		uint64_t at = get_changes(&gf);

		for (unsigned int i = 0; i < n; i++)
			describe(&places[which[i]], &slots[i]);
		judge_them(slots, n, judged);
		if (judged->cannot && get_changes(&gf) == at)
			return -ENOSPC;
		if (!judged->cannot)
			err = attach(which, n, slots, at, 0, end);
		stale += err == -EAGAIN;
	}
	return err;
}

/* Slots that a failed attach leaves in fault are free again. */
static void clear(const unsigned int *which, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (!get_slot(&gf, places[which[i]].name, &slot) &&
		    (slot.state == GF_STATE_FAULT || slot.flags & GPUFABRIC_SLOT_FLAG_QUARANTINED))
			ask_slot(&gf, GPUFABRIC_CMD_CLEAR, places[which[i]].name, -1);
	}
}

/* What is said of a slot alone whose GPU was seen. */
static int verdict_of(struct place *place)
{
	struct judged_slot one;

	describe(place, &one);
	return judge_one(&one);
}

static void tell(const char *what, const unsigned int *which, unsigned int n, const char *text)
{
	printf("# %s: topology %u of seed %llu:", what, topology, (unsigned long long)start_seed);
	for (unsigned int i = 0; i < n; i++)
		printf(" %s with %llu MiB", places[which[i]].name, (unsigned long long)places[which[i]].bar >> 20);
	printf(": %s\n", text);
}

/* Returns whether the switch can be used on. */
static bool try_some(const unsigned int *which, unsigned int n)
{
	int verdict = n == 1 && places[which[0]].seen ? verdict_of(&places[which[0]]) : 0;
	struct range now[SLOTS][RANGES];
	struct gf_operation end = { 0 };
	struct judged said;
	bool well, safe;
	char text[GF_TEXT];
	int err;

	err = judge_and_attach(which, n, &said, &end);
	snprintf(text, sizeof(text), "%s", said.cannot ? said.text : err ? (end.text[0] ? end.text : gf.text) : "attached");
	judged++;
	together += n > 1;
	refused += said.cannot;
	if (said.cannot) {
		clear(which, n);
		if (!neighbours_well())
			die("a refusal has harmed a neighbour", -EIO);
		err = attach(which, n, NULL, 0, GPUFABRIC_ATTACH_FLAG_HARM, &end);
	}
	well = !err;
	for (unsigned int i = 0; i < n; i++)
		well &= is_well(&places[which[i]], now[i]);
	safe = neighbours_well();
	harmed += !safe;
	if (said.cannot && well && safe) {
		wrong_refusals++;
		tell("refused wrongly", which, n, text);
	} else if (!said.cannot && !(well && safe)) {
		wrong_promises++;
		tell(safe ? "promised wrongly" : "promised wrongly, and a neighbour was harmed", which, n, text);
	}
	if (verdict) {
		verdicts++;
		if ((verdict == 3) == (well && safe)) {
			wrong_verdicts++;
			tell("shown wrongly", which, n, text);
		}
	}
	clear(which, n);
	for (unsigned int i = 0; i < n; i++) {
		places[which[i]].seen = true;
		places[which[i]].attached = well;
		memcpy(places[which[i]].before, now[i], sizeof(now[i]));
	}
	return safe && (well || err);
}

static void detach(struct place *place)
{
	struct ask_slot one = { .name = place->name, .has_generation = true };
	struct gf_operation end;
	int err = ask_drain(&gf, place->name, 0, &one.generation);

	if (!err)
		err = ask_and_wait(&gf, &watch, &(struct ask){ .command = GPUFABRIC_CMD_DETACH, .slots = &one,
							       .n_slots = 1 }, &end);
	if (err)
		die("detach", err);
	place->attached = false;
}

/* One of the slots, or some, that are off. */
static unsigned int pick_off(unsigned int *which)
{
	unsigned int n = 0, want = random_below(4) ? 1 : 2 + random_below(SLOTS - 1);

	for (unsigned int i = 0, at = random_below(n_places); i < n_places && n < want; i++) {
		if (!places[(at + i) % n_places].attached)
			which[n++] = (at + i) % n_places;
	}
	return n;
}

/* Whether the port of a slot has a prefetchable window with addresses. */
static bool has_window(const struct place *place)
{
	struct range windows[RANGES];

	if (get_slot(&gf, place->name, &slot))
		die(place->name, -ENOENT);
	read_ranges(slot.address, "", windows);
	for (int i = 7; i < RANGES; i++) {
		if (windows[i].flags & PREFETCH && windows[i].start)
			return true;
	}
	return false;
}

static bool any_attached(void)
{
	for (unsigned int i = 0; i < n_places; i++) {
		if (places[i].attached)
			return true;
	}
	return false;
}

/*
 * A card that nobody has seen may be too large for what the module can know: it comes to a
 * port with a window, which is then all that it can lose, or where nobody is beside it.
 */
static unsigned int leave_out_unknown(unsigned int *which, unsigned int n)
{
	bool live = any_attached();
	unsigned int left = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct place *place = &places[which[i]];

		if (place->seen || has_window(place) || (!live && n == 1))
			which[left++] = which[i];
	}
	return left;
}

/* As somebody asks who knows nothing of windows: it may fail, and harms nobody. */
static bool try_raw(const unsigned int *which, unsigned int n)
{
	bool live = any_attached();
	struct gf_operation end;
	int err = attach(which, n, NULL, 0, raw_flags, &end);

	raw++;
	raw_refused += err == -ENOSPC && strstr(end.text, ": window");
	for (unsigned int i = 0; i < n; i++) {
		places[which[i]].attached = !err && is_well(&places[which[i]], places[which[i]].before);
	}
	if (!neighbours_well()) {
		raw_harmed++;
		tell("a raw request has harmed a neighbour", which, n, err ? end.text : "attached");
		return false;
	}
	clear(which, n);
	for (unsigned int i = 0; i < n; i++) {
		if (!get_slot(&gf, places[which[i]].name, &slot))
			places[which[i]].seen = slot.n_need || slot.n_functions;
	}
	/* Where nobody was beside it the bridge above may have lost its window. */
	return !err || live;
}

static void test_raw(void)
{
	unsigned int which[SLOTS], n;

	for (unsigned int step = 0; step < 4 * n_places + 2; step++) {
		unsigned int any = random_below(n_places);

		if (places[any].attached && !random_below(4))
			detach(&places[any]);
		n = pick_off(which);
		n = leave_out_unknown(which, n);
		if (n && !try_raw(which, n))
			break;
	}
}

/*
 * Nobody can declare virtual functions, and they take room: what has some comes once alone.
 * Returns whether the switch can be used on.
 */
static bool see_virtual(void)
{
	struct gf_operation end;

	for (unsigned int i = 0; i < n_places; i++) {
		if (!strcmp(model_of(i), "l40s"))
			continue;
		if (attach(&i, 1, NULL, 0, 0, &end) || !is_well(&places[i], places[i].before))
			return false;
		places[i].seen = true;
		detach(&places[i]);
	}
	return true;
}

static void test_one(bool raw_requests)
{
	unsigned int which[SLOTS], n;

	unsigned int old_places = n_places;

	make_switch();
	if (topologies)
		remove_switch(topology + 1, old_places);
	await_slots();
	topologies++;
	if (raw_requests)
		test_raw();
	else if (!see_virtual())
		return;
	for (unsigned int step = 0; !raw_requests && step < n_places + 2; step++) {
		unsigned int any = random_below(n_places);

		if (places[any].attached && !random_below(3))
			detach(&places[any]);
		n = pick_off(which);
		if (n && !try_some(which, n))
			break;
	}
}

int main(int argc, char **argv)
{
	bool forced = argc > 1 && !strcmp(argv[1], "forced");
	bool raw_requests = forced || (argc > 1 && !strcmp(argv[1], "raw"));
	unsigned int count;
	unsigned int first;
	int err;

	raw_flags = forced ? GPUFABRIC_ATTACH_FLAG_HARM : 0;
	argc -= raw_requests;
	argv += raw_requests;
	count = argc > 1 ? (unsigned int)atoi(argv[1]) : 0;
	first = argc > 3 ? (unsigned int)atoi(argv[3]) : 0;
	if (!count) {
		fputs("usage: gffit [raw|forced] TOPOLOGIES [SEED [FIRST]]\n", stderr);
		return 2;
	}
	start_seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	err = gf_open(&gf);
	if (!err)
		err = watch_open(&watch);
	if (err)
		die("the module", err);
	printf("# seed %llu, topologies %u to %u\n", (unsigned long long)start_seed, first, first + count - 1);
	for (topology = first; topology < first + count; topology++) {
		/* Each one from the seed and its number alone. */
		seed = start_seed * 1000003 + topology;
		random_below(2);
		test_one(raw_requests);
	}
	remove_switch(topology - 1, n_places);
	if (raw_requests) {
		printf("# count feasibility.raw-topologies %u\n", topologies);
		printf("# count feasibility.raw %u\n# count feasibility.raw-refused %u\n", raw, raw_refused);
		printf("# count feasibility.raw-harmed %u\n", raw_harmed);
		return forced ? !raw_harmed : raw_harmed || !raw_refused;
	}
	printf("# count feasibility.topologies %u\n# count feasibility.judged %u\n", topologies, judged);
	printf("# count feasibility.refused %u\n# count feasibility.together %u\n", refused, together);
	printf("# count feasibility.verdicts %u\n# count feasibility.harmed-when-forced %u\n", verdicts, harmed);
	printf("# count feasibility.wrong-refusals %u\n# count feasibility.wrong-promises %u\n", wrong_refusals,
	       wrong_promises);
	printf("# count feasibility.wrong-verdicts %u\n", wrong_verdicts);
	printf("# count feasibility.stale %u\n", stale);
	return wrong_refusals || wrong_promises * 100 > judged || wrong_verdicts * 100 > verdicts ? 1 : 0;
}
