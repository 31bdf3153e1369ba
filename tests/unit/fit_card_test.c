// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/host/fit.c ctl/host/fit_place.c ctl/host/fit_size.c
/*
 * Cards with a switch of their own: what their bridges ask for, from the inside out, and
 * whether they fit a port then. Where the kernel sizes windows as sums, random cards are
 * put in windows of that size one resource after the other, and what is left over is
 * what the PCI core would leave without an address.
 */
#include <stddef.h>
#include <stdlib.h>

#include "host/fit.h"
#include "tap.h"

#define KIB (1ULL << 10)
#define MIB (1ULL << 20)
#define GIB (1ULL << 30)
#define HIGH (1ULL << 44)
#define LOW 0xc0000000ULL

#define PREF GF_FIT_PREFETCH
#define WIDE GF_FIT_WIDE
#define CARDS 2000

static struct gf_fit_bar bar_of(uint64_t size, unsigned int flags)
{
	return (struct gf_fit_bar){ .size = size, .min = size, .max = size, .flags = flags };
}

static void add(struct gf_fit_need *need, uint64_t size, unsigned int flags)
{
	need->bars[need->nr_bars++] = bar_of(size, flags);
}

/* As most GPUs have them: a large BAR, a small one, registers and a ROM. */
static struct gf_fit_need gpu_of(uint64_t size)
{
	struct gf_fit_need gpu = {};

	add(&gpu, size, PREF | WIDE);
	add(&gpu, 32 * MIB, PREF | WIDE);
	add(&gpu, 16 * MIB, 0);
	add(&gpu, 512 * KIB, GF_FIT_OPTIONAL);
	return gpu;
}

/* A switch with @n ports, the same behind each. */
static struct gf_fit_need card_of(const struct gf_fit_need *gpu, unsigned int n, enum gf_fit_rule rule)
{
	struct gf_fit_need inner = {}, card = {};

	for (unsigned int i = 0; i < n; i++)
		gf_fit_wrap(gpu, PREF | WIDE, rule, &inner);
	gf_fit_wrap(&inner, PREF | WIDE, rule, &card);
	return card;
}

/* A port with a prefetchable window of that size, 0 for none, and more around it. */
static struct gf_fit_result judge_at(const struct gf_fit_need *card, enum gf_fit_rule rule, uint64_t window,
				     uint64_t mem, uint64_t offset, bool hands_down)
{
	struct gf_fit_port port = { .bus_last = 255, .hands_down = hands_down };
	struct gf_fit_range taken[GF_FIT_WINDOWS], moved[GF_FIT_WINDOWS + 1];
	struct gf_fit_bus bus = { .rule = rule, .taken = taken, .ports = &port, .nr_ports = 1, .nr_windows = 2 };
	struct gf_fit_trial trial = { .bus = &bus, .moved = moved };
	struct gf_fit_result result = {};

	bus.windows[0] = (struct gf_fit_window){ LOW, LOW + 512 * MIB - 1, 0 };
	bus.windows[1] = (struct gf_fit_window){ HIGH, HIGH + 1024 * GIB - 1, PREF | WIDE };
	for (unsigned int i = 0; i < GF_FIT_WINDOWS; i++) {
		struct gf_fit_own *own = &port.own[i];
		uint64_t size = i == GF_FIT_PREF ? window : mem;

		own->there = true;
		own->window.flags = bus.windows[i].flags;
		own->assigned = size;
		if (!size)
			continue;
		own->window.start = bus.windows[i].start + offset;
		own->window.end = own->window.start + size - 1;
		taken[bus.nr_taken++] = (struct gf_fit_range){ own->window.start, own->window.end, 0, i, false };
	}
	gf_fit_judge(&trial, 0, card, GF_FIT_SIZE_NOW, &result);
	return result;
}

static struct gf_fit_result judge(const struct gf_fit_need *card, enum gf_fit_rule rule, uint64_t window,
				  bool hands_down)
{
	return judge_at(card, rule, window, 256 * MIB, 0, hands_down);
}

static const char *verdict_of(const struct gf_fit_result *result)
{
	static const char *const names[] = { "unknown", "fits", "fits after reassignment", "cannot" };

	return names[result->verdict];
}

static bool is_window(const struct gf_fit_bar *bar, uint64_t size, uint64_t align, unsigned int flags)
{
	bool same = bar->size == size && bar->measures[GF_FIT_SIZE_NOW].align == align &&
		    bar->flags == flags;

	if (!same)
		printf("#   %llu MiB, aligned to %llu MiB, flags %x\n", bar->size / MIB,
		       bar->measures[GF_FIT_SIZE_NOW].align / MIB, bar->flags);
	return same;
}

