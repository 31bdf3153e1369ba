// SPDX-License-Identifier: GPL-2.0-only
// sources: ctl/plan/ahead.c ctl/plan/demand.c ctl/plan/state.c ctl/plan/solver/check.c ctl/base/csv.c ctl/plan/file.c ctl/plan/file_demand.c ctl/plan/forecast.c ctl/plan/solver/instance.c ctl/base/jread.c ctl/plan/series.c ctl/base/fault.c ctl/base/text.c
// packages: json-c
/* Instances in files: what they may say, and in which line and column they may not. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "plan/file.h"
#include "tap.h"

#define HEAD "{\"gpufabric_plan\":1,\"intervals\":2,\"interval_s\":60,\n"
#define KIND "\"kinds\":[{\"name\":\"k\",\"memory_gib\":80}],\"switches\":[{\"name\":\"s\"}],\n"
#define POOL "\"pools\":[{\"switch\":\"s\",\"kind\":\"k\",\"gpus\":4}],\"hosts\":[{\"name\":\"h\"}],\n"

static struct plan_instance in;

static int take(const char *text, struct fault *fault)
{
	memset(fault, 0, sizeof(*fault));
	plan_instance_free(&in);
	return plan_read(&in, "f", text, strlen(text), fault);
}

static void refused(const char *text, const char *why)
{
	struct fault fault;

	is_int(take(text, &fault), -EINVAL, "refused");
	ok(!strcmp(fault.text, why), "%s: %s", why, fault.text);
}

static void test_good(void)
{
	struct fault fault;

	is_int(take(HEAD KIND POOL
		    "\"attach_s\":3,\"tenants\":[{\"name\":\"t\",\"guarantee\":1,\"limit\":2}],\n"
		    "\"workloads\":[{\"name\":\"a\",\"tenant\":\"t\",\"gang\":true,\"weight\":2.5,\n"
		    "\"memory_gib\":[0,100],\"kinds\":[\"k\"]},\n"
		    "{\"name\":\"b\",\"gpus\":3,\"kinds\":[{\"kind\":\"k\",\"speed\":0.5}],\n"
		    "\"now\":[{\"switch\":\"s\",\"kind\":\"k\",\"gpus\":1}],\"keep\":1}]}\n", &fault),
	       0, "an instance");
	is_str(fault.text, "", "without a fault");
	is_int((intmax_t)in.n_workloads, 2, "two workloads");
	is_int(in.workloads[0].choices[0].need[0], 0, "nothing is needed");
	is_int(in.workloads[0].choices[0].need[1], 2, "memory takes whole GPUs");
	is_int(in.workloads[1].choices[0].need[0], 6, "half the speed takes twice as many");
	is_int(in.workloads[1].now[0].gpus, 1, "what it has");
	is_near(in.pools[0].attach_s, 3, 0, "costs of all pools");
	is_near(in.deficit_weight, 25, 0, "a deficit costs ten times the highest weight");
	is_int(in.tenants[0].limit, 2, "a limit");
	is_int(in.hosts[0].slots == PLAN_NONE, 1, "none where nothing is said");
}

static void test_json(void)
{
	refused("", "f:1:1: the file is empty");
	refused("{\"intervals\":1,\n \"kinds\":[", "f:2:11: the document ends too early");
	refused("{\"intervals\":1,\n  oops}", "f:2:3: quoted object property name expected");
	refused("[1]", "f:1:1: an object is expected here");
	refused("{} x", "f:1:4: unexpected character");
}

static void test_values(void)
{
	refused("{\"gpufabric_plan\":2}", "f:1:1: \"gpufabric_plan\" is 2, not 1");
	refused("{\"gpufabric_plan\":1}",
		"f:1:1: \"intervals\" and \"interval_s\" are both needed, and above 0");
	refused("{\"gpufabric_plan\":1,\"intervals\":-3}", "f:1:33: -3 is outside 0 to 10000");
	refused("{\"gpufabric_plan\":1,\"intervals\":2,\n\"interval_s\":1e99}",
		"f:2:14: 1e+99 is outside 0 to 1e+07");
	refused(HEAD "\"colour\":1}", "f:2:10: \"colour\" is not a key that can stand here");
	refused(HEAD "\"kinds\":{}}", "f:2:9: \"kinds\" must be a list");
	refused(HEAD KIND POOL "\"kinds\":[{\"name\":\"9\"}]}",
		"f:4:18: a name is a letter followed by up to 62 letters, digits, '_', '.' or '-'");
	refused(HEAD KIND "\"pools\":[{\"switch\":\"x\",\"kind\":\"k\",\"gpus\":4}]}",
		"f:3:20: no switch x in \"switches\"");
	refused(HEAD KIND "\"pools\":[{\"switch\":\"s\",\"kind\":\"k\",\"gpus\":2.5}]}",
		"f:3:42: a whole number is expected here");
	refused(HEAD KIND "\"pools\":[{\"switch\":\"s\",\"kind\":\"k\",\"gpus\":9999999}]}",
		"f:3:42: 9999999 is outside 0 to 100000");
	refused(HEAD KIND "\"hosts\":[]}", "f:1:1: there are no \"hosts\"");
}

static void test_workloads(void)
{
	refused(HEAD KIND POOL "\"workloads\":[{\"name\":\"a\",\"kinds\":[\"k\"]}]}",
		"f:4:14: workload a needs either \"gpus\" or \"memory_gib\"");
	refused(HEAD KIND POOL "\"workloads\":[{\"name\":\"a\",\"gpus\":1}]}",
		"f:4:14: workload a needs \"kinds\" that it can use");
	refused(HEAD KIND POOL
		"\"workloads\":[{\"name\":\"a\",\"gpus\":[1,2,3],\"kinds\":[\"k\"]}]}",
		"f:4:33: 3 numbers for 2 intervals");
	refused(HEAD KIND POOL
		"\"workloads\":[{\"name\":\"a\",\"gpus\":[1,\n -2],\"kinds\":[\"k\"]}]}",
		"f:5:2: -2 is outside 0 to 100000");
	refused(HEAD KIND POOL
		"\"workloads\":[{\"name\":\"a\",\"gpus\":1,\"kinds\":[\"k\",\"k\"]}]}",
		"f:4:48: kind k is there twice");
	refused(HEAD KIND POOL
		"\"workloads\":[{\"name\":\"a\",\"gpus\":1,\"kinds\":[{\"kind\":\"k\",\"speed\":0}]}]}",
		"f:4:44: kind k: a speed of 0");
	refused(HEAD KIND POOL
		"\"workloads\":[{\"name\":\"a\",\"gpus\":1,\"kinds\":[\"k\"],\"weight\":-1}]}",
		"f:4:58: -1 is outside 0 to 1e+06");
	refused(HEAD KIND POOL
		"\"workloads\":[{\"name\":\"a\",\"gpus\":1,\"kinds\":[\"k\"],\"weight\":NaN}]}",
		"f:4:58: nan is outside 0 to 1e+06");
	refused(HEAD KIND POOL
		"\"workloads\":[{\"name\":\"a\",\"gpus\":1,\"kinds\":[\"k\"],\"tenant\":\"t\"}]}",
		"f:4:58: no tenant t in \"tenants\"");
	refused(HEAD KIND POOL
		"\"workloads\":[{\"name\":\"a\",\"gpus\":1,\"kinds\":[\"k\"],\"now\":[{\"switch\":\"s\",\"kind\":\"k\",\"gpus\":5}]}]}",
		"f:4:56: 5 of 4 GPUs of the pool");
	refused(HEAD KIND POOL
		"\"workloads\":[{\"name\":\"a\",\"gpus\":1,\"kinds\":[\"k\"]},{\"name\":\"a\"}]}",
		"f:4:58: workload a is described twice");
	refused(HEAD KIND POOL "\"tenants\":[{\"name\":\"t\",\"guarantee\":3,\"limit\":2}]}",
		"f:4:12: tenant t: its guarantee of 3 is above its limit of 2");
}

int main(void)
{
	test_good();
	test_json();
	test_values();
	test_workloads();
	plan_instance_free(&in);
	return tap_done();
}
