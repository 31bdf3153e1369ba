// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/choose/tenant.c ctl/base/conf.c ctl/base/fault.c ctl/base/text.c
/*
 * Tenants: what a file may say, and who may have how much. Random shares are held against the
 * two promises themselves: no limit is passed, and a guarantee that was free can be had.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "choose/tenant.h"
#include "tap.h"

static struct tenants tenants;

static int read_text(const char *text, struct fault *fault)
{
	int err;

	memset(fault, 0, sizeof(*fault));
	tenants_free(&tenants);
	err = tenants_parse(&tenants, "t.conf", text, strlen(text), fault);
	return err ? err : tenants_check(&tenants, fault);
}

static void refused(const char *text, const char *why)
{
	struct fault fault;

	is_int(read_text(text, &fault), -EINVAL, "refused");
	is_str(fault.text, why, why);
}

static void test_files(void)
{
	struct fault fault;

	is_int(read_text("[defaults]\nlimit = 6\n[Vision_1]\nguarantee = 4\n[speech]\nlimit = 2\n",
			 &fault), 0, "two tenants");
	is_int((intmax_t)tenants.n, 2, "there are two");
	is_int((intmax_t)tenants_find(&tenants, "Vision_1")->limit, 6, "a default");
	is_int((intmax_t)tenants_find(&tenants, "Vision_1")->guarantee, 4, "a guarantee");
	is_int((intmax_t)tenants_find(&tenants, "speech")->limit, 2, "instead of the default");
	ok(!tenants_find(&tenants, "vision_1"), "names have a case");
	is_int(read_text("[a]\n", &fault), 0, "a tenant of whom nothing is said");
	ok(tenants.items[0].limit == TENANT_NO_LIMIT && !tenants.items[0].guarantee,
	   "is not limited");

	refused("[a]\nguarantee = 4\nlimit = 3\n",
		"tenant a: its guarantee of 4 is above its limit of 3");
	refused("[a]\n[a]\n", "t.conf:2: tenant [a] is described twice");
	refused("[1a]\n",
		"t.conf:1: tenant [1a]: a name is a letter followed by up to 62 letters, digits, '_', '.' or '-'");
	refused("[a]\nlimit = 1\nlimit = 1\n", "t.conf:3: limit is given twice");
	refused("[a]\nshare = 1\n",
		"t.conf:2: unknown key share: the keys of a tenant are guarantee and limit");
	ok(read_text("[a]\nlimit = -1\n", &fault) && strstr(fault.text, "t.conf:2: limit"),
	   "no negative limit: %s", fault.text);
	ok(read_text("[a]\nlimit = 99999999999999999999\n", &fault), "none that overflows: %s",
	   fault.text);
}

static void admits(const char *name, size_t more, size_t left, const char *why)
{
	struct fault fault = { "" };
	int err = tenants_admit(&tenants, name, more, left, &fault);

	ok(!err == !*why, "%s takes %zu, %zu are left: %s", name ? name : "nobody", more, left,
	   *why ? why : "fine");
	is_str(fault.text, why, "as said");
}

static void test_verdicts(void)
{
	struct fault fault;

	tenants_free(&tenants);
	admits("whoever", 100, 0, "");

	read_text("[a]\nguarantee = 4\nlimit = 6\n[b]\nguarantee = 2\n[c]\n", &fault);
	tenants.items[0].held = 3;
	admits("a", 3, 2, "");
	admits("a", 4, 9, "tenant a holds 3 of at most 6 GPUs: 4 more would be above its limit");
	admits("a", 3, 1, "3 more GPUs would leave 1 free, and 2 are guaranteed to b (2)");
	admits("a", 1, 0, "");
	admits("b", 2, 0, "");
	admits("c", 1, 3, "");
	admits("c", 1, 2, "1 more GPU would leave 2 free, and 3 are guaranteed to a (1), b (2)");
	admits(NULL, 1, 2, "1 more GPU would leave 2 free, and 3 are guaranteed to a (1), b (2)");
	admits(NULL, 0, 0, "");
	admits("d", 1, 9, "no tenant d; the tenants are: a, b, c");
	tenants.items[0].held = 9;
	admits("a", 1, 9, "tenant a holds 9 of at most 6 GPUs: 1 more would be above its limit");
	admits("b", 3, 0, "");
	tenants.items[1].held = 1;
	admits("c", 1, 0, "1 more GPU would leave 0 free, and 1 is guaranteed to b (1)");
}

static unsigned int next_random(unsigned int *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 16 & 0x7fff;
}

/* GPUs come and go as tenants_admit() lets them; guarantees together are no more than there are. */
static void test_promises(void)
{
	static char *const names[] = { "a", "b", "c", "d" };
	unsigned int seed = 7, round, step, over = 0, kept_out = 0, asked = 0;

	for (round = 0; round < 300; round++) {
		struct tenant items[4];
		struct tenants all = { items, 4 };
		size_t total = 4 + next_random(&seed) % 12, promised = 0, used = 0, i;

		for (i = 0; i < 4; i++) {
			size_t g = next_random(&seed) % 5;

			if (promised + g > total)
				g = 0;
			promised += g;
			items[i] = (struct tenant){ names[i], g, g + next_random(&seed) % 6, 0 };
		}
		for (step = 0; step < 60; step++) {
			struct tenant *t = &items[next_random(&seed) % 4];
			size_t more = 1 + next_random(&seed) % 4;
			struct fault fault = { "" };

			asked++;
			if (next_random(&seed) % 3 == 0) {
				more = more < t->held ? more : t->held;
				t->held -= more;
				used -= more;
				continue;
			}
			/* What is guaranteed and not held can always be had. */
			for (i = 0; i < 4; i++)
				if (items[i].guarantee > items[i].held &&
				    total - used < items[i].guarantee - items[i].held)
					kept_out++;
			if (more > total - used ||
			    tenants_admit(&all, t->name, more, total - used - more, &fault))
				continue;
			t->held += more;
			used += more;
			if (t->held > t->limit)
				over++;
		}
	}
	tap_counted("tenants.requests", asked);
	is_int(over, 0, "no limit was passed");
	is_int(kept_out, 0, "every guarantee could be had at any time");
}

int main(void)
{
	test_files();
	test_verdicts();
	test_promises();
	tenants_free(&tenants);
	return tap_done();
}