/* Whether a window on the card is smaller than what is in it. */
static bool has_gaps(const struct gf_fit_need *need, enum gf_fit_size size)
{
	static const size_t at[] = { offsetof(struct gf_fit_bar, size), offsetof(struct gf_fit_bar, min),
				     offsetof(struct gf_fit_bar, max) };

	for (unsigned int i = 0; i < need->nr_bars; i++) {
		const uint64_t *bytes = (const uint64_t *)((const char *)&need->bars[i] + at[size]);

		if (need->bars[i].measures[size].extent > *bytes)
			return true;
	}
	return false;
}

static void halves(void)
{
	const enum gf_fit_rule rule = GF_FIT_RULE_HALVES;
	struct gf_fit_need gpu = gpu_of(64 * GIB), port = {}, card, other = {};
	struct gf_fit_result result;

	gf_fit_wrap(&gpu, PREF | WIDE, rule, &port);
	is_int(port.nr_bars, 2, "a bridge asks for two windows");
	ok(is_window(&port.bars[0], 24 * MIB, 8 * MIB, 0), "one below 4 GiB");
	ok(is_window(&port.bars[1], 96 * GIB, 32 * GIB, PREF | WIDE), "and a prefetchable one, larger than the BARs");
	card = card_of(&gpu, 2, rule);
	is_int(card.nr_bars, 2, "so does the one above two of them");
	ok(is_window(&card.bars[0], 48 * MIB, 8 * MIB, 0), "for both");
	ok(is_window(&card.bars[1], 192 * GIB, 32 * GIB, PREF | WIDE), "at their alignment");

	result = judge(&card, rule, 0, false);
	is_str(verdict_of(&result), "fits after reassignment", "a window is made for the card");
	result = judge(&card, rule, 192 * GIB, false);
	is_str(verdict_of(&result), "fits", "it fits one that is just as large");
	gpu = gpu_of(512 * GIB);
	card = card_of(&gpu, 2, rule);
	result = judge(&card, rule, 0, false);
	is_str(verdict_of(&result), "cannot", "nothing has 1.5 TiB for larger ones");
	ok(result.need == 1536 * GIB && result.free == 1024 * GIB && !result.gaps, "that is what they need");

	gf_fit_wrap(&gpu, 0, rule, &other);
	is_int(other.nr_bars, 1, "a bridge without a prefetchable window asks for one");
	ok(!(other.bars[0].flags & PREF) && other.bars[0].size >= 512 * GIB, "that holds everything");

	other = (struct gf_fit_need){};
	gpu = (struct gf_fit_need){};
	add(&gpu, 512 * KIB, GF_FIT_OPTIONAL);
	gf_fit_wrap(&gpu, PREF | WIDE, rule, &other);
	ok(other.nr_bars == 1 && is_window(&other.bars[0], MIB, MIB, GF_FIT_OPTIONAL), "nobody minds a ROM without room");

	other = (struct gf_fit_need){};
	gpu = gpu_of(64 * GIB);
	gpu.bars[0].min = 256 * MIB;
	gpu.bars[0].max = 512 * GIB;
	gpu.nr_bars = 2;
	gf_fit_wrap(&gpu, PREF | WIDE, rule, &other);
	ok(other.nr_bars == 1 && other.bars[0].min == 384 * MIB && other.bars[0].max == 768 * GIB,
	   "a resizable BAR makes a window of many sizes");
	other = (struct gf_fit_need){};
	gf_fit_wrap(&other, PREF | WIDE, rule, &other);
	is_int(other.nr_bars, 0, "of nothing a bridge asks nothing");
}

