// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/base/text.c ctl/module/model.c ctl/module/state.c ctl/module/object.c ctl/module/netlink_gen.c
/* Names, numbers, durations and quantities: what is taken and what is not. */
#include <limits.h>
#include <stdlib.h>

#include "base/text.h"
#include "module/model.h"
#include "tap.h"

static void test_names(void)
{
	static const char *const good[] = { "a", "Z", "train70b", "a_b.c-d", "A1234567890" };
	static const char *const bad[] = { "",	  "1a",	 "-a",	     "_a",	  ".a", "a b",
					   "a/b", "a\n", "\xc3\xa4", "a\xc3\xa4", "a:b" };
	char name[GPUFABRIC_NAME_MAX + 2];
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ok(text_name_valid(good[i]), "\"%s\" is a name", good[i]);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!text_name_valid(bad[i]), "bad name %zu is refused", i);
	memset(name, 'x', sizeof(name));
	name[GPUFABRIC_NAME_MAX] = '\0';
	ok(text_name_valid(name), "63 letters");
	name[GPUFABRIC_NAME_MAX] = 'x';
	name[GPUFABRIC_NAME_MAX + 1] = '\0';
	ok(!text_name_valid(name), "64 letters");
}

static void test_numbers(void)
{
	static const char *const bad[] = { "",
					   "-1",
					   "+1",
					   " 1",
					   "1 ",
					   "0x",
					   "1x",
					   "18446744073709551616",
					   "99999999999999999999" };
	uint64_t value;
	size_t i;

	ok(text_number("0", 10, &value) && !value, "zero");
	ok(text_number("10", 10, &value) && value == 10, "the largest");
	ok(!text_number("11", 10, &value), "one more");
	ok(text_number("0x1f", 100, &value) && value == 31, "hexadecimal");
	ok(text_number("010", 100, &value) && value == 10, "a zero in front is not octal");
	ok(text_number("18446744073709551615", UINT64_MAX, &value) && value == UINT64_MAX,
	   "64 bits");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!text_number(bad[i], UINT64_MAX, &value), "\"%s\" is no number", bad[i]);
}

static void test_durations(void)
{
	static const char *const bad[] = {
		"", "5", "s", "5 s", "-5s", "5sec", "5M", "0s", "99999999999999999999s", "1h30m"
	};
	uint64_t ms;
	size_t i;

	ok(text_parse_duration("500ms", &ms) && ms == 500, "500ms");
	ok(text_parse_duration("30s", &ms) && ms == 30000, "30s");
	ok(text_parse_duration("5min", &ms) && ms == 300000, "5min");
	ok(text_parse_duration("5m", &ms) && ms == 300000, "5m");
	ok(text_parse_duration("8h", &ms) && ms == 8 * 3600000ull, "8h");
	ok(text_parse_duration("2d", &ms) && ms == 2 * 86400000ull, "2d");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!text_parse_duration(bad[i], &ms), "\"%s\" is no duration", bad[i]);
}

static void test_quantities(void)
{
	char buf[TEXT_QUANTITY];

	is_str(text_bytes(buf, 0), "0 B", "nothing");
	is_str(text_bytes(buf, 1023), "1023 B", "bytes");
	is_str(text_bytes(buf, 128ull << 30), "128 GiB", "round sizes have no decimals");
	is_str(text_bytes(buf, 81559ull << 20), "79.6 GiB", "others have one");
	is_str(text_bytes(buf, (1ull << 30) - 1), "1.0 GiB", "no 1024.0 MiB, and not quite round");
	is_str(text_bytes(buf, UINT64_MAX), "16 EiB", "the largest");
	is_str(text_duration(buf, 310), "0.31 s", "below ten seconds");
	is_str(text_duration(buf, 59999), "59 s", "seconds");
	is_str(text_duration(buf, 7800000), "2 h 10 min", "hours and minutes");
	is_str(text_duration(buf, 3600000), "1 h", "an hour");
	is_str(text_duration(buf, 90 * 3600000ull), "3 d 18 h", "days");
	is_str(text_age(buf, 3456), "3 s", "ages are whole");
}

static void test_nearest(void)
{
	static const char *const words[] = { "attach", "detach", "list" };

	is_str(text_nearest("atach", words, 3), "attach", "a letter is missing");
	is_str(text_nearest("lsit", words, 3), "list", "two are swapped");
	ok(!text_nearest("compose", words, 3), "nothing is near");
	is_int(text_distance("", "abc"), 3, "distance from nothing");
	is_int(text_distance("kitten", "sitting"), 3, "distance");
}

static void test_order(void)
{
	ok(gf_name_compare("3-2", "3-10") < 0, "numbers in names compare as numbers");
	ok(gf_name_compare("3-10", "3-2") > 0, "and the other way round");
	ok(!gf_name_compare("sim0-1", "sim0-1"), "equal");
	ok(gf_name_compare("a", "b") < 0, "letters");
	ok(gf_name_compare("a", "ab") < 0, "a prefix comes first");
}

static void is_tame(const char *given, bool lines, const char *want, const char *name)
{
	char *s = mem_strdup(given);

	text_tame(s, lines);
	is_str(s, want, name);
	free(s);
}

static void test_tame(void)
{
	char utf8[] = "a\033\377b";

	is_tame("plain, \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", false,
		"plain, \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "what is plain stays");
	is_tame("\033[31mred\007\177", false, "?[31mred??", "control characters");
	is_tame("\xc2\x9b" "31m", false, "??31m", "the ones of two bytes");
	is_tame("a\nb\tc", false, "a?b?c", "a cell is one line");
	is_tame("a\nb\tc\r", true, "a\nb\tc?", "lines that are meant stay");
	is_tame("\xc3", false, "?", "half a character at the end");
	is_tame("\xe2\x82x\x80", false, "??x?", "pieces of characters");
	is_tame("\xc0\xaf\xe0\x80\xaf", false, "?????", "longer than needed");
	is_tame("\xed\xa0\x80\xf4\x90\x80\x80\xff", false, "????????", "no character at all");
	text_utf8(utf8);
	is_str(utf8, "a\033?b", "for JSON only what is no UTF-8 goes");
}

int main(void)
{
	test_names();
	test_tame();
	test_numbers();
	test_durations();
	test_quantities();
	test_nearest();
	test_order();
	return tap_done();
}
