// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/base/text.c ctl/base/units.c ctl/base/fault.c ctl/base/conf.c ctl/module/model.c ctl/module/state.c ctl/module/object.c ctl/module/netlink_gen.c kmod/check.c
/*
 * Single words: sizes, counts, contexts, durations, numbers, names. A name is
 * one for the tool exactly when it is one for the module.
 */
#include "base/conf.h"
#include "base/text.h"
#include "base/units.h"
#include "fuzz.h"
#include "module/model.h"

/* Of kmod/check.c, whose words for states are not the tool's. */
int gf_name_valid(const char *name);

typedef int (*parse_fn)(const char *s, uint64_t *out, struct fault *f);

static void quantity(parse_fn parse, const char *text)
{
	char buf[UNITS_TEXT_MAX], other[TEXT_QUANTITY];
	struct fault fault = { "" };
	uint64_t value = 0;

	if (parse(text, &value, &fault)) {
		must(fuzz_is_line(fault.text));
		return;
	}
	must(value > 0 && value <= INT64_MAX);
	must(!fault.text[0]);
	must(strlen(units_gib(buf, value)) < UNITS_TEXT_MAX);
	must(strlen(units_gb(buf, value)) < UNITS_TEXT_MAX);
	must(strlen(units_count(buf, value)) < UNITS_TEXT_MAX);
	must(strlen(units_grouped(buf, value)) < UNITS_TEXT_MAX);
	text_bytes(other, value);
	text_age(other, value);
	text_time(other, value);
}

/* What is written as a plain number is read as that number. */
static void plain_number(uint64_t value)
{
	char text[32];
	uint64_t again = 0;

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	must(text_number(text, UINT64_MAX, &again) && again == value);
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)value);
	must(text_number(text, UINT64_MAX, &again) && again == value);
}

static void numbers(const char *text)
{
	struct fault fault = { "" };
	unsigned long long whole;
	uint64_t value;
	double decimal;
	bool yes;

	if (text_number(text, UINT32_MAX, &value)) {
		must(value <= UINT32_MAX);
		plain_number(value);
	}
	if (text_parse_duration(text, &value))
		must(value > 0 && value <= 86400000ull * 86400 * 366 * 100);
	if (!conf_whole(text, 3, 1000, &whole, &fault))
		must(whole >= 3 && whole <= 1000);
	if (!conf_decimal(text, 0.5, 1e6, &decimal, &fault))
		must(decimal >= 0.5 && decimal <= 1e6);
	conf_bool(text, &yes, &fault);
}

/* The distance is one of edits: the same in both directions, none to itself. */
static void distances(const char *a, const char *b)
{
	const char *words[] = { "attach", "detach", b };
	const char *nearest;

	must(text_distance(a, b) == text_distance(b, a));
	must(!text_distance(a, a));
	must(!!text_distance(a, b) == !!strcmp(a, b));
	nearest = text_nearest(a, words, 3);
	must(!nearest || text_distance(a, nearest) <= 2);
	must((gf_name_compare(a, b) < 0) == (gf_name_compare(b, a) > 0));
	must(!gf_name_compare(a, a));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_parts parts = { data, size < 400 ? size : 400 };
	char *text = fuzz_part_text(&parts), *other = fuzz_part_text(&parts);

	quantity(units_parse_bytes, text);
	quantity(units_parse_count, text);
	quantity(units_parse_params, text);
	quantity(units_parse_context, text);
	numbers(text);
	distances(text, other);
	must(text_name_valid(text) == !!gf_name_valid(text));
	free(other);
	free(text);
	return 0;
}