static void sums(void)
{
	const enum gf_fit_rule rule = GF_FIT_RULE_TAILS;
	struct gf_fit_need gpu = gpu_of(64 * GIB), card, plain = {}, chain = {}, twice = {};
	struct gf_fit_result result;

	card = card_of(&gpu, 1, rule);
	ok(is_window(&card.bars[0], 16 * MIB, 16 * MIB, 0), "sums: a ROM adds nothing");
	ok(is_window(&card.bars[1], 64 * GIB + 32 * MIB, 64 * GIB, PREF | WIDE), "sums: a window is as large as the BARs");
	ok(!has_gaps(&card, GF_FIT_SIZE_NOW), "sums: one GPU leaves no gap");
	result = judge(&card, rule, 0, false);
	is_str(verdict_of(&result), "fits after reassignment", "sums: it fits any port");

	card = card_of(&gpu, 2, rule);
	ok(is_window(&card.bars[1], 128 * GIB + 64 * MIB, 64 * GIB, PREF | WIDE), "sums: two get what both have");
	is_int(card.bars[1].measures[0].extent, 192 * GIB, "sums: and need what is between them");
	result = judge(&card, rule, 512 * GIB, false);
	ok(result.verdict == GF_FIT_CANNOT && result.gaps, "sums: so they cannot be, however large the port's window");
	is_int(result.need, 192 * GIB, "sums: that is what they need");
	is_int(card_of(&gpu, 2, GF_FIT_RULE_SUM).bars[1].measures[0].extent, 192 * GIB + 32 * MIB,
	       "sums: without tails it is more");
	result = judge(&card, rule, 512 * GIB, true);
	is_str(verdict_of(&result), "fits", "sums: where the port hands its window down they can");
	result = judge(&card, rule, 192 * GIB + 64 * MIB, true);
	is_str(verdict_of(&result), "fits", "sums: if it is large enough");
	result = judge(&card, rule, 192 * GIB, true);
	is_str(verdict_of(&result), "cannot", "sums: what is left is handed down in steps of the alignment");
	ok(!result.gaps && result.need == 192 * GIB + 64 * MIB && result.free == 192 * GIB, "sums: that is what is short");
	result = judge(&card, rule, 0, true);
	ok(result.verdict == GF_FIT_CANNOT && !result.free, "sums: a new window is not made large enough");

	add(&plain, 64 * GIB, PREF | WIDE);
	add(&plain, 16 * MIB, 0);
	card = card_of(&plain, 2, rule);
	ok(!has_gaps(&card, GF_FIT_SIZE_NOW) && is_window(&card.bars[1], 128 * GIB, 64 * GIB, PREF | WIDE),
	   "sums: BARs alone leave no gap");
	result = judge(&card, rule, 0, false);
	is_str(verdict_of(&result), "fits after reassignment", "sums: so two of those fit");

	card = card_of(&gpu, 2, rule);
	card.bars[0].size = 512 * MIB;
	result = judge(&card, rule, 512 * GIB, true);
	ok(result.verdict == GF_FIT_FITS_AFTER_REASSIGNMENT && result.need == 448 * GIB + 64 * MIB,
	   "sums: the other window may be made anew");
	card = card_of(&gpu, 2, rule);
	gf_fit_wrap(&card, PREF | WIDE, rule, &chain);
	result = judge(&chain, rule, 512 * GIB, true);
	is_str(verdict_of(&result), "fits", "sums: a window is handed down from bridge to bridge");
	for (unsigned int i = 0; i < 2; i++)
		gf_fit_wrap(&card, PREF | WIDE, rule, &twice);
	result = judge(&twice, rule, 1024 * GIB, true);
	ok(result.verdict == GF_FIT_CANNOT && result.gaps, "sums: but not to two of them");
	chain = (struct gf_fit_need){};
	gf_fit_wrap(&twice, PREF | WIDE, rule, &chain);
	result = judge(&chain, rule, 1024 * GIB, true);
	ok(chain.stuck[0] && result.verdict == GF_FIT_CANNOT && result.gaps, "sums: at no depth");
}

/* What a port's window has left for the bridge of a card, beside other BARs. */
static void beside(void)
{
	const enum gf_fit_rule rule = GF_FIT_RULE_TAILS;
	struct gf_fit_need gpu = gpu_of(64 * GIB), inner = {}, card = {};
	struct gf_fit_result result;

	gpu.bars[3] = bar_of(16 * KIB, 0);
	for (unsigned int i = 0; i < 2; i++)
		gf_fit_wrap(&gpu, PREF | WIDE, rule, &inner);
	add(&card, 256 * KIB, 0);
	gf_fit_wrap(&inner, PREF | WIDE, rule, &card);
	ok(is_window(&card.bars[1], 34 * MIB, 16 * MIB, 0), "beside: an audio function makes a gap, too");
	is_int(card.bars[1].measures[0].extent, 48 * MIB, "beside: which wants room");
	result = judge_at(&card, rule, 512 * GIB, 65 * MIB, 0, true);
	ok(result.verdict == GF_FIT_CANNOT && result.own && !result.prefetch && result.need == 66 * MIB &&
	   result.free == 65 * MIB, "beside: and where it begins is behind the BAR of the bridge");
	result = judge_at(&card, rule, 512 * GIB, 66 * MIB, 0, true);
	is_str(verdict_of(&result), "fits", "beside: both windows are handed down");
	result = judge_at(&card, rule, 256 * GIB, 66 * MIB, MIB, true);
	ok(result.verdict == GF_FIT_CANNOT && result.prefetch, "beside: from where the window is aligned on");
	result = judge_at(&card, rule, 256 * GIB + 64 * MIB, 256 * MIB, MIB, true);
	is_str(verdict_of(&result), "fits", "beside: where that leaves enough");
}

