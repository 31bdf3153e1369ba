// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parsers for what users write: the list of GPUs and the speed of a link.
 */

/**
 * DOC: the list of GPUs
 *
 * A list is comma separated items ``SWITCH.SLOT[-SLOT]:MODEL[:OPTION]...``.
 * SWITCH and SLOT count from 0; ``*`` stands for all of them, and a lone ``*``
 * for every slot there is. MODEL is a name of the model table, or ``none``.
 * Options are ``on`` (the default), ``off``, ``audio``, ``many``, ``bridge``, ``sriov``,
 * what sim_switches has, and ``nohp`` for a port without a hot-plug controller. Later items
 * override earlier ones, so that exceptions can follow a rule.
 *
 * Nothing here allocates, locks or prints: an error is a sentence that names
 * the item, for the caller to print.
 */

#include "params.h"

/* A stretch of the text that is being read. */
struct span {
	const char *at;
	const char *end;
};

/* Slots first to last of switches sw_first to sw_last. */
struct range {
	unsigned int sw_first, sw_last;
	unsigned int first, last;
};

/* Takes up to, and swallows, the next separator. */
static struct span span_take(struct span *from, char separator)
{
	struct span head = { from->at, from->at };

	while (head.end < from->end && *head.end != separator)
		head.end++;
	from->at = head.end < from->end ? head.end + 1 : from->end;
	return head;
}

static size_t span_len(const struct span *span)
{
	return (size_t)(span->end - span->at);
}

static bool span_is(const struct span *span, const char *word)
{
	return span_len(span) == strlen(word) &&
	       !memcmp(span->at, word, span_len(span));
}

static bool span_number(const struct span *span, unsigned int *value)
{
	const char *p;
	unsigned int n = 0;

	/* Seven digits are more than any fabric and cannot overflow. */
	if (!span_len(span) || span_len(span) > 7)
		return false;
	for (p = span->at; p < span->end; p++) {
		if (*p < '0' || *p > '9')
			return false;
		n = n * 10 + (unsigned int)(*p - '0');
	}
	*value = n;
	return true;
}

/* "3", "0-7" or "*"; false if it is none of these. */
static bool parse_numbers(struct span span, unsigned int count,
			  unsigned int *first, unsigned int *last)
{
	struct span head;
	const char *p;

	if (span_is(&span, "*")) {
		*first = 0;
		*last = count - 1;
		return true;
	}
	for (p = span.at; p < span.end && *p != '-'; p++)
		;
	if (p == span.end) {
		if (!span_number(&span, first))
			return false;
		*last = *first;
		return true;
	}
	head = span_take(&span, '-');
	return span_number(&head, first) && span_number(&span, last) &&
	       *first <= *last;
}

static const char *parse_range(struct span where,
			       const struct sim_layout *layout,
			       struct range *range)
{
	struct span sw = span_take(&where, '.');

	if (span_is(&sw, "*") && !span_len(&where))
		where = sw;
	if (!parse_numbers(sw, layout->switches,
			   &range->sw_first, &range->sw_last))
		return "the switch must be a number, a range or *";
	if (!parse_numbers(where, layout->slots, &range->first, &range->last))
		return "the slot must be a number, a range or *, as in 0.0-7";
	if (layout->clip)
		return NULL;
	if (range->sw_last >= layout->switches)
		return "there is no such switch, see switches=";
	if (range->last >= layout->slots)
		return "there is no such slot, see slots=";
	return NULL;
}

/* Cards with a switch of their own, by the word for it. */
static const struct {
	const char *word;
	unsigned int ports;
	bool slotted;
} sim_switches[] = {
	{ "switch", 1, false },
	{ "dual", 2, false },
	{ "hexa", 6, false },
	{ "chassis", 2, true },
};

/**
 * sim_audio_word() - what a card with such functions is called
 * @audio: audio functions of a GPU
 *
 * Return: the word, empty for none.
 */
const char *sim_audio_word(unsigned int audio)
{
	return audio > 1 ? " many" : audio ? " audio" : "";
}

