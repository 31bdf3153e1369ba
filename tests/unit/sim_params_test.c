// SPDX-License-Identifier: GPL-2.0-only
// sources: kmod/sim/params.c kmod/sim/model.c
/*
 * The simulator's list of GPUs and its speeds of links.
 */
#include "kmod/sim/params.h"

#include <stdlib.h>

#include "tap.h"

#define SWITCHES	3
#define SLOTS		4

static struct sim_card_spec specs[SWITCHES * SLOTS];
static char wrong[160];

static int parse_in(const char *list, bool clip)
{
	const struct sim_layout layout = { SWITCHES, SLOTS, clip };
	/* A copy of its own size, so that reading beyond it is found. */
	char *copy = strdup(list);
	int ret;

	memset(specs, 0, sizeof(specs));
	memset(wrong, 0, sizeof(wrong));
	ret = sim_parse_gpus(copy, &layout, specs, wrong, sizeof(wrong));
	free(copy);
	return ret;
}

static int parse(const char *list)
{
	return parse_in(list, false);
}

static const struct sim_card_spec *at(unsigned int sw, unsigned int slot)
{
	return &specs[sw * SLOTS + slot];
}

static const char *model_at(unsigned int sw, unsigned int slot)
{
	return at(sw, slot)->model ? at(sw, slot)->model->name : "none";
}

static int cards(void)
{
	int i, n = 0;

	for (i = 0; i < SWITCHES * SLOTS; i++)
		n += !!specs[i].model;
	return n;
}

static void lists(void)
{
	ok(!parse("") && !cards(), "an empty list leaves all slots empty");
	ok(!parse("\n") && !cards(), "so does a line feed");

	ok(!parse("1.2:h100-80"), "one slot");
	is_int(cards(), 1, "and no other");
	is_str(model_at(1, 2), "h100-80", "with its model");
	ok(!at(1, 2)->off && !at(1, 2)->audio, "is on and has no audio");

	ok(!parse("0.1-3:l40s:off"), "a range of slots");
	is_int(cards(), 3, "fills as many");
	ok(at(0, 1)->off && at(0, 3)->off, "which are off");
	is_str(model_at(0, 0), "none", "the slot before is empty");

	ok(!parse("*.0:a100-40:audio:off"), "one slot of all switches");
	is_int(cards(), 3, "is as many as there are switches");
	ok(at(2, 0)->audio && at(2, 0)->off, "options add up");

	ok(!parse("0.0:l40s:bridge,0.1:l40s"), "a card with a bridge");
	ok(at(0, 0)->bridge && !at(0, 1)->bridge, "is one, and no other");
	ok(!parse("0.0:l40s:sriov,0.1:l40s"), "a card with virtual functions");
	ok(at(0, 0)->sriov && !at(0, 1)->sriov, "is one, and no other");
	ok(!parse("0.0:l40s:hexa:many") && at(0, 0)->ports == 6 && at(0, 0)->audio == 7, "a card with very many functions");
	ok(!parse("0.0:l40s:switch,0.1:l40s:dual:audio,0.2:l40s:chassis,0.3:l40s"), "cards with a switch");
	ok(at(0, 0)->ports == 1 && !at(0, 0)->slotted && at(0, 1)->ports == 2 && !at(0, 1)->slotted && at(0, 1)->audio &&
	   at(0, 2)->ports == 2 && at(0, 2)->slotted && !at(0, 3)->ports, "have ports, with slots or without");
	ok(!strcmp(sim_switch_word(1, false), "switch") && !strcmp(sim_switch_word(2, true), "chassis") &&
	   !sim_switch_word(0, false), "and a word for it");
	ok(!parse("*:none:nohp,0.1:l40s:off:nohp,0.2:l40s"),
	   "ports without a controller, empty or not");
	ok(at(2, 3)->nohp && at(0, 1)->nohp && at(0, 1)->off && !at(0, 2)->nohp,
	   "and ports with one");

	ok(!parse("1.*:mi300x"), "all slots of one switch");
	is_int(cards(), 4, "are as many as a switch has");
	ok(!parse("0-1.2-3:h200"), "ranges of both");
	is_int(cards(), 4, "multiply");
	ok(!parse("*.*:h200") && cards() == 12, "all of both are all slots");

	ok(!parse("*:h100-80:off,0.1:none,2.3:l40s:on\n"),
	   "exceptions follow a rule");
	is_int(cards(), 11, "none empties a slot");
	is_str(model_at(2, 3), "l40s", "a later item overrides");
	ok(!at(2, 3)->off && at(2, 2)->off, "with all its options");
}