/* What an expansion ROM wants keeps nobody out. */
static void roms(void)
{
	struct gf_fit_need gpu = {};
	struct gf_fit_result result;

	add(&gpu, 512 * MIB, 0);
	add(&gpu, 512 * KIB, GF_FIT_OPTIONAL);
	result = judge_at(&gpu, GF_FIT_RULE_TAILS, 0, 0, 0, false);
	is_str(verdict_of(&result), "fits after reassignment", "roms: a sum is made without one in the end");
	result = judge_at(&gpu, GF_FIT_RULE_RELAXED, 0, 0, 0, false);
	is_str(verdict_of(&result), "cannot", "roms: halves are not");
}

/* The alignment of windows in a window: the first sums counted those that do not fill theirs. */
static void heads(void)
{
	struct gf_fit_need card = {};
	struct gf_fit_bar odd = bar_of(5 * MIB, PREF | WIDE);

	odd.align = 4 * MIB;
	card.bars[card.nr_bars++] = bar_of(8 * MIB, PREF | WIDE);
	card.bars[card.nr_bars++] = odd;
	for (unsigned int i = 0; i < 2; i++) {
		struct gf_fit_need outer = {};

		gf_fit_wrap(&card, PREF | WIDE, i ? GF_FIT_RULE_TAILS : GF_FIT_RULE_SUM, &outer);
		is_int(outer.bars[0].measures[0].align, i ? 8 * MIB : 4 * MIB, i ? "heads: now they do not" : "heads: at first");
	}
}

/* A window is made for what nobody minds, and the others get the room. */
static void spare(void)
{
	const enum gf_fit_rule rule = GF_FIT_RULE_TAILS;
	struct gf_fit_need gpu = {}, card;
	struct gf_fit_result result;

	add(&gpu, 64 * GIB, PREF | WIDE);
	add(&gpu, 32 * MIB, PREF | WIDE);
	add(&gpu, 32 * GIB, PREF | WIDE | GF_FIT_VIRTUAL);
	card = card_of(&gpu, 2, rule);
	is_int(card.bars[0].size, 192 * GIB + 64 * MIB, "spare: windows are sized for virtual functions first");
	result = judge(&card, rule, 0, false);
	is_str(verdict_of(&result), "fits after reassignment", "spare: that is room for both GPUs");
	result = judge(&card, rule, 192 * GIB, false);
	is_str(verdict_of(&result), "fits after reassignment", "spare: where there is more than is needed");
	gpu.bars[2] = bar_of(16 * GIB, PREF | WIDE | GF_FIT_VIRTUAL);
	card = card_of(&gpu, 2, rule);
	is_int(card.bars[0].size, 128 * GIB + 64 * MIB, "spare: smaller ones do not leave enough");
	result = judge(&card, rule, 0, false);
	ok(result.verdict == GF_FIT_CANNOT && result.gaps, "spare: so both cannot be");
}

/* A BAR whose size can be set: each size has its own gaps. */
static void resizable(void)
{
	const enum gf_fit_rule rule = GF_FIT_RULE_TAILS;
	struct gf_fit_need gpu = gpu_of(32 * MIB), card;

	gpu.bars[0].max = 64 * GIB;
	card = card_of(&gpu, 2, rule);
	ok(!has_gaps(&card, GF_FIT_SIZE_NOW) && !has_gaps(&card, GF_FIT_SIZE_MIN), "resizable: small ones leave no gap");
	ok(has_gaps(&card, GF_FIT_SIZE_MAX), "resizable: large ones do");
	ok(card.bars[1].size == 128 * MIB && card.bars[1].max == 128 * GIB + 64 * MIB, "resizable: windows are sums");
	ok(card.bars[1].measures[GF_FIT_SIZE_NOW].align == 32 * MIB &&
	   card.bars[1].measures[GF_FIT_SIZE_MAX].align == 64 * GIB, "resizable: each with its alignment");
}

/* Random cards ------------------------------------------------------------- */

static uint64_t seed = 20261130;

static unsigned int random_below(unsigned int limit)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % limit;
}

static uint64_t up_to(uint64_t value, uint64_t align)
{
	return (value + align - 1) / align * align;
}

struct place {
	uint64_t size, align, start;
	bool placed;
};

static bool is_free(const struct place *all, unsigned int n, uint64_t start, uint64_t end)
{
	for (unsigned int i = 0; i < n; i++) {
		if (all[i].placed && start < all[i].start + all[i].size && all[i].start < end)
			return false;
	}
	return true;
}