static bool parse_audio(const struct span *word, struct sim_card_spec *spec)
{
	if (span_is(word, "audio"))
		spec->audio = 1;
	else if (span_is(word, "many"))
		spec->audio = 7;
	else
		return false;
	return true;
}

/**
 * sim_switch_word() - what a card with such a switch is called
 * @ports: downstream ports of its switch, 0 for none
 * @slotted: they implement slots
 *
 * Return: the word, NULL for none.
 */
const char *sim_switch_word(unsigned int ports, bool slotted)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sim_switches); i++)
		if (sim_switches[i].ports == ports &&
		    sim_switches[i].slotted == slotted)
			return sim_switches[i].word;
	return NULL;
}

static bool parse_switch(const struct span *word, struct sim_card_spec *spec)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sim_switches); i++) {
		if (!span_is(word, sim_switches[i].word))
			continue;
		spec->ports = sim_switches[i].ports;
		spec->slotted = sim_switches[i].slotted;
		return true;
	}
	return false;
}

static const char *parse_options(struct span rest, struct sim_card_spec *spec)
{
	static const char wrong[] =
		"options: on, off, audio, many, bridge, sriov, switch, dual, hexa, chassis, nohp";

	while (span_len(&rest)) {
		struct span option = span_take(&rest, ':');

		if (span_is(&option, "off"))
			spec->off = true;
		else if (span_is(&option, "on"))
			spec->off = false;
		else if (span_is(&option, "bridge"))
			spec->bridge = true;
		else if (span_is(&option, "sriov"))
			spec->sriov = true;
		else if (span_is(&option, "nohp"))
			spec->nohp = true;
		else if (!parse_audio(&option, spec) &&
			 !parse_switch(&option, spec))
			return wrong;
	}
	return NULL;
}

/* Returns what is wrong with the item, NULL if nothing is. */
static const char *parse_item(struct span item,
			      const struct sim_layout *layout,
			      struct sim_card_spec *specs)
{
	struct sim_card_spec spec = { .model = NULL };
	struct span where = span_take(&item, ':');
	struct span name = span_take(&item, ':');
	struct range range;
	const char *wrong;
	unsigned int sw, slot;

	wrong = parse_range(where, layout, &range);
	if (wrong)
		return wrong;
	if (!span_len(&name))
		return "a model is missing, as in 0.0:h100-80";
	spec.model = sim_model_find(name.at, span_len(&name));
	if (!spec.model && !span_is(&name, "none"))
		return "there is no such model";
	wrong = parse_options(item, &spec);
	if (wrong)
		return wrong;

	for (sw = range.sw_first;
	     sw <= range.sw_last && sw < layout->switches; sw++)
		for (slot = range.first;
		     slot <= range.last && slot < layout->slots; slot++)
			specs[(size_t)sw * layout->slots + slot] = spec;
	return NULL;
}

/**
 * sim_parse_gpus() - read a list of GPUs
 * @list: the list
 * @layout: the slots there are
 * @specs: result, one for each slot, switch by switch; the caller clears it
 * @error: where to put a sentence about the first item that is wrong
 * @size: size of @error
 *
 * Return: 0, or -EINVAL with @error filled in.
 */
int sim_parse_gpus(const char *list, const struct sim_layout *layout,
		   struct sim_card_spec *specs, char *error, size_t size)
{
	struct span rest = { list, list + strlen(list) };
	unsigned int number = 0;

	/* insmod passes the line feed of a file on. */
	while (rest.end > rest.at && rest.end[-1] == '\n')
		rest.end--;

	while (rest.at < rest.end) {
		bool more = false;
		struct span item = span_take(&rest, ',');
		const char *wrong;

		number++;
		more = item.end < rest.end && rest.at == rest.end;
		wrong = parse_item(item, layout, specs);
		if (!wrong && more)
			wrong = "nothing follows the last comma";
		if (wrong) {
			snprintf(error, size, "item %u \"%.*s\": %s", number,
				 (int)(span_len(&item) < 64 ?
				       span_len(&item) : 64),
				 item.at, wrong);
			return -EINVAL;
		}
	}
	return 0;
}

