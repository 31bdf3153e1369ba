// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/plan/usage.c ctl/plan/usage_journal.c ctl/base/jread.c ctl/base/fault.c ctl/base/text.c
// packages: json-c
/* Who had what, from plans and journals: nothing is lost or counted twice. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/usage.h"
#include "tap.h"

#define SLOTS 6
#define ENTRIES 60

static struct usage u;

static int take(const char *text, struct fault *fault)
{
	memset(fault, 0, sizeof(*fault));
	usage_free(&u);
	return usage_read(&u, "f", text, strlen(text), fault);
}

static void refused(const char *text, const char *why)
{
	struct fault fault;

	is_int(take(text, &fault), -EINVAL, "refused");
	ok(!strcmp(fault.text, why), "%s: %s", why, fault.text);
}

static void test_plan(void)
{
	struct fault fault;

	is_int(take("{\"intervals\":4,\"interval_s\":60,\"use\":[\n"
		    "{\"workload\":\"a\",\"tenant\":\"t\",\"first_interval\":0,\"last_interval\":1,\"gpus\":3},\n"
		    "{\"workload\":\"b\",\"first_interval\":1,\"last_interval\":3,\"gpus\":2}],\n"
		    "\"power\":[{\"first_interval\":0,\"last_interval\":3,\"on\":5}]}",
		    &fault),
	       0, "a plan with power");
	is_int((int)u.n_holders, 2, "has two workloads");
	is_near(usage_seconds(&u, 0, u.from, u.to), 360, 1e-9, "the first has two intervals of three");
	is_near(usage_tenant_seconds(&u, "t", u.from, u.to), 360, 1e-9, "its tenant, too");
	is_near(usage_tenant_seconds(&u, NULL, u.from, u.to), 360, 1e-9, "nobody's has the rest");
	is_near(usage_seconds(&u, USAGE_NOBODY, u.from, u.to), 480, 1e-9, "what is on beyond is idle");
	is_near(usage_seconds(&u, USAGE_NOBODY, 60, 120), 0, 1e-9, "and not where all is used");
	is_int((int)usage_peak(&u, USAGE_ALL), 5, "both together at most");
	is_int((int)usage_tenant_peak(&u, "t"), 3, "and one alone");
	is_int(take("{\"intervals\":1,\"interval_s\":60,\"use\":[]}", &fault), 0, "a plan of nothing");
	ok(!u.knows_idle && !u.recorded, "does not say what is on");
}

static void test_bad(void)
{
	refused("", "f:1:1: the file is empty");
	refused("{}", "f:1:1: \"intervals\" and \"interval_s\" are both needed, and above 0");
	refused("{\"intervals\":1,\"interval_s\":60}",
		"f:1:1: \"use\" is missing: \"gpuctl plan solve -j\" writes it");
	refused("{\"intervals\":1,\"interval_s\":60,\n\"use\":[{\"workload\":\"a\",\"first_interval\":1}]}",
		"f:2:41: 1 is outside 0 to 0");
	refused("{\"intervals\":2,\"interval_s\":60,\n\"use\":[{\"workload\":\"a\",\"first_interval\":1,\"last_interval\":0}]}",
		"f:2:8: \"first_interval\" and \"last_interval\", not before it, are needed");
	refused("{\"intervals\":1,\"interval_s\":60,\n\"use\":[{\"first_interval\":0,\"last_interval\":0,\"gpus\":1}]}",
		"f:2:8: \"workload\" is missing");
	refused("{\"intervals\":1,\"interval_s\":60,\"use\":[\n"
		"{\"workload\":\"a\",\"first_interval\":0,\"last_interval\":0,\"gpus\":2}],\n"
		"\"power\":[{\"first_interval\":0,\"last_interval\":0,\"on\":1}]}",
		"f:3:9: in interval 0 more GPUs are in use than are on");
	refused("{\"intervals\":1,\"interval_s\":60,\"use\":[],\"power\":[\n"
		"{\"first_interval\":0,\"last_interval\":0,\"on\":100000},\n"
		"{\"first_interval\":0,\"last_interval\":0,\"on\":100000}]}",
		"f:1:49: in interval 0 more than 100000 GPUs are idle");
	refused("{\"__REALTIME_TIMESTAMP\":\"5\"}\n", "f:1:1: no entry of gpuctl's watch service");
	refused("{\"__REALTIME_TIMESTAMP\":\"5\"}\n{,}\n",
		"f:2:2: quoted object property name expected");
	refused("{\"__REALTIME_TIMESTAMP\":\"5\",\"GPUFABRIC_EVENT\":\"x\",\"GPUFABRIC_SLOT\":7}\n",
		"f:1:68: \"GPUFABRIC_SLOT\" must be a text");
	refused("{\"__REALTIME_TIMESTAMP\":\"5x\",\"GPUFABRIC_EVENT\":\"x\"}\n",
		"f:1:1: an entry needs its \"__REALTIME_TIMESTAMP\"");
}

static uint32_t seed = 11;

/* A name that is used again is another composition, of whoever has it then. */
static void test_name_again(void)
{
	struct fault fault;

	is_int(take("{\"__REALTIME_TIMESTAMP\":\"100000000\",\"GPUFABRIC_EVENT\":\"composition-added\","
		    "\"GPUFABRIC_COMPOSITION\":\"train\",\"GPUFABRIC_TENANT\":\"red\",\"GPUFABRIC_STATE\":\"composing\"}\n"
		    "{\"__REALTIME_TIMESTAMP\":\"100000000\",\"GPUFABRIC_EVENT\":\"slot-changed\",\"GPUFABRIC_SLOT\":\"1\","
		    "\"GPUFABRIC_STATE\":\"ready\",\"GPUFABRIC_COMPOSITION\":\"train\"}\n"
		    "{\"__REALTIME_TIMESTAMP\":\"1100000000\",\"GPUFABRIC_EVENT\":\"slot-changed\",\"GPUFABRIC_SLOT\":\"1\","
		    "\"GPUFABRIC_STATE\":\"off\"}\n"
		    "{\"__REALTIME_TIMESTAMP\":\"1100000000\",\"GPUFABRIC_EVENT\":\"composition-removed\","
		    "\"GPUFABRIC_COMPOSITION\":\"train\",\"GPUFABRIC_TENANT\":\"red\",\"GPUFABRIC_STATE\":\"removed\"}\n"
		    "{\"__REALTIME_TIMESTAMP\":\"1200000000\",\"GPUFABRIC_EVENT\":\"slot-changed\",\"GPUFABRIC_SLOT\":\"1\","
		    "\"GPUFABRIC_STATE\":\"ready\",\"GPUFABRIC_COMPOSITION\":\"train\"}\n"
		    "{\"__REALTIME_TIMESTAMP\":\"1300000000\",\"GPUFABRIC_EVENT\":\"composition-changed\","
		    "\"GPUFABRIC_COMPOSITION\":\"train\",\"GPUFABRIC_TENANT\":\"blue\",\"GPUFABRIC_STATE\":\"active\"}\n",
		    &fault),
	       0, "a journal in which a name comes back");
	is_near(usage_tenant_seconds(&u, "red", u.from, u.to), 1000, 1e-9, "the first tenant had it for its time");
	is_near(usage_tenant_seconds(&u, "blue", u.from, u.to), 100, 1e-9, "the second for its own");
}