/* A list that is refused, and what is said about it. */
static const struct refusal {
	const char *list;
	const char *sentence;
} refusals[] = {
	{ "0.0",
	  "item 1 \"0.0\": a model is missing, as in 0.0:h100-80" },
	{ "0.0:",
	  "item 1 \"0.0:\": a model is missing, as in 0.0:h100-80" },
	{ "0.0:h100",
	  "item 1 \"0.0:h100\": there is no such model" },
	{ "0.0:h100-801",
	  "item 1 \"0.0:h100-801\": there is no such model" },
	{ "0.0: l40s",
	  "item 1 \"0.0: l40s\": there is no such model" },
	{ "0.0:h200,0.4:l40s",
	  "item 2 \"0.4:l40s\": there is no such slot, see slots=" },
	{ "3.0:l40s",
	  "item 1 \"3.0:l40s\": there is no such switch, see switches=" },
	{ "0.0:l40s:maybe",
	  "item 1 \"0.0:l40s:maybe\": options: on, off, audio, many, bridge, sriov, switch, dual, hexa, chassis, nohp" },
	{ "0.0:l40s,",
	  "item 1 \"0.0:l40s\": nothing follows the last comma" },
	{ ",0.0:l40s",
	  "item 1 \"\": the switch must be a number, a range or *" },
	{ "x.0:l40s",
	  "item 1 \"x.0:l40s\": the switch must be a number, a range or *" },
	{ "4294967296.0:l40s",
	  "item 1 \"4294967296.0:l40s\": the switch must be a number, a range or *" },
	{ "0:l40s",
	  "item 1 \"0:l40s\": the slot must be a number, a range or *, as in 0.0-7" },
	{ "0.3-1:l40s",
	  "item 1 \"0.3-1:l40s\": the slot must be a number, a range or *, as in 0.0-7" },
	{ "0.-1:l40s",
	  "item 1 \"0.-1:l40s\": the slot must be a number, a range or *, as in 0.0-7" },
};

static void errors(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(refusals); i++) {
		int ret = parse(refusals[i].list);

		ok(ret == -EINVAL && !strcmp(wrong, refusals[i].sentence),
		   "\"%s\" is refused: %s", refusals[i].list, wrong);
	}
}

static void clipped(void)
{
	ok(!parse_in("0.0-7:l40s,9.0:l40s", true),
	   "what is outside can be passed over");
	is_int(cards(), 4, "and what is inside is not");
	ok(parse_in("0.0-7:l40", true) == -EINVAL,
	   "but nonsense is refused all the same");
}

/* Cuts a message that is too long, and ends it. */
static void short_buffer(void)
{
	const struct sim_layout layout = { 1, 1, false };
	struct sim_card_spec one = { .model = NULL };
	char small[8];

	ok(sim_parse_gpus("0.0:x", &layout, &one, small, sizeof(small)) ==
	   -EINVAL && strlen(small) == sizeof(small) - 1,
	   "a message is cut to the space there is");
	ok(!one.model, "nothing was put into the slot");
}

static void one_card(const char *text, int ret, const char *model, bool audio,
		     bool bridge)
{
	struct sim_card_spec spec = {
		.model = sim_model_at(0), .off = true, .audio = true, .bridge = true,
		.sriov = true, .nohp = true
	};
	char *copy = strdup(text);
	int got = sim_parse_card(copy, &spec);

	free(copy);
	if (ret)
		ok(got == ret && spec.model == sim_model_at(0) && spec.audio &&
		   spec.bridge && spec.sriov,
		   "card \"%s\" is refused and changes nothing", text);
	else
		ok(!got && spec.audio == audio && spec.bridge == bridge &&
		   spec.sriov == !!strstr(text, "sriov") &&
		   spec.off && spec.nohp &&
		   !strcmp(spec.model ? spec.model->name : "none", model),
		   "card \"%s\" is %s", text, model);
}