/* "serial=6767000000000001": all digits of the register, in lower case. */
static bool parse_serial(const struct span *word, u64 *serial)
{
	static const char key[] = "serial=";
	const char *at = word->at + sizeof(key) - 1;
	u64 number = 0;
	unsigned int digit;

	if (span_len(word) != sizeof(key) - 1 + 16 ||
	    strncmp(word->at, key, sizeof(key) - 1))
		return false;
	for (; at < word->end; at++) {
		if (*at >= '0' && *at <= '9')
			digit = (unsigned int)(*at - '0');
		else if (*at >= 'a' && *at <= 'f')
			digit = (unsigned int)(*at - 'a') + 10;
		else
			return false;
		number = number << 4 | digit;
	}
	*serial = number;
	return number != 0;
}

/**
 * sim_parse_card() - read what is put into a slot, as in "l40s audio bridge"
 * @text: what the user wrote; "none" is an empty slot
 * @spec: result; what is not said of the card is left as it is
 *
 * Return: 0, or -EINVAL with @spec unchanged.
 */
int sim_parse_card(const char *text, struct sim_card_spec *spec)
{
	struct span rest = { text, text + strlen(text) };
	struct sim_card_spec found = *spec;
	struct span name, word;

	while (rest.end > rest.at && rest.end[-1] == '\n')
		rest.end--;
	name = span_take(&rest, ' ');
	word = name;
	found.model = sim_model_find(name.at, span_len(&name));
	found.audio = 0;
	found.bridge = false;
	found.sriov = false;
	found.ports = 0;
	found.serial = 0;
	/* A space that was taken is followed by a word. */
	while (rest.at > word.end) {
		word = span_take(&rest, ' ');
		if (!found.audio && parse_audio(&word, &found))
			continue;
		if (span_is(&word, "bridge") && !found.bridge)
			found.bridge = true;
		else if (span_is(&word, "sriov") && !found.sriov)
			found.sriov = true;
		else if (!found.serial && parse_serial(&word, &found.serial))
			continue;
		else if (found.ports || !parse_switch(&word, &found))
			return -EINVAL;
	}
	if (!found.model && (!span_is(&name, "none") || word.at != name.at))
		return -EINVAL;
	*spec = found;
	return 0;
}

static const char * const sim_speeds[] = {
	NULL, "2.5GT", "5GT", "8GT", "16GT", "32GT", "64GT",
	[SIM_SPEED_RESERVED] = "reserved",
};

/**
 * sim_link_speed_name() - the speed of a link in words
 * @speed: as encoded in the Link registers
 *
 * Return: the name, "?" for an unknown speed.
 */
const char *sim_link_speed_name(u8 speed)
{
	if (speed == 0 || speed >= ARRAY_SIZE(sim_speeds))
		return "?";
	return sim_speeds[speed];
}

/**
 * sim_parse_link() - read the speed and width of a link, as in "16GT x8"; the
 *	speed can be "reserved", the first value that has no meaning yet
 * @text: what the user wrote
 * @link: result; "full" gives 0 and 0, no limit
 *
 * Return: 0, or -EINVAL.
 */
int sim_parse_link(const char *text, struct sim_link *link)
{
	struct span rest = { text, text + strlen(text) };
	struct span speed, width;
	struct sim_link found = { 0, 0 };
	unsigned int lanes;
	u8 i;

	while (rest.end > rest.at && rest.end[-1] == '\n')
		rest.end--;
	if (span_is(&rest, "full")) {
		*link = found;
		return 0;
	}

	speed = span_take(&rest, ' ');
	width = rest;
	for (i = 1; i < ARRAY_SIZE(sim_speeds); i++)
		if (span_is(&speed, sim_speeds[i]))
			found.speed = i;
	if (!found.speed || span_len(&width) < 2 || *width.at != 'x')
		return -EINVAL;
	width.at++;
	if (!span_number(&width, &lanes))
		return -EINVAL;
	switch (lanes) {
	case 1: case 2: case 4: case 8: case 16:
		found.width = (u8)lanes;
		*link = found;
		return 0;
	default:
		return -EINVAL;
	}
}