#define SLOT_AT(at, boot, slot, state)                                                                 \
	"{\"__REALTIME_TIMESTAMP\":\"" at "000000\",\"_BOOT_ID\":\"" boot "\",\"GPUFABRIC_EVENT\":\"slot-changed\"," \
	"\"GPUFABRIC_SLOT\":\"" slot "\",\"GPUFABRIC_STATE\":\"" state "\",\"GPUFABRIC_COMPOSITION\":\"train\"}\n"

/* A host that is off uses no GPU. */
static void test_boot(void)
{
	struct fault fault;

	is_int(take(SLOT_AT("1000", "a", "1", "ready") SLOT_AT("1100", "a", "2", "ready")
		    SLOT_AT("9000", "b", "2", "ready") SLOT_AT("9050", "b", "2", "off"),
		    &fault),
	       0, "a journal of two boots");
	is_near(usage_seconds(&u, USAGE_ALL, u.from, u.to), 150, 1e-9, "between them nothing is used");
	is_int((int)u.set_back, 0, "the clock went on");
}

static void test_set_back(void)
{
	struct fault fault;

	is_int(take(SLOT_AT("1000", "a", "1", "ready") SLOT_AT("900", "a", "2", "ready")
		    SLOT_AT("950", "a", "2", "off") SLOT_AT("1200", "a", "1", "off"),
		    &fault),
	       0, "a journal whose clock was set back");
	is_near(usage_seconds(&u, USAGE_ALL, u.from, u.to), 200, 1e-9, "no time is counted twice");
	is_int((int)u.set_back, 1, "it says that it was set back");
	is_int(take(SLOT_AT("1000", "a", "1", "ready") SLOT_AT("900", "b", "1", "ready")
		    SLOT_AT("1010", "b", "1", "off"),
		    &fault),
	       0, "between two boots as well");
	is_near(usage_seconds(&u, USAGE_ALL, u.from, u.to), 10, 1e-9, "time passes when it has come to where it was");
}