static int larger_first(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->align < y->align ? 1 : x->align > y->align ? -1 : 0;
}

/* Whether all get a place in [start, end). */
static bool all_placed(struct place *all, unsigned int n, uint64_t start, uint64_t end, enum gf_fit_rule rule)
{
	qsort(all, n, sizeof(all[0]), larger_first);
	for (unsigned int i = 0; i < n; i++)
		all[i].placed = false;
	for (unsigned int i = 0; i < n; i++) {
		struct place *one = &all[i];
		uint64_t tail = rule == GF_FIT_RULE_TAILS ? one->size % one->align : 0;

		for (uint64_t at = up_to(start, one->align); at < end && !one->placed; at += one->align) {
			uint64_t from = at;

			if (tail && at >= start + tail && is_free(all, n, at - tail, at))
				from -= tail;
			if (from + one->size > end || !is_free(all, n, from, from + one->size))
				continue;
			one->start = from;
			one->placed = true;
		}
		if (!one->placed)
			return false;
	}
	return true;
}

/* Two to four bridges with up to four BARs behind each: does the sum of their windows hold these? */
static void random_cards(enum gf_fit_rule rule, const char *what)
{
	unsigned int wrong = 0, gaps = 0;

	for (unsigned int n = 0; n < CARDS; n++) {
		unsigned int bridges = 2 + random_below(3);
		struct gf_fit_need inner = {}, card = {};
		struct place windows[4];
		uint64_t sum = 0, extent;
		bool well, room;

		for (unsigned int i = 0; i < bridges; i++) {
			struct gf_fit_need gpu = {};
			const struct gf_fit_bar *window;

			for (unsigned int k = 1 + random_below(4); k; k--)
				add(&gpu, MIB << random_below(8), PREF | WIDE);
			gf_fit_wrap(&gpu, PREF | WIDE, rule, &inner);
			window = &inner.bars[inner.nr_bars - 1];
			windows[i] = (struct place){ .size = window->size, .align = window->measures[0].align };
			sum += window->size;
		}
		gf_fit_wrap(&inner, PREF | WIDE, rule, &card);
		extent = card.bars[0].measures[0].extent;
		well = all_placed(windows, bridges, HIGH, HIGH + sum, rule);
		room = all_placed(windows, bridges, HIGH, HIGH + extent, rule) &&
		       (well || !all_placed(windows, bridges, HIGH, HIGH + extent - MIB, rule));
		gaps += has_gaps(&card, GF_FIT_SIZE_NOW);
		if (well != has_gaps(&card, GF_FIT_SIZE_NOW) && room && card.bars[0].size == sum)
			continue;
		if (++wrong <= 3)
			printf("#   card %u: sum %llu MiB, said to need %llu MiB: %s with the one, %s with the other\n", n,
			       sum / MIB, extent / MIB, well ? "well" : "not well", room ? "well" : "not well");
	}
	ok(!wrong, "%s: random cards are judged as they turn out", what);
	ok(gaps > CARDS / 10 && gaps < CARDS * 9 / 10, "%s: there were enough of both: %u of %u have gaps", what, gaps, CARDS);
	tap_counted("fit.cards", CARDS);
}

static void rules(void)
{
	static const struct {
		const char *release;
		enum gf_fit_rule rule;
	} table[] = {
		{ "5.14.0-503.el9.x86_64", GF_FIT_RULE_HALVES },
		{ "6.1.0-57-amd64", GF_FIT_RULE_HALVES },
		{ "6.9.12", GF_FIT_RULE_HALVES },
		{ "6.10.0", GF_FIT_RULE_RELAXED },
		{ "6.12.117+deb12-amd64", GF_FIT_RULE_RELAXED },
		{ "6.18.13", GF_FIT_RULE_RELAXED },
		{ "6.18.14", GF_FIT_RULE_SUM },
		{ "6.19.3-arch1-1", GF_FIT_RULE_RELAXED },
		{ "6.19.4", GF_FIT_RULE_SUM },
		{ "7.0.0-14-generic", GF_FIT_RULE_SUM },
		{ "7.1", GF_FIT_RULE_TAILS },
		{ "7.3.4+deb13-amd64", GF_FIT_RULE_TAILS },
	};

	for (unsigned int i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		is_int(gf_fit_rule_of(table[i].release), table[i].rule, table[i].release);
}

int main(void)
{
	rules();
	halves();
	sums();
	beside();
	roms();
	heads();
	spare();
	resizable();
	random_cards(GF_FIT_RULE_SUM, "sums");
	random_cards(GF_FIT_RULE_TAILS, "tails");
	return tap_done();
}