static void cards_by_hand(void)
{
	one_card("l40s", 0, "l40s", false, false);
	one_card("l40s\n", 0, "l40s", false, false);
	one_card("mi300x audio\n", 0, "mi300x", true, false);
	one_card("l40s bridge", 0, "l40s", false, true);
	one_card("l40s audio bridge", 0, "l40s", true, true);
	one_card("l40s bridge audio\n", 0, "l40s", true, true);
	one_card("l40s sriov", 0, "l40s", false, false);
	one_card("l40s sriov audio\n", 0, "l40s", true, false);
	one_card("l40s sriov sriov", -EINVAL, NULL, false, false);
	one_card("none", 0, "none", false, false);
	one_card("", -EINVAL, NULL, false, false);
	one_card("\n", -EINVAL, NULL, false, false);
	one_card("l40", -EINVAL, NULL, false, false);
	one_card("l40s ", -EINVAL, NULL, false, false);
	one_card(" l40s", -EINVAL, NULL, false, false);
	one_card("l40s audio many", -EINVAL, NULL, false, false);
	one_card("l40s  audio", -EINVAL, NULL, false, false);
	one_card("l40s loud", -EINVAL, NULL, false, false);
	one_card("l40s audio audio", -EINVAL, NULL, false, false);
	one_card("l40s bridge bridge", -EINVAL, NULL, false, false);
	one_card("l40s audio ", -EINVAL, NULL, false, false);
	one_card("none bridge", -EINVAL, NULL, false, false);
	one_card("none audio", -EINVAL, NULL, false, false);
	one_card("none ", -EINVAL, NULL, false, false);
}

/* @serial: 0 for a card that is refused, or keeps none. */
static void one_serial(const char *text, int ret, u64 serial)
{
	struct sim_card_spec spec = { .model = sim_model_at(0) };
	char *copy = strdup(text);

	ok(sim_parse_card(copy, &spec) == ret && spec.serial == serial, "card \"%s\": serial number %llx", text,
	   (unsigned long long)serial);
	free(copy);
}

static void serials(void)
{
	one_serial("l40s serial=6767000000000abc", 0, 0x6767000000000abcULL);
	one_serial("l40s audio serial=ffffffffffffffff bridge\n", 0, ~0ULL);
	one_serial("l40s", 0, 0);
	one_serial("l40s serial=0000000000000000", -EINVAL, 0);
	one_serial("l40s serial=676700000000abc", -EINVAL, 0);
	one_serial("l40s serial=67670000000000abc", -EINVAL, 0);
	one_serial("l40s serial=6767000000000ABC", -EINVAL, 0);
	one_serial("l40s serial=0x67670000000abc", -EINVAL, 0);
	one_serial("l40s serial=", -EINVAL, 0);
	one_serial("l40s serial=6767000000000abc serial=6767000000000abc", -EINVAL, 0);
	one_serial("none serial=6767000000000abc", -EINVAL, 0);
}

static void one_link(const char *text, int ret, u8 speed, u8 width)
{
	struct sim_link link = { 9, 9 };
	char *copy = strdup(text);
	int got = sim_parse_link(copy, &link);

	free(copy);
	if (ret)
		ok(got == ret && link.speed == 9 && link.width == 9,
		   "link \"%s\" is refused and changes nothing", text);
	else
		ok(!got && link.speed == speed && link.width == width,
		   "link \"%s\" is speed %u width %u", text, speed, width);
}

static void links(void)
{
	one_link("16GT x8", 0, 4, 8);
	one_link("2.5GT x1\n", 0, 1, 1);
	one_link("64GT x16", 0, 6, 16);
	one_link("reserved x8", 0, 7, 8);
	one_link("full", 0, 0, 0);
	one_link("", -EINVAL, 0, 0);
	one_link("16GT", -EINVAL, 0, 0);
	one_link("16GT 8", -EINVAL, 0, 0);
	one_link("16GT x", -EINVAL, 0, 0);
	one_link("16GT x3", -EINVAL, 0, 0);
	one_link("16GT x264", -EINVAL, 0, 0);
	one_link("17GT x8", -EINVAL, 0, 0);
	is_str(sim_link_speed_name(5), "32GT", "speed 5 has a name");
	is_str(sim_link_speed_name(0), "?", "speed 0 has none");
	is_str(sim_link_speed_name(255), "?", "nor has speed 255");
}

static void model_table(void)
{
	const struct sim_model *model, *other;
	unsigned int i, j;

	for (i = 0; (model = sim_model_at(i)); i++) {
		u64 size = model->bar_bytes;

		ok(sim_model_find(model->name, strlen(model->name)) == model,
		   "%s is found by its name", model->name);
		ok(size && !(size & (size - 1)),
		   "%s: the size of its BAR is a power of two", model->name);
		ok(model->bar + 1 < model->aux_bar && model->aux_bar < 5,
		   "%s: its BARs do not overlap", model->name);
		for (j = 0; j < i; j++) {
			other = sim_model_at(j);
			ok(model->device != other->device,
			   "%s and %s have different ids", model->name,
			   other->name);
		}
	}
	ok(i >= 8, "the table has the models of the interface");
	ok(!sim_model_find("h100-8", 6), "half a name finds nothing");
}

int main(void)
{
	lists();
	errors();
	clipped();
	short_buffer();
	cards_by_hand();
	serials();
	links();
	model_table();
	return tap_done();
}