static unsigned int any(unsigned int n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

/* Any changes of slots; what was on is counted beside, second by second. */
static bool one_journal(void)
{
	static const char *const states[] = { "off", "ready", "draining", "fault", "attaching" };
	bool on[SLOTS] = { false }, held[SLOTS] = { false };
	double busy = 0, idle = 0, sum = 0, parts = 0;
	unsigned int now = 100, step, i, k;
	struct text text = { 0 };
	struct fault fault = { "" };
	bool good;

	for (i = 0; i < ENTRIES; i++) {
		unsigned int slot = any(SLOTS), state = any(5), who = any(4);

		step = i ? any(50) : 0;
		now += step;
		for (k = 0; k < SLOTS; k++) {
			busy += on[k] && held[k] ? step : 0;
			idle += on[k] && !held[k] ? step : 0;
		}
		on[slot] = state == 1 || state == 2;
		held[slot] = who > 0;
		text_add(&text, "{\"__REALTIME_TIMESTAMP\":\"%u000000\",\"GPUFABRIC_EVENT\":\"slot-changed\","
			 "\"GPUFABRIC_SLOT\":\"%u\",\"GPUFABRIC_STATE\":\"%s\"", now, slot, states[state]);
		if (who)
			text_add(&text, ",\"GPUFABRIC_COMPOSITION\":\"c%u\"", who);
		if (who == 2)
			text_add(&text, ",\"GPUFABRIC_TENANT\":\"t\"");
		text_add(&text, "}\n");
	}
	usage_free(&u);
	good = !usage_read(&u, "f", text.text, text.len, &fault);
	for (i = 0; i < u.n_holders; i++)
		sum += usage_seconds(&u, i, u.from, u.to);
	for (i = 100; i < now; i += 7)
		parts += usage_seconds(&u, USAGE_ALL, i, i + 7);
	good = good && sum > busy - 1e-6 && sum < busy + 1e-6 && parts > busy - 1e-6 &&
	       parts < busy + 1e-6;
	sum = usage_tenant_seconds(&u, "t", u.from, u.to) +
	      usage_tenant_seconds(&u, NULL, u.from, u.to);
	good = good && sum > busy - 1e-6 && sum < busy + 1e-6;
	sum = usage_seconds(&u, USAGE_NOBODY, u.from, u.to);
	free(text.text);
	return good && sum > idle - 1e-6 && sum < idle + 1e-6 && u.recorded;
}

int main(void)
{
	unsigned int i, wrong = 0;

	test_plan();
	test_bad();
	test_name_again();
	test_boot();
	test_set_back();
	for (i = 0; i < 500; i++)
		wrong += !one_journal();
	is_int((int)wrong, 0, "each second of each GPU of a journal is somebody's, or idle");
	usage_free(&u);
	return tap_done();
}
